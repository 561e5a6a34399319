//! What a check of a program with blocks says.

use std::fmt;

use interloper_report::Counterexample;
use interloper_report::replay_file::Moment;
use interloper_report::shorten::middle;
use interloper_scheduler::decisions::Decisions;
use interloper_scheduler::{Freedoms, SourcePlace, Unseen};
use interloper_std::runtime::Exit;

use super::unexplored::Unexplored;

/// How bad what was found is: the three outputs of AtomFuzzer (section 2.2), and none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Nothing was found.
    Clean,
    /// A block accesses an object twice; it was not seen that another task comes in between. Users should ignore these,
    /// says the paper: they tell where a violation is looked for.
    Warning,
    /// An interleaving was created that no serial order of the accesses explains, and what it comes to is explained by a
    /// serial order of the blocks: a benign violation, as far as was seen.
    Error,
    /// A panic, a deadlock or the like, or an outcome that no serial order of the blocks gives.
    Bug,
}

impl Grade {
    /// One word, as tables and JSON have it.
    pub fn word(self) -> &'static str {
        match self {
            Grade::Clean => "clean",
            Grade::Warning => "warning",
            Grade::Error => "error",
            Grade::Bug => "bug",
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Grade::Clean => "no violation found",
            Grade::Warning => "no violation found, only potential ones",
            Grade::Error => "atomicity violated, without consequences",
            Grade::Bug => "bug",
        })
    }
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the program.
    pub name: String,
    /// The worst that was found.
    pub grade: Grade,
    /// The execution of the lowest number that has a bug.
    pub bug: Option<Violation>,
    /// The execution of the lowest number in which a block was violated and the outcome is explained by a serial order.
    pub error: Option<Violation>,
    /// Where blocks access an object twice, in the order of the places.
    pub warnings: Vec<Warning>,
    /// What was gone through.
    pub coverage: Coverage,
}

/// An execution that shows something.
#[derive(Clone, Debug)]
pub struct Violation {
    /// What it shows.
    pub finding: Finding,
    /// Which execution of the search it was, counted from 1.
    pub execution: u64,
    /// What determines it.
    pub decisions: Decisions,
    /// What determines a smaller execution that fails in the same way; the same where none was found.
    pub smallest: Decisions,
    /// Where the smaller one departs from the ordinary, and how often. Looking for a smaller one, departures are left out
    /// first.
    pub departures: Freedoms,
    /// The smaller one.
    pub counterexample: Counterexample,
    /// Its steps, of more than 10,000 the last ones; of a long execution the counterexample leaves some out.
    pub trace: Vec<Step>,
    /// The same steps by their structure, and what came of them: what a replay is compared with.
    pub history: Vec<Moment>,
}

/// A step of an execution, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Who made it: `main`, `thread 2`.
    pub task: String,
    /// What it does: `locks mutex 1`. Objects are numbered by kind in the order of first use.
    pub action: String,
    /// Where: `src/account.rs:12:9`.
    pub location: String,
    /// The block that it is in.
    pub block: Option<String>,
    /// The locks that its task holds then.
    pub holds: Vec<String>,
    /// 1, 2 or 3 if it is one of the violating triple.
    pub of_triple: Option<u8>,
}

/// What an execution shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A violating triple, with consequences that a serial order has, too.
    Benign,
    /// The outcome is that of no serial order.
    Unexplained {
        /// The outcome, in words.
        outcome: String,
    },
    /// A task panicked, and nobody dealt with it.
    Panic {
        /// What it said.
        message: String,
        /// Where.
        place: Option<SourcePlace>,
    },
    /// A task panicked where a panic cannot unwind: in a destructor during another one, say. The process would end.
    Aborted {
        /// What it said.
        message: String,
        /// Where.
        place: Option<SourcePlace>,
    },
    /// A task used up its stack.
    StackOverflow,
    /// No task can go on.
    Deadlock,
    /// The main task has ended, and others can never go on.
    Leaked,
    /// Tasks wait in loops for what nobody does.
    Livelock,
    /// The execution did not end within its bound.
    StepBound,
    /// The program ends its process, so that nobody would see what it returns.
    Exited {
        /// How.
        exit: Exit,
        /// Where.
        place: SourcePlace,
    },
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
            Finding::Deadlock => "deadlock",
            Finding::Leaked => "leaked",
            Finding::Livelock => "livelock",
            Finding::StepBound => "step-bound",
            Finding::Exited { .. } => "exited",
            Finding::Failed { .. } => "failed",
        }
    }

    /// With what tells it from another one of its kind.
    pub(crate) fn in_full(&self) -> String {
        match self {
            Finding::Unexplained { outcome } => format!("{self}: {outcome}"),
            Finding::Panic { message, .. } | Finding::Aborted { message, .. } => format!("{self}: {message}"),
            other => other.to_string(),
        }
    }

    /// Whether two executions fail in the same way: a panic with the same message, any two deadlocks, any two outcomes
    /// that no serial order gives.
    pub(crate) fn is_like(&self, other: &Finding) -> bool {
        matches!((self, other), (Finding::Unexplained { .. }, Finding::Unexplained { .. })) || self == other
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
            Finding::Deadlock => out.write_str("deadlock"),
            Finding::Leaked => out.write_str("tasks that never end"),
            Finding::Livelock => out.write_str("livelock"),
            Finding::StepBound => out.write_str("no end within the step bound"),
            Finding::Exited { exit, .. } => write!(out, "{exit} is called"),
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

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Warning { block, object, first, again } = self;
        let article = if object.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        write!(out, "{block} accesses {article} {object} at {first} and again at {again}")
    }
}

/// What a check went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The strategy and the seed, in words.
    pub schedule: String,
    /// The executions made, up to the first bug unless the search keeps going.
    pub executions: u64,
    /// The steps that they made.
    pub steps: u64,
    /// To how many different Mazurkiewicz traces they belong: executions that differ in the order of independent steps
    /// only belong to the same trace.
    pub traces: u64,
    /// Whether there were more traces than are counted.
    pub more_traces: bool,
    /// For random schedules, unless the search ended at a bug: what the executions say about the traces that they have not shown.
    pub unseen: Option<Unseen>,
    /// How many of them had a violating triple.
    pub violated: u64,
    /// How many of them had a bug.
    pub bugs: u64,
    /// How many were given up at the step bound.
    pub given_up: u64,
    /// How many had an outcome of which it is not known whether a serial order gives it: there are too many of those.
    pub undecided: u64,
    /// Whether the strategy made all executions that it has.
    pub complete: bool,
    /// What kept an exhaustive search from being complete.
    pub cut: Option<&'static str>,
    /// The serial orders that were run.
    pub serial: SerialCoverage,
    /// What the time did not suffice for.
    pub cut_short: CutShort,
}

/// The parts of a check that ended early because its time ran out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutShort {
    /// Making the executions that were asked for.
    pub search: bool,
    /// Running the serial orders: outcomes are undecided.
    pub serial: bool,
    /// Making what was found smaller: what is shown may not be the smallest.
    pub shrinking: bool,
}

impl fmt::Display for CutShort {
    /// The parts, or nothing.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.search, "the search"),
            (self.serial, "the serial orders"),
            (self.shrinking, "making the execution smaller"),
        ];
        let parts: Vec<&str> = parts.into_iter().filter_map(|(cut, part)| cut.then_some(part)).collect();
        out.write_str(&parts.join(" and "))
    }
}

/// What is known of the serial orders of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SerialCoverage {
    /// The executions made to find out what they come to.
    pub executions: u64,
    /// Whether these were all.
    pub complete: bool,
    /// Whether a block had to be interrupted in them where it waits, because the program does not come to its end
    /// otherwise.
    pub interrupted: bool,
}

impl SerialCoverage {
    /// What is known when both are.
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
        let more = if self.more_traces { "more than " } else { "" };
        let (executions, traces) = (plural(self.executions, "execution"), plural(self.traces, "trace"));
        write!(out, "{}: {executions} of {more}{traces}, {}", self.schedule, plural(self.steps, "step"))?;
        if self.complete {
            out.write_str(", complete")?;
        }
        if let Some(cut) = self.cut {
            write!(out, ", not complete: {cut}")?;
        }
        if self.violated > 0 {
            write!(out, ", a block violated in {}", self.violated)?;
        }
        if self.bugs > 0 {
            write!(out, ", {} with a bug", self.bugs)?;
        }
        if self.given_up > 0 {
            write!(out, ", {} given up at the step bound", self.given_up)?;
        }
        if self.undecided > 0 {
            write!(out, ", {} undecided for want of all serial orders", self.undecided)?;
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
            write!(out, "; the time ran out during {}", self.cut_short)?;
        }
        Ok(())
    }
}

fn plural(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

impl Report {
    /// The worst execution that was found: a bug, or else a benign violation.
    pub fn violation(&self) -> Option<&Violation> {
        self.bug.as_ref().or(self.error.as_ref())
    }

    /// Panics with the report unless the grade is `expected`.
    ///
    /// # Panics
    /// When it is another one.
    #[track_caller]
    pub fn assert_grade(&self, expected: Grade) {
        assert!(self.grade == expected, "expected {}, found {}\n\n{self}", expected.word(), self.grade.word());
    }

    /// Panics with the report if there is a bug.
    ///
    /// # Panics
    /// When there is one.
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
            None => out.write_str(&headline("✓", &self.name, &self.grade.to_string(), Style::default()))?,
        }
        for warning in &self.warnings {
            writeln!(out, "  warning: {warning}")?;
        }
        writeln!(out, "  {}", self.coverage)
    }
}

/// The program cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The same decisions gave two different executions: the program depends on something that is not under control.
    Nondeterministic {
        /// Which execution of the search it was, counted from 1.
        execution: u64,
        /// The first difference.
        difference: String,
    },
    /// With these settings no program can be run.
    Unusable {
        /// What is asked for, and what is possible.
        reason: String,
    },
    /// Decisions to be replayed do not fit the program as it is now.
    Diverged {
        /// The first difference.
        difference: String,
    },
    /// Nothing was found because nothing was explored. [`Settings::allow_trivial`](super::Settings::allow_trivial)
    /// accepts that.
    Unexplored(Unexplored),
}

/// A difference names two outcomes, which may be any values.
const LONGEST_DIFFERENCE: usize = 4_000;

impl fmt::Display for Misuse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |difference| middle(difference, LONGEST_DIFFERENCE);
        match self {
            Misuse::Nondeterministic { execution, difference } => write!(
                out,
                "the program is not deterministic: execution {execution}, made again with the same decisions, is another \
                 one: {}; usual causes are time, randomness, addresses, the order of a hash map with another \
                 hasher, state that outlives an execution, and threads or locks that are not under control",
                short(difference),
            ),
            Misuse::Unusable { reason } => out.write_str(reason),
            Misuse::Diverged { difference } => {
                write!(out, "the decisions to be replayed do not fit the program as it is now: {}", short(difference))
            }
            Misuse::Unexplored(reason) => write!(out, "{reason}; `allow_trivial` accepts this"),
        }
    }
}

impl std::error::Error for Misuse {}
