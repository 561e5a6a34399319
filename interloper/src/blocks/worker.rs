//! Makes executions in a row.

use std::ops::Range;

use interloper_commutativity::said::{self, Said};
use interloper_scheduler::decisions::{Decisions, Question, ReplaySource};
use interloper_scheduler::orderings::Executed;
use interloper_scheduler::schedule::{STEERED, Schedule};
use interloper_scheduler::strategies::{Guided, Pair};
use interloper_scheduler::words::Names;
use interloper_scheduler::{
    Config, Deadline, Difference, Effort, End, Event, Execution, Executions, Fingerprint, Fingerprints, Shrunk,
    SourcePlace, Strategy, Traces, Unseen,
};
use interloper_std::runtime::{BUILT_UNDER_CONTROL, ObjectKind};

use super::annotated::block_name;
use super::backtraces::{Callers, Waiting};
use super::judge::{Judge, Judgement};
use super::lines::Lines;
use super::misuse::Misuse;
use super::outcome::Outcome;
use super::polls::Polls;
use super::report::{Finding, SerialCoverage, Warning};
use super::runner::{Body, Made, Runner};
use super::sections::{Passage, Rule};
use super::settings::Settings;
use super::triples::{Triple, Twice};
use super::unexplored::{Seen, Unexplored};
use super::watch::Phase;
use super::{futures, reached, room};
use crate::locate::knows_lines;
use crate::tasks::known::{self, Known};

/// Makes executions and has them judged, on one thread.
pub(crate) struct Worker<'a> {
    settings: &'a Settings,
    runner: Runner<'a>,
    judge: Judge<'a>,
    deadline: Deadline,
    /// In bytes.
    most_memory: Option<u64>,
    fingerprints: Fingerprints,
    reached: reached::Known,
    /// Potential violations that have a warning already.
    known: Vec<Twice>,
    /// What the steps of collections were in the last replay.
    said: Vec<Said>,
    /// What was known of its futures.
    futures: Known,
    /// Tasks have shared something in an earlier execution of the search: nobody need look again.
    has_met: bool,
    /// The traces of the executions, in their order, if they are listed.
    traces: Option<Vec<Fingerprint>>,
}

/// What came of some executions in a row.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) executions: u64,
    pub(crate) violated: u64,
    pub(crate) bugs: u64,
    pub(crate) given_up: u64,
    pub(crate) undecided: u64,
    pub(crate) error: Option<Found>,
    pub(crate) bug: Option<Found>,
    pub(crate) misuse: Option<Misuse>,
    pub(crate) warnings: Vec<Warning>,
    /// How often each inferred block ran and was interrupted.
    pub(crate) inferred: Vec<Pair>,
    /// What had to be known of the serial orders.
    pub(crate) serial: SerialCoverage,
    /// The strategy has no more executions.
    pub(crate) exhausted: bool,
    /// In some execution the engine made choices itself.
    pub(crate) steered: bool,
    /// Why the strategy has not run all executions nevertheless.
    pub(crate) cut: Option<&'static str>,
    /// How weak memory was: see [`Coverage::stale`](super::report::Coverage::stale).
    pub(crate) stale: Option<u32>,
    /// The time or the memory ran out before all executions had run.
    pub(crate) timed_out: bool,
    /// The memory of the process, in bytes, if it was too much.
    pub(crate) memory: Option<u64>,
    /// Some execution accessed plain memory in a way that the engine saw.
    pub(crate) saw_plain_memory: bool,
    /// Some execution made a hasher with a seed.
    pub(crate) hashed: bool,
    /// How many steps were accesses to plain memory.
    pub(crate) plain_steps: u64,
    /// The most accesses of an execution that had an ordering weaker than `SeqCst`.
    pub(crate) weaker: u32,
    /// The steps of the executions.
    pub(crate) steps: u64,
    pub(crate) traces: Traces,
    /// The traces of the executions that are a sample, where others are not.
    pub(crate) sample: Traces,
    /// How often each memory ordering was executed.
    pub(crate) orderings: Vec<Executed>,
    pub(crate) seen: Seen,
}

impl Summary {
    /// The estimate of unseen traces, from the executions that are a sample.
    pub(crate) fn unseen(&self, schedule: &Schedule) -> Unseen {
        if schedule.is_sample() { self.traces.unseen() } else { self.sample.unseen() }
    }

    /// Whether one task ran alone, and nothing was chosen or drawn: the next execution of a sample is no different.
    fn is_always_the_same(&self) -> bool {
        let Seen { tasks, chose, drew, .. } = self.seen;
        tasks <= 1 && !chose && !drew && self.given_up == 0 && self.traces.number() <= 1
    }

    /// Whether this is a part of a search, all executions of which belong to other parts.
    pub(crate) fn is_of_other_shards(&self, settings: &Settings) -> bool {
        !settings.shard.is_whole() && self.executions == 0 && settings.executions > 0 && !self.timed_out
    }

    /// The reason why a search that found nothing is not a pass, if there is one. The settings may allow it.
    pub(crate) fn unexplored(&self, settings: &Settings) -> Option<Unexplored> {
        let seen = &self.seen;
        // A part of a search need not reach every block, and may have no execution of its own.
        let is_whole = settings.shard.is_whole();
        if self.is_of_other_shards(settings) {
            return None;
        }
        if self.executions > 0
            && is_whole
            && let Some(name) = settings.marked.iter().find(|name| !seen.blocks.contains(**name))
        {
            return Some(Unexplored::BlockNeverRan { name: (*name).to_owned() });
        }
        Some(match () {
            () if self.executions == 0 && settings.executions == 0 => Unexplored::NoExecutions,
            () if self.executions == 0 => Unexplored::NoTime,
            // What was drawn (which waiter is woken, a random number) was explored.
            () if seen.drew => return None,
            () if seen.tasks <= 1 => Unexplored::OneTask,
            () if !seen.chose => Unexplored::NoChoice { tasks: seen.tasks },
            () if !seen.met => Unexplored::NothingShared { tasks: seen.tasks },
            () => return None,
        })
    }
}

/// After so many executions with one task, in which nothing was chosen or drawn, the next ones of a sample are no different. Some of them
/// have freedoms, and those make choices where there are any.
const ENOUGH_ALONE: u64 = 8;

/// An execution that shows something, before it is described.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) finding: Finding,
    pub(crate) triple: Option<Triple>,
    /// Counted from 0.
    pub(crate) number: u64,
    pub(crate) decisions: Decisions,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        program: Body<'a>,
        settings: &'a Settings,
        config: &Config,
        rule: &Rule,
        deadline: Deadline,
    ) -> Worker<'a> {
        Worker {
            settings,
            runner: Runner::new(program, config.clone()),
            judge: Judge::new(program, settings, config, rule, deadline),
            deadline,
            most_memory: settings.most_memory.or_else(room::most),
            fingerprints: Fingerprints::default(),
            reached: reached::Known::default(),
            known: Vec::new(),
            said: Vec::new(),
            futures: Known::default(),
            has_met: false,
            traces: None,
        }
    }

    /// Makes the executions with these numbers, up to the first bug.
    pub(crate) fn explore(&mut self, strategy: &mut dyn Strategy, numbers: Range<u64>) -> Summary {
        let mut summary = Summary::default();
        // The earlier warnings of this thread must not matter.
        self.known.clear();
        self.judge.take_needed();
        self.runner.engine.stop_at(self.settings.steps.stop_at(self.deadline));
        for number in numbers {
            if self.deadline.is_over() {
                summary.timed_out = true;
                break;
            }
            if self.settings.allow_trivial && summary.executions == ENOUGH_ALONE && summary.is_always_the_same() {
                break;
            }
            if number > 0 && number.is_multiple_of(room::EVERY) {
                let is_too_much = |used: &u64| self.most_memory.is_some_and(|most| *used > most);
                summary.memory = room::used().filter(is_too_much);
                if summary.memory.is_some() {
                    summary.timed_out = true;
                    break;
                }
            }
            let Some(made) = self.runner.run(strategy) else {
                summary.exhausted = true;
                summary.cut = summary.steered.then_some(STEERED);
                break;
            };
            let fingerprint = self.count(&mut summary, &made);
            if strategy.is_sample() && !self.settings.schedule.is_sample() && self.traces.is_none() {
                summary.sample.note(fingerprint);
            }
            summary.steered |= made.execution.steered;
            self.settings.watch.note(Phase::Searching(summary.executions));
            let judgement = self.judge.judge(&made, &self.runner.engine.trace());
            self.add(&mut summary, number, &made, judgement);
            self.judge.rule().inferred().count(&self.runner.engine.trace(), &mut summary.inferred);
            if summary.misuse.is_some() || (summary.bug.is_some() && !self.settings.keep_going) {
                break;
            }
        }
        // What was found is run again as a whole.
        self.runner.engine.stop_at(Deadline::NEVER);
        summary.serial = self.judge.take_needed();
        summary.orderings = self.runner.engine.take_orderings();
        summary
    }

    /// From now on, the trace of each execution is listed, and not counted in [`Summary::traces`], which keeps so many of them only.
    pub(crate) fn list_traces(&mut self) {
        self.traces = Some(Vec::new());
    }

    /// The traces that were listed, if they were. No more are listed.
    pub(crate) fn take_traces(&mut self) -> Option<Vec<Fingerprint>> {
        self.traces.take()
    }

    /// The executions before have shown this, in the search of which the next ones are a part.
    pub(crate) fn continue_after(&mut self, before: &Summary) {
        self.has_met = before.seen.met;
    }

    /// Counts the last execution. Gives its trace.
    pub(crate) fn count(&mut self, summary: &mut Summary, made: &Made) -> Fingerprint {
        let engine = &self.runner.engine;
        summary.executions += 1;
        summary.steps += made.execution.steps;
        summary.saw_plain_memory |= made.execution.plain > 0;
        summary.hashed |= made.execution.hashed;
        summary.weaker = summary.weaker.max(made.execution.weaker);
        summary.plain_steps += made.execution.plain_steps;
        let blocks = (0..).map_while(|number| engine.block_name(number));
        reached::note(&engine.trace(), blocks, &mut self.reached);
        let fingerprint = engine.fingerprint(&mut self.fingerprints);
        match &mut self.traces {
            Some(traces) => traces.push(fingerprint),
            None => summary.traces.note(fingerprint),
        }
        let seen = &mut summary.seen;
        seen.tasks = seen.tasks.max(made.execution.tasks);
        let asked = |question| engine.decisions().iter().any(|decision| decision.question == question);
        seen.drew = seen.drew || asked(Question::Other);
        let (polls_are_all, order_of_polls) =
            known::read(|known| (known.polls_are_all(made.execution.tasks), known.chose));
        if polls_are_all {
            // What tasks share need not be under control, since each poll is alone with it.
            (seen.chose, seen.met) = (seen.chose || order_of_polls, seen.met || order_of_polls);
        } else {
            seen.chose = seen.chose || asked(Question::Task);
            seen.met = seen.met || self.has_met || self.meets();
        }
        let (engine, seen) = (&self.runner.engine, &mut summary.seen);
        if seen.blocks.len() < self.settings.marked.len() {
            seen.blocks.extend((0..).map_while(|number| engine.block_name(number)));
        }
        fingerprint
    }

    /// Whether tasks share something in the last execution, apart from an executor.
    fn meets(&self) -> bool {
        let engine = &self.runner.engine;
        let of_executor = |event: &&Event| {
            let operation = event.operation;
            known::is_of_executor(operation, engine.object_kind(operation.object))
        };
        interloper_scheduler::meets(engine.trace().iter().filter(|event| !of_executor(event)))
    }

    /// Adds what the last execution shows.
    pub(crate) fn add(&mut self, summary: &mut Summary, number: u64, made: &Made, judgement: Judgement) {
        summary.violated += u64::from(judgement.triple.is_some());
        summary.given_up += u64::from(judgement.given_up);
        summary.undecided += u64::from(judgement.undecided);
        if let Some(finding) = judgement.finding {
            let place = match finding {
                Finding::Benign => &mut summary.error,
                _ => {
                    summary.bugs += 1;
                    &mut summary.bug
                }
            };
            let decisions = || Decisions(self.runner.engine.decisions().to_vec());
            place.get_or_insert_with(|| Found { finding, triple: judgement.triple, number, decisions: decisions() });
        }
        self.warn(&mut summary.warnings, &made.execution);
        if let End::Stuck(stuck) = &made.execution.end {
            summary.misuse = Some(Misuse::Stuck(stuck.clone()));
        } else if self.settings.check_determinism
            && !judgement.given_up
            && let Err(difference) = self.compare(made)
        {
            summary.misuse = Some(Misuse::Nondeterministic { execution: number + 1, difference });
        }
    }

    /// Warns of what the last execution accessed twice.
    fn warn(&mut self, warnings: &mut Vec<Warning>, execution: &Execution) {
        for twice in self.judge.twice() {
            let same = |known: &Twice| {
                known.first.location == twice.first.location && known.again.location == twice.again.location
            };
            if !self.known.iter().any(same) {
                self.known.push(*twice);
                warnings.push(self.warning(twice, execution));
            }
        }
    }

    fn warning(&self, twice: &Twice, execution: &Execution) -> Warning {
        let engine = &self.runner.engine;
        Warning {
            block: self.outermost_block(twice.index, &engine.names(execution)),
            object: engine.object_kind(twice.first.object).map_or("object", ObjectKind::name).to_owned(),
            first: twice.first.location.to_string(),
            again: twice.again.location.to_string(),
        }
    }

    /// The block that a step of the last execution is in.
    fn outermost_block(&self, index: usize, names: &Names) -> String {
        let trace = self.runner.engine.trace();
        let begin = |passages: &[Passage]| {
            (0..=index)
                .rev()
                .find(|&at| trace[at].task == trace[index].task && matches!(passages[at], Passage::Enters(_)))
        };
        begin(self.judge.annotated().passages()).map_or_else(String::new, |begin| block_name(&trace[begin], names))
    }

    /// Makes the last execution again and compares.
    ///
    /// # Errors
    /// The first difference.
    fn compare(&mut self, first: &Made) -> Result<(), String> {
        let decisions = Decisions(self.runner.engine.decisions().to_vec());
        let trace = self.runner.engine.trace().to_vec();
        let mut guided = Guided::new(ReplaySource::new(decisions));
        let again = self.runner.run(&mut guided).expect("a replay is one execution");
        let difference =
            Difference::between((&first.execution, &trace), (&again.execution, &self.runner.engine.trace()));
        if let Some(difference) = difference {
            return Err(difference.brief());
        }
        guided.into_source().finish().map_err(|divergence| divergence.to_string())?;
        let says = |outcome: &Option<Outcome>| match outcome {
            Some(outcome) => outcome.to_string(),
            None => "the program returns nothing".to_owned(),
        };
        match (&first.outcome, &again.outcome) {
            (first, again) if first != again => Err(format!("first {}, then {}", says(first), says(again))),
            _ => Ok(()),
        }
    }

    /// Makes the execution that `decisions` determine, and judges it. The runner has its trace then.
    ///
    /// # Errors
    /// The first difference when the program asks for other decisions.
    pub(crate) fn replay(&mut self, decisions: &Decisions) -> Result<(Made, Judgement), String> {
        let mut guided = Guided::new(ReplaySource::new(decisions.clone()));
        let (made, said) = said::listen(|| self.runner.run(&mut guided));
        let made = made.expect("a replay is one execution");
        self.said = said;
        self.futures = known::read(Known::clone);
        guided.into_source().finish().map_err(|divergence| divergence.to_string())?;
        let judgement = self.judge.judge(&made, &self.runner.engine.trace());
        Ok((made, judgement))
    }

    /// The finding of an execution that an earlier search found, which runs again.
    ///
    /// # Errors
    /// When the execution differs from the recorded one.
    pub(crate) fn recall(&mut self, number: u64, decisions: &str) -> Result<Found, Misuse> {
        let diverged = |difference| Misuse::Diverged { difference };
        let decisions: Decisions = decisions.parse().map_err(|_| diverged("damaged decisions".to_owned()))?;
        let (_, Judgement { finding, triple, .. }) = self.replay(&decisions).map_err(diverged)?;
        // What had to be known for it was known then.
        self.judge.take_needed();
        let finding = finding.ok_or_else(|| diverged("the recorded execution no longer shows anything".to_owned()))?;
        Ok(Found { finding, triple, number, decisions })
    }

    /// Makes an execution under any strategy: how many steps it has, and whether it shows a finding like this one.
    pub(crate) fn try_with(&mut self, strategy: &mut dyn Strategy, finding: &Finding) -> (u64, bool) {
        let Some(made) = self.runner.run(strategy) else { return (0, false) };
        let shows = self.judge.shows(&made, &self.runner.engine.trace(), finding);
        (made.execution.steps, shows)
    }

    /// The finding of an execution that was rerun. Once the time is over, serial orders that another thread ran are not
    /// run again: it is known which outcomes no order gave.
    pub(crate) fn confirmed(&self, made: &Made, judgement: Judgement, known: &Finding) -> Option<Finding> {
        let Finding::Unexplained { outcome } = known else { return judgement.finding };
        let same = || made.outcome.as_ref().is_some_and(|own| own.to_string() == *outcome);
        let given_up = judgement.undecided && self.deadline.is_over() && same();
        if given_up { Some(known.clone()) } else { judgement.finding }
    }

    /// For the last execution, which is stuck: which lines of the program wait, and for what. The execution is rerun.
    pub(crate) fn waiting(&mut self, decisions: &Decisions, made: &Made) -> Vec<Waiting> {
        if !matches!(made.execution.end, End::Deadlock(_) | End::Leaked(_)) {
            return Vec::new();
        }
        let mut callers = Callers::new(Guided::new(ReplaySource::new(decisions.clone())));
        match self.runner.run(&mut callers) {
            Some(again) if again.execution == made.execution => {
                let engine = &self.runner.engine;
                let trace = engine.trace();
                let (polls, names) = self.actors(&trace, &again);
                let mut waiting = callers.waiting(&again.execution.end, &trace, |object| engine.object_kind(object));
                waiting.retain(|waiting| !polls.blocks(waiting.task()));
                waiting.iter_mut().for_each(|waiting| waiting.name(|task| names.task(polls.at_end(task))));
                waiting
            }
            _ => Vec::new(),
        }
    }

    /// For each event of the last execution, the line of the program, where dependencies are under control; nothing elsewhere,
    /// since there all steps are at lines of the program. The execution is rerun, and is the last one again.
    pub(crate) fn lines(&mut self, decisions: &Decisions, made: &Made) -> Vec<Option<SourcePlace>> {
        if !BUILT_UNDER_CONTROL || !knows_lines() {
            return Vec::new();
        }
        let steps = self.runner.engine.trace().iter().filter(|event| !event.continues).count();
        let mut lines = Lines::new(Guided::new(ReplaySource::new(decisions.clone())), steps);
        let again = self.runner.run(&mut lines);
        let trace = self.runner.engine.trace();
        let lines = match again.filter(|again| again.execution == made.execution) {
            Some(again) => self.actors(&trace, &again).0.inside(lines.of(&trace)),
            None => Vec::new(),
        };
        drop(trace);
        let _ = self.replay(decisions);
        lines
    }

    /// What happens before what in the last execution: see [`Engine::happens_before`](interloper_scheduler::Engine::happens_before).
    /// The execution is rerun, and is the last one again. `None` if it does not go the same way.
    pub(crate) fn happens_before(&mut self, decisions: &Decisions) -> Option<Vec<(u32, u32)>> {
        let trace = self.runner.engine.trace().to_vec();
        let mut guided = Guided::new(ReplaySource::new(decisions.clone()));
        self.runner.engine.tell_order(true);
        let again = self.runner.run(&mut guided);
        let told = again.map(|_| self.runner.engine.happens_before());
        let is_same = *self.runner.engine.trace() == trace[..];
        self.runner.engine.tell_order(false);
        let _ = self.replay(decisions);
        told.filter(|_| is_same)
    }

    /// Looks for a smaller execution with the same kind of finding as the last execution.
    pub(crate) fn shrink(&mut self, made: &Made, finding: &Finding) -> Shrunk {
        let first = self.runner.engine.failing(&made.execution);
        let judge = &mut self.judge;
        let (watch, mut tried) = (&self.settings.watch, 0);
        let same = |made: &Made, trace: &[Event]| {
            tried += 1;
            watch.note(Phase::Shrinking(tried));
            judge.shows(made, trace, finding)
        };
        let executions = Executions::AtMost(self.settings.shrink_executions);
        let effort = Effort { executions, steps: self.settings.shrink_steps, deadline: self.deadline };
        self.runner.shrink(first, effort, same)
    }

    /// The tasks of executors of other crates in the last execution, and what tasks are called.
    pub(super) fn actors(&self, trace: &[Event], made: &Made) -> (Polls, Names) {
        let engine = &self.runner.engine;
        let polls = Polls::new(trace, &engine.notices(), made.execution.tasks);
        let mut names = engine.names(&made.execution);
        futures::name(&self.futures, &mut names);
        polls.name(&mut names);
        (polls, names)
    }

    pub(crate) fn runner(&self) -> &Runner<'a> {
        &self.runner
    }

    /// What the steps of collections were in the last [`Worker::replay`], in their order.
    pub(crate) fn said(&self) -> &[Said] {
        &self.said
    }

    /// What is known of the futures of the last [`Worker::replay`].
    pub(crate) fn futures(&self) -> &Known {
        &self.futures
    }

    pub(crate) fn judge(&self) -> &Judge<'a> {
        &self.judge
    }

    /// Which serial orders were needed since the executions ran.
    pub(crate) fn take_needed(&mut self) -> SerialCoverage {
        self.judge.take_needed()
    }
}
