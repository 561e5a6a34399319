//! Memoization over a concurrent map, wrong and right.
//!
//! `cargo run -p interloper-examples --example memoize` prints:
//!
//! ```text
//! ✗ memoize                                   not linearizable (1 environment operation, execution 16)
//!
//!   start: {}         method under test: memoize(7)                environment            state
//!   ─────────────────────────────────────────────────────────────────────────────────────────────
//!   1                 get(7) → none                                                       {}
//!                       at examples/examples/memoize.rs:39:32
//!                       │ if let Some(value) = cache.get(&key) {
//!   2                                                              insert(7, 15) → none   {7: 15}
//!   3                 insert(7, 14) → 15                                                  {7: 14}
//!                       at examples/examples/memoize.rs:43:11
//!                       │ cache.insert(key, value);
//!                     returned 14
//!
//!   No sequential order explains it:
//!     memoize, insert      insert returns 14
//!     insert, memoize      memoize returns 15
//!
//!   replay: .replay("A0.I0.E0.E3.E0.E0")
//!   open environment: 1 argument, 9 initial states, up to 3 environment operations out of 12; 16 executions of 16 histories, 29 steps, stopped at the first violation
//!
//! ✓ memoize_fixed  linearizable
//!   open environment: 1 argument, 9 initial states, up to 3 environment operations out of 12; 4359 executions of 4359 histories, 20442 steps, complete
//! ```

use interloper::MethodUnderTest;
use interloper::collections::DashMap;

fn expensive(key: u64) -> u64 {
    key * 2
}

/// Looks, computes, stores: somebody else may have stored another value meanwhile.
fn memoize(cache: &DashMap<u64, u64>, key: u64) -> u64 {
    if let Some(value) = cache.get(&key) {
        return *value;
    }
    let value = expensive(key);
    cache.insert(key, value);
    value
}

/// Looks first too, and then keeps to what is stored.
fn memoize_fixed(cache: &DashMap<u64, u64>, key: u64) -> u64 {
    if let Some(value) = cache.get(&key) {
        return *value;
    }
    *cache.entry(key).or_insert_with(|| expensive(key))
}

fn main() -> Result<(), interloper::Misuse> {
    let broken = MethodUnderTest::new("memoize", DashMap::new, memoize).arguments([7]);
    let fixed = MethodUnderTest::new("memoize_fixed", DashMap::new, memoize_fixed).arguments([7]);
    print!("{}\n{}", broken.check()?, fixed.check()?);
    Ok(())
}
