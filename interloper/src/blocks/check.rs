//! The driver: runs a program under many schedules and collects the findings of its executions.

mod search;

use std::num::NonZeroUsize;
use std::time::Duration;

use interloper_commutativity::ToValue;
use interloper_scheduler::decisions::Decisions;
use interloper_scheduler::orderings::{Change, Orderings};
use interloper_scheduler::schedule::{Memory, Preempt, Schedule};
use interloper_scheduler::strategies::FirstRun;
use interloper_scheduler::{Clock, Config, Detached, End, Freedom, Freedoms, Shrunk};
use interloper_std::runtime::Statics;

use self::search::Search;
use super::backtraces;
use super::describe::describe;
use super::explored::Draft;
use super::grade::Grade;
use super::leaving::Checking;
use super::misuse::Misuse;
use super::orderings::notes;
use super::report::{Coverage, CutShort, InferredBlock, Report, Violation};
use super::runner::{Body, Made, Runner};
use super::sections::Blocks;
use super::settings::{Settings, StepBound};
use super::worker::{Found, Summary, Worker};

/// Checks a program with the default [`Settings`]: runs it under many schedules, and says whether its atomic blocks are
/// atomic.
///
/// The program runs many times; under the same schedule it must do the same each time. Its return value is part of the
/// outcome that a serial order of the blocks must explain: return the results and the final state that matter.
///
/// # Errors
/// When the program is not deterministic, and when the search explored nothing.
pub fn check<R: ToValue>(program: impl Fn() -> R + Sync) -> Result<Report, Misuse> {
    Checker::new("program").check(program)
}

/// Checks programs with your own settings.
#[derive(Clone, Debug)]
#[must_use]
pub struct Checker {
    name: String,
    settings: Settings,
}

impl Checker {
    /// The default settings, for a program of this name.
    pub fn new(name: impl Into<String>) -> Checker {
        Checker { name: name.into(), settings: Settings::default() }
    }

    /// Changes the settings.
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Checker {
        change(&mut self.settings);
        self
    }

    /// The current settings.
    pub fn current_settings(&self) -> &Settings {
        &self.settings
    }

    /// How the schedules are chosen.
    pub fn schedule(self, schedule: Schedule) -> Checker {
        self.settings(|settings| settings.schedule = schedule)
    }

    /// How often an execution may use what std leaves open; [`Freedoms::NONE`] switches this off.
    pub fn freedoms(self, freedoms: Freedoms) -> Checker {
        self.settings(|settings| settings.freedoms = Some(freedoms))
    }

    /// Whether executions may drop a future where it awaits something: see [`Settings::cancel`].
    pub fn cancel(self, cancel: bool) -> Checker {
        self.settings(|settings| settings.cancel = cancel)
    }

    /// Which memory executions have.
    pub fn memory(self, memory: Memory) -> Checker {
        self.settings(|settings| settings.memory = Some(memory))
    }

    /// Where tasks can be preempted: see [`Settings::preempt`].
    pub fn preempt(self, preempt: Preempt) -> Checker {
        self.settings(|settings| settings.preempt = preempt)
    }

    /// Another memory ordering at one place of the program, as if the source had it there. It matters where memory is weak,
    /// so executions have weak memory.
    pub fn ordering(self, change: Change) -> Checker {
        self.memory(Memory::Weak).settings(|settings| settings.orderings = Orderings::changed(change))
    }

    /// Whether executions look at plain memory: see [`Settings::plain`].
    pub fn plain(self, plain: bool) -> Checker {
        self.settings(|settings| settings.plain = Some(plain))
    }

    /// Reports memory that an execution allocates and does not free: see [`Settings::leaks`].
    pub fn leaks(self) -> Checker {
        self.settings(|settings| settings.leaks = true)
    }

    /// The seed of the random schedules.
    pub fn seed(self, seed: u64) -> Checker {
        self.settings(|settings| settings.seed = seed)
    }

    /// The most executions of the search.
    pub fn executions(self, executions: u64) -> Checker {
        self.settings(|settings| settings.executions = executions)
    }

    /// The longest time of the check.
    pub fn time(self, time: Duration) -> Checker {
        self.settings(|settings| settings.time = Some(time))
    }

    /// The most steps of an execution.
    pub fn steps(self, steps: StepBound) -> Checker {
        self.settings(|settings| settings.steps = steps)
    }

    /// How many threads run executions.
    pub fn jobs(self, jobs: NonZeroUsize) -> Checker {
        self.settings(|settings| settings.jobs = jobs)
    }

    /// What happens to threads that still run when the program returns. By default they are abandoned, as in a process.
    pub fn detached(self, detached: Detached) -> Checker {
        self.settings(|settings| settings.detached = detached)
    }

    /// What a thread sees that looks at the clock twice: see [`Settings::clock`].
    pub fn clock(self, clock: Clock) -> Checker {
        self.settings(|settings| settings.clock = clock)
    }

    /// How long a step may take, in real time, before a message names its place and the process ends.
    pub fn patience(self, patience: Option<Duration>) -> Checker {
        self.settings(|settings| settings.patience = patience)
    }

    /// Crates whose statics start fresh in each execution, whatever they contain: see [`Settings::fresh_statics`].
    pub fn fresh_statics<S: Into<String>>(self, crates: impl IntoIterator<Item = S>) -> Checker {
        self.settings(|settings| settings.fresh_statics = crates.into_iter().map(Into::into).collect())
    }

    /// Which parts of the program are blocks.
    pub fn blocks(self, blocks: Blocks) -> Checker {
        self.settings(|settings| settings.blocks = blocks)
    }

    /// Accepts a program that leaves nothing to explore: see [`Unexplored`](super::Unexplored).
    pub fn allow_trivial(self) -> Checker {
        self.settings(|settings| settings.allow_trivial = true)
    }

    /// Requires that some execution enters the marked block of this name; otherwise the check is [`Misuse::Unexplored`].
    pub fn must_enter(self, block: &'static str) -> Checker {
        self.settings(|settings| settings.marked.push(block))
    }

    /// Runs each execution twice and compares the two.
    pub fn check_determinism(self) -> Checker {
        self.settings(|settings| settings.check_determinism = true)
    }

    /// Checks a program: see [`check`].
    ///
    /// # Errors
    /// When the program is not deterministic, and when the search explored nothing.
    ///
    /// # Panics
    /// If a probability in the schedule lies outside 0 to 1.
    pub fn check<R: ToValue>(&self, program: impl Fn() -> R + Sync) -> Result<Report, Misuse> {
        self.check_values(&|| program().to_value())
    }

    /// Runs the one execution that `decisions` determine.
    ///
    /// # Errors
    /// [`Misuse::Diverged`] when the decisions do not fit the program.
    pub fn replay<R: ToValue>(&self, decisions: &Decisions, program: impl Fn() -> R + Sync) -> Result<Report, Misuse> {
        self.replay_values(decisions, &|| program().to_value())
    }

    pub(crate) fn check_values(&self, program: Body<'_>) -> Result<Report, Misuse> {
        match notes::adjusted(&self.settings)? {
            Some(settings) => notes::noted(&self.clone().settings(|own| *own = settings), program),
            None => self.check_as_it_is(program),
        }
    }

    /// Checks with the settings alone, whatever the environment says.
    pub(crate) fn check_as_it_is(&self, program: Body<'_>) -> Result<Report, Misuse> {
        self.undisturbed(program, |statics| {
            if self.settings.memory.is_some() {
                return self.check_once(program, statics);
            }
            let memory = self.memory_for(program, statics);
            let mut report = self.clone().memory(memory).check_once(program, statics)?;
            report.coverage.weak_by_default = memory == Memory::Weak;
            Ok(report)
        })
    }

    pub(crate) fn replay_values(&self, decisions: &Decisions, program: Body<'_>) -> Result<Report, Misuse> {
        match notes::adjusted(&self.settings)? {
            Some(settings) => self.clone().settings(|own| *own = settings).replay_as_it_is(decisions, program),
            None => self.replay_as_it_is(decisions, program),
        }
    }

    /// Replays with the settings alone, whatever the environment says.
    pub(crate) fn replay_as_it_is(&self, decisions: &Decisions, program: Body<'_>) -> Result<Report, Misuse> {
        self.undisturbed(program, |statics| self.replay_once(decisions, program, statics))
    }

    /// The memory for a program: see [`Memory::of_program`].
    fn memory_for(&self, program: Body<'_>, statics: &Statics) -> Memory {
        let freedoms = self.settings.freedoms_in_force().with(Freedom::Memory, 0);
        let mut runner = Runner::new(program, Config { freedoms, statics: statics.clone(), ..Search::config(self) });
        let deadline = self.settings.measured_by();
        runner.engine.stop_at(self.settings.steps.stop_at(deadline));
        let mut is_over = false;
        Memory::of_program(self.settings.seed, |strategy| {
            if is_over {
                return None;
            }
            let made = runner.run(strategy)?;
            is_over = deadline.is_over() || matches!(made.execution.end, End::Stuck(_));
            Some(made.execution)
        })
    }

    /// Runs executions again until they do not disturb each other through shared statics. After a first disturbance, each
    /// execution runs alone.
    fn undisturbed(
        &self,
        program: Body<'_>,
        make: impl Fn(&Statics) -> Result<Report, Misuse>,
    ) -> Result<Report, Misuse> {
        self.settings.are_usable()?;
        let _checking = Checking::new(&self.name);
        let statics = Statics::of(self.settings.fresh_statics.iter().cloned()).and_controlled();
        loop {
            let made = make(&statics);
            if !statics.disturbed() {
                return made.map_err(|misuse| self.with_statics(misuse, program, &statics));
            }
        }
    }

    /// Names the statics that may make the program nondeterministic.
    fn with_statics(&self, misuse: Misuse, program: Body<'_>, statics: &Statics) -> Misuse {
        let Misuse::Nondeterministic { execution, difference } = misuse else { return misuse };
        let names = statics.outliving(|| {
            let config = Config { statics: statics.clone(), ..Search::config(self) };
            Runner::new(program, config).run(&mut FirstRun);
        });
        let kept = match &names[..] {
            [] => String::new(),
            [one] => format!("; {one} carries a value from one execution into the next"),
            [first, others @ ..] => format!(
                "; {first} and {} other {} carry values from one execution into the next",
                others.len(),
                if others.len() == 1 { "static" } else { "statics" }
            ),
        };
        Misuse::Nondeterministic { execution, difference: format!("{difference}{kept}") }
    }

    fn check_once(&self, program: Body<'_>, statics: &Statics) -> Result<Report, Misuse> {
        let mut search = Search::new(self, program, statics);
        if let Some(stuck) = search.stuck.take() {
            return Err(Misuse::Stuck(stuck));
        }
        let (summary, mut worker) = search.run()?;
        match summary.misuse {
            // A bug that was found before stays found.
            Some(Misuse::Stuck(_)) if summary.bug.is_some() => {}
            Some(misuse) => return Err(misuse),
            None => {}
        }
        let freedoms = self.settings.freedoms.map(|freedoms| format!(", freedoms {freedoms}")).unwrap_or_default();
        let memory = if self.settings.memory == Some(Memory::Weak) { ", memory weak" } else { "" };
        let preempt = if self.settings.preempt == Preempt::Memory { ", preempt memory" } else { "" };
        let changed = self.settings.orderings.changed.as_ref();
        let changed = changed.map(|change| format!(", ordering {change}")).unwrap_or_default();
        let shard = self.settings.shard;
        let shard = if shard.is_whole() { String::new() } else { format!(", shard {shard}") };
        let Settings { schedule, seed, .. } = &self.settings;
        let schedule = format!("{schedule}, seed {seed}{freedoms}{memory}{preempt}{changed}{shard}");
        let mut report = self.report(&summary, schedule);
        report.inferred = InferredBlock::all(search.measured.rule.inferred(), &summary.inferred);
        let nothing_found = summary.bug.is_none() && summary.error.is_none();
        if let (true, Some(reason)) = (nothing_found, summary.unexplored(&self.settings)) {
            if !self.settings.allow_trivial {
                return Err(Misuse::Unexplored(reason));
            }
            report.coverage.trivial = Some(reason);
            report.coverage.unseen = None;
        }
        if nothing_found {
            let is_strong = self.settings.freedoms_in_force().count(Freedom::Memory) == 0;
            report.coverage.as_seq_cst = if is_strong { summary.weaker } else { 0 };
        }
        report.coverage.nothing_to_do = nothing_found && summary.is_of_other_shards(&self.settings);
        let mut minimal = true;
        let mut describe = |found: &Option<Found>| match found {
            Some(found) => {
                let (violation, is_minimal) = self.violation(&mut worker, found)?;
                minimal &= is_minimal;
                Ok(Some(violation))
            }
            None => Ok(None),
        };
        (report.bug, report.error) = (describe(&summary.bug)?, describe(&summary.error)?);
        report.coverage.serial = summary.serial.and(worker.take_needed());
        let out_of_time = search.deadline.is_over();
        report.coverage.cut_short = CutShort {
            search: summary.timed_out && summary.memory.is_none(),
            memory: summary.memory,
            serial: out_of_time && summary.undecided > 0 && !report.coverage.serial.complete,
            shrinking: out_of_time && !minimal,
        };
        Ok(report)
    }

    fn replay_once(&self, decisions: &Decisions, program: Body<'_>, statics: &Statics) -> Result<Report, Misuse> {
        let mut search = Search::new(self, program, statics);
        if let Some(stuck) = search.stuck.take() {
            return Err(Misuse::Stuck(stuck));
        }
        // The decisions say which freedoms the execution has.
        search.config.freedoms = Freedoms::UNBOUNDED;
        let mut worker = search.worker();
        let diverged = |difference| Misuse::Diverged { difference };
        let (made, judgement) = worker.replay(decisions).map_err(diverged)?;
        let mut summary = Summary::default();
        worker.count(&mut summary, &made);
        worker.add(&mut summary, 0, &made, judgement);
        if let Some(misuse) = summary.misuse {
            return Err(misuse);
        }
        let mut report = self.report(&summary, "replay".to_owned());
        report.coverage.unseen = None;
        // The execution is shown as it is, not shrunk: a replay asks for exactly this execution.
        let mut found = |found: Option<Found>| found.map(|found| self.described(&mut worker, found, &made, None));
        (report.bug, report.error) = (found(summary.bug), found(summary.error));
        report.coverage.serial = summary.serial.and(worker.take_needed());
        Ok(report)
    }

    fn report(&self, summary: &Summary, schedule: String) -> Report {
        let grade = match summary {
            Summary { bug: Some(_), .. } => Grade::Bug,
            Summary { error: Some(_), .. } => Grade::Error,
            Summary { warnings, .. } if !warnings.is_empty() => Grade::Warning,
            _ => Grade::Clean,
        };
        let mut warnings = summary.warnings.clone();
        warnings.sort();
        warnings.dedup();
        // A search that ends where it finds something is not a sample of all executions.
        let sampled = self.settings.schedule.is_random() && (summary.bug.is_none() || self.settings.keep_going);
        let judged = self.settings.watch_of_plain_memory().is_some_and(|watch| watch.races);
        let coverage = Coverage {
            schedule,
            executions: summary.executions,
            steps: summary.steps,
            hashed: summary.hashed,
            races: judged.then_some(summary.saw_plain_memory),
            plain_steps: (self.settings.preempt == Preempt::Memory).then_some(summary.plain_steps),
            traces: summary.traces.number(),
            more_traces: !summary.traces.is_exact(),
            unseen: sampled.then(|| summary.unseen(&self.settings.schedule)).filter(|unseen| unseen.executions > 0),
            violated: summary.violated,
            bugs: summary.bugs,
            given_up: summary.given_up,
            undecided: summary.undecided,
            complete: summary.exhausted && summary.cut.is_none(),
            cut: summary.cut,
            stale: summary.stale,
            orderings: summary.orderings.clone(),
            ..Coverage::default()
        };
        Report { name: self.name.clone(), grade, bug: None, error: None, warnings, inferred: Vec::new(), coverage }
    }

    /// Reruns an execution, checks that it shows the same finding, and describes the smallest one that does so too. Whether
    /// that is known to be the smallest comes with it.
    fn violation(&self, worker: &mut Worker<'_>, found: &Found) -> Result<(Violation, bool), Misuse> {
        let execution = found.number + 1;
        let differs = |difference| Misuse::Nondeterministic { execution, difference };
        let (made, judgement) = worker.replay(&found.decisions).map_err(differs)?;
        let seen = worker.confirmed(&made, judgement.clone(), &found.finding);
        if seen.as_ref() != Some(&found.finding) {
            let second = seen.map_or("nothing".to_owned(), |finding| finding.in_full());
            return Err(differs(format!("the first shows: {}; the second: {second}", found.finding.in_full())));
        }
        let Shrunk { smallest, minimal, .. } = worker.shrink(&made, &found.finding);
        let smallest = smallest.decisions;
        let (made, judgement) = worker.replay(&smallest).map_err(differs)?;
        let triple = judgement.triple;
        let seen = worker.confirmed(&made, judgement, &found.finding);
        let Some(finding) = seen.filter(|finding| finding.is_like(&found.finding)) else {
            return Err(differs("the shrunk execution no longer fails".to_owned()));
        };
        let shown = Found { finding, triple, decisions: smallest, ..*found };
        let violation = self.described(worker, shown, &made, Some(execution));
        let violation = Violation { decisions: found.decisions.clone(), finding: found.finding.clone(), ..violation };
        Ok((violation, minimal))
    }

    /// Describes the execution that ran last.
    fn described(&self, worker: &mut Worker<'_>, shown: Found, made: &Made, execution: Option<u64>) -> Violation {
        let lines = worker.lines(&shown.decisions, made);
        let runs_again = self.settings.explore && !matches!(made.execution.end, End::Stuck(_));
        let happens_before = runs_again.then(|| worker.happens_before(&shown.decisions)).flatten();
        let (mut counterexample, trace, history) = describe(worker, &self.name, &shown, made, execution, &lines);
        let draft = self
            .settings
            .explore
            .then(|| Draft::new(worker, (&shown, made), &counterexample, &lines, happens_before.as_deref()));
        let waiting = worker.waiting(&shown.decisions, made);
        backtraces::add(&mut counterexample, &waiting);
        let text = shown.decisions.to_string();
        // The seed reproduces a longer one.
        let changed = self.settings.orderings.changed.as_ref();
        let changed = changed.map(|change| format!(".ordering(\"{change}\".parse()?)")).unwrap_or_default();
        let preempt = if self.settings.preempt == Preempt::Memory { ".preempt(Preempt::Memory)" } else { "" };
        counterexample.replay =
            (text.len() <= LONGEST_SHOWN).then(|| format!("{changed}{preempt}.replay(&\"{text}\".parse()?, program)"));
        let of = (&shown.finding, &shown.decisions);
        let exploration = draft.map(|draft| Box::new(draft.finish(worker, &waiting, of, self.settings.seed)));
        let Found { finding, number, decisions, .. } = shown;
        let (smallest, execution) = (decisions.clone(), number + 1);
        let departures = made.execution.departures;
        Violation { finding, execution, decisions, smallest, departures, counterexample, trace, history, exploration }
    }
}

/// Decisions of more letters than this are not shown.
pub(crate) const LONGEST_SHOWN: usize = 500;
