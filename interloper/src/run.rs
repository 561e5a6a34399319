//! One run of a method under test: the session that its collections report to, with the adversary inside.
//!
//! This is the one-thread implementation of section 4.4: the environment's operations are made in place, before each
//! step of the method and before it returns (Figure 6 calls `ENV` in the same gaps; section 4.5 says why the last one
//! is needed).

use std::cell::{RefCell, RefMut};
use std::panic::Location;

use interloper_collections::session::{Effect, Instrumented, LockId, Mode, Needs, PartId, Session, Step};
use interloper_commutativity::Value;
use interloper_scheduler::decisions::{Question, Source};

use crate::Settings;
use crate::adversary::{Adversary, random_call};
use crate::world::{CallId, CallSet, ResultId, StateId, World, same};

/// What a run is allowed, and how its adversary chooses.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub adversary: Adversary,
    /// Environment operations in one run at most; `None` for the naive adversary, which has no bound.
    pub bound: u32,
    /// The operations of the alphabet that the environment may use.
    pub allowed: CallSet,
    /// Values may change behind a collection's back: read the state back in each gap.
    pub interior: bool,
    /// Steps of one run at most.
    pub step_bound: u32,
    /// Compare the state that is followed with the one read back from the collections, in each gap.
    pub audit: bool,
}

impl Rules {
    /// A run of the method alone.
    pub fn alone(settings: &Settings, interior: bool) -> Rules {
        Rules {
            adversary: Adversary::Unfiltered,
            bound: 0,
            allowed: 0,
            interior,
            step_bound: settings.step_bound,
            audit: settings.audit,
        }
    }
}

/// Who made a step.
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
    /// A visible step outside of the collections.
    Pause(&'static str),
    /// A call began; only where there are several.
    Begin,
    /// A call ended with this result; only where there are several.
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
}

/// A lock that is wanted and cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deadlock {
    /// Where the lock was taken, and by which operation; none for a cell that is being filled.
    pub held: Option<Claim>,
    pub wanted: Claim,
}

/// An operation that has or needs a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The collection; none for a cell.
    pub part: Option<PartId>,
    /// The operation; none for a critical section.
    pub call: Option<CallId>,
    pub location: &'static Location<'static>,
}

/// What an aborted run unwinds with.
pub(crate) struct Aborted;

/// A contradiction between a collection and its model: a defect of this crate, never of the program.
#[derive(Clone, Debug)]
pub(crate) struct Contradiction(pub String);

/// The record of a run.
#[derive(Default)]
pub(crate) struct Log {
    pub events: Vec<Event>,
    /// Results of environment operations that can still change, by index into `events`.
    pub later: Vec<(usize, Box<dyn Fn() -> Value>)>,
    pub abort: Option<Abort>,
    pub contradiction: Option<Contradiction>,
    /// Steps of the method under test, of any kind.
    pub steps: u32,
    /// Kept from run to run, so that none of it is allocated anew.
    scratch: Scratch,
}

impl Log {
    pub fn clear(&mut self) {
        self.events.clear();
        self.later.clear();
        self.abort = None;
        self.contradiction = None;
        self.steps = 0;
        self.scratch.clear();
    }
}

/// What a run remembers while it goes on.
#[derive(Default)]
struct Scratch {
    /// By call of the method under test.
    memories: Vec<Memory>,
    locks: Vec<Held>,
    /// What tasks wait for, in the order in which they began to.
    waits: Vec<Deadlock>,
    /// Which calls have begun; only where there are several.
    begun: Vec<bool>,
}

impl Scratch {
    fn clear(&mut self) {
        self.memories.iter_mut().for_each(Memory::clear);
        self.locks.clear();
        self.waits.clear();
        self.begun.clear();
    }
}

/// What the adversary remembers of one call of the method under test.
#[derive(Default)]
struct Memory {
    /// Operations that do not commute with a step already made, each judged in the state before that step.
    preceding: CallSet,
    /// The same for the last step alone.
    last: CallSet,
    /// The steps already made, to be judged in the current state too.
    calls: Vec<CallId>,
    /// The step made last.
    latest: Option<CallId>,
    /// The operation that was announced last.
    announced: Option<CallId>,
}

impl Memory {
    fn clear(&mut self) {
        self.preceding = 0;
        self.last = 0;
        self.calls.clear();
        self.latest = None;
        self.announced = None;
    }
}

struct Held {
    owner: usize,
    part: PartId,
    needs: Needs,
    claim: Claim,
}

/// What the method under test is about to do.
#[derive(Clone, Copy)]
enum Next {
    Call(CallId),
    Section(PartId),
    /// A step outside of the collections, or the return.
    Other,
}

struct Inner<'r> {
    world: &'r mut World,
    source: &'r mut dyn Source,
    parts: &'r [&'r dyn Instrumented],
    rules: &'r Rules,
    log: &'r mut Log,
    state: StateId,
    /// Environment operations made.
    used: u32,
    current: usize,
}

/// A run under way: the session of its collections.
pub(crate) struct Run<'r> {
    inner: RefCell<Inner<'r>>,
    /// Lets other tasks run; `None` when there is one task.
    tasks: Option<&'r dyn Tasks>,
}

/// Controls nothing: collections made under it are seeded from the run.
pub(crate) struct Idle;

impl Session for Idle {
    fn before(&self, _step: &Step<'_>) {}
    fn after(&self, _part: PartId, _effect: Effect<'_>, _location: &'static Location<'static>) {}
    fn hold(&self, _part: PartId, _needs: Needs, _location: &'static Location<'static>) {}
    fn release(&self, _part: PartId, _needs: Needs) {}
    fn pause(&self, _what: &'static str, _location: &'static Location<'static>) {}
    fn stalled(&self, _what: &'static str, _location: &'static Location<'static>) {}
    fn progressed(&self) {}
    fn mark(&self) {}
}

/// The tasks of a run with several calls, as the session needs them.
pub(crate) trait Tasks {
    /// Which call of the method under test is running.
    fn current(&self) -> usize;
    /// A visible step: another task may run first.
    fn step(&self, location: &'static Location<'static>);
    /// The running task waits until [`Tasks::released`] is called by another. Does not return when there is none that
    /// could: the run is then a deadlock.
    fn wait(&self, location: &'static Location<'static>);
    /// A lock was released or a cell was filled: those that wait look again.
    fn released(&self);
}

impl<'r> Run<'r> {
    pub fn new(
        world: &'r mut World,
        source: &'r mut dyn Source,
        parts: &'r [&'r dyn Instrumented],
        rules: &'r Rules,
        log: &'r mut Log,
        initial: StateId,
        tasks: Option<&'r dyn Tasks>,
    ) -> Run<'r> {
        let inner = Inner { world, source, parts, rules, log, state: initial, used: 0, current: 0 };
        Run { inner: RefCell::new(inner), tasks }
    }

    /// The gap between the last step and the return.
    pub fn before_return(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.gap(Next::Other);
    }

    /// The state that the run has reached.
    pub fn end(self) -> StateId {
        let mut inner = self.inner.into_inner();
        inner.read_back();
        inner.state
    }

    /// The source of decisions, for those that are drawn beside the session's.
    pub fn decide(&self, question: Question, options: u32) -> u32 {
        self.inner.borrow_mut().source.decide(question, options)
    }

    /// A visible step of the running call: other tasks may run first.
    fn switch(&self, location: &'static Location<'static>) {
        if let Some(tasks) = self.tasks {
            tasks.step(location);
            self.resume(tasks);
        }
    }

    /// The running call goes on, after others may have run. A call begins with its first step.
    fn resume(&self, tasks: &dyn Tasks) {
        let mut inner = self.inner.borrow_mut();
        inner.current = tasks.current();
        inner.begin();
    }

    /// The running call waits for others; without any, that is a deadlock.
    fn wait_for_others(&self, deadlock: Deadlock) {
        let Some(tasks) = self.tasks else { self.abort(Abort::Deadlock(deadlock)) };
        self.inner.borrow_mut().log.scratch.waits.push(deadlock);
        tasks.wait(deadlock.wanted.location);
        self.resume(tasks);
        self.inner.borrow_mut().log.scratch.waits.retain(|waiting| *waiting != deadlock);
    }

    /// A call of several has ended.
    pub fn end_call(&self, call: usize, returned: &Value) {
        let mut inner = self.inner.borrow_mut();
        inner.current = call;
        inner.begin();
        let returned = inner.world.result(returned);
        let event = Event { did: Did::End(returned), ..inner.bare_event(call) };
        inner.log.events.push(event);
    }

    /// The engine found all tasks waiting for each other.
    pub fn deadlocked(&self) {
        let mut inner = self.inner.borrow_mut();
        let first = inner.log.scratch.waits.first().copied();
        match first {
            Some(deadlock) => {
                inner.log.abort.get_or_insert(Abort::Deadlock(deadlock));
            }
            None => inner.contradict("the engine found a deadlock where no task waits".to_owned()),
        }
    }

    /// The engine found a run without end.
    pub fn out_of_steps(&self) {
        self.inner.borrow_mut().log.abort.get_or_insert(Abort::StepBound);
    }

    /// The engine failed.
    pub fn failed(&self, message: String) {
        self.inner.borrow_mut().contradict(message);
    }

    fn abort(&self, abort: Abort) -> ! {
        self.inner.borrow_mut().log.abort.get_or_insert(abort);
        std::panic::resume_unwind(Box::new(Aborted))
    }

    /// Returns when no guard of anybody keeps what `needs` says.
    fn wait_for(&self, part: PartId, needs: Needs, wanted: Claim) {
        loop {
            let inner = self.inner.borrow();
            let Some(held) = inner.log.scratch.locks.iter().find(|held| held.part == part && clash(held.needs, needs))
            else {
                return;
            };
            let deadlock = Deadlock { held: Some(held.claim), wanted };
            let own = held.owner == inner.current;
            drop(inner);
            if own {
                self.abort(Abort::Deadlock(deadlock));
            }
            self.wait_for_others(deadlock);
        }
    }
}

impl Session for Run<'_> {
    fn before(&self, step: &Step<'_>) {
        self.switch(step.location);
        let mut inner = self.count_step();
        let call = step.method.map(|method| inner.world.call_at(step.location, step.part, method, step.arguments));
        inner.memory().announced = call;
        if !inner.log.scratch.locks.is_empty() {
            drop(inner);
            self.wait_for(step.part, step.needs, Claim { part: Some(step.part), call, location: step.location });
            inner = self.inner.borrow_mut();
        }
        inner.gap(call.map_or(Next::Section(step.part), Next::Call));
    }

    fn after(&self, part: PartId, effect: Effect<'_>, location: &'static Location<'static>) {
        let mut inner = self.inner.borrow_mut();
        match effect {
            Effect::Call { method, arguments, result } => {
                let announced = inner.memory().announced;
                let call = match announced.filter(|&call| inner.world.is(call, part, method, arguments)) {
                    Some(call) => call,
                    None => inner.world.call(part, method, arguments),
                };
                inner.made(call, result, location);
            }
            Effect::Section { state } => inner.made_section(part, state, location),
        }
    }

    fn hold(&self, part: PartId, needs: Needs, location: &'static Location<'static>) {
        let mut inner = self.inner.borrow_mut();
        let owner = inner.current;
        let call = inner.memory().announced;
        inner.log.scratch.locks.push(Held { owner, part, needs, claim: Claim { part: Some(part), call, location } });
    }

    fn release(&self, part: PartId, needs: Needs) {
        let mut inner = self.inner.borrow_mut();
        let owner = inner.current;
        let held = inner
            .log
            .scratch
            .locks
            .iter()
            .rposition(|held| held.owner == owner && held.part == part && held.needs == needs);
        if let Some(index) = held {
            inner.log.scratch.locks.swap_remove(index);
        }
        drop(inner);
        if let Some(tasks) = self.tasks {
            tasks.released();
        }
    }

    fn pause(&self, what: &'static str, location: &'static Location<'static>) {
        self.switch(location);
        let mut inner = self.count_step();
        inner.gap(Next::Other);
        let (actor, state) = (Actor::Method(inner.current), inner.state);
        let event = Event { actor, did: Did::Pause(what), state, location: Some(location), marked: false };
        inner.log.events.push(event);
    }

    fn stalled(&self, _what: &'static str, location: &'static Location<'static>) {
        self.wait_for_others(Deadlock { held: None, wanted: Claim { part: None, call: None, location } });
    }

    fn progressed(&self) {
        if let Some(tasks) = self.tasks {
            tasks.released();
        }
    }

    fn mark(&self) {
        let mut inner = self.inner.borrow_mut();
        let actor = Actor::Method(inner.current);
        if let Some(event) = inner.log.events.iter_mut().rev().find(|event| event.actor == actor && event.did.is_step())
        {
            event.marked = true;
        }
    }
}

impl<'r> Run<'r> {
    fn count_step(&self) -> RefMut<'_, Inner<'r>> {
        let mut inner = self.inner.borrow_mut();
        inner.log.steps += 1;
        if inner.log.steps > inner.rules.step_bound {
            drop(inner);
            self.abort(Abort::StepBound);
        }
        inner
    }
}

impl Inner<'_> {
    fn begin(&mut self) {
        let call = self.current;
        if self.log.scratch.begun.len() <= call {
            self.log.scratch.begun.resize(call + 1, false);
        }
        if !self.log.scratch.begun[call] {
            self.log.scratch.begun[call] = true;
            let event = Event { did: Did::Begin, ..self.bare_event(call) };
            self.log.events.push(event);
        }
    }

    fn bare_event(&self, call: usize) -> Event {
        Event { actor: Actor::Method(call), did: Did::Begin, state: self.state, location: None, marked: false }
    }

    /// The environment's turn, in front of `next`: as many operations as the source of decisions wants.
    #[inline]
    fn gap(&mut self, next: Next) {
        if self.rules.interior || self.rules.audit {
            self.read_back();
        }
        match self.rules.adversary {
            Adversary::Naive => self.random_operations(),
            _ => {
                while self.used < self.rules.bound && self.source.wants(Question::Environment) {
                    if self.source.settled(Question::Environment) {
                        return;
                    }
                    // Asked also where there is nothing to choose, so that the decisions of a run stand at the same
                    // gaps whatever the candidates are.
                    let candidates = self.candidates(next);
                    let letters = self.world.letters(candidates);
                    let options = letters.len() as u32 + 1;
                    match self.source.decide(Question::Environment, options) {
                        0 => return,
                        answer => {
                            let call = letters[answer as usize - 1];
                            self.inject(call);
                        }
                    }
                }
            }
        }
    }

    /// The operations that may tell the orders apart: section 4.3's general approach, or its nearest neighbours.
    fn candidates(&mut self, next: Next) -> CallSet {
        let state = self.state;
        let coming = match next {
            Next::Call(call) if self.world.unknown(call) => self.world.touching(call),
            Next::Call(call) => self.world.conflicting(state, call),
            Next::Section(part) => self.world.letters_of(part),
            Next::Other => 0,
        };
        self.memory();
        let memory = &self.log.scratch.memories[self.current];
        let past = match self.rules.adversary {
            // A step is judged in the state before it (would the operation, moved in front of it, have told the
            // difference?) and in the current one (would the step, made again, tell the operation's?). The paper leaves
            // open which history is meant; the union admits every operation that either reading admits.
            Adversary::Preceding => {
                let world = &mut *self.world;
                memory.calls.iter().fold(memory.preceding, |set, &call| set | world.conflicting(state, call))
            }
            Adversary::Nearest => match memory.latest {
                Some(call) => memory.last | self.world.conflicting(state, call),
                None => memory.last,
            },
            Adversary::Unfiltered => CallSet::MAX,
            Adversary::Naive => unreachable!("the naive adversary draws its operations at random"),
        };
        let candidates = (coming | past) & self.rules.allowed;
        if self.log.scratch.locks.is_empty() { candidates } else { self.without_blocked(candidates) }
    }

    /// Leaves out the operations that need a lock that a guard keeps: they are not enabled.
    #[cold]
    fn without_blocked(&self, candidates: CallSet) -> CallSet {
        let letters = self.world.alphabet().iter().enumerate();
        let free = letters.filter(|(_, call)| self.free(**call)).fold(0, |set, (letter, _)| set | 1 << letter);
        candidates & free
    }

    fn free(&self, call: CallId) -> bool {
        let call = self.world.call_of(call);
        let needs = self.parts[call.part.0 as usize].needs(&call.invocation);
        !self.log.scratch.locks.iter().any(|held| held.part == call.part && clash(held.needs, needs))
    }

    fn random_operations(&mut self) {
        while self.used < self.rules.bound && self.source.decide(Question::Environment, 2) == 1 {
            let Some((part, invocation)) = random_call(self.source, self.world, self.parts) else { return };
            let call = self.world.call(part, invocation.method, &invocation.arguments);
            if self.log.scratch.locks.is_empty() || self.free(call) {
                self.inject(call);
            }
        }
    }

    /// Makes one environment operation, on the real collection.
    fn inject(&mut self, call: CallId) {
        self.used += 1;
        let (part, applied) = {
            let call = self.world.call_of(call);
            (call.part, self.parts[call.part.0 as usize].apply(&call.invocation))
        };
        let outcome = match applied {
            Ok(outcome) => outcome,
            Err(value) => {
                let text = self.world.call_text(call);
                self.contradict(format!("the environment's {text} has the argument {value}, which is of another type"));
                return;
            }
        };
        let result = if self.rules.interior {
            let known = &self.world.values(self.state)[part.0 as usize];
            let state = self.parts[part.0 as usize].snapshot_beside_guards(known);
            self.state = self.world.with_part(self.state, part, &state);
            self.world.result(&outcome.now)
        } else {
            self.follow(call, &outcome.now)
        };
        if let Some(later) = outcome.later {
            self.log.later.push((self.log.events.len(), later));
        }
        let did = Did::Call(call, result);
        self.log.events.push(Event {
            actor: Actor::Environment,
            did,
            state: self.state,
            location: None,
            marked: false,
        });
    }

    /// Moves to the state that the model gives, and compares the model's result with the real one.
    #[inline]
    fn follow(&mut self, call: CallId, real: &Value) -> ResultId {
        let (state, result) = self.world.step(self.state, call);
        let expected = self.world.value(result);
        if !same(expected, real) {
            let text = self.world.call_text(call);
            let state = self.world.state_text(self.state);
            let expected = expected.clone();
            self.contradict(format!("{text} gave {real} in the state {state}, where its model gives {expected}"));
            return self.world.result(real);
        }
        self.state = state;
        result
    }

    /// The method under test made a step.
    fn made(&mut self, call: CallId, real: &Value, location: &'static Location<'static>) {
        let before = self.state;
        let result = self.follow(call, real);
        if self.source.wants(Question::Environment) {
            let conflicts = match self.rules.adversary {
                Adversary::Naive => 0,
                _ => self.world.conflicting(before, call),
            };
            let memory = self.memory();
            memory.last = conflicts;
            memory.latest = Some(call);
            memory.preceding |= conflicts;
            if !memory.calls.contains(&call) {
                memory.calls.push(call);
            }
        }
        self.record(Did::Call(call, result), location);
    }

    fn made_section(&mut self, part: PartId, state: &Value, location: &'static Location<'static>) {
        self.state = self.world.with_part(self.state, part, state);
        let letters = self.world.letters_of(part);
        let memory = self.memory();
        memory.last = letters;
        memory.preceding |= letters;
        self.record(Did::Section(part), location);
    }

    fn record(&mut self, did: Did, location: &'static Location<'static>) {
        let actor = Actor::Method(self.current);
        let event = Event { actor, did, state: self.state, location: Some(location), marked: false };
        self.log.events.push(event);
    }

    fn memory(&mut self) -> &mut Memory {
        if self.log.scratch.memories.len() <= self.current {
            self.log.scratch.memories.resize_with(self.current + 1, Memory::default);
        }
        &mut self.log.scratch.memories[self.current]
    }

    /// Reads the state of the collections: follows values that changed by themselves, or audits what was followed.
    fn read_back(&mut self) {
        if !(self.rules.interior || self.rules.audit) {
            return;
        }
        let known = self.world.values(self.state);
        let values: Vec<Value> =
            self.parts.iter().zip(known).map(|(part, known)| part.snapshot_beside_guards(known)).collect();
        let real = self.world.state(&values);
        if real != self.state && !self.rules.interior {
            let (followed, real) = (self.world.state_text(self.state), self.world.state_text(real));
            self.contradict(format!("the collections hold {real} where {followed} was expected"));
        }
        self.state = real;
    }

    fn contradict(&mut self, message: String) {
        self.log.contradiction.get_or_insert(Contradiction(message));
    }
}

/// Whether a lock that is held keeps an operation from taking what it needs.
fn clash(held: Needs, needs: Needs) -> bool {
    let (held_lock, held_mode) = match held {
        Needs::Nothing => return false,
        Needs::One(lock, mode) => (Some(lock), mode),
        Needs::All(mode) => (None, mode),
    };
    let (lock, mode): (Option<LockId>, Mode) = match needs {
        Needs::Nothing => return false,
        Needs::One(lock, mode) => (Some(lock), mode),
        Needs::All(mode) => (None, mode),
    };
    let same = held_lock.is_none() || lock.is_none() || held_lock == lock;
    same && (held_mode == Mode::Exclusive || mode == Mode::Exclusive)
}
