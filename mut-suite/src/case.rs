//! What a case is, and how it is run.

use std::fmt;

use interloper::{Check, Misuse, Report, Verdict};

/// A method under test with its expected verdict.
#[derive(Clone, Copy)]
pub struct Case {
    /// Its name, in kebab-case.
    pub name: &'static str,
    /// Where it comes from: `COLT, Figure 3 (Adobe BlazeDS)`, or `everyday Rust`.
    pub origin: &'static str,
    /// What it does, and what is wrong with it, in one sentence.
    pub about: &'static str,
    /// What a check must say.
    pub expected: Verdict,
    /// The case that does the same and is atomic.
    pub twin: Option<&'static str>,
    /// The code that runs.
    pub source: &'static str,
    /// Makes the method under test.
    pub build: fn() -> Box<dyn Check>,
}

impl fmt::Debug for Case {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({}, expected {})", self.name, self.origin, self.expected)
    }
}

/// A case whose check did not say what it should.
#[derive(Clone, Debug)]
pub enum Unexpected {
    /// Another verdict.
    Verdict {
        /// The case's name.
        case: &'static str,
        /// What it must be.
        expected: Verdict,
        /// What the check said.
        report: Box<Report>,
    },
    /// No verdict: the case is described wrongly.
    Misuse {
        /// The case's name.
        case: &'static str,
        /// What is wrong with it.
        misuse: Misuse,
    },
}

impl fmt::Display for Unexpected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unexpected::Verdict { case, expected, report } => {
                write!(out, "{case}: expected {expected}, found {}\n\n{report}", report.verdict)
            }
            Unexpected::Misuse { case, misuse } => write!(out, "{case}: {misuse}"),
        }
    }
}

impl std::error::Error for Unexpected {}

/// Checks a case as it is described.
///
/// # Errors
/// When the verdict is not the expected one.
pub fn run_case(case: &Case) -> Result<Report, Unexpected> {
    let method = (case.build)();
    match method.check_with(method.settings()) {
        Ok(report) if report.verdict == case.expected => Ok(report),
        Ok(report) => Err(Unexpected::Verdict { case: case.name, expected: case.expected, report: Box::new(report) }),
        Err(misuse) => Err(Unexpected::Misuse { case: case.name, misuse }),
    }
}
