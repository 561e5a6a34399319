//! How quickly the engine gets on with a real crate: `{ insert; remove } || { insert; len }` on a `DashMap`, in which
//! `len` looks at one shard after the other.

use std::fs;

use driver::objects::hunt::{Campaign, Engine};
use driver::objects::hunted::as_built;
use interloper_harness::Object;
use interloper_harness::generated::text;
use interloper_harness::hunt::What;
use interloper_harness::stress::Next;
use interloper_harness::systematic::{self, Settings};
use interloper_linearize::schema::Schema;
use interloper_report::table::{Align, Table};
use interloper_scheduler::Executions;

use crate::dashmap_object;

/// The seed of everything that is random.
const SEED: u64 = 1;

/// Each call with a value that nobody looks at.
const SCHEMA: &str = "{ insert(0, 0); remove(1) } || { insert(1, 0); len() }";

const SCHEDULES: [(&str, &str); 5] = [
    ("one of each Mazurkiewicz trace", "exhaustive"),
    ("two preemptions at most", "preemptions:2"),
    ("random walk", "random"),
    ("PCT, depth 3", "pct:3"),
    ("POS", "pos"),
];

/// The table: when each strategy comes upon an outcome that no order explains.
pub fn table() -> String {
    let object = dashmap();
    let headings = ["strategy", "first outcome that no order explains", "execution"];
    let mut table = Table::new(headings.map(|heading| (heading, Align::Left)));
    for (name, schedule) in SCHEDULES {
        let engine = Engine::Systematic(settings(schedule, 1_000));
        let campaign = Campaign { passes: Vec::new(), engine, ..Campaign::staged(&object, SEED) };
        let searched = campaign.schema(schema());
        let executions = searched.hunted.executions;
        let (outcome, execution) = match searched.found().map(|found| &found.what) {
            Some(What::Outcome { outcome, .. }) => (text(outcome), executions.to_string()),
            Some(other) => (other.kind().to_owned(), executions.to_string()),
            None => ("none".to_owned(), format!("more than {executions}")),
        };
        table.row([name, &outcome, &execution]);
    }
    table.markdown()
}

/// Makes at least so many executions with each strategy, those of an exploration that comes to its end again and again,
/// and tells on standard error how long that took the processor.
pub fn measure(executions: u64) {
    let program = dashmap().program(&schema()).expect("a schema of the object");
    for (name, schedule) in SCHEDULES {
        let settings = settings(schedule, executions);
        let (mut made, before) = (0, on_processor());
        while made < executions {
            made += systematic::run(&program, &settings, &mut |_| Next::Continue).executions;
        }
        let took = (on_processor() - before) as f64 / 1e9;
        let rate = made as f64 / took;
        eprintln!("{name}: {made} executions in {took:.2} s of the processor, {rate:.0} a second");
    }
}

/// A map of two shards.
fn dashmap() -> Object {
    dashmap_object::all().swap_remove(0)
}

fn schema() -> Schema {
    Schema::parse(SCHEMA).expect("a schema")
}

/// Under weak memory where orderings allow it, after the executions without; faults of plain memory are violations.
fn settings(schedule: &str, executions: u64) -> Settings {
    let schedule = schedule.parse().expect("a schedule");
    as_built(Settings { schedule, seed: SEED, executions: Executions::AtMost(executions), ..Settings::default() })
}

/// How long this thread was on a processor, in nanoseconds: what others do meanwhile does not count.
fn on_processor() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux says so");
    text.split(' ').next().and_then(|first| first.parse().ok()).expect("a number")
}
