//! The report of a check of a program with blocks.

use std::fmt;

use interloper_harness::faults;
use interloper_report::Counterexample;
use interloper_report::explorer::Exploration;
use interloper_report::replay_file::Moment;
use interloper_scheduler::decisions::Decisions;
use interloper_scheduler::orderings::Executed;
use interloper_scheduler::strategies::{Inferred, Pair};
use interloper_scheduler::{Crash, Fault, Freedoms, SourcePlace, Unseen};
use interloper_std::runtime::{Exit, ObjectKind, Place};

use super::grade::Grade;
use super::unexplored::Unexplored;

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the program.
    pub name: String,
    /// The worst finding.
    pub grade: Grade,
    /// The execution of the lowest number that has a bug.
    pub bug: Option<Violation>,
    /// The execution of the lowest number in which a block was violated and the outcome is explained by a serial order.
    pub error: Option<Violation>,
    /// Where blocks access an object twice, in the order of the places.
    pub warnings: Vec<Warning>,
    /// What looks like a block, though nobody marked it, in the order of the places. Empty unless
    /// [`Blocks::Inferred`](super::Blocks::Inferred) is asked for. No grade follows from it.
    pub inferred: Vec<InferredBlock>,
    /// What the search covered.
    pub coverage: Coverage,
}

/// A finding, with the execution that shows it.
#[derive(Clone, Debug)]
pub struct Violation {
    /// What it shows.
    pub finding: Finding,
    /// The number of the execution in the search, counted from 1.
    pub execution: u64,
    /// The decisions that determine it.
    pub decisions: Decisions,
    /// The decisions of a smaller execution that fails in the same way; the same decisions if the search found no smaller one.
    pub smallest: Decisions,
    /// The departures of the smaller execution, and how many of each. Shrinking removes departures first.
    pub departures: Freedoms,
    /// The smaller execution, described.
    pub counterexample: Counterexample,
    /// The steps of the smaller execution; of more than 10,000 steps, the last ones. The counterexample leaves out some steps
    /// of a long execution.
    pub trace: Vec<Step>,
    /// The same steps and their result by structure, for comparison with a replay.
    pub history: Vec<Moment>,
    /// The smaller execution as its page shows it, if the settings ask for it: see
    /// [`Settings::explore`](super::Settings::explore).
    pub exploration: Option<Box<Exploration>>,
}

impl Violation {
    /// What the page of the violation shows, with the sources that it names: of a check that was not asked to explore, what
    /// the counterexample tells. The name, the verdict and the command are those of the counterexample.
    #[must_use]
    pub fn page(&self) -> Exploration {
        let told = Exploration::of(&self.counterexample);
        let Some(exploration) = self.exploration.as_deref() else { return told.with_sources() };
        let Exploration { name, detail, replay, .. } = told;
        Exploration { name, detail, replay, ..exploration.clone() }.with_sources()
    }
}

/// A step of an execution, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The task of the step: `main`, `thread 2`.
    pub task: String,
    /// What it does: `locks mutex 1`. Objects are numbered by kind in the order of first use.
    pub action: String,
    /// Where: `src/account.rs:12:9`.
    pub location: String,
    /// The block that contains it.
    pub block: Option<String>,
    /// The locks that its task holds at that moment.
    pub holds: Vec<String>,
    /// 1, 2 or 3 if it is one of the violating triple.
    pub of_triple: Option<u8>,
}

/// What an execution shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A violating triple, with an outcome that a serial order also gives.
    Benign,
    /// No serial order gives the outcome.
    Unexplained {
        /// The outcome, in words.
        outcome: String,
    },
    /// A task panicked, and no other task handled the panic.
    Panic {
        /// What it said.
        message: String,
        /// Where.
        place: Option<SourcePlace>,
    },
    /// A task panicked where a panic cannot unwind, for example in a destructor during another panic. The process would end.
    Aborted {
        /// What it said.
        message: String,
        /// Where.
        place: Option<SourcePlace>,
    },
    /// A task used up its stack.
    StackOverflow,
    /// The system would have killed the process for what a task did.
    Crash {
        /// What it did.
        crash: Crash,
        /// Where, if the program has the debug information that says so.
        place: Option<SourcePlace>,
    },
    /// No task can go on.
    Deadlock,
    /// The main task ended, and other tasks can never go on.
    Leaked,
    /// Tasks wait in loops for something that no task does.
    Livelock,
    /// The execution did not end within its bound.
    StepBound,
    /// The program ends its process, so its return value is lost.
    Exited {
        /// How.
        exit: Exit,
        /// Where.
        place: SourcePlace,
    },
    /// The program used plain memory wrongly: a data race, for example, or memory that was freed before.
    Memory(Box<Fault>),
    /// The program ended the execution as a failure.
    Failed {
        /// Why.
        reason: String,
    },
}

impl Finding {
    /// The grade.
    pub fn grade(&self) -> Grade {
        if matches!(self, Finding::Benign) { Grade::Error } else { Grade::Bug }
    }

    /// The finding as one word, as files have it.
    pub fn word(&self) -> &'static str {
        match self {
            Finding::Benign => "benign",
            Finding::Unexplained { .. } => "not-atomic",
            Finding::Panic { .. } => "panic",
            Finding::Aborted { .. } => "panic-that-cannot-unwind",
            Finding::StackOverflow => "stack-overflow",
            Finding::Crash { .. } => "crash",
            Finding::Deadlock => "deadlock",
            Finding::Leaked => "leaked",
            Finding::Livelock => "livelock",
            Finding::StepBound => "step-bound",
            Finding::Exited { .. } => "exited",
            Finding::Memory(fault) => faults::word(fault.kind),
            Finding::Failed { .. } => "failed",
        }
    }

    /// The finding with the details that distinguish it from others of its kind.
    pub(crate) fn in_full(&self) -> String {
        match self {
            Finding::Unexplained { outcome } => format!("{self}: {outcome}"),
            Finding::Panic { message, .. } | Finding::Aborted { message, .. } => format!("{self}: {message}"),
            Finding::Memory(fault) => faults::in_full(fault),
            other => other.to_string(),
        }
    }

    /// Whether it is about the outcome of an execution that came to its end. Every other finding ended its execution.
    pub(crate) fn is_of_outcome(&self) -> bool {
        matches!(self, Finding::Benign | Finding::Unexplained { .. })
    }

    /// Whether two executions fail in the same way: a panic with the same message, any two deadlocks, any two outcomes
    /// that no serial order gives, a race between the same places.
    pub(crate) fn is_like(&self, other: &Finding) -> bool {
        match (self, other) {
            (Finding::Unexplained { .. }, Finding::Unexplained { .. }) => true,
            (Finding::Memory(one), Finding::Memory(other)) => faults::is_like(one, other),
            _ => self == other,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Benign => out.write_str("not atomic, but benign"),
            Finding::Unexplained { .. } => out.write_str("not atomic"),
            Finding::Panic { .. } => out.write_str("panic"),
            Finding::Aborted { .. } => out.write_str("panic that cannot unwind"),
            Finding::StackOverflow => out.write_str("stack overflow"),
            Finding::Crash { crash, .. } => write!(out, "{crash}"),
            Finding::Deadlock => out.write_str("deadlock"),
            Finding::Leaked => out.write_str("tasks that never end"),
            Finding::Livelock => out.write_str("livelock"),
            Finding::StepBound => out.write_str("no end within the step bound"),
            Finding::Exited { exit, .. } => write!(out, "{exit} is called"),
            Finding::Memory(fault) => write!(out, "{}", fault.kind),
            Finding::Failed { reason } => write!(out, "failed: {reason}"),
        }
    }
}

/// A potential violation: a block accesses an object twice (line 17 of Algorithm 2).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// The block.
    pub block: String,
    /// What kind of object it is: `mutex`.
    pub object: String,
    /// The place of the first access, `src/account.rs:12:9`.
    pub first: String,
    /// The place of another one.
    pub again: String,
}

/// Two accesses that look as if they belonged to one block, which nobody has marked: see
/// [`Blocks::Inferred`](super::Blocks::Inferred).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InferredBlock {
    /// What kind of object both access: `mutex`.
    pub object: String,
    /// The place of the first access, `src/account.rs:12:9`.
    pub first: String,
    /// The place of the other one.
    pub again: String,
    /// In how many executions a task made both, one after the other.
    pub entered: u64,
    /// In how many of these another task came between so that no serial order explains the three accesses.
    pub interrupted: u64,
}

impl InferredBlock {
    /// The blocks with these counts.
    pub(crate) fn all(pairs: &Inferred, counts: &[Pair]) -> Vec<InferredBlock> {
        let counts = counts.iter().copied().chain(std::iter::repeat(Pair::default()));
        let block = |((first, again, kind), Pair { entered, interrupted }): ((Place, Place, &str), Pair)| {
            let (object, first, again) = (kind.to_owned(), first.to_string(), again.to_string());
            InferredBlock { object, first, again, entered, interrupted }
        };
        pairs.pairs().zip(counts).map(block).collect()
    }
}

impl fmt::Display for InferredBlock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InferredBlock { object, first, again, entered, interrupted } = self;
        let executions = plural(*entered, "execution");
        write!(out, "the accesses to {} at {first} and {again} ran in {executions}, ", article(object))?;
        write!(out, "interrupted in {interrupted}; mark a block with #[interloper::atomic] to have it judged")
    }
}

/// The noun with its article, where it has one.
fn article(noun: &str) -> String {
    match noun {
        _ if noun == ObjectKind::PLAIN.name() => noun.to_owned(),
        _ if noun.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {noun}"),
        _ => format!("a {noun}"),
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Warning { block, object, first, again } = self;
        write!(out, "{block} accesses {} at {first} and again at {again}", article(object))
    }
}

/// What a check covered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The strategy and the seed, in words.
    pub schedule: String,
    /// The number of executions, up to the first bug unless the search continues after it.
    pub executions: u64,
    /// The number of their steps.
    pub steps: u64,
    /// The number of different Mazurkiewicz traces: executions that differ only in the order of independent steps belong to
    /// the same trace.
    pub traces: u64,
    /// How often each memory ordering was executed under weak memory, in the order of places. Empty unless the settings ask
    /// for it.
    pub orderings: Vec<Executed>,
    /// Whether there were more traces than are counted.
    pub more_traces: bool,
    /// For random schedules, unless the search ended at a bug: an estimate of the traces that no execution has shown.
    pub unseen: Option<Unseen>,
    /// Whether any access to plain memory was seen, if executions were judged for data races.
    pub races: Option<bool>,
    /// Whether the program made a default hasher: in each execution their seeds were the same, those of
    /// [`Settings::seed`](super::Settings::seed). With another seed, maps can have another order and keys can be in other shards.
    pub hashed: bool,
    /// How many of the steps were loads and stores of plain memory, where these are steps.
    pub plain_steps: Option<u64>,
    /// How many executions had a violating triple.
    pub violated: u64,
    /// How many executions had a bug.
    pub bugs: u64,
    /// How many were stopped at the step bound, or when the time was over.
    pub given_up: u64,
    /// How many executions had an outcome that could not be judged, because not all serial orders are known.
    pub undecided: u64,
    /// Whether the strategy ran all its executions.
    pub complete: bool,
    /// What kept an exhaustive search from being complete.
    pub cut: Option<&'static str>,
    /// For an exhaustive search of weak memory: all executions ran in which at most so many accesses do not see the newest
    /// store. `u32::MAX` where more makes no difference.
    pub stale: Option<u32>,
    /// Where memory is sequentially consistent and nothing was found: how many accesses of an execution to atomics, at most, have an
    /// ordering weaker than `SeqCst`. They ran as `SeqCst`, so what goes wrong because an ordering is too weak was not looked for.
    pub as_seq_cst: u32,
    /// Memory is weak, and not because the settings say so: see [`Settings::memory`](super::Settings::memory).
    pub weak_by_default: bool,
    /// The serial orders that were run.
    pub serial: SerialCoverage,
    /// What the time cut short.
    pub cut_short: CutShort,
    /// The check is a part of a search that has no execution for this part: it says nothing about the program.
    pub nothing_to_do: bool,
    /// Why nothing could have been found, where the settings allow that.
    pub trivial: Option<Unexplored>,
}

impl Coverage {
    /// What was not looked for since memory is sequentially consistent.
    pub fn not_examined(&self) -> Option<String> {
        crate::built::ran_as_seq_cst(self.as_seq_cst.into())
    }
}

/// The parts of a check that ended early because the time or the memory ran out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutShort {
    /// The executions of the search.
    pub search: bool,
    /// The executions of the search, because the process had so many bytes of memory: see
    /// [`Settings::most_memory`](super::Settings::most_memory).
    pub memory: Option<u64>,
    /// The serial orders: some outcomes are undecided.
    pub serial: bool,
    /// The shrinking of the finding: the execution that is shown may not be the smallest.
    pub shrinking: bool,
}

impl fmt::Display for CutShort {
    /// What ran out during which parts, or nothing.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts =
            [(self.search, "the search"), (self.serial, "the serial orders"), (self.shrinking, "the shrinking")];
        let parts: Vec<&str> = parts.into_iter().filter_map(|(cut, part)| cut.then_some(part)).collect();
        if !parts.is_empty() {
            write!(out, "the time ran out during {}", parts.join(" and "))?;
        }
        if let Some(bytes) = self.memory {
            let and = if parts.is_empty() { "" } else { "; " };
            write!(out, "{and}the memory ran out during the search: the process has {} MiB", bytes >> 20)?;
        }
        Ok(())
    }
}

/// How much is known about the serial orders of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SerialCoverage {
    /// The executions that found their outcomes.
    pub executions: u64,
    /// Whether all serial orders are known.
    pub complete: bool,
    /// Whether some block was interrupted where it waits, because the program does not end otherwise.
    pub interrupted: bool,
}

impl SerialCoverage {
    /// The sum of both.
    pub(crate) fn and(self, other: SerialCoverage) -> SerialCoverage {
        SerialCoverage {
            executions: self.executions.max(other.executions),
            complete: self.complete || other.complete,
            interrupted: self.interrupted || other.interrupted,
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nothing_to_do {
            return write!(
                out,
                "{}: nothing to do: all executions of the search belong to other shards",
                self.schedule
            );
        }
        let more = if self.more_traces { "more than " } else { "" };
        let (executions, traces) = (plural(self.executions, "execution"), plural(self.traces, "trace"));
        write!(out, "{}: {executions} of {more}{traces}, {}", self.schedule, plural(self.steps, "step"))?;
        match self.plain_steps {
            Some(0) => out.write_str(", none of them at plain memory")?,
            Some(steps) => write!(out, ", {steps} of them at plain memory")?,
            None => {}
        }
        if self.complete {
            out.write_str(", complete")?;
        }
        if let Some(cut) = self.cut {
            write!(out, ", not complete: {cut}")?;
        }
        if self.hashed {
            out.write_str(", one seed of hashers")?;
        }
        match self.stale {
            Some(bound) if bound < u32::MAX => {
                write!(out, ", weak memory: all with at most {}", plural(bound.into(), "stale access"))?
            }
            Some(_) => out.write_str(", weak memory: all stale accesses")?,
            None => {}
        }
        match self.races {
            Some(true) => out.write_str(", judged for data races")?,
            Some(false) => out.write_str(", judged for data races, but no access to plain memory was seen")?,
            None => {}
        }
        if self.violated > 0 {
            write!(out, ", a block was violated in {}", self.violated)?;
        }
        if self.bugs > 0 {
            write!(out, ", {} with a bug", self.bugs)?;
        }
        if self.given_up > 0 {
            write!(out, ", {} stopped at the step bound or the end of the time", self.given_up)?;
        }
        if self.undecided > 0 {
            write!(out, ", {} undecided because not all serial orders are known", self.undecided)?;
        }
        let SerialCoverage { executions, complete, interrupted } = self.serial;
        if executions > 0 {
            let all = if complete { "all " } else { "" };
            write!(out, "; {all}serial orders: {}", plural(executions, "execution"))?;
        }
        if interrupted {
            out.write_str(", with blocks interrupted where they wait")?;
        }
        if let Some(unseen) = self.unseen {
            write!(out, "; {}", unseen.text("trace"))?;
        }
        if self.cut_short != CutShort::default() {
            write!(out, "; {}", self.cut_short)?;
        }
        if let Some(not_examined) = self.not_examined() {
            write!(out, "; {not_examined}")?;
        }
        if let Some(trivial) = &self.trivial {
            write!(out, "; {}", trivial.reason())?;
        }
        Ok(())
    }
}

fn plural(count: u64, noun: &str) -> String {
    let ending = if noun.ends_with('s') { "es" } else { "s" };
    format!("{count} {noun}{}", if count == 1 { "" } else { ending })
}

impl Report {
    /// The worst violation: a bug, or else a benign violation.
    pub fn violation(&self) -> Option<&Violation> {
        self.bug.as_ref().or(self.error.as_ref())
    }

    /// Why a real run may not show the finding, if that is so: memory is weak by default, and this build does not see all that orders
    /// accesses.
    pub fn may_lack_order(&self) -> Option<&'static str> {
        let violation = self.violation().filter(|_| self.coverage.weak_by_default)?;
        crate::built::may_lack_order(violation.departures)
    }

    /// Panics with the report unless the grade is `expected`.
    ///
    /// # Panics
    /// When the grade differs.
    #[track_caller]
    pub fn assert_grade(&self, expected: Grade) {
        assert!(self.grade == expected, "expected {}, found {}\n\n{self}", expected.word(), self.grade.word());
    }

    /// Panics with the report if there is a bug.
    ///
    /// # Panics
    /// When there is a bug.
    #[track_caller]
    pub fn assert_no_bug(&self) {
        assert!(self.grade < Grade::Bug, "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        use interloper_report::text::{Style, headline, render};
        match self.violation() {
            Some(violation) => out.write_str(&render(&violation.counterexample, Style::default()))?,
            None if self.coverage.nothing_to_do => {
                out.write_str(&headline("–", &self.name, "nothing to do", Style::default()))?;
            }
            None => out.write_str(&headline("✓", &self.name, &self.grade.to_string(), Style::default()))?,
        }
        for warning in &self.warnings {
            writeln!(out, "  warning: {warning}")?;
        }
        for block in &self.inferred {
            writeln!(out, "  inferred: {block}")?;
        }
        writeln!(out, "  {}", self.coverage)?;
        match self.may_lack_order() {
            Some(reason) => writeln!(out, "  note: {reason}"),
            None => Ok(()),
        }
    }
}
