//! Prints how many executions it takes to the first bug, with loads and stores as steps and without.

use std::fmt::Display;

use classic::{PROGRAMS, Program};
use interloper::Checker;
use interloper::blocks::Preempt;

/// The number of the execution that shows the bug, in the median of so many seeds.
const SEEDS: u64 = 21;
const MOST: u64 = 1_000;

fn main() {
    row(["program", "loads and stores are steps", "they are not", "without the bug"]);
    row(["---", "---:", "---:", "---"]);
    for (name, body) in PROGRAMS {
        let [with, without] = [Preempt::Memory, Preempt::Synchronisation].map(|preempt| median((name, body), preempt));
        let clean = first((name, body), true, Preempt::Memory, 0).is_none();
        row([name, &shown(with), &shown(without), if clean { "clean" } else { "a bug" }]);
    }
}

fn row(cells: [impl Display; 4]) {
    println!("|{}", cells.map(|cell| format!(" {cell} |")).concat());
}

fn shown(executions: Option<u64>) -> String {
    executions.map_or_else(|| format!("none in {MOST}"), |executions| executions.to_string())
}

/// `None` where most seeds show nothing.
fn median(program: Program, preempt: Preempt) -> Option<u64> {
    let mut all: Vec<u64> =
        (0..SEEDS).map(|seed| first(program, false, preempt, seed).unwrap_or(u64::MAX)).collect();
    all.sort_unstable();
    Some(all[all.len() / 2]).filter(|executions| *executions < u64::MAX)
}

/// The first execution with a bug.
fn first((name, body): Program, fixed: bool, preempt: Preempt, seed: u64) -> Option<u64> {
    let checker = Checker::new(name).seed(seed).executions(MOST).plain(false).preempt(preempt).allow_trivial();
    let checker = checker.settings(|settings| settings.shrink_executions = 0);
    let report = checker.check(move || body(fixed)).expect("the program can be checked");
    report.bug.map(|bug| bug.execution)
}
