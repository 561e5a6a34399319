//! The gaps of a run: what the environment may do there, and following what was done.

use std::panic::Location;

use interloper_collections::session::{Instrumented, LockId, Mode, Needs, PartId, without_session};
use interloper_commutativity::Value;
use interloper_scheduler::decisions::{Question, Source};

use super::Rules;
use super::calls::{REMEMBERED, Uses};
use super::record::{Actor, Contradiction, Did, Event, Log, Memory};
use crate::composed::adversary::{Adversary, random_call};
use crate::composed::world::{CallId, CallSet, ResultId, StateId, World, same};

/// So many different calls make the steps of a run slow.
pub(super) const MANY_CALLS: usize = 64;

/// What the method under test is about to do.
#[derive(Clone, Copy)]
pub(super) enum Next {
    Call(CallId),
    Section(PartId),
    /// A call of a collection as it was published: it is not known which.
    Turn,
    /// A step outside the collections.
    Other,
    Return,
}

/// The state of a run, and the environment inside it.
pub(super) struct Inner<'r> {
    pub world: &'r mut World,
    pub source: &'r mut dyn Source,
    pub parts: &'r [&'r dyn Instrumented],
    pub rules: &'r Rules,
    pub log: &'r mut Log,
    pub state: StateId,
    /// How many operations the environment has made.
    pub used: u32,
    pub current: usize,
    /// The step at which the run is looked at next, since it may have to end.
    pub limit: u32,
    /// What the world took when the run was looked at.
    pub size: usize,
    /// Whether the run is one call on collections as they were published.
    pub is_one: bool,
    /// Whether the environment has acted between two calls of the method.
    pub is_between: bool,
    /// Locks and atomics that were called, by their addresses, with what that uses if they are parts of the subject.
    pub objects: [Option<(usize, Option<Uses>)>; REMEMBERED],
    /// Whether no call of any collection ever waits.
    pub never_waits: bool,
    /// How many steps there were when the state was last read back after a call.
    pub read_at: Option<u64>,
    /// Whether the state was read back and nothing has changed since: the next gap need not read it.
    pub is_read: bool,
}

impl Inner<'_> {
    pub fn begin(&mut self) {
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

    pub fn bare_event(&self, call: usize) -> Event {
        Event { actor: Actor::Method(call), did: Did::Begin, state: self.state, location: None, marked: false }
    }

    /// The environment's turn, in front of `next`: as many operations as the source of decisions wants.
    #[inline]
    pub fn gap(&mut self, next: Next) {
        let is_read = std::mem::take(&mut self.is_read) && !self.rules.audit;
        if !is_read && (self.rules.interior || self.rules.audit) {
            self.read_back();
        }
        let mut since = std::mem::take(&mut self.memory().since);
        // A call that was quiet alone may have done something in this run.
        let has_begun = since != 0 || self.memory().preceding != 0;
        match self.rules.adversary {
            Adversary::Naive => self.random_operations(),
            _ => {
                while self.used < self.rules.bound && self.source.wants(Question::Environment) {
                    if self.source.settled(Question::Environment) {
                        return;
                    }
                    // Asked even if there is nothing to choose, so that the decisions of a run belong to the same gaps
                    // for any candidates.
                    let candidates = self.candidates(next, has_begun, since);
                    let letters = self.world.letters(candidates);
                    let options = letters.len() as u32 + 1;
                    self.log.asks(self.rules);
                    match self.source.decide(Question::Environment, options) {
                        0 => return,
                        answer => {
                            let call = letters[answer as usize - 1];
                            self.inject(call);
                            since = CallSet::MAX;
                            self.is_between |= has_begun;
                        }
                    }
                }
            }
        }
    }

    /// The operations that may tell the orders apart: section 4.3's general approach, or its nearest neighbours. `has_begun` says
    /// whether the method has called a collection. `since` are the operations on what it has used since the gap before, or
    /// all after an operation in this gap.
    fn candidates(&mut self, next: Next, has_begun: bool, since: CallSet) -> CallSet {
        let state = self.state;
        let coming = match next {
            Next::Call(call) if self.world.unknown(call) => self.world.touching(call),
            Next::Call(call) => self.world.conflicting(state, call),
            Next::Section(part) => self.world.letters_of(part),
            Next::Turn => self.world.all_letters(),
            Next::Other | Next::Return => 0,
        };
        self.memory();
        let memory = &self.log.scratch.memories[self.current];
        let past = match self.rules.adversary {
            // A step is judged in the state before it (would the operation before the step change a result?) and in the
            // current state (would the step, repeated after the operation, see a difference?). The paper leaves open
            // which history is meant; the union admits every operation that either reading admits.
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
        let useful = if self.is_one && self.rules.adversary != Adversary::Unfiltered {
            self.first_in_its_class(next, has_begun, since)
        } else {
            CallSet::MAX
        };
        let candidates = (coming | past) & useful & self.rules.allowed;
        let all_free = self.log.scratch.locks.is_empty() && self.log.scratch.kept.is_none();
        if all_free { candidates } else { self.without_blocked(candidates) }
    }

    /// The operations that make a run which no other run of the search stands for.
    ///
    /// An operation on a collection that the method's last call did not use gives the same results before that call. The run with
    /// the operation there has the same sequential orders, since the order of the environment's operations is the same and
    /// all of them are in the interval of the call. So the first operation of a gap uses what the call before the gap used.
    /// Without an operation between two calls of the method a run is sequential. So the last operation is not before the first
    /// call, and none is before the return if none is in between.
    fn first_in_its_class(&self, next: Next, has_begun: bool, since: CallSet) -> CallSet {
        match next {
            _ if !has_begun && self.used + 1 == self.rules.bound => 0,
            _ if !has_begun => CallSet::MAX,
            Next::Return if !self.is_between => 0,
            _ => since,
        }
    }

    /// Leaves out the operations that need a lock that a guard keeps: they are not enabled.
    #[cold]
    fn without_blocked(&self, candidates: CallSet) -> CallSet {
        let letters = self.world.alphabet().iter().enumerate();
        let free = letters.filter(|(_, call)| self.free(**call)).fold(0, |set, (letter, _)| set | 1 << letter);
        candidates & free
    }

    pub(super) fn free(&self, call: CallId) -> bool {
        let call = self.world.call_of(call);
        let part = self.parts[call.part.0 as usize];
        if part.never_waits() {
            return true;
        }
        if part.as_published().is_some() {
            return self.unheard(|| part.is_free(&call.invocation));
        }
        let needs = part.needs(&call.invocation);
        !self.log.scratch.locks.iter().any(|held| held.part == call.part && clash(held.needs, needs))
    }

    fn random_operations(&mut self) {
        while self.used < self.rules.bound && self.source.decide(Question::Environment, 2) == 1 {
            let Some((part, invocation)) = random_call(self.source, self.world, self.parts) else { return };
            let call = self.world.call(part, invocation.method, &invocation.arguments);
            let all_free = self.log.scratch.locks.is_empty() && self.log.scratch.kept.is_none();
            if all_free || self.free(call) {
                self.inject(call);
            }
        }
    }

    /// Makes one environment operation, on the real collection.
    fn inject(&mut self, call: CallId) {
        self.used += 1;
        let (part, applied) = {
            let call = self.world.call_of(call);
            let part = self.parts[call.part.0 as usize];
            self.log.scratch.injecting = true;
            (call.part, self.unheard(|| part.apply(&call.invocation)))
        };
        self.log.scratch.injecting = false;
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
            self.log.scratch.reading = true;
            let state = self.unheard(|| self.parts[part.0 as usize].snapshot_beside_guards(known));
            self.log.scratch.reading = false;
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

    /// Runs `body`, whose calls of published collections are not those of the method under test.
    #[inline]
    fn unheard<R>(&self, body: impl FnOnce() -> R) -> R {
        if self.rules.places.is_some() { without_session(body) } else { body() }
    }

    /// Moves to the next state of the model, and compares the model's result with the real one.
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
    pub fn made(&mut self, call: CallId, real: &Value, location: &'static Location<'static>) {
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
                if memory.calls.len().is_multiple_of(MANY_CALLS) {
                    self.note_variety();
                }
            }
        }
        self.record(Did::Call(call, result), location);
    }

    pub fn made_section(&mut self, part: PartId, state: &Value, location: &'static Location<'static>) {
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

    pub fn memory(&mut self) -> &mut Memory {
        if self.log.scratch.memories.len() <= self.current {
            self.log.scratch.memories.resize_with(self.current + 1, Memory::default);
        }
        &mut self.log.scratch.memories[self.current]
    }

    /// Reads the state of the collections: follows values that changed by themselves, or audits what was followed.
    pub fn read_back(&mut self) {
        // A run that ended early has no collections to read any more.
        if !(self.rules.interior || self.rules.audit) || self.parts.is_empty() {
            return;
        }
        self.log.scratch.reading = true;
        let changed = self.unheard(|| changed(self.parts, self.world.values(self.state)));
        self.log.scratch.reading = false;
        let Some(values) = changed else { return };
        let real = self.world.state(&values);
        if real != self.state && !self.rules.interior {
            let (followed, real) = (self.world.state_text(self.state), self.world.state_text(real));
            self.contradict(format!("the collections hold {real} where {followed} was expected"));
        }
        self.state = real;
    }

    pub fn contradict(&mut self, message: String) {
        self.log.contradiction.get_or_insert(Contradiction(message));
    }
}

/// What the collections hold, if that is not what is known. Mostly it is.
fn changed(parts: &[&dyn Instrumented], known: &[Value]) -> Option<Vec<Value>> {
    let mut values: Option<Vec<Value>> = None;
    for (index, (part, before)) in parts.iter().zip(known).enumerate() {
        let now = part.changed_from(before);
        match (&mut values, now) {
            (Some(values), now) => values.push(now.unwrap_or_else(|| before.clone())),
            (None, None) => {}
            (None, Some(now)) => {
                let mut changed = Vec::with_capacity(parts.len());
                changed.extend_from_slice(&known[..index]);
                changed.push(now);
                values = Some(changed);
            }
        }
    }
    values
}

/// Whether a lock that is held keeps an operation from taking what it needs.
pub(super) fn clash(held: Needs, needs: Needs) -> bool {
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
