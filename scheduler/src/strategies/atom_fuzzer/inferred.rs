//! Blocks that nobody has marked: pairs of accesses that look as if they belonged together.
//!
//! Two accesses are such a pair if one task makes them to one object, one after the other, and an access that another task
//! makes to the object could come between them so that no serial order explains the three: two critical sections of one lock,
//! a check and the call that relies on it, a load and a store. Pairs are learnt from executions that run before the search. A
//! pair is left out if a lock is held over it that all those other accesses need, too, or if spawns and joins
//! put each of them before the pair, after it, or always into it.
//!
//! Nobody said that such a pair is atomic, so nothing is a violation because of it. It says where a pause may be worthwhile.

use std::collections::BTreeMap;

use interloper_std::runtime::{Action, ObjectId, Operation, Place, TaskId};

use super::same_object;
use crate::Event;
use crate::access::{Access, unserialisable};
use crate::vector_clock::VectorClock;

/// A loop makes the same two accesses again and again: so many of them say whether they are a pair.
const MOST_TRIES: u32 = 8;

/// The pairs of places of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inferred {
    /// The pairs in their order, which does not depend on the order of executions, and what kind of object each accesses.
    pairs: BTreeMap<(Place, Place), &'static str>,
}

/// In how many executions a pair occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// In how many a task made both accesses, one after the other.
    pub entered: u64,
    /// In how many of these another task came between so that no serial order explains the three accesses.
    pub interrupted: u64,
}

/// An access of an execution.
#[derive(Clone, Debug)]
struct Made {
    index: usize,
    task: TaskId,
    operation: Operation,
    access: Access,
    /// The locks that the task holds, and since which event.
    locks: Vec<(ObjectId, usize)>,
    /// What the spawns and joins of the program put before it.
    clock: VectorClock,
}

impl Inferred {
    /// Whether two accesses of a task, at these places, are a pair.
    pub fn has(&self, first: Place, again: Place) -> bool {
        self.pairs.contains_key(&(first, again))
    }

    /// Whether no pair is known.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The places of the pairs, in their order, and what kind of object each accesses.
    pub fn pairs(&self) -> impl Iterator<Item = (Place, Place, &'static str)> + '_ {
        self.pairs.iter().map(|(&(first, again), &kind)| (first, again, kind))
    }

    /// Takes note of the pairs of an execution. `kind` says what kind of object an object is.
    pub fn learn(&mut self, trace: &[Event], kind: impl Fn(ObjectId) -> &'static str) {
        let made = accesses(trace);
        let mut of_object: BTreeMap<ObjectId, Vec<&Made>> = BTreeMap::new();
        made.iter().for_each(|made| of_object.entry(made.operation.object).or_default().push(made));
        let mut tries: BTreeMap<(Place, Place), u32> = BTreeMap::new();
        for (first, again) in in_a_row(&made) {
            let (first, again) = (&made[first], &made[again]);
            let pair = (first.operation.location, again.operation.location);
            let tries = tries.entry(pair).or_default();
            *tries += 1;
            if *tries > MOST_TRIES || self.pairs.contains_key(&pair) {
                continue;
            }
            let held =
                |made: &Made| made.locks.iter().copied().filter(|lock| lock.0 != made.operation.object).collect();
            let (before, after): (Vec<_>, Vec<_>) = (held(first), held(again));
            let all_along: Vec<ObjectId> =
                before.iter().filter(|lock| after.contains(lock)).map(|(lock, _)| *lock).collect();
            let may_interrupt = |other: &Made| {
                other.task != first.task
                    && same_object(&other.operation, &first.operation)
                    && same_object(&other.operation, &again.operation)
                    && unserialisable(first.access, other.access, again.access)
                    && !other.locks.iter().any(|(lock, _)| all_along.contains(lock))
                    && !first.clock.covers(other.task, other.index)
                    && !other.clock.covers(again.task, again.index)
                    && !(other.clock.covers(first.task, first.index) && again.clock.covers(other.task, other.index))
            };
            if of_object[&first.operation.object].iter().any(|other| may_interrupt(other)) {
                self.pairs.insert(pair, kind(first.operation.object));
            }
        }
    }

    /// Counts an execution: `counts` has an element for each pair.
    pub fn count(&self, trace: &[Event], counts: &mut Vec<Pair>) {
        if self.is_empty() {
            return;
        }
        counts.resize(self.pairs.len(), Pair::default());
        let access = |event| Access::of_event(event).map(|access| (event, access));
        let made: Vec<(&Event, Access)> = trace.iter().filter_map(access).collect();
        let mut last: BTreeMap<(TaskId, ObjectId), usize> = BTreeMap::new();
        let mut here: BTreeMap<(Place, Place), bool> = BTreeMap::new();
        for (at, &(event, access)) in made.iter().enumerate() {
            let Some(before) = last.insert((event.task, event.operation.object), at) else { continue };
            let (opens, first) = made[before];
            let pair = (opens.operation.location, event.operation.location);
            if !self.has(pair.0, pair.1) || here.get(&pair) == Some(&true) {
                continue;
            }
            let interrupts = |&(other, between): &(&Event, Access)| {
                other.task != event.task
                    && same_object(&other.operation, &opens.operation)
                    && same_object(&other.operation, &event.operation)
                    && unserialisable(first, between, access)
            };
            *here.entry(pair).or_default() |= made[before + 1..at].iter().any(interrupts);
        }
        for (pair, count) in self.pairs.keys().zip(counts) {
            count.entered += u64::from(here.contains_key(pair));
            count.interrupted += u64::from(here.get(pair) == Some(&true));
        }
    }
}

/// The accesses of an execution, with what is known about each.
fn accesses(trace: &[Event]) -> Vec<Made> {
    let mut made = Vec::new();
    let mut locks: BTreeMap<TaskId, Vec<(ObjectId, usize)>> = BTreeMap::new();
    let mut clocks: BTreeMap<TaskId, VectorClock> = BTreeMap::new();
    // Tasks are known by the objects that stand for them.
    let mut spawned: BTreeMap<ObjectId, VectorClock> = BTreeMap::new();
    for (index, event) in trace.iter().enumerate() {
        let Operation { object, action, .. } = event.operation;
        let clock = clocks.entry(event.task).or_default();
        match action {
            Action::Start | Action::Join => spawned.get(&object).into_iter().for_each(|other| clock.join(other)),
            _ => {}
        }
        clock.set(event.task, index);
        if matches!(action, Action::Spawn | Action::Exit) {
            spawned.insert(object, clock.clone());
        }
        let held = locks.entry(event.task).or_default();
        if let Some(access) = Access::of_event(event) {
            let (clock, locks) = (clock.clone(), held.clone());
            made.push(Made { index, task: event.task, operation: event.operation, access, locks, clock });
        }
        match action {
            Action::Unlock(_) => held.retain(|(lock, _)| *lock != object),
            Action::Wait(Some(given)) => held.retain(|(lock, _)| *lock != given),
            _ if action.acquires().is_some() && !event.only_read => held.push((object, index)),
            _ => {}
        }
    }
    made
}

/// Two accesses each that a task makes to one object, one after the other, by their numbers.
fn in_a_row(made: &[Made]) -> Vec<(usize, usize)> {
    let mut last: BTreeMap<(TaskId, ObjectId), usize> = BTreeMap::new();
    let pair = |(at, made): (usize, &Made)| {
        let before = last.insert((made.task, made.operation.object), at);
        before.map(|before| (before, at))
    };
    made.iter().enumerate().filter_map(pair).collect()
}
