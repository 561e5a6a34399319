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
    /// The atomic that the step accesses, where memory is weak.
    atomic: Option<ObjectId>,
}

impl Sleeper {
    /// A step with these effects, made in a state with objects up to `known`.
    pub(super) fn new(task: TaskId, effects: Vec<Operation>, known: Option<ObjectId>) -> Sleeper {
        Sleeper { task, effects, known, atomic: None }
    }

    /// Where memory is weak, the step is an access to this atomic.
    pub(super) fn with_atomic(self, atomic: Option<ObjectId>) -> Sleeper {
        Sleeper { atomic, ..self }
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
        let matters = |theirs: &Operation| match self.atomic == Some(mine.object) && mine.object == theirs.object {
            // A store that comes later can be read only by an access that comes later still. Everything else is as if the
            // sleeping access had been made first: the other one chooses among the same stores then.
            true => mine.action != Action::Write && theirs.action != Action::Read,
            false => dependent(&[*mine], &[*theirs]),
        };
        effects.iter().any(|theirs| matters(theirs) || unknown(theirs))
    }
}

/// Whether steps of two tasks of one execution depend on each other.
pub(super) fn dependent(a: &[Operation], b: &[Operation]) -> bool {
    let spawns = |a: &Operation, b: &Operation| {
        a.object == b.object && matches!((a.action, b.action), (Action::Spawn, Action::Start))
    };
    a.iter().any(|a| b.iter().any(|b| a.depends(b) || spawns(a, b) || spawns(b, a)))
}
