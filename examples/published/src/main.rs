//! Put-if-absent on the real `dashmap::DashMap`: no wrapper, and no changed import.
//!
//! `cargo interloper run --manifest-path examples/published/Cargo.toml` prints:
//!
//! ```text
//! ✗ number_of                                 not linearizable (1 environment operation, execution 25)
//!
//!   start: {}         method under test: number_of("pi", 31)      environment               state
//!   ──────────────────────────────────────────────────────────────────────────────────────────────────
//!   1                 get                                                                   {}
//!                       at examples/published/src/main.rs:33:33
//!   2                                                             insert("pi", 32) → none   {"pi": 32}
//!   3                 insert                                                                {"pi": 31}
//!                       at examples/published/src/main.rs:36:11
//!                     returned 31
//!
//!   No sequential order explains it:
//!     number_of, insert      insert returns 31
//!     insert, number_of      number_of returns 32
//!
//!   replay: .replay("A0.I0.E0.E4.E0.E0")
//!   open environment: 1 argument, 9 initial states, up to 3 environment operations out of 12; 25 executions of 25 histories, 56 steps, stopped at the first violation
//!
//! ✓ number_of_fixed  linearizable
//!   open environment: 1 argument, 9 initial states, up to 2 environment operations out of 12; 117 executions of 117 histories, 225 steps, complete
//! ```

use dashmap::DashMap;
use interloper::MethodUnderTest;

/// The number of a word; `fresh` becomes it when it has none.
fn number_of(words: &DashMap<&'static str, u32>, (word, fresh): (&'static str, u32)) -> u32 {
    if let Some(number) = words.get(word) {
        return *number;
    }
    words.insert(word, fresh);
    fresh
}

/// The same in one call.
fn number_of_fixed(words: &DashMap<&'static str, u32>, (word, fresh): (&'static str, u32)) -> u32 {
    *words.entry(word).or_insert(fresh)
}

fn main() -> Result<(), interloper::Misuse> {
    let broken = MethodUnderTest::new("number_of", DashMap::new, number_of).arguments([("pi", 31)]);
    let fixed = MethodUnderTest::new("number_of_fixed", DashMap::new, number_of_fixed).arguments([("pi", 31)]);
    let fixed = fixed.settings(|settings| settings.bound = 2);
    print!("{}\n{}", broken.check()?, fixed.check()?);
    Ok(())
}
