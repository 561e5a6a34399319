//! Which Mazurkiewicz trace an execution belongs to, and how many different traces some executions have shown.
//!
//! Two executions belong to the same trace when they differ only in the order of steps that do not depend on each other
//! (A. Mazurkiewicz, *Trace theory*, LNCS 255, 1987). A [`Fingerprint`] identifies a trace: a number made of the steps,
//! each with all that happens before it. Tasks are named by who spawned them, objects have no name: what a step does
//! follows from what happens before it. So the numbers that the engine gives to tasks and objects do not matter.

mod count;
mod order;

use std::collections::BTreeMap;
use std::ops::Range;

use interloper_std::runtime::{Action, ObjectId, Operation, TaskId};

pub use self::count::{Counted, Tally, Traces, Unseen};
use self::order::{Links, Order};
use crate::decisions::mix;
use crate::execution::{Cause, Event};
use crate::vector_clock::VectorClock;

/// Identifies a trace: equal for executions of the same trace, and different for executions of different traces, except
/// for a coincidence (below one in 2^64 for each pair).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u64);

/// A decision that was not about tasks, and the step that asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// How many events of the trace came before the decision.
    pub events: u32,
    /// The answer, counted from 0.
    pub answer: u32,
}

/// Computes fingerprints; keeps its memory from one execution to the next.
#[derive(Clone, Debug, Default)]
pub struct Fingerprints {
    tasks: Vec<Task>,
    /// What was done to each object so far.
    objects: Vec<Vec<Done>>,
    /// For each event, the step that it is part of, with all that happens before that step.
    pasts: Vec<u64>,
    /// Which of what was done to objects each step depends on and adds to.
    links: Links,
    /// What happens before what, where dependence alone does not tell it.
    order: Order,
    /// The execution is so long, with so many tasks, that only dependence is followed: see [`MOST_ENTRIES`].
    is_too_large: bool,
}

/// What happens before what is followed in an execution whose vector clocks have at most so many entries together (256 MiB). In a larger
/// one, what a task has waited for does not count, so two executions that differ in it alone have one fingerprint.
const MOST_ENTRIES: usize = 1 << 26;

/// How many entries of vector clocks are looked at when an execution is followed, at least.
fn entries(trace: &[Event]) -> usize {
    let tasks = 1 + trace.iter().filter(|event| event.operation.action == Action::Spawn).count();
    let looked_at = |event: &Event| if let Cause::Idle(_) = event.cause { tasks.saturating_mul(tasks) } else { tasks };
    trace.iter().fold(0, |sum: usize, event| sum.saturating_add(looked_at(event)))
}

#[derive(Clone, Copy, Debug)]
struct Task {
    /// The same in each execution in which its ancestors have spawned as many tasks before it.
    name: u64,
    children: u64,
    /// Its last step, with all that happens before.
    past: u64,
}

/// All steps that did the same to an object.
#[derive(Clone, Copy, Debug)]
struct Done {
    operation: Operation,
    /// The sum of these steps, each with all that happens before it. A sum, since the order of independent steps does
    /// not matter; the order of dependent steps is in what happens before each.
    pasts: u64,
}

const MAIN: Task = Task { name: 0, children: 0, past: 0 };

impl Fingerprints {
    /// The fingerprint of an execution with these steps and decisions.
    pub fn of(&mut self, trace: &[Event], picks: &[Pick]) -> Fingerprint {
        self.objects.iter_mut().for_each(Vec::clear);
        self.pasts.clear();
        self.links.clear();
        self.order.clear();
        self.is_too_large = entries(trace) > MOST_ENTRIES;
        self.tasks.clear();
        self.tasks.push(MAIN);
        let (mut start, mut picks) = (0, picks);
        while start < trace.len() {
            let parts = trace[start + 1..].iter().take_while(|event| event.continues).count();
            let end = start + 1 + parts;
            let answered = picks.iter().take_while(|pick| pick.events as usize <= end).count();
            let (own, later) = picks.split_at(answered);
            picks = later;
            let past = self.past(trace, start..end, own);
            self.note(&trace[start..end], past);
            start = end;
        }
        Fingerprint(self.tasks.iter().fold(0, |sum, task| sum.wrapping_add(mix(task.past, task.name))))
    }

    /// The step of these events with all that happens before it.
    fn past(&mut self, trace: &[Event], events: Range<usize>, picks: &[Pick]) -> u64 {
        let step = &trace[events.clone()];
        // Tasks are numbered in the order in which they were spawned.
        let task = self.tasks[step[0].task.index()];
        let dependent = self.dependent(step);
        let before = match self.waited(trace, events) {
            Some(clock) => {
                let lasts = clock.places().map(|(task, event)| (self.tasks[task.index()], self.pasts[event]));
                mix(lasts.fold(0, |sum: u64, (task, past)| sum.wrapping_add(mix(past, task.name))), 1)
            }
            None => dependent,
        };
        let past = mix(mix(task.past, before), task.name);
        picks.iter().fold(past, |past, pick| mix(past, 1 + u64::from(pick.answer)))
    }

    /// The sum of the earlier steps on which a step depends.
    fn dependent(&mut self, step: &[Event]) -> u64 {
        self.links.begin_step();
        let mut sum: u64 = 0;
        for operation in step.iter().map(|event| &event.operation).filter(|operation| !operation.action.is_private()) {
            for object in objects_of(operation) {
                for (entry, done) in self.objects.get(object.index()).into_iter().flatten().enumerate() {
                    if operation.depends(&done.operation) {
                        self.links.depends(object.index(), entry);
                        sum = sum.wrapping_add(done.pasts);
                    }
                }
            }
        }
        sum
    }

    /// What happens before a step only because its task waited.
    ///
    /// In another execution of the trace the task may not have waited: for example, the thread that it joins had ended
    /// already. So what a task waited for counts only if the step does not depend on it anyway.
    fn waited(&mut self, trace: &[Event], events: Range<usize>) -> Option<VectorClock> {
        let step = &trace[events.clone()];
        match step[0].cause {
            Cause::Ready => None,
            _ if self.is_too_large => None,
            Cause::Event(event) => {
                let spawned = self.pasts[event as usize] == self.tasks[step[0].task.index()].past;
                let cause = step_of(trace, event as usize);
                let depends = || step.iter().any(|event| cause.iter().any(|of| event.operation.depends(&of.operation)));
                if spawned || depends() { None } else { self.order.waited(trace, events, &self.links) }
            }
            Cause::Idle(_) => self.order.waited(trace, events, &self.links),
        }
    }

    /// Records a step for the steps that come after it.
    fn note(&mut self, step: &[Event], past: u64) {
        self.pasts.resize(self.pasts.len() + step.len(), past);
        self.tasks[step[0].task.index()].past = past;
        for operation in step.iter().map(|event| event.operation) {
            if operation.action == Action::Spawn {
                let parent = &mut self.tasks[step[0].task.index()];
                parent.children += 1;
                let name = mix(parent.name, parent.children);
                self.tasks.push(Task { name, children: 0, past });
            }
            if !operation.action.is_private() {
                objects_of(&operation).for_each(|object| self.note_done(object, operation, past));
            }
        }
    }

    fn note_done(&mut self, object: ObjectId, operation: Operation, past: u64) {
        if self.objects.len() <= object.index() {
            self.objects.resize_with(object.index() + 1, Vec::new);
        }
        let known = &mut self.objects[object.index()];
        let same = |done: &Done| (done.operation.object, done.operation.action) == (operation.object, operation.action);
        let entry = known.iter().position(same).unwrap_or(known.len());
        self.links.adds_to(object.index(), entry);
        match known.get_mut(entry) {
            Some(done) => done.pasts = done.pasts.wrapping_add(past),
            None => known.push(Done { operation, pasts: past }),
        }
    }
}

/// The events of the step that an event is part of.
fn step_of(trace: &[Event], event: usize) -> &[Event] {
    let continues = |event: &&Event| event.continues;
    let before = trace[..=event].iter().rev().take_while(continues).count();
    let parts = trace[event + 1..].iter().take_while(continues).count();
    &trace[event - before..event + 1 + parts]
}

/// The object of an operation, and the lock that a wait gives back.
pub(crate) fn objects_of(operation: &Operation) -> impl Iterator<Item = ObjectId> + use<> {
    let lock = match operation.action {
        Action::Wait(lock) => lock,
        _ => None,
    };
    std::iter::once(operation.object).chain(lock)
}

/// Whether steps of different tasks could have met: two of them depend on each other, and neither spawning nor joining
/// puts one before the other.
///
/// Where this never holds, every execution of a program has the same outcome.
pub fn meets<'a>(trace: impl IntoIterator<Item = &'a Event>) -> bool {
    let mut meeting = Meeting::default();
    trace.into_iter().any(|event| meeting.note(event))
}

/// Follows an execution for [`meets`].
#[derive(Default)]
struct Meeting {
    /// For each task, how many events of each task it knows of through spawning and joining alone.
    clocks: Vec<Vec<usize>>,
    /// The tasks by their objects.
    tasks: BTreeMap<ObjectId, usize>,
    /// For each object, the operations with their task and the number of the event among the events of that task.
    objects: BTreeMap<ObjectId, Vec<(Operation, TaskId, usize)>>,
}

impl Meeting {
    /// Adds an event. Returns true when the event meets an earlier one.
    fn note(&mut self, &Event { task, operation, .. }: &Event) -> bool {
        let at = self.clock(task.index()).len().max(task.index() + 1);
        let clock = self.clock(task.index());
        clock.resize(at, 0);
        clock[task.index()] += 1;
        let number = clock[task.index()];
        match (operation.action, self.tasks.get(&operation.object)) {
            (Action::Spawn, None) => {
                // Tasks are numbered in the order in which they were spawned; 0 is the main one.
                let child = self.tasks.len() + 1;
                self.tasks.insert(operation.object, child);
                let inherited = self.clock(task.index()).clone();
                *self.clock(child) = inherited;
            }
            (Action::Join, Some(&joined)) => {
                let seen = self.clock(joined).clone();
                let clock = self.clock(task.index());
                clock.resize(clock.len().max(seen.len()), 0);
                clock.iter_mut().zip(seen).for_each(|(mine, theirs)| *mine = (*mine).max(theirs));
            }
            // A look at the clock of the execution shares nothing of the program.
            (Action::Consult | Action::Affect, _) => return false,
            (action, _) if action.is_private() => return false,
            _ => {}
        }
        let clock = self.clocks[task.index()].clone();
        let knows = |other: TaskId, number: usize| clock.get(other.index()).is_some_and(|&seen| seen >= number);
        let mut meets = false;
        for object in objects_of(&operation) {
            let known = self.objects.entry(object).or_default();
            meets |= known
                .iter()
                .any(|(done, other, number)| *other != task && !knows(*other, *number) && operation.depends(done));
            let same = |(done, other, _): &&mut (Operation, TaskId, usize)| {
                *other == task && (done.object, done.action) == (operation.object, operation.action)
            };
            match known.iter_mut().find(same) {
                Some((.., last)) => *last = number,
                None => known.push((operation, task, number)),
            }
        }
        meets
    }

    fn clock(&mut self, task: usize) -> &mut Vec<usize> {
        if self.clocks.len() <= task {
            self.clocks.resize_with(task + 1, Vec::new);
        }
        &mut self.clocks[task]
    }
}

#[cfg(test)]
mod tests;
