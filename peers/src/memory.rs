//! What tasks cost in memory.

use interloper_scheduler::Unlock;
use interloper_scheduler::strategies::RandomWalk;

use crate::table::{Cell, Table};
use crate::{ours, under_shuttle};

const TASKS: usize = 1_000;

pub fn table() -> Table {
    let mut table = Table::new(
        "Memory",
        &["How much the resident memory of the process grows with 1,000 tasks at once. Linux only."],
        &["", "MB", "target", "met"],
    );
    // Ours first: what shuttle gives back to the allocator would be used again.
    let ours = growth(|| {
        let execution = ours::engine(Unlock::Part).run(&mut RandomWalk::new(1), || (ours::PROGRAMS.crowd)(TASKS));
        assert!(execution.end.is_finished(), "{execution:?}");
    });
    let shuttle = growth(|| {
        under_shuttle::run(under_shuttle::Strategy::Random, 1, 1, || (under_shuttle::PROGRAMS.crowd)(TASKS));
    });
    let megabytes = |bytes: Option<u64>| bytes.map_or(Cell::Nothing, |bytes| Cell::number(bytes as f64 / 1e6, 1));
    let met = ours.map_or(Cell::Nothing, |ours| Cell::Yes(ours <= 100_000_000));
    table.row(vec![Cell::text("ours, stacks of 1 MiB"), megabytes(ours), Cell::text("≤ 100"), met]);
    table.row(vec![Cell::text("shuttle, stacks of 32 KiB"), megabytes(shuttle), Cell::Nothing, Cell::Nothing]);
    table
}

/// By how much `body` makes the resident memory grow at its peak.
fn growth(body: impl FnOnce()) -> Option<u64> {
    // The peak is reset so that it is that of `body`.
    let before = status("VmRSS:")?;
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    body();
    Some(status("VmHWM:")?.saturating_sub(before))
}

fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
