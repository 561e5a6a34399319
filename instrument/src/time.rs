//! Mirrors [`std::time`]: under control the clock is virtual.
//!
//! In programs that `cargo interloper` builds `SystemTime` is the original, which `std::fs` uses too: there the call of the C
//! library that it makes is under control (see the module `kernel`).

use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, AddAssign, Sub, SubAssign};

use crate::runtime;

pub use std::time::*;

thread_local! {
    static REAL: Cell<u64> = const { Cell::new(0) };
}

/// How often this thread has read the real clock or slept by it, through the mirror: outside of executions.
#[must_use]
pub fn real_uses() -> u64 {
    REAL.try_with(Cell::get).unwrap_or_default()
}

/// The real clock is about to be used.
pub(crate) fn note_real() {
    // Where a thread ends, nobody asks any more.
    let _ = REAL.try_with(|uses| uses.set(uses.get() + 1));
}

/// What both points in time have in common: a duration can be added and taken away, and they convert to the original.
macro_rules! arithmetic {
    ($time:ident) => {
        impl $time {
            #[doc = concat!("As [`std::time::", stringify!($time), "::checked_add`].")]
            pub fn checked_add(&self, duration: Duration) -> Option<$time> {
                self.0.checked_add(duration).map($time)
            }

            #[doc = concat!("As [`std::time::", stringify!($time), "::checked_sub`].")]
            pub fn checked_sub(&self, duration: Duration) -> Option<$time> {
                self.0.checked_sub(duration).map($time)
            }
        }

        impl Add<Duration> for $time {
            type Output = $time;

            fn add(self, duration: Duration) -> $time {
                $time(self.0 + duration)
            }
        }

        impl AddAssign<Duration> for $time {
            fn add_assign(&mut self, duration: Duration) {
                *self = *self + duration;
            }
        }

        impl Sub<Duration> for $time {
            type Output = $time;

            fn sub(self, duration: Duration) -> $time {
                $time(self.0 - duration)
            }
        }

        impl SubAssign<Duration> for $time {
            fn sub_assign(&mut self, duration: Duration) {
                *self = *self - duration;
            }
        }

        impl From<std::time::$time> for $time {
            fn from(time: std::time::$time) -> $time {
                $time(time)
            }
        }

        impl From<$time> for std::time::$time {
            fn from(time: $time) -> std::time::$time {
                time.0
            }
        }
    };
}

#[cfg(not(all(interloper, target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
mod system_time;

#[cfg(not(all(interloper, target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
pub use system_time::{SystemTime, UNIX_EPOCH};

/// What the clock of the system shows when an execution starts: the first second of 2020.
const START_OF_EXECUTION: Duration = Duration::from_secs(1_577_836_800);

/// Mirrors [`std::time::Instant`].
///
/// Under control the text is the virtual time. The hash is always the hash of the virtual time. The type converts to
/// and from the original.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(std::time::Instant);

/// What the clock of the system shows in a controlled run, since 1970.
pub(crate) fn of_system() -> Option<Duration> {
    runtime::virtual_time().map(|time| START_OF_EXECUTION + time)
}

impl Instant {
    /// As [`std::time::Instant::now`].
    #[must_use]
    pub fn now() -> Instant {
        let real = || {
            note_real();
            std::time::Instant::now()
        };
        Instant(runtime::virtual_time().map_or_else(real, |time| runtime::origin() + time))
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
}

arithmetic!(Instant);

impl Sub<Instant> for Instant {
    type Output = Duration;

    fn sub(self, other: Instant) -> Duration {
        self.duration_since(other)
    }
}

impl Hash for Instant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let origin = runtime::origin();
        (self.0.saturating_duration_since(origin), origin.saturating_duration_since(self.0)).hash(state);
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if runtime::is_controlled() {
            f.debug_tuple("Instant").field(&self.0.saturating_duration_since(runtime::origin())).finish()
        } else {
            self.0.fmt(f)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_before_an_execution_is_made_at_its_start() {
        let real = SystemTime::now();
        let made = runtime::before_time(|| (Instant::now(), SystemTime::now()));
        assert_eq!(std::time::Instant::from(made.0), runtime::origin());
        assert_eq!(made.1.duration_since(UNIX_EPOCH).expect("later"), START_OF_EXECUTION);
        assert!(SystemTime::now() >= real, "the real clock goes on");
    }
}
