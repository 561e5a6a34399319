//! How many instructions Figure 3's `compute` takes under the whole adversary: `valgrind --tool=callgrind` over this counts
//! the same in each run.
//!
//! ```text
//! cargo bench -p interloper --bench instructions -- preceding|nearest ROUNDS
//! ```
//!
//! The instructions of one round, the set-up and all executions, are those of 20 rounds less those of 10, by 10.

use interloper::collections::DashMap;
use interloper::{Adversary, MethodUnderTest};

fn compute(map: &DashMap<u32, u32>, key: u32) -> Option<u32> {
    let found = map.get(&key).map(|value| *value);
    if found.is_none() {
        map.entry(key).or_insert(key * 2);
    }
    map.get(&key).map(|value| *value)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let adversary = match arguments.first().map(String::as_str) {
        Some("preceding") => Adversary::Preceding,
        Some("nearest") => Adversary::Nearest,
        _ => {
            eprintln!("preceding or nearest, and how often");
            return;
        }
    };
    let rounds: u64 = arguments.get(1).expect("how often").parse().expect("a number of rounds");
    let method = MethodUnderTest::new("compute", DashMap::new, compute).arguments([7]).settings(|settings| {
        settings.adversary = adversary;
        settings.keep_going = true;
    });
    let executions: u64 = (0..rounds).map(|_| method.check().expect("well described").executions()).sum();
    println!("{executions} executions");
}
