//! The record of a run: its events and how it ended, and what it remembers while it lasts.

use std::panic::Location;

use interloper_collections::session::{Needs, PartId};
use interloper_commutativity::Value;
use interloper_scheduler::runtime::Exit;
use interloper_scheduler::{Crash, PanicReport, Stuck};

use crate::composed::run::Rules;
use crate::composed::world::{CallId, CallSet, ResultId, StateId};

/// Whose step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    /// A call of the method under test: which one.
    Method(usize),
    /// The environment.
    Environment,
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    /// A call on a collection.
    Call(CallId, ResultId),
    /// A critical section on a collection.
    Section(PartId),
    /// A call of the method of this name on a collection as it was published.
    Turn(&'static str),
    /// A visible step outside the collections.
    Pause(&'static str),
    /// A call began. Recorded only for several calls.
    Begin,
    /// A call ended with this result. Recorded only for several calls.
    End(ResultId),
}

impl Did {
    /// Whether this is a visible step, not the beginning or end of a call.
    pub fn is_step(self) -> bool {
        !matches!(self, Did::Begin | Did::End(_))
    }
}

/// One step of a run, with the state after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub actor: Actor,
    pub did: Did,
    pub state: StateId,
    pub location: Option<&'static Location<'static>>,
    /// The program marked it as its linearization point.
    pub marked: bool,
}

/// Why a run ended before its method returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abort {
    /// A task needs a lock that its own guard keeps, or all tasks wait for each other.
    Deadlock(Deadlock),
    /// The run reached its step bound.
    StepBound,
    /// A call used up its stack.
    StackOverflow,
    /// The system would have killed the process for what a call did.
    Crash(Crash),
    /// A panic of a call could not unwind; it is in [`Log::panic`].
    Panic,
    /// A call asked for the end of the process.
    EndOfProcess(Exit),
    /// The time that the check may take, or the memory, was over.
    CutShort,
    /// An operation of the environment had to wait, so it was not enabled: there is no such run.
    NotEnabled,
    /// Another run of the search stands for this one.
    Needless,
}

impl Abort {
    /// Whether nothing is to be said of the run: it cannot happen, or another one is judged in its place.
    pub fn is_no_run(self) -> bool {
        matches!(self, Abort::NotEnabled | Abort::Needless)
    }

    /// Whether the run alone shows what is wrong, so that no sequential order has to be compared with it.
    pub fn speaks_for_itself(self) -> bool {
        !matches!(self, Abort::StepBound | Abort::CutShort) && !self.is_no_run()
    }

    /// How a counterexample calls it; `None` if it only did not return.
    pub fn verdict(self) -> Option<&'static str> {
        match self {
            Abort::Deadlock(_) => Some("deadlock"),
            Abort::StackOverflow => Some("stack overflow"),
            Abort::Crash(_) => Some("crash"),
            Abort::Panic => Some("panic that cannot unwind"),
            Abort::EndOfProcess(Exit::Abort) => Some("abort of the process"),
            Abort::EndOfProcess(Exit::Code(_)) => Some("exit of the process"),
            Abort::StepBound | Abort::CutShort | Abort::NotEnabled | Abort::Needless => None,
        }
    }
}

/// A lock that is wanted and cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deadlock {
    /// Where the lock was taken, and by which operation; `None` for a cell that is being filled.
    pub held: Option<Claim>,
    pub wanted: Claim,
}

/// An operation that has or needs a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The collection; `None` for a cell.
    pub part: Option<PartId>,
    /// The operation; `None` for a critical section.
    pub call: Option<CallId>,
    /// The method that was called, of a collection as it was published.
    pub name: Option<&'static str>,
    /// Where it was called: which of [`Log::callers`].
    pub caller: Option<usize>,
    pub location: &'static Location<'static>,
}

/// A contradiction between a collection and its model: a defect of this crate, never of the program.
#[derive(Clone, Debug)]
pub(crate) struct Contradiction(pub String);

/// Why a run says nothing about its method: the method does something that cannot be controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stray {
    /// A thread of the method's own used a collection here.
    Thread(&'static Location<'static>),
    /// All calls wait, and one of them here, for something that is not a collection.
    Waits(&'static Location<'static>),
    /// The state of a published collection could not be read without waiting.
    Unreadable,
    /// A call was lost inside an operation of a collection or a model: what it was changing is half changed.
    Interrupted(Abort),
}

/// The record of a run.
#[derive(Default)]
pub(crate) struct Log {
    pub events: Vec<Event>,
    /// For each decision of the run, how many events there were when it was asked for, if the run is to be described.
    pub asked: Vec<usize>,
    /// Results of environment operations that can still change, by index into `events`.
    pub later: Vec<(usize, Box<dyn Fn() -> Value>)>,
    pub abort: Option<Abort>,
    /// The step that did not end, where a call was interrupted for that.
    pub stuck: Option<Box<Stuck>>,
    /// The panic of [`Abort::Panic`].
    pub panic: Option<PanicReport>,
    /// A call left its stack without unwinding: it never releases what it held.
    pub lost: bool,
    pub stray: Option<Stray>,
    /// A collection, by its kind, that is used here, is not part of the subject and was there before the run.
    pub foreign: Option<(&'static str, &'static Location<'static>)>,
    pub contradiction: Option<Contradiction>,
    /// Steps of the method under test, of any kind.
    pub steps: u32,
    /// Where published collections were called, if the run is to be described.
    pub callers: Vec<String>,
    /// By the number of an event that is such a call: which of [`Log::callers`].
    pub called: Vec<(usize, usize)>,
    /// Where a call made a step outside the calls that were heard: nothing ran before it.
    pub outside: Option<&'static Location<'static>>,
    /// Kept from run to run, to avoid allocations.
    pub(super) scratch: Scratch,
}

impl Log {
    /// A decision is about to be asked for.
    #[inline]
    pub fn asks(&mut self, rules: &Rules) {
        if rules.describes {
            self.asked.push(self.events.len());
        }
    }

    pub fn clear(&mut self) {
        self.events.clear();
        self.asked.clear();
        self.later.clear();
        self.abort = None;
        self.panic = None;
        self.lost = false;
        self.stray = None;
        self.foreign = None;
        self.contradiction = None;
        self.steps = 0;
        self.callers.clear();
        self.called.clear();
        self.outside = None;
        self.scratch.clear();
    }

    /// Where the event of this number called a published collection, if that is known.
    pub fn caller(&self, event: usize) -> Option<&str> {
        let (_, caller) = self.called.iter().find(|(called, _)| *called == event)?;
        Some(&self.callers[*caller])
    }

    /// A lock that a guard still keeps: after the run, one that was not dropped.
    pub fn kept(&self) -> Option<Claim> {
        self.scratch.locks.first().map(|held| held.claim)
    }
}

/// What a run remembers while it lasts.
#[derive(Default)]
pub(super) struct Scratch {
    /// By call of the method under test.
    pub memories: Vec<Memory>,
    pub locks: Vec<Held>,
    /// The call that took what a guard into a published collection keeps, if one does.
    pub kept: Option<Claim>,
    /// The first call of a published collection that was unwound.
    pub interrupted: Option<Turn>,
    /// Whether the state of the collections is being read.
    pub reading: bool,
    /// Whether an operation of the environment is under way.
    pub injecting: bool,
    /// What tasks wait for, in the order in which they began to.
    pub waits: Vec<Deadlock>,
    /// Which calls have begun. Used only for several calls.
    pub begun: Vec<bool>,
}

impl Scratch {
    fn clear(&mut self) {
        self.memories.iter_mut().for_each(Memory::clear);
        self.locks.clear();
        self.kept = None;
        self.interrupted = None;
        self.reading = false;
        self.injecting = false;
        self.waits.clear();
        self.begun.clear();
    }
}

/// What the adversary remembers of one call of the method under test.
#[derive(Default)]
pub(super) struct Memory {
    /// Operations that do not commute with an earlier step, each judged in the state before that step.
    pub preceding: CallSet,
    /// The same for the last step alone.
    pub last: CallSet,
    /// The earlier steps, which are judged in the current state, too.
    pub calls: Vec<CallId>,
    /// The last step.
    pub latest: Option<CallId>,
    /// The operation that was announced last.
    pub announced: Option<CallId>,
    /// The call of a published collection that is under way.
    pub turn: Option<Turn>,
    /// Operations on published collections that the method has used since the last gap.
    pub since: CallSet,
}

/// A call of a published collection under way.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// The name of the method.
    pub name: &'static str,
    pub location: &'static Location<'static>,
    /// Where it was called: which of [`Log::callers`].
    pub caller: Option<usize>,
    /// How many steps the tasks had made when it began.
    pub steps: u64,
}

impl Memory {
    fn clear(&mut self) {
        self.preceding = 0;
        self.last = 0;
        self.calls.clear();
        self.latest = None;
        self.announced = None;
        self.turn = None;
        self.since = 0;
    }
}

pub(super) struct Held {
    pub owner: usize,
    pub part: PartId,
    pub needs: Needs,
    pub claim: Claim,
}
