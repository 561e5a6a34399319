//! The strategy is asked, and what it says is recorded.

use std::num::NonZeroU32;

use interloper_std::runtime::{Action, ObjectId, Operation, Place, TaskId};

use super::core::{BETWEEN_LOOKS, Core, MAIN};
use super::hints::LONGEST_PROBE;
use super::state::State;
use crate::decisions::{Decision, Question};
use crate::execution::{Cause, End, Event};
use crate::strategy::{Pending, Strategy};
use crate::traces::Pick;

impl Core {
    /// Lets the strategy choose whose step is next, and makes that task the running one. `None` when the execution ends
    /// here.
    ///
    /// `alone`: the running task must not be preempted.
    pub(super) fn choose(&self, state: &mut State, alone: bool) -> Option<usize> {
        state.update();
        let position = state.tasks[state.current].position.map(|position| position as usize);
        let (index, chosen) = self.ask(state, position, alone)?;
        self.record_chosen(state, index, chosen);
        Some(chosen)
    }

    /// Asks the strategy something, or tells it. What it does is not done by the program. If it panics, it is not asked again.
    #[inline(always)]
    pub(super) fn consult<R>(&self, ask: impl FnOnce(&mut dyn Strategy) -> R) -> R {
        let strategy = self.strategy.get().expect("a strategy chooses while a program runs");
        self.choosing.set(true);
        // SAFETY: `hub::run` keeps the strategy borrowed. Only this function uses it, and cannot be called from inside: `choosing` says so
        // to whatever the strategy calls.
        let answer = ask(unsafe { &mut *strategy });
        self.choosing.set(false);
        answer
    }

    /// Asks the strategy when the running task is enabled, at this position, and no limit is reached. Returns the index
    /// among the enabled operations, and the task.
    ///
    /// The quick part of [`Core::ask`].
    #[inline(always)]
    pub(super) fn ask_at(&self, state: &mut State, position: usize) -> (usize, usize) {
        state.steps += 1;
        debug_assert!(state.contenders_are_right());
        let pending = &state.enabled[..];
        let (index, chosen) = self.consult(|strategy| choose(strategy, Some(TaskId(state.current as u32)), pending));
        if self.config.decisions && pending.len() > 1 {
            let options = NonZeroU32::new(pending.len() as u32);
            // As `rank` says.
            let others = index as u32 + u32::from(index < position);
            let answer = others * u32::from(index != position);
            state.decisions.push(Decision { question: Question::Task, options, answer });
        }
        state.preemptions += u64::from(chosen != state.current);
        (index, chosen)
    }

    /// Asks the strategy; returns the index among the enabled operations, and the task. `current` is the index of the
    /// running task, if it is enabled.
    pub(super) fn ask(&self, state: &mut State, current: Option<usize>, alone: bool) -> Option<(usize, usize)> {
        let mut current = current;
        if state.enabled.is_empty() || state.steps >= state.limit || self.choosing.get() {
            self.unstick(state, alone)?;
            current = state.tasks[state.current].position.map(|position| position as usize);
        }
        state.steps += 1;
        debug_assert!(state.contenders_are_right());
        let (first, pending) = match current {
            Some(position) if alone => (position, &state.enabled[position..=position]),
            _ => (0, &state.enabled[..]),
        };
        let id = current.map(|_| TaskId(state.current as u32));
        let (index, chosen) = self.consult(|strategy| choose(strategy, id, pending));
        if self.config.decisions && pending.len() > 1 {
            let options = pending.len() as u32;
            state.decisions.push(Decision::new(Question::Task, options, rank(index, current)));
        }
        state.preemptions += u64::from(current.is_some() && chosen != state.current);
        Some((first + index, chosen))
    }

    /// The chosen task, at this index among the enabled ones, makes its step.
    #[inline(always)]
    pub(super) fn record_chosen(&self, state: &mut State, index: usize, chosen: usize) {
        let Operation { object, action, location } = state.enabled[index].operation;
        let cause = std::mem::replace(&mut state.tasks[chosen].cause, Cause::Ready);
        if chosen != state.current && state.change_turns(chosen, self.config.step_bound) {
            self.addresses.watch(true);
        }
        self.record(state, chosen, object, action, location, cause);
    }

    /// A task makes its step.
    #[inline(always)]
    pub(super) fn record(
        &self,
        state: &mut State,
        chosen: usize,
        object: ObjectId,
        action: Action,
        location: Place,
        cause: Cause,
    ) {
        self.notes.close();
        if self.config.trace {
            if self.tells_order.get() {
                self.note_event(TaskId(chosen as u32));
            }
            let operation = Operation { object, action, location };
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

    /// Lets the running task make one more step, as if the strategy had been asked and had chosen it. Returns false
    /// when the task cannot simply go on.
    pub(super) fn go_on(&self, Operation { object, action, location }: Operation) -> bool {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        state.settle();
        state.update();
        let may_switch = state.aborting || std::thread::panicking() || self.is_deep();
        if may_switch || state.steps >= state.limit || self.choosing.get() {
            return false;
        }
        let task = state.current;
        state.show(task, object, action, location);
        state.steps += 1;
        if self.config.decisions && state.enabled.len() > 1 {
            state.decisions.push(Decision::new(Question::Task, state.enabled.len() as u32, 0));
        }
        self.record(state, task, object, action, location, Cause::Ready);
        true
    }

    /// A strategy that finds out whether a task waits lets it go on for long: others would not be held back more than that.
    fn let_probe(&self, state: &mut State) {
        if state.unhurried == 0 && self.consult(|strategy| strategy.discards()) {
            state.unhurried = state.steps + LONGEST_PROBE;
        }
    }

    /// Handles three cases: no task is enabled, a limit is reached, or the strategy has panicked and the program caught
    /// the panic.
    #[cold]
    fn unstick(&self, state: &mut State, alone: bool) -> Option<()> {
        if self.choosing.get() {
            self.strategy_panic.set(Some(Box::new("the strategy panicked")));
            return None;
        }
        if let Some(fault) = self.kept.borrow().plain.fault() {
            state.stuck = state.reports();
            state.end = Some(End::Memory(Box::new(fault.clone())));
            return None;
        }
        let at_bound = state.steps >= self.config.step_bound || self.is_late(state);
        if !at_bound && !state.enabled.is_empty() && state.steps < state.fair {
            // Only the clock was looked at: an execution without a time to end goes on in the same way.
            state.limit = state.fair.min(state.look);
            return Some(());
        }
        if !at_bound {
            self.let_probe(state);
            state.be_fair(alone);
            state.set_limit(state.current, self.config.step_bound);
            self.addresses.watch(state.tasks[state.current].rounds.is_watched());
            if state.revive(self.config.livelock_rounds) {
                if state.looks.are_followed() {
                    self.tells_local_states.set(true);
                }
                return Some(());
            }
        }
        state.stuck = state.reports();
        if state.end.is_none() {
            state.end = Some(if at_bound && state.could_go_on() {
                // The bound also ends an execution in which no task is enabled at this moment: with more steps, the
                // clock would pass.
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

    /// Whether the execution goes on for longer than [`Engine::stop_at`](super::Engine::stop_at) lets it. The clock is looked at now and then.
    fn is_late(&self, state: &mut State) -> bool {
        if state.steps < state.look {
            return false;
        }
        state.look = state.steps + BETWEEN_LOOKS;
        self.stop_at.get().is_over()
    }

    /// A decision that is not about tasks.
    pub(super) fn pick(&self, state: &mut State, options: u32) -> u32 {
        assert!(options > 0, "a decision has at least one answer");
        if options == 1 || state.aborting || self.choosing.get() {
            return 0;
        }
        let answer = self.consult(|strategy| {
            let answer = strategy.pick(options);
            assert!(answer < options, "the strategy picked {answer} out of {options}");
            answer
        });
        if self.config.decisions {
            state.decisions.push(Decision::new(Question::Other, options, answer));
        }
        if self.config.trace {
            state.picks.push(Pick { events: state.trace.len() as u32, answer });
        }
        answer
    }

    /// The current step, an attempt of the running task, has only read.
    pub(super) fn turn_out_only_read(&self, state: &mut State) {
        state.turn_out_only_read();
        if !state.aborting && !self.choosing.get() {
            let operation = state.operation(state.current);
            self.consult(|strategy| strategy.only_read(TaskId(state.current as u32), operation));
        }
    }

    /// A part of a step that the strategy was not asked about.
    #[inline(always)]
    pub(super) fn record_part(
        &self,
        state: &mut State,
        task: usize,
        object: ObjectId,
        action: Action,
        location: Place,
    ) {
        self.notes.close();
        if self.config.trace && !state.aborting {
            if self.tells_order.get() {
                self.note_event(TaskId(task as u32));
            }
            // The event is made in its place: copying it from elsewhere would stall until the memory is written.
            state.trace.push(Event {
                task: TaskId(task as u32),
                operation: Operation { object, action, location },
                continues: true,
                only_read: false,
                cause: Cause::Ready,
            });
        }
        if self.wants_parts.get() && !state.aborting && !self.choosing.get() {
            // A copy, as in `make`.
            self.tell_part(TaskId(task as u32), object, std::hint::black_box(action), location);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_part(&self, task: TaskId, object: ObjectId, action: Action, location: Place) {
        self.consult(|strategy| strategy.part(task, Operation { object, action, location }));
    }
}

/// The index of the operation that the strategy chooses, and its task.
#[inline(always)]
fn choose(strategy: &mut dyn Strategy, current: Option<TaskId>, pending: &[Pending]) -> (usize, usize) {
    let index = strategy.choose(current, pending);
    let Some(chosen) = pending.get(index) else { chose_nothing(index, pending.len()) };
    (index, chosen.task.index())
}

#[cold]
fn chose_nothing(index: usize, options: usize) -> ! {
    panic!("the strategy chose {index} out of {options}")
}

/// The answer of a decision about tasks: 0 for the task of the last step, then the other tasks in their order.
fn rank(index: usize, current: Option<usize>) -> u32 {
    // Without a branch, which a random walk would make the processor mispredict half of the time.
    let current = current.unwrap_or(usize::MAX);
    let others = index as u32 + u32::from(index < current && current != usize::MAX);
    others * u32::from(index != current)
}
