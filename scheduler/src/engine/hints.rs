//! A task that spins or yields may go on although nothing has changed: [`Freedom::Hints`].
//!
//! Ordinarily a hint means "wait until something changes". A loop that gives up after some rounds would then never give
//! up as long as others can go on. So a hint may also return at once. What the task does next is a step like any other:
//! other tasks come between the hint and that step, or they do not.
//!
//! A loop that really waits would go round for ever. What the loop looks at cuts it short: once the task has gone on, it
//! is in a *burst*, which lasts as long as the task only looks. An attempt that changes nothing (a compare-exchange that
//! fails, a `fetch_or(0)`) is a look, too. For as many rounds as [`Freedom::Hints`] grants, each look is a step. After
//! these rounds, a look that the burst has made before, at an object that has not changed since, is part of the last
//! step: no other task comes between. A loop that really waits goes round until the burst is over, after [`BURST`] looks
//! and hints. It has then seen and done nothing new in these rounds, and the task waits at this place for the rest of
//! the execution. A loop that gives up does so within the burst. What others do between that moment and the next step of
//! the task may be missing, and the execution says so ([`crate::Execution::withheld`]).

use interloper_std::runtime::{Action, ObjectId, Operation, Place, TaskId};

use super::core::Core;
use super::state::State;
use super::task::Gate;
use crate::execution::Event;
use crate::freedoms::Freedom;
use crate::strategy::Hint;

/// A burst has at most this many looks and hints: a loop that goes on longer is taken to wait.
const BURST: u32 = 2048;

/// An execution that is run to learn whether a task waits lets the task make this many steps without a turn for others.
pub(super) const LONGEST_PROBE: u64 = 2 * BURST as u64;

/// After this many hints in a row, without a step between them, the next hint is a step again.
const IN_A_ROW: u32 = 256;

/// A loop may wait between two looks by giving this many hints, as back-off with doubled pauses does. Only further hints
/// without a look are rounds in vain.
const PAUSE: u32 = 4096;

/// What became of the hints of a task.
#[derive(Default)]
pub(super) struct Hints {
    /// How many hints the task has given since its last other step.
    since_look: u32,
    /// How often it has gone on at once.
    taken: u32,
    /// The task goes on as long as it only looks.
    burst: Option<Burst>,
    /// The looks that were steps of the burst, each with the event that had changed its object last.
    seen: Vec<(ObjectId, Place, Option<usize>)>,
    /// The objects of the last of these looks.
    noted: Vec<ObjectId>,
    /// The places at which the task waits for the rest of the execution.
    patient: Vec<Place>,
    /// How many more hints that directly follow the last one count as the same hint.
    in_a_row: u32,
    /// An attempt of the burst of which it is not known yet whether it changes something.
    attempt: Option<Attempt>,
}

/// A read-modify-write in a burst. It is a look once it has turned out to have changed nothing.
#[derive(Clone, Copy)]
struct Attempt {
    object: ObjectId,
    place: Place,
    /// It is part of the step before it, as one that the burst has made before.
    glued: bool,
    /// The number of steps when it was made.
    steps: u64,
}

struct Burst {
    /// The place of the first hint.
    place: Place,
    /// The number of steps when the burst was last seen: another step of the task ends the burst.
    steps: u64,
    length: u32,
    /// How many hints the burst has had.
    rounds: u32,
    /// A look was part of the step before it.
    glued: bool,
}

impl Hints {
    pub(super) fn restart(&mut self) {
        (self.since_look, self.taken, self.burst, self.in_a_row, self.attempt) = (0, 0, None, 0, None);
        self.patient.clear();
    }

    fn begin(&mut self, place: Place, steps: u64) {
        self.taken += 1;
        self.burst = Some(Burst { place, steps, length: 0, rounds: 0, glued: false });
        self.seen.clear();
        self.noted.clear();
    }

    /// Whether the burst goes on after this many steps of the execution; `None` without a burst.
    fn continues(&mut self, steps: u64) -> Option<Goes> {
        let burst = self.burst.as_mut()?;
        burst.length += 1;
        let glued = burst.glued;
        match (burst.steps == steps, burst.length <= BURST) {
            (true, true) => return Some(Goes::On),
            (true, false) => self.patient.push(burst.place),
            (false, _) => {}
        }
        let waits = burst.steps == steps;
        self.burst = None;
        Some(if glued && !waits { Goes::Away } else { Goes::NoFurther })
    }

    /// The task waits at a hint, which may follow another one directly.
    pub(super) fn waits(&mut self, follows: bool) {
        self.since_look = if follows { self.since_look.saturating_add(1) } else { 0 };
    }

    /// Whether the task has not looked since its last hint, and may still be about to.
    pub(super) fn pauses(&self) -> bool {
        (1..=PAUSE).contains(&self.since_look)
    }

    /// Whether the task has left its loop after looks that were no steps.
    pub(super) fn has_left(&self) -> bool {
        self.burst.as_ref().is_some_and(|burst| burst.glued)
    }

    /// Whether the burst has had all its rounds and has made this look before, at an object that has not changed since.
    fn is_seen(&self, rounds: u32, look: (ObjectId, Place, Option<usize>)) -> bool {
        self.burst.as_ref().is_some_and(|burst| burst.rounds >= rounds) && self.seen.contains(&look)
    }

    /// The burst has made a look that is a step, after so many steps of the execution.
    fn looked(&mut self, (object, place, change): (ObjectId, Place, Option<usize>), steps: u64) {
        self.noted.clear();
        self.noted.push(object);
        let before = self.seen.iter().position(|seen| (seen.0, seen.1) == (object, place));
        let before = before.map(|at| self.seen.swap_remove(at));
        self.seen.push((object, place, change));
        let is_news = before.is_some_and(|seen| seen.2 != change);
        if let Some(burst) = &mut self.burst {
            // A task that sees something new is in its first round again.
            (burst.steps, burst.rounds) = (steps, if is_news { 0 } else { burst.rounds });
            burst.glued &= !is_news;
        }
    }
}

/// What becomes of a burst.
#[derive(PartialEq, Eq)]
enum Goes {
    On,
    /// The burst is over.
    NoFurther,
    /// The task has left its loop after looks that were no steps.
    Away,
}

impl Core {
    /// Whether the running task, which spins or yields here, goes on although nothing has changed. `looks`: the task
    /// gave no hint but looked again and again.
    pub(super) fn goes_on_unchanged(&self, location: Place, looks: bool) -> bool {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        if state.aborting || self.choosing.get() {
            return false;
        }
        if !self.frees_hints.get() {
            state.withheld = true;
            return false;
        }
        state.settle();
        let (task, steps) = (state.current, state.steps);
        let at_hint = state.operation(task).action == Action::Yield;
        let rounds = state.granted.count(Freedom::Hints);
        let hints = &mut state.tasks[task].hints;
        match hints.continues(steps) {
            Some(Goes::On) => {
                hints.burst.iter_mut().for_each(|burst| burst.rounds += 1);
                return true;
            }
            Some(Goes::Away) => state.withheld = true,
            Some(Goes::NoFurther) | None => {}
        }
        // A loop that looks without hints is found to spin at several of its places.
        if hints.patient.contains(&location) || (looks && !hints.patient.is_empty()) {
            return false;
        }
        // A task that has waited need not wait again: scheduling decides when it makes its next step.
        if at_hint && hints.in_a_row > 0 {
            hints.in_a_row -= 1;
            return true;
        }
        match self.ask_about_hint(state, location, looks) {
            Hint::Ask => {}
            Hint::Wait => {
                if state.tasks[task].hints.taken < rounds {
                    self.note_departure(state, false);
                    state.tasks[task].hints.in_a_row = IN_A_ROW;
                }
                return false;
            }
            Hint::GoOn => {
                state.unhurried = steps + LONGEST_PROBE;
                return true;
            }
        }
        let hints = &mut state.tasks[task].hints;
        if hints.taken >= rounds {
            state.withheld = true;
            return false;
        }
        let departs = self.ask_whether_to_depart(state, Freedom::Hints);
        if departs {
            state.used.add(Freedom::Hints);
            state.tasks[task].hints.begin(location, steps);
            self.bursting.set(true);
        } else {
            state.tasks[task].hints.in_a_row = IN_A_ROW;
        }
        departs
    }

    fn ask_about_hint(&self, state: &State, location: Place, looks: bool) -> Hint {
        self.consult(|strategy| strategy.hint(TaskId(state.current as u32), location, looks))
    }

    /// A step of a task that may be in a burst. Returns true when the step was made here.
    #[cold]
    #[inline(never)]
    pub(super) fn step_of_burst(&self, operation: Operation) -> bool {
        let mut borrowed = self.state.borrow_mut();
        let state = &mut *borrowed;
        let (task, steps) = (state.current, state.steps);
        let hints = &mut state.tasks[task].hints;
        if hints.attempt.take().is_some_and(|attempt| attempt.glued) {
            // An attempt that was part of another step has changed something after all.
            state.withheld = true;
            hints.burst = None;
        }
        let attempts = operation.action == Action::ReadWrite;
        if !attempts && !operation.action.only_reads() {
            state.withheld |= hints.has_left();
            hints.burst = None;
        }
        let goes = hints.continues(steps);
        state.withheld |= goes == Some(Goes::Away);
        if goes != Some(Goes::On) {
            return false;
        }
        let (object, place) = (operation.object, operation.location);
        let glued =
            hints.is_seen(state.granted.count(Freedom::Hints), (object, place, last_change(&state.trace, object)));
        let attempt = |steps| attempts.then_some(Attempt { object, place, glued, steps });
        if glued {
            let hints = &mut state.tasks[task].hints;
            hints.attempt = attempt(steps);
            hints.burst.iter_mut().for_each(|burst| burst.glued = true);
            if attempts || !hints.noted.contains(&object) {
                hints.noted.push(object);
                self.record_part(state, task, object, operation.action, place);
            }
            state.dirty |= attempts;
            return true;
        }
        drop(borrowed);
        let mut state = self.make(operation, Gate::Open);
        let (task, steps) = (state.current, state.steps);
        state.tasks[task].hints.attempt = attempt(steps);
        if !attempts {
            state.look_in_burst(object, place);
        }
        true
    }

    /// The attempt of the running task, which may be in a burst, has changed nothing. True if it was part of the step before
    /// it, so that there is nothing else to note.
    #[cold]
    #[inline(never)]
    pub(super) fn attempt_of_burst_only_read(&self, state: &mut State) -> bool {
        let (task, steps) = (state.current, state.steps);
        let made = state.tasks[task].hints.attempt.take().filter(|attempt| attempt.steps == steps);
        let Some(attempt) = made else { return false };
        let event = state.trace.iter_mut().rfind(|event| event.operation.object == attempt.object);
        event.into_iter().for_each(|event| event.only_read = true);
        if attempt.glued {
            state.dirty = false;
        } else {
            state.look_in_burst(attempt.object, attempt.place);
        }
        attempt.glued
    }
}

impl State {
    /// The running task, which may be in a burst, has just looked at an object.
    fn look_in_burst(&mut self, object: ObjectId, place: Place) {
        let look = (object, place, last_change(&self.trace, object));
        self.tasks[self.current].hints.looked(look, self.steps);
    }
}

/// The event that has changed an object last.
fn last_change(trace: &[Event], object: ObjectId) -> Option<usize> {
    let changes =
        |event: &Event| event.operation.object == object && !event.only_read && !event.operation.action.only_reads();
    trace.iter().rposition(changes)
}
