//! The grades of a check.

use std::fmt;

/// How bad the worst finding is: the three outputs of AtomFuzzer (section 2.2), or clean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// The search found nothing.
    Clean,
    /// A block accesses an object twice, and no execution showed another task between the two accesses. The paper advises
    /// users to ignore warnings: they say where the search looks for a violation.
    Warning,
    /// In some execution, no serial order explains three accesses, but a serial order of the blocks explains the outcome:
    /// a benign violation, as far as the search went.
    Error,
    /// A panic, a deadlock or the like, or an outcome that no serial order of the blocks gives.
    Bug,
}

impl Grade {
    /// The word of the grade in tables and JSON.
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
            Grade::Warning => "no violation found, only potential violations",
            Grade::Error => "atomicity violated, without consequences",
            Grade::Bug => "bug",
        })
    }
}
