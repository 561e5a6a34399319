//! Which task holds which lock, followed step by step.

use interloper_std::runtime::{Action, Mode, ObjectId, TaskId};

use crate::execution::Event;

/// A lock in the hands of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hold {
    /// The holder.
    pub task: TaskId,
    /// The lock.
    pub lock: ObjectId,
    /// How the task holds the lock.
    pub mode: Mode,
}

/// The locks that tasks hold after some steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holding(Vec<Hold>);

impl Holding {
    /// The locks held after these steps.
    pub fn after<'a>(events: impl IntoIterator<Item = &'a Event>) -> Holding {
        let mut holding = Holding::default();
        events.into_iter().for_each(|event| holding.note(event));
        holding
    }

    /// Follows a step.
    pub fn note(&mut self, event: &Event) {
        let (task, lock) = (event.task, event.operation.object);
        match event.operation.action {
            Action::Lock(mode) | Action::Keep(mode) => self.0.push(Hold { task, lock, mode }),
            Action::LockRecursive => self.0.push(Hold { task, lock, mode: Mode::Shared }),
            Action::TryLock(mode) if !event.only_read => self.0.push(Hold { task, lock, mode }),
            Action::Unlock(mode) | Action::Free(mode) => self.give_back(Hold { task, lock, mode }),
            Action::Wait(Some(lock)) => self.give_back(Hold { task, lock, mode: Mode::Exclusive }),
            Action::Convert(from, to) => self.convert(task, lock, from, to),
            Action::TryConvert(from, to) if !event.only_read => self.convert(task, lock, from, to),
            _ => {}
        }
    }

    /// Each lock with its holder, in the order of locking.
    pub fn holds(&self) -> &[Hold] {
        &self.0
    }

    /// The locks that a task holds, in the order of locking. A lock that the task holds several times comes several times.
    pub fn of(&self, task: TaskId) -> impl Iterator<Item = Hold> + Clone {
        self.0.iter().copied().filter(move |hold| hold.task == task)
    }

    /// Whether a task could take a lock in this mode.
    pub fn admits(&self, lock: ObjectId, mode: Mode) -> bool {
        self.0.iter().all(|hold| hold.lock != lock || hold.mode.admits(mode))
    }

    /// Removes one hold: the task's own, or, since a guard can be given away, the hold of another task.
    pub fn give_back(&mut self, given: Hold) {
        let like = |hold: &Hold| (hold.lock, hold.mode) == (given.lock, given.mode);
        let own = self.0.iter().rposition(|hold| *hold == given);
        own.or_else(|| self.0.iter().rposition(like)).map(|position| self.0.remove(position));
    }

    fn convert(&mut self, task: TaskId, lock: ObjectId, from: Mode, to: Mode) {
        self.give_back(Hold { task, lock, mode: from });
        self.0.push(Hold { task, lock, mode: to });
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use interloper_std::runtime::Operation;

    use super::*;
    use crate::execution::Cause;

    use Mode::{Exclusive, Shared, Upgradable};

    fn lock(index: u32) -> ObjectId {
        ObjectId::from_index(index)
    }

    fn event((task, object, action, only_read): (u32, u32, Action, bool)) -> Event {
        let operation = Operation { object: lock(object), action, location: Location::caller() };
        Event { task: TaskId(task), operation, continues: false, only_read, cause: Cause::Ready }
    }

    /// The holds after some steps, as task, lock and mode.
    #[track_caller]
    fn check(steps: &[(u32, u32, Action, bool)], expected: &[(u32, u32, Mode)]) {
        let events: Vec<Event> = steps.iter().copied().map(event).collect();
        let hold = |&(task, object, mode): &(u32, u32, Mode)| Hold { task: TaskId(task), lock: lock(object), mode };
        assert_eq!(Holding::after(&events).holds(), expected.iter().map(hold).collect::<Vec<_>>());
    }

    #[test]
    fn locks_are_taken_and_given_back() {
        let steps = [
            (0, 1, Action::Lock(Exclusive), false),
            (1, 2, Action::Lock(Shared), false),
            (1, 2, Action::LockRecursive, false),
            (0, 3, Action::TryLock(Exclusive), true),
            (1, 2, Action::Unlock(Shared), false),
        ];
        check(&steps, &[(0, 1, Exclusive), (1, 2, Shared)]);
        check(&steps[..3], &[(0, 1, Exclusive), (1, 2, Shared), (1, 2, Shared)]);
    }

    #[test]
    fn a_wait_gives_its_lock_back() {
        let taken = (0, 1, Action::Lock(Exclusive), false);
        check(&[taken, (0, 9, Action::Wait(Some(lock(1))), false)], &[]);
        check(&[taken, (0, 9, Action::Wait(None), false)], &[(0, 1, Exclusive)]);
    }

    #[test]
    fn a_conversion_changes_the_mode_and_a_failed_one_does_not() {
        let taken = (0, 1, Action::Lock(Upgradable), false);
        check(&[taken, (0, 1, Action::Convert(Upgradable, Exclusive), false)], &[(0, 1, Exclusive)]);
        check(&[taken, (0, 1, Action::TryConvert(Upgradable, Exclusive), false)], &[(0, 1, Exclusive)]);
        check(&[taken, (0, 1, Action::TryConvert(Upgradable, Exclusive), true)], &[(0, 1, Upgradable)]);
    }

    #[test]
    fn a_guard_that_was_given_away_is_given_back_for_its_taker() {
        let taken = (0, 1, Action::Lock(Exclusive), false);
        check(&[taken, (1, 1, Action::Unlock(Exclusive), false)], &[]);
        // Another lock, or the same lock in another mode, stays held.
        check(&[taken, (1, 2, Action::Unlock(Exclusive), false)], &[(0, 1, Exclusive)]);
        check(&[taken, (1, 1, Action::Unlock(Shared), false)], &[(0, 1, Exclusive)]);
    }

    #[test]
    fn a_lock_admits_what_its_holders_admit() {
        let events = [event((0, 1, Action::Lock(Shared), false))];
        let holding = Holding::after(&events);
        assert!(holding.admits(lock(1), Shared) && !holding.admits(lock(1), Exclusive));
        assert!(holding.admits(lock(2), Exclusive));
    }
}
