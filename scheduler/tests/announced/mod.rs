//! A plain variable whose accesses are announced, as the compiler does for traced code.

use std::cell::UnsafeCell;

use interloper_std::plain;

/// A plain variable that tasks share without asking the compiler.
#[derive(Default)]
pub struct Plain(UnsafeCell<u64>);

// SAFETY: the tasks of an execution run on one thread, one at a time.
unsafe impl Sync for Plain {}

impl Plain {
    pub fn read(&self) -> u64 {
        plain::announce(self.0.get().addr(), 8, false);
        // SAFETY: as above.
        unsafe { self.0.get().read() }
    }

    pub fn write(&self, value: u64) {
        plain::announce(self.0.get().addr(), 8, true);
        // SAFETY: as above.
        unsafe { self.0.get().write(value) };
    }
}
