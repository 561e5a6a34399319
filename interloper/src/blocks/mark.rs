//! How a program marks a block, and where the results of blocks are kept.

use std::cell::RefCell;
use std::panic::Location;

use interloper_commutativity::{ToValue, Value};
use interloper_std::runtime::{self, Place, TaskId};

/// Runs `body` as a block that is meant to be atomic: as if nothing else happened between its beginning and its end.
///
/// [`check`](crate::check()) finds out whether other tasks can interrupt the block. Elsewhere this is a plain call. Blocks
/// may be nested: only the outermost block counts. The check ignores the value that `body` returns; with
/// [`atomic_returning`] this value is part of the outcome that a serial order must explain.
///
/// ```
/// let sum = interloper::atomic("add", || 1 + 2);
/// assert_eq!(sum, 3);
/// ```
#[track_caller]
pub fn atomic<R>(name: &'static str, body: impl FnOnce() -> R) -> R {
    let _block = Entered::new(name, Location::caller());
    body()
}

/// Like [`atomic`], and compares the result of the block with its results in the serial orders.
///
/// ```
/// let withdrawn = interloper::atomic_returning("withdraw", || Some(70));
/// assert_eq!(withdrawn, Some(70));
/// ```
#[track_caller]
pub fn atomic_returning<R: ToValue>(name: &'static str, body: impl FnOnce() -> R) -> R {
    let block = Entered::new(name, Location::caller());
    let result = body();
    block.returns(|| result.to_value());
    result
}

/// An open block; dropping it ends the block, also during unwinding.
pub(crate) struct Entered {
    name: &'static str,
    location: Place,
    /// Outside a controlled execution: no runtime needs to know.
    controlled: bool,
}

impl Entered {
    pub(crate) fn new(name: &'static str, location: Place) -> Entered {
        let begun = runtime::with(|current| current.runtime().block_begin(name, location));
        Entered { name, location, controlled: begun.is_some() }
    }

    pub(crate) fn returns(&self, value: impl FnOnce() -> Value) {
        if self.controlled {
            let task = runtime::with(|current| current.runtime().task());
            let task = task.expect("a task stays under control while it runs");
            let value = value();
            RESULTS.with_borrow_mut(|results| {
                results
                    .iter_mut()
                    .for_each(|results| results.push(BlockResult { task, name: self.name, value: value.clone() }));
            });
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if self.controlled {
            runtime::with(|current| current.runtime().block_end(self.location));
        }
    }
}

/// What a block returned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockResult {
    /// The task that ran the block.
    pub task: TaskId,
    /// The name of the block.
    pub name: &'static str,
    /// The value that it returned.
    pub value: Value,
}

thread_local! {
    /// The results of the execution that runs on this thread, while they are collected.
    static RESULTS: RefCell<Option<Vec<BlockResult>>> = const { RefCell::new(None) };
}

/// Calls `run`, and moves the results of the blocks in it to the end of `results`, in the order in which they came.
pub(crate) fn collecting<T>(results: &mut Vec<BlockResult>, run: impl FnOnce() -> T) -> T {
    let outer = RESULTS.replace(Some(std::mem::take(results)));
    let value = run();
    *results = RESULTS.replace(outer).unwrap_or_default();
    value
}

/// Forgets the results that were collected so far.
pub(crate) fn restart_collecting() {
    RESULTS.with_borrow_mut(|results| results.iter_mut().for_each(Vec::clear));
}

/// The results that were collected so far.
pub(crate) fn collected() -> Vec<BlockResult> {
    RESULTS.with_borrow(|results| results.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_of_a_controlled_run_a_block_is_a_call() {
        let mut results = Vec::new();
        let value = collecting(&mut results, || atomic("outer", || atomic_returning("inner", || 7)));
        assert_eq!((value, results), (7, vec![]));
    }
}
