//! Preemption bounding, counted by hand.

use std::ops::ControlFlow;

use interloper_scheduler::strategies::PreemptionBound;
use interloper_scheduler::{Config, Engine, Executions, Stopped, Unlock};

use crate::common::*;
use crate::programs::*;

fn search(bound: u32, program: impl FnMut()) -> (Vec<u64>, Vec<u64>) {
    let mut engine = Engine::new(Config { unlock: Unlock::Part, ..Config::default() });
    let mut strategy = PreemptionBound::new(bound);
    let mut failures = Vec::new();
    let explored = engine.explore(&mut strategy, Executions::All, program, |_, execution| {
        if !execution.end.is_finished() {
            failures.push(execution.preemptions);
        }
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    let coverage = strategy.coverage();
    assert!(coverage.complete);
    assert_eq!(coverage.total(), explored.executions);
    (coverage.runs, failures)
}

#[test]
fn two_tasks_of_two_steps() {
    let program = || {
        let task = || {
            let lock = Lock::new();
            drop(lock.lock());
        };
        let child = spawn(task);
        task();
        join(child).unwrap();
    };
    // The main task locks (L) and joins (J); the child starts (s) and locks (l). J comes last.
    // No preemption: L s l J. One: s l L J and L s.. is not one, as the main task cannot join then; s L l J costs two
    // (main is preempted for s, the child for L).
    assert_eq!(search(3, program).0, [1, 1, 1, 0]);
}

#[test]
fn figure_1_fails_with_one_preemption() {
    let (runs, failures) = search(2, || figure_1_and_2(0));
    assert!(runs[0] > 0 && runs[1] > 0);
    assert!(!failures.is_empty());
    assert_eq!(failures[0], 1);
    assert!(failures.is_sorted());
    assert!(search(0, || figure_1_and_2(0)).1.is_empty());
    assert!(search(2, figure_3).1.is_empty());
}
