//! A refuted run of several calls in words: its rows, and the orders that fail to explain it.

use interloper_linearize::history::History;
use interloper_report::replay_file::Moment;
use interloper_report::{self as report, Column, Counterexample, Lane};
use interloper_scheduler::decisions::Decisions;

use super::Planned;
use super::history::{Call, Calls, Made};
use crate::composed::check::count;
use crate::composed::explain;
use crate::composed::misuse::Misuse;
use crate::composed::outcome::Violation;
use crate::composed::run::{Abort, Actor, Did};
use crate::composed::runner::Runner;

pub(super) fn describe(
    runner: &mut Runner<'_>,
    made: &Made,
    decisions: &Decisions,
    execution: u64,
) -> Result<Violation, Misuse> {
    let abort = runner.log.abort;
    let planned: Vec<Planned> = made.program.iter().flatten().copied().collect();
    let texts: Vec<String> = planned.iter().map(|call| runner.call_text(call.method, call.argument)).collect();
    let column_of: Vec<usize> =
        made.program.iter().enumerate().flat_map(|(task, calls)| calls.iter().map(move |_| task)).collect();
    let mut columns: Vec<Column> = Vec::new();
    let mut first = 0;
    for (task, calls) in made.program.iter().enumerate() {
        let calls = texts[first..first + calls.len()].join("; ");
        columns.push(Column { title: format!("task {}: {calls}", task + 1), lane: Lane::Method });
        first += made.program[task].len();
    }
    let environment_operations = runner.log.events.iter().filter(|event| event.actor == Actor::Environment).count();
    if environment_operations > 0 {
        columns.push(Column { title: "environment".to_owned(), lane: Lane::Environment });
    }
    let environment = made.program.len();
    let mut rows = Vec::new();
    for (index, event) in runner.log.events.iter().enumerate() {
        let row = match (event.actor, event.did) {
            (Actor::Method(call), Did::Begin) => {
                report::Row::event(column_of[call], report::Event::Called(texts[call].clone()))
            }
            (Actor::Method(call), Did::End(returned)) => explain::last_row(runner, column_of[call], returned, None),
            (Actor::Method(call), _) => explain::event_row(&runner.world, event, column_of[call], environment),
            (Actor::Environment, _) => explain::event_row(&runner.world, event, 0, environment),
        };
        rows.push(explain::called_at(row, runner, index));
    }
    // How the call ended in which the run ended; a deadlock is described below.
    let last = runner.log.events.iter().rev().find_map(|event| match event.actor {
        Actor::Method(call) => Some(call),
        Actor::Environment => None,
    });
    if let (Some(ended), Some(call)) = (abort.filter(|abort| !matches!(abort, Abort::Deadlock(_))), last) {
        let returned = runner.not_returned();
        rows.push(explain::last_row(runner, column_of[call], returned, Some(ended)));
    }
    let not_returned = runner.not_returned();
    let ended = abort.zip(last);
    let ended = ended.map(|(abort, call)| explain::end_moment(&runner.world, call, not_returned, Some(abort)));
    let says = rows.iter().map(|row| row.event.to_string()).chain([String::new()]);
    let steps = runner.log.events.iter().map(|event| explain::moment(&runner.world, event)).chain(ended);
    let steps = steps.zip(says).map(|(moment, says)| Moment { says, ..moment });
    let start = explain::start_moments(&runner.world.state_text(made.initial), &texts);
    let history = start.into_iter().chain(steps).collect();
    let orders = if abort.is_some() { Vec::new() } else { orders(runner, made)? };
    let counterexample = Counterexample {
        name: runner.description.name.clone(),
        verdict: explain::verdict(abort),
        detail: format!(
            "{} concurrent calls, {}",
            planned.len(),
            explain::detail(count(environment_operations), execution)
        ),
        start: runner.world.state_text(made.initial),
        columns,
        rows,
        orders,
        deadlock: match abort {
            Some(Abort::Deadlock(deadlock)) => Some(explain::deadlock_places(runner, deadlock)),
            _ => None,
        },
        replay: Some(explain::replay(decisions)),
    };
    let counterexample = counterexample.with_source();
    Ok(Violation {
        counterexample,
        environment_operations: count(environment_operations),
        execution,
        decisions: decisions.clone(),
        history,
    })
}

/// The most sequential orders in a report; only many calls have more.
const MAX_ORDERS: usize = 120;

/// Every sequential order of the history's calls that keeps the order of calls that do not overlap, with its first
/// difference from the run.
fn orders(runner: &mut Runner<'_>, made: &Made) -> Result<Vec<report::Order>, Misuse> {
    let (history, calls) = made.history(runner);
    let mut sequences = Vec::new();
    extend(&history, &mut Vec::new(), &mut sequences);
    let names = calls.iter().map(|call| match call {
        Call::Method { planned, .. } => runner.method_name(planned.method).to_owned(),
        Call::Environment { call, .. } => runner.world.call_name(*call),
    });
    let names = explain::numbered(names.collect());
    let mut rows = Vec::new();
    for sequence in sequences {
        let mut spec = Calls { runner, calls: &calls, initial: made.initial, end: made.end, misuse: None };
        let mut state = made.initial;
        let mut disagreement = None;
        for &index in &sequence {
            let (next, result) = spec.alone(state, calls[index]);
            if disagreement.is_none() && calls[index].observed().is_some_and(|observed| observed != result) {
                disagreement = Some(explain::ends_with(&names[index], spec.runner.world.value(result)));
            }
            state = next;
        }
        if let Some(misuse) = spec.misuse {
            return Err(misuse);
        }
        let remains = || {
            let state = runner.abstract_state(state);
            format!("{} remains", runner.world.values_text(&state))
        };
        let sequence: Vec<&str> = sequence.iter().map(|&index| names[index].as_str()).collect();
        rows.push(report::Order { sequence: sequence.join(", "), disagreement: disagreement.unwrap_or_else(remains) });
    }
    Ok(rows)
}

fn extend(history: &History, sequence: &mut Vec<usize>, sequences: &mut Vec<Vec<usize>>) {
    let calls = history.calls().len();
    if sequence.len() == calls && sequences.len() < MAX_ORDERS {
        sequences.push(sequence.clone());
        return;
    }
    for call in 0..calls {
        let blocked = (0..calls).any(|other| !sequence.contains(&other) && history.precedes(other, call));
        if !sequence.contains(&call) && !blocked && sequences.len() < MAX_ORDERS {
            sequence.push(call);
            extend(history, sequence, sequences);
            sequence.pop();
        }
    }
}
