//! What executions have shown: which reads saw which writes.

use interloper_std::runtime::{Action, ObjectId, Operation, TaskId};

use super::events::{EventId, Events, Memory, Set, access};
use super::obligations::Pair;
use crate::Event;
use crate::decisions::mix;
use crate::strategy::Novelty;

/// The pairs of an execution, each of a write and a read of another task that saw it.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    pub(super) pairs: Set<Pair>,
    /// By object, the steps that wrote and that read it.
    pub(super) objects: Vec<(Vec<EventId>, Vec<EventId>)>,
    memory: Memory,
}

impl Observed {
    /// Looks at another execution.
    pub(super) fn observe(&mut self, events: &mut Events, trace: &[Event]) {
        events.begin();
        self.memory.clear();
        self.pairs.clear();
        self.objects.iter_mut().for_each(|(writes, reads)| {
            writes.clear();
            reads.clear();
        });
        for event in trace {
            if event.operation.action == Action::Spawn {
                events.spawn(event.task, event.operation.location);
            }
            if !event.continues {
                self.step(events, event);
            }
        }
    }

    fn step(&mut self, events: &mut Events, event: &Event) {
        let Event { task, operation, only_read, .. } = *event;
        let Operation { object, action, .. } = operation;
        let Some((access, name)) = access(action).zip(events.name(task, &operation)) else { return };
        let there = self.memory.get(object);
        let is_own = |(_, writer): (_, TaskId)| writer == task;
        if access.reads {
            note(&mut self.of(object).1, name);
            if !there.is_some_and(is_own) {
                self.pairs.insert(Pair { write: there.map(|(by, _)| by), read: name });
            }
        }
        if access.writes && !only_read {
            note(&mut self.of(object).0, name);
            self.memory.write(object, name, task);
        }
    }

    fn of(&mut self, object: ObjectId) -> &mut (Vec<EventId>, Vec<EventId>) {
        if self.objects.len() <= object.index() {
            self.objects.resize_with(object.index() + 1, Default::default);
        }
        &mut self.objects[object.index()]
    }
}

fn note(steps: &mut Vec<EventId>, name: EventId) {
    if !steps.contains(&name) {
        steps.push(name);
    }
}

/// The behaviours of all executions so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Behaviours {
    pub(super) events: Events,
    pub(super) observed: Observed,
    pub(super) pairs: Set<Pair>,
    pub(super) sets: Set<u64>,
}

impl Behaviours {
    /// Notes an execution, and says what is new about it.
    pub(crate) fn note(&mut self, trace: &[Event]) -> Novelty {
        self.observed.observe(&mut self.events, trace);
        let before = self.pairs.len();
        self.pairs.extend(self.observed.pairs.iter().copied());
        let is_new = self.sets.insert(hash_of(&self.observed.pairs));
        match () {
            () if self.pairs.len() > before => Novelty::Pair,
            () if is_new => Novelty::Set,
            () => Novelty::Nothing,
        }
    }
}

/// A number that tells sets of pairs apart: a sum, whatever their order is.
pub(super) fn hash_of(pairs: &Set<Pair>) -> u64 {
    let hash = |pair: &Pair| mix(pair.write.map_or(0, |write| u64::from(write.0) + 1), pair.read.0.into());
    pairs.iter().map(hash).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::event;

    /// The main task spawns two tasks at one place, with these numbers of objects.
    fn spawned() -> Vec<Event> {
        let spawn = |object| event(0, object, Action::Spawn);
        vec![event(0, 9, Action::Start), spawn(10), spawn(11)]
    }

    fn write(task: u32, object: u32) -> Event {
        event(task, object, Action::Write)
    }

    fn read(task: u32, object: u32) -> Event {
        event(task, object, Action::Read)
    }

    /// Each execution in turn, with what is new about it.
    #[track_caller]
    fn check(executions: &[(&[Event], Novelty)]) {
        let mut behaviours = Behaviours::default();
        for (number, (steps, novelty)) in executions.iter().enumerate() {
            assert_eq!(behaviours.note(&[&spawned()[..], steps].concat()), *novelty, "execution {number}");
        }
    }

    #[test]
    fn a_pair_is_new_once() {
        use Novelty::{Nothing, Pair, Set};
        let (written, first) = ([write(1, 1), read(0, 1)], [read(0, 1), write(1, 1)]);
        let both = [read(0, 1), write(1, 1), read(0, 1)];
        check(&[(&written, Pair), (&written, Nothing), (&first, Pair), (&both, Set), (&both, Nothing)]);
    }

    /// Tasks 1 and 2 are alike: that the other one writes is nothing new. Nor are other numbers of objects.
    #[test]
    fn identical_tasks_are_one() {
        check(&[
            (&[write(1, 1), read(0, 1)], Novelty::Pair),
            (&[write(2, 1), read(0, 1)], Novelty::Nothing),
            (&[write(2, 5), read(0, 5)], Novelty::Nothing),
            (&[write(2, 5), write(1, 5), read(2, 5)], Novelty::Pair),
        ]);
    }

    /// A task that reads what it wrote itself shows nothing, and a step that only read writes nothing.
    #[test]
    fn pairs_are_of_two_tasks() {
        let tried = Event { only_read: true, ..event(1, 1, Action::ReadWrite) };
        check(&[
            (&[write(1, 1), read(1, 1)], Novelty::Set),
            (&[write(1, 1), read(1, 1), read(1, 1)], Novelty::Nothing),
            (&[tried], Novelty::Pair),
            (&[tried, read(0, 1)], Novelty::Pair),
            (&[read(0, 1), tried], Novelty::Nothing),
        ]);
    }

    /// Two objects that a task uses first at one place are told apart.
    #[test]
    fn objects_are_known_by_instance() {
        let in_turn = |task| [write(task, 1), write(task, 2)];
        let first = [&in_turn(1)[..], &[read(0, 1)]].concat();
        let second = [&in_turn(1)[..], &[read(0, 2)]].concat();
        check(&[(&first, Novelty::Pair), (&second, Novelty::Pair), (&first, Novelty::Nothing)]);
    }
}
