//! How much a search may spend.

use std::time::{Duration, Instant};

use crate::explore::Executions;

/// A point in time at which a search ends with what it has. Whoever makes executions looks at it between two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    end: Option<Instant>,
}

impl Budget {
    /// No end.
    pub const UNLIMITED: Budget = Budget { end: None };

    /// From now on for so long. A time beyond what the clock can count has no end.
    pub fn of(time: Option<Duration>) -> Budget {
        Budget { end: time.and_then(|time| Instant::now().checked_add(time)) }
    }

    /// Whether the time is over.
    pub fn is_spent(self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// How much time is left; `None` if there is no end.
    pub fn left(self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// The one of two that ends first.
    #[must_use]
    pub fn and(self, other: Budget) -> Budget {
        let end = match (self.end, other.end) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Budget { end }
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
    pub budget: Budget,
}

impl From<Executions> for Effort {
    /// So many runs, of any length, for as long as they take.
    fn from(executions: Executions) -> Effort {
        Effort { executions, steps: u64::MAX, budget: Budget::UNLIMITED }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_end_counts() {
        let hour = Duration::from_secs(3600);
        let (long, none, spent) = (Budget::of(Some(hour)), Budget::of(None), Budget::of(Some(Duration::ZERO)));
        assert_eq!(none, Budget::UNLIMITED);
        assert_eq!((none.is_spent(), long.is_spent(), spent.is_spent()), (false, false, true));
        assert_eq!((long.and(none), none.and(long)), (long, long));
        assert_eq!((long.and(spent), spent.and(long)), (spent, spent));
        assert_eq!((none.left(), spent.left()), (None, Some(Duration::ZERO)));
        assert!(long.left().is_some_and(|left| left <= hour && left > hour / 2));
    }

    /// A clock has its end, too.
    #[test]
    fn the_longest_time_has_no_end() {
        assert_eq!(Budget::of(Some(Duration::MAX)), Budget::UNLIMITED);
    }
}
