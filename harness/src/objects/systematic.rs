//! The systematic engine: the same programs as tasks under the scheduler, for objects that are written over the mirror of
//! std. Its findings have their steps and replay.

pub(crate) mod control;
pub(crate) mod controlled;
mod partial;
#[cfg(test)]
mod tests;
mod whole;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::rc::Rc;

use interloper_commutativity::Value;
use interloper_linearize::schema::Schema;
use interloper_scheduler::decisions::{Decisions, ReplaySource};
use interloper_scheduler::runtime::{Action, Exit, TaskId};
pub use interloper_scheduler::schedule::{FREE_EVERY, Schedule};
use interloper_scheduler::schedule::{Memory, Plan};
use interloper_scheduler::strategies::Guided;
use interloper_scheduler::words::Names;
use interloper_scheduler::{
    Config, Effort, End, Engine, Event, Execution, Failing, Fault, Fingerprints, Freedom, Freedoms, Older, Stopped,
    Strategy, Traces, Watch, Watchdog,
};
pub use interloper_scheduler::{Deadline, Executions, Unlock};

use crate::next::Next;
use crate::object::Program;
use control::Asked;
use controlled::{Announcing, ControlledProgram, Counting};
use partial::Begun;
use whole::Whole;

pub use control::Span;
pub use controlled::{blocked, unreached};
pub use partial::{Anew, Partial, Resume};

/// The result of an exploration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explored {
    /// How often each outcome occurred. A call that never returned is `blocked`, and the calls after it are
    /// `unreached`.
    pub outcomes: BTreeMap<Vec<Value>, u64>,
    /// How many executions there were.
    pub executions: u64,
    /// How many more executions there were without preemptions, to compare seeds of hashers: their outcomes are not looked at.
    pub compared: u64,
    /// How many executions were cut, in a livelock or at the step bound.
    pub cut: u64,
    /// The first execution that was cut.
    pub first_cut: Option<Box<Trace>>,
    /// Whether the time ran out before all executions ran.
    pub timed_out: bool,
    /// The number of steps of the executions.
    pub steps: u64,
    /// How many accesses of the program to plain memory were looked at.
    pub plain: u64,
    /// How many of its steps were such accesses: see [`Watch::steps`].
    pub plain_steps: u64,
    /// Whether an execution made a hasher with a seed, so that executions depend on [`Limits::seed`].
    pub hashed: bool,
    /// The most accesses of an execution that had an ordering weaker than `SeqCst` and ran as `SeqCst`.
    pub as_seq_cst: u32,
    /// The Mazurkiewicz traces that the executions belong to.
    pub traces: Traces,
    /// The traces of the executions that are a sample of what further ones would show: what a search learnt to run is not.
    pub sample: Traces,
    /// Whether the strategy has no executions left.
    pub exhausted: bool,
    /// Whether every interleaving of visible steps has its outcome among these.
    pub complete: bool,
    /// The first execution that `look` ended the exploration with.
    pub stopped: Option<Trace>,
    /// Whether calls made any visible step. If not, the object is not written over the mirror of std, and only whole
    /// sequences were interleaved.
    pub instrumented: bool,
    /// The pairs of calls of different sequences, as indices in text order with the smaller one first, that overlapped in an
    /// execution: each began before the other one ended.
    pub overlapped: BTreeSet<(usize, usize)>,
}

/// One execution.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The results in text order.
    pub outcome: Vec<Value>,
    /// How it ended.
    pub end: End,
    /// Its decisions and sizes: what replays it, and what shrinking begins with.
    pub failing: Failing,
    /// Its steps.
    pub steps: Vec<Event>,
    /// Where memory is weak, what each access to an atomic read or followed: see [`Execution::accesses`].
    pub accesses: Vec<(u32, Option<u32>)>,
    /// Those that did not take the newest place: see [`Execution::older`].
    pub older: Vec<Older>,
    /// Which task ran each sequence; `None` for a sequence that never started.
    pub tasks: Vec<Option<TaskId>>,
    /// The calls in text order: where each begins and ends among the steps. `None` for a call that never started.
    pub calls: Vec<Option<Span>>,
    /// The names of its tasks and objects.
    pub names: Names,
    /// What it depends on besides its decisions.
    pub limits: Limits,
}

impl Explored {
    /// The same with the executions of another exploration of the same program, which came later.
    #[must_use]
    pub(crate) fn and(mut self, later: Explored) -> Explored {
        later.outcomes.into_iter().for_each(|(outcome, count)| *self.outcomes.entry(outcome).or_insert(0) += count);
        self.executions += later.executions;
        self.compared += later.compared;
        self.cut += later.cut;
        self.first_cut = self.first_cut.or(later.first_cut);
        self.timed_out |= later.timed_out;
        self.steps += later.steps;
        self.plain += later.plain;
        self.plain_steps += later.plain_steps;
        self.hashed |= later.hashed;
        self.as_seq_cst = self.as_seq_cst.max(later.as_seq_cst);
        self.traces.merge(&later.traces);
        self.sample.merge(&later.sample);
        self.exhausted |= later.exhausted;
        self.complete |= later.complete;
        self.stopped = self.stopped.or(later.stopped);
        self.instrumented |= later.instrumented;
        self.overlapped.extend(later.overlapped);
        self
    }

    /// Whether nothing more is to be run: an execution ended it, every interleaving has run, or the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.stopped.is_some() || self.complete || self.timed_out
    }

    /// What ended the exploration apart from an outcome, if something did.
    pub fn failure(&self) -> Option<Failure<'_>> {
        failure_in(&self.stopped.as_ref()?.end)
    }
}

impl Trace {
    /// The decisions that replay it.
    pub fn decisions(&self) -> &Decisions {
        &self.failing.decisions
    }
}

/// What is wrong with an execution, whatever its calls return.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure<'e> {
    /// A panic, or another end of the process. Panics of calls are caught, so it came from the constructor or from a drop, or it
    /// ended the process.
    Panicked(&'e str),
    /// It used plain memory wrongly.
    Memory(&'e Fault),
}

/// How a program is explored.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What executions depend on besides decisions. Whether giving a lock back is a step is found out: it is where
    /// a task *tries* to take a lock.
    pub limits: Limits,
    /// The memory of an execution; `None` is weak memory if the first run of a program has an ordering weaker than `SeqCst`.
    /// [`Freedom::Memory`] among the freedoms of the limits makes memory weak, too.
    pub memory: Option<Memory>,
    /// Which interleavings to run. For AtomFuzzer each call is an atomic block.
    pub schedule: Schedule,
    /// The seed of random schedules.
    pub seed: u64,
    /// The period of freedoms: with n, every n-th execution of a random strategy has the freedoms of the limits.
    pub free_every: u64,
    /// How many executions run.
    pub executions: Executions,
    /// The time after which no further execution begins.
    pub deadline: Deadline,
}

impl Default for Settings {
    /// One execution of each trace, 50,000 executions at most, under sequential consistency.
    fn default() -> Settings {
        Settings {
            limits: Limits::default(),
            memory: Some(Memory::SequentiallyConsistent),
            schedule: Schedule::Exhaustive,
            seed: 0,
            free_every: 1,
            executions: Executions::AtMost(50_000),
            deadline: Deadline::NEVER,
        }
    }
}

impl Settings {
    /// These settings with another schedule: the random walk, PCT of depth 3 and POS in turn.
    pub fn at_random(self, seed: u64) -> Settings {
        let depth = NonZeroU32::new(3).expect("more than 0");
        let schedule = Schedule::Portfolio(vec![Schedule::Random, Schedule::Pct { depth }, Schedule::Pos]);
        Settings { schedule, seed, ..self }
    }
}

/// What an execution depends on besides its decisions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The most steps of an execution; a longer one is cut.
    pub step_bound: u64,
    /// The most rounds in which all tasks only wait for a change; an execution with more is cut too.
    pub livelock_rounds: u32,
    /// Whether giving a lock back is a step.
    pub unlock: Unlock,
    /// The freedoms of an execution.
    pub freedoms: Freedoms,
    /// The seed of default hashers.
    pub seed: u64,
    /// How executions look at plain memory, if they do.
    pub plain: Option<Watch>,
}

impl Default for Limits {
    /// 100,000 steps, 1,000 rounds; giving a lock back is part of the step before it; a spinning task may
    /// go on although nothing has changed, and a waiting writer may keep readers out; the seed is 0; plain memory is not looked
    /// at.
    fn default() -> Limits {
        let freedoms = Schedule::Exhaustive.freedoms();
        Limits { step_bound: 100_000, livelock_rounds: 1_000, unlock: Unlock::Part, freedoms, seed: 0, plain: None }
    }
}

impl Limits {
    fn config(self, program: &Program) -> Config {
        let Limits { step_bound, livelock_rounds, unlock, freedoms, seed, plain } = self;
        let watchdog = Some(Watchdog::new(Watchdog::PATIENCE).of(program.schema().to_string()));
        Config { step_bound, livelock_rounds, unlock, freedoms, seed, plain, watchdog, ..Config::default() }
    }
}

/// Runs a program again and again. `look` sees the outcome of each execution, and says whether to go on. A panic of the
/// constructor, or of a drop, ends the exploration, and so does a fault of plain memory.
///
/// # Panics
/// When a probability of the schedule is not between 0 and 1.
pub fn run(program: &Program, settings: &Settings, look: &mut dyn FnMut(&[Value]) -> Next) -> Explored {
    run_kept(program, settings, look, &mut Anew)
}

/// The same for a search that is kept while it runs, and goes on where an earlier process was: it comes to the same end as a search
/// that was never interrupted. What is kept covers the executions until the first one that `look` ends the search with.
///
/// # Panics
/// As [`run`].
pub fn run_kept(
    program: &Program,
    settings: &Settings,
    look: &mut dyn FnMut(&[Value]) -> Next,
    keep: &mut dyn Resume,
) -> Explored {
    let controlled = ControlledProgram::new(program);
    let announce =
        |fuzzer| -> Box<dyn Strategy> { Box::new(Announcing { strategy: fuzzer, marks: controlled.marks() }) };
    let plan = Plan { free_every: settings.free_every, announce: Some(&announce), ..Plan::new(settings.seed) };
    let amount = (settings.executions, settings.deadline);
    let memory = settings.memory.unwrap_or_else(|| memory_for(program, &controlled, settings));
    let freedoms = match memory {
        Memory::Weak => memory.within(settings.limits.freedoms),
        Memory::SequentiallyConsistent => settings.limits.freedoms,
    };
    let mut earlier = keep.earlier();
    for unlock in [Unlock::Part, Unlock::Step] {
        let limits = Limits { unlock, freedoms, ..settings.limits };
        let mut search = settings.schedule.search(&plan);
        let mut begun = None;
        if let Some(partial) = earlier.take() {
            if partial.unlock() != unlock {
                // The first search was over, and nothing of it counts.
                earlier = Some(partial);
                continue;
            }
            begun = partial.begun(program, limits, look).filter(|_| search.strategy().restore(partial.strategy()));
            if begun.is_none() {
                search = settings.schedule.search(&plan);
            }
        }
        let begun = begun.unwrap_or_default();
        let (mut explored, tried) =
            explored(program, &controlled, limits, search.strategy(), amount, look, (begun, keep));
        if let Some(found) = explored.stopped.take() {
            if let Some(mut fewer) = search.with_fewer_stale(found.decisions(), plan.shard) {
                let amount = (settings.executions.after(explored.executions), settings.deadline);
                let anew = (Begun::default(), &mut Anew as &mut dyn Resume);
                let (later, _) = self::explored(program, &controlled, limits, fewer.strategy(), amount, look, anew);
                explored = Explored { exhausted: false, ..explored.and(later) };
            }
            explored.stopped = explored.stopped.or(Some(found));
        }
        let complete = search.is_complete() && explored.cut == 0;
        explored.complete = complete && explored.exhausted && explored.stopped.is_none();
        // When a task tries to take a lock, it matters when the lock is released.
        if !tried || explored.stopped.is_some() || explored.timed_out || unlock == Unlock::Step {
            return explored;
        }
    }
    unreachable!("giving back a lock is a step in the second round")
}

/// Random executions of a program, [`Settings::at_random`], in which some calls run as one step: once such a call has made a step, no
/// other sequence makes one until it ends. `whole` are their numbers in text order.
///
/// An execution in which such a call has to wait for another sequence counts as one that was cut.
///
/// # Panics
/// As [`run`].
pub(crate) fn run_whole(
    program: &Program,
    settings: Settings,
    whole: &BTreeSet<usize>,
    look: &mut dyn FnMut(&[Value]) -> Next,
) -> Explored {
    let controlled = ControlledProgram::new(program);
    let Settings { limits, schedule, seed, free_every, executions, deadline, .. } = settings;
    let mut search = schedule.search(&Plan { free_every, ..Plan::new(seed) });
    let mut whole = Whole::new(search.strategy(), &controlled, whole);
    let anew = (Begun::default(), &mut Anew as &mut dyn Resume);
    explored(program, &controlled, limits, &mut whole, (executions, deadline), look, anew).0
}

/// The memory for a program: see [`Memory::of_program`].
fn memory_for(program: &Program, controlled: &ControlledProgram, settings: &Settings) -> Memory {
    let freedoms = settings.limits.freedoms.with(Freedom::Memory, 0);
    let mut engine = Engine::new(Limits { freedoms, ..settings.limits }.config(program));
    let mut is_first = true;
    Memory::of_program(settings.seed, |strategy| {
        if !std::mem::take(&mut is_first) && settings.deadline.is_over() {
            return None;
        }
        let one = Executions::AtMost(1);
        let explored =
            engine.explore(strategy, one, || controlled.main(), |_, execution| ControlFlow::Break(execution));
        match explored.stopped {
            Stopped::Broken(execution) => Some(execution),
            Stopped::Exhausted | Stopped::Limit => None,
        }
    })
}

/// The same under any strategy, up to a number of executions and within the time. Also says whether a task tried to take a
/// lock.
pub fn explore(
    program: &Program,
    limits: Limits,
    strategy: &mut dyn Strategy,
    amount: (Executions, Deadline),
    look: &mut dyn FnMut(&[Value]) -> Next,
) -> (Explored, bool) {
    let controlled = ControlledProgram::new(program);
    explored(program, &controlled, limits, strategy, amount, look, (Begun::default(), &mut Anew))
}

fn explored(
    program: &Program,
    controlled: &ControlledProgram,
    limits: Limits,
    strategy: &mut dyn Strategy,
    (executions, deadline): (Executions, Deadline),
    look: &mut dyn FnMut(&[Value]) -> Next,
    (begun, keep): (Begun, &mut dyn Resume),
) -> (Explored, bool) {
    let mut engine = Engine::new(limits.config(program));
    let sample = Rc::new(Cell::new(true));
    let strategy = &mut Counting { strategy, asked: controlled.asked(), sample: sample.clone() };
    let Begun { mut seen, mut tried } = begun;
    let pairs = parallel(program.schema());
    let mut fingerprints = Fingerprints::default();
    loop {
        let left = executions.after(seen.executions);
        let explored = engine.explore(
            &mut *strategy,
            left,
            || controlled.main(),
            |engine, execution| {
                tried |= execution.tried;
                let failed = failure_in(&execution.end).is_some();
                let outcome = controlled.outcome();
                let tasks = controlled.tasks();
                overlaps(&pairs, &controlled.calls(), &mut seen.overlapped);
                seen.instrumented = seen.instrumented || engine.trace().iter().any(|event| is_of_object(event, &tasks));
                seen.steps += execution.steps;
                seen.plain += execution.plain;
                seen.plain_steps += execution.plain_steps;
                seen.hashed |= execution.hashed;
                if limits.freedoms.count(Freedom::Memory) == 0 {
                    seen.as_seq_cst = seen.as_seq_cst.max(execution.weaker);
                }
                let fingerprint = engine.fingerprint(&mut fingerprints);
                seen.traces.note(fingerprint);
                if sample.get() {
                    seen.sample.note(fingerprint);
                }
                let mut go_on = |seen: &mut Explored| {
                    seen.timed_out = deadline.is_over();
                    let pauses = seen.timed_out || keep.is_due();
                    if pauses { ControlFlow::Break(Paused) } else { ControlFlow::Continue(()) }
                };
                let cut = is_cut(&execution.end) || controlled.interrupted().get();
                seen.cut += u64::from(cut);
                if cut && seen.first_cut.is_some() {
                    return go_on(&mut seen);
                }
                if !cut && !failed {
                    *seen.outcomes.entry(outcome.clone()).or_insert(0) += 1;
                    if look(&outcome) == Next::Continue {
                        return go_on(&mut seen);
                    }
                }
                let failing = engine.failing(&execution);
                let steps = engine.trace().to_vec();
                let calls = controlled.calls().into_iter().map(|call| Some(call?.among(&steps))).collect();
                let names = names(engine, &execution, &tasks);
                let Execution { end, accesses, older, .. } = execution;
                let trace = Trace { outcome, end, failing, steps, accesses, older, tasks, calls, names, limits };
                if cut {
                    seen.first_cut = Some(Box::new(trace));
                    return go_on(&mut seen);
                }
                seen.stopped = Some(trace);
                ControlFlow::Break(Paused)
            },
        );
        seen.executions += explored.executions;
        if seen.stopped.is_none() && explored.stopped == Stopped::Broken(Paused) {
            let saved = strategy.saved().and_then(partial::fits);
            keep.keep(saved.map(|saved| Partial::of(&seen, tried, limits.unlock, saved)));
            if !seen.timed_out {
                continue;
            }
        }
        seen.exhausted = explored.stopped == Stopped::Exhausted;
        return (seen, tried);
    }
}

/// An exploration pauses: it is kept, or has come to its end.
#[derive(PartialEq, Eq)]
struct Paused;

/// The pairs of calls of different sequences, as indices in text order.
fn parallel(schema: &Schema) -> Vec<(usize, usize)> {
    let sequences = schema.sequences().iter().enumerate();
    let of_call: Vec<usize> = sequences.flat_map(|(number, calls)| std::iter::repeat_n(number, calls.len())).collect();
    let pairs = (0..of_call.len()).flat_map(|one| (one + 1..of_call.len()).map(move |other| (one, other)));
    pairs.filter(|&(one, other)| of_call[one] != of_call[other]).collect()
}

/// Which of the pairs overlapped. A call that did not return overlaps all that came after its beginning.
fn overlaps(pairs: &[(usize, usize)], calls: &[Option<Asked>], seen: &mut BTreeSet<(usize, usize)>) {
    for &(one, other) in pairs {
        if seen.len() == pairs.len() {
            return;
        }
        if let (Some(first), Some(second)) = (calls[one], calls[other])
            && first.begins_before_the_end_of(second)
            && second.begins_before_the_end_of(first)
        {
            seen.insert((one, other));
        }
    }
}

/// What tasks and objects are called: the task of a sequence as the sequence is.
fn names(engine: &Engine, execution: &Execution, tasks: &[Option<TaskId>]) -> Names {
    let mut names = engine.names(execution);
    for (number, task) in tasks.iter().enumerate() {
        task.iter().for_each(|task| names.call(*task, sequence_name(number)));
    }
    names
}

/// What the sequence of this number, counted from 0, is called in reports.
pub(crate) fn sequence_name(number: usize) -> String {
    format!("sequence {}", number + 1)
}

/// Whether a step belongs to the object, in a call or where a thread drops its thread-locals, and not to the code that runs the
/// sequences.
pub(crate) fn is_of_object(event: &Event, tasks: &[Option<TaskId>]) -> bool {
    let Event { task, operation, .. } = event;
    tasks.contains(&Some(*task))
        && !operation.action.is_private()
        && operation.action != Action::Exit
        && operation.location.file() != controlled::FILE
}

fn failure_in(end: &End) -> Option<Failure<'_>> {
    Some(Failure::Panicked(match end {
        End::Panicked(report) | End::Aborted(report) => &report.message,
        End::StackOverflow { .. } => "stack overflow",
        End::Crashed { crash, .. } => crash.text(),
        End::Stuck(_) => "a call made no step for too long: it loops without synchronising, or waits outside control",
        End::Exited { exit: Exit::Code(_), .. } => "process::exit",
        End::Exited { exit: Exit::Abort, .. } => "process::abort",
        End::Memory(fault) => return Some(Failure::Memory(fault)),
        _ => return None,
    }))
}

/// Whether an execution was ended before it had an outcome.
fn is_cut(end: &End) -> bool {
    matches!(end, End::Livelock(_) | End::StepBound(_) | End::Failed { .. })
}

/// Makes a trace smaller, as long as its outcome is one that `look` stops at.
pub fn shrink(
    program: &Program,
    trace: &Trace,
    effort: impl Into<Effort>,
    look: &mut dyn FnMut(&[Value]) -> Next,
) -> Trace {
    let controlled = ControlledProgram::new(program);
    let mut engine = Engine::new(trace.limits.config(program));
    let fails = |_: &Engine, execution: &Execution| {
        !is_cut(&execution.end) && failure_in(&execution.end).is_none() && look(&controlled.outcome()) == Next::Stop
    };
    let shrunk = engine.shrink(trace.failing.clone(), effort, || controlled.main(), fails);
    replay(program, trace.limits, &shrunk.smallest.decisions).unwrap_or_else(|| trace.clone())
}

/// What happens before what in an execution: see [`Engine::happens_before`]. `None` if it does not go the same way again.
pub(crate) fn happens_before(program: &Program, trace: &Trace) -> Option<Vec<(u32, u32)>> {
    let mut attempts = Attempts::new(program, trace.limits);
    attempts.engine.tell_order(true);
    attempts.run(&mut Guided::new(ReplaySource::new(trace.decisions().clone())), &mut |_, _| true);
    let is_same = *attempts.engine.trace() == trace.steps[..];
    is_same.then(|| attempts.engine.happens_before())
}

/// Executions of a program, one after the other, each under a strategy of its own.
pub(crate) struct Attempts {
    controlled: ControlledProgram,
    engine: Engine,
}

impl Attempts {
    pub(crate) fn new(program: &Program, limits: Limits) -> Attempts {
        let controlled = ControlledProgram::new(program);
        Attempts { controlled, engine: Engine::new(limits.config(program)) }
    }

    /// One execution: how many steps it has, and whether it fails, by how it ends and by its outcome, if it has one.
    pub(crate) fn run(
        &mut self,
        strategy: &mut dyn Strategy,
        fails: &mut dyn FnMut(&End, Option<&[Value]>) -> bool,
    ) -> (u64, bool) {
        let Attempts { controlled, engine } = self;
        let strategy = &mut Counting { strategy, asked: controlled.asked(), sample: Rc::default() };
        let mut ran = (0, false);
        engine.explore(
            strategy,
            Executions::AtMost(1),
            || controlled.main(),
            |_, execution| {
                let ended = !is_cut(&execution.end) && failure_in(&execution.end).is_none();
                let outcome = ended.then(|| controlled.outcome());
                ran = (execution.steps, fails(&execution.end, outcome.as_deref()));
                ControlFlow::Break(())
            },
        );
        ran
    }
}

/// Reruns the execution with these decisions. `None` when the decisions do not fit the program.
pub fn replay(program: &Program, limits: Limits, decisions: &Decisions) -> Option<Trace> {
    let mut strategy = Guided::new(ReplaySource::new(decisions.clone()));
    let once = (Executions::AtMost(1), Deadline::NEVER);
    let (explored, _) = explore(program, limits, &mut strategy, once, &mut |_| Next::Stop);
    explored.stopped.or(explored.first_cut.map(|cut| *cut)).filter(|_| strategy.source_mut().divergence().is_none())
}
