//! Waiting for a change, and for the clock: how tasks that go round in loops, and tasks that sleep, go on.

use std::panic::Location;
use std::time::Duration;

use interloper_std::runtime::{Action, ObjectId, ObjectKind, Operation, Woken};

use super::rounds::{LONGEST, Turn, UNSURE_STEPS, UNWATCHED_STEPS};
use super::state::State;
use super::task::Gate;
use crate::execution::Cause;

/// When a waiting task is to be woken by the clock.
pub(super) struct Timer {
    pub(super) deadline: Duration,
    pub(super) ticket: u64,
    pub(super) task: usize,
    /// At this step the wait is over, although others can go on.
    pub(super) overdue: u64,
}

/// More than a program can wait for: 100,000 years.
const NEVER: Duration = Duration::from_secs(100_000 * 366 * 86_400);

/// A task makes at most this many steps in a row while others could go on; then the engine holds it back for as many
/// steps of each of them. The engine mostly recognises a task that waits in a loop earlier (see `rounds.rs`). Without
/// this bound, an unrecognised one would keep those tasks from running that it waits for, under a strategy that prefers
/// it.
const FAIR_STEPS: u64 = 4096;

/// A wait lasts until no other task can go on, or for this many steps of others. Most programs in which somebody sleeps
/// expect that the others have done meanwhile what they can. A task that does something for ever would let nobody wake.
const PATIENT_STEPS: u64 = 50_000;

/// A longer wait lasts for more steps: each takes less than this.
const LONGEST_STEP: Duration = Duration::from_micros(2);

/// After a task has looked at the clock this often, its looks make the clock pass.
const PATIENT_LOOKS: u32 = 16;

/// After a task that works has looked at a clock that ticks this often, the clock passes by more from look to look.
const WORKING_LOOKS: u32 = 2_000;

/// How often a task has looked at the clock since the clock last woke it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LooksAtClock {
    /// Looks in a row between which the task has only looked at something.
    waiting: u32,
    /// Looks of a clock that ticks between which the task has changed something, or has made no step: it works.
    working: u32,
    /// The task has changed something since the last look.
    changed: bool,
    /// How many steps the execution had at the last look.
    steps: u64,
}

impl LooksAtClock {
    /// The task looks after so many steps. By how many microseconds the clock passes.
    fn look(&mut self, steps: u64, changed: bool, ticks: bool) -> u64 {
        let works = ticks && (changed || self.changed || self.steps == steps);
        (self.changed, self.steps) = (false, steps);
        if works {
            (self.waiting, self.working) = (0, self.working.saturating_add(1));
            if self.working <= PATIENT_LOOKS { 0 } else { self.working.saturating_sub(WORKING_LOOKS).max(1).into() }
        } else {
            self.waiting = self.waiting.saturating_add(1);
            u64::from(self.waiting.saturating_sub(PATIENT_LOOKS)).pow(2)
        }
    }
}

/// Tasks that wait at hints look so often in vain before the clock moves on.
const LOOKS: u32 = SPIN_ROUNDS;

/// So many hints between two looks count as a look.
const HINTS: u32 = 16;

/// The clock has changed something.
pub(super) const NO_TASK: usize = usize::MAX;

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

/// After this many looks at the same object from the same place, with no change between them, a task is taken to wait
/// for a change.
const SPIN_ROUNDS: u32 = 32;

impl State {
    /// The current event, as a cause.
    pub(super) fn present(&self) -> Cause {
        self.trace.len().checked_sub(1).map_or(Cause::Ready, |last| Cause::Event(last as u32))
    }

    /// That no task could go on, as a cause.
    pub(super) fn idle(&self) -> Cause {
        Cause::Idle(self.trace.len() as u32)
    }

    /// Runs between two steps: if the last step changed something, tasks that wait for a change are enabled.
    #[inline(always)]
    pub(super) fn settle(&mut self) {
        if self.dirty {
            self.dirty = false;
            self.tasks[self.current].looks.changed = true;
            if self.changer != self.current {
                (self.changer, self.vain) = (self.current, 0);
            }
            self.changes += 1;
            (self.idle_rounds, self.pauses) = (0, 0);
            self.looks.forget();
            if !self.yielded.is_empty() {
                self.enable_yielded(self.present());
            }
        }
    }

    #[inline(never)]
    fn enable_yielded(&mut self, cause: Cause) {
        // The steps of a task that goes round are a change for tasks that look at what it writes, but they leave
        // everything as it was.
        let changed = cause != self.idle();
        let goes_round = changed && self.tasks[self.current].rounds.goes_round();
        let mut kept = 0;
        for index in 0..self.yielded.len() {
            let task = self.yielded[index];
            if self.tasks[task].rounds.waits() {
                if goes_round || !self.tasks[task].rounds.goes_on(changed) {
                    self.yielded[kept] = task;
                    kept += 1;
                } else {
                    self.let_go_on(task);
                }
            } else if self.tasks[task].gate == Gate::Change {
                self.proceed(task);
                self.tasks[task].cause = cause;
                self.enable(task);
            }
        }
        self.yielded.truncate(kept);
    }

    /// A task that was held back may make its step, if nothing else blocks it.
    fn let_go_on(&mut self, task: usize) {
        self.tasks[task].rests = false;
        let is_waiting = self.tasks[task].position.is_none() && !self.tasks[task].done;
        if is_waiting && self.is_open(task, self.tasks[task].gate) {
            self.enable(task);
        }
    }

    /// When a wait of this length ends that begins now. Even a wait of length zero takes some time: so a loop that
    /// waits for the rest of the time until a deadline gets past the deadline. `None` for a time that no clock shows.
    pub(super) fn deadline(&self, timeout: Duration) -> Option<Duration> {
        const SHORTEST: Duration = Duration::from_nanos(1);
        self.clock.checked_add(timeout.max(SHORTEST)).filter(|deadline| *deadline < NEVER)
    }

    /// The step at which a wait of this length that begins now is over, although others can go on.
    pub(super) fn overdue(&self, wait: Duration) -> u64 {
        let steps = u64::try_from(wait.as_nanos() / LONGEST_STEP.as_nanos()).unwrap_or(u64::MAX);
        self.steps.saturating_add(steps.max(PATIENT_STEPS))
    }

    /// Sets the next step before which the running task may have to be held back, or another one let go on; at most the
    /// bound. The next look at the clock comes apart from that: when it comes says nothing about the execution.
    pub(super) fn set_limit(&mut self, current: usize, bound: u64) {
        let until = self.held_back.iter().map(|(_, until)| *until).min().unwrap_or(u64::MAX);
        let bound = bound.min(self.overdue.max(self.unhurried));
        self.fair = bound.min(self.steps.saturating_add(self.tasks[current].rounds.unwatched_steps())).min(until);
        self.limit = self.fair.min(self.look);
    }

    /// Another task goes on. Returns whether that task is watched.
    #[inline]
    pub(super) fn change_turns(&mut self, chosen: usize, bound: u64) -> bool {
        self.row = self.steps;
        let is_watched = self.tasks[chosen].rounds.is_watched();
        if is_watched {
            self.tasks[chosen].rounds.interrupted();
        }
        self.set_limit(chosen, bound);
        is_watched
    }

    /// Lets other tasks have their turn when a task has gone on for long, was held back for long, or no other task can
    /// go on.
    pub(super) fn be_fair(&mut self, alone: bool) {
        if self.steps >= self.overdue.max(self.unhurried) {
            self.end_overdue_waits();
        }
        let is_idle = self.enabled.is_empty();
        while let Some(index) = self.held_back.iter().position(|(_, until)| is_idle || self.steps >= *until) {
            let (task, _) = self.held_back.remove(index);
            self.let_go_on(task);
        }
        let current = self.current;
        let others_wait = self.enabled.len() > 1 || !self.timers.is_empty();
        if alone || !others_wait || self.tasks[current].position.is_none() || self.steps < self.unhurried {
            return;
        }
        let in_a_row = self.steps - self.row;
        let holds = !self.tasks[current].held.is_empty();
        if in_a_row >= FAIR_STEPS + u64::from(holds) * LONGEST as u64 {
            self.hold_back(current, FAIR_STEPS);
        } else if in_a_row >= UNWATCHED_STEPS || self.tasks[current].rounds.is_watched() {
            let operation = self.operation(current);
            let kind = self.objects[operation.object.index()].kind;
            match self.tasks[current].rounds.next(operation, kind, in_a_row, holds) {
                Turn::Taken => {}
                Turn::Waits => {
                    self.rest(current);
                    self.yielded.push(current);
                }
                Turn::HeldBack => self.hold_back(current, UNSURE_STEPS),
            }
        }
    }

    /// The running task has gone on for this many steps: it is held back for as many steps of each of the others.
    fn hold_back(&mut self, task: usize, steps: u64) {
        if self.enabled.len() > 1 {
            // Longer than the others that also go on and on take until they are held back.
            let until = self.steps + steps * self.enabled.len() as u64;
            self.rest(task);
            self.held_back.push((task, until));
        }
    }

    fn rest(&mut self, task: usize) {
        self.disable(task);
        self.tasks[task].rests = true;
        self.steered = true;
    }

    /// The running task looks at the clock. A task that looks again and again waits for a time: the clock passes, a
    /// little at first and then by more, so that it reaches the time that the task wants within some hundred looks. If the clock `ticks`,
    /// one that works between its looks needs some thousand: it may do something for each of many entries, whose time must not be over
    /// then. Each hint between two looks while nobody else could go on takes a microsecond: spinning takes time.
    pub(super) fn poll_clock(&mut self, ticks: bool) -> Duration {
        let task = self.current;
        if !self.aborting {
            let more = self.tasks[task].looks.look(self.steps, self.dirty, ticks).max(self.idle_rounds.into());
            if more > 0 {
                self.pass(Duration::from_micros(more));
            }
        }
        self.clock
    }

    /// The clock passes because a task looks at it.
    fn pass(&mut self, time: Duration) {
        // A task that polls for longer than this waits for something else.
        const LONG: Duration = Duration::from_secs(86_400);
        self.steered = true;
        self.clock = (self.clock + time).min(NEVER);
        if self.enabled.iter().all(|pending| pending.task.index() == self.current) {
            self.settled = self.steps;
        }
        self.polled = (self.polled + time).min(NEVER);
        if self.polled < LONG {
            (self.idle_rounds, self.pauses) = (0, 0);
            self.looks.forget();
        }
        self.wake_sleepers();
    }

    /// The clock passes for those whose wait has lasted for as many steps as it may.
    fn end_overdue_waits(&mut self) {
        if let Some(first) =
            self.timers.iter().filter(|timer| timer.overdue <= self.steps).map(|timer| timer.deadline).min()
        {
            self.steered = true;
            self.clock = self.clock.max(first);
            self.settled = self.steps;
            self.wake_sleepers();
        }
        self.overdue = self.timers.iter().map(|timer| timer.overdue).min().unwrap_or(u64::MAX);
    }

    /// Wakes the tasks whose time has come.
    fn wake_sleepers(&mut self) {
        let now = self.clock;
        let due = |timer: &&Timer| timer.deadline <= now;
        while let Some(timer) = self.timers.iter().filter(due).min_by_key(|timer| timer.ticket) {
            let task = timer.task;
            self.tasks[task].looks = LooksAtClock::default();
            self.rouse(task, Woken::TimedOut);
        }
    }

    /// No task is enabled: lets those that wait for a change look again, or lets the clock pass. Returns false when
    /// that does not help, or has not helped for `rounds` times: see `looks.rs`.
    pub(super) fn revive(&mut self, rounds: u32) -> bool {
        while self.enabled.is_empty() {
            let first = self.timers.iter().map(|timer| timer.deadline).min();
            if let Some(first) = first.filter(|_| self.waits_for_clock()) {
                self.clock = self.clock.max(first);
                self.settled = self.steps;
                self.wake_sleepers();
                (self.changer, self.vain, self.changes) = (NO_TASK, 0, self.changes + 1);
                (self.idle_rounds, self.pauses) = (0, 0);
                self.looks.forget();
                self.enable_yielded(self.idle());
            } else if !self.yielded.is_empty() && (first.is_some() || self.may_look_again(rounds)) {
                let pauses = self.a_task_pauses();
                self.vain = self.vain.saturating_add(if pauses { 1 } else { HINTS });
                self.idle_rounds += 1;
                self.pauses += u32::from(pauses || self.a_task_looks_at_plain());
                self.enable_yielded(self.idle());
            } else {
                return false;
            }
        }
        true
    }

    /// Whether the tasks that wait at hints wait for the clock, too. Hints and looks take no time in comparison with a sleep. So the tasks
    /// go on until they have looked [`LOOKS`] times since another task changed something: a back-off gives up before that. What
    /// a task has itself changed does not count, or a loop that counts its rounds in an atomic would go on for ever.
    fn waits_for_clock(&self) -> bool {
        self.yielded.is_empty() || (self.vain >= LOOKS * HINTS && !self.a_task_pauses())
    }

    /// Whether a task that waits is between two looks.
    fn a_task_pauses(&self) -> bool {
        self.yielded.iter().any(|&task| self.tasks[task].hints.pauses())
    }

    /// Whether a task that waits looks at plain memory: a loop that goes on with it may do something that no step shows.
    fn a_task_looks_at_plain(&self) -> bool {
        let kind = |task: usize| self.objects[self.operation(task).object.index()].kind;
        self.yielded.iter().any(|&task| kind(task) == ObjectKind::PLAIN)
    }

    /// Whether some task could make another step: at once, once the clock has passed, or by looking again.
    pub(super) fn could_go_on(&self) -> bool {
        !self.enabled.is_empty() || !self.timers.is_empty() || !self.yielded.is_empty()
    }

    /// Whether an attempt belongs to a loop whose attempts have all failed, and which waits for a change.
    #[inline]
    pub(super) fn keeps_failing(&self, task: usize, operation: Operation) -> bool {
        let spin = &self.tasks[task].spin;
        spin.rounds >= SPIN_ROUNDS
            && spin.changes == self.changes
            && spin.anchor == Some((operation.object, asked(operation)))
    }

    /// Records a look that changed nothing: a read, or a failed attempt. Returns whether the look belongs to a loop
    /// that waits for a change.
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
