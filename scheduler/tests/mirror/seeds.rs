//! Hash tables are seeded from the run.

use std::ops::ControlFlow;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, Engine, Executions};
use interloper_std::collections::{HashMap, HashSet};

fn orders(seed: u64) -> Vec<Vec<u32>> {
    let mut orders = Vec::new();
    let mut engine = Engine::new(Config { seed, ..Config::default() });
    let program = || {
        let (map, set): (HashMap<u32, ()>, HashSet<u32>) = ((0..50).map(|key| (key, ())).collect(), (0..50).collect());
        orders.push(map.into_keys().chain(set).collect());
    };
    engine.explore(&mut RandomWalk::new(1), Executions::AtMost(3), program, |_, execution| {
        assert!(execution.end.is_finished());
        ControlFlow::<()>::Continue(())
    });
    orders
}

/// Two orders of 50 keys are the same by chance with a probability below 2^-200.
#[test]
fn the_order_of_a_map_is_that_of_the_seed() {
    let first = orders(1);
    assert!(first.iter().all(|order| *order == first[0]));
    assert_eq!(orders(1), first);
    assert_ne!(orders(2)[0], first[0]);
}
