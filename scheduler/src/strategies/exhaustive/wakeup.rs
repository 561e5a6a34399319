//! Wakeup trees: sequences of steps that are to be explored from a state.

use std::sync::Arc;

use interloper_std::runtime::{Action, ObjectId, Operation};

use super::history::History;
use super::names::{TaskName, Use};

/// A step that a task would make, as any execution knows it.
#[derive(Clone, Debug)]
pub(super) struct Future {
    pub(super) task: TaskName,
    /// The last of the objects that existed where the step became known.
    pub(super) known: Option<ObjectId>,
    /// All that the step does, as far as it is known.
    pub(super) effects: Vec<Named>,
    /// The answers to the decisions within it that lead to these effects.
    pub(super) answers: Vec<u32>,
}

/// An operation on an object with a name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// The operation, with the objects of the execution in which it was seen.
    pub(super) operation: Operation,
    pub(super) object: Object,
    /// The lock that it releases as well.
    pub(super) lock: Option<Object>,
}

/// An object, as any execution knows it.
#[derive(Clone, Debug)]
pub(super) enum Object {
    /// It existed in the state that the executions have in common.
    Known(ObjectId),
    /// An object that is used at all these places.
    New(Arc<[Use]>),
}

/// A step to explore, and what to explore after it, in this order. Without a plan after it, any step will do.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) future: Future,
    pub(super) children: Vec<Branch>,
}

impl Named {
    /// The operation with the objects that have these names, if each name has an object.
    pub(super) fn here(&self, used: impl Fn(Use) -> Option<ObjectId>) -> Option<Operation> {
        let object = |object: &Object| match object {
            Object::Known(object) => Some(*object),
            Object::New(uses) => uses.iter().find_map(|&name| used(name)),
        };
        let action = match &self.lock {
            Some(lock) => Action::Wait(Some(object(lock)?)),
            None => self.operation.action,
        };
        Some(Operation { object: object(&self.object)?, action, location: self.operation.location })
    }

    /// Whether the operation depends on another one if both are on the same object.
    pub(super) fn may_depend(&self, other: &Operation) -> bool {
        self.lock.is_some() || Operation { object: other.object, ..self.operation }.depends(other)
    }
}

impl Branch {
    /// The branch of a task that was chosen freely.
    pub(super) fn leaf(task: TaskName) -> Branch {
        Branch { future: Future { task, known: None, effects: Vec::new(), answers: Vec::new() }, children: Vec::new() }
    }

    /// A branch without forks.
    fn path(futures: impl DoubleEndedIterator<Item = Future>) -> Option<Branch> {
        futures.rev().fold(None, |rest, future| Some(Branch { future, children: rest.into_iter().collect() }))
    }
}

/// Inserts a sequence of steps of `history` from a state with the objects up to `known` (section 5 of the paper,
/// `insert`): follows the first branches that begin it, up to order. A leaf on the way covers it; otherwise the rest of
/// the sequence becomes a new branch, which is returned when it belongs beside `branches`.
pub(super) fn insert(
    branches: &mut [Branch],
    history: &History,
    known: Option<ObjectId>,
    mut sequence: Vec<usize>,
) -> Option<Branch> {
    for branch in branches {
        if !history.may_begin(&sequence, &branch.future) {
            continue;
        }
        if let Some(at) = sequence.iter().position(|&step| history.task(step) == branch.future.task) {
            if history.answers(sequence[at]) != branch.future.answers {
                // With these answers everything after the step is explored, once the planned sequences are done.
                return None;
            }
            sequence.remove(at);
        }
        if !branch.children.is_empty() {
            let rest = insert(&mut branch.children, history, known, sequence);
            branch.children.extend(rest);
        }
        return None;
    }
    Branch::path(sequence.into_iter().map(|step| history.future(known, step)))
}
