//! Time stamps that cost a few nanoseconds, and delays of less than a microsecond.

use std::hint::black_box;

/// A stamp that is taken after all earlier instructions have finished: it begins an interval, too late rather than too
/// early.
#[inline]
pub(super) fn begin() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has both instructions. `lfence` waits for the loads before it.
    unsafe {
        std::arch::x86_64::_mm_lfence();
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    monotonic()
}

/// A stamp that may be taken before all earlier instructions have finished: it ends an interval, too early rather than
/// too late.
#[inline]
pub(super) fn end() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    monotonic()
}

#[cfg(not(target_arch = "x86_64"))]
fn monotonic() -> u64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// Passes time: each round depends on the one before it and takes three cycles or so.
#[inline]
pub(super) fn delay(rounds: u32) {
    let mut chain = rounds;
    for _ in 0..rounds {
        chain = black_box(chain.wrapping_mul(0x9E37_79B1));
    }
}

/// How many ticks of the clock a thousand rounds of [`delay`] take on this machine.
pub(super) fn ticks_of_thousand_rounds() -> u64 {
    let measure = || {
        let start = begin();
        delay(1000);
        end().saturating_sub(start)
    };
    // The smallest of several measurements, since other processes on the machine can only add time.
    (0..8).map(|_| measure()).min().unwrap_or(0).max(1)
}
