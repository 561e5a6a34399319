//! `SpinWait`.

use interloper_std::{hint, runtime, thread};

/// How long to spin before parking.
#[derive(Default)]
pub struct SpinWait {
    counter: u32,
}

/// After this many rounds it is time to park.
const ROUNDS: u32 = 10;

impl SpinWait {
    /// No round yet.
    #[inline]
    pub const fn new() -> Self {
        SpinWait { counter: 0 }
    }

    /// Starts again.
    #[inline]
    pub const fn reset(&mut self) {
        self.counter = 0;
    }

    /// Spins a little longer than before; false when it is time to park. Under control it is time at once: no other
    /// task goes on while this one spins.
    #[inline]
    pub fn spin(&mut self) -> bool {
        if runtime::is_controlled() || self.counter >= ROUNDS {
            return false;
        }
        self.counter += 1;
        if self.counter <= 3 {
            relax(1 << self.counter);
        } else {
            thread::yield_now();
        }
        true
    }

    /// Spins a little longer than before. Under control other tasks run first, if any can.
    #[inline]
    #[track_caller]
    pub fn spin_no_yield(&mut self) {
        if runtime::is_controlled() {
            return thread::yield_now();
        }
        self.counter = (self.counter + 1).min(ROUNDS);
        relax(1 << self.counter);
    }
}

#[inline]
fn relax(iterations: u32) {
    for _ in 0..iterations {
        hint::spin_loop();
    }
}
