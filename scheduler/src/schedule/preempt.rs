//! Where tasks can be preempted, as a value with a text form.

use std::fmt;
use std::str::FromStr;

/// Where tasks can be preempted. The text forms are `sync` and `memory`.
///
/// ```
/// use interloper_scheduler::schedule::Preempt;
///
/// assert_eq!("memory".parse(), Ok(Preempt::Memory));
/// assert_eq!(Preempt::default().to_string(), "sync");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preempt {
    /// Before they synchronise: atomics, locks, channels, threads. What they do to plain memory in between belongs to the step
    /// before it.
    #[default]
    Synchronisation,
    /// Before loads and stores of plain memory as well, unless no other task can have reached the memory. This is for programs
    /// whose bugs are in plain variables.
    Memory,
}

impl fmt::Display for Preempt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Preempt::Synchronisation => "sync",
            Preempt::Memory => "memory",
        })
    }
}

/// A text that is not a [`Preempt`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreemptError {
    /// The text.
    pub text: String,
}

impl fmt::Display for PreemptError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} is no place to preempt at: write sync or memory (loads and stores, too)", self.text)
    }
}

impl std::error::Error for PreemptError {}

impl FromStr for Preempt {
    type Err = PreemptError;

    fn from_str(text: &str) -> Result<Preempt, PreemptError> {
        match text {
            "sync" => Ok(Preempt::Synchronisation),
            "memory" => Ok(Preempt::Memory),
            _ => Err(PreemptError { text: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for preempt in [Preempt::Synchronisation, Preempt::Memory] {
            assert_eq!(preempt.to_string().parse(), Ok(preempt));
        }
        let error = "plain".parse::<Preempt>().unwrap_err().to_string();
        assert_eq!(error, "\"plain\" is no place to preempt at: write sync or memory (loads and stores, too)");
    }
}
