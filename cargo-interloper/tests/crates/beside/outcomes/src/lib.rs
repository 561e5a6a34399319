//! All that a program can come to.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use interloper_scheduler::strategies::Exhaustive;
use interloper_scheduler::{Config, Engine, Executions, Stopped};

/// What `program` gives in some schedule.
///
/// # Panics
/// When an execution does not end.
pub fn of<T: Ord>(program: impl Fn() -> T) -> BTreeSet<T> {
    let mut outcomes = BTreeSet::new();
    let result = Cell::new(None);
    let explored = Engine::new(Config::default()).explore(
        &mut Exhaustive::new(),
        Executions::AtMost(10_000),
        || result.set(Some(program())),
        |_, execution| {
            assert!(execution.end.is_finished(), "{execution:?}");
            outcomes.extend(result.take());
            ControlFlow::<()>::Continue(())
        },
    );
    assert_eq!(explored.stopped, Stopped::Exhausted);
    outcomes
}
