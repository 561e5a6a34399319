//! Memory that no other task can have reached: accesses to it are no steps, since nobody could come between.
//!
//! Nothing gets from one task to another without a step, or an atomic operation that no mirror replaces. So other tasks know
//! nothing of what a task has allocated, or put on its stack, since its last step that could have told them. What it had
//! before then counts as known, whether or not the step told of it. Whose memory is accessed in fact does not count: that
//! only this task has come there so far does not say that no other could have come first.

use interloper_std::runtime::TaskId;

use super::blocks::Moment;
use crate::execution::Event;

/// What each task of an execution has to itself.
#[derive(Debug, Default)]
pub(crate) struct Privately {
    /// How many events of the trace were looked at.
    looked: usize,
    tasks: Vec<Own>,
}

#[derive(Clone, Copy, Debug)]
struct Own {
    /// How many events the trace had after the last one with which the task could have told others something.
    told: u32,
    /// Since then the stack was not looked at.
    told_anew: bool,
    /// Below this address, the stack has only what was put there since then.
    stack: usize,
}

impl Own {
    const ALL: Own = Own { told: 0, told_anew: false, stack: usize::MAX };
}

/// Whether others may learn something from the task that makes this step.
fn tells(event: &Event) -> bool {
    let action = event.operation.action;
    !event.only_read && !action.only_reads() && !action.is_private()
}

impl Privately {
    /// Forgets the last execution.
    pub(crate) fn clear(&mut self) {
        self.looked = 0;
        self.tasks.clear();
    }

    fn of(&mut self, task: TaskId) -> &mut Own {
        if self.tasks.len() <= task.index() {
            self.tasks.resize(task.index() + 1, Own::ALL);
        }
        &mut self.tasks[task.index()]
    }

    /// The task could have told others something with the last of so many events.
    fn told(&mut self, task: TaskId, events: u32) {
        let own = self.of(task);
        (own.told, own.told_anew) = (own.told.max(events), true);
    }

    /// The task could have told others something after so many events, before the next one. When it allocated something between
    /// the two is not known any better, so all that counts as known.
    pub(crate) fn told_between(&mut self, task: TaskId, events: u32) {
        self.told(task, events + 1);
    }

    /// Looks at what the tasks have done.
    pub(crate) fn follow(&mut self, trace: &[Event]) {
        for (at, event) in trace.iter().enumerate().skip(self.looked) {
            if tells(event) {
                self.told(event.task, at as u32 + 1);
            }
        }
        self.looked = trace.len();
    }

    /// Whether a block that was allocated then is the task's alone.
    pub(crate) fn has_block(&mut self, task: TaskId, allocated: Moment) -> bool {
        allocated.task == task && allocated.event >= self.of(task).told
    }

    /// Whether what is at this address of the task's own stack is the task's alone. The stack is in use down to `top`.
    pub(crate) fn has_on_stack(&mut self, task: TaskId, address: usize, top: usize) -> bool {
        let own = self.of(task);
        own.stack = if std::mem::take(&mut own.told_anew) { top } else { own.stack.max(top) };
        address < own.stack
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use interloper_std::runtime::{Action, ObjectId, Operation};

    use super::*;
    use crate::execution::Cause;

    fn event(task: u32, action: Action, only_read: bool) -> Event {
        let operation = Operation { object: ObjectId::from_index(0), action, location: Location::caller() };
        Event { task: TaskId(task), operation, continues: false, only_read, cause: Cause::Ready }
    }

    const ONE: TaskId = TaskId(1);

    fn moment(task: u32, event: u32) -> Moment {
        Moment { task: TaskId(task), event, code: 0 }
    }

    #[test]
    fn a_block_is_private_until_its_task_can_tell_of_it() {
        let mut privately = Privately::default();
        let mut trace = vec![event(0, Action::Write, false)];
        privately.follow(&trace);
        assert!(privately.has_block(ONE, moment(1, 1)));
        assert!(!privately.has_block(ONE, moment(0, 1)), "another task has made it");
        // Looking, and what fails, tells nobody anything.
        trace.extend([
            event(1, Action::Read, false),
            event(1, Action::ReadWrite, true),
            event(1, Action::Yield, false),
        ]);
        privately.follow(&trace);
        assert!(privately.has_block(ONE, moment(1, 1)));
        trace.push(event(1, Action::Write, false));
        privately.follow(&trace);
        assert!(!privately.has_block(ONE, moment(1, 1)) && !privately.has_block(ONE, moment(1, 4)));
        assert!(privately.has_block(ONE, moment(1, 5)), "what it has made since");
        privately.told_between(ONE, 5);
        assert!(!privately.has_block(ONE, moment(1, 5)) && privately.has_block(ONE, moment(1, 6)));
        privately.clear();
        assert!(privately.has_block(ONE, moment(1, 0)));
    }

    /// The stack grows down.
    #[test]
    fn a_stack_is_private_below_what_was_there_when_its_task_could_tell() {
        let mut privately = Privately::default();
        assert!(privately.has_on_stack(ONE, 1000, 900), "nobody was told anything");
        privately.told(ONE, 1);
        assert!(!privately.has_on_stack(ONE, 1000, 900));
        assert!(!privately.has_on_stack(ONE, 900, 800), "it was there");
        assert!(privately.has_on_stack(ONE, 899, 800), "a function was called since");
        // That function calls another one and tells again: now its frame may be known, too.
        privately.told(ONE, 2);
        assert!(!privately.has_on_stack(ONE, 850, 800) && privately.has_on_stack(ONE, 799, 700));
        // Both have returned. What is called next is new.
        assert!(!privately.has_on_stack(ONE, 950, 900));
        assert!(privately.has_on_stack(ONE, 850, 800));
    }
}
