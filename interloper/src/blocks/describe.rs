//! An execution as a counterexample: one column for each task.

use interloper_report::{Column, Counterexample, Deadlock, Event as Shown, Lane, Order, Place as Spot, Row};
use interloper_scheduler::{Blocked, End, Event, Freedom, Freedoms, TaskReport};
use interloper_std::runtime::{Action, Mode, ObjectId, ObjectKind, Operation, TaskId};

use super::outcome::{Outcome, canonical_numbers, task_name};
use super::reference::block_name;
use super::report::{Finding, Step};
use super::runner::Made;
use super::sections::{Passage, Tracker};
use super::shorten::shorten;
use super::worker::{Found, Worker};

const SHOWN_ORDERS: usize = 12;

/// Describes the execution that the worker has made last. `execution` is its number in a search.
pub(crate) fn describe(
    worker: &Worker<'_>,
    name: &str,
    found: &Found,
    made: &Made,
    execution: Option<u64>,
) -> (Counterexample, Vec<Step>) {
    let trace = worker.runner().engine.trace();
    let scene = Scene::new(worker, &trace, made.execution.tasks);
    let steps = scene.steps(found);
    let mut rows = scene.rows(found, &steps);
    rows.extend(scene.ending(made));
    let cycle = match &made.execution.end {
        End::Deadlock(tasks) | End::Leaked(tasks) | End::Livelock(tasks) => scene.cycle(tasks),
        _ => None,
    };
    let execution = execution.map(|execution| format!("execution {execution}"));
    let detail = [cycle, execution, needs(made.execution.departures)];
    let orders = match (&found.finding, &made.outcome) {
        (Finding::Unexplained { .. }, Some(outcome)) => orders(worker, outcome),
        _ => Vec::new(),
    };
    let counterexample = Counterexample {
        name: name.to_owned(),
        verdict: found.finding.to_string(),
        detail: detail.into_iter().flatten().collect::<Vec<_>>().join(", "),
        start: String::new(),
        columns: (0..made.execution.tasks).map(|task| scene.column(TaskId(task as u32))).collect(),
        rows,
        orders,
        deadlock: match &made.execution.end {
            End::Deadlock(tasks) | End::Leaked(tasks) => scene.own_lock(tasks),
            _ => None,
        },
        replay: None,
    };
    let shown = steps.into_iter().zip(trace.iter()).filter(|(_, event)| !is_silent(event.operation.action));
    let steps = shown.map(|(step, _)| step).collect();
    (counterexample, steps)
}

/// What a finding needs that most executions do not have.
fn needs(departures: Freedoms) -> Option<String> {
    let need = |(freedom, _): (Freedom, u32)| match freedom {
        Freedom::Time => "a sleep or a time-out to end early, before other threads go on",
        Freedom::Wakeups => "a wait to end although nobody has woken the thread",
        Freedom::Weak => "a weak compare-exchange to fail although the value is the expected one",
        Freedom::Hints => "a thread that spins or yields to go on although nothing has changed",
        Freedom::Writers => "a reader-writer lock to let no reader in while a writer waits",
    };
    let needs: Vec<&str> = departures.each().map(need).collect();
    (!needs.is_empty()).then(|| format!("needs {}", needs.join(", and ")))
}

/// Whether a step goes without saying: it is about the execution and not about the program.
fn is_silent(action: Action) -> bool {
    matches!(action, Action::Consult | Action::Affect)
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

    /// The steps, each with the locks that its task holds then.
    fn steps(&self, found: &Found) -> Vec<Step> {
        let engine = &self.worker.runner().engine;
        let mut tracker = Tracker::new(self.worker.judge().rule().clone());
        let mut open: Vec<(TaskId, String)> = Vec::new();
        let mut held: Vec<(TaskId, ObjectId, Mode)> = Vec::new();
        let mut steps = Vec::new();
        for (index, event) in self.trace.iter().enumerate() {
            match tracker.note(event.task, event.operation) {
                Passage::Enters(_) => open.push((event.task, block_name(event, |number| engine.block_name(number)))),
                Passage::Leaves(_) | Passage::Cancels(_) => open.retain(|(task, _)| *task != event.task),
                _ => {}
            }
            self.hold(&mut held, index);
            let own = held.iter().filter(|held| held.0 == event.task);
            steps.push(Step {
                task: self.task(event.task),
                action: self.says(event.operation),
                location: event.operation.location.to_string(),
                block: open.iter().find(|(task, _)| *task == event.task).map(|(_, block)| block.clone()),
                holds: own.map(|held| self.held(held.1, held.2)).collect(),
                of_triple: self.position_in_triple(found, index),
            });
        }
        steps
    }

    /// A row for each step but those that go without saying.
    fn rows(&self, found: &Found, steps: &[Step]) -> Vec<Row> {
        let row = |(index, step): (usize, &Step)| {
            let task = self.trace[index].task;
            if self.trace[index].operation.action == Action::Start || is_silent(self.trace[index].operation.action) {
                return None;
            }
            let begins = matches!(self.trace[index].operation.action, Action::BlockBegin(_));
            let block = step.block.iter().filter(|_| !begins).map(|block| format!("in {block}"));
            let holds = (!step.holds.is_empty()).then(|| format!("holds {}", step.holds.join(", ")));
            let state: Vec<String> = block.chain(holds).collect();
            let mut notes: Vec<String> = if state.is_empty() { Vec::new() } else { vec![state.join(", ")] };
            notes.extend(self.mark(step, index));
            let event = Shown::Operation(step.action.clone());
            Some((index, Row { location: Some(step.location.clone()), notes, ..Row::event(task.index(), event) }))
        };
        let marked = found.triple.map(|triple| [triple.first, triple.between, triple.last]);
        let rows = steps.iter().enumerate().filter_map(row);
        let rows = rows.map(|(index, row)| (marked.is_some_and(|marked| marked.contains(&index)), row));
        shorten(rows.collect())
    }

    fn position_in_triple(&self, found: &Found, index: usize) -> Option<u8> {
        let triple = found.triple?;
        let position = [triple.first, triple.between, triple.last].into_iter().position(|part| part == index)?;
        Some(position as u8 + 1)
    }

    /// What the step means for the violating triple.
    fn mark(&self, step: &Step, index: usize) -> Option<String> {
        let object = || self.object(self.trace[index].operation.object);
        Some(match step.of_triple? {
            1 => format!("▲ 1 of 3: the block accesses {}", object()),
            2 => format!("▲ 2 of 3: {} comes in between", step.task),
            _ => format!("▲ 3 of 3: the block accesses {} again", object()),
        })
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
            Action::LockRecursive => take(object, Some(Mode::Shared)),
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
        format!(
            "{} {}",
            kind.map_or("object", ObjectKind::name),
            1 + before.filter(|(_, other)| *other == kind).count()
        )
    }

    /// What a step does, in words.
    fn says(&self, operation: Operation) -> String {
        let Operation { object, action, .. } = operation;
        let block = |number| self.worker.runner().engine.block_name(number).unwrap_or("block");
        match action {
            Action::Start => "starts".to_owned(),
            Action::BlockBegin(number) => format!("begins {}", block(number)),
            Action::BlockEnd => "ends the block".to_owned(),
            Action::Fence => "fence".to_owned(),
            Action::Exit => "ends".to_owned(),
            Action::Yield => "yields".to_owned(),
            Action::Sleep => "sleeps".to_owned(),
            Action::Park => "parks".to_owned(),
            _ => format!("{} {}", verb(action), self.object(object)),
        }
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
                    let text = self.says(*operation);
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
        let text = match (report.blocked, report.wants.action) {
            (Blocked::Queue, Action::Lock(_)) => "waits to be woken".to_owned(),
            _ => self.says(report.wants),
        };
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
        Action::LockRecursive => "locks for reading, recursively,",
        Action::Contend => "begins to wait as a writer for",
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
