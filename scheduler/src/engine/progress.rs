//! Waiting for a change, and for the clock: what becomes of tasks that go round in loops, and of those that sleep.

use std::panic::Location;
use std::time::Duration;

use interloper_std::runtime::{Action, ObjectId, Operation, Woken};

use super::state::State;
use super::task::Gate;
use crate::execution::Cause;

/// When a waiting task is to be woken by the clock.
pub(super) struct Timer {
    pub(super) deadline: Duration,
    pub(super) ticket: u64,
    pub(super) task: usize,
}

/// Detects a loop that looks at the same thing again and again while nothing changes.
#[derive(Clone, Copy, Default)]
pub(super) struct Spin {
    anchor: Option<(ObjectId, Asked)>,
    changes: u64,
    rounds: u32,
    others: u32,
}

/// A place, and which key a collection is asked for there: a loop over many keys does not look at the same thing.
type Asked = usize;

#[inline]
fn asked(operation: Operation) -> Asked {
    let place = std::ptr::from_ref::<Location<'_>>(operation.location).addr();
    match operation.action {
        Action::Invoke(_, _, key) | Action::Inspect(_, _, key) => place ^ key.hash() as usize,
        _ => place,
    }
}

/// After so many looks at the same object from the same place without a change in between, a task is taken to wait for
/// one.
const SPIN_ROUNDS: u32 = 32;

impl State {
    /// The event that is just happening, as a cause.
    pub(super) fn present(&self) -> Cause {
        self.trace.len().checked_sub(1).map_or(Cause::Ready, |last| Cause::Event(last as u32))
    }

    /// That nobody could go on, as a cause.
    pub(super) fn idle(&self) -> Cause {
        Cause::Idle(self.trace.len() as u32)
    }

    /// Between two steps: if the last one changed something, tasks that wait for that are enabled.
    #[inline]
    pub(super) fn settle(&mut self) {
        if self.dirty {
            self.dirty = false;
            self.changes += 1;
            self.idle_rounds = 0;
            if !self.yielded.is_empty() {
                self.enable_yielded(self.present());
            }
        }
    }

    fn enable_yielded(&mut self, cause: Cause) {
        while let Some(task) = self.yielded.pop() {
            if self.tasks[task].gate == Gate::Change {
                self.proceed(task);
                self.tasks[task].cause = cause;
                self.enable(task);
            }
        }
    }

    /// No task is enabled: lets the clock pass, or lets those that wait for a change look again. False when that does not
    /// help, or has not helped for `rounds` times.
    pub(super) fn revive(&mut self, rounds: u32) -> bool {
        while self.enabled.is_empty() {
            if let Some(first) = self.timers.iter().map(|timer| timer.deadline).min() {
                self.clock = self.clock.max(first);
                let due = |timer: &&Timer| timer.deadline <= first;
                while let Some(timer) = self.timers.iter().filter(due).min_by_key(|timer| timer.ticket) {
                    self.rouse(timer.task, Woken::TimedOut);
                }
                self.changes += 1;
                self.enable_yielded(self.idle());
            } else if !self.yielded.is_empty() && self.idle_rounds < rounds {
                self.idle_rounds += 1;
                self.enable_yielded(self.idle());
            } else {
                return false;
            }
        }
        true
    }

    /// Whether an attempt is one of a loop whose attempts have all failed, and that waits for a change.
    #[inline]
    pub(super) fn keeps_failing(&self, task: usize, operation: Operation) -> bool {
        let spin = &self.tasks[task].spin;
        spin.rounds >= SPIN_ROUNDS
            && spin.changes == self.changes
            && spin.anchor == Some((operation.object, asked(operation)))
    }

    /// A look that changed nothing: a read, or an attempt that failed. Whether it is one of a loop that waits for a
    /// change.
    #[inline]
    pub(super) fn spins(&mut self, task: usize, operation: Operation) -> bool {
        let spin = &mut self.tasks[task].spin;
        let here = (operation.object, asked(operation));
        if spin.changes != self.changes || spin.anchor.is_none() || spin.others > SPIN_ROUNDS {
            *spin = Spin { anchor: Some(here), changes: self.changes, rounds: 0, others: 0 };
        } else if spin.anchor == Some(here) {
            spin.rounds += 1;
            spin.others = 0;
        } else {
            spin.others += 1;
        }
        spin.rounds >= SPIN_ROUNDS
    }
}
