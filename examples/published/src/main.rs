//! Put-if-absent on the real `dashmap::DashMap`: no wrapper, and no changed import.
//!
//! `cargo interloper run --manifest-path examples/published/Cargo.toml` prints:
//!
//! ```text
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
