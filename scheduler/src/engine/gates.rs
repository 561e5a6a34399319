//! When an operation of a loop that may wait in vain is enabled: at once, or after the next change.

use interloper_std::runtime::{Action, ObjectKind, Operation, Place, Runtime, TaskId};

use super::core::Core;
use super::task::Gate;

impl Core {
    #[inline(never)]
    pub(super) fn let_others_go_on(&self, location: Place) {
        let gate = if self.panicking() { Gate::Open } else { Gate::Change };
        if gate == Gate::Change {
            if self.goes_on_unchanged(location, false) {
                return;
            }
            self.await_change();
        }
        let operation = self.own(Action::Yield, location);
        drop(self.make(operation, gate));
    }

    #[inline]
    pub(super) fn look_or_attempt(&self, operation: Operation) {
        let only_reads = operation.action.only_reads();
        let gate = if only_reads { self.gate_of_read(operation) } else { self.gate_of_attempt(operation) };
        if self.bursting.get() && gate == Gate::Open && self.step_of_burst(operation) {
            return;
        }
        drop(self.make(operation, gate));
    }

    /// A read in a loop that waits for a change is enabled after the next one.
    fn gate_of_read(&self, operation: Operation) -> Gate {
        let spins = {
            let mut state = self.state.borrow_mut();
            state.settle();
            let task = state.current;
            let kind = state.objects[operation.object.index()].kind;
            state.tried |= matches!(kind, ObjectKind::Mutex | ObjectKind::RwLock);
            state.spins(task, operation)
        };
        if spins { self.wait_for_change(operation.location) } else { Gate::Open }
    }

    /// An attempt (a compare-exchange, an attempt to take a lock) in a loop of failing attempts is enabled after the
    /// next change.
    #[inline]
    pub(super) fn gate_of_attempt(&self, operation: Operation) -> Gate {
        let spins = {
            let mut state = self.state.borrow_mut();
            state.settle();
            state.keeps_failing(state.current, operation)
        };
        if spins { self.wait_for_change(operation.location) } else { Gate::Open }
    }

    /// As [`Core::gate_of_read`] and [`Core::gate_of_attempt`], for a call of a method of a collection.
    pub(super) fn gate_of_call(&self, operation: Operation) -> Gate {
        if operation.action.only_reads() { self.gate_of_read(operation) } else { self.gate_of_attempt(operation) }
    }

    #[cold]
    fn wait_for_change(&self, location: Place) -> Gate {
        if self.panicking() || self.goes_on_unchanged(location, true) {
            return Gate::Open;
        }
        self.await_change();
        Gate::Change
    }

    /// The running task is about to wait for a change.
    fn await_change(&self) {
        let mut state = self.state.borrow_mut();
        state.settle();
        let task = state.current;
        if !state.aborting {
            let follows = state.operation(task).action == Action::Yield;
            state.tasks[task].hints.waits(follows);
            state.yielded.push(task);
            self.synchronise(|kept| kept.waits(TaskId(task as u32)));
        }
    }
}
