//! The search of a check: what is learnt of the program first, and the executions.

use interloper_scheduler::strategies::{FirstRun, PROFILE_EVENTS, PROFILE_EXECUTIONS, Pct, Profile, RandomWalk};
use interloper_scheduler::{Clock, Config, Deadline, End, Event, Stuck, Unlock, Watchdog};
use interloper_std::runtime::{ObjectKind, Statics};

use super::Checker;
use crate::blocks::chunks::{self, Work};
use crate::blocks::misuse::Misuse;
use crate::blocks::runner::{Body, Runner};
use crate::blocks::schedule::Measured;
use crate::blocks::sections::{Blocks, Rule};
use crate::blocks::settings::{MAX_JOBS, Settings, StepBound};
use crate::blocks::worker::{Summary, Worker};

/// A search for violations.
pub(super) struct Search<'a> {
    settings: &'a Settings,
    program: Body<'a>,
    pub(super) config: Config,
    pub(super) measured: Measured,
    /// For the search and everything after it.
    pub(super) deadline: Deadline,
    /// When an execution that measures is stopped, if executions are.
    measured_by: Deadline,
    /// The step that did not end when the program was measured, if there was one.
    pub(super) stuck: Option<Box<Stuck>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(checker: &'a Checker, program: Body<'a>, statics: &Statics) -> Search<'a> {
        let settings = &checker.settings;
        let config = Config { statics: statics.clone(), ..Search::config(checker) };
        let deadline = Deadline::of(settings.time);
        let measured_by = settings.measured_by();
        let measured = Measured::default();
        let mut search = Search { settings, program, config, measured, deadline, measured_by, stuck: None };
        search.measure();
        statics.share();
        search
    }

    pub(super) fn config(checker: &Checker) -> Config {
        let settings = &checker.settings;
        Config {
            stack_size: settings.stack_size,
            step_bound: settings.steps.steps(),
            detached: settings.detached,
            clock: if settings.schedule.is_random() { settings.clock } else { Clock::StandsStill },
            livelock_rounds: settings.livelock_rounds,
            may_work_on: matches!(settings.steps, StepBound::StopAfter(_)),
            orderings: settings.orderings.clone(),
            seed: settings.seed,
            unlock: Unlock::Step,
            plain: settings.watch_of_plain_memory(),
            watchdog: settings.patience.map(|patience| Watchdog::new(patience).of(&checker.name)),
            ..Config::default()
        }
    }

    /// Runs the program some times to learn what a strategy or a rule needs to know beforehand.
    fn measure(&mut self) {
        let mut runner = self.measuring_runner();
        let mut rule = Rule::new(self.settings.blocks);
        let made = runner.run(&mut FirstRun).expect("one execution is made");
        rule.learn(&runner.engine.trace());
        infer(&mut rule, &runner);
        if let End::Stuck(stuck) = made.execution.end {
            self.stuck = Some(stuck);
            return;
        }
        let mut tried = made.execution.tried;
        if self.settings.blocks == Blocks::CriticalSections {
            let mut runner = self.measuring_runner();
            if !self.walk(&mut runner, (LESSONS, usize::MAX), |trace| rule.learn(trace)) {
                return;
            }
            // The end of a section is a step, so that a strategy sees it.
            tried = true;
        }
        self.config.unlock = if tried { Unlock::Step } else { Unlock::Part };
        let mut runner = self.measuring_runner();
        if self.settings.schedule.wants_profile() {
            let mut profile = Profile::default();
            if !self.walk(&mut runner, (PROFILE_EXECUTIONS, PROFILE_EVENTS), |trace| profile.add(trace)) {
                return;
            }
            self.measured.profile = profile;
        }
        let mut pct = Pct::new(self.settings.seed, 1);
        let made = runner.run(&mut pct).expect("PCT has no end");
        if let End::Stuck(stuck) = made.execution.end {
            self.stuck = Some(stuck);
            return;
        }
        infer(&mut rule, &runner);
        self.measured.steps = pct.length();
        self.measured.rule = rule;
        // What was measured was ordinary.
        self.config.freedoms = self.settings.freedoms_in_force();
    }

    /// Runs the program to learn something. Most of the time is left for the search.
    fn measuring_runner(&self) -> Runner<'a> {
        let mut runner = Runner::new(self.program, self.config.clone());
        runner.engine.stop_at(self.settings.steps.stop_at(self.measured_by));
        runner
    }

    /// Runs the program under random schedules, and shows each execution to `learn`: so many executions, or as many as have so many
    /// events together. Says whether every step came to its end.
    fn walk(
        &mut self,
        runner: &mut Runner<'_>,
        (executions, events): (u64, usize),
        mut learn: impl FnMut(&[Event]),
    ) -> bool {
        let mut walk = RandomWalk::new(self.settings.seed);
        let mut seen = 0;
        for _ in 0..executions {
            let is_over = self.deadline.is_over() || self.settings.steps.stop_at(self.measured_by).is_over();
            if is_over || seen >= events {
                break;
            }
            let made = runner.run(&mut walk).expect("a random walk has no end");
            let trace = runner.engine.trace();
            seen += trace.len();
            learn(&trace);
            if let End::Stuck(stuck) = made.execution.end {
                self.stuck = Some(stuck);
                return false;
            }
        }
        true
    }

    pub(super) fn worker(&self) -> Worker<'_> {
        Worker::new(self.program, self.settings, &self.config, &self.measured.rule, self.deadline)
    }

    /// Makes the executions. What is found does not depend on the number of threads.
    ///
    /// # Errors
    /// When an execution of an earlier search that is continued differs now.
    pub(super) fn run(&self) -> Result<(Summary, Worker<'_>), Misuse> {
        let schedule = &self.settings.schedule;
        let most = if !schedule.is_random() { 1 } else { MAX_JOBS.min(chunks::most_jobs(schedule)) };
        let mut work = Work::new(self.settings, &self.measured, self.settings.jobs.get().min(most));
        let mut worker = self.worker();
        work.resume(&mut worker)?;
        let work = work;
        std::thread::scope(|scope| {
            for number in 1..work.jobs() {
                let work = &work;
                let take_part = move || work.take_part(&mut self.worker(), number);
                if std::thread::Builder::new().spawn_scoped(scope, take_part).is_err() {
                    // The system has no more threads. The existing ones run all executions.
                    (number..work.jobs()).for_each(|number| work.adopt(number));
                    break;
                }
            }
            work.take_part(&mut worker, 0);
        });
        Ok((work.into_summary(), worker))
    }
}

/// Learns what looks like a block from the last execution.
fn infer(rule: &mut Rule, runner: &Runner<'_>) {
    let kind = |object| runner.engine.object_kind(object).map_or("object", ObjectKind::name);
    rule.infer(&runner.engine.trace(), kind);
}

/// Schedules at random from which it is learnt what the blocks are.
const LESSONS: u64 = 32;
