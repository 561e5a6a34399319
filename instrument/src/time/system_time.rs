//! The clock of the system, where its calls are not under control.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::{Duration, SystemTimeError};

/// As [`std::time::UNIX_EPOCH`].
pub const UNIX_EPOCH: SystemTime = SystemTime(std::time::UNIX_EPOCH);

/// Mirrors [`std::time::SystemTime`]. `std::fs` uses the original, to and from which this type converts.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime(std::time::SystemTime);

impl SystemTime {
    /// As [`std::time::SystemTime::UNIX_EPOCH`].
    pub const UNIX_EPOCH: SystemTime = UNIX_EPOCH;

    /// As [`std::time::SystemTime::now`].
    #[must_use]
    pub fn now() -> SystemTime {
        let now = super::of_system().map(|time| std::time::UNIX_EPOCH + time);
        SystemTime(now.unwrap_or_else(std::time::SystemTime::now))
    }

    /// As [`std::time::SystemTime::duration_since`].
    ///
    /// # Errors
    /// When `earlier` is later.
    pub fn duration_since(&self, earlier: SystemTime) -> Result<Duration, SystemTimeError> {
        self.0.duration_since(earlier.0)
    }

    /// As [`std::time::SystemTime::elapsed`].
    ///
    /// # Errors
    /// When it is in the future.
    pub fn elapsed(&self) -> Result<Duration, SystemTimeError> {
        SystemTime::now().duration_since(*self)
    }
}

arithmetic!(SystemTime);

impl fmt::Debug for SystemTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
