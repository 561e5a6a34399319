//! How fast the stress engine is on this machine, and how much of what it runs overlaps.
//!
//!     cargo run --release -p interloper-harness --example stress
//!
//! Every execution makes an object, runs two threads on it, and drops it. Where the time goes is the way of memory from
//! one processor to the other: some 35 ns for a cache line where they share a cache, 90 ns and more where they do not.
//! The allocator matters too, as one thread frees what another has allocated.
//!
//! What the first harness takes is what the map takes. Executions a second when both sequences run on one core, which has
//! nothing to wait for and nothing in another cache, and the best of ten rounds:
//!
//! | | map alone, no engine | in the engine | by system allocator, alone and in the engine |
//! |---|---|---|---|
//! | 8 shards, as `new` makes on two processors | 4.0 M | 2.4 M | 2.9 M, 1.9 M |
//! | 2 shards | 6.8 M | 3.3 M | 4.4 M, 2.4 M |
//!
//! Of 2,780 instructions for an execution 560 are the engine's, and a tenth of the time is the threads taking turns. Fewer
//! shards are quicker and useless: with 2, no execution of 25,000 was wrong, with 8 it was 4 to 20 of 15,000, since
//! `contains` is on its way for longer. Hence the study has 8.

use std::time::Duration;

use crossbeam::queue::ArrayQueue;
use dashmap::DashMap;
use interloper_harness::Object;
use interloper_harness::stress::{self, Budget, Next, Observed, Pace, Settings, Stride};
use interloper_linearize::schema::Schema;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let map = Object::describe("DashMap", DashMap::<i64, i64>::new)
        .core("put", |map, (key, value)| map.insert(key, value))
        .method("contains", |map, (value,): (i64,)| map.iter().any(|entry| *entry.value() == value))
        .reads()
        .build();
    let queue = Object::describe("ArrayQueue", || ArrayQueue::<i64>::new(2))
        .core("push", |queue, (value,)| queue.push(value).is_ok())
        .core("pop", |queue, ()| queue.pop())
        .build();
    for (object, schema) in [
        (&map, "{ put(1,0); contains(0) } || { put(0,0); put(1,1) }"),
        (&queue, "{ push(0); pop() } || { push(1); pop() }"),
    ] {
        println!("{}: {schema}", object.name());
        let loose = |batch| Some(Pace { batch, stride: Stride::Batch, skew: 0 });
        for (name, pace) in [("tuned", None), ("batches of 256", loose(256)), ("batches of 4096", loose(4096))] {
            let settings = Settings { pace, budget: Budget::Time(Duration::from_millis(300)), ..Settings::default() };
            let program = object.program(&Schema::parse(schema).expect("a schema")).expect("a schema of the object");
            print(name, &stress::run(&program, &settings, &mut |_| Next::Continue));
        }
    }
}

fn print(name: &str, observed: &Observed) {
    let (rate, share) = (observed.rate() / 1e6, observed.overlapping().unwrap_or(0.0));
    let threads = observed.threads * observed.teams;
    println!(
        "  {name:15} {rate:5.2} M/s on {threads} threads, {:5.1}% overlap: {:4.2} M/s",
        share * 100.0,
        rate * share
    );
    for (outcome, count) in &observed.outcomes {
        let outcome: Vec<String> = outcome.iter().map(ToString::to_string).collect();
        println!("      {:20} {count:>10}", outcome.join(", "));
    }
}
