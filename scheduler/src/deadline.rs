//! How much a search may spend.

use std::time::{Duration, Instant};

use crate::explore::Executions;

/// A point in time at which a search ends with what it has. Whoever makes executions looks at it between two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline {
    end: Option<Instant>,
}

impl Deadline {
    /// No end.
    pub const NEVER: Deadline = Deadline { end: None };

    /// From now on for so long. A time beyond what the clock can count has no end.
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

    /// The one of two that ends first.
    #[must_use]
    pub fn and(self, other: Deadline) -> Deadline {
        let end = match (self.end, other.end) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Deadline { end }
    }
}

/// What may be spent on making a failing run smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many runs are made at most.
    pub executions: Executions,
    /// How many steps these runs make at most, all together: the run that reaches the number is the last.
    pub steps: u64,
    /// When no further run is begun.
    pub deadline: Deadline,
}

impl From<Executions> for Effort {
    /// So many runs, of any length, for as long as they take.
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

    /// A clock has its end, too.
    #[test]
    fn the_longest_time_has_no_end() {
        assert_eq!(Deadline::of(Some(Duration::MAX)), Deadline::NEVER);
    }
}
