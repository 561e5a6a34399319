//! Sleep sets: steps that need not be made from a state.

use interloper_std::runtime::{Action, ObjectId, Operation, TaskId};

/// A step that need not be made until something happens that it depends on: what follows it was explored.
#[derive(Clone, Debug)]
pub(super) struct Sleeper {
    pub(super) task: TaskId,
    /// What the step did when it was made.
    effects: Vec<Operation>,
    /// The last object that there was before it. A later object differs from execution to execution.
    known: Option<ObjectId>,
}

impl Sleeper {
    /// A step with these effects, made in a state with objects up to `known`.
    pub(super) fn new(task: TaskId, effects: Vec<Operation>, known: Option<ObjectId>) -> Sleeper {
        Sleeper { task, effects, known }
    }

    /// Whether the order of this step and a step of `task` with these effects does not matter.
    pub(super) fn is_independent(&self, task: TaskId, effects: &[Operation]) -> bool {
        self.task != task && self.effects.iter().all(|mine| !self.depends(mine, effects))
    }

    fn depends(&self, mine: &Operation, effects: &[Operation]) -> bool {
        if mine.action == Action::Spawn {
            // No other task knows a task that is only about to be spawned.
            return false;
        }
        let is_new = |operation: &Operation| Some(operation.object) > self.known;
        // Both new: they may be the same object.
        let alike = |theirs: &Operation| Operation { object: theirs.object, ..*mine }.depends(theirs);
        let unknown = |theirs: &Operation| is_new(mine) && is_new(theirs) && alike(theirs);
        dependent(&[*mine], effects) || effects.iter().any(unknown)
    }
}

/// Whether steps of two tasks of one execution depend on each other.
pub(super) fn dependent(a: &[Operation], b: &[Operation]) -> bool {
    let spawns = |a: &Operation, b: &Operation| {
        a.object == b.object && matches!((a.action, b.action), (Action::Spawn, Action::Start))
    };
    a.iter().any(|a| b.iter().any(|b| a.depends(b) || spawns(a, b) || spawns(b, a)))
}
