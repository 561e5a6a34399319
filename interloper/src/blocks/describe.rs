//! An execution as a counterexample: one column for each task.

use interloper_commutativity::said::Said;
use interloper_harness::faults::{Drawn, add_rows};
use interloper_report::replay_file::Moment;
use interloper_report::shorten::in_crate;
use interloper_report::{Column, Counterexample, Deadlock, Event as Shown, Lane, Order, Place as Spot, Row};
use interloper_scheduler::panics::without_address;
use interloper_scheduler::words::{Names, is_silent};
use interloper_scheduler::{
    Blocked, Cause, End, Event, Freedom, Freedoms, Hold, Holding, PanicReport, SourcePlace, TaskReport,
};
use interloper_std::runtime::{Action, ObjectKind, Operation, TaskId};

use super::annotated::{Annotated, block_name};
use super::backtraces::is_elsewhere;
use super::futures;
use super::lines::{joined, place_of_crash};
use super::long_rows::shorten;
use super::mark::BlockResult;
use super::outcome::Outcome;
use super::polls::Polls;
use super::report::{Finding, Step};
use super::runner::Made;
use super::sections::Passage;
use super::worker::{Found, Worker};
use crate::locate;

const SHOWN_ORDERS: usize = 12;
/// Steps of an execution that are put into words.
const DESCRIBED: usize = 10_000;
/// How many threads get a column of their own, even if none of their steps is shown.
const COLUMNS: usize = 16;

/// Describes the execution that the worker ran last. `execution` is its number in a search; `lines` has the line of the program
/// for each event, or nothing.
pub(crate) fn describe(
    worker: &Worker<'_>,
    name: &str,
    found: &Found,
    made: &Made,
    execution: Option<u64>,
    lines: &[Option<SourcePlace>],
) -> (Counterexample, Vec<Step>, Vec<Moment>) {
    let trace = worker.runner().engine.trace();
    let scene = Scene::new(worker, &trace, made, (DESCRIBED, lines));
    let steps = scene.steps(found);
    let mut drawn = scene.rows(found, &steps);
    let all = drawn.len();
    drawn.retain(|drawn| !scene.polls.is_of_executor(drawn, lines));
    let left_out = all - drawn.len();
    let drawn =
        joined(drawn, lines, |index| scene.names.is_stale(index)).into_iter().map(|drawn| (drawn.is_marked, drawn.row));
    let mut rows = shorten(drawn.collect(), scene.first);
    rows.extend(scene.ending(made));
    let columns = columns(&scene, &mut rows);
    let cycle = match &made.execution.end {
        End::Deadlock(tasks) | End::Leaked(tasks) | End::Livelock(tasks) => scene.cycle(tasks),
        _ => None,
    };
    let execution = execution.map(|execution| format!("execution {execution}"));
    let end = &made.execution.end;
    let of_others = || matches!(end, End::Deadlock(_) | End::Leaked(_)).then(|| scene.polls.never_polled(&scene.names));
    let never = futures::never_polled(worker.futures(), end, &scene.names).or_else(|| of_others().flatten());
    let left_out = (left_out > 0).then(|| format!("{left_out} steps of the executor not shown"));
    let detail = [cycle, never, of_no_joined_thread(made), execution, needs(made.execution.departures), left_out];
    let orders = match (&found.finding, &made.outcome) {
        (Finding::Unexplained { .. }, Some(outcome)) => orders(worker, outcome),
        _ => Vec::new(),
    };
    let counterexample = Counterexample {
        name: name.to_owned(),
        verdict: found.finding.to_string(),
        detail: detail.into_iter().flatten().collect::<Vec<_>>().join(", "),
        start: String::new(),
        columns,
        rows,
        orders,
        deadlock: match &made.execution.end {
            End::Deadlock(tasks) | End::Leaked(tasks) => scene.own_lock(tasks),
            _ => None,
        },
        replay: None,
    };
    let counterexample = counterexample.with_source();
    let history = scene.history(found, &steps, made);
    let shown = scene.described(found).zip(steps).filter(|(index, _)| !is_silent(trace[*index].operation.action));
    let steps = shown.map(|(_, step)| step).collect();
    (counterexample, steps, history)
}

/// What came of an execution, by its structure.
fn ending(found: &Found, made: &Made) -> Vec<Moment> {
    let end = Moment::new(None, found.finding.word(), &found.finding.to_string());
    let message = match &found.finding {
        Finding::Panic { message, .. } | Finding::Aborted { message, .. } => Some(message),
        Finding::Failed { reason } => Some(reason),
        _ => None,
    };
    let end = message.into_iter().fold(end, |end, message| end.with(message));
    let Some(outcome) = &made.outcome else { return vec![end] };
    let returned = Moment::new(None, "returned", "the program returned").with(&outcome.returned);
    let result = |result: &BlockResult| {
        Moment::new(Some(result.task.0), "block-result", &result.to_string()).with(result.name).with(&result.value)
    };
    let panic = |(task, message): &(TaskId, String)| Moment::new(Some(task.0), "panicked", message).with(message);
    let results = outcome.results.iter().map(result).chain(outcome.panics.iter().map(panic));
    [returned].into_iter().chain(results).chain([end]).collect()
}

/// The columns of the tasks. If there are many tasks, or tasks of an executor beside its threads, only those with a row have a
/// column.
pub(super) fn columns(scene: &Scene<'_>, rows: &mut [Row]) -> Vec<Column> {
    let tasks = scene.polls.columns();
    let all = tasks <= COLUMNS && !scene.polls.any();
    let is_shown = |task: &usize| *task == 0 || all || rows.iter().any(|row| row.column == *task);
    let shown: Vec<usize> = (0..tasks).filter(is_shown).collect();
    for row in rows {
        row.column = shown.binary_search(&row.column).unwrap_or(0);
    }
    shown.into_iter().map(|task| scene.column(TaskId(task as u32))).collect()
}

/// Whether the action is the call of a collection's method, which says its arguments and its result.
fn is_of_collection(action: Action) -> bool {
    action.call().is_some_and(|call| !call.verb.is_io())
}

/// Whose panic it is that ended the execution, if `cargo test` would not have failed for it.
fn of_no_joined_thread(made: &Made) -> Option<String> {
    let End::Panicked(_) = made.execution.end else { return None };
    let main_panicked = made.execution.panics.iter().any(|panic| panic.task == TaskId::MAIN);
    (!main_panicked).then(|| "in a thread that no thread joins, so that `cargo test` would pass".to_owned())
}

/// What a finding needs that most executions do not have.
fn needs(departures: Freedoms) -> Option<String> {
    let need = |(freedom, _): (Freedom, u32)| match freedom {
        Freedom::Time => "a sleep or a time-out to end early, before other threads go on",
        Freedom::Wakeups => "a wait to end although no thread woke the waiting thread",
        Freedom::Weak => "a weak compare-exchange to fail although the expected value is there",
        Freedom::Hints => "a thread that spins or yields to go on although nothing has changed",
        Freedom::Writers => "a reader-writer lock to let no reader in while a writer waits",
        Freedom::Cancellation => "a future to be cancelled where it awaits something",
        Freedom::Io => "a read or a write of several bytes to move only one",
        Freedom::Delays => "something sent to arrive later",
        Freedom::Resets => "a connection to be reset",
        Freedom::Memory => "weak memory: an atomic access that does not see the newest store",
    };
    let needs: Vec<&str> = departures.each().map(need).collect();
    (!needs.is_empty()).then(|| format!("needs {}", needs.join(", and ")))
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
        shown.push(Order { sequence: more, disagreement: "no order gives the outcome".to_owned() });
    }
    shown
}

/// The execution and the names of what takes part in it.
pub(super) struct Scene<'a> {
    worker: &'a Worker<'a>,
    trace: &'a [Event],
    /// The line of the program for each event, or nothing.
    lines: &'a [Option<SourcePlace>],
    pub(super) names: Names,
    /// The tasks of executors of other crates.
    pub(super) polls: Polls,
    /// The first step that is described. Of a longer execution, these are only the last steps and the finding.
    pub(super) first: usize,
    /// For each event, how many calls of collections come before it.
    calls: Vec<u32>,
}

impl<'a> Scene<'a> {
    /// The execution that the worker ran last, of which at most so many steps are described.
    pub(super) fn new(
        worker: &'a Worker<'a>,
        trace: &'a [Event],
        made: &Made,
        (most, lines): (usize, &'a [Option<SourcePlace>]),
    ) -> Scene<'a> {
        let (polls, names) = worker.actors(trace, made);
        let count = |calls: &mut u32, event: &Event| {
            let before = *calls;
            *calls += u32::from(is_of_collection(event.operation.action));
            Some(before)
        };
        let calls = trace.iter().scan(0, count).collect();
        Scene { worker, trace, lines, names, polls, first: trace.len().saturating_sub(most), calls }
    }

    pub(super) fn trace(&self) -> &[Event] {
        self.trace
    }

    /// The line of the program that an event belongs to, if it is known.
    pub(super) fn line(&self, event: usize) -> Option<&SourcePlace> {
        self.lines.get(event)?.as_ref()
    }

    /// Whether the place of an event is one of the program: its line is known, or its own place is there.
    pub(super) fn knows(&self, event: usize) -> bool {
        let is_inside = |event: &Event| is_elsewhere(&event.operation.location.to_string());
        self.line(event).is_some() || !self.trace.get(event).is_none_or(is_inside)
    }

    /// The same, or else the place of the step.
    pub(super) fn line_of(&self, event: usize) -> String {
        match (self.line(event), self.trace.get(event)) {
            (Some(line), _) => line.to_string(),
            (None, Some(event)) => event.operation.location.to_string(),
            (None, None) => "the end".to_owned(),
        }
    }

    /// Who woke a task, and where.
    pub(super) fn woken(&self, (by, event): (TaskId, usize)) -> String {
        let at = if self.knows(event) { format!(" at {}", self.line_of(event)) } else { String::new() };
        format!("woken by {}{at}", self.names.task(by))
    }

    fn column(&self, task: TaskId) -> Column {
        Column { title: self.names.task(task), lane: Lane::Thread }
    }

    /// The steps, each with the locks that its task holds then.
    pub(super) fn steps(&self, found: &Found) -> Vec<Step> {
        let annotated = Annotated::of(self.worker.judge().rule(), self.trace);
        let mut open: Vec<(TaskId, String)> = Vec::new();
        let mut holding = Holding::default();
        let mut steps = Vec::new();
        let first = self.first;
        for (index, event) in self.trace.iter().enumerate() {
            match annotated.passages()[index] {
                Passage::Enters(_) => open.push((event.task, block_name(event, &self.names))),
                Passage::Leaves(_) | Passage::Cancels(_) => open.retain(|(task, _)| *task != event.task),
                _ => {}
            }
            holding.note(event);
            let of_triple = self.position_in_triple(found, index);
            if index < first && of_triple.is_none() {
                continue;
            }
            steps.push(Step {
                task: self.names.task(self.polls.actor(index)),
                action: self.says_of(index),
                location: event.operation.location.to_string(),
                block: open.iter().find(|(task, _)| *task == event.task).map(|(_, block)| block.clone()),
                holds: self.holds(&holding, event.task),
                of_triple,
            });
        }
        steps
    }

    /// The indices of the steps that are described.
    fn described<'s>(&'s self, found: &'s Found) -> impl Iterator<Item = usize> + 's {
        let first = self.first;
        let before = |index: &usize| self.position_in_triple(found, *index).is_some();
        (0..first).filter(before).chain(first..self.trace.len())
    }

    /// The execution by its structure.
    fn history(&self, found: &Found, steps: &[Step], made: &Made) -> Vec<Moment> {
        let moment = |(index, step): (usize, &Step)| {
            let Event { task, operation, only_read, .. } = self.trace[index];
            if is_silent(operation.action) {
                return None;
            }
            let says = format!("{}: {}", step.task, step.action);
            let mut moment = Moment::new(Some(task.0), operation.action.code(), &says);
            moment.object = u32::try_from(operation.object.index()).ok();
            if only_read {
                moment = moment.with("only reads");
            }
            if let Action::BlockBegin(number) = operation.action {
                moment = moment.with(self.names.block(number));
            }
            if let Some(said) = self.said(index) {
                moment = said.result.iter().fold(moment.with(&said.arguments), |moment, result| moment.with(result));
            }
            Some(moment)
        };
        self.described(found).zip(steps).filter_map(moment).chain(ending(found, made)).collect()
    }

    /// A row for each step, except steps that go without saying.
    pub(super) fn rows(&self, found: &Found, steps: &[Step]) -> Vec<Drawn> {
        let row = |(index, step): (usize, &Step)| {
            let task = self.polls.actor(index);
            let action = self.trace[index].operation.action;
            // What a call of a collection finds free goes with the call.
            if action == Action::Start || is_silent(action) {
                return None;
            }
            let begins = matches!(self.trace[index].operation.action, Action::BlockBegin(_));
            let block = step.block.iter().filter(|_| !begins).map(|block| format!("in {block}"));
            let holds = (!step.holds.is_empty()).then(|| format!("holds {}", step.holds.join(", ")));
            let state: Vec<String> = block.chain(holds).collect();
            let mut notes: Vec<String> = if state.is_empty() { Vec::new() } else { vec![state.join(", ")] };
            notes.extend(self.woken_by(index).or_else(|| self.ends_its_wait(index)));
            notes.extend(self.mark(step, index));
            let event = Shown::Operation(step.action.clone());
            // The first task ends where the checker has called the program: no line of the user's.
            let is_ours = action == Action::Exit && locate::is_own(&step.location);
            let location = (!is_ours).then(|| step.location.clone());
            let mut row = Row { location, notes, ..Row::event(task.index(), event) };
            self.polls.mark(index, &mut row, self);
            Some((index, row))
        };
        let marked = found.triple.map(|triple| [triple.first, triple.between, triple.last]);
        let rows = self.described(found).zip(steps).filter_map(row);
        let is_marked = |index: usize| marked.is_some_and(|marked| marked.contains(&index));
        let drawn = |(index, row)| Drawn { index, is_event: true, is_marked: is_marked(index), row };
        let mut rows: Vec<Drawn> = rows.map(drawn).collect();
        if let Finding::Memory(fault) = &found.finding {
            add_rows(&mut rows, &self.polls.of_tasks(fault), &self.names, &TaskId::index);
        }
        for cancelled in self.polls.cancellations(self) {
            let place = rows.iter().position(|drawn| drawn.index >= cancelled.index).unwrap_or(rows.len());
            rows.insert(place, cancelled);
        }
        rows
    }

    /// Which task has woken the future that is polled here.
    fn woken_by(&self, index: usize) -> Option<String> {
        let Event { operation, cause, .. } = self.trace[index];
        let kind = self.worker.runner().engine.object_kind(operation.object);
        let polls = match operation.action {
            Action::Lock(_) => kind == Some(ObjectKind::EXECUTOR),
            Action::ReadWrite => kind == Some(ObjectKind::Task),
            _ => false,
        };
        match cause {
            Cause::Event(waker) if polls => {
                let place = in_crate(&self.line_of(waker as usize));
                Some(format!("woken by {} at {place}", self.names.task(self.trace[waker as usize].task)))
            }
            Cause::Idle(_) if polls => Some("woken by the clock".to_owned()),
            _ => None,
        }
    }

    /// Why a task takes its lock again after a wait on a condition variable, if nobody notified it.
    fn ends_its_wait(&self, index: usize) -> Option<String> {
        let Event { task, operation, cause, .. } = self.trace[index];
        let is_executor = || self.worker.runner().engine.object_kind(operation.object) == Some(ObjectKind::EXECUTOR);
        let is_own = |event: &&Event| event.task == task && !is_silent(event.operation.action);
        let before = || self.trace[..index].iter().rev().find(is_own);
        let waited = || before().is_some_and(|event| event.operation.action == Action::Wait(Some(operation.object)));
        let says = match cause {
            Cause::Ready => "its wait ends early: nobody notified it",
            Cause::Idle(_) => "its time-out ends the wait",
            Cause::Event(_) => return None,
        };
        let takes = matches!(operation.action, Action::Lock(_));
        (takes && !is_executor() && waited()).then(|| says.to_owned())
    }

    fn position_in_triple(&self, found: &Found, index: usize) -> Option<u8> {
        let triple = found.triple?;
        let position = [triple.first, triple.between, triple.last].into_iter().position(|part| part == index)?;
        Some(position as u8 + 1)
    }

    /// What the step means for the violating triple.
    fn mark(&self, step: &Step, index: usize) -> Option<String> {
        let object = || self.names.object(self.trace[index].operation.object);
        Some(match step.of_triple? {
            1 => format!("▲ 1 of 3: the block accesses {}", object()),
            2 => format!("▲ 2 of 3: {} interrupts the block", step.task),
            _ => format!("▲ 3 of 3: the block accesses {} again", object()),
        })
    }

    /// What a task holds: each lock once, with how often where that is more than once.
    fn holds(&self, holding: &Holding, task: TaskId) -> Vec<String> {
        let own: Vec<Hold> = holding.of(task).collect();
        // A task that is polled has its executor: that goes without saying.
        let kind = |hold: &Hold| self.worker.runner().engine.object_kind(hold.lock);
        let first =
            |&(index, hold): &(usize, &Hold)| kind(hold) != Some(ObjectKind::EXECUTOR) && !own[..index].contains(hold);
        let text = |(_, hold): (usize, &Hold)| {
            let times = own.iter().filter(|other| *other == hold).count();
            let often = if times > 1 { format!(" {times} times") } else { String::new() };
            format!("{}{often}", self.names.held(hold.lock, hold.mode))
        };
        own.iter().enumerate().filter(first).map(text).collect()
    }

    /// The arguments and the result of a step of a collection.
    fn said(&self, index: usize) -> Option<&Said> {
        is_of_collection(self.trace[index].operation.action).then_some(())?;
        self.worker.said().get(self.calls[index] as usize)
    }

    /// What the step with this index does, in words. A step of a collection has its arguments and its result.
    fn says_of(&self, index: usize) -> String {
        let operation = self.trace[index].operation;
        let (Some(call), Some(said)) = (operation.action.call(), self.said(index)) else {
            return self.names.event(index, operation);
        };
        let result = said.result.as_ref().map(|result| format!(" → {}", shown(result))).unwrap_or_default();
        format!("{}{result}", self.names.call_of(call.verb, &shown(&said.arguments), operation.object))
    }

    /// How the tasks ended, or why they do not.
    pub(super) fn ending(&self, made: &Made) -> Vec<Row> {
        let row = |task: TaskId, event: Shown| Row::event(self.polls.at_end(task).index(), event);
        let panicked = |panic: &PanicReport| {
            let location = panic.place.as_ref().map(|place| place.to_string());
            let message = without_address(&panic.message).to_owned();
            Row { location, ..row(panic.task, Shown::Panicked(message)) }
        };
        match &made.execution.end {
            End::Finished => {
                let Some(outcome) = &made.outcome else { return Vec::new() };
                let mut end = row(TaskId::MAIN, Shown::Returned(outcome.returned.to_string()));
                end.notes.extend(outcome.results.iter().map(|result| result.to_string()));
                let dealt_with = made.execution.panics.iter();
                let panicked = dealt_with.map(|panic| row(panic.task, Shown::Panicked(panic.message.clone())));
                panicked.chain([end]).collect()
            }
            // The program may have handled these, or failed because of them.
            End::Panicked(panic) if panic.task == TaskId::MAIN => made.execution.panics.iter().map(panicked).collect(),
            End::Panicked(panic) | End::Aborted(panic) => vec![panicked(panic)],
            End::Deadlock(tasks) | End::Leaked(tasks) | End::Livelock(tasks) => {
                let tasks = tasks.iter().filter(|task| !self.polls.is_idle(task, self.lines));
                tasks.map(|task| self.stuck(task)).chain(self.polls.stuck(self)).collect()
            }
            End::StepBound(steps) => {
                let goes_round = |(task, operation): &(TaskId, Operation)| {
                    let text = self.names.step(*operation);
                    let event = Shown::Blocked(format!("goes round in a loop: {text}"));
                    Row { location: Some(operation.location.to_string()), ..row(*task, event) }
                };
                let visible = steps.iter().filter(|(_, operation)| !is_silent(operation.action));
                let mut rows: Vec<Row> = visible.map(goes_round).collect();
                if let Some(last) = rows.last_mut() {
                    last.notes.push(format!(
                        "stopped after {} steps: if no loop is endless, let loops have fewer rounds, or allow more steps (`steps`)",
                        made.execution.steps
                    ));
                }
                rows
            }
            End::StackOverflow { task, last } => {
                let event = Shown::Panicked("its stack is used up".to_owned());
                let mut end = Row { location: Some(last.location.to_string()), ..row(*task, event) };
                end.notes.push("the place is that of its last step".to_owned());
                vec![end]
            }
            End::Crashed { task, crash, code, last } => {
                let place = place_of_crash(*code);
                let location = place.as_ref().map_or_else(|| last.location.to_string(), |place| place.to_string());
                let event = Shown::Blocked(format!("crashes: {crash}"));
                let mut end = Row { location: Some(location), ..row(*task, event) };
                end.notes.extend(place.is_none().then(|| "the place is that of its last step".to_owned()));
                vec![end]
            }
            End::Exited { task, exit, location, panicked: before } => {
                let event = Shown::Panicked(format!("calls {exit}: the process ends"));
                let exits = Row { location: Some(location.to_string()), ..row(*task, event) };
                before.iter().map(panicked).chain([exits]).collect()
            }
            End::Stuck(stuck) => vec![row(stuck.task, Shown::Blocked(stuck.to_string()))],
            End::Memory(_) => Vec::new(),
            End::Failed { task, reason } => vec![row(*task, Shown::Panicked(reason.clone()))],
        }
    }

    /// What a task that cannot go on waits for, and what it holds.
    fn stuck(&self, report: &TaskReport) -> Row {
        if let Some((place, notes)) = self.polls.blocks_on(report.task, self) {
            let event = Shown::Blocked("is never polled again".to_owned());
            return Row { location: Some(place), notes, ..Row::event(report.task.index(), event) };
        }
        let is_suspended = futures::is_suspended(self.worker.futures(), report);
        let text = match (report.blocked, report.wants.action) {
            _ if is_suspended => "is never polled again".to_owned(),
            (Blocked::Queue, Action::Lock(_)) => "is never woken".to_owned(),
            (_, Action::Park) => "is parked for ever".to_owned(),
            _ => format!("waits for ever: {}", self.names.step(report.wants)),
        };
        let waits_for: Vec<String> = report.waits_for.iter().map(|task| self.names.task(*task)).collect();
        let mut notes = Vec::new();
        if !waits_for.is_empty() {
            notes.push(format!("waits for {}", waits_for.join(", ")));
        }
        for held in &report.holds {
            notes.push(format!("holds {}, taken at {}", self.names.held(held.lock, held.mode), held.location));
        }
        if is_suspended {
            notes.extend(futures::notes(self.worker.futures(), report.task, &self.names));
        }
        let event = Shown::Blocked(text);
        let location = Some(report.wants.location.to_string());
        Row { location, notes, ..Row::event(self.polls.at_end(report.task).index(), event) }
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
        let wants = |task: &TaskId| match report(*task).map(|report| report.wants) {
            // The thread itself is the next of the cycle.
            Some(wants) if wants.action == Action::Join => format!("the end of {}", self.names.object(wants.object)),
            Some(wants) => self.names.object(wants.object),
            None => String::new(),
        };
        let links = cycle.iter().map(|task| format!("{} → {} → ", self.names.task(*task), wants(task)));
        Some(format!("cycle: {}{}", links.collect::<String>(), self.names.task(cycle[0])))
    }

    /// A lock that its own holder asks for again.
    fn own_lock(&self, reports: &[TaskReport]) -> Option<Deadlock> {
        reports.iter().find_map(|report| {
            let held = report.holds.iter().find(|held| held.lock == report.wants.object)?;
            let (task, lock) = (self.names.task(report.task), self.names.object(held.lock));
            Some(Deadlock {
                held: Spot { operation: format!("{task} holds {lock}"), location: held.location.to_string() },
                wanted: Spot { operation: "asks for it again".to_owned(), location: report.wants.location.to_string() },
            })
        })
    }
}

/// Arguments and results of more letters than this are cut.
const LONGEST_VALUE: usize = 60;

fn shown(value: &str) -> String {
    match value.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
