//! How quickly the engine gets on with a real crate: `{ insert; remove } || { insert; len }` on a `DashMap`, in which
//! `len` looks at one shard after the other.

use std::fs;

use interloper_harness::stress::Next;
use interloper_harness::systematic::{self, Settings};
use interloper_linearize::schema::Schema;
use interloper_scheduler::Executions;

use crate::objects::dashmap;
use crate::search::{SEED, attempt};

/// Each call with a value that nobody looks at.
pub const SCHEMA: &str = "{ insert(0, 0); remove(1) } || { insert(1, 0); len() }";

const SCHEDULES: [(&str, &str); 5] = [
    ("one of each Mazurkiewicz trace", "exhaustive"),
    ("two preemptions at most", "preemptions:2"),
    ("random walk", "random"),
    ("PCT, depth 3", "pct:3"),
    ("POS", "pos"),
];

/// The table: when each strategy comes upon an outcome that no order explains.
pub fn table() -> String {
    let (object, schema) = (dashmap::dashmap(), Schema::parse(SCHEMA).expect("a schema"));
    let mut out = String::from("| strategy | first outcome that no order explains | execution |\n|---|---|---|\n");
    for (name, schedule) in SCHEDULES {
        let settings = settings(schedule, 1_000);
        let (explored, found) = attempt(&object, &schema, &settings).expect("it can be judged");
        let (outcome, execution) = match found {
            Some(found) => (crate::tables::what(&found.what), explored.executions.to_string()),
            None => ("none".to_owned(), format!("more than {}", explored.executions)),
        };
        out.push_str(&format!("| {name} | {outcome} | {execution} |\n"));
    }
    out
}

/// Makes at least so many executions with each strategy, those of an exploration that comes to its end again and again,
/// and tells on standard error how long that took the processor.
pub fn measure(executions: u64) {
    let (object, schema) = (dashmap::dashmap(), Schema::parse(SCHEMA).expect("a schema"));
    let program = object.program(&schema).expect("a schema of the object");
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

fn settings(schedule: &str, executions: u64) -> Settings {
    let schedule = schedule.parse().expect("a schedule");
    Settings { schedule, seed: SEED, executions: Executions::AtMost(executions), ..Settings::default() }
}

/// How long this thread was on a processor, in nanoseconds: what others do meanwhile does not count.
fn on_processor() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux says so");
    text.split(' ').next().and_then(|first| first.parse().ok()).expect("a number")
}
