//! Mirrors [`std::time`]: under control the clock is virtual.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::sync::OnceLock;

use crate::runtime;

pub use std::time::*;

/// As [`std::time::UNIX_EPOCH`].
pub const UNIX_EPOCH: SystemTime = SystemTime(std::time::UNIX_EPOCH);

/// What the clock of the system shows when an execution starts: the first second of 2020.
const START_OF_EXECUTION: Duration = Duration::from_secs(1_577_836_800);

/// Mirrors [`std::time::Instant`].
///
/// Under control the text is the virtual time. The hash is always the hash of the virtual time. The type converts to
/// and from the original.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(std::time::Instant);

/// Mirrors [`std::time::SystemTime`]. `std::fs` uses the original, to and from which this type converts.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime(std::time::SystemTime);

/// The instant at which executions start.
fn origin() -> std::time::Instant {
    static ORIGIN: OnceLock<std::time::Instant> = OnceLock::new();
    *ORIGIN.get_or_init(std::time::Instant::now)
}

/// The virtual time, in a controlled run.
fn virtual_time() -> Option<Duration> {
    runtime::with(|current| current.runtime().now())
}

impl Instant {
    /// As [`std::time::Instant::now`].
    #[must_use]
    pub fn now() -> Instant {
        Instant(virtual_time().map_or_else(std::time::Instant::now, |time| origin() + time))
    }

    /// As [`std::time::Instant::duration_since`].
    #[must_use]
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.duration_since(earlier.0)
    }

    /// As [`std::time::Instant::checked_duration_since`].
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// As [`std::time::Instant::saturating_duration_since`].
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// As [`std::time::Instant::elapsed`].
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Instant::now() - *self
    }

    /// As [`std::time::Instant::checked_add`].
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    /// As [`std::time::Instant::checked_sub`].
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, other: Duration) -> Instant {
        Instant(self.0 + other)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, other: Duration) -> Instant {
        Instant(self.0 - other)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, other: Duration) {
        *self = *self - other;
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    fn sub(self, other: Instant) -> Duration {
        self.duration_since(other)
    }
}

impl From<std::time::Instant> for Instant {
    fn from(instant: std::time::Instant) -> Instant {
        Instant(instant)
    }
}

impl From<Instant> for std::time::Instant {
    fn from(instant: Instant) -> std::time::Instant {
        instant.0
    }
}

impl Hash for Instant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let origin = origin();
        (self.0.saturating_duration_since(origin), origin.saturating_duration_since(self.0)).hash(state);
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if runtime::is_controlled() {
            f.debug_tuple("Instant").field(&self.0.saturating_duration_since(origin())).finish()
        } else {
            self.0.fmt(f)
        }
    }
}

impl SystemTime {
    /// As [`std::time::SystemTime::UNIX_EPOCH`].
    pub const UNIX_EPOCH: SystemTime = UNIX_EPOCH;

    /// As [`std::time::SystemTime::now`].
    #[must_use]
    pub fn now() -> SystemTime {
        let now = virtual_time().map(|time| std::time::UNIX_EPOCH + START_OF_EXECUTION + time);
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

    /// As [`std::time::SystemTime::checked_add`].
    pub fn checked_add(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_add(duration).map(SystemTime)
    }

    /// As [`std::time::SystemTime::checked_sub`].
    pub fn checked_sub(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_sub(duration).map(SystemTime)
    }
}

impl Add<Duration> for SystemTime {
    type Output = SystemTime;

    fn add(self, dur: Duration) -> SystemTime {
        SystemTime(self.0 + dur)
    }
}

impl AddAssign<Duration> for SystemTime {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub<Duration> for SystemTime {
    type Output = SystemTime;

    fn sub(self, dur: Duration) -> SystemTime {
        SystemTime(self.0 - dur)
    }
}

impl SubAssign<Duration> for SystemTime {
    fn sub_assign(&mut self, other: Duration) {
        *self = *self - other;
    }
}

impl From<std::time::SystemTime> for SystemTime {
    fn from(time: std::time::SystemTime) -> SystemTime {
        SystemTime(time)
    }
}

impl From<SystemTime> for std::time::SystemTime {
    fn from(time: SystemTime) -> std::time::SystemTime {
        time.0
    }
}

impl fmt::Debug for SystemTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
