//! The strategy is asked, and what it says is recorded.

use interloper_std::runtime::{Action, ObjectId, Operation, Place, TaskId};

use super::core::{Core, MAIN};
use super::state::State;
use crate::decisions::{Decision, Question};
use crate::execution::{Cause, End, Event};

impl Core {
    /// Lets the strategy choose whose step is next, and makes that task the running one. `None` when the execution ends
    /// here.
    ///
    /// `alone`: the running task is not to be preempted.
    pub(super) fn choose(&self, state: &mut State, alone: bool) -> Option<usize> {
        let (index, chosen) = self.ask(state, alone)?;
        let Operation { object, action, location } = state.enabled[index].operation;
        self.record(state, chosen, object, action, location);
        Some(chosen)
    }

    /// Asks the strategy; gives the index among the enabled operations, and the task.
    #[inline(always)]
    pub(super) fn ask(&self, state: &mut State, alone: bool) -> Option<(usize, usize)> {
        if state.enabled.is_empty() || state.steps >= self.config.step_bound || self.choosing.get() {
            self.unstick(state)?;
        }
        state.steps += 1;
        let current = state.tasks[state.current].position.map(|position| position as usize);
        let (first, pending) = match current {
            Some(position) if alone => (position, &state.enabled[position..=position]),
            _ => (0, &state.enabled[..]),
        };
        let id = current.map(|_| TaskId(state.current as u32));
        let strategy = self.strategy.get().expect("a strategy chooses while a program runs");
        self.choosing.set(true);
        // SAFETY: `hub::run` keeps the strategy borrowed. It is used here and in `pick` alone, and cannot come here
        // again from inside: the state is borrowed.
        let index = unsafe { (*strategy).choose(id, pending) };
        let Some(chosen) = pending.get(index) else {
            panic!("the strategy chose {index} out of {}", pending.len());
        };
        let chosen = chosen.task.index();
        self.choosing.set(false);
        if self.config.decisions && pending.len() > 1 {
            let options = pending.len() as u32;
            state.decisions.push(Decision::new(Question::Task, options, rank(index, current)));
        }
        state.preemptions += u64::from(current.is_some() && chosen != state.current);
        Some((first + index, chosen))
    }

    /// The chosen task makes its step.
    #[inline(always)]
    pub(super) fn record(&self, state: &mut State, chosen: usize, object: ObjectId, action: Action, location: Place) {
        if self.config.trace {
            let operation = Operation { object, action, location };
            let cause = std::mem::replace(&mut state.tasks[chosen].cause, Cause::Ready);
            let task = TaskId(chosen as u32);
            state.trace.push(Event { task, operation, continues: false, only_read: false, cause });
        }
        state.dirty = !action.only_reads() && !action.is_private();
        state.current = chosen;
        self.next.set(chosen);
        if let Some(beat) = &self.beat {
            beat.step(chosen, location);
        }
    }

    /// No task is enabled, or the bound is reached, or the strategy has panicked and the program caught it.
    #[cold]
    fn unstick(&self, state: &mut State) -> Option<()> {
        if self.choosing.get() {
            self.strategy_panic.set(Some(Box::new("the strategy panicked")));
            return None;
        }
        if state.steps < self.config.step_bound && state.revive(self.config.livelock_rounds) {
            return Some(());
        }
        state.stuck = state.reports();
        if state.end.is_none() {
            state.end = Some(if !state.enabled.is_empty() {
                End::StepBound(state.recent())
            } else if !state.yielded.is_empty() {
                End::Livelock(state.stuck.clone())
            } else if state.tasks[MAIN].done {
                End::Leaked(state.stuck.clone())
            } else {
                End::Deadlock(state.stuck.clone())
            });
        }
        None
    }

    /// A decision that is not about tasks.
    pub(super) fn pick(&self, state: &mut State, options: u32) -> u32 {
        assert!(options > 0, "a decision has at least one answer");
        if options == 1 || state.aborting || self.choosing.get() {
            return 0;
        }
        let strategy = self.strategy.get().expect("a strategy chooses while a program runs");
        self.choosing.set(true);
        // SAFETY: as in `ask`.
        let answer = unsafe { (*strategy).pick(options) };
        assert!(answer < options, "the strategy picked {answer} out of {options}");
        self.choosing.set(false);
        if self.config.decisions {
            state.decisions.push(Decision::new(Question::Other, options, answer));
        }
        answer
    }

    /// A part of a step that the strategy was not asked about.
    pub(super) fn record_part(
        &self,
        state: &mut State,
        task: usize,
        object: ObjectId,
        action: Action,
        location: Place,
    ) {
        let task = TaskId(task as u32);
        let operation = Operation { object, action, location };
        if self.config.trace && !state.aborting {
            state.trace.push(Event { task, operation, continues: true, only_read: false, cause: Cause::Ready });
        }
        if self.wants_parts.get() && !state.aborting && !self.choosing.get() {
            let strategy = self.strategy.get().expect("a strategy chooses while a program runs");
            self.choosing.set(true);
            // SAFETY: as in `ask`.
            unsafe { (*strategy).part(task, operation) };
            self.choosing.set(false);
        }
    }
}

/// The answer of a decision about tasks: 0 for the one that made the last step, then the others in their order.
fn rank(index: usize, current: Option<usize>) -> u32 {
    match current {
        Some(current) if index == current => 0,
        Some(current) if index < current => index as u32 + 1,
        _ => index as u32,
    }
}
