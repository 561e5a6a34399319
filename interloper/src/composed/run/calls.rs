//! Calls of collections as they were published: each is one turn.
//!
//! A wrapper announces its operation with its arguments. A published collection does not know of the run: marks in its crate
//! say where a call of one of its methods begins and ends (`interloper_std::runtime::calls`), and nothing of its arguments
//! or result. So the environment may act before such a call with any of its operations, unless another run stands for that one,
//! and what the call did is read from the collections afterwards.
//!
//! Many methods only look at what a guard keeps (`Ref::value`, `deref`): they make no step that others could see. A place
//! whose calls made no step when the method ran alone, before the search, is quiet: no gap is there. A place that is met
//! for the first time in the search is not.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::Location;
use std::ptr;

use interloper_collections::session::PartId;

use super::gap::{Inner, Next};
use super::record::{Claim, Did, Event, Turn};
use super::{Actor, Run, Stage, Tasks};
use crate::blocks::backtraces::caller_of_line;
use crate::blocks::below_workspace;
use crate::composed::world::CallSet;
use crate::locate::of_no_machine;

/// Of so many locks and atomics a run remembers whether they are parts of the subject: a power of two.
pub(super) const REMEMBERED: usize = 16;

/// What a call uses: parts of the subject, and the operations of the environment on them.
pub(super) type Uses = (PartSet, CallSet);

/// A place where a method of this name is called.
type Place = (&'static str, &'static Location<'static>);

/// The places where a method under test calls collections as they were published.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Whether a call there has made a step. A method calls at few places, and these are asked for at each call.
    known: RefCell<Vec<(Place, bool)>>,
    settled: Cell<bool>,
    /// The collections that a single call has used, as far as is heard.
    used: Cell<PartSet>,
    /// Those of them that were used before the places were settled.
    used_alone: Cell<PartSet>,
    /// The names of the methods that were called, before the places were settled and after.
    called: RefCell<Vec<&'static str>>,
}

/// A set of collections: a bit for each of the first 64.
pub(crate) type PartSet = u64;

/// Whether two places are the same. Mostly they are the same constant, too.
fn is_same(one: Place, other: Place) -> bool {
    (ptr::eq(one.1, other.1) || one.1 == other.1) && (ptr::eq(one.0, other.0) || one.0 == other.0)
}

impl Places {
    /// From now on a place is quiet or not, whatever calls do there.
    pub fn settle(&self) {
        self.settled.set(true);
        self.used_alone.set(self.used.get());
    }

    /// The collections that the method has used when it ran alone, before the search.
    pub fn used_alone(&self) -> PartSet {
        self.used_alone.get()
    }

    /// Whether some call has used a collection that is not in this set.
    pub fn any_used_outside(&self, set: PartSet) -> bool {
        self.used.get() & !set != 0
    }

    /// The names of the methods that were called in any execution, or when the method ran alone.
    pub fn called(&self) -> BTreeSet<&'static str> {
        self.called.borrow().iter().copied().collect()
    }

    /// A method of this name is called. A method under test calls few of them.
    fn meet(&self, name: &'static str) {
        let is_known = self.called.borrow().iter().any(|known| ptr::eq(*known, name) || *known == name);
        if !is_known {
            self.called.borrow_mut().push(name);
        }
    }

    /// Whether any call was heard.
    pub fn any(&self) -> bool {
        !self.known.borrow().is_empty()
    }

    /// Whether a place is quiet.
    pub fn any_quiet(&self) -> bool {
        self.settled.get() && self.known.borrow().iter().any(|(_, stepped)| !stepped)
    }

    fn is_quiet(&self, place: Place) -> bool {
        self.settled.get() && self.known.borrow().iter().any(|(known, stepped)| is_same(*known, place) && !stepped)
    }

    fn note(&self, place: Place, stepped: bool) {
        if self.settled.get() {
            return;
        }
        let mut known = self.known.borrow_mut();
        match known.iter_mut().find(|(known, _)| is_same(*known, place)) {
            Some((_, known)) => *known |= stepped,
            None => known.push((place, stepped)),
        }
    }
}

/// A region in which no other task runs, until it is dropped.
pub(super) struct Region<'r>(Option<&'r dyn Tasks>);

impl Drop for Region<'_> {
    fn drop(&mut self) {
        if let Some(tasks) = self.0 {
            tasks.leave();
        }
    }
}

/// The environment's turn, until it is dropped.
pub(super) struct Injection<'r>(Option<&'r dyn Tasks>);

impl Drop for Injection<'_> {
    fn drop(&mut self) {
        if let Some(tasks) = self.0 {
            tasks.inject(false);
        }
    }
}

/// Where in the program the marked method was called in which this runs. Debug information says so.
fn caller_of(mark: &Location<'_>) -> Option<String> {
    let place = caller_of_line(&Backtrace::force_capture().to_string(), mark.file(), mark.line())?;
    let place = below_workspace(place.strip_prefix("./").unwrap_or(&place).to_owned());
    Some(of_no_machine(&place))
}

impl<'r> Run<'r> {
    /// Begins a region, where the subject's collections are as they were published.
    pub(super) fn region(&self) -> Region<'r> {
        let tasks = self.stage.tasks().filter(|_| self.places.is_some());
        if let Some(tasks) = tasks {
            tasks.enter();
        }
        Region(tasks)
    }

    /// Begins the environment's turn, where the subject's collections are as they were published.
    pub(super) fn injection(&self) -> Injection<'r> {
        let tasks = self.stage.tasks().filter(|_| self.places.is_some());
        if let Some(tasks) = tasks {
            if tasks.is_given_up() {
                tasks.end();
            }
            tasks.inject(true);
        }
        Injection(tasks)
    }

    /// A call begins, or a destructor without a name.
    pub(super) fn enter_call(&self, name: Option<&'static str>, location: &'static Location<'static>) {
        self.enter_at(name, None, location, || caller_of(location));
    }

    /// A call of a lock or an atomic begins. Those that are no part of the subject make no turn.
    pub(super) fn enter_object_call(&self, name: &'static str, object: usize, location: &'static Location<'static>) {
        let name = Some(name).filter(|_| self.is_part(object));
        self.enter_at(name, Some(object), location, || Some(of_no_machine(&location.to_string())));
    }

    /// A guard of a lock is gone: what was done under the lock is there for others to see.
    pub(super) fn release_object(&self, object: usize) {
        let (true, Some(tasks)) = (self.places.is_some() && self.is_part(object), self.stage.tasks()) else { return };
        if tasks.is_given_up() || tasks.unwinds() {
            return;
        }
        let depth = tasks.enter();
        if depth == 0 {
            let mut inner = self.inner.borrow_mut();
            inner.current = tasks.current();
            inner.uses(Some(object));
            inner.made_release();
        }
        tasks.leave();
    }

    /// Whether a lock or an atomic of the subject is at this address.
    fn is_part(&self, object: usize) -> bool {
        match self.inner.try_borrow_mut() {
            Ok(mut inner) => inner.uses_of_object(object).is_some(),
            // The driver itself looks at the collections.
            Err(_) => false,
        }
    }

    fn enter_at(
        &self,
        name: Option<&'static str>,
        object: Option<usize>,
        location: &'static Location<'static>,
        caller: impl FnOnce() -> Option<String>,
    ) {
        let (Some(places), Some(tasks)) = (&self.places, self.stage.tasks()) else { return };
        let depth = tasks.enter();
        if let (Some(name), 0) = (name, depth) {
            places.meet(name);
        }
        let is_turn = |name: &&'static str| depth == 0 && !places.is_quiet((name, location)) && !tasks.unwinds();
        let Some(name) = name.filter(is_turn) else {
            if let Ok(mut inner) = self.inner.try_borrow_mut() {
                inner.current = tasks.current();
                inner.uses(object);
            }
            return;
        };
        // Nobody else changes what the collections hold while a single call goes on, and atomics change with steps only.
        let is_read = {
            let inner = self.inner.borrow();
            matches!(self.stage, Stage::One(_)) && inner.read_at == Some(tasks.steps()) && inner.never_waits
        };
        // The step before a call is one that others may run before.
        tasks.leave();
        self.switch(location);
        self.count_step().is_read = is_read;
        self.gap(Next::Turn);
        tasks.enter();
        let mut inner = self.inner.borrow_mut();
        inner.current = tasks.current();
        inner.uses(object);
        let place = inner.rules.describes.then(caller).flatten();
        let caller = place.map(|place| {
            inner.log.callers.push(place);
            inner.log.callers.len() - 1
        });
        inner.memory().turn = Some(Turn { name, location, caller, steps: tasks.steps() });
    }

    /// The call that began last has ended.
    pub(super) fn leave_call(&self) {
        let (Some(places), Some(tasks)) = (&self.places, self.stage.tasks()) else { return };
        if tasks.leave() > 0 || tasks.is_given_up() {
            return;
        }
        let _region = self.region();
        let mut inner = self.inner.borrow_mut();
        inner.current = tasks.current();
        let Some(turn) = inner.memory().turn.take() else { return };
        if tasks.unwinds() {
            // It did not do what it is named after. What it did shows in the states that follow.
            inner.log.scratch.interrupted.get_or_insert(turn);
        } else {
            places.note((turn.name, turn.location), tasks.steps() > turn.steps);
            inner.made_turn(turn);
            inner.read_at = Some(tasks.steps());
        }
    }
}

impl Inner<'_> {
    /// What a call asks for, as a deadlock names it.
    pub(super) fn claim(&self, turn: Turn) -> Claim {
        let part = (self.world.parts().len() == 1).then_some(PartId(0));
        Claim { part, call: None, name: Some(turn.name), caller: turn.caller, location: turn.location }
    }

    /// The running call uses the lock or the atomic of this address, or any collection: operations on it in the next gap would
    /// not commute with what comes before them.
    fn uses(&mut self, object: Option<usize>) {
        if !self.is_one {
            return;
        }
        let (parts, letters) = match object {
            None => (PartSet::MAX, self.world.all_letters()),
            Some(object) => self.uses_of_object(object).unwrap_or_default(),
        };
        self.memory().since |= letters;
        if let Some(places) = &self.rules.places {
            places.used.set(places.used.get() | parts);
        }
    }

    /// Which part of the subject is the lock or the atomic of this address, and the operations on it; nothing if it is no part.
    fn uses_of_object(&mut self, object: usize) -> Option<Uses> {
        let slot = object / size_of::<usize>() % REMEMBERED;
        if let Some((known, uses)) = self.objects[slot]
            && known == object
        {
            return uses;
        }
        let (world, parts) = (&*self.world, (0..).zip(self.parts).filter(|(_, part)| part.is_object(object)));
        let one = |number: u32| (PartSet::checked_shl(1, number).unwrap_or_default(), world.letters_of(PartId(number)));
        let uses = parts.map(|(number, _)| one(number)).reduce(|all, uses| (all.0 | uses.0, all.1 | uses.1));
        self.objects[slot] = Some((object, uses));
        uses
    }

    /// Whether something that is alive keeps an operation of the environment waiting.
    fn keeps_something(&self) -> bool {
        !self.never_waits && !self.world.alphabet().iter().all(|call| self.free(*call))
    }

    /// A critical section is over. A section that left everything as it was needs no step of its own.
    fn made_release(&mut self) {
        let before = self.state;
        self.read_back();
        if self.state == before {
            return;
        }
        let all = self.world.all_letters();
        let memory = self.memory();
        memory.last = all;
        memory.preceding |= all;
        let actor = Actor::Method(self.current);
        self.log.events.push(Event {
            actor,
            did: Did::Turn("unlock"),
            state: self.state,
            location: None,
            marked: false,
        });
    }

    /// A call of a collection as it was published has happened.
    fn made_turn(&mut self, turn: Turn) {
        self.read_back();
        let all = self.world.all_letters();
        let memory = self.memory();
        memory.last = all;
        memory.preceding |= all;
        let claim = self.claim(turn);
        let kept = self.keeps_something().then(|| self.log.scratch.kept.unwrap_or(claim));
        self.log.scratch.kept = kept;
        let (actor, did) = (Actor::Method(self.current), Did::Turn(turn.name));
        self.log.called.extend(turn.caller.map(|caller| (self.log.events.len(), caller)));
        self.log.events.push(Event { actor, did, state: self.state, location: None, marked: false });
    }
}
