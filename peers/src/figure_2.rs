//! Figure 2 of the AtomFuzzer paper: a bug that is far from where a random walk looks.

use interloper_scheduler::Strategy;
use interloper_scheduler::strategies::{AtomFuzzer, Pct, RandomWalk};

use crate::outcome::Outcome;
use crate::table::{Cell, Spread, Table};
use crate::under_shuttle::Strategy as Shuttle;
use crate::{ours, under_shuttle};

/// Operations on another lock before the second task's block.
const UNRELATED: [usize; 3] = [0, 6, 50];

const SEEDS: u64 = 30;
const LIMIT: u64 = 20_000;

pub fn table() -> Table {
    let mut table = Table::new(
        "Check then withdraw, after unrelated lock operations",
        &["Executions until both tasks withdraw: median and range over 30 seeds. The target is a median of at most 2 \
             for Algorithm 2 in all three columns."],
        &["strategy", "0 before", "6 before", "50 before"],
    );
    type Make = fn(u64) -> Box<dyn Strategy>;
    let own: [(&str, Make); 4] = [
        ("random walk", |seed| Box::new(RandomWalk::new(seed))),
        ("PCT, depth 3", |seed| Box::new(Pct::new(seed, 3))),
        ("AtomFuzzer, q = 0.5", |seed| Box::new(AtomFuzzer::new(seed))),
        ("AtomFuzzer, q = 1", |seed| Box::new(AtomFuzzer::new(seed).with_q(1.0))),
    ];
    for (name, make) in own {
        table.row(row(name, |seed, unrelated| {
            let program = || (ours::PROGRAMS.withdraw_after)(unrelated);
            ours::first_failure(&mut make(seed), LIMIT, program, |outcome| outcome == Outcome::Value(-40))
        }));
    }
    for (name, strategy) in [("shuttle, random", Shuttle::Random), ("shuttle, PCT, depth 3", Shuttle::Pct(3))] {
        table.row(row(name, |seed, unrelated| {
            let program = move || assert_ne!((under_shuttle::PROGRAMS.withdraw_after)(unrelated), -40);
            under_shuttle::first_failure(strategy, seed, LIMIT as usize, program)
        }));
    }
    table
}

fn row(name: &str, needed: impl Fn(u64, usize) -> Option<u64>) -> Vec<Cell> {
    let spread = |unrelated| Spread::of((0..SEEDS).map(|seed| needed(seed, unrelated)).collect(), LIMIT);
    let spreads = UNRELATED.into_iter().map(|unrelated| Cell::Spread(spread(unrelated)));
    std::iter::once(Cell::text(name)).chain(spreads).collect()
}
