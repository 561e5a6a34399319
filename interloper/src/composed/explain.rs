//! A violating run as a counterexample: what happened, and why no sequential order explains it.

use std::panic::Location;

use interloper_commutativity::Value;
use interloper_linearize::composed::{self, Disagreement};
use interloper_report::replay_file::Moment;
use interloper_report::{self as report, Column, Counterexample, Lane, Place, Row};
use interloper_scheduler::decisions::Decisions;
use interloper_scheduler::runtime::Exit;

use crate::composed::misuse::Misuse;
use crate::composed::outcome::{Verdict, Violation};
use crate::composed::run::{Abort, Actor, Claim, Deadlock, Did, Event};
use crate::composed::runner::{Ended, Runner};
use crate::composed::world::{ResultId, StateId, World};
use crate::locate::of_no_machine;

/// Describes the last run of `runner`.
pub(crate) fn violation(
    runner: &mut Runner<'_>,
    argument: usize,
    initial: StateId,
    ended: Ended,
    decisions: &Decisions,
    execution: u64,
) -> Result<Violation, Misuse> {
    let abort = runner.log.abort;
    let call = runner.call_text(0, argument);
    let rows = rows(runner, ended, abort);
    let history = history(runner, initial, &call, &rows, ended, abort);
    let environment = runner.log.events.iter().filter(|event| event.actor == Actor::Environment).count();
    // Explaining runs the method again and so overwrites the log: everything that reads it comes first.
    let names: Vec<String> = environment_names(&runner.world, &runner.log.events);
    let orders = match abort {
        Some(abort) if abort.speaks_for_itself() => Vec::new(),
        _ => {
            let orders = runner.explain(argument, initial, ended)?;
            orders.iter().map(|order| order_row(runner, &names, order)).collect()
        }
    };
    let environment_operations = u32::try_from(environment).unwrap_or(u32::MAX);
    let counterexample = Counterexample {
        name: runner.description.name.clone(),
        verdict: verdict(abort),
        detail: detail(environment_operations, execution),
        start: runner.world.state_text(initial),
        columns: vec![
            Column { title: format!("method under test: {call}"), lane: Lane::Method },
            Column { title: "environment".to_owned(), lane: Lane::Environment },
        ],
        rows,
        orders,
        deadlock: match abort {
            Some(Abort::Deadlock(deadlock)) => Some(deadlock_places(runner, deadlock)),
            _ => None,
        },
        replay: Some(replay(decisions)),
    };
    let counterexample = counterexample.with_source();
    Ok(Violation { counterexample, environment_operations, execution, decisions: decisions.clone(), history })
}

/// The run by its structure. `rows` are the same in words.
fn history(
    runner: &Runner<'_>,
    initial: StateId,
    call: &str,
    rows: &[Row],
    ended: Ended,
    abort: Option<Abort>,
) -> Vec<Moment> {
    let world = &runner.world;
    let steps = runner.log.events.iter().map(|event| moment(world, event));
    let steps = steps.chain([end_moment(world, 0, ended.returned, abort)]);
    let steps = steps.zip(rows).map(|(moment, row)| Moment { says: row.event.to_string(), ..moment });
    start_moments(&world.state_text(initial), &[call.to_owned()]).into_iter().chain(steps).collect()
}

/// What a history begins with: the initial state, and the calls of the method with their arguments.
pub(crate) fn start_moments(state: &str, calls: &[String]) -> Vec<Moment> {
    let start = Moment::new(None, "start", "start").and_state(state);
    let call = |(number, call): (usize, &String)| Moment::new(u32::try_from(number).ok(), "call", call).with(call);
    std::iter::once(start).chain(calls.iter().enumerate().map(call)).collect()
}

/// A step by its structure.
pub(crate) fn moment(world: &World, event: &Event) -> Moment {
    let by = match event.actor {
        Actor::Method(call) => u32::try_from(call).ok(),
        Actor::Environment => None,
    };
    let moment = match event.did {
        Did::Call(call, result) => {
            let arguments = &world.call_of(call).invocation.arguments;
            let called = Moment::new(by, world.call_name(call), "");
            arguments.iter().fold(called, |moment, argument| moment.with(argument)).with(world.value(result))
        }
        Did::Section(part) => Moment::new(by, "section", "").with(&world.parts()[part.0 as usize].name),
        Did::Turn(name) => Moment::new(by, name, ""),
        Did::Pause(what) => Moment::new(by, "pause", "").with(what),
        Did::Begin => Moment::new(by, "begin", ""),
        Did::End(returned) => return end_moment(world, by.unwrap_or(0) as usize, returned, None),
    };
    moment.and_state(&world.state_text(event.state))
}

/// The end of a call by its structure.
pub(crate) fn end_moment(world: &World, call: usize, returned: ResultId, abort: Option<Abort>) -> Moment {
    let action = match abort {
        Some(Abort::Deadlock(_)) => "deadlock",
        Some(Abort::StepBound | Abort::CutShort | Abort::NotEnabled | Abort::Needless) => "step bound",
        Some(Abort::StackOverflow) => "stack overflow",
        Some(Abort::Crash(_)) => "crash",
        Some(Abort::EndOfProcess(_)) => "abort",
        Some(Abort::Panic) | None => "end",
    };
    let moment = Moment::new(u32::try_from(call).ok(), action, "");
    // A call that did not return has no result.
    if action == "end" { moment.with(world.value(returned)) } else { moment }
}

/// How to rerun the execution. Decisions that are too long to copy are only named.
pub(crate) fn replay(decisions: &Decisions) -> String {
    const LONGEST: usize = 500;
    let text = decisions.to_string();
    match text.len() {
        0..=LONGEST => format!(".replay(\"{text}\")"),
        letters => format!(".replay(&decisions), with the {letters} letters of the violation's `decisions` as text"),
    }
}

/// What a counterexample is called.
pub(crate) fn verdict(abort: Option<Abort>) -> String {
    abort.and_then(Abort::verdict).map_or_else(|| Verdict::NotLinearizable.to_string(), str::to_owned)
}

pub(crate) fn detail(environment_operations: u32, execution: u64) -> String {
    let plural = if environment_operations == 1 { "" } else { "s" };
    format!("{environment_operations} environment operation{plural}, execution {execution}")
}

fn rows(runner: &Runner<'_>, ended: Ended, abort: Option<Abort>) -> Vec<Row> {
    let events = runner.log.events.iter().enumerate();
    let row = |(index, event): (usize, &Event)| called_at(event_row(&runner.world, event, 0, 1), runner, index);
    let mut rows: Vec<Row> = events.map(row).collect();
    rows.push(last_row(runner, 0, ended.returned, abort));
    rows
}

/// The row of the event of this number, with the place of its call if it is one of a published collection.
pub(crate) fn called_at(row: Row, runner: &Runner<'_>, event: usize) -> Row {
    let caller = runner.log.caller(event).map(str::to_owned);
    Row { location: row.location.or(caller), ..row }
}

/// A step as a row; `columns` of the method and of the environment.
pub(crate) fn event_row(world: &World, event: &Event, method: usize, environment: usize) -> Row {
    let text = match event.did {
        Did::Call(call, result) => format!("{} → {}", world.call_text(call), world.value(result)),
        Did::Section(part) => {
            let name = &world.parts()[part.0 as usize].name;
            if name.is_empty() { "critical section".to_owned() } else { format!("critical section on {name}") }
        }
        Did::Turn(what) | Did::Pause(what) => what.to_owned(),
        Did::Begin | Did::End(_) => String::new(),
    };
    let column = match event.actor {
        Actor::Method(_) => method,
        Actor::Environment => environment,
    };
    let mut row = Row::operation(column, text, world.state_text(event.state));
    row.location = event.location.map(place);
    if event.marked {
        row.notes.push("linearization point".to_owned());
    }
    row
}

/// A step without its arguments and result: `get at src/cache.rs:12:9`.
pub(crate) fn step_name(world: &World, event: &Event) -> String {
    let name = match event.did {
        Did::Call(call, _) => world.call_name(call),
        Did::Section(_) => "critical section".to_owned(),
        Did::Turn(what) | Did::Pause(what) => what.to_owned(),
        Did::Begin | Did::End(_) => String::new(),
    };
    event.location.map_or_else(|| name.clone(), |location| format!("{name} at {}", place(location)))
}

/// How the call ended.
pub(crate) fn last_row(runner: &Runner<'_>, column: usize, returned: ResultId, abort: Option<Abort>) -> Row {
    let event = match (abort, runner.world.value(returned)) {
        (Some(Abort::Deadlock(deadlock)), _) => {
            report::Event::Blocked(format!("waits at {}", claimed_at(runner, deadlock.wanted)))
        }
        (Some(Abort::StepBound | Abort::CutShort | Abort::NotEnabled | Abort::Needless), _) => {
            report::Event::Blocked("did not return within the step bound".to_owned())
        }
        (Some(Abort::StackOverflow), _) => report::Event::Blocked("used up its stack".to_owned()),
        (Some(Abort::Crash(crash)), _) => report::Event::Blocked(format!("crashed: {crash}")),
        (Some(Abort::EndOfProcess(Exit::Abort)), _) => {
            report::Event::Blocked("asked for the process to be aborted".to_owned())
        }
        (Some(Abort::EndOfProcess(exit)), _) => report::Event::Blocked(format!("called {exit}")),
        (Some(Abort::Panic) | None, Value::Variant(variant)) if &*variant.name == "panic" => {
            match variant.fields.first() {
                Some(Value::Text(message)) => report::Event::Panicked(message.to_string()),
                _ => report::Event::Panicked(String::new()),
            }
        }
        (Some(Abort::Panic) | None, value) => report::Event::Returned(value.to_string()),
    };
    Row::event(column, event)
}

fn environment_names(world: &World, events: &[Event]) -> Vec<String> {
    let calls = events.iter().filter_map(|event| match (event.actor, event.did) {
        (Actor::Environment, Did::Call(call, _)) => Some(world.call_name(call)),
        _ => None,
    });
    numbered(calls.collect())
}

/// Tells equal names apart: `insert`, `remove` stay; two of one name become `insert#1` and `insert#2`.
pub(crate) fn numbered(names: Vec<String>) -> Vec<String> {
    let number = |(index, name): (usize, &String)| {
        let alike = names.iter().filter(|other| *other == name).count();
        let before = names[..index].iter().filter(|other| *other == name).count();
        if alike == 1 { name.clone() } else { format!("{name}#{}", before + 1) }
    };
    names.iter().enumerate().map(number).collect()
}

fn order_row(runner: &Runner<'_>, environment: &[String], order: &composed::Order<StateId, ResultId>) -> report::Order {
    let name = |actor: composed::Actor| match actor {
        composed::Actor::Method => runner.description.name.clone(),
        composed::Actor::Environment(index) => environment[index].clone(),
    };
    let sequence: Vec<String> = order.sequence().map(name).collect();
    let disagreement = match &order.disagreement {
        Some(Disagreement::Result { actor, expected, .. }) => ends_with(&name(*actor), runner.world.value(*expected)),
        Some(Disagreement::End { expected, .. }) => {
            let state: Vec<Value> = runner.abstract_state(*expected);
            format!("{} remains", runner.world.values_text(&state))
        }
        None => "explains the execution".to_owned(),
    };
    report::Order { sequence: sequence.join(", "), disagreement }
}

/// `memoize returns 14`, or how else the call ends.
pub(crate) fn ends_with(name: &str, value: &Value) -> String {
    match value {
        Value::Variant(variant) if &*variant.name == "panic" => match variant.fields.first() {
            Some(Value::Text(message)) => format!("{name} panics: {message}"),
            _ => format!("{name} panics"),
        },
        Value::Variant(variant) if &*variant.name == "deadlock" => format!("{name} deadlocks"),
        Value::Variant(variant) if &*variant.name == "stack overflow" => format!("{name} uses up its stack"),
        Value::Variant(variant) if &*variant.name == "crash" => format!("{name} crashes"),
        Value::Variant(variant) if &*variant.name == "abort of the process" => format!("{name} aborts the process"),
        value => format!("{name} returns {value}"),
    }
}

pub(crate) fn deadlock_places(runner: &Runner<'_>, deadlock: Deadlock) -> report::Deadlock {
    let world = &runner.world;
    let what = |claim: Claim, verb: &str| {
        let operation = match (claim.call, claim.name) {
            (Some(call), _) => world.call_text(call),
            (None, Some(name)) => name.to_owned(),
            (None, None) => "a critical section".to_owned(),
        };
        match claim.part.map(|part| &world.parts()[part.0 as usize]) {
            Some(part) if part.name.is_empty() => format!("{operation} {verb} a lock of the {}", part.model.name()),
            Some(part) => format!("{operation} {verb} a lock of {}", part.name),
            None if claim.name.is_some() => format!("{operation} {verb} a lock"),
            None => format!("a cell {verb} its value"),
        }
    };
    let held = match deadlock.held {
        Some(claim) => Place { operation: what(claim, "holds"), location: claimed_at(runner, claim) },
        None if deadlock.wanted.name.is_some() => {
            Place { operation: "a call holds the lock".to_owned(), location: claimed_at(runner, deadlock.wanted) }
        }
        None => Place { operation: "no task fills the cell".to_owned(), location: claimed_at(runner, deadlock.wanted) },
    };
    report::Deadlock {
        held,
        wanted: Place { operation: what(deadlock.wanted, "needs"), location: claimed_at(runner, deadlock.wanted) },
    }
}

/// Where a claim is made.
fn claimed_at(runner: &Runner<'_>, claim: Claim) -> String {
    claim.caller.map_or_else(|| place(claim.location), |caller| runner.log.callers[caller].clone())
}

pub(crate) fn place(location: &Location<'_>) -> String {
    of_no_machine(&location.to_string())
}
