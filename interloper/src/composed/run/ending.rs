//! How a run ends before its calls have returned.

use std::time::Instant;

use interloper_scheduler::runtime::{self, Exit};
use interloper_scheduler::{Lost, PanicReport, Stuck};

use super::gap::{Inner, MANY_CALLS};
use super::{Abort, Deadlock, Rules, Run, Stage, Stray};
use crate::composed::world::StateId;

/// How many steps lie between two looks at whether a run is late or takes too much memory. Some steps are slow: the
/// steps of a run with many different calls, since the adversary considers all of them in each gap, and steps between
/// large states, since each state is kept. Such a run is looked at more often.
const STEPS_BETWEEN_LOOKS: u32 = 256;

/// With this much memory for states, the steps of a run are slow.
const MANY_BYTES: usize = 1 << 20;

/// How many steps destructors may make after the end of a run; a destructor that makes more is abandoned.
const STEPS_AFTER_THE_END: u32 = 1000;

/// After how many steps a run is looked at for the first time.
pub(super) fn first_look(rules: &Rules) -> u32 {
    rules.step_bound.min(STEPS_BETWEEN_LOOKS)
}

impl Inner<'_> {
    /// Says when the run is looked at next.
    fn look_again(&mut self) {
        let calls = self.memory().calls.len() / MANY_CALLS;
        let grown = (self.world.size() - std::mem::replace(&mut self.size, self.world.size())) / MANY_BYTES;
        let steps = STEPS_BETWEEN_LOOKS / u32::try_from(1 + calls + grown).unwrap_or(u32::MAX);
        self.limit = self.rules.step_bound.min(self.log.steps.saturating_add(steps));
    }

    /// The running call has made a call that it had not made before.
    #[cold]
    pub(super) fn note_variety(&mut self) {
        if self.log.abort.is_none() {
            self.look_again();
        }
    }
}

impl Run<'_> {
    /// The run ends here. Unwinds the running call, or abandons it with its stack if it unwinds already.
    pub(super) fn abort(&self, abort: Abort) -> ! {
        {
            let mut inner = self.inner.borrow_mut();
            inner.log.abort.get_or_insert(abort);
            // The next step is looked at, and the environment is silent.
            inner.limit = 0;
            inner.used = u32::MAX;
        }
        match self.stage {
            Stage::Alone(stack, _) if std::thread::panicking() => stack.give_up(),
            Stage::Alone(..) => runtime::unwind(),
            Stage::One(tasks) | Stage::Several(tasks) => loop {
                // To be given up with its stack, if it unwinds already.
                tasks.end();
            },
        }
    }

    /// Called when a run has made as many steps as its limit says: it continues or ends.
    #[cold]
    pub(super) fn look(&self) {
        let mut inner = self.inner.borrow_mut();
        if inner.log.abort.is_some() {
            inner.limit += 1;
            let limit = inner.limit;
            drop(inner);
            return self.step_after_the_end(limit);
        }
        inner.look_again();
        let (steps, rules, full) = (inner.log.steps, inner.rules, inner.world.is_full());
        drop(inner);
        if steps > rules.step_bound {
            self.abort(Abort::StepBound);
        }
        if full {
            self.abort(Abort::CutShort);
        }
        if rules.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.abort(Abort::CutShort);
        }
    }

    /// A step of a call that was ended: a step of a destructor, which has to end soon, or of a call that has caught the
    /// unwinding, which must not continue.
    fn step_after_the_end(&self, made: u32) {
        match self.stage {
            Stage::Alone(stack, _) if made > STEPS_AFTER_THE_END || !std::thread::panicking() => stack.give_up(),
            Stage::One(tasks) | Stage::Several(tasks) if made > STEPS_AFTER_THE_END || !tasks.unwinds() => loop {
                tasks.end();
            },
            _ => {}
        }
    }

    /// A call was led out of its stack, or has left it for good. Returns the state that the run had reached.
    pub fn lost(self, lost: Lost) -> StateId {
        let abort = match lost {
            Lost::StackOverflow => Abort::StackOverflow,
            Lost::Crash(crash) => Abort::Crash(crash),
            Lost::Abort => Abort::EndOfProcess(Exit::Abort),
            Lost::Panic(report) => {
                if let Ok(mut inner) = self.inner.try_borrow_mut() {
                    inner.log.panic.get_or_insert(report);
                }
                Abort::Panic
            }
            // The reason was recorded when the call was abandoned.
            Lost::GivenUp => Abort::StepBound,
            Lost::Stuck(stuck) => return self.stuck(stuck),
        };
        self.left(abort)
    }

    /// The same for a call that made no step for too long: the run has no result.
    pub fn stuck(self, stuck: Box<Stuck>) -> StateId {
        let inner = self.inner.into_inner();
        inner.log.lost = true;
        inner.log.abort.get_or_insert(Abort::CutShort);
        inner.log.stuck.get_or_insert(stuck);
        inner.state
    }

    /// The same for a call that asked for the end of the process.
    pub fn exited(self, exit: Exit) -> StateId {
        self.left(Abort::EndOfProcess(exit))
    }

    fn left(self, abort: Abort) -> StateId {
        let interrupted = self.inner.try_borrow_mut().is_err();
        let inner = self.inner.into_inner();
        let log = inner.log;
        log.lost = true;
        if interrupted {
            log.stray.get_or_insert(Stray::Interrupted(abort));
        }
        log.abort.get_or_insert(abort);
        inner.state
    }

    /// Whether the run has ended early.
    pub fn has_ended(&self) -> bool {
        self.inner.try_borrow_mut().is_ok_and(|inner| inner.log.abort.is_some() || inner.log.stray.is_some())
    }

    /// The engine found all tasks waiting for each other, one of them here.
    pub fn deadlocked(&self, place: Option<&'static std::panic::Location<'static>>) {
        let mut inner = self.inner.borrow_mut();
        if inner.log.scratch.reading {
            inner.log.stray.get_or_insert(Stray::Unreadable);
            return;
        }
        if inner.log.scratch.injecting {
            inner.log.abort.get_or_insert(Abort::NotEnabled);
            return;
        }
        let in_call = inner
            .log
            .scratch
            .interrupted
            .map(|turn| Deadlock { held: inner.log.scratch.kept, wanted: inner.claim(turn) });
        let first = inner.log.scratch.waits.first().copied();
        match (in_call.or(first), place) {
            (Some(deadlock), _) => {
                inner.log.abort.get_or_insert(Abort::Deadlock(deadlock));
            }
            (None, Some(place)) => {
                inner.log.stray.get_or_insert(Stray::Waits(place));
            }
            (None, None) => inner.contradict("the engine found a deadlock where no task waits".to_owned()),
        }
    }

    /// An operation of the environment had to wait, and others ran meanwhile.
    pub fn not_enabled(&self) {
        let mut inner = self.inner.borrow_mut();
        if inner.log.scratch.reading {
            inner.log.stray.get_or_insert(Stray::Unreadable);
        }
        inner.log.abort = Some(Abort::NotEnabled);
    }

    /// Whether the run was cut off, so that its last segment may have more to do.
    pub fn is_cut(&self) -> bool {
        let log = &self.inner.borrow().log;
        log.abort.is_some() || log.lost
    }

    /// Another run of the search stands for this one.
    pub fn needless(&self) {
        self.inner.borrow_mut().log.abort = Some(Abort::Needless);
    }

    /// A task made a step outside the calls of collections that were heard.
    pub fn stepped_outside(&self, place: &'static std::panic::Location<'static>) {
        self.inner.borrow_mut().log.outside.get_or_insert(place);
    }

    /// The engine found a run without end.
    pub fn out_of_steps(&self) {
        self.inner.borrow_mut().log.abort.get_or_insert(Abort::StepBound);
    }

    /// A task that belongs to no call used a collection.
    pub fn strayed(&self, stray: Stray) {
        self.inner.borrow_mut().log.stray.get_or_insert(stray);
    }

    /// The engine failed.
    pub fn failed(&self, message: String) {
        self.inner.borrow_mut().contradict(message);
    }
}

/// A panic that cannot unwind, as a result shows it.
pub(crate) fn doom_text(report: Option<&PanicReport>) -> String {
    match report {
        Some(PanicReport { message, place: Some(place), .. }) => format!("{message} (at {place}; it cannot unwind)"),
        Some(PanicReport { message, .. }) => format!("{message} (it cannot unwind)"),
        None => "a panic that cannot unwind".to_owned(),
    }
}
