//! What an execution does where std leaves it open: see [`Freedoms`].
//!
//! # Waits are decided when they begin
//!
//! Whether a wait ends early or unasked is decided once, when the wait begins. If so, the task does not wait at all: it
//! does not enter the queue, and is enabled for the step after the wait. Scheduling then decides when the task makes
//! that step, so no execution is lost. A wait that ends by itself at some later moment affects nobody before that
//! moment: if a task had notified the waiter, the wait would not have ended by itself; if a task had notified another
//! waiter, that waiter would also be woken without this one in the queue.
//!
//! # The clock
//!
//! A wait that ends early moves the clock just past its own deadline when its task goes on. Other sleepers whose time has
//! come by then are late: they wake when no other task is enabled, as always. So the order in which tasks look at the
//! clock matters, and each look is then part of a step, even the look of a wait that is about to compute its deadline.
//!
//! # Writers before readers
//!
//! A writer makes a step of its own, [`Action::Contend`], before the one that takes the lock. From there on readers
//! wait. These executions include those in which readers overtake a waiting writer: there the writer makes both steps
//! later. An upgradable reader that becomes a writer (parking_lot's `upgrade`) does the same. A writer with a time-out
//! (parking_lot's `try_write_for`) keeps no readers out. It could only delay them until its time has passed, so it adds no
//! deadlock. What is missing are readers that do not wait, or not long enough, and fail because of such a writer.

use std::time::Duration;

use interloper_std::runtime::{Action, Mode, ObjectId, ObjectKind, Operation, Place, Wakes, Woken};

use super::core::Core;
use super::state::{FREEDOM_OBJECTS, State};
use super::task::Gate;
use crate::decisions::{Decision, Question};
use crate::freedoms::{Freedom, Freedoms};
use crate::strategy::Strategy;
use crate::traces::Pick;

/// How a wait came to its end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ended {
    /// As the wait says.
    Ordinarily(Woken),
    /// Before others went on, at its deadline.
    Early(Duration),
    /// Although nobody woke the task.
    Unasked,
}

impl Ended {
    pub(super) fn woken(self) -> Woken {
        match self {
            Ended::Ordinarily(woken) => woken,
            Ended::Early(_) => Woken::TimedOut,
            Ended::Unasked => Woken::Notified,
        }
    }
}

impl Core {
    /// Asks which freedoms the new execution has.
    pub(super) fn begin_freedoms(&self, state: &mut State, strategy: &mut dyn Strategy) {
        let admitted = self.config.freedoms;
        self.bursting.set(false);
        if admitted.is_none() {
            // The state of a new execution has none.
            self.prefers_writers.set(false);
            self.clock_matters.set(false);
            self.frees_hints.set(false);
            return;
        }
        let freedoms = strategy.freedoms(admitted).within(admitted);
        (state.granted, state.free) = (freedoms, freedoms);
        // Before all other objects, and also in executions without freedoms: so objects have the same numbers in each.
        state.clock_object = state.register(ObjectKind::Other("clock"));
        state.freedom_objects = std::array::from_fn(|_| state.register(ObjectKind::Other("freedom")));
        state.freedoms_answer = (!freedoms.is_none()).then(|| freedoms.answer());
        self.prefers_writers.set(freedoms.count(Freedom::Writers) > 0);
        self.clock_matters.set(freedoms.count(Freedom::Time) > 0);
        self.frees_hints.set(freedoms.count(Freedom::Hints) > 0);
    }

    /// Whether the execution departs from the ordinary here. This is a decision as long as the execution may still
    /// depart.
    ///
    /// Whether there is a decision depends on earlier decisions, also of other tasks. So each opportunity reads how
    /// many departures are left, and a departure writes it.
    pub(super) fn departs(&self, state: &mut State, freedom: Freedom) -> bool {
        if state.granted.count(freedom) == 0 || state.aborting || self.choosing.get() {
            return false;
        }
        let object = state.object_of(freedom);
        self.touch(state, object, Action::Consult);
        if state.free.count(freedom) == 0 {
            return false;
        }
        let departs = self.ask_whether_to_depart(state, freedom);
        if departs {
            state.free.take(freedom);
            state.used.add(freedom);
            self.touch(state, object, Action::Affect);
        }
        departs
    }

    pub(super) fn ask_whether_to_depart(&self, state: &mut State, freedom: Freedom) -> bool {
        let departs = self.consult(|strategy| strategy.departs(freedom));
        self.note_departure(state, departs);
        departs
    }

    /// The answer to the question whether the running task departs from the ordinary.
    pub(super) fn note_departure(&self, state: &mut State, departs: bool) {
        self.note_freedoms(state);
        if self.config.decisions {
            state.decisions.push(Decision::new(Question::Freedom, 2, u32::from(departs)));
        }
        if self.config.trace {
            state.picks.push(Pick { events: state.trace.len() as u32, answer: u32::from(departs) });
        }
    }

    /// The freedoms of the execution matter from here on: their decision goes to the front of the list.
    pub(super) fn note_freedoms(&self, state: &mut State) {
        if state.freedoms_answer.is_some()
            && let (Some(answer), true) = (state.freedoms_answer.take(), self.config.decisions)
        {
            state.decisions.insert(0, Decision::new(Question::Freedom, Freedoms::ANSWERS, answer));
        }
    }

    /// Whether the wait that the running task is about to begin ends by itself, and how.
    pub(super) fn ends_by_itself(&self, state: &mut State, deadline: Option<Duration>, wakes: Wakes) -> Option<Ended> {
        match deadline {
            Some(deadline) if self.departs(state, Freedom::Time) => Some(Ended::Early(deadline)),
            _ if wakes == Wakes::AlsoUnasked && self.departs(state, Freedom::Wakeups) => Some(Ended::Unasked),
            _ => None,
        }
    }

    /// When a wait that begins now ends; `None` if the time is too far away.
    pub(super) fn deadline(&self, state: &mut State, timeout: Duration) -> Option<Duration> {
        if self.clock_matters.get() {
            self.look_at_clock(state);
        }
        state.deadline(timeout)
    }

    /// The running task goes on at the end of its time, before the others. The clock moves just past the deadline: a loop
    /// that computes what is left of its time and finds nothing left must not wait once more for it, which would take a
    /// second departure.
    pub(super) fn move_clock(&self, state: &mut State, deadline: Duration) {
        const JUST_PAST: Duration = Duration::from_nanos(1);
        state.clock = state.clock.max(deadline + JUST_PAST);
        state.dirty = true;
        self.touch_clock(state, Action::Affect);
    }

    /// The running task looks at the clock, as part of its last step.
    #[cold]
    pub(super) fn look_at_clock(&self, state: &mut State) {
        self.touch_clock(state, Action::Consult);
    }

    fn touch_clock(&self, state: &mut State, action: Action) {
        let clock = state.clock_object;
        self.touch(state, clock, action);
    }

    /// The running task looks at something of the execution, or changes it, as part of its last step.
    pub(super) fn touch(&self, state: &mut State, object: ObjectId, action: Action) {
        self.note_freedoms(state);
        let (task, location) = (state.current, state.operation(state.current).location);
        self.record_part(state, task, object, action, location);
    }

    /// Takes a lock exclusively. For a reader-writer lock, readers wait from the moment at which the writer comes.
    #[cold]
    #[inline(never)]
    pub(super) fn acquire_before_readers(&self, lock: ObjectId, location: Place) {
        self.contend(lock, None, location);
        let operation = Operation { object: lock, action: Action::Lock(Mode::Exclusive), location };
        let mut state = self.make(operation, Gate::Lock(lock, Mode::Exclusive));
        let task = state.current;
        state.take(task, lock, Mode::Exclusive, location);
        state.contend_no_more(task);
    }

    /// Readers wait for a reader-writer lock from here on, until the running task has it exclusively. The task may hold the
    /// lock already, in the mode `holds`.
    #[cold]
    #[inline(never)]
    pub(super) fn contend(&self, lock: ObjectId, holds: Option<Mode>, location: Place) {
        {
            let mut state = self.state.borrow_mut();
            if state.objects[lock.index()].kind != ObjectKind::RwLock || state.aborting {
                return;
            }
            self.note_freedoms(&mut state);
        }
        let mut state = self.make(Operation { object: lock, action: Action::Contend, location }, Gate::Open);
        let task = state.current;
        state.contend_for(task, lock, holds);
    }
}

impl State {
    /// What stands for how often the execution may still make use of a freedom.
    pub(super) fn object_of(&self, freedom: Freedom) -> ObjectId {
        // Nobody counts how often writers go first. With one object more, those of recorded executions would change.
        let has_own = (freedom as usize) < FREEDOM_OBJECTS;
        let freedom = if has_own { freedom } else { Freedom::Writers };
        self.freedom_objects[freedom as usize]
    }

    /// The last park of the running task has ended without the token.
    pub(super) fn leave_token(&mut self) {
        self.dirty = false;
        if self.aborting {
            return;
        }
        if let Some(event) = self.trace.iter_mut().rfind(|event| !event.continues) {
            event.only_read = true;
        }
    }
}
