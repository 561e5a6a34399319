//! One run of a method under test: the session that its collections report to, with the adversary inside.
//!
//! This is the one-thread implementation of section 4.4: the environment's operations run in place, before each step of
//! the method and before it returns (Figure 6 calls `ENV` in the same gaps; section 4.5 says why the last one is
//! needed).

use std::cell::{RefCell, RefMut};
use std::panic::Location;
use std::rc::Rc;
use std::time::Instant;

use interloper_collections::session::{Effect, Instrumented, Needs, PartId, Session, Step};
use interloper_commutativity::Value;
use interloper_scheduler::OwnStack;
use interloper_scheduler::decisions::{Question, Source};
use interloper_scheduler::runtime::TaskId;

use crate::composed::adversary::Adversary;
use crate::composed::concurrent::Edges;
use crate::composed::method::Settings;
use crate::composed::world::{CallSet, StateId, World};

mod calls;
mod ending;
mod gap;
mod record;

use calls::REMEMBERED;
pub(crate) use calls::{PartSet, Places};
pub(crate) use ending::doom_text;
use gap::{Inner, Next, clash};
use record::Held;
pub(crate) use record::{Abort, Actor, Claim, Deadlock, Did, Event, Log, Stray};

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
    /// Whether the run is to be described: then the places are looked up where published collections are called.
    pub describes: bool,
    /// When the check has to be over.
    pub deadline: Option<Instant>,
    /// Where the subject's own collections are called, if they are as they were published.
    pub places: Option<Rc<Places>>,
}

impl Rules {
    /// A run of the method alone.
    pub fn alone(settings: &Settings, interior: bool, deadline: Option<Instant>) -> Rules {
        Rules {
            adversary: Adversary::Unfiltered,
            bound: 0,
            allowed: 0,
            interior,
            step_bound: settings.step_bound,
            audit: settings.audit,
            describes: false,
            deadline,
            places: None,
        }
    }
}

/// A run under way: the session of its collections.
pub(crate) struct Run<'r> {
    inner: RefCell<Inner<'r>>,
    stage: Stage<'r>,
    /// See [`Rules::places`].
    places: Option<Rc<Places>>,
}

/// Where the calls of a run take place.
#[derive(Clone, Copy)]
pub(crate) enum Stage<'r> {
    /// One call, on a stack of its own, under the name of this task.
    Alone(&'r OwnStack, TaskId),
    /// One call, as a task of the engine: the subject's collections are as they were published.
    One(&'r dyn Tasks),
    /// Several calls as tasks: others may run in between.
    Several(&'r dyn Tasks),
}

impl<'r> Stage<'r> {
    fn tasks(self) -> Option<&'r dyn Tasks> {
        match self {
            Stage::Alone(..) => None,
            Stage::One(tasks) | Stage::Several(tasks) => Some(tasks),
        }
    }
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
    /// The running task waits until another task calls [`Tasks::released`]. Does not return if no task can: the run is
    /// then a deadlock.
    fn wait(&self, location: &'static Location<'static>);
    /// A lock was released or a cell was filled: waiting tasks look again.
    fn released(&self);
    /// The run ends here: all tasks unwind. Returns only to a task that unwinds already.
    fn end(&self);
    /// Whether the running task unwinds.
    fn unwinds(&self) -> bool;
    /// The running task enters a region in which no other task runs, unless it waits. Regions nest: how many there were.
    fn enter(&self) -> u32;
    /// The running task leaves the region that it entered last: how many remain.
    fn leave(&self) -> u32;
    /// How many steps of any kind the tasks have made.
    fn steps(&self) -> u64;
    /// The environment acts in the running task, or does so no more.
    fn inject(&self, begins: bool);
    /// Whether the run ends at the next call: an operation of the environment has had to wait, so that other tasks ran, or another
    /// run stands for this one.
    fn is_given_up(&self) -> bool;
}

impl<'r> Run<'r> {
    pub fn new(
        world: &'r mut World,
        source: &'r mut dyn Source,
        parts: &'r [&'r dyn Instrumented],
        rules: &'r Rules,
        log: &'r mut Log,
        initial: StateId,
        stage: Stage<'r>,
    ) -> Run<'r> {
        let limit = ending::first_look(rules);
        let size = world.size();
        let (is_one, state) = (matches!(stage, Stage::One(_)), initial);
        let inner = Inner {
            world,
            source,
            parts,
            rules,
            log,
            state,
            used: 0,
            current: 0,
            limit,
            size,
            is_one,
            is_between: false,
            objects: [None; REMEMBERED],
            never_waits: false,
            read_at: None,
            is_read: false,
        };
        Run { inner: RefCell::new(inner), stage, places: rules.places.clone() }
    }

    /// The collections, where they are made in the run: as soon as they are there, and until they are gone.
    pub fn set_parts(&self, parts: &'r [&'r dyn Instrumented]) {
        let mut inner = self.inner.borrow_mut();
        inner.parts = parts;
        inner.never_waits = parts.iter().all(|part| part.never_waits());
        // Other collections may be at the addresses of those before them.
        inner.objects = [None; REMEMBERED];
    }

    /// Reads the state that the calls left, while the collections are there.
    pub fn finish(&self) {
        let _region = self.region();
        self.inner.borrow_mut().read_back();
    }

    /// The gap between the last step and the return.
    pub fn before_return(&self) {
        self.gap(Next::Return);
    }

    /// The gap before `next`. What the environment does to a collection as it was published takes steps of the engine, and
    /// no other task runs between them.
    fn gap(&self, next: Next) {
        let (_region, _injection) = (self.region(), self.injection());
        self.inner.borrow_mut().gap(next);
    }

    /// The state that the run has reached.
    pub fn end(self) -> StateId {
        let mut inner = self.inner.into_inner();
        inner.read_back();
        inner.state
    }

    /// Draws a decision besides those of the session; `None` while a task acts for the driver or reads the state.
    pub fn decide(&self, question: Question, options: u32) -> Option<u32> {
        let inner = &mut *self.inner.try_borrow_mut().ok()?;
        inner.log.asks(inner.rules);
        Some(inner.source.decide(question, options))
    }

    /// As [`Run::decide`], where other runs stand for those with some of the answers.
    pub fn decide_among(&self, question: Question, options: u32, needless: u64) -> Option<u32> {
        let inner = &mut *self.inner.borrow_mut();
        inner.log.asks(inner.rules);
        inner.source.decide_among(question, options, needless)
    }

    /// Whether the driver acts, and no task of the program.
    pub fn is_busy(&self) -> bool {
        self.inner.try_borrow_mut().is_err()
    }

    /// How many events there are, and whether calls begin or end after the first `from` of them.
    pub fn edges(&self, from: usize) -> (usize, Edges) {
        let events = &self.inner.borrow().log.events;
        let any = |is: fn(&Did) -> bool| events[from..].iter().any(|event| is(&event.did));
        let begins = any(|did| matches!(did, Did::Begin));
        (events.len(), Edges { begins, ends: any(|did| matches!(did, Did::End(_))) })
    }

    /// A visible step of the running call: other tasks may run first.
    #[inline]
    fn switch(&self, location: &'static Location<'static>) {
        match self.stage {
            Stage::Alone(stack, name) => {
                if stack.is_deep() {
                    stack.overflow();
                }
                stack.step(name, location);
            }
            Stage::One(tasks) | Stage::Several(tasks) => {
                tasks.step(location);
                self.resume(tasks);
            }
        }
    }

    /// The running call continues after other calls may have run. A call begins with its first step.
    fn resume(&self, tasks: &dyn Tasks) {
        let mut inner = self.inner.borrow_mut();
        inner.current = tasks.current();
        if let Stage::Several(_) = self.stage {
            inner.begin();
        }
    }

    /// The running call waits for others; without any, that is a deadlock.
    fn wait_for_others(&self, deadlock: Deadlock) {
        let Some(tasks) = self.stage.tasks() else { self.abort(Abort::Deadlock(deadlock)) };
        self.inner.borrow_mut().log.scratch.waits.push(deadlock);
        tasks.wait(deadlock.wanted.location);
        self.resume(tasks);
        self.inner.borrow_mut().log.scratch.waits.retain(|waiting| *waiting != deadlock);
    }

    /// One of several calls has ended.
    pub fn end_call(&self, call: usize, returned: &Value) {
        if let Some(tasks) = self.stage.tasks()
            && tasks.is_given_up()
        {
            tasks.end();
        }
        let mut inner = self.inner.borrow_mut();
        inner.current = call;
        inner.begin();
        let returned = inner.world.result(returned);
        let event = Event { did: Did::End(returned), ..inner.bare_event(call) };
        inner.log.events.push(event);
    }

    /// Returns when no guard holds a lock that `needs` names.
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
    fn is_run(&self) -> bool {
        true
    }

    fn foreign(&self, kind: &'static str, location: &'static Location<'static>) {
        self.inner.borrow_mut().log.foreign.get_or_insert((kind, location));
    }

    fn before(&self, step: &Step<'_>) {
        self.switch(step.location);
        let mut inner = self.count_step();
        let call = step.method.map(|method| inner.world.call_at(step.location, step.part, method, step.arguments));
        inner.memory().announced = call;
        if !inner.log.scratch.locks.is_empty() {
            drop(inner);
            self.wait_for(
                step.part,
                step.needs,
                Claim { part: Some(step.part), call, name: None, caller: None, location: step.location },
            );
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
        inner.log.scratch.locks.push(Held {
            owner,
            part,
            needs,
            claim: Claim { part: Some(part), call, name: None, caller: None, location },
        });
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
        self.progressed();
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
        self.wait_for_others(Deadlock {
            held: None,
            wanted: Claim { part: None, call: None, name: None, caller: None, location },
        });
    }

    fn progressed(&self) {
        if let Some(tasks) = self.stage.tasks() {
            tasks.released();
        }
    }

    fn call_begins(&self, name: Option<&'static str>, location: &'static Location<'static>) {
        self.enter_call(name, location);
    }

    fn object_call_begins(&self, name: &'static str, object: usize, location: &'static Location<'static>) {
        self.enter_object_call(name, object, location);
    }

    fn call_ends(&self) {
        self.leave_call();
    }

    fn released_object(&self, object: usize) {
        self.release_object(object);
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
    #[inline]
    fn count_step(&self) -> RefMut<'_, Inner<'r>> {
        let mut inner = self.inner.borrow_mut();
        inner.log.steps += 1;
        if inner.log.steps > inner.limit {
            drop(inner);
            self.look();
            inner = self.inner.borrow_mut();
        }
        inner
    }
}
