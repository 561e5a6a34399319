//! What each event of an execution has to do with earlier ones: for a reader of that execution.
//!
//! The order is that of the Mazurkiewicz trace (see [`traces`](crate::Traces)): an event must come after an earlier one if it is
//! later in the same task, if the earlier one let its task go on, or if the two depend on each other. Whatever this order
//! leaves open can be exchanged, and the execution stays the same. It is not the happens-before of C++20, which is weaker:
//! a relaxed load comes after the store that it reads without synchronising with the store. Where the engine was asked for that
//! one ([`Engine::tell_order`](crate::Engine::tell_order)), the links have it too.

use std::collections::BTreeMap;
use std::ops::Range;

use interloper_std::runtime::{Action, Mode, ObjectId, Operation, TaskId};

use crate::access::Access;
use crate::execution::{Among, Cause, Event, Older};
use crate::holding::{Hold, Holding};
use crate::traces::objects_of;
use crate::vector_clock::VectorClock;

/// What an event has to do with earlier ones, each by its index in the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The events of other tasks that come before it, without those that come before one of these.
    pub after: Vec<u32>,
    /// The same in the sense of C++20 and Rust: those that happen before it. Empty if the engine was not asked for them.
    pub happens_after: Vec<u32>,
    /// The event that let its task go on: it spawned or woke the task, ended the one that the task joins, or gave back the lock
    /// that the task takes here and waited for.
    pub let_on_by: Option<u32>,
    /// For an atomic that it reads, which store.
    pub reads: Option<Read>,
}

/// Which store of an atomic an event reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The event that stored it; `None` for the value that was there at first.
    pub from: Option<u32>,
    /// Whether that is not the newest store.
    pub stale: bool,
    /// The events that stored what it could have read instead, the newest first. Known where memory is weak, of a stale value.
    pub others: Vec<Option<u32>>,
}

/// What an execution tells besides its trace. Where memory is not weak, there is nothing to tell of the stores that events read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told<'a> {
    /// As [`Execution::accesses`](crate::Execution::accesses).
    pub accesses: &'a [(u32, Option<u32>)],
    /// As [`Execution::older`](crate::Execution::older).
    pub older: &'a [Older],
    /// As [`Engine::happens_before`](crate::Engine::happens_before), if the engine was asked for it.
    pub happens_before: Option<&'a [(u32, u32)]>,
}

/// A lock in the hands of a task, from the event that took it to the one that gave it back; `None` if none did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Who holds which lock, and how.
    pub hold: Hold,
    /// The event that took it.
    pub from: u32,
    /// The event that gave it back.
    pub until: Option<u32>,
}

/// The links of each event. `is_atomic` says whether an object is an atomic.
pub fn links(trace: &[Event], told: Told<'_>, is_atomic: impl Fn(ObjectId) -> bool) -> Vec<Link> {
    let mut links = vec![Link::default(); trace.len()];
    Order::default().follow(trace, |order, step, _| order.before(step), |start, after| links[start].after = after);
    if let Some(edges) = told.happens_before {
        let earlier = |_: &Order, step: &[Event], start: usize| {
            let from = edges.partition_point(|(event, _)| (*event as usize) < start);
            let of_step = edges[from..].iter().take_while(|(event, _)| (*event as usize) < start + step.len());
            of_step.map(|(_, earlier)| *earlier as usize).collect()
        };
        Order::default().follow(trace, earlier, |start, after| links[start].happens_after = after);
    }
    let ends = ends(&held(trace));
    let mut previous: BTreeMap<TaskId, usize> = BTreeMap::new();
    for (index, event) in trace.iter().enumerate() {
        let before = previous.insert(event.task, index);
        links[index].let_on_by = match event.cause {
            Cause::Event(cause) => Some(cause),
            _ => before.and_then(|before| given_back(&ends, event, before..index)),
        };
    }
    for (index, read) in reads(trace, told, is_atomic) {
        links[index].reads = Some(read);
    }
    links
}

/// The locks that tasks hold, in the order in which they were taken.
pub fn held(trace: &[Event]) -> Vec<Held> {
    let mut all: Vec<Held> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut holding = Holding::default();
    for (index, event) in (0u32..).zip(trace) {
        let before = holding.clone();
        holding.note(event);
        if before == holding {
            continue;
        }
        // A hold that is there once less was given back, and one that is there once more was taken.
        let count = |holding: &Holding, hold: &Hold| holding.holds().iter().filter(|other| *other == hold).count();
        let is_closed = |at: &usize| count(&holding, &all[*at].hold) < count(&before, &all[*at].hold);
        if let Some(position) = open.iter().rposition(is_closed) {
            let at = open.remove(position);
            all[at].until = Some(index);
        }
        let taken = holding.holds().last().filter(|hold| count(&holding, hold) > count(&before, hold));
        if let Some(hold) = taken {
            open.push(all.len());
            all.push(Held { hold: *hold, from: index, until: None });
        }
    }
    all
}

/// By lock: the events that gave it back, in their order, and who had held it and how. A long trace has as many as it takes
/// locks, so nobody looks through all of them for each event.
fn ends(held: &[Held]) -> BTreeMap<ObjectId, Vec<(u32, Hold)>> {
    let mut ends: BTreeMap<ObjectId, Vec<(u32, Hold)>> = BTreeMap::new();
    for held in held {
        ends.entry(held.hold.lock).or_default().extend(held.until.map(|until| (until, held.hold)));
    }
    ends.values_mut().for_each(|ends| ends.sort_by_key(|(until, _)| *until));
    ends
}

/// For an event that takes a lock: the last event between the one before it in its task and itself in which another task gave
/// the lock back. The task could not go on before that.
fn given_back(ends: &BTreeMap<ObjectId, Vec<(u32, Hold)>>, event: &Event, between: Range<usize>) -> Option<u32> {
    let mode = match event.operation.action {
        Action::Lock(mode) => mode,
        Action::LockRecursive => Mode::Shared,
        _ => return None,
    };
    let ends = ends.get(&event.operation.object)?;
    let ended = |before: usize| ends.partition_point(|(until, _)| (*until as usize) < before);
    let of_others = ends[ended(between.start)..ended(between.end)].iter().rev();
    let mut in_the_way = of_others.filter(|(_, hold)| hold.task != event.task && !hold.mode.admits(mode));
    in_the_way.next().map(|(until, _)| *until)
}

/// Which store each event reads that reads an atomic.
fn reads(trace: &[Event], known: Told<'_>, is_atomic: impl Fn(ObjectId) -> bool) -> Vec<(usize, Read)> {
    let among: BTreeMap<u32, &Among> = known.older.iter().map(|older| (older.event, &older.among)).collect();
    let known: BTreeMap<u32, Option<u32>> = known.accesses.iter().copied().collect();
    // The stores of each atomic in modification order.
    let mut stores: BTreeMap<ObjectId, Vec<u32>> = BTreeMap::new();
    let mut reads = Vec::new();
    for (index, event) in (0u32..).zip(trace) {
        let object = event.operation.object;
        let Some(access) = Access::of_event(event).filter(|_| is_atomic(object)) else { continue };
        let stores = stores.entry(object).or_default();
        let newest = stores.last().copied();
        let from = known.get(&index).copied().unwrap_or(newest);
        if access.reads {
            let stored = |after: usize| stores.len().checked_sub(after + 1).map(|at| stores[at]);
            let others = among.get(&index).into_iter().flat_map(|among| among.places());
            let others = others.map(stored).filter(|store| *store != from).collect();
            reads.push((index as usize, Read { from, stale: newest != from, others }));
        }
        if access.writes {
            let place = from.and_then(|from| stores.iter().rposition(|store| *store == from)).map_or(0, |at| at + 1);
            stores.insert(place, index);
        }
    }
    reads
}

/// What comes before what. A step is known by its first event.
#[derive(Default)]
struct Order {
    /// For each event, the step that it is part of.
    step_of: Vec<usize>,
    /// For the first event of each step, what comes before it, with itself.
    clocks: BTreeMap<usize, VectorClock>,
    /// By task: what comes before its next step, and its steps so far.
    tasks: Vec<(VectorClock, Vec<usize>)>,
    /// By object: what was done to it, and the last step of each task that did so.
    objects: Vec<Vec<(Operation, BTreeMap<TaskId, usize>)>>,
}

impl Order {
    /// Follows the steps of a trace: `earlier` gives the events that the step at an index comes after for one reason or another, and
    /// `note` gets those of other tasks that do not follow from the others.
    fn follow(
        mut self,
        trace: &[Event],
        earlier: impl Fn(&Order, &[Event], usize) -> Vec<usize>,
        mut note: impl FnMut(usize, Vec<u32>),
    ) {
        let mut start = 0;
        while start < trace.len() {
            let parts = trace[start + 1..].iter().take_while(|event| event.continues).count();
            let step = &trace[start..start + 1 + parts];
            let before = earlier(&self, step, start);
            // A step is known by its first event.
            let mut before: Vec<usize> = before.into_iter().map(|event| self.step_of[event]).collect();
            let task = step[0].task;
            let mut clock = std::mem::take(&mut self.task(task).0);
            // The latest first: what comes before it need not be named.
            before.sort_unstable();
            let mut after = Vec::new();
            for other in before.into_iter().rev() {
                if trace[other].task != task && !clock.covers(trace[other].task, other) {
                    after.push(other as u32);
                    clock.join(&self.clocks[&other]);
                }
            }
            after.reverse();
            note(start, after);
            clock.set(task, start);
            self.note(step, start, clock);
            start += step.len();
        }
    }

    fn task(&mut self, task: TaskId) -> &mut (VectorClock, Vec<usize>) {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, Default::default);
        }
        &mut self.tasks[task.index()]
    }

    /// The steps that a step comes after, for one reason or another.
    fn before(&self, step: &[Event]) -> Vec<usize> {
        let mut before = Vec::new();
        for operation in step.iter().map(|event| &event.operation).filter(|operation| !operation.action.is_private()) {
            for object in objects_of(operation) {
                let done = self.objects.get(object.index()).into_iter().flatten();
                before.extend(done.filter(|(done, _)| operation.depends(done)).flat_map(|(_, steps)| steps.values()));
            }
        }
        match step[0].cause {
            Cause::Ready => {}
            Cause::Event(event) => before.push(event as usize),
            Cause::Idle(events) => before.extend(self.tasks.iter().filter_map(|(_, steps)| {
                let count = steps.partition_point(|&step| step < events as usize);
                count.checked_sub(1).map(|last| steps[last])
            })),
        }
        before
    }

    fn note(&mut self, step: &[Event], start: usize, clock: VectorClock) {
        self.step_of.resize(start + step.len(), start);
        self.task(step[0].task).1.push(start);
        for operation in step.iter().map(|event| event.operation).filter(|operation| !operation.action.is_private()) {
            for object in objects_of(&operation) {
                if self.objects.len() <= object.index() {
                    self.objects.resize_with(object.index() + 1, Vec::new);
                }
                let known = &mut self.objects[object.index()];
                let same = |(done, _): &&mut (Operation, _)| {
                    (done.action, done.object) == (operation.action, operation.object)
                };
                match known.iter_mut().find(same) {
                    Some((_, steps)) => drop(steps.insert(step[0].task, start)),
                    None => known.push((operation, BTreeMap::from([(step[0].task, start)]))),
                }
            }
        }
        self.clocks.insert(start, clock.clone());
        self.task(step[0].task).0 = clock;
    }
}

#[cfg(test)]
mod tests;
