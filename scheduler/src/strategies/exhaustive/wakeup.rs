//! Wakeup trees: sequences of steps that are to be explored from a state.

use std::sync::Arc;

use interloper_std::runtime::{Action, ObjectId, Operation};

use super::history::History;
use super::names::{TaskName, Use};

/// A step that a task would make, in whatever execution.
#[derive(Clone, Debug)]
pub(super) struct Future {
    pub(super) task: TaskName,
    /// The last of the objects that there were where it became known.
    pub(super) known: Option<ObjectId>,
    /// All that the step does, as far as it is known.
    pub(super) effects: Vec<Named>,
    /// The answers to the decisions within it, with which it does so.
    pub(super) answers: Vec<u32>,
}

/// An operation on an object with a name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// With the objects of the execution that it was seen in.
    pub(super) operation: Operation,
    pub(super) object: Object,
    /// The lock that it gives back, too.
    pub(super) lock: Option<Object>,
}

/// An object, in whatever execution.
#[derive(Clone, Debug)]
pub(super) enum Object {
    /// It was there in the state that the executions have in common.
    Known(ObjectId),
    /// What is used in all these places.
    New(Arc<[Use]>),
}

/// A step to be explored, and what is to be explored after it, in this order. Nothing planned: any step will do.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) future: Future,
    pub(super) children: Vec<Branch>,
}

impl Named {
    /// The same with the objects that have these names, if they all have one.
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

    /// Whether it depends on an operation if that is on the same object.
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

/// Inserts a sequence of steps of `history` from a state where there are the objects up to `known` (section 5 of the
/// paper, `insert`): goes down the first branches that begin it, up to order. A leaf on the way covers it; otherwise what
/// is left of it becomes a new branch, which is given back when it belongs beside `branches`.
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
                // With these answers everything is explored after the step, once what is planned is.
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
