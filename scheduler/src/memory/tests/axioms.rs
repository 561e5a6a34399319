//! The slow obvious twin: every reads-from relation and every modification order of a program, held to the axioms.
//!
//! The axioms are those of RC11 (O. Lahav, V. Vafeiadis, J. Kang, C.-K. Hur and D. Dreyer, *Repairing sequential
//! consistency in C/C++11*, PLDI 2017) with two things as C++20 has them: a release sequence contains no later stores of
//! the same thread (P0982R1), and what is sequentially consistent has a total order S as in [atomics.order] (P0668R5).

use std::sync::atomic::Ordering;

use super::machine::LOCATIONS;
use super::{Graph, Graphs, Instruction, Program};
use crate::memory::{acquires, releases};

/// A binary relation on at most 32 events: a bit for each successor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Relation(Vec<u32>);

#[derive(Clone, Copy, Debug)]
struct Event {
    /// None for the initial stores.
    thread: Option<usize>,
    location: Option<usize>,
    reads: bool,
    writes: Option<u64>,
    order: Ordering,
}

/// The graphs of a program that the axioms allow.
pub(super) fn graphs(program: &Program) -> Graphs {
    let mut found = Graphs::new();
    let readers: Vec<(usize, usize)> = places(program).filter(|&at| reads(at_of(program, at)).is_some()).collect();
    assign(program, &readers, &mut Vec::new(), &mut found);
    found
}

fn places(program: &Program) -> impl Iterator<Item = (usize, usize)> + '_ {
    program.iter().enumerate().flat_map(|(thread, list)| (0..list.len()).map(move |index| (thread, index)))
}

fn at_of(program: &Program, (thread, index): (usize, usize)) -> Instruction {
    program[thread][index]
}

/// The location that an instruction reads.
fn reads(instruction: Instruction) -> Option<usize> {
    match instruction {
        Instruction::Load(location, _)
        | Instruction::Swap(location, ..)
        | Instruction::CompareExchange(location, ..) => Some(location),
        Instruction::Store(..) | Instruction::Fence(_) => None,
    }
}

/// What an instruction may store where.
fn stores(instruction: Instruction) -> Option<(usize, u64)> {
    match instruction {
        Instruction::Store(location, value, _)
        | Instruction::Swap(location, value, _)
        | Instruction::CompareExchange(location, _, value, ..) => Some((location, value)),
        Instruction::Load(..) | Instruction::Fence(_) => None,
    }
}

/// Lets each reader read each value that is stored to its location. Values differ, so a value says which store.
fn assign(program: &Program, readers: &[(usize, usize)], values: &mut Vec<u64>, found: &mut Graphs) {
    let Some(&reader) = readers.get(values.len()) else { return arrange(program, readers, values, found) };
    let location = reads(at_of(program, reader)).expect("it reads");
    let stored = places(program).filter(|&at| at != reader).filter_map(|at| stores(at_of(program, at)));
    let values_there = stored.filter(|(at, _)| *at == location).map(|(_, value)| value);
    for value in std::iter::once(0).chain(values_there) {
        values.push(value);
        assign(program, readers, values, found);
        values.pop();
    }
}

/// Tries every modification order with these values read.
fn arrange(program: &Program, readers: &[(usize, usize)], values: &[u64], found: &mut Graphs) {
    let read = |at: (usize, usize)| readers.iter().position(|reader| *reader == at).map(|index| values[index]);
    let Some((events, sources)) = events(program, read) else { return };
    let stores_to = |location: usize| -> Vec<usize> {
        let stores = |event: &usize| events[*event].location == Some(location) && events[*event].writes.is_some();
        (LOCATIONS..events.len()).filter(stores).collect()
    };
    let candidate = Candidate { events: &events, sources };
    let Some(base) = candidate.base() else { return };
    for orders in products(&(0..LOCATIONS).map(|location| permutations(&stores_to(location))).collect::<Vec<_>>()) {
        let first = |(location, order): (usize, Vec<usize>)| [&[location], &order[..]].concat();
        let orders: Vec<Vec<usize>> = orders.into_iter().enumerate().map(first).collect();
        if candidate.is_consistent(&base, &orders) {
            let mut reads = vec![Vec::new(); program.len()];
            places(program).for_each(|at| reads[at.0].extend(read(at)));
            let stored = |order: &Vec<usize>| order.iter().map(|&event| events[event].writes.unwrap()).collect();
            found.insert(Graph { reads, stores: orders.iter().map(stored).collect() });
        }
    }
}

/// The initial stores and the instructions as events, with what each of them reads from. None if nothing stores what is read.
fn events(program: &Program, read: impl Fn((usize, usize)) -> Option<u64>) -> Option<(Vec<Event>, Vec<Option<usize>>)> {
    let initial = |location| Event {
        thread: None,
        location: Some(location),
        reads: false,
        writes: Some(0),
        order: Ordering::Relaxed,
    };
    let mut events: Vec<Event> = (0..LOCATIONS).map(initial).collect();
    events.extend(places(program).map(|at| event(at.0, at_of(program, at), read(at))));
    let mut read_values = vec![None; LOCATIONS];
    read_values.extend(places(program).map(read));
    // A compare-exchange that fails stores nothing.
    let source = |event: usize| {
        let value = read_values[event]?;
        Some(events.iter().position(|of| of.location == events[event].location && of.writes == Some(value)))
    };
    let sources: Option<_> =
        (0..events.len()).map(|event| source(event).map_or(Some(None), |of| of.map(Some))).collect();
    sources.map(|sources| (events, sources))
}

/// Whether the first of two instructions happens before the second, each by its thread and its number there, in the execution
/// that reads these values thread by thread.
pub(super) fn happens_before(
    program: &Program,
    values: &[Vec<u64>],
) -> impl Fn((usize, usize), (usize, usize)) -> bool {
    let read = |at: (usize, usize)| {
        let earlier = program[at.0][..at.1].iter().filter(|instruction| reads(**instruction).is_some()).count();
        reads(at_of(program, at)).map(|_| values[at.0][earlier])
    };
    let (events, sources) = events(program, read).expect("what is read was stored");
    let base = Candidate { events: &events, sources }.base().expect("it was executed");
    let all: Vec<(usize, usize)> = places(program).collect();
    let event = move |at| LOCATIONS + all.iter().position(|place| *place == at).expect("it is an instruction");
    move |first, then| base.happens_before.has(event(first), event(then))
}

fn event(thread: usize, instruction: Instruction, read: Option<u64>) -> Event {
    let (location, reads, writes, order) = match instruction {
        Instruction::Load(location, order) => (Some(location), true, None, order),
        Instruction::Store(location, value, order) => (Some(location), false, Some(value), order),
        Instruction::Swap(location, value, order) => (Some(location), true, Some(value), order),
        Instruction::CompareExchange(location, expected, value, success, failure) => match read == Some(expected) {
            true => (Some(location), true, Some(value), success),
            false => (Some(location), true, None, failure),
        },
        Instruction::Fence(order) => (None, false, None, order),
    };
    Event { thread: Some(thread), location, reads, writes, order }
}

/// Events with what each of them reads from.
struct Candidate<'a> {
    events: &'a [Event],
    sources: Vec<Option<usize>>,
}

/// What does not depend on the modification order.
struct Base {
    program_order: Relation,
    reads_from: Relation,
    happens_before: Relation,
    strongly: Relation,
}

impl Candidate<'_> {
    fn all(&self) -> std::ops::Range<usize> {
        0..self.events.len()
    }

    fn is_fence(&self, event: usize) -> bool {
        self.events[event].location.is_none()
    }

    /// `None` when program order and reads-from have a cycle.
    fn base(&self) -> Option<Base> {
        let events = self.events;
        // Initial stores come before everything.
        let program_order = self.relation(|a, b| match (events[a].thread, events[b].thread) {
            (Some(of), Some(other)) => of == other && a < b,
            (None, Some(_)) => true,
            _ => false,
        });
        let reads_from = self.relation(|a, b| self.sources[b] == Some(a));
        if !program_order.or(&reads_from).closure().is_irreflexive() {
            return None;
        }
        // [intro.races]: a release store or fence, and who reads from its release sequence and acquires.
        let updates_from = self.relation(|a, b| self.sources[b] == Some(a) && events[b].writes.is_some());
        let sequence = updates_from.closure().or(&self.relation(|a, b| a == b));
        let read_in_sequence = sequence.then(&reads_from);
        let head = |event: usize, store: usize| {
            releases(events[event].order)
                && events[store].writes.is_some()
                && (event == store || (self.is_fence(event) && program_order.has(event, store)))
        };
        let tail = |read: usize, event: usize| {
            acquires(events[event].order)
                && events[read].reads
                && (event == read || (self.is_fence(event) && program_order.has(read, event)))
        };
        let synchronizes =
            self.relation(head).then(&read_in_sequence).then(&self.relation(tail)).and(&self.relation(|a, b| a != b));
        let happens_before = program_order.or(&synchronizes).closure();
        let in_order = |event: usize| events[event].order == Ordering::SeqCst;
        let both = synchronizes.and(&self.relation(|a, b| in_order(a) && in_order(b)));
        let around = program_order.then(&happens_before).then(&program_order);
        let strongly = program_order.or(&both).or(&around).closure();
        Some(Base { program_order, reads_from, happens_before, strongly })
    }

    fn is_consistent(&self, base: &Base, orders: &[Vec<usize>]) -> bool {
        let events = self.events;
        let rank = |event: usize| orders.iter().find_map(|order| order.iter().position(|&of| of == event));
        let rank: Vec<Option<usize>> = self.all().map(rank).collect();
        let same = |a: usize, b: usize| events[a].location.is_some() && events[a].location == events[b].location;
        let modification =
            self.relation(|a, b| same(a, b) && matches!((rank[a], rank[b]), (Some(a), Some(b)) if a < b));
        let reads_before =
            self.relation(|a, b| a != b && self.sources[a].is_some_and(|source| modification.has(source, b)));
        let coherence = base.reads_from.or(&modification).or(&reads_before).closure();
        // Coherence: happens-before; eco is irreflexive, and so is happens-before.
        if !base.happens_before.then(&coherence).is_irreflexive() || !base.happens_before.is_irreflexive() {
            return false;
        }
        // Atomicity: a read-modify-write comes right after what it reads.
        let updates = self.all().filter(|&event| events[event].reads && events[event].writes.is_some());
        if !updates.clone().all(|event| self.sources[event].and_then(|of| rank[of]).map(|of| of + 1) == rank[event]) {
            return false;
        }
        self.order_exists(base, &coherence)
    }

    /// [atomics.order], paragraph 4.
    fn order_exists(&self, base: &Base, coherence: &Relation) -> bool {
        let in_order = |event: usize| self.events[event].order == Ordering::SeqCst;
        let happens = &base.happens_before;
        let must = self.relation(|a, b| {
            if !in_order(a) || !in_order(b) || a == b {
                return false;
            }
            // An access stands for itself, a fence for what it happens before, or what happens before it.
            let stands_first = |event: usize| event == a || (self.is_fence(a) && happens.has(a, event));
            let stands_last = |event: usize| event == b || (self.is_fence(b) && happens.has(event, b));
            let by_coherence = || {
                let pairs = self.all().flat_map(|first| self.all().map(move |last| (first, last)));
                let mut pairs = pairs.filter(|&(first, last)| coherence.has(first, last));
                pairs.any(|(first, last)| stands_first(first) && stands_last(last))
            };
            base.strongly.has(a, b) || by_coherence()
        });
        debug_assert!(base.program_order.is_irreflexive());
        must.closure().is_irreflexive()
    }

    fn relation(&self, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let row = |a: usize| self.all().filter(|&b| holds(a, b)).fold(0, |row, b| row | 1 << b);
        Relation(self.all().map(row).collect())
    }
}

impl Relation {
    fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] & 1 << b != 0
    }

    fn or(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    fn and(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn then(&self, other: &Relation) -> Relation {
        let bits = |row: u32| (0..u32::BITS as usize).filter(move |bit| row & 1 << bit != 0);
        Relation(self.0.iter().map(|&row| bits(row).fold(0, |all, event| all | other.0[event])).collect())
    }

    fn closure(&self) -> Relation {
        let mut closed = self.clone();
        for middle in 0..closed.0.len() {
            let from_middle = closed.0[middle];
            closed.0.iter_mut().filter(|row| **row & 1 << middle != 0).for_each(|row| *row |= from_middle);
        }
        closed
    }

    fn is_irreflexive(&self) -> bool {
        (0..self.0.len()).all(|event| !self.has(event, event))
    }
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    match items {
        [] => vec![Vec::new()],
        _ => items
            .iter()
            .flat_map(|&first| {
                let rest: Vec<usize> = items.iter().copied().filter(|&item| item != first).collect();
                permutations(&rest).into_iter().map(move |rest| [&[first], &rest[..]].concat())
            })
            .collect(),
    }
}

/// One of each list, in all ways.
fn products<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    let Some((last, before)) = lists.split_last() else { return vec![Vec::new()] };
    let with = |start: Vec<T>| last.iter().map(move |item| [&start[..], std::slice::from_ref(item)].concat());
    products(before).into_iter().flat_map(with).collect()
}
