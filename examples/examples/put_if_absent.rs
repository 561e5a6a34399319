//! Put-if-absent out of two operations, in a program that only adds, and in one operation.
//!
//! The first version panics when the key is removed between its operations. Where nothing is ever removed or
//! overwritten it is atomic, and the verdict says so: "not linearizable only in the open environment".
//!
//! `cargo run -p interloper-examples --example put_if_absent` prints:
//!
//! ```text
//! ✗ number_of                                 not linearizable only in the open environment (1 environment operation, execution 18)
//!
//!   start: {}   method under test: number_of("pi", 31)              environment             state
//!   ──────────────────────────────────────────────────────────────────────────────────────────────────
//!   1           insert_if_absent("pi", 31) → none                                           {"pi": 31}
//!                 at examples/examples/put_if_absent.rs:39:11
//!                 │ words.entry(word).or_insert(fresh);
//!   2                                                               insert("pi", 32) → 31   {"pi": 32}
//!   3           get("pi") → 32                                                              {"pi": 32}
//!                 at examples/examples/put_if_absent.rs:40:12
//!                 │ *words.get(word).expect("it was just stored")
//!               returned 32
//!
//!   No sequential order explains it:
//!     number_of, insert      number_of returns 31
//!     insert, number_of      insert returns none
//!
//!   replay: .replay("A0.I0.E0.E3.E0.E0")
//!   open environment: 1 argument, 9 initial states, up to 3 environment operations out of 12; 18 executions of 18 histories, 45 steps, stopped at the first violation
//!   restricted environment: 1 argument, 9 initial states, up to 3 environment operations out of 6; 900 executions of 900 histories, 4203 steps, complete
//!
//! ✓ number_of_fixed  linearizable
//!   open environment: 1 argument, 9 initial states, up to 3 environment operations out of 12; 5151 executions of 5151 histories, 19773 steps, complete
//! ```

use interloper::MethodUnderTest;
use interloper::collections::DashMap;

/// The number of a word; `fresh` becomes it when it has none.
fn number_of(words: &DashMap<&'static str, u32>, (word, fresh): (&'static str, u32)) -> u32 {
    words.entry(word).or_insert(fresh);
    *words.get(word).expect("it was just stored")
}

/// The same in one operation.
fn number_of_fixed(words: &DashMap<&'static str, u32>, (word, fresh): (&'static str, u32)) -> u32 {
    *words.entry(word).or_insert(fresh)
}

fn main() -> Result<(), interloper::Misuse> {
    let broken = MethodUnderTest::new("number_of", DashMap::new, number_of)
        .arguments([("pi", 31)])
        .without("remove")
        .without("insert");
    let fixed = MethodUnderTest::new("number_of_fixed", DashMap::new, number_of_fixed).arguments([("pi", 31)]);
    print!("{}\n{}", broken.check()?, fixed.check()?);
    Ok(())
}
