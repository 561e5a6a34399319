//! The memory model of C++20, which is Rust's: which stores a load may read.
//!
//! Each location keeps its stores in modification order. What happens before a step is a [`VectorClock`], as in T. Jung and
//! others' Miri and in C. Lidbury and A. Donaldson, *Dynamic race detection for C++11*, POPL 2017. An access takes a place
//! in the modification order: a load reads the store there, a store comes right after it, a read-modify-write does both.
//! The newest store is always a possible place; so is each older one that the task is not known to have overtaken:
//!
//! - Coherence: a task reads no store older than one that happens before its access, or than one that was read by an
//!   access that happens before its own.
//! - Atomicity: nothing comes between a read-modify-write and the store that it read.
//! - The order of what is sequentially consistent (P0668R5, *Revising the C++ memory model*) stays without cycles; see
//!   [`order`].
//!
//! An access reads only what was stored before in the execution, so the union of program order and reads-from has no
//! cycle: load buffering is not produced. Apart from that the model shows exactly what the axioms of C++20 allow; the tests
//! compare it with an enumeration of all execution graphs.
//!
//! A release sequence consists of the store at its head and of read-modify-writes (P0982R1).

mod alone;
mod location;
mod order;
mod places;
mod views;

use std::num::NonZeroU32;
use std::sync::atomic::Ordering;

use interloper_std::runtime::TaskId;

use self::alone::Alone;
use self::location::{Location, Message, Sources};
use self::order::Order;
pub(crate) use self::places::Places;
use self::views::Views;
use crate::vector_clock::VectorClock;

/// The memory of an execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    tasks: Vec<Views>,
    /// How many tasks there are; the views of others keep their memory for the next execution.
    live: usize,
    alone: Alone,
    locations: Vec<Location>,
    /// Empty if memory is sequentially consistent.
    order: Order,
    /// Each access takes the newest place, so the steps of the execution are in the order S, and it need not be found.
    sequential: bool,
}

/// A location of memory: an atomic, by the number of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocationId(pub(crate) u32);

/// A place in the modification order of a location: that of a store. Valid until something is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot(pub(crate) usize);

/// What the caller knows a store by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Which of all accesses, counted from 1.
    pub(crate) access: NonZeroU32,
    /// The event of the trace.
    pub(crate) event: u32,
    /// The step, counted from 1.
    pub(crate) step: u32,
}

/// A store at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) spot: Spot,
    pub(crate) value: u64,
    /// None for the initial value.
    pub(crate) origin: Option<Origin>,
    /// How many stores come after it: none after the newest.
    pub(crate) distance: usize,
}

impl Stored {
    /// The step that stored it, counted from 1; 0 for the initial value.
    pub(crate) fn step(self) -> u64 {
        self.origin.map_or(0, |origin| u64::from(origin.step))
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It does both at once.
    Update,
}

/// Whether an access of this ordering acquires.
pub(crate) const fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

/// Whether an access of this ordering releases.
pub(crate) const fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

impl Memory {
    /// Forgets everything: another execution begins. If it is `sequential`, each of its accesses will take the newest place.
    /// Memory stays.
    pub(crate) fn restart(&mut self, sequential: bool) {
        (self.live, self.sequential) = (0, sequential);
        self.alone.restart();
        self.locations.iter_mut().for_each(Location::forget);
        self.order.clear();
    }

    /// A task begins; `parent` has spawned it, and all that it has done happens before.
    pub(crate) fn begin_task(&mut self, parent: Option<TaskId>) {
        let task = TaskId(self.live as u32);
        if self.tasks.len() == self.live {
            self.tasks.push(Views::default());
        }
        self.live += 1;
        self.alone.begins(self.live == 1);
        let mut views = std::mem::take(&mut self.tasks[task.index()]);
        views.restart();
        if let Some(parent) = parent {
            self.event(parent);
            views.current.clone_from(&self.tasks[parent.index()].current);
        }
        self.tasks[task.index()] = views;
    }

    /// A task comes to its end.
    pub(crate) fn end_task(&mut self, task: TaskId) {
        self.event(task);
        // The main task comes to its end again after what lasts as long as the process.
        if !std::mem::replace(&mut self.tasks[task.index()].ended, true) {
            self.alone.ends();
        }
    }

    /// What `task` has done happens before what whoever acquires `clock` does.
    pub(crate) fn release(&mut self, task: TaskId, clock: &mut VectorClock) {
        self.event(task);
        clock.join(&self.tasks[task.index()].current);
    }

    /// What was released to `clock` happens before what `task` does.
    pub(crate) fn acquire(&mut self, task: TaskId, clock: &VectorClock) {
        self.tasks[task.index()].current.join(clock);
        self.event(task);
        if self.alone.is_open() && !self.tasks[task.index()].ended {
            let (tasks, knows) = (&self.tasks, &self.tasks[task.index()].current);
            let is_known = |other: TaskId| {
                let events = tasks[other.index()].events;
                other == task || events == 0 || knows.covers(other, events - 1)
            };
            self.alone.look(self.live, is_known);
        }
    }

    /// All that another task has done until now happens before what `task` does: it has ended, say.
    pub(crate) fn acquire_all(&mut self, task: TaskId, of: TaskId) {
        let current = std::mem::take(&mut self.tasks[of.index()].current);
        self.acquire(task, &current);
        self.tasks[of.index()].current = current;
    }

    /// What happens before the next event of a task.
    #[inline]
    pub(crate) fn knows(&self, task: TaskId) -> &VectorClock {
        &self.tasks[task.index()].current
    }

    /// Whether all that was done so far happens before all that will be done: one task runs, and it knows of all that others have done.
    /// Each later task knows of it, too.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.alone.holds()
    }

    /// The same memory, in which nobody looks up whether a task is alone.
    #[cfg(test)]
    pub(crate) fn never_alone(&self) -> Memory {
        Memory { alone: Alone::never(), ..self.clone() }
    }

    /// The number of the next event of a task: whoever knows it knows all that the task does until then.
    #[inline]
    pub(crate) fn epoch(&self, task: TaskId) -> u32 {
        self.tasks[task.index()].events as u32
    }

    /// The newest store of a location, where this value is now, and whether its place is the only one of an access, whatever it does.
    ///
    /// A value that no atomic operation stored got there when nobody else can have been there: everybody knows it.
    #[inline(always)]
    pub(crate) fn newest(&mut self, task: TaskId, location: LocationId, value: u64) -> (Stored, bool) {
        if let Some(at) = self.locations.get(location.0 as usize)
            && let [older @ .., newest] = at.messages()
            && newest.value == value
        {
            let stored = Stored { spot: Spot(older.len()), value, origin: newest.origin, distance: 0 };
            let is_own = || newest.writer.0 == task;
            return (stored, older.is_empty() || is_own() || newest.is_known(&self.tasks[task.index()].current));
        }
        self.overwrite(location, value);
        (Stored { spot: Spot(0), value, origin: None, distance: 0 }, true)
    }

    /// This value is at a location, and everybody knows it.
    #[cold]
    fn overwrite(&mut self, location: LocationId, value: u64) {
        let index = location.0 as usize;
        if self.locations.len() <= index {
            self.locations.resize_with(index + 1, Location::default);
        }
        self.locations[index].begin(value);
    }

    /// The places that an access may take, the newest first. For a task that does not know the newest store: see [`Memory::newest`].
    #[inline(always)]
    pub(crate) fn places(&self, task: TaskId, location: LocationId, kind: Kind, order: Ordering, places: &mut Places) {
        let at = &self.locations[location.0 as usize];
        let (oldest, newest) = (at.oldest_but_newest(&self.tasks[task.index()].current), at.messages().len() - 1);
        if kind == Kind::Load && self.order.is_empty() {
            return places.row(newest, oldest);
        }
        self.list_places((task, at), (oldest, newest), (kind, order), places);
    }

    // Out of the way of the usual case.
    #[inline(never)]
    fn list_places(
        &self,
        (task, at): (TaskId, &Location),
        (oldest, newest): (usize, usize),
        (kind, order): (Kind, Ordering),
        places: &mut Places,
    ) {
        let is_possible = |&spot: &usize| {
            let divides = kind != Kind::Load && spot < newest && at.messages()[spot + 1].updates;
            spot == newest || (!divides && self.is_ordered(task, at, spot, kind, order))
        };
        places.list((oldest..=newest).rev().filter(is_possible).map(Spot));
    }

    /// How many stores come after a place.
    #[inline]
    pub(crate) fn distance(&self, location: LocationId, spot: Spot) -> usize {
        self.locations[location.0 as usize].messages().len() - 1 - spot.0
    }

    /// The store at a place.
    #[inline]
    pub(crate) fn stored(&self, location: LocationId, spot: Spot) -> Stored {
        let messages = self.locations[location.0 as usize].messages();
        let message = &messages[spot.0];
        Stored { spot, value: message.value, origin: message.origin, distance: messages.len() - 1 - spot.0 }
    }

    /// The newest place whose store was made up to this step.
    pub(crate) fn newest_of(&self, location: LocationId, step: u64) -> Spot {
        let messages = self.locations[location.0 as usize].messages();
        let is_early = |message: &Message| message.origin.is_none_or(|origin| u64::from(origin.step) <= step);
        Spot(messages.iter().rposition(is_early).unwrap_or(0))
    }

    /// The stores that the task may read: the newest one that it knows, and all newer ones.
    pub(crate) fn read_by(&self, task: TaskId, location: LocationId) -> impl Iterator<Item = Stored> {
        let at = &self.locations[location.0 as usize];
        let oldest = at.oldest(&self.tasks[task.index()].current);
        (oldest..at.messages().len()).map(move |spot| self.stored(location, Spot(spot)))
    }

    /// Whether a task can no longer read what is stored right after this place: it knows of a store that comes after the place.
    pub(crate) fn is_passed(&self, task: TaskId, location: LocationId, spot: Spot) -> bool {
        self.locations[location.0 as usize].oldest(&self.tasks[task.index()].current) > spot.0
    }

    /// How many stores and sequentially consistent events are kept.
    #[cfg(test)]
    fn size(&self) -> usize {
        self.locations.iter().map(|location| location.messages().len()).sum::<usize>() + self.order.len()
    }

    /// Reads what is at a place.
    #[inline(always)]
    pub(crate) fn load(&mut self, task: TaskId, location: LocationId, order: Ordering, spot: Spot) {
        if self.is_about_order(order) {
            return self.load_in_order(task, location, order, spot);
        }
        let (views, at) = (&mut self.tasks[task.index()], &mut self.locations[location.0 as usize]);
        let (event, message) = (views.event(task), at.message(spot.0));
        views.read(order, message);
        message.note_read((task, event), &views.current);
    }

    /// Stores a value right after a place. `stored` is the value, and what the caller knows the store by.
    #[inline(always)]
    pub(crate) fn store(
        &mut self,
        task: TaskId,
        location: LocationId,
        order: Ordering,
        spot: Spot,
        stored: (u64, Origin),
    ) {
        if self.is_about_order(order) {
            return self.store_in_order(task, location, order, spot, stored);
        }
        let views = &mut self.tasks[task.index()];
        let event = views.event(task);
        let at = &mut self.locations[location.0 as usize];
        if spot.0 + 1 != at.messages().len() {
            return self.store_between((task, event), location, order, spot, stored);
        }
        // In one piece, so that the store is made where it is kept.
        at.push(Message::new(stored, (task, event), views.releases(order).clone()));
        if at.is_crowded() {
            self.drop_old(location);
        }
    }

    // Out of the way of the usual case.
    #[inline(never)]
    fn store_between(
        &mut self,
        (task, event): (TaskId, usize),
        location: LocationId,
        order: Ordering,
        spot: Spot,
        stored: (u64, Origin),
    ) {
        let message = Message::new(stored, (task, event), self.tasks[task.index()].releases(order).clone());
        self.insert(location, spot, message);
    }

    /// The same, where it is not worth the room in the caller.
    #[inline(never)]
    pub(crate) fn store_out_of_line(
        &mut self,
        task: TaskId,
        location: LocationId,
        order: Ordering,
        spot: Spot,
        stored: (u64, Origin),
    ) {
        self.store(task, location, order, spot, stored);
    }

    /// Reads what is at a place and stores a value right after it.
    #[inline(never)]
    pub(crate) fn update(
        &mut self,
        task: TaskId,
        location: LocationId,
        order: Ordering,
        spot: Spot,
        stored: (u64, Origin),
    ) {
        let is_about_order = self.is_about_order(order);
        let before = self.before(task, location, spot, Kind::Update, order);
        let (views, at) = (&mut self.tasks[task.index()], &mut self.locations[location.0 as usize]);
        let (event, found) = (views.event(task), at.message(spot.0));
        views.read(order, found);
        // A release sequence goes on.
        let mut released = found.released.clone();
        released.join(views.releases(order));
        let mut message = Message::new(stored, (task, event), released);
        message.updates = true;
        if is_about_order {
            message.note_stored_in_order(self.enter(task, event, location, spot, before));
        }
        self.insert(location, spot, message);
    }

    /// An operation on an atomic that always reads the newest store. `released` is what the store there has released.
    pub(crate) fn at_newest(
        &mut self,
        task: TaskId,
        released: &mut VectorClock,
        (reads, writes): (bool, bool),
        order: Ordering,
    ) {
        self.event(task);
        let views = &mut self.tasks[task.index()];
        if reads {
            if acquires(order) { views.current.join(released) } else { views.pending.join(released) }
        }
        if writes {
            if !reads {
                // A release sequence goes on with read-modify-writes only.
                released.clear();
            }
            released.join(views.releases(order));
        }
    }

    /// A fence. One that is relaxed does nothing.
    pub(crate) fn fence(&mut self, task: TaskId, order: Ordering) {
        let strongly = match order {
            Ordering::SeqCst if !self.sequential => {
                Some(self.order.strongly_before(task, &self.tasks[task.index()].current))
            }
            _ => None,
        };
        let event = self.event(task);
        let views = &mut self.tasks[task.index()];
        if acquires(order) {
            views.current.join(&views.pending);
            views.pending.clear();
        }
        if releases(order) {
            views.released.clone_from(&views.current);
        }
        if let Some(mut before) = strongly {
            let knows = &self.tasks[task.index()].current;
            self.locations.iter().for_each(|location| location.seen_by(knows, &mut before));
            self.order.push_fence(task, event, knows, &before);
            self.thin();
        }
    }

    /// The next event of a task: its number.
    fn event(&mut self, task: TaskId) -> usize {
        self.tasks[task.index()].event(task)
    }

    /// Puts a store right after a place.
    fn insert(&mut self, location: LocationId, spot: Spot, message: Message) {
        let at = &mut self.locations[location.0 as usize];
        at.insert(spot.0 + 1, message);
        if at.is_crowded() {
            self.drop_old(location);
        }
    }

    /// Drops the stores of a location that no task can read any more.
    #[inline(never)]
    fn drop_old(&mut self, location: LocationId) {
        let tasks = self.tasks[..self.live].iter().filter(|views| !views.ended).map(|views| &views.current);
        self.locations[location.0 as usize].thin(tasks);
    }
}

/// What is sequentially consistent.
impl Memory {
    /// Whether an access has to do with the order.
    #[inline(always)]
    fn is_about_order(&self, order: Ordering) -> bool {
        !self.sequential && (order == Ordering::SeqCst || !self.order.is_empty())
    }

    // Out of the way of the usual case.
    #[inline(never)]
    fn load_in_order(&mut self, task: TaskId, location: LocationId, order: Ordering, spot: Spot) {
        let before = self.before(task, location, spot, Kind::Load, order);
        let (views, at) = (&mut self.tasks[task.index()], &mut self.locations[location.0 as usize]);
        let event = views.event(task);
        views.read(order, at.message(spot.0));
        let sources = self.enter(task, event, location, spot, before);
        self.locations[location.0 as usize].message(spot.0).note_read_in_order((task, event), sources);
    }

    #[inline(never)]
    fn store_in_order(
        &mut self,
        task: TaskId,
        location: LocationId,
        order: Ordering,
        spot: Spot,
        stored: (u64, Origin),
    ) {
        let before = self.before(task, location, spot, Kind::Store, order);
        let views = &mut self.tasks[task.index()];
        let event = views.event(task);
        let mut message = Message::new(stored, (task, event), views.releases(order).clone());
        message.note_stored_in_order(self.enter(task, event, location, spot, before));
        self.insert(location, spot, message);
    }

    /// What must come before a sequentially consistent access at a place. Nothing for another access.
    #[inline]
    fn before(
        &self,
        task: TaskId,
        location: LocationId,
        spot: Spot,
        kind: Kind,
        order: Ordering,
    ) -> Option<VectorClock> {
        let at = &self.locations[location.0 as usize];
        (order == Ordering::SeqCst && !self.sequential).then(|| self.before_access(task, at, spot.0, kind))
    }

    fn before_access(&self, task: TaskId, at: &Location, spot: usize, kind: Kind) -> VectorClock {
        let mut before = self.order.strongly_before(task, &self.tasks[task.index()].current);
        at.ordered_before(spot, kind, &mut before);
        before
    }

    /// The order gets this access if something must come before it there, since it is sequentially consistent. Gives what now comes
    /// before whatever is coherence-ordered after the access: itself, and the fences that happen before it.
    fn enter(
        &mut self,
        task: TaskId,
        event: usize,
        location: LocationId,
        spot: Spot,
        before: Option<VectorClock>,
    ) -> Sources {
        let number = before.map(|before| self.order.push(task, event, &before));
        self.thin();
        let mut before = self.order.fences_before(&self.tasks[task.index()].current);
        if let Some(number) = number {
            before.raise(task, number);
        }
        let at = &self.locations[location.0 as usize];
        if spot.0 + 1 < at.messages().len() {
            let after = at.ordered_after(spot.0, &self.order);
            self.order.add(&before, &after);
        }
        Sources { before, own: number.map(|number| (task, number)) }
    }

    /// Drops what can no longer matter from the order, if it is long.
    fn thin(&mut self) {
        let tasks = self.tasks[..self.live].iter().filter(|views| !views.ended).map(|views| &views.current);
        self.order.thin(tasks);
    }

    /// Whether the order stays without cycles when an access takes a place that is not the newest.
    fn is_ordered(&self, task: TaskId, at: &Location, spot: usize, kind: Kind, order: Ordering) -> bool {
        if self.order.is_empty() {
            return true;
        }
        let is_in_order = order == Ordering::SeqCst;
        let message = &at.messages()[spot];
        let mut before = self.order.fences_before(&self.tasks[task.index()].current);
        if kind != Kind::Store && acquires(order) {
            before.join(&self.order.fences_before(&message.released));
        }
        if is_in_order {
            before.join(&self.before_access(task, at, spot, kind));
        }
        // Nothing that must come after the access comes before it.
        let before = self.order.closure(&before);
        let after = at.ordered_after(spot, &self.order);
        !after.iter().any(|&(task, number)| before.covers(task, number))
    }
}

#[cfg(test)]
mod tests;
