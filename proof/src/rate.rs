//! How quickly the engine gets on with a real crate: `{ insert; remove } || { insert; len }` on a `DashMap`, in which
//! `len` looks at one shard after the other.

use std::fs;

use interloper_harness::stress::Next;
use interloper_harness::systematic::{self, Search, Settings};
use interloper_linearize::schema::Schema;
use interloper_scheduler::Executions;

use crate::objects::maps::dashmap;
use crate::search::{SEED, attempt};

/// Each call with a value that nobody looks at.
pub const SCHEMA: &str = "{ insert(0, 0); remove(1) } || { insert(1, 0); len() }";

const SEARCHES: [(&str, Search); 5] = [
    ("one of each Mazurkiewicz trace", Search::Exhaustive),
    ("two preemptions at most", Search::Preemptions(2)),
    ("random walk", Search::RandomWalk(SEED)),
    ("PCT, depth 3", Search::Pct { seed: SEED, depth: 3 }),
    ("POS", Search::Pos(SEED)),
];

/// The table: when each strategy comes upon an outcome that no order explains.
pub fn table() -> String {
    let (object, schema) = (dashmap(), Schema::parse(SCHEMA).expect("a schema"));
    let mut out = String::from("| strategy | first outcome that no order explains | execution |\n|---|---|---|\n");
    for (name, search) in SEARCHES {
        let settings = Settings { search, executions: Executions::AtMost(1_000), ..Settings::default() };
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
    let (object, schema) = (dashmap(), Schema::parse(SCHEMA).expect("a schema"));
    let program = object.program(&schema).expect("a schema of the object");
    for (name, search) in SEARCHES {
        let settings = Settings { search, executions: Executions::AtMost(executions), ..Settings::default() };
        let (mut made, before) = (0, on_processor());
        while made < executions {
            made += systematic::run(&program, &settings, &mut |_| Next::Continue).executions;
        }
        let took = (on_processor() - before) as f64 / 1e9;
        let rate = made as f64 / took;
        eprintln!("{name}: {made} executions in {took:.2} s of the processor, {rate:.0} a second");
    }
}

/// How long this thread was on a processor, in nanoseconds: what others do meanwhile does not count.
fn on_processor() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux says so");
    text.split(' ').next().and_then(|first| first.parse().ok()).expect("a number")
}
