//! The tasks of executors of other crates: which steps are theirs, who wakes them, and where they are suspended.
//!
//! An executor runs its tasks on a few threads. A report gives each task a column of its own: a step that a thread makes while
//! it works on a task is a step of that task.

use std::collections::{BTreeMap, BTreeSet};

use interloper_harness::faults::Drawn;
use interloper_report::{Event as Shown, Row};
use interloper_scheduler::words::Names;
use interloper_scheduler::{Cause, Event, Fault, Notice, SourcePlace, TaskReport};
use interloper_std::runtime::{ObjectId, TaskId, Told};

use super::backtraces::is_elsewhere;
use super::describe::Scene;
use super::futures::{self, WakersLeft};

/// What the first step of a poll is called.
pub(super) const IS_POLLED: &str = "is polled";

/// The tasks of one execution.
#[derive(Debug, Default)]
pub(super) struct Polls {
    /// How many tasks the engine has. The tasks of executors are numbered after them.
    threads: u32,
    /// By event: which thread made it.
    threads_of: Vec<TaskId>,
    /// By event: for whom.
    actors: Vec<TaskId>,
    /// The tasks, in the order of spawning.
    tasks: Vec<Polled>,
    /// The futures of `block_on`, by their threads.
    blocked: BTreeMap<TaskId, Polled>,
    /// What happens to tasks at events.
    edges: BTreeMap<usize, Vec<Edge>>,
    /// Futures that were dropped before they were ready: before which event, and where they were suspended.
    cancelled: Vec<(usize, TaskId, Option<usize>)>,
    /// Whom a thread works for at the end.
    last: BTreeMap<TaskId, TaskId>,
    /// Several threads work on tasks.
    many: bool,
    /// Events that count wakers.
    counts: BTreeSet<usize>,
}

/// A task, or the future of a `block_on`.
#[derive(Debug, Default)]
struct Polled {
    /// The event at which it was spawned.
    spawned: Option<usize>,
    /// The last event of its last poll, if it is suspended.
    suspended: Option<usize>,
    /// What its last poll touched, with the events.
    touched: Vec<(usize, ObjectId)>,
    /// The events of its last poll begin here.
    polled: usize,
    /// How many wakers are left; `None` if nobody counts them.
    wakers: Option<i64>,
    /// Who dropped the last one, after which event.
    dropped: Option<(TaskId, Option<usize>)>,
    /// Who called a waker since the last poll, and the event.
    woken: Option<(TaskId, usize)>,
    /// Whether the future was polled since a thread began to work on the task.
    was_polled: bool,
    has_ended: bool,
}

/// What an event means for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Spawns(TaskId),
    Wakes(TaskId),
    /// A thread begins to work on the task, which was woken by another one, and was suspended or spawned at this event.
    Begins {
        thread: TaskId,
        woken: Option<(TaskId, usize)>,
        from: Option<usize>,
    },
    /// The future of `block_on` is polled again.
    Resumes {
        woken: (TaskId, usize),
    },
}

/// What was seen so far.
#[derive(Default)]
struct Reading {
    /// The tasks by their addresses.
    known: BTreeMap<usize, TaskId>,
    /// The threads that block on a future, by what its wakers know.
    blocks: BTreeMap<usize, TaskId>,
    /// Whom each thread works for.
    works: BTreeMap<TaskId, TaskId>,
    /// What the next event of a thread means.
    pending: BTreeMap<TaskId, Vec<Edge>>,
    /// The last event of each thread.
    last: BTreeMap<TaskId, usize>,
    /// Events that count wakers.
    counts: BTreeSet<usize>,
    /// Threads whose next event counts wakers.
    counting: BTreeSet<TaskId>,
    workers: BTreeSet<TaskId>,
}

impl Polls {
    /// Reads what executors said in an execution.
    pub(super) fn new(trace: &[Event], notices: &[Notice], threads: usize) -> Polls {
        let mut polls = Polls { threads: threads as u32, ..Polls::default() };
        let mut reading = Reading::default();
        let mut notices = notices.iter().peekable();
        for index in 0..=trace.len() {
            while let Some(notice) = notices.next_if(|notice| notice.before as usize <= index) {
                polls.note(&mut reading, notice, index, trace);
            }
            if let Some(event) = trace.get(index) {
                polls.pass(&mut reading, event, index);
            }
        }
        (polls.last, polls.counts) = (reading.works, reading.counts);
        polls.many = reading.workers.len() > 1;
        polls
    }

    /// A step is made.
    fn pass(&mut self, reading: &mut Reading, event: &Event, index: usize) {
        let thread = event.task;
        let actor = reading.works.get(&thread).copied().unwrap_or(thread);
        self.threads_of.push(thread);
        self.actors.push(actor);
        if let Some(edges) = reading.pending.remove(&thread) {
            self.edges.insert(index, edges);
        }
        if reading.counting.remove(&thread) {
            reading.counts.insert(index);
        }
        reading.last.insert(thread, index);
        // A thread that waits for its future is woken as threads are.
        if let (Cause::Event(by), Some(blocked)) = (event.cause, self.blocked.get_mut(&thread))
            && blocked.suspended.is_some()
        {
            let by = by as usize;
            blocked.woken = blocked.woken.or_else(|| Some((*self.actors.get(by)?, by)));
        }
    }

    fn note(&mut self, reading: &mut Reading, notice: &Notice, index: usize, trace: &[Event]) {
        let Notice { by: thread, about, told, .. } = *notice;
        let last = reading.last.get(&thread).copied();
        let by = reading.works.get(&thread).copied().unwrap_or(thread);
        if told == Told::Spawned {
            let task = TaskId(self.threads + self.tasks.len() as u32);
            reading.known.insert(about, task);
            self.tasks.push(Polled { spawned: Some(index), wakers: Some(0), ..Polled::default() });
            return reading.pending.entry(thread).or_default().push(Edge::Spawns(task));
        }
        if told == Told::BlocksOn {
            reading.blocks.insert(about, thread);
            let blocked = self.blocked.entry(thread).or_default();
            let woken = blocked.woken.take();
            (blocked.suspended, blocked.polled) = (None, index);
            if let Some(woken) = woken.filter(|(waker, _)| *waker != thread) {
                reading.pending.entry(thread).or_default().push(Edge::Resumes { woken });
            }
            return;
        }
        let Some(task) = reading.known.get(&about).or_else(|| reading.blocks.get(&about)).copied() else { return };
        let Some(polled) = self.polled_mut(task) else { return };
        let pending = reading.pending.entry(thread).or_default();
        match told {
            Told::Spawned | Told::BlocksOn => {}
            Told::Begins => {
                let woken = polled.woken.take();
                polled.was_polled = false;
                reading.works.insert(thread, task);
                reading.workers.insert(thread);
                let from = polled.suspended.or(polled.spawned);
                pending.push(Edge::Begins { thread, woken, from });
            }
            Told::Polled => {
                (polled.was_polled, polled.polled, polled.suspended) = (true, index, None);
            }
            Told::Suspended => {
                let own = |event: &usize| trace[*event].task == thread && !reading.counts.contains(event);
                let touched = (polled.polled..index).filter(own);
                polled.touched = touched.map(|event| (event, trace[event].operation.object)).collect();
                polled.suspended = last;
                if polled.wakers == Some(0) {
                    polled.dropped = None;
                }
            }
            Told::Ended => {
                // A future that is polled to its end is not suspended.
                let was_suspended = polled.suspended.take();
                let is_cancelled = was_suspended.is_some() || !polled.was_polled;
                polled.has_ended = true;
                if is_cancelled {
                    self.cancelled.push((index, task, was_suspended));
                }
            }
            Told::Leaves => {
                reading.works.remove(&thread);
            }
            Told::Kept => {
                polled.wakers = polled.wakers.map(|wakers| wakers + 1);
                reading.counting.insert(thread);
            }
            Told::Dropped | Told::Woken | Told::WokenOnce => {
                if told != Told::Woken {
                    polled.wakers = polled.wakers.map(|wakers| wakers - 1);
                }
                if told == Told::Dropped {
                    polled.dropped = Some((by, last));
                    reading.counting.insert(thread);
                } else if !polled.has_ended {
                    polled.woken = Some((by, index));
                    pending.push(Edge::Wakes(task));
                }
            }
        }
        if pending.is_empty() {
            reading.pending.remove(&thread);
        }
    }

    fn polled_mut(&mut self, task: TaskId) -> Option<&mut Polled> {
        match task.0.checked_sub(self.threads) {
            Some(number) => self.tasks.get_mut(number as usize),
            None => self.blocked.get_mut(&task),
        }
    }

    /// Whether executors of other crates ran tasks.
    pub(super) fn any(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// How many columns threads and tasks have.
    pub(super) fn columns(&self) -> usize {
        self.threads as usize + self.tasks.len()
    }

    /// Calls the tasks `task 1` and so on.
    pub(super) fn name(&self, names: &mut Names) {
        for number in 0..self.tasks.len() as u32 {
            names.call(TaskId(self.threads + number), format!("task {}", number + 1));
        }
    }

    /// The lines of events without those that are not in the future of a task: the line that runs the executor.
    pub(super) fn inside(&self, mut lines: Vec<Option<SourcePlace>>) -> Vec<Option<SourcePlace>> {
        let mut outside: BTreeMap<TaskId, Option<SourcePlace>> = BTreeMap::new();
        for (event, actor) in self.actors.iter().enumerate().filter(|(_, actor)| actor.0 >= self.threads) {
            let begins = |edge: &Edge| matches!(edge, Edge::Begins { .. });
            let Some(line) = lines.get_mut(event) else { break };
            if self.edges.get(&event).is_some_and(|edges| edges.iter().any(begins)) {
                outside.insert(*actor, line.clone());
            }
            if outside.get(actor).is_some_and(|outside| outside == line) {
                *line = None;
            }
        }
        lines
    }

    /// Who made the event: a task, or the thread itself.
    pub(super) fn actor(&self, event: usize) -> TaskId {
        self.actors[event]
    }

    /// The fault as one of tasks.
    pub(super) fn of_tasks(&self, fault: &Fault) -> Fault {
        let mut fault = fault.clone();
        let made = fault.block.as_mut().and_then(|block| block.made.as_mut());
        for touch in fault.first.iter_mut().chain([&mut fault.second]).chain(made) {
            let before = self.threads_of.iter().zip(&self.actors).take(touch.event as usize);
            if let Some((_, actor)) = before.rev().find(|(thread, _)| **thread == touch.task) {
                touch.task = *actor;
            }
        }
        fault
    }

    /// Whom the thread works for at its last event.
    pub(super) fn at_end(&self, thread: TaskId) -> TaskId {
        self.last.get(&thread).copied().unwrap_or(thread)
    }

    /// Whether a thread waits for its own future.
    pub(super) fn blocks(&self, thread: TaskId) -> bool {
        self.at_end(thread) == thread && self.blocked.get(&thread).is_some_and(|polled| polled.suspended.is_some())
    }

    /// Whether a thread does nothing but run tasks, and none now: it waits for the next one.
    pub(super) fn is_idle(&self, report: &TaskReport, lines: &[Option<SourcePlace>]) -> bool {
        let own = self.actors.iter().zip(lines).filter(|(actor, _)| **actor == report.task);
        let works_for_itself = self.at_end(report.task) == report.task && !self.blocked.contains_key(&report.task);
        let has_no_line = !lines.is_empty() && own.map(|(_, line)| line).all(Option::is_none);
        self.any() && works_for_itself && has_no_line && report.holds.is_empty() && report.waits_for.is_empty()
    }

    /// Whether the row says only what an executor does, between the polls of tasks or around them.
    pub(super) fn is_of_executor(&self, drawn: &Drawn, lines: &[Option<SourcePlace>]) -> bool {
        let has_no_line = drawn.is_event && lines.get(drawn.index).is_some_and(Option::is_none);
        let is_elsewhere = drawn.row.location.as_deref().is_some_and(is_elsewhere);
        self.any() && has_no_line && is_elsewhere && !drawn.is_marked && !self.edges.contains_key(&drawn.index)
    }

    /// What an event means for tasks, for the row of the event.
    pub(super) fn mark(&self, index: usize, row: &mut Row, scene: &Scene<'_>) {
        for edge in self.edges.get(&index).into_iter().flatten() {
            match *edge {
                Edge::Spawns(task) => row.notes.push(format!("spawns {}", scene.names.task(task))),
                Edge::Wakes(task) => row.notes.push(format!("wakes {}", scene.names.task(task))),
                Edge::Begins { thread, woken, from } => {
                    row.event = Shown::Operation(IS_POLLED.to_owned());
                    row.location = from.map(|event| scene.line_of(event));
                    let by = self.many.then(|| format!("polled by {}", scene.names.task(thread)));
                    row.notes.extend(by.into_iter().chain(woken.map(|woken| scene.woken(woken))));
                }
                Edge::Resumes { woken } => row.notes.push(scene.woken(woken)),
            }
        }
    }

    /// A row for each future that was dropped before it was ready.
    pub(super) fn cancellations(&self, scene: &Scene<'_>) -> Vec<Drawn> {
        let row = |&(index, task, suspended): &(usize, TaskId, Option<usize>)| {
            let place = suspended.filter(|event| scene.knows(*event)).map(|event| scene.line_of(event));
            let at = match (&place, suspended) {
                (Some(place), _) => format!("its future is dropped at the await at {place}"),
                (None, Some(_)) => "its future is dropped where it is suspended".to_owned(),
                (None, None) => "its future is dropped before its first poll".to_owned(),
            };
            let event = Shown::Operation("is cancelled".to_owned());
            let row = Row { location: place, notes: vec![at], ..Row::event(task.index(), event) };
            Drawn { index, is_event: false, is_marked: true, row }
        };
        self.cancelled.iter().map(row).collect()
    }

    /// The tasks that are suspended for ever, with the futures of `block_on`.
    fn suspended(&self) -> impl Iterator<Item = (TaskId, &Polled)> {
        let tasks = (self.threads..).map(TaskId).zip(&self.tasks);
        let blocked = self.blocked.iter().map(|(thread, polled)| (*thread, polled));
        blocked.chain(tasks).filter(|(_, polled)| polled.suspended.is_some())
    }

    /// Which tasks are never polled again, for one line.
    pub(super) fn never_polled(&self, names: &Names) -> Option<String> {
        let (without, with): (Vec<_>, Vec<_>) = self.suspended().partition(|(_, polled)| polled.wakers == Some(0));
        let says = |tasks: Vec<(TaskId, &Polled)>, why: [&str; 2]| {
            let all: Vec<String> = tasks.iter().map(|(task, _)| names.task(*task)).collect();
            let (verb, why) = if all.len() == 1 { ("is", why[0]) } else { ("are", why[1]) };
            (!all.is_empty()).then(|| format!("{} {verb} never polled again: {why}", all.join(", ")))
        };
        let both = [
            says(without, ["no waker left", "no wakers left"]),
            says(with, ["nobody calls its waker", "nobody calls their wakers"]),
        ];
        let both: Vec<String> = both.into_iter().flatten().collect();
        (!both.is_empty()).then(|| both.join(", "))
    }

    /// Rows for the tasks that are never polled again, without the futures of `block_on`.
    pub(super) fn stuck(&self, scene: &Scene<'_>) -> Vec<Row> {
        let row = |(task, polled): (TaskId, &Polled)| {
            let known = polled.suspended.filter(|event| scene.knows(*event)).or(polled.spawned);
            let location = known.map(|event| scene.line_of(event));
            let event = Shown::Blocked("is never polled again".to_owned());
            Row { location, notes: self.said_of(task, polled, scene), ..Row::event(task.index(), event) }
        };
        self.suspended().filter(|(task, _)| task.0 >= self.threads).map(row).collect()
    }

    /// Where the future of a thread's `block_on` is suspended for ever, and what is known of it.
    pub(super) fn blocks_on(&self, thread: TaskId, scene: &Scene<'_>) -> Option<(String, Vec<String>)> {
        let polled = self.blocked.get(&thread).filter(|_| self.at_end(thread) == thread)?;
        Some((scene.line_of(polled.suspended?), self.said_of(thread, polled, scene)))
    }

    fn said_of(&self, task: TaskId, polled: &Polled, scene: &Scene<'_>) -> Vec<String> {
        let own = scene.names.task(task);
        let spawned = polled.spawned.map(|event| format!("spawned at {}", scene.line_of(event)));
        let known = polled.suspended.filter(|event| scene.knows(*event));
        let suspended = known.map(|event| format!("suspended at the await at {}", scene.line_of(event)));
        let wakers = polled.wakers.map(|wakers| {
            let dropped = polled
                .dropped
                .map(|(by, after)| (scene.names.task(by), after.map(|event| scene.line_of(event)).unwrap_or_default()));
            futures::wakers(
                &own,
                match dropped {
                    _ if wakers > 0 => WakersLeft::Some,
                    Some((by, after)) => WakersLeft::Dropped { by, after },
                    None => WakersLeft::NoneKept,
                },
            )
        });
        spawned.into_iter().chain(suspended).chain(wakers).chain(self.missed(task, polled, scene)).collect()
    }

    /// Who was the last to change what a suspended task waits for: whoever has to wake it, most likely.
    fn missed(&self, task: TaskId, polled: &Polled, scene: &Scene<'_>) -> Option<String> {
        let line = scene.line(polled.suspended?)?;
        // What the await itself looked at, and not what came before it in the same poll.
        let of_await = || polled.touched.iter().filter(|(event, _)| scene.line(*event) == Some(line));
        let objects: BTreeSet<ObjectId> = of_await().map(|(_, object)| *object).collect();
        let (began, _) = of_await().next()?;
        let others = scene.trace().iter().enumerate().rev();
        let changes = |(event, step): &(usize, &Event)| {
            let action = step.operation.action;
            self.actors[*event] != task
                && !self.counts.contains(event)
                && objects.contains(&step.operation.object)
                && !action.only_reads()
                && !step.only_read
                && scene.line(*event).is_some()
        };
        let (event, _) = others.filter(|(_, step)| !step.operation.action.is_private()).find(changes)?;
        let when = if event < *began { "before" } else { "after" };
        let (own, other) = (scene.names.task(task), scene.names.task(self.actors[event]));
        Some(format!("{other} changed what {own} waits for at {}, {when} {own} began to wait", scene.line_of(event)))
    }
}

#[cfg(test)]
#[path = "polls/tests.rs"]
mod tests;
