//! Hash tables are seeded from the run.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, Engine, Executions};
use interloper_std::collections::{HashMap, HashSet};
use interloper_std::thread;

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

/// As in std, each hasher has other keys, and a clone has the same ones: whoever relies on the order of two maps is found. What a task
/// gets does not depend on when it runs.
#[test]
fn two_maps_with_the_same_keys_have_different_orders() {
    let mut orders = BTreeSet::new();
    let mut engine = Engine::new(Config::default());
    let program = || {
        let filled = || -> HashSet<u32> { (0..50).collect() };
        let order = |set: &HashSet<u32>| set.iter().copied().collect::<Vec<u32>>();
        let first = filled();
        assert_eq!(order(&first), order(&first.clone()));
        let tasks = [0, 1].map(|_| thread::spawn(move || (order(&filled()), order(&filled()))));
        let mut all = vec![order(&first), order(&filled())];
        for (one, other) in tasks.map(|task| task.join().unwrap()) {
            all.extend([one, other]);
        }
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        orders.insert(all);
    };
    engine.explore(&mut RandomWalk::new(1), Executions::AtMost(20), program, |_, execution| {
        assert!(execution.end.is_finished());
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(orders.len(), 1);
}
