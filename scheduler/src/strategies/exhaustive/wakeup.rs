//! Wakeup trees: sequences of steps that are to be explored from a state.

use interloper_std::runtime::{Action, Operation, TaskId};

use super::history::History;

/// A step that a task would make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Future {
    pub(super) task: TaskId,
    /// All that the step does, as far as it is known.
    pub(super) effects: Vec<Operation>,
}

/// A step to be explored, and what is to be explored behind it, in this order. Nothing: whatever comes.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) future: Future,
    pub(super) children: Vec<Branch>,
}

impl Future {
    /// Whether the order of this and a step of `task` with these effects does not matter.
    pub(super) fn is_independent(&self, task: TaskId, effects: &[Operation]) -> bool {
        self.task != task && !dependent(&self.effects, effects)
    }
}

/// Whether steps of two tasks depend on each other.
pub(super) fn dependent(a: &[Operation], b: &[Operation]) -> bool {
    let spawns = |a: &Operation, b: &Operation| {
        a.object == b.object && matches!((a.action, b.action), (Action::Spawn, Action::Start))
    };
    a.iter().any(|a| b.iter().any(|b| a.depends(b) || spawns(a, b) || spawns(b, a)))
}

impl Branch {
    pub(super) fn leaf(future: Future) -> Branch {
        Branch { future, children: Vec::new() }
    }

    /// A branch without forks.
    fn path(futures: impl DoubleEndedIterator<Item = Future>) -> Option<Branch> {
        futures.rev().fold(None, |rest, future| Some(Branch { future, children: rest.into_iter().collect() }))
    }
}

/// Inserts a sequence of steps of `history` (section 5 of the paper, `insert`): goes down the first branches that begin
/// it, up to order. A leaf on the way covers it; otherwise what is left of it becomes a new branch, which is given back
/// when it belongs beside `branches`.
pub(super) fn insert(branches: &mut [Branch], history: &History, mut sequence: Vec<usize>) -> Option<Branch> {
    for branch in branches {
        if !history.may_begin(&sequence, &branch.future) {
            continue;
        }
        if let Some(at) = sequence.iter().position(|&step| history.task(step) == branch.future.task) {
            sequence.remove(at);
        }
        if !branch.children.is_empty() {
            let rest = insert(&mut branch.children, history, sequence);
            branch.children.extend(rest);
        }
        return None;
    }
    Branch::path(sequence.into_iter().map(|step| history.future(step)))
}
