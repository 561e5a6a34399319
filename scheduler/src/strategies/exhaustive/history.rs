//! An execution as steps with happens-before, and the races in it.

use std::collections::BTreeMap;

use interloper_std::runtime::{Action, Mode, ObjectId, Operation, TaskId};

use super::index::Index;
use super::names::{Nth, Past, Sum, TaskName, Tasks, Use};
use super::sleep::{Sleeper, dependent};
use super::wakeup::{Future, Named, Object};
use crate::holding::{Hold, Holding};
use crate::vector_clock::VectorClock;
use crate::{Cause, Event};

/// The steps of an execution, in their order. What the next execution has in common with this one is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    trace: Vec<Event>,
    tasks: Tasks,
    steps: Vec<Step>,
    /// The step of each event.
    step_of: Vec<usize>,
    /// By task, its steps.
    of_task: Vec<Vec<usize>>,
    index: Index,
    /// The execution's name for each used object.
    objects: BTreeMap<Use, ObjectId>,
    /// Where each object was used.
    uses: BTreeMap<ObjectId, Vec<Use>>,
    /// The uses in the order in which they were noted, each with the number of its step.
    noted: Vec<(usize, Use)>,
    /// Where memory is weak, what each access to an atomic read or follows, by events.
    accesses: BTreeMap<u32, Option<u32>>,
    /// Memory of steps that were taken off.
    spare: Vec<Vec<Operation>>,
}

/// What a history is made of.
pub(super) type Parts = (Vec<Event>, (Tasks, (BTreeMap<u32, Option<u32>>, Vec<Vec<u32>>)));

/// What the order of two steps means.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Tie {
    /// The first one happens before the second one.
    orders: bool,
    /// The second one could come first, with another result.
    races: bool,
}

#[derive(Clone, Debug)]
struct Step {
    task: TaskId,
    effects: Vec<Operation>,
    /// Its events in the trace; empty for a step that its task could not make.
    events: std::ops::Range<usize>,
    cause: Cause,
    /// What happens before it, and the step itself.
    clock: VectorClock,
    past: Past,
    /// The pasts of all steps of its task up to this one.
    pasts: Sum,
    /// The earlier steps with which it races: the latest first.
    races: Vec<usize>,
    /// The answers to the decisions within it.
    answers: Vec<u32>,
}

impl History {
    /// Goes on to another execution. `answers` gives the answers to the decisions within a step. Returns how many steps the
    /// execution begins with in common with the one before.
    pub(super) fn follow<A: Iterator<Item = u32>>(
        &mut self,
        trace: &[Event],
        tasks: &Tasks,
        accesses: &[(u32, Option<u32>)],
        answers: impl Fn(usize) -> A,
    ) -> usize {
        let accesses = accesses.iter().copied().collect();
        let common = self.in_common(trace, &accesses, &answers);
        self.rewind(common);
        self.tasks.clone_from(tasks);
        self.accesses = accesses;
        let mut start = self.trace.len();
        self.trace.extend_from_slice(&trace[start..]);
        while start < trace.len() {
            let parts = trace[start + 1..].iter().take_while(|event| event.continues).count();
            let events = start..start + 1 + parts;
            self.step_of.resize(events.end, self.steps.len());
            let mut effects = self.spare.pop().unwrap_or_default();
            effects.extend(trace[events.clone()].iter().map(|event| event.operation));
            let answers = answers(self.steps.len()).collect();
            self.push(trace[start].task, effects, events.clone(), trace[start].cause, answers);
            start = events.end;
        }
        common
    }

    /// What the history is made of: the events of the execution, its tasks, its accesses and the answers to the decisions within
    /// each step. To follow them from the beginning gives the same history.
    pub(super) fn parts(&self) -> Parts {
        let answers = self.steps.iter().map(|step| step.answers.clone()).collect();
        (self.trace.clone(), (self.tasks.clone(), (self.accesses.clone(), answers)))
    }

    /// The history of these parts. `None` if they are those of no execution.
    pub(super) fn of_parts((trace, (tasks, (accesses, answers))): Parts) -> Option<History> {
        let is_earlier = |(number, event): (usize, &Event)| match event.cause {
            Cause::Event(cause) => (cause as usize) < number,
            Cause::Ready | Cause::Idle(_) => true,
        };
        let is_known = |event: &Event| event.task.index() < tasks.spawned.len();
        let steps = trace.iter().filter(|event| !event.continues).count();
        let begins = trace.first().is_none_or(|first| !first.continues);
        let is_whole = begins && steps == answers.len() && trace.iter().all(is_known);
        if !is_whole || !trace.iter().enumerate().all(is_earlier) {
            return None;
        }
        let mut history = History::default();
        let accesses: Vec<_> = accesses.into_iter().collect();
        history.follow(&trace, &tasks, &accesses, |step| answers[step].iter().copied());
        Some(history)
    }

    /// Forgets the execution.
    pub(super) fn clear(&mut self) {
        *self = History::default();
    }

    /// How many of the first steps are the same in another execution, with the same answers and the same stores read.
    fn in_common<A: Iterator<Item = u32>>(
        &self,
        trace: &[Event],
        accesses: &BTreeMap<u32, Option<u32>>,
        answers: impl Fn(usize) -> A,
    ) -> usize {
        let is_same = |(a, b): &(&Event, &Event)| {
            let key = |event: &Event| (event.task, event.operation.object, event.operation.action, event.only_read);
            key(a) == key(b) && (a.continues, a.cause) == (b.continues, b.cause)
        };
        let events = self.trace.iter().zip(trace).take_while(is_same).count();
        let differs = self.accesses.iter().zip(accesses).find(|(a, b)| a != b);
        let events = differs.map_or(events, |((a, _), (b, _))| events.min(*a.min(b) as usize));
        // The last step may have further parts in the other execution.
        let whole = |step: &Step| step.events.end < events;
        let steps = self.steps.iter().take_while(|step| !step.events.is_empty() && whole(step)).count();
        // Not slices: to compare two empty ones in memory takes as long as a step.
        (0..steps).take_while(|&step| self.steps[step].answers.iter().copied().eq(answers(step))).count()
    }

    /// Takes off all steps but so many first ones.
    fn rewind(&mut self, steps: usize) {
        while self.steps.len() > steps {
            self.pop();
        }
        let events = self.steps.last().map_or(0, |step| step.events.end);
        self.trace.truncate(events);
        self.step_of.truncate(events);
        while let Some((_, name)) = self.noted.pop_if(|(step, _)| *step >= steps) {
            let object = self.objects.remove(&name).expect("it was noted");
            self.uses.get_mut(&object).expect("it was noted").pop();
        }
    }

    /// A step that its task could not make: it is blocked.
    pub(super) fn push_blocked(&mut self, task: TaskId, effects: Vec<Operation>) -> usize {
        let end = self.trace.len();
        self.push(task, effects, end..end, Cause::Ready, Vec::new());
        self.steps.len() - 1
    }

    /// Takes the last step off again. What it used stays known.
    pub(super) fn pop(&mut self) {
        let Some(mut step) = self.steps.pop() else { return };
        self.index.pop(self.steps.len(), &step.effects);
        self.of_task[step.task.index()].pop();
        // Blocked steps bring memory, and take none.
        if self.spare.len() < self.steps.capacity() {
            step.effects.clear();
            self.spare.push(step.effects);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn task(&self, step: usize) -> TaskName {
        self.tasks.name(self.steps[step].task)
    }

    /// The number of the task in this execution.
    pub(super) fn task_id(&self, step: usize) -> TaskId {
        self.steps[step].task
    }

    /// What a step did.
    pub(super) fn effects(&self, step: usize) -> &[Operation] {
        &self.steps[step].effects
    }

    /// Whether a step begins with this event.
    pub(super) fn is_of(&self, step: usize, event: u32) -> bool {
        self.steps.get(step).is_some_and(|step| step.events.start == event as usize)
    }

    /// The second step as executions know it that begin with the steps before the first one.
    pub(super) fn nth_after(&self, first: usize, second: usize) -> Nth {
        let steps = &self.of_task[self.steps[second].task.index()];
        let before = |end: usize| steps.partition_point(|&step| step < end);
        Nth { task: self.task(second), count: (before(second) - before(first)) as u32 }
    }

    /// Whether a step turned out to have only read.
    pub(super) fn only_read(&self, step: usize) -> bool {
        self.trace
            .get(self.steps[step].events.clone())
            .is_some_and(|events| events.first().is_some_and(|e| e.only_read))
    }

    /// The answers to the decisions within a step.
    pub(super) fn answers(&self, step: usize) -> &[u32] {
        &self.steps[step].answers
    }

    /// The step as other executions know it, if it comes after a state with the objects up to `known`.
    pub(super) fn future(&self, known: Option<ObjectId>, step: usize) -> Future {
        let name = |object: ObjectId| match self.uses.get(&object) {
            Some(uses) if Some(object) > known && !uses.is_empty() => Object::New(uses.as_slice().into()),
            _ => Object::Known(object),
        };
        let named = |operation: &Operation| Named {
            operation: *operation,
            object: name(operation.object),
            lock: given_back(operation).map(name),
        };
        // No other task knows a task that is only about to be spawned.
        let effects = self.steps[step].effects.iter().filter(|effect| effect.action != Action::Spawn);
        let answers = self.steps[step].answers.clone();
        Future { task: self.task(step), known, effects: effects.map(named).collect(), answers }
    }

    /// The steps with which a later one races.
    pub(super) fn races_with(&self, second: usize) -> impl Iterator<Item = usize> + '_ {
        self.steps[second].races.iter().copied()
    }

    /// notdep(first).second: what came after the first step and does not depend on it, and then the second step.
    pub(super) fn reversed(&self, first: usize, second: usize) -> Vec<usize> {
        let mut sequence: Vec<_> = (first + 1..second).filter(|&step| !self.happens_before(first, step)).collect();
        sequence.push(second);
        sequence
    }

    /// Whether an execution that continues with `sequence` could as well continue with this step first: the step is a
    /// weak initial of the sequence.
    pub(super) fn may_begin(&self, sequence: &[usize], future: &Future) -> bool {
        match sequence.iter().position(|&step| self.task(step) == future.task) {
            Some(at) => self.is_first(sequence, at),
            None => sequence.iter().all(|&step| self.is_independent(future, &self.steps[step].effects)),
        }
    }

    /// As [`History::may_begin`], for a step that sleeps in the state before the sequence. A step that a first state has put to sleep
    /// must be a step of the sequence: otherwise a later step may depend on it, and no first state would have the sequence
    /// reversed that shows so.
    pub(super) fn may_begin_asleep(&self, sequence: &[usize], sleeper: &Sleeper) -> bool {
        match sequence.iter().position(|&step| self.steps[step].task == sleeper.task) {
            Some(at) => self.is_first(sequence, at),
            None => {
                let effects = |step: usize| (self.steps[step].task, &self.steps[step].effects[..]);
                let is_independent = |(task, effects)| sleeper.is_independent(task, effects);
                !sleeper.is_inherited && sequence.iter().all(|&step| is_independent(effects(step)))
            }
        }
    }

    /// Whether a step of the sequence need not come after another step of the sequence.
    fn is_first(&self, sequence: &[usize], at: usize) -> bool {
        // Happens-before of the execution would not do: it can pass through steps that are not in the sequence.
        !sequence[..at].iter().any(|&before| self.is_needed(before, sequence[at]))
    }

    /// Whether the order of a step of another execution and a step with these effects does not matter. An object that
    /// this execution cannot identify may be any new object.
    fn is_independent(&self, future: &Future, effects: &[Operation]) -> bool {
        // The end of the process depends on everything, whatever its object is.
        let may_be = |operation: &&Operation| Some(operation.object) > future.known || operation.action == Action::End;
        future.effects.iter().all(|named| match named.here(|name| self.objects.get(&name).copied()) {
            Some(operation) => !dependent(&[operation], effects),
            None => !effects.iter().filter(may_be).any(|effect| named.may_depend(effect)),
        })
    }

    /// Whether a step directly happens before a later step of another task, with no step between them in this order.
    fn is_needed(&self, before: usize, step: usize) -> bool {
        let is_cause = match self.steps[step].cause {
            Cause::Ready => false,
            Cause::Event(event) => self.step_of[event as usize] == before,
            Cause::Idle(events) => self.is_early(before, events),
        };
        is_cause || self.tie(before, step).orders
    }

    /// Whether a step is among the steps of this many first events of the trace.
    fn is_early(&self, step: usize, events: u32) -> bool {
        self.steps[step].events.start < events as usize
    }

    fn happens_before(&self, first: usize, second: usize) -> bool {
        self.steps[second].clock.covers(self.steps[first].task, first)
    }

    /// Adds a step with its clock and its races.
    fn push(
        &mut self,
        task: TaskId,
        effects: Vec<Operation>,
        events: std::ops::Range<usize>,
        cause: Cause,
        answers: Vec<u32>,
    ) {
        let number = self.steps.len();
        let name = self.tasks.name(task);
        if self.of_task.len() <= task.index() {
            self.of_task.resize(task.index() + 1, Vec::new());
        }
        let (mut clock, before, own) = match self.of_task[task.index()].last().map(|&before| &self.steps[before]) {
            Some(before) => (before.clock.clone(), before.past, before.pasts),
            None => (VectorClock::default(), Past::nothing(name), Sum::default()),
        };
        match cause {
            Cause::Ready => {}
            Cause::Event(event) => clock.join(&self.steps[self.step_of[event as usize]].clock),
            Cause::Idle(events) => {
                for steps in &self.of_task {
                    let early = steps.partition_point(|&step| self.is_early(step, events));
                    steps[..early].last().into_iter().for_each(|&step| clock.join(&self.steps[step].clock));
                }
            }
        }
        let (unknown, none) = (VectorClock::default(), Vec::new());
        self.steps.push(Step {
            task,
            effects,
            events,
            cause,
            clock: unknown,
            past: before,
            pasts: own,
            races: none,
            answers,
        });
        let races = self.find_races(number, &mut clock);
        // What happens before the step is the first steps of each task.
        let happened = clock.places().map(|(_, step)| self.steps[step].pasts);
        let past = Past::new(name, happened.fold(Sum::default(), Sum::and), &self.steps[number].answers);
        clock.set(task, number);
        let step = &mut self.steps[number];
        (step.clock, step.past, step.pasts, step.races) = (clock, past, own.with(past), races);
        self.index.push(number, task, &self.steps[number].effects);
        self.of_task[task.index()].push(number);
        self.note_uses(number, before);
    }

    /// Joins the clock with those of the steps that happen before this one, and gives the steps with which it races: the
    /// latest steps on which it depends. If it cannot come before one of them, it may still race with those that happen
    /// before that one.
    fn find_races(&self, number: usize, clock: &mut VectorClock) -> Vec<usize> {
        let Step { task, effects, .. } = &self.steps[number];
        let mut seen = clock.clone();
        let mut races = Vec::new();
        let mut look_at = |earlier: usize, seen: &mut VectorClock| {
            let other = &self.steps[earlier];
            let tie = self.tie(earlier, number);
            if tie.orders {
                clock.join(&other.clock);
            }
            if tie.races && self.is_feasible(earlier, number) {
                seen.join(&other.clock);
                races.push(earlier);
            } else if tie.orders && !tie.races {
                seen.join(&other.clock);
            }
        };
        if effects.iter().any(|effect| effect.action == Action::End) {
            for earlier in (0..number).rev() {
                if !seen.covers(self.steps[earlier].task, earlier) {
                    look_at(earlier, &mut seen);
                }
            }
            return races;
        }
        let mut candidates = self.index.candidates(*task, effects);
        while let Some(earlier) = candidates.next(&seen) {
            look_at(earlier, &mut seen);
        }
        races
    }

    /// What the order of two steps of different tasks means. Where memory is weak, an access to an atomic chooses among all
    /// stores that were made before it. So the order of a store and a later access matters only in one way: by what the
    /// later one reads. And if a store comes after a load, the load could have read it.
    fn tie(&self, first: usize, second: usize) -> Tie {
        let (one, other) = (&self.steps[first], &self.steps[second]);
        let Some((_, of)) = self.weak_access(first).zip(self.weak_access(second)) else {
            let depends = dependent(&one.effects, &other.effects);
            return Tie { orders: depends, races: depends };
        };
        if dependent(&one.effects[1..], &other.effects) || dependent(&one.effects[..1], &other.effects[1..]) {
            return Tie { orders: true, races: true };
        }
        if one.effects[0].object != other.effects[0].object {
            return Tie { orders: false, races: false };
        }
        let reads = |step: &Step| step.effects[0].action != Action::Write;
        let writes = |step: &Step| step.effects[0].action != Action::Read;
        let orders = reads(other) && of.is_some_and(|of| self.step_of[of as usize] == first);
        Tie { orders, races: reads(one) && writes(other) }
    }

    /// The atomic that a step accesses, where memory is weak.
    pub(super) fn atomic(&self, step: usize) -> Option<ObjectId> {
        self.weak_access(step).map(|_| self.steps[step].effects[0].object)
    }

    /// What an access to an atomic read or follows, where memory is weak: the event that stored it, if any did.
    fn weak_access(&self, step: usize) -> Option<Option<u32>> {
        let events = &self.steps.get(step)?.events;
        self.accesses.get(&(events.start as u32)).copied().filter(|_| !events.is_empty())
    }

    /// Records what a step uses. `before` is the step by which its task has come there.
    fn note_uses(&mut self, number: usize, before: Past) {
        let Step { effects, past, .. } = &self.steps[number];
        let lock = given_back(&effects[0]).map(|lock| (before.next_lock(), lock));
        let parts = effects.iter().enumerate().skip(1).map(|(part, effect)| (past.part(part), effect.object));
        for (name, object) in [(before.next(), effects[0].object)].into_iter().chain(lock).chain(parts) {
            if self.objects.insert(name, object).is_none() {
                self.uses.entry(object).or_default().push(name);
                self.noted.push((number, name));
            }
        }
    }

    /// Whether the second step is enabled after all steps between that do not depend on the first one, but without the
    /// first one.
    fn is_feasible(&self, first: usize, second: usize) -> bool {
        let step = &self.steps[second];
        let comes = |other: usize| other < first || (other > first && !self.happens_before(first, other));
        match step.cause {
            // No other task could go on; without a step made by then, that need not hold.
            Cause::Idle(events) if self.is_early(first, events) => return false,
            Cause::Event(event) if !comes(self.step_of[event as usize]) => return false,
            _ => {}
        }
        let events = |object: ObjectId| {
            let steps = self.index.of(object).iter().filter(|&&other| other < second && comes(other));
            steps.flat_map(|&other| &self.trace[self.steps[other].events.clone()])
        };
        let is_free = |part: &Operation| match part.action {
            Action::Pass(mode) => Holders::after(events(part.object), part.object).admit(mode),
            _ => true,
        };
        if !step.effects.iter().all(is_free) {
            return false;
        }
        let operation = step.effects[0];
        let events = events(operation.object);
        match operation.action {
            Action::Lock(mode) => Holders::after(events, operation.object).admit(mode),
            Action::LockRecursive => Holders::after(events, operation.object).admit_beside(Mode::Shared),
            Action::Convert(from, to) => {
                let mut holders = Holders::after(events, operation.object);
                holders.give_back(step.task, from);
                holders.admit_beside(to)
            }
            Action::Join => {
                let mut events = events;
                events.any(|event| is(event, Action::Exit, operation.object))
            }
            // A park that ends without the token needs no token.
            Action::Park if self.trace[step.events.clone()].first().is_some_and(|event| event.only_read) => true,
            Action::Park => events.into_iter().fold(false, |token, event| match () {
                () if is(event, Action::Unpark, operation.object) => true,
                () if is(event, Action::Park, operation.object) && !event.only_read => false,
                () => token,
            }),
            _ => true,
        }
    }
}

/// The lock that an operation releases besides what it does to its object.
pub(super) fn given_back(operation: &Operation) -> Option<ObjectId> {
    match operation.action {
        Action::Wait(lock) => lock,
        _ => None,
    }
}

fn is(event: &Event, action: Action, object: ObjectId) -> bool {
    event.operation.action == action && event.operation.object == object
}

/// The holders of a lock, and the writers that wait.
struct Holders {
    lock: ObjectId,
    holding: Holding,
    writers: Vec<TaskId>,
}

impl Holders {
    /// The holders after these events.
    fn after<'a>(events: impl Iterator<Item = &'a Event>, lock: ObjectId) -> Holders {
        let mut holders = Holders { lock, holding: Holding::default(), writers: Vec::new() };
        for event in events.filter(|event| event.operation.object == lock || given_back(&event.operation) == Some(lock))
        {
            holders.holding.note(event);
            let own = |writer: &TaskId| *writer == event.task;
            match event.operation.action {
                Action::Contend => holders.writers.push(event.task),
                Action::Lock(Mode::Exclusive) | Action::Convert(_, Mode::Exclusive) => {
                    holders.writers.retain(|writer| !own(writer));
                }
                Action::TryLock(Mode::Exclusive) if !event.only_read => holders.writers.retain(|writer| !own(writer)),
                _ => {}
            }
        }
        holders
    }

    fn give_back(&mut self, task: TaskId, mode: Mode) {
        self.holding.give_back(Hold { task, lock: self.lock, mode });
    }

    fn admit(&self, mode: Mode) -> bool {
        let hinders = |&writer: &TaskId| match mode {
            Mode::Exclusive => false,
            Mode::Upgradable => true,
            // A writer that waits for an upgradable holder lets readers in.
            Mode::Shared => {
                let held = |hold: &Hold| (hold.lock, hold.mode) == (self.lock, Mode::Upgradable);
                self.holding.holds().iter().all(|hold| !held(hold) || hold.task == writer)
            }
        };
        !self.writers.iter().any(hinders) && self.admit_beside(mode)
    }

    /// Whether the holders admit the mode, whatever tasks wait.
    fn admit_beside(&self, mode: Mode) -> bool {
        self.holding.admits(self.lock, mode)
    }
}

#[cfg(test)]
mod tests;
