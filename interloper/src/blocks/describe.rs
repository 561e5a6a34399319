//! An execution as a counterexample: one column for each task.

use interloper_report::{Column, Counterexample, Deadlock, Event as Shown, Lane, Order, Place as Spot, Row};
use interloper_scheduler::{End, Event, TaskReport};
use interloper_std::runtime::{Action, Mode, ObjectId, ObjectKind, Operation, TaskId};

use super::outcome::{Outcome, canonical_numbers, task_name};
use super::reference::block_name;
use super::report::Finding;
use super::runner::Made;
use super::sections::{Passage, Tracker};
use super::worker::{Found, Worker, kind_name};

/// Of a longer execution only the steps that matter most and the last ones are shown.
const SHOWN_STEPS: usize = 80;
const SHOWN_ORDERS: usize = 12;

/// Describes the execution that the worker has made last.
pub(crate) fn describe(worker: &Worker<'_>, name: &str, found: &Found, made: &Made) -> Counterexample {
    let trace = worker.runner().engine.trace();
    let scene = Scene::new(worker, &trace, made.execution.tasks);
    let mut rows = scene.steps(found);
    rows.extend(scene.ending(made));
    let cycle = match &made.execution.end {
        End::Deadlock(tasks) | End::Leaked(tasks) | End::Livelock(tasks) => scene.cycle(tasks),
        _ => None,
    };
    let detail = [cycle, Some(format!("execution {}", found.number + 1))];
    let orders = match (&found.finding, &made.outcome) {
        (Finding::Unexplained { .. }, Some(outcome)) => orders(worker, outcome),
        _ => Vec::new(),
    };
    Counterexample {
        name: name.to_owned(),
        verdict: found.finding.to_string(),
        detail: detail.into_iter().flatten().collect::<Vec<_>>().join(", "),
        start: "main".to_owned(),
        columns: (0..made.execution.tasks).map(|task| scene.column(TaskId(task as u32))).collect(),
        rows,
        orders,
        deadlock: match &made.execution.end {
            End::Deadlock(tasks) | End::Leaked(tasks) => scene.own_lock(tasks),
            _ => None,
        },
        replay: None,
    }
}

/// Each order of the blocks with what it has otherwise.
fn orders(worker: &Worker<'_>, seen: &Outcome) -> Vec<Order> {
    let orders = worker.judge().reference().orders();
    let order = |blocks: &[String], disagreement: String| Order {
        sequence: if blocks.is_empty() { "no blocks".to_owned() } else { blocks.join(", ") },
        disagreement,
    };
    let mut shown: Vec<Order> =
        orders.iter().take(SHOWN_ORDERS).map(|one| order(&one.blocks, one.outcome.difference(seen))).collect();
    if orders.len() > SHOWN_ORDERS {
        let more = format!("{} more", orders.len() - SHOWN_ORDERS);
        shown.push(Order { sequence: more, disagreement: "none of them gives the outcome".to_owned() });
    }
    shown
}

/// The execution and the names of what takes part in it.
struct Scene<'a> {
    worker: &'a Worker<'a>,
    trace: &'a [Event],
    numbers: Vec<TaskId>,
    /// The objects in the order of first use, with their kinds.
    objects: Vec<(ObjectId, Option<ObjectKind>)>,
    /// The tasks by their objects.
    tasks: Vec<(ObjectId, TaskId)>,
}

impl<'a> Scene<'a> {
    fn new(worker: &'a Worker<'a>, trace: &'a [Event], tasks: usize) -> Scene<'a> {
        let engine = &worker.runner().engine;
        let mut objects = Vec::new();
        for event in trace {
            let object = event.operation.object;
            if !objects.iter().any(|(other, _)| *other == object) {
                objects.push((object, engine.object_kind(object)));
            }
        }
        // Tasks are numbered in the order of spawning; the main one is not spawned.
        let spawned = trace.iter().filter(|event| event.operation.action == Action::Spawn);
        let spawned = spawned.enumerate().map(|(index, event)| (event.operation.object, TaskId(index as u32 + 1)));
        let main = trace.iter().find(|event| event.task == TaskId::MAIN && event.operation.action == Action::Start);
        let main = main.map(|event| (event.operation.object, TaskId::MAIN));
        let tasks = main.into_iter().chain(spawned).take(tasks).collect();
        Scene { worker, trace, numbers: canonical_numbers(trace), objects, tasks }
    }

    fn column(&self, task: TaskId) -> Column {
        Column { title: self.task(task), lane: Lane::Thread }
    }

    fn task(&self, task: TaskId) -> String {
        task_name(self.numbers.get(task.index()).copied().unwrap_or(task))
    }

    /// A row for each step, with the locks that its task holds then.
    fn steps(&self, found: &Found) -> Vec<Row> {
        let mut tracker = Tracker::new(self.worker.judge().rule().clone());
        let mut open: Vec<(TaskId, String)> = Vec::new();
        let mut held: Vec<(TaskId, ObjectId, Mode)> = Vec::new();
        let mut rows = Vec::new();
        for (index, event) in self.trace.iter().enumerate() {
            let engine = &self.worker.runner().engine;
            match tracker.note(event.task, event.operation) {
                Passage::Enters(_) => open.push((event.task, block_name(event, |number| engine.block_name(number)))),
                Passage::Leaves(_) | Passage::Cancels(_) => open.retain(|(task, _)| *task != event.task),
                _ => {}
            }
            self.hold(&mut held, index);
            let Some(text) = self.says(event.operation) else { continue };
            let mut notes = Vec::new();
            if let Some((_, block)) = open.iter().find(|(task, _)| *task == event.task) {
                notes.push(format!("in {block}"));
            }
            let own: Vec<String> =
                held.iter().filter(|held| held.0 == event.task).map(|held| self.held(held.1, held.2)).collect();
            if !own.is_empty() {
                notes.push(format!("holds {}", own.join(", ")));
            }
            notes.extend(self.mark(found, index));
            let location = Some(event.operation.location.to_string());
            let row = Row { location, notes, ..Row::event(event.task.index(), Shown::Operation(text)) };
            rows.push((index, row));
        }
        shorten(rows, found)
    }

    /// What the step means for the violating triple.
    fn mark(&self, found: &Found, index: usize) -> Option<String> {
        let triple = found.triple?;
        let object = || self.object(self.trace[index].operation.object);
        match index {
            _ if index == triple.first => Some(format!("▲ 1 of 3: the block accesses {}", object())),
            _ if index == triple.between => {
                Some(format!("▲ 2 of 3: {} comes in between", self.task(self.trace[index].task)))
            }
            _ if index == triple.last => Some(format!("▲ 3 of 3: the block accesses {} again", object())),
            _ => None,
        }
    }

    /// Follows which locks are held.
    fn hold(&self, held: &mut Vec<(TaskId, ObjectId, Mode)>, index: usize) {
        let Event { task, operation: Operation { object, action, .. }, only_read, .. } = self.trace[index];
        let mut take = |object: ObjectId, mode: Option<Mode>| {
            held.retain(|(other, lock, _)| (*other, *lock) != (task, object));
            held.extend(mode.map(|mode| (task, object, mode)));
        };
        match action {
            Action::Lock(mode) | Action::Convert(_, mode) => take(object, Some(mode)),
            Action::TryLock(mode) | Action::TryConvert(_, mode) if !only_read => take(object, Some(mode)),
            Action::Unlock(_) => take(object, None),
            Action::Wait(Some(lock)) => take(lock, None),
            _ => {}
        }
    }

    fn held(&self, lock: ObjectId, mode: Mode) -> String {
        let how = match mode {
            Mode::Exclusive => "",
            Mode::Shared => " shared",
            Mode::Upgradable => " upgradable",
        };
        format!("{}{how}", self.object(lock))
    }

    /// What an object is called: its kind, and a number among those of its kind.
    fn object(&self, object: ObjectId) -> String {
        if let Some((_, task)) = self.tasks.iter().find(|(own, _)| *own == object) {
            return self.task(*task);
        }
        let engine = &self.worker.runner().engine;
        let kind = engine.object_kind(object);
        let before = self.objects.iter().take_while(|(other, _)| *other != object);
        format!("{} {}", kind_name(kind), 1 + before.filter(|(_, other)| *other == kind).count())
    }

    /// What a step does, in words. None for what its neighbours say already.
    fn says(&self, operation: Operation) -> Option<String> {
        let Operation { object, action, .. } = operation;
        let block = |number| self.worker.runner().engine.block_name(number).unwrap_or("block");
        Some(match action {
            Action::Start => return None,
            Action::BlockBegin(number) => format!("begins {}", block(number)),
            Action::BlockEnd => "ends the block".to_owned(),
            Action::Fence => "fence".to_owned(),
            Action::Exit => "ends".to_owned(),
            Action::Yield => "yields".to_owned(),
            Action::Sleep => "sleeps".to_owned(),
            Action::Park => "parks".to_owned(),
            _ => format!("{} {}", verb(action), self.object(object)),
        })
    }

    /// How the tasks ended, or why they do not.
    fn ending(&self, made: &Made) -> Vec<Row> {
        let row = |task: TaskId, event: Shown| Row::event(task.index(), event);
        match &made.execution.end {
            End::Finished => {
                let Some(outcome) = &made.outcome else { return Vec::new() };
                let mut end = row(TaskId::MAIN, Shown::Returned(outcome.returned.to_string()));
                end.notes.extend(outcome.results.iter().map(|result| result.to_string()));
                let dealt_with = made.execution.panics.iter();
                let panicked = dealt_with.map(|panic| row(panic.task, Shown::Panicked(panic.message.clone())));
                panicked.chain([end]).collect()
            }
            End::Panicked(panic) | End::Aborted(panic) => {
                let location = panic.place.as_ref().map(|place| place.to_string());
                vec![Row { location, ..row(panic.task, Shown::Panicked(panic.message.clone())) }]
            }
            End::Deadlock(tasks) | End::Leaked(tasks) | End::Livelock(tasks) => {
                tasks.iter().map(|task| self.stuck(task)).collect()
            }
            End::StepBound(steps) => {
                let goes_round = |(task, operation): &(TaskId, Operation)| {
                    let text = self.says(*operation).unwrap_or_default();
                    let event = Shown::Blocked(format!("goes round in a loop: {text}"));
                    Row { location: Some(operation.location.to_string()), ..row(*task, event) }
                };
                steps.iter().map(goes_round).collect()
            }
            End::StackOverflow { task, last } => {
                let event = Shown::Panicked("its stack is used up".to_owned());
                let mut end = Row { location: Some(last.location.to_string()), ..row(*task, event) };
                end.notes.push("the place is that of its last step".to_owned());
                vec![end]
            }
            End::Failed { task, reason } => vec![row(*task, Shown::Panicked(reason.clone()))],
        }
    }

    /// What a task that cannot go on waits for, and what it holds.
    fn stuck(&self, report: &TaskReport) -> Row {
        let text = self.says(report.wants).unwrap_or_else(|| "starts".to_owned());
        let waits_for: Vec<String> = report.waits_for.iter().map(|task| self.task(*task)).collect();
        let mut notes = Vec::new();
        if !waits_for.is_empty() {
            notes.push(format!("waits for {}", waits_for.join(", ")));
        }
        for held in &report.holds {
            notes.push(format!("holds {}, taken at {}", self.held(held.lock, held.mode), held.location));
        }
        let event = Shown::Blocked(format!("{text}: never"));
        let location = Some(report.wants.location.to_string());
        Row { location, notes, ..Row::event(report.task.index(), event) }
    }

    /// The tasks that wait for each other: `thread 1 waits for mutex 2 of thread 2, …`.
    fn cycle(&self, reports: &[TaskReport]) -> Option<String> {
        let report = |task: TaskId| reports.iter().find(|report| report.task == task);
        let from = |start: &TaskReport| {
            let mut path = vec![start.task];
            loop {
                let next = *report(*path.last()?)?.waits_for.first()?;
                match path.iter().position(|task| *task == next) {
                    Some(position) => return Some(path.split_off(position)),
                    None => path.push(next),
                }
            }
        };
        let cycle = reports.iter().find_map(from)?;
        let wants = |task: &TaskId| report(*task).map(|report| self.object(report.wants.object)).unwrap_or_default();
        let links = cycle.iter().map(|task| format!("{} → {} → ", self.task(*task), wants(task)));
        Some(format!("cycle: {}{}", links.collect::<String>(), self.task(cycle[0])))
    }

    /// A lock that its own holder asks for again.
    fn own_lock(&self, reports: &[TaskReport]) -> Option<Deadlock> {
        reports.iter().find_map(|report| {
            let held = report.holds.iter().find(|held| held.lock == report.wants.object)?;
            let (task, lock) = (self.task(report.task), self.object(held.lock));
            Some(Deadlock {
                held: Spot { operation: format!("{task} holds {lock}"), location: held.location.to_string() },
                wanted: Spot { operation: "asks for it again".to_owned(), location: report.wants.location.to_string() },
            })
        })
    }
}

/// The verb of an action that has an object.
fn verb(action: Action) -> &'static str {
    match action {
        Action::Read => "reads",
        Action::Write => "writes",
        Action::ReadWrite => "reads and writes",
        Action::Lock(Mode::Exclusive) => "locks",
        Action::Lock(Mode::Shared) => "locks for reading",
        Action::Lock(Mode::Upgradable) => "locks for reading, upgradable,",
        Action::TryLock(_) => "tries to lock",
        Action::Unlock(_) => "unlocks",
        Action::Convert(_, Mode::Exclusive) => "upgrades",
        Action::Convert(..) => "downgrades",
        Action::TryConvert(..) => "tries to change",
        Action::Wait(_) => "waits on",
        Action::Notify(_) => "notifies",
        Action::Unpark => "unparks",
        Action::Spawn => "spawns",
        Action::Join => "joins",
        Action::Invoke(_) => "calls a method of",
        Action::Inspect(_) => "looks into",
        _ => "does something with",
    }
}

/// Leaves out what matters least of a long execution.
fn shorten(rows: Vec<(usize, Row)>, found: &Found) -> Vec<Row> {
    let count = rows.len();
    let marked =
        |index: usize| found.triple.is_some_and(|triple| [triple.first, triple.between, triple.last].contains(&index));
    let mut left_out = 0;
    let mut shown = Vec::new();
    for (position, (index, mut row)) in rows.into_iter().enumerate() {
        if count > SHOWN_STEPS && position + SHOWN_STEPS < count && !marked(index) {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            row.notes.push(format!("{left_out} steps before this are not shown"));
            left_out = 0;
        }
        shown.push(row);
    }
    shown
}
