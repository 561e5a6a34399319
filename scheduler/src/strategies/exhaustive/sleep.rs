//! Sleep sets: steps that need not be made from a state.

use std::sync::Arc;

use interloper_std::runtime::{Action, ObjectId, Operation, TaskId};

use super::names::Nth;

/// A step that need not be made until something happens that it depends on: what follows it was explored.
#[derive(Clone, Debug)]
pub struct Sleeper {
    /// Whose step it is.
    pub task: TaskId,
    /// What the step did when it was made.
    pub(super) effects: Vec<Operation>,
    /// The last object that there was before it. A later object differs from execution to execution.
    pub(super) known: Option<ObjectId>,
    /// The atomic that the step accesses, where memory is weak.
    pub(super) atomic: Option<ObjectId>,
    /// How many steps came before the state where it fell asleep.
    pub(super) since: u64,
    /// A later store woke it, where memory is weak: it reads a store that was made since it fell asleep, or sleeps on.
    pub(super) is_woken: bool,
    /// It fell asleep in one of the first states of a part of a search.
    pub(super) is_inherited: bool,
    /// The steps that can wake it, counted from the state where it fell asleep, if these are all: see `exhaustive/places.rs`.
    pub(super) wakers: Option<Arc<[Nth]>>,
}

/// What becomes of a sleeping step.
enum After {
    /// The order of this step and the other one does not matter.
    Sleeps,
    /// The other one stored what this one may read.
    Woken,
    Awake,
}

impl Sleeper {
    /// A step with these effects, made in a state with objects up to `known`.
    pub fn new(task: TaskId, effects: Vec<Operation>, known: Option<ObjectId>) -> Sleeper {
        Sleeper { task, effects, known, atomic: None, since: 0, is_woken: false, is_inherited: false, wakers: None }
    }

    /// Where memory is weak, the step is an access to this atomic. So many steps came before.
    pub(super) fn with_atomic(self, atomic: Option<ObjectId>, since: u64) -> Sleeper {
        Sleeper { atomic, since, ..self }
    }

    /// What the step did when it was made.
    pub fn effects(&self) -> &[Operation] {
        &self.effects
    }

    /// The last object that there was before it.
    pub fn known(&self) -> Option<ObjectId> {
        self.known
    }

    /// What is left of it after a step of `task` with these effects.
    pub fn after(&self, task: TaskId, effects: &[Operation]) -> Option<Sleeper> {
        match self.meets(task, effects) {
            After::Sleeps => Some(self.clone()),
            After::Woken => Some(Sleeper { is_woken: true, ..self.clone() }),
            After::Awake => None,
        }
    }

    /// Whether a step of `task` with these effects stores what this step may read.
    pub(super) fn is_woken_by(&self, task: TaskId, effects: &[Operation]) -> bool {
        matches!(self.meets(task, effects), After::Woken)
    }

    /// Whether the order of this step and a step of `task` with these effects does not matter.
    pub fn is_independent(&self, task: TaskId, effects: &[Operation]) -> bool {
        matches!(self.meets(task, effects), After::Sleeps)
    }

    fn meets(&self, task: TaskId, effects: &[Operation]) -> After {
        let pairs = || self.effects.iter().flat_map(|mine| effects.iter().map(move |theirs| (mine, theirs)));
        if self.task == task || pairs().any(|(mine, theirs)| self.depends(mine, theirs)) {
            return After::Awake;
        }
        // A store that comes later can be read only by an access that comes later still. Everything else is as if the
        // sleeping access had come first: the other one chooses among the same stores then.
        let is_fed = |mine: &Operation, theirs: &Operation| {
            self.is_of_atomic(mine, theirs) && mine.action != Action::Write && theirs.action != Action::Read
        };
        if pairs().any(|(mine, theirs)| is_fed(mine, theirs)) { After::Woken } else { After::Sleeps }
    }

    /// Whether both are accesses to the atomic, where memory is weak.
    fn is_of_atomic(&self, mine: &Operation, theirs: &Operation) -> bool {
        self.atomic == Some(mine.object) && mine.object == theirs.object
    }

    fn depends(&self, mine: &Operation, theirs: &Operation) -> bool {
        if mine.action == Action::Spawn || self.is_of_atomic(mine, theirs) {
            // No other task knows a task that is only about to be spawned.
            return false;
        }
        let is_new = |operation: &Operation| Some(operation.object) > self.known;
        // Both new: they may be the same object.
        let alike = || Operation { object: theirs.object, ..*mine }.depends(theirs);
        dependent(&[*mine], &[*theirs]) || (is_new(mine) && is_new(theirs) && alike())
    }
}

/// Whether steps of two tasks of one execution depend on each other.
pub(super) fn dependent(a: &[Operation], b: &[Operation]) -> bool {
    let spawns = |a: &Operation, b: &Operation| {
        a.object == b.object && matches!((a.action, b.action), (Action::Spawn, Action::Start))
    };
    a.iter().any(|a| b.iter().any(|b| a.depends(b) || spawns(a, b) || spawns(b, a)))
}
