//! Exhaustive search: how many executions it takes.

use crate::outcome::{Outcome, Searched};
use crate::table::{Cell, Table};
use crate::{ours, under_loom};

/// So many schedules are made at most to count the traces without the search.
const SCHEDULES: usize = 400_000;

pub fn table() -> Table {
    let mut table = Table::new(
        "Exhaustive search",
        &[
            "Executions until nothing is left to explore. Mazurkiewicz traces are counted by running every schedule and \
           telling apart schedules that differ in the order of dependent steps. Loom ends at a deadlock: then the \
           column has its executions up to the deadlock, and ours up to there are in parentheses.",
        ],
        &["program", "traces", "ours", "loom", "outcomes", "same as loom's", "exact and not more than loom"],
    );
    for (number, (name, program)) in ours::PROGRAMS.small.into_iter().enumerate() {
        let traces = ours::count_traces(SCHEDULES, program);
        let (own, to_deadlock) = ours::exhaust(program);
        let loom = under_loom::exhaust(number).expect("loom runs in a process of this program");
        table.row(row(name, traces, &own, to_deadlock, &loom));
    }
    table
}

fn row(name: &str, traces: Option<usize>, own: &Searched, to_deadlock: Option<u64>, loom: &Searched) -> Vec<Cell> {
    let traces = traces.map(|traces| traces as u64);
    // Where loom has stopped early, it has seen a part of the outcomes.
    let same = if loom.exhausted { own.outcomes == loom.outcomes } else { loom.outcomes.is_subset(&own.outcomes) };
    let comparable = if loom.exhausted { own.executions } else { to_deadlock.unwrap_or(own.executions) };
    let exact = traces.is_none_or(|traces| traces == own.executions) && comparable <= loom.executions;
    let ours = match to_deadlock {
        Some(to_deadlock) => format!("{} ({to_deadlock})", own.executions),
        None => own.executions.to_string(),
    };
    let outcomes: Vec<_> = own.outcomes.iter().map(Outcome::to_string).collect();
    vec![
        Cell::text(name),
        traces.map_or(Cell::text(format!("> {SCHEDULES} schedules")), Cell::Count),
        Cell::text(ours),
        Cell::Count(loom.executions),
        Cell::text(outcomes.join(", ")),
        Cell::Yes(same),
        Cell::Yes(exact),
    ]
}
