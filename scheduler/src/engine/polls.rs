//! Futures that tasks poll: how a task waits between two polls, and how a waker ends the wait.
//!
//! A task gives the lock of its executor back when a poll ends, and takes it again for the next one. Taking the lock takes
//! the task's token too, in one step. So the calls of a waker between two polls count as one, as in the executors of
//! tokio and smol.

use interloper_std::runtime::{
    Action, Count, Mode, ObjectId, Operation, Place, Runtime, Suspension, TaskId, Wakes, Woken,
};

use super::core::Core;
use super::freedom::Ended;
use super::task::Gate;
use crate::freedoms::Freedom;

impl Core {
    pub(super) fn suspend_poll(&self, lock: Option<ObjectId>, suspension: Suspension, location: Place) -> Woken {
        let mut state = self.make(self.own(Action::Wait(lock), location), Gate::Open);
        let task = state.current;
        let own = state.tasks[task].object;
        if let Some(lock) = lock {
            state.give_back(task, lock, Mode::Exclusive);
        }
        drop(state);
        let timeout = match suspension {
            Suspension::Yields => {
                self.yield_now(location);
                None
            }
            Suspension::UntilWoken => None,
            Suspension::Until(end) => Some(end.saturating_sub(self.state.borrow().clock)),
        };
        let (then, after) = match lock {
            Some(lock) => (
                Operation { object: lock, action: Action::Lock(Mode::Exclusive), location },
                Gate::Lock(lock, Mode::Exclusive),
            ),
            None => (Operation { object: own, action: Action::ReadWrite, location }, Gate::Open),
        };
        let goes_on = suspension == Suspension::Yields || self.state.borrow().tasks[task].token;
        let (mut state, ended) = match goes_on {
            true => (self.make(then, after), Ended::Ordinarily(Woken::Notified)),
            false => self.wait_at(Gate::Token, (timeout, Wakes::Notified), then, after),
        };
        state.tasks[task].token = false;
        if let Some(lock) = lock {
            state.take(task, lock, Mode::Exclusive, location);
        }
        // Whether a waker is called before or after this makes a difference.
        self.record_part(&mut state, task, own, Action::Affect, location);
        self.synchronise(|kept| kept.acquire(TaskId(task as u32), own, Mode::Exclusive));
        ended.woken()
    }

    pub(super) fn wake_poll(&self, task: TaskId, location: Place) {
        let object = self.state.borrow().tasks[task.index()].object;
        let operation = Operation { object, action: Action::Notify(Count::One), location };
        let mut state = self.make(operation, Gate::Open);
        let woken = &mut state.tasks[task.index()];
        woken.token = true;
        if woken.gate == Gate::Token && woken.position.is_none() {
            state.rouse(task.index(), Woken::Notified);
        }
    }

    /// Whether the future that the running task has polled is dropped before its next poll.
    pub(super) fn cancels_poll(&self) -> bool {
        let mut state = self.state.borrow_mut();
        self.departs(&mut state, Freedom::Cancellation)
    }
}
