//! Programs with an expected grade: the entries of a suite.

use std::fmt;

use interloper_commutativity::Value;
use interloper_report::orderings::Orderings;
use interloper_scheduler::decisions::Decisions;

use super::check::Checker;
use super::grade::Grade;
use super::misuse::Misuse;
use super::report::{Finding, Report};
use super::settings::Settings;

/// A program with blocks and the expected result of its check: an entry of a suite.
///
/// A program is plain data: function pointers and static text. So a suite is a list of programs, and a command line can
/// list, check and replay them by name. Two ways to write one:
///
/// ```
/// use interloper::ToValue;
/// use interloper::blocks::{Bug, Expected, Program};
/// use interloper::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use interloper::{atomic, thread};
///
/// fn lost_update() -> u32 {
///     let number = AtomicU32::new(0);
///     let increment = || atomic("increment", || number.store(number.load(SeqCst) + 1, SeqCst));
///     thread::scope(|scope| {
///         scope.spawn(increment);
///         increment();
///     });
///     number.load(SeqCst)
/// }
///
/// let short = Program::new("lost-update", Expected::Bug(Bug::NotSerialisable), || lost_update().to_value());
/// let full = Program {
///     about: "Two increments in two steps each: one is lost.",
///     origin: "everyday Rust",
///     settings: |settings| settings.executions = 1_000,
///     ..short
/// };
/// let report = full.run().unwrap();
/// assert_eq!(report.name, "lost-update");
/// ```
///
/// The serial orders must explain the value that the body returns: return the results and the final state that matter. The
/// body runs thousands of times, and each execution must start with the same state: create the objects in the body, or use
/// a static of a mirrored type, which is fresh in each execution.
#[derive(Clone, Copy)]
pub struct Program {
    /// Its name, in kebab-case.
    pub name: &'static str,
    /// Where it comes from: `AtomFuzzer, Figure 1`, or `everyday Rust`.
    pub origin: &'static str,
    /// What it does, and why it gets its grade, in a sentence or two.
    pub about: &'static str,
    /// The expected result of a check.
    pub expected: Expected,
    /// The program that does the same without the bug.
    pub twin: Option<&'static str>,
    /// The source of the program, for readers.
    pub source: &'static str,
    /// The changes to the default settings.
    pub settings: fn(&mut Settings),
    /// Runs the program once.
    pub body: fn() -> Value,
}

/// The expected result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// [`Grade::Clean`].
    Clean,
    /// [`Grade::Warning`].
    Warning,
    /// [`Grade::Error`].
    Error,
    /// [`Grade::Bug`] of this kind.
    Bug(Bug),
}

/// A kind of bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// No serial order gives the outcome.
    NotSerialisable,
    /// A panic with this message.
    Panic(&'static str),
    /// A panic with this message that cannot unwind.
    Aborted(&'static str),
    /// A task uses up its stack.
    StackOverflow,
    /// The system would kill the process.
    Crash,
    /// No task can go on, not even the main task.
    Deadlock,
    /// The main task ended, and other tasks can never go on.
    Leaked,
    /// Tasks wait in loops for something that no task does.
    Livelock,
    /// Some execution does not end within its bound.
    StepBound,
    /// It calls `process::exit` or `process::abort`.
    Exited,
}

/// A check with an unexpected result.
#[derive(Clone, Debug)]
pub enum Unexpected {
    /// Another grade, or another kind of bug.
    Grade {
        /// The name of the program.
        program: &'static str,
        /// The expected result.
        expected: Expected,
        /// The actual result.
        report: Box<Report>,
    },
    /// No result: the program cannot be checked.
    Misuse {
        /// The name of the program.
        program: &'static str,
        /// Why.
        misuse: Misuse,
    },
}

impl Program {
    /// A program without further details.
    pub const fn new(name: &'static str, expected: Expected, body: fn() -> Value) -> Program {
        Program { name, origin: "", about: "", expected, twin: None, source: "", settings: |_| (), body }
    }

    /// The program's own settings.
    pub fn own_settings(&self) -> Settings {
        let mut settings = Settings::default();
        (self.settings)(&mut settings);
        settings
    }

    /// Checks it with these settings.
    ///
    /// # Errors
    /// When it is not deterministic.
    ///
    /// # Panics
    /// As [`Checker::check`].
    pub fn check_with(&self, settings: &Settings) -> Result<Report, Misuse> {
        self.checker(settings).check_values(&self.body)
    }

    /// Runs the one execution that `decisions` determine.
    ///
    /// # Errors
    /// [`Misuse::Diverged`] when the decisions do not fit the program.
    pub fn replay_with(&self, settings: &Settings, decisions: &Decisions) -> Result<Report, Misuse> {
        self.checker(settings).replay_values(decisions, &self.body)
    }

    /// What each of its memory orderings is for: see [`Checker::orderings`].
    ///
    /// # Errors
    /// As those of [`Program::check_with`].
    ///
    /// # Panics
    /// As [`Checker::check`].
    pub fn orderings_with(&self, settings: &Settings) -> Result<Orderings, Misuse> {
        self.checker(settings).orderings_of(&self.body)
    }

    /// Checks it with its own settings.
    ///
    /// # Errors
    /// When the result is not the expected one.
    pub fn run(&self) -> Result<Report, Unexpected> {
        let Program { name: program, expected, .. } = *self;
        match self.check_with(&self.own_settings()) {
            Ok(report) if expected.fits(&report) => Ok(report),
            Ok(report) => Err(Unexpected::Grade { program, expected, report: Box::new(report) }),
            Err(misuse) => Err(Unexpected::Misuse { program, misuse }),
        }
    }

    fn checker(&self, settings: &Settings) -> Checker {
        Checker::new(self.name).settings(|own| *own = settings.clone())
    }
}

impl Expected {
    /// The grade alone.
    pub fn grade(self) -> Grade {
        match self {
            Expected::Clean => Grade::Clean,
            Expected::Warning => Grade::Warning,
            Expected::Error => Grade::Error,
            Expected::Bug(_) => Grade::Bug,
        }
    }

    /// Whether a report has this result.
    pub fn fits(self, report: &Report) -> bool {
        match (self, &report.bug) {
            (Expected::Bug(bug), Some(violation)) => bug.fits(&violation.finding),
            (expected, _) => expected.grade() == report.grade,
        }
    }
}

impl Bug {
    fn fits(self, finding: &Finding) -> bool {
        match (self, finding) {
            (Bug::Panic(says), Finding::Panic { message, .. }) => message == says,
            (Bug::Aborted(says), Finding::Aborted { message, .. }) => message == says,
            (Bug::NotSerialisable, Finding::Unexplained { .. })
            | (Bug::StackOverflow, Finding::StackOverflow)
            | (Bug::Crash, Finding::Crash { .. })
            | (Bug::Deadlock, Finding::Deadlock)
            | (Bug::Leaked, Finding::Leaked)
            | (Bug::Livelock, Finding::Livelock)
            | (Bug::StepBound, Finding::StepBound)
            | (Bug::Exited, Finding::Exited { .. }) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.grade().word())?;
        match self {
            Expected::Bug(bug) => write!(out, " ({bug})"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Bug {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bug::NotSerialisable => out.write_str("not serialisable"),
            Bug::Panic(says) => write!(out, "panic: {says}"),
            Bug::Aborted(says) => write!(out, "panic that cannot unwind: {says}"),
            Bug::StackOverflow => out.write_str("stack overflow"),
            Bug::Crash => out.write_str("crash"),
            Bug::Deadlock => out.write_str("deadlock"),
            Bug::Leaked => out.write_str("tasks that never end"),
            Bug::Livelock => out.write_str("livelock"),
            Bug::StepBound => out.write_str("no end"),
            Bug::Exited => out.write_str("the process ends"),
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({}, expected {})", self.name, self.origin, self.expected)
    }
}

impl fmt::Display for Unexpected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unexpected::Grade { program, expected, report } => {
                write!(out, "{program}: expected {expected}, found {}\n\n{report}", report.grade.word())
            }
            Unexpected::Misuse { program, misuse } => write!(out, "{program}: {misuse}"),
        }
    }
}

impl std::error::Error for Unexpected {}
