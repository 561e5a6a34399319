//! Required and forbidden pairs at work in an execution.

use interloper_std::runtime::{ObjectId, TaskId};

use super::events::{EventId, Memory, Set, Written, access};
use crate::strategy::Pending;

/// A write and a read that may see it: `None` stands for the value that an object has at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Pair {
    pub(super) write: Option<EventId>,
    pub(super) read: EventId,
}

/// A pair that an execution should show once, or should not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Constraint {
    pub(super) pair: Pair,
    pub(super) required: bool,
}

/// How well a step fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    Avoid,
    Neutral,
    Take,
}

/// A constraint in the present execution.
#[derive(Clone, Debug)]
pub(super) struct Obligation {
    constraint: Constraint,
    /// Other writes whose values the read may see: they are kept back while the first value is to be read.
    rivals: Set<EventId>,
    /// Whether nothing is left to do for it.
    settled: bool,
    /// The read is pending on these objects, in the present state.
    awaited: Vec<ObjectId>,
}

impl Obligation {
    pub(super) fn new(constraint: Constraint, rivals: Set<EventId>) -> Obligation {
        Obligation { constraint, rivals, settled: false, awaited: Vec::new() }
    }

    /// Looks at what is about to happen.
    pub(super) fn look(&mut self, pending: &[Pending], events: &[Option<EventId>]) {
        self.awaited.clear();
        if self.settled || !self.constraint.required {
            return;
        }
        let read = Some(self.constraint.pair.read);
        let reads = pending.iter().zip(events).filter(|(_, event)| **event == read);
        self.awaited.extend(reads.map(|(pending, _)| pending.operation.object));
    }

    /// How well the next step of a task fits.
    pub(super) fn fit(&self, pending: &Pending, event: EventId, memory: &Memory) -> Fit {
        let Constraint { pair, required } = self.constraint;
        let Some(access) = access(pending.operation.action).filter(|_| !self.settled) else { return Fit::Neutral };
        let object = pending.operation.object;
        let there = memory.get(object);
        let sees = see(there, pair.write, pending.task);
        match (required, access.reads && event == pair.read) {
            (true, true) if sees => Fit::Take,
            // The right value is still to come.
            (true, true) if pair.write.is_some() => Fit::Avoid,
            (false, true) if sees => Fit::Avoid,
            (true, false) if access.writes => self.fit_of_write(event, object, there.map(|(by, _)| by)),
            // Another value takes the place of the one that must not be read.
            (false, false) if access.writes && pair.write.is_some() && there.map(|(by, _)| by) == pair.write => {
                Fit::Take
            }
            _ => Fit::Neutral,
        }
    }

    /// How well a write fits that is not the read of a required pair.
    fn fit_of_write(&self, event: EventId, object: ObjectId, there: Option<EventId>) -> Fit {
        match self.constraint.pair.write {
            None if self.rivals.contains(&event) => Fit::Avoid,
            None => Fit::Neutral,
            Some(write) if event == write => {
                if self.awaited.contains(&object) {
                    Fit::Take
                } else {
                    Fit::Neutral
                }
            }
            // The value is there and has not been read yet.
            Some(write) if there == Some(write) => Fit::Avoid,
            Some(_) => Fit::Neutral,
        }
    }

    /// A task makes this step.
    pub(super) fn advance(&mut self, pending: &Pending, event: EventId, memory: &Memory) {
        let Constraint { pair, required } = self.constraint;
        if required && event == pair.read && access(pending.operation.action).is_some_and(|access| access.reads) {
            let sees = see(memory.get(pending.operation.object), pair.write, pending.task);
            // A first value that was missed does not come back.
            self.settled |= sees || pair.write.is_none();
        }
    }
}

/// Whether what is there is what the write left, for another task.
fn see(there: Written, write: Option<EventId>, task: TaskId) -> bool {
    match there {
        None => write.is_none(),
        Some((by, writer)) => Some(by) == write && writer != task,
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use interloper_std::runtime::{Action, Operation};

    use super::*;

    const STORE: EventId = EventId(1);
    const LOAD: EventId = EventId(2);
    const OTHER_STORE: EventId = EventId(3);

    fn object(number: u32) -> ObjectId {
        ObjectId::from_index(number)
    }

    fn pending(task: u32, on: u32, action: Action) -> Pending {
        let operation = Operation { object: object(on), action, location: Location::caller() };
        Pending { task: TaskId(task), operation }
    }

    fn obligation(write: Option<EventId>, required: bool) -> Obligation {
        let rivals = [STORE, OTHER_STORE].into_iter().filter(|event| Some(*event) != write).collect();
        Obligation::new(Constraint { pair: Pair { write, read: LOAD }, required }, rivals)
    }

    /// How the load of task 1 and the stores of tasks 2 and 3 fit, all of them on object 0, after these stores.
    fn fits(obligation: &mut Obligation, stores: &[(EventId, u32)]) -> [Fit; 3] {
        let mut memory = Memory::default();
        stores.iter().for_each(|(event, task)| memory.write(object(0), *event, TaskId(*task)));
        let steps = [pending(1, 0, Action::Read), pending(2, 0, Action::Write), pending(3, 0, Action::Write)];
        let names = [LOAD, STORE, OTHER_STORE];
        obligation.look(&steps, &names.map(Some));
        [0, 1, 2].map(|step| obligation.fit(&steps[step], names[step], &memory))
    }

    use Fit::{Avoid, Neutral, Take};

    #[test]
    fn a_required_pair_waits_for_its_write_and_keeps_others_away_from_it() {
        let mut required = obligation(Some(STORE), true);
        assert_eq!(fits(&mut required, &[]), [Avoid, Take, Neutral]);
        assert_eq!(fits(&mut required, &[(STORE, 2)]), [Take, Take, Avoid]);
        assert_eq!(fits(&mut required, &[(STORE, 2), (OTHER_STORE, 3)]), [Avoid, Take, Neutral]);
        // What the task itself has stored is no pair.
        assert_eq!(fits(&mut required, &[(STORE, 1)]), [Avoid, Take, Avoid]);
    }

    #[test]
    fn the_first_value_is_kept_until_it_is_read() {
        let mut required = obligation(None, true);
        assert_eq!(fits(&mut required, &[]), [Take, Avoid, Avoid]);
        // It does not come back.
        assert_eq!(fits(&mut required, &[(STORE, 2)])[0], Neutral);
    }

    #[test]
    fn a_forbidden_pair_lets_another_write_come_between() {
        let mut forbidden = obligation(Some(STORE), false);
        assert_eq!(fits(&mut forbidden, &[]), [Neutral; 3]);
        assert_eq!(fits(&mut forbidden, &[(STORE, 2)]), [Avoid, Take, Take]);
        assert_eq!(fits(&mut forbidden, &[(STORE, 2), (OTHER_STORE, 3)]), [Neutral; 3]);
        assert_eq!(fits(&mut obligation(None, false), &[]), [Avoid, Neutral, Neutral]);
    }

    #[test]
    fn a_required_pair_is_required_once() {
        let mut required = obligation(Some(STORE), true);
        let mut memory = Memory::default();
        let load = pending(1, 0, Action::Read);
        required.advance(&load, LOAD, &memory);
        assert_eq!(fits(&mut required, &[(STORE, 2)])[0], Take, "the load saw another value");
        memory.write(object(0), STORE, TaskId(2));
        required.advance(&load, LOAD, &memory);
        assert_eq!(fits(&mut required, &[(STORE, 2)]), [Neutral; 3]);
    }

    #[test]
    fn a_step_that_only_read_wrote_nothing() {
        let mut memory = Memory::default();
        memory.write(object(0), STORE, TaskId(1));
        memory.write(object(0), OTHER_STORE, TaskId(2));
        memory.undo(object(1));
        assert_eq!(memory.get(object(0)), Some((OTHER_STORE, TaskId(2))));
        memory.undo(object(0));
        assert_eq!(memory.get(object(0)), Some((STORE, TaskId(1))));
    }
}
