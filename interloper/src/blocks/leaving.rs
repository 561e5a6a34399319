//! A program that leaves the process in the middle of its check has not passed.
//!
//! `std::process::exit(0)` in a program under check would end the test binary with code 0: no result, no failure, and
//! every other test of the binary skipped. So a function that runs at the end of the process looks for checks that have
//! not ended, names them, and makes the process fail.

use std::io::Write;
use std::sync::{Mutex, Once, PoisonError};

/// The names of the programs being checked.
static CHECKED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A check that is going on.
pub(crate) struct Checking(String);

impl Checking {
    /// The check of a program of this name begins; it ends when this is dropped.
    pub(crate) fn new(name: &str) -> Checking {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(at_exit::register);
        checked().push(name.to_owned());
        Checking(name.to_owned())
    }
}

impl Drop for Checking {
    fn drop(&mut self) {
        let mut checked = checked();
        let own = checked.iter().position(|name| *name == self.0);
        own.map(|index| checked.swap_remove(index));
    }
}

fn checked() -> std::sync::MutexGuard<'static, Vec<String>> {
    CHECKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called when the process ends, with success so far. Returns whether it must fail.
fn leaves() -> bool {
    // Another thread holds the lock only briefly, to begin or to end a check. But this thread itself may hold it.
    let Ok(checked) = CHECKED.try_lock() else { return false };
    for name in checked.iter() {
        // What the standard output and error of a test say is lost here.
        let _ = writeln!(
            std::io::stderr(),
            "{name}: no result: the process ended during the check, perhaps by `std::process::exit`, which is not \
             under control; the remaining tests did not run"
        );
    }
    !checked.is_empty()
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod at_exit {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
        fn _exit(status: c_int) -> !;
    }

    extern "C" fn ends(status: c_int, _: *mut c_void) {
        // A process that fails anyway has reported why.
        if status == 0 && super::leaves() {
            // SAFETY: it can be called at any time; it does not come back.
            unsafe { _exit(1) }
        }
    }

    pub(super) fn register() {
        // SAFETY: `ends` lives as long as the process and does not unwind: it allocates nothing and ignores errors.
        unsafe { on_exit(ends, std::ptr::null_mut()) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod at_exit {
    use std::ffi::c_int;

    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> c_int;
        fn _exit(status: c_int) -> !;
    }

    extern "C" fn ends() {
        if super::leaves() {
            // SAFETY: it can be called at any time; it does not come back.
            unsafe { _exit(1) }
        }
    }

    pub(super) fn register() {
        // SAFETY: `ends` lives as long as the process and does not unwind: it allocates nothing and ignores errors.
        unsafe { atexit(ends) };
    }
}
