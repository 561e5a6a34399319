//! How many executions AtomFuzzer needs to the first bug of the literature's programs, in which nobody marked a block: without
//! blocks, and with inferred ones. The mean over 20 seeds of those that found the bug within 10,000 executions, and how many did
//! if not all.
//!
//! ```text
//! cargo run --release -p interloper-suite --example inferred            # all but SafeStack: hours, most of them for qsort_mt
//! cargo run --release -p interloper-suite --example inferred wronglock  # the programs of these names
//! ```

use interloper::blocks::{Blocks, Program, Schedule};
use interloper_suite::benchmarks::{benchmarks, first_bug};

const SEEDS: u64 = 20;
const LIMIT: u64 = 10_000;

/// Takes hours.
const TOO_LONG: &str = "safestack";

fn main() {
    let named: Vec<String> = std::env::args().skip(1).collect();
    println!("| program | atomfuzzer | with inferred blocks | portfolio | with inferred blocks |");
    println!("|---|---|---|---|---|");
    let chosen = |name: &str| if named.is_empty() { name != TOO_LONG } else { named.iter().any(|one| one == name) };
    for program in benchmarks().into_iter().filter(|program| chosen(program.name)) {
        let ways = [("atomfuzzer", Blocks::Marked), ("atomfuzzer", Blocks::Inferred)];
        let all = [("portfolio", Blocks::Marked), ("portfolio", Blocks::Inferred)];
        let cells: Vec<String> =
            ways.into_iter().chain(all).map(|(schedule, blocks)| mean(&program, schedule, blocks)).collect();
        println!("| {} | {} |", program.name, cells.join(" | "));
    }
}

fn mean(program: &Program, schedule: &str, blocks: Blocks) -> String {
    let schedule: Schedule = schedule.parse().expect("a schedule by its name");
    let found: Vec<u64> = (0..SEEDS).filter_map(|seed| first_bug(program, &schedule, blocks, (seed, LIMIT))).collect();
    match found.len() as u64 {
        0 => "not found".to_owned(),
        count => {
            let mean = found.iter().sum::<u64>() as f64 / count as f64;
            let of = if count < SEEDS { format!(" ({count} of {SEEDS})") } else { String::new() };
            if mean < 10.0 { format!("{mean:.1}{of}") } else { format!("{mean:.0}{of}") }
        }
    }
}
