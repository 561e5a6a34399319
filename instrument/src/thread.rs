//! Mirrors [`std::thread`]: under control a thread is a task of the runtime.

mod builder;
mod destructors;
mod join;
mod local;
mod scope;
#[expect(clippy::module_inception)]
mod thread;
#[cfg(unix)]
mod unix;

use std::io;
use std::num::NonZero;
use std::panic::Location;
use std::time::Duration;

use crate::{runtime, time};

pub use std::thread::*;

pub use builder::Builder;
pub use join::{JoinHandle, ScopedJoinHandle};
pub use local::{AccessError, LocalKey};
pub use scope::{Scope, scope};
pub use thread::{Thread, ThreadId, current};

/// What [`available_parallelism`] gives under control, on every machine.
const PARALLELISM: NonZero<usize> = NonZero::new(2).unwrap();

/// As [`std::thread::spawn`].
///
/// # Panics
/// When the operating system fails to create a thread.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T,
    F: Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("failed to spawn thread")
}

/// As [`std::thread::yield_now`]. Under control other tasks run first, if any can.
#[inline]
#[track_caller]
pub fn yield_now() {
    let location = Location::caller();
    runtime::with(|current| current.runtime().yield_now(location)).unwrap_or_else(std::thread::yield_now);
}

/// As [`std::thread::panicking`].
#[inline]
#[must_use]
pub fn panicking() -> bool {
    runtime::with(|current| current.runtime().panicking()).unwrap_or_else(std::thread::panicking)
}

/// As [`std::thread::sleep`]. Under control the virtual clock passes.
#[track_caller]
pub fn sleep(dur: Duration) {
    let location = Location::caller();
    runtime::with(|current| current.runtime().sleep(dur, location)).unwrap_or_else(|| {
        time::note_real();
        std::thread::sleep(dur);
    });
}

/// As [`std::thread::sleep_ms`].
#[track_caller]
#[deprecated(since = "1.6.0", note = "replaced by `std::thread::sleep`")]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(u64::from(ms)));
}

/// As [`std::thread::park`]. Under control a task is not unparked without a reason, unless the run is free to do so.
#[track_caller]
pub fn park() {
    let location = Location::caller();
    if runtime::with(|current| current.runtime().park(None, location)).is_none() {
        std::thread::park();
    }
}

/// As [`std::thread::park_timeout`].
#[track_caller]
pub fn park_timeout(dur: Duration) {
    let location = Location::caller();
    if runtime::with(|current| current.runtime().park(Some(dur), location)).is_none() {
        time::note_real();
        std::thread::park_timeout(dur);
    }
}

/// As [`std::thread::park_timeout_ms`].
#[track_caller]
#[deprecated(since = "1.6.0", note = "replaced by `std::thread::park_timeout`")]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(u64::from(ms)));
}

/// As [`std::thread::available_parallelism`]. Under control it is 2 on every machine.
///
/// # Errors
/// When the operating system does not say.
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    if runtime::is_controlled() { Ok(PARALLELISM) } else { std::thread::available_parallelism() }
}
