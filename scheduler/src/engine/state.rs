//! The state of an execution: tasks, objects, and which tasks are enabled. No fibers here.

use std::time::Duration;

use interloper_std::runtime::{
    Action, ExecutionId, ExecutionIds, Mode, Need, ObjectId, ObjectKind, Operation, Place, TaskId, Woken,
};

use super::fiber::Way;
use super::looks::Looks;
use super::object::{Holders, Object};
use super::progress::{NO_TASK, Timer};
use super::task::{Gate, Slots, Task};
use crate::decisions::Decision;
use crate::execution::{End, Event, Held, Notice, PanicReport, TaskReport};
use crate::freedoms::{Freedom, Freedoms};
use crate::strategy::Pending;
use crate::traces::Pick;

/// As many freedoms have an object: see [`State::object_of`].
pub(super) const FREEDOM_OBJECTS: usize = 5;

/// Of how many tasks [`State::contenders_are_right`] looks at the gate.
const MOST_CHECKED: usize = 64;

/// Everything that changes while a program runs.
pub(super) struct State {
    pub(super) execution: ExecutionId,
    /// The next ones.
    executions: ExecutionIds,
    /// The tasks of this execution are the first `live` ones; the others keep their memory for the next.
    pub(super) tasks: Vec<Task>,
    pub(super) live: usize,
    /// How many of them have not ended.
    pub(super) unfinished: usize,
    pub(super) objects: Vec<Object>,
    /// The enabled tasks and their operations, in the order of tasks.
    pub(super) enabled: Vec<Pending>,
    /// A lock that was taken or given back since the last choice, and its holders before that: the tasks that contend for it are not
    /// updated yet. Most critical sections are over before the next choice, and then there is nothing to update.
    stale: Option<(ObjectId, Holders)>,
    /// The running task, or the one that was chosen to run next.
    pub(super) current: usize,
    pub(super) steps: u64,
    pub(super) preemptions: u64,
    pub(super) trace: Vec<Event>,
    pub(super) decisions: Vec<Decision>,
    /// What executors of other crates said, with its place in the trace.
    pub(super) notices: Vec<Notice>,
    /// The decisions that were not about tasks, with their place in the trace.
    pub(super) picks: Vec<Pick>,
    /// Whether the current step changes anything that a waiting loop could see.
    pub(super) dirty: bool,
    /// How often a step has changed something.
    pub(super) changes: u64,
    /// The task that has made the last of these changes.
    pub(super) changer: usize,
    /// Tasks that wait for a change: they yielded, or go round in a loop that only reads.
    pub(super) yielded: Vec<usize>,
    /// How often, since the last change, all tasks that could go on were waiting for a change.
    pub(super) idle_rounds: u32,
    /// How many such rounds there were, each counted by its weight, since another task than the one before changed something, or a
    /// task saw a stale store: see [`State::waits_for_clock`].
    pub(super) vain: u32,
    /// In how many of these rounds a task was between two looks: they do not show that it looks in vain.
    pub(super) pauses: u32,
    pub(super) looks: Looks,
    /// Up to this step no question of fairness comes up; at most the bound.
    pub(super) fair: u64,
    /// The same, or the next look at the clock if that comes before.
    pub(super) limit: u64,
    /// The step at which the clock is looked at, if an execution is stopped when its time is over.
    pub(super) look: u64,
    /// The step at which another task last went on.
    pub(super) row: u64,
    /// The tasks that are held back so that others can go on, and until which step at most.
    pub(super) held_back: Vec<(usize, u64)>,
    /// Up to this step no task is held back, because the strategy looks whether one waits.
    pub(super) unhurried: u64,
    /// Whether the engine decided something that is normally the strategy's decision.
    pub(super) steered: bool,
    /// How far the clock has passed because tasks looked at it.
    pub(super) polled: Duration,
    /// Whether a task tried to take a lock.
    pub(super) tried: bool,
    /// How often the execution may depart from the ordinary.
    pub(super) granted: Freedoms,
    /// How often it still may depart.
    pub(super) free: Freedoms,
    /// How often it has departed.
    pub(super) used: Freedoms,
    /// A task was taken to wait for a change although it may go on.
    pub(super) withheld: bool,
    /// The answer that says which freedoms the execution has. The first decision about freedoms records it.
    pub(super) freedoms_answer: Option<u32>,
    /// The object that stands for the clock, where freedoms are granted.
    pub(super) clock_object: ObjectId,
    /// The objects that stand for how often the execution may still use each freedom, where any are granted.
    pub(super) freedom_objects: [ObjectId; FREEDOM_OBJECTS],
    pub(super) clock: Duration,
    /// Every task sees what was stored up to this step: after it the clock moved on, since nobody could go on. See `stale.rs`.
    pub(super) settled: u64,
    pub(super) timers: Vec<Timer>,
    /// The first step at which one of the timers, or one that is gone, is overdue.
    pub(super) overdue: u64,
    /// Orders waiters and timers by their age.
    pub(super) tickets: u64,
    pub(super) blocks: Vec<&'static str>,
    pub(super) shared: Slots,
    pub(super) panics: Vec<PanicReport>,
    pub(super) end: Option<End>,
    /// The tasks that could not go on when the execution ended early.
    pub(super) stuck: Vec<TaskReport>,
    /// The execution has ended early: tasks are unwound.
    pub(super) aborting: bool,
    /// The main task has returned and the remaining tasks are abandoned.
    pub(super) given_up: bool,
    /// A task was led out of its fiber: no task runs any more.
    pub(super) escaped: bool,
    /// Counts the events that let an unwinding task go on: the end of a task, the release of a lock.
    pub(super) abort_progress: u64,
    /// Tasks that are suspended while they unwind.
    pub(super) suspended_unwinding: usize,
}

/// Adds an object.
pub(super) fn register(objects: &mut Vec<Object>, kind: ObjectKind) -> ObjectId {
    let id = ObjectId::from_index(u32::try_from(objects.len()).expect("fewer than 2^32 objects"));
    objects.push(Object::new(kind));
    id
}

impl State {
    pub(super) fn new() -> State {
        State {
            execution: ExecutionId::fresh(),
            executions: ExecutionIds::new(),
            tasks: Vec::new(),
            live: 0,
            unfinished: 0,
            objects: Vec::new(),
            enabled: Vec::new(),
            stale: None,
            current: 0,
            steps: 0,
            preemptions: 0,
            trace: Vec::new(),
            notices: Vec::new(),
            decisions: Vec::new(),
            picks: Vec::new(),
            dirty: false,
            changes: 0,
            changer: NO_TASK,
            yielded: Vec::new(),
            idle_rounds: 0,
            vain: 0,
            pauses: 0,
            looks: Looks::default(),
            fair: 0,
            limit: 0,
            look: u64::MAX,
            row: 0,
            held_back: Vec::new(),
            unhurried: 0,
            steered: false,
            polled: Duration::ZERO,
            tried: false,
            granted: Freedoms::NONE,
            free: Freedoms::NONE,
            used: Freedoms::NONE,
            freedoms_answer: None,
            withheld: false,
            clock_object: ObjectId::from_index(0),
            freedom_objects: [ObjectId::from_index(0); FREEDOM_OBJECTS],
            clock: Duration::ZERO,
            settled: 0,
            timers: Vec::new(),
            overdue: u64::MAX,
            tickets: 0,
            blocks: Vec::new(),
            shared: Slots::default(),
            panics: Vec::new(),
            end: None,
            stuck: Vec::new(),
            aborting: false,
            given_up: false,
            escaped: false,
            abort_progress: 0,
            suspended_unwinding: 0,
        }
    }

    /// Makes ready for a new execution; memory stays.
    pub(super) fn reset(&mut self) {
        self.execution = self.executions.fresh();
        (self.live, self.unfinished, self.current, self.steps, self.preemptions) = (0, 0, 0, 0, 0);
        self.objects.clear();
        self.enabled.clear();
        self.stale = None;
        self.trace.clear();
        self.notices.clear();
        self.decisions.clear();
        self.picks.clear();
        (self.dirty, self.changes, self.idle_rounds, self.pauses) = (false, 0, 0, 0);
        (self.changer, self.vain) = (NO_TASK, 0);
        self.looks.forget();
        self.yielded.clear();
        (self.fair, self.limit, self.row, self.steered, self.polled) = (0, 0, 0, false, Duration::ZERO);
        self.held_back.clear();
        (self.tried, self.unhurried) = (false, 0);
        (self.granted, self.free, self.used) = (Freedoms::NONE, Freedoms::NONE, Freedoms::NONE);
        (self.freedoms_answer, self.withheld) = (None, false);
        (self.clock, self.settled) = (Duration::ZERO, 0);
        self.timers.clear();
        self.overdue = u64::MAX;
        self.tickets = 0;
        self.blocks.clear();
        // Only after an escape is something left there.
        self.shared.forget();
        self.panics.clear();
        self.end = None;
        self.stuck.clear();
        self.given_up = false;
        (self.aborting, self.escaped, self.abort_progress, self.suspended_unwinding) = (false, false, 0, 0);
    }

    pub(super) fn register(&mut self, kind: ObjectKind) -> ObjectId {
        register(&mut self.objects, kind)
    }

    /// A new task, enabled.
    pub(super) fn add_task(&mut self, name: Option<String>, location: Place, body: Option<Box<dyn FnOnce()>>) -> usize {
        let index = self.live;
        let object = self.register(ObjectKind::Task);
        let start = Operation { object, action: Action::Start, location };
        if index == self.tasks.len() {
            self.tasks.push(Task::new(object, start));
        }
        self.tasks[index].restart(object, start, name, body);
        self.tasks[self.current].rounds.does_something_new();
        self.live += 1;
        self.unfinished += 1;
        self.enable(index);
        index
    }

    /// Sets the next step of a task, and its gate.
    pub(super) fn announce(&mut self, task: usize, operation: Operation, gate: Gate) {
        self.update();
        match self.tasks[task].position {
            Some(position) => self.enabled[position as usize].operation = operation,
            None => self.tasks[task].operation = operation,
        }
        self.set_gate(task, gate);
        match (self.tasks[task].position, self.is_open(task, gate)) {
            (Some(_), false) => self.disable(task),
            (None, true) => self.enable(task),
            _ => {}
        }
    }

    /// The next step of a task, or the step that it is making.
    pub(super) fn operation(&self, task: usize) -> Operation {
        match self.tasks[task].position {
            Some(position) => self.enabled[position as usize].operation,
            None => self.tasks[task].operation,
        }
    }

    /// How the fiber of a task is entered, if the task has started.
    #[inline(always)]
    pub(super) fn way_of(&self, task: usize) -> Option<Way> {
        self.tasks[task].link.as_ref().map(|link| link.way)
    }

    /// Sets the next step of the running task, which is enabled. Its gate is set when another task is chosen to run.
    #[inline(always)]
    pub(super) fn show(&mut self, task: usize, object: ObjectId, action: Action, location: Place) -> usize {
        let position = self.tasks[task].position.expect("the running task is among the enabled ones");
        let operation = &mut self.enabled[position as usize].operation;
        operation.object = object;
        operation.action = action;
        operation.location = location;
        position as usize
    }

    /// The task makes its step: it no longer contends.
    pub(super) fn proceed(&mut self, task: usize) {
        if self.tasks[task].gate != Gate::Open {
            self.set_gate(task, Gate::Open);
        }
    }

    /// The running task, whose gate is open, waits for its turn at this one.
    #[inline(always)]
    pub(super) fn enter_gate(&mut self, task: usize, gate: Gate) {
        if gate != Gate::Open {
            self.tasks[task].gate = gate;
            self.contend(task, gate, 1);
        }
    }

    /// The task goes on through the gate that it entered.
    #[inline(always)]
    pub(super) fn leave_gate(&mut self, task: usize, gate: Gate) {
        if gate != Gate::Open {
            self.tasks[task].gate = Gate::Open;
            self.contend(task, gate, -1);
        }
    }

    pub(super) fn set_gate(&mut self, task: usize, gate: Gate) {
        self.contend(task, self.tasks[task].gate, -1);
        self.tasks[task].gate = gate;
        self.contend(task, gate, 1);
    }

    #[inline(always)]
    fn contend(&mut self, task: usize, gate: Gate, by: i32) {
        match gate {
            Gate::Open => {}
            Gate::Lock(lock, _) | Gate::LockRecursive(lock) | Gate::Convert(lock, ..) => {
                self.objects[lock.index()].contenders += by;
            }
            Gate::Queue(queue) => self.objects[queue.index()].waiters += by,
            Gate::Needs => {
                self.tasks[task].needs.iter().for_each(|need| self.objects[need.lock.index()].contenders += by);
            }
            Gate::Ended(_) | Gate::Token | Gate::Clock | Gate::Change => {}
        }
    }

    #[inline(always)]
    pub(super) fn is_open(&self, task: usize, gate: Gate) -> bool {
        match gate {
            Gate::Open => true,
            Gate::Lock(lock, mode) => self.objects[lock.index()].holders.admit(mode),
            Gate::LockRecursive(lock) => self.objects[lock.index()].holders.admit_beside(Mode::Shared),
            Gate::Convert(lock, from, to) => self.objects[lock.index()].holders.admit_change(from, to),
            Gate::Needs => self.tasks[task].needs.iter().all(|need| self.is_free(need)),
            Gate::Ended(other) => self.tasks[other.index()].done,
            Gate::Token => self.tasks[task].token,
            Gate::Queue(_) | Gate::Clock | Gate::Change => false,
        }
    }

    pub(super) fn is_free(&self, need: &Need) -> bool {
        self.objects[need.lock.index()].holders.admit(need.mode)
    }

    /// The holders of a lock have changed for which other tasks contend. Whether these are enabled is found out before anybody asks:
    /// see [`State::update`].
    #[inline(always)]
    fn put_off(&mut self, lock: ObjectId, before: Holders) {
        match self.stale {
            Some((other, _)) if other == lock => {}
            None => self.stale = Some((lock, before)),
            Some(_) => {
                self.update();
                self.stale = Some((lock, before));
            }
        }
    }

    /// Updates the tasks that contend for a lock which was taken or given back. Runs before anybody looks which tasks are enabled, and
    /// before another task contends for a lock.
    #[inline(always)]
    pub(super) fn update(&mut self) {
        if self.stale.is_some() {
            self.update_some();
        }
    }

    #[inline(never)]
    fn update_some(&mut self) {
        if let Some((lock, before)) = self.stale.take()
            && self.objects[lock.index()].holders != before
        {
            self.refresh(lock);
        }
    }

    /// Updates the tasks that contend for an object.
    #[cold]
    #[inline(never)]
    fn refresh(&mut self, object: ObjectId) {
        for task in 0..self.live {
            let concerned = match self.tasks[task].gate {
                Gate::Lock(lock, _) | Gate::LockRecursive(lock) | Gate::Convert(lock, ..) => lock == object,
                Gate::Needs => self.tasks[task].needs.iter().any(|need| need.lock == object),
                _ => false,
            };
            if concerned && !self.tasks[task].rests {
                match (self.is_open(task, self.tasks[task].gate), self.tasks[task].position) {
                    (true, None) => self.enable(task),
                    (false, Some(_)) => self.disable(task),
                    _ => {}
                }
            }
        }
    }

    /// Whether no update is due: each task that contends for locks is enabled if it can have them, and only then. Looks at the first
    /// tasks, so that an execution of many tasks takes time in proportion.
    pub(super) fn contenders_are_right(&self) -> bool {
        (0..self.live.min(MOST_CHECKED)).all(|task| {
            let place = &self.tasks[task];
            let contends =
                matches!(place.gate, Gate::Lock(..) | Gate::LockRecursive(_) | Gate::Convert(..) | Gate::Needs);
            !contends || place.rests || place.done || self.is_open(task, place.gate) == place.position.is_some()
        })
    }

    #[inline]
    pub(super) fn enable(&mut self, task: usize) {
        let place = &mut self.tasks[task];
        let pending = Pending { task: TaskId(task as u32), operation: place.operation };
        match self.enabled.last() {
            Some(last) if last.task > pending.task => self.insert(pending),
            _ => {
                place.position = Some(self.enabled.len() as u32);
                self.enabled.push(pending);
            }
        }
    }

    #[inline]
    pub(super) fn disable(&mut self, task: usize) {
        let place = &mut self.tasks[task];
        if let Some(index) = place.position.take() {
            let index = index as usize;
            // Field by field, as they were written: a copy of the whole would stall until the memory is written.
            let Operation { object, action, location } = self.enabled[index].operation;
            place.operation = Operation { object, action, location };
            if index + 1 == self.enabled.len() {
                self.enabled.truncate(index);
            } else {
                self.remove(index);
            }
        }
    }

    /// An operation is enabled before others.
    #[inline(never)]
    fn insert(&mut self, pending: Pending) {
        let index = self.enabled.partition_point(|other| other.task < pending.task);
        self.enabled.insert(index, pending);
        self.number_from(index);
    }

    /// An operation before others is no longer enabled.
    #[inline(never)]
    fn remove(&mut self, index: usize) {
        self.enabled.remove(index);
        self.number_from(index);
    }

    fn number_from(&mut self, start: usize) {
        for (index, pending) in self.enabled.iter().enumerate().skip(start) {
            self.tasks[pending.task.index()].position = Some(index as u32);
        }
    }

    /// The task takes the lock. The other tasks that contend for it are updated.
    #[inline(always)]
    pub(super) fn take(&mut self, task: usize, lock: ObjectId, mode: Mode, location: Place) {
        let object = &mut self.objects[lock.index()];
        let before = object.holders;
        assert!(before.admit_beside(mode), "a lock that is not free is taken");
        object.holders.add(mode);
        let contended = object.contenders > 0;
        self.tasks[task].held.push(Held { lock, mode, location });
        if contended {
            self.put_off(lock, before);
        }
    }

    /// The running task begins to wait for a reader-writer lock as a writer. It may hold the lock already, in the mode
    /// `holds`.
    pub(super) fn contend_for(&mut self, task: usize, lock: ObjectId, holds: Option<Mode>) {
        self.tasks[task].contends = Some(lock);
        let object = &mut self.objects[lock.index()];
        let before = object.holders;
        object.begin_writer(holds.is_some());
        if holds.map_or(before, |mode| before.without(mode)).any() {
            self.used = self.used.with(Freedom::Writers, 1);
        }
        if object.contenders > 0 {
            self.put_off(lock, before);
        }
    }

    /// The writer has the lock for which it waited.
    pub(super) fn contend_no_more(&mut self, task: usize) {
        if let Some(lock) = self.tasks[task].contends.take() {
            self.objects[lock.index()].end_writer();
        }
    }

    /// The lock is released: by its holder, or by another task that was given the guard. Returns where it was taken.
    #[inline(always)]
    pub(super) fn give_back(&mut self, task: usize, lock: ObjectId, mode: Mode) -> Option<Place> {
        let last = self.tasks[task].held.pop_if(|held| held.lock == lock && held.mode == mode);
        let location = match last {
            Some(held) => held.location,
            None => self.find_held(task, lock, mode)?,
        };
        let object = &mut self.objects[lock.index()];
        let before = object.holders;
        object.holders.remove(mode);
        self.abort_progress += 1;
        if object.contenders > 0 {
            self.put_off(lock, before);
        }
        Some(location)
    }

    /// Removes, from the list of its holder, a lock that is not the last one that the task took.
    #[cold]
    fn find_held(&mut self, task: usize, lock: ObjectId, mode: Mode) -> Option<Place> {
        let held_by = |task: &Task| task.held.iter().rposition(|held| held.lock == lock && held.mode == mode);
        let others = || self.tasks[..self.live].iter().enumerate();
        let found = held_by(&self.tasks[task])
            .map(|at| (task, at))
            .or_else(|| others().find_map(|(index, task)| Some((index, held_by(task)?))));
        match found {
            Some((holder, at)) => Some(self.tasks[holder].held.remove(at).location),
            // The guard of a wait that was cut short.
            None if self.aborting => None,
            None => panic!("a lock that is given back is held in this mode"),
        }
    }

    /// The task holds the lock in another mode.
    pub(super) fn change_mode(&mut self, task: usize, lock: ObjectId, from: Mode, to: Mode, location: Place) {
        let held = self.tasks[task].held.iter_mut().rfind(|held| held.lock == lock && held.mode == from);
        let held = held.expect("a lock whose mode is changed is held in the old one");
        (held.mode, held.location) = (to, location);
        let object = &mut self.objects[lock.index()];
        let before = object.holders;
        object.holders.remove(from);
        object.holders.add(to);
        self.abort_progress += 1;
        if object.contenders > 0 {
            self.put_off(lock, before);
        }
    }

    pub(super) fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// The `number`th oldest waiter of a queue.
    pub(super) fn waiter(&self, queue: ObjectId, number: u32) -> Option<usize> {
        let mut waiters: Vec<_> = (0..self.live).filter(|&task| self.tasks[task].gate == Gate::Queue(queue)).collect();
        waiters.sort_unstable_by_key(|&task| self.tasks[task].ticket);
        waiters.get(number as usize).copied()
    }

    /// A waiting task stops waiting: it is enabled as soon as the step after its wait is.
    pub(super) fn rouse(&mut self, task: usize, woken: Woken) {
        self.timers.retain(|timer| timer.task != task);
        self.tasks[task].woken = woken;
        self.tasks[task].cause = match woken {
            Woken::Notified => self.present(),
            Woken::TimedOut => self.idle(),
        };
        let (operation, after) = (self.operation(task), self.tasks[task].after);
        self.announce(task, operation, after);
    }

    /// A task has ended.
    pub(super) fn finish(&mut self, task: usize) {
        self.disable(task);
        self.tasks[task].done = true;
        self.unfinished -= 1;
        self.dirty = true;
        self.abort_progress += 1;
        for other in 0..self.live {
            if self.tasks[other].gate == Gate::Ended(TaskId(task as u32)) && self.tasks[other].position.is_none() {
                self.tasks[other].cause = self.present();
                self.enable(other);
            }
        }
    }

    /// The current step, an attempt of the running task, has only read.
    pub(super) fn turn_out_only_read(&mut self) {
        self.dirty = false;
        self.tasks[self.current].rounds.only_read();
        self.spins(self.current, self.operation(self.current));
        if let Some(event) = self.trace.iter_mut().rfind(|event| !event.continues) {
            event.only_read = true;
        }
    }
}
