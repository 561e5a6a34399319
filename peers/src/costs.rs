//! What a step and an execution cost.

use std::time::{Duration, Instant};

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Strategy, Unlock};

use crate::outcome::Outcome;
use crate::table::{Cell, Table};
use crate::{ours, under_loom, under_shuttle};

pub fn table() -> Table {
    let mut table = Table::new(
        "What it costs",
        &["Nanoseconds, the shortest of 2,000 rounds, with a random walk that records the trace and the decisions. \
             Unlocking is part of the step before it, unless the row says otherwise (see `Unlock`). The targets are for \
             an idle 2-core machine on which shuttle takes 155 ns for a lock and unlock by 2 tasks, so compare the \
             ratios."],
        &["", "ours", "shuttle", "loom", "shuttle / ours", "loom / ours", "target", "target of the ratio", "ratio met"],
    );
    for tasks in [2, 4, 16] {
        let name = format!("uncontended lock and unlock, {tasks} tasks");
        table.row(row(name, lock_and_unlock(tasks, Unlock::Part), Some("≤ 30")));
    }
    for tasks in [2, 4, 16] {
        let name = format!("the same, unlocking is a step, {tasks} tasks");
        table.row(row(name, lock_and_unlock(tasks, Unlock::Step), None));
    }
    table.row(row("check then withdraw, judged".to_owned(), execution(), Some("≤ 500")));
    table
}

/// What the tools take for one thing, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Cost {
    ours: f64,
    shuttle: f64,
    loom: Option<f64>,
}

/// So many times as fast as shuttle is the target.
const RATIO: f64 = 5.0;

fn row(name: String, cost: Cost, target: Option<&str>) -> Vec<Cell> {
    let number = |value: f64| Cell::number(value, 1);
    let optional = |value: Option<f64>| value.map_or(Cell::Nothing, number);
    let ratio = cost.shuttle / cost.ours;
    let (target, least, met) = match target {
        Some(target) => (Cell::text(target), Cell::text(format!("≥ {RATIO}")), Cell::Yes(ratio >= RATIO)),
        None => (Cell::Nothing, Cell::Nothing, Cell::Nothing),
    };
    let to_loom = optional(cost.loom.map(|loom| loom / cost.ours));
    let (ours, shuttle) = (number(cost.ours), number(cost.shuttle));
    vec![Cell::text(name), ours, shuttle, optional(cost.loom), number(ratio), to_loom, target, least, met]
}

/// The shortest time of several: what disturbs a measurement makes it longer.
fn shortest(rounds: u32, mut body: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        body();
        start.elapsed()
    };
    (0..rounds).map(time).min().expect("at least one round")
}

/// The first few thousand steps of a process are slower than the later ones, and a round has only a thousand or so.
const ROUNDS: u32 = 2_000;

/// An uncontended lock and unlock by so many tasks.
fn lock_and_unlock(tasks: usize, unlock: Unlock) -> Cost {
    const PAIRS: usize = 500;
    let per_pair = |time: Duration| time.as_nanos() as f64 / (tasks * PAIRS) as f64;
    let (mut engine, mut walk) = (ours::engine(unlock), RandomWalk::new(1));
    let ours = shortest(ROUNDS, || {
        walk.begin();
        let execution = engine.run(&mut walk, || (ours::PROGRAMS.uncontended)(tasks, PAIRS));
        assert!(execution.end.is_finished());
    });
    let shuttle = shortest(ROUNDS, || {
        let program = move || (under_shuttle::PROGRAMS.uncontended)(tasks, PAIRS);
        under_shuttle::run(under_shuttle::Strategy::Random, 1, 1, program);
    });
    Cost { ours: per_pair(ours), shuttle: per_pair(shuttle), loom: None }
}

/// An execution of check-then-withdraw by two tasks, its outcome judged.
fn execution() -> Cost {
    const EXECUTIONS: usize = 500;
    let per_execution = |time: Duration, executions: usize| time.as_nanos() as f64 / executions as f64;
    let mut walk = RandomWalk::new(1);
    let ours = shortest(ROUNDS, || {
        let fails = |outcome| !matches!(outcome, Outcome::Value(30 | -40));
        let program = ours::PROGRAMS.unmarked_withdraw;
        assert_eq!(ours::first_failure(&mut walk, EXECUTIONS as u64, program, fails), None);
    });
    let shuttle = shortest(ROUNDS, || {
        let program = || assert!(matches!((under_shuttle::PROGRAMS.unmarked_withdraw)(), 30 | -40));
        under_shuttle::run(under_shuttle::Strategy::Random, 1, EXECUTIONS, program);
    });
    let mut executions = 0;
    let loom = shortest(ROUNDS, || executions = under_loom::time(under_loom::PROGRAMS.unmarked_withdraw));
    Cost {
        ours: per_execution(ours, EXECUTIONS),
        shuttle: per_execution(shuttle, EXECUTIONS),
        loom: Some(per_execution(loom, executions as usize)),
    }
}
