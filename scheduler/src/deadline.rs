//! How much a search may spend.

use std::time::{Duration, Instant};

use crate::explore::Executions;

/// A point in time at which a search ends with what it has found. The search looks at it between executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline {
    end: Option<Instant>,
}

impl Deadline {
    /// No deadline.
    pub const NEVER: Deadline = Deadline { end: None };

    /// The deadline after this time from now. A time that the clock cannot count has no deadline.
    pub fn of(time: Option<Duration>) -> Deadline {
        Deadline { end: time.and_then(|time| Instant::now().checked_add(time)) }
    }

    /// Whether the time is over.
    pub fn is_over(self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// How much time is left; `None` if there is no end.
    pub fn left(self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// The earlier of two deadlines.
    #[must_use]
    pub fn and(self, other: Deadline) -> Deadline {
        let end = match (self.end, other.end) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Deadline { end }
    }
}

/// The budget for shrinking a failing execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The most executions.
    pub executions: Executions,
    /// The most steps of these executions together: the execution that reaches this number is the last.
    pub steps: u64,
    /// The time after which no further execution begins.
    pub deadline: Deadline,
}

impl From<Executions> for Effort {
    /// This many executions, of any length, without a deadline.
    fn from(executions: Executions) -> Effort {
        Effort { executions, steps: u64::MAX, deadline: Deadline::NEVER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_end_counts() {
        let hour = Duration::from_secs(3600);
        let (long, none, spent) = (Deadline::of(Some(hour)), Deadline::of(None), Deadline::of(Some(Duration::ZERO)));
        assert_eq!(none, Deadline::NEVER);
        assert_eq!((none.is_over(), long.is_over(), spent.is_over()), (false, false, true));
        assert_eq!((long.and(none), none.and(long)), (long, long));
        assert_eq!((long.and(spent), spent.and(long)), (spent, spent));
        assert_eq!((none.left(), spent.left()), (None, Some(Duration::ZERO)));
        assert!(long.left().is_some_and(|left| left <= hour && left > hour / 2));
    }

    /// The clock counts only so far.
    #[test]
    fn the_longest_time_has_no_end() {
        assert_eq!(Deadline::of(Some(Duration::MAX)), Deadline::NEVER);
    }
}
