//! A counterexample as an exploration.

use std::collections::BTreeMap;

use super::{Exploration, Extent, Kind, Span, Step, Texts, VERSION};
use crate::replay_file::{Moment, ReplayFile};
use crate::shorten::middle;
use crate::{Column, Counterexample, Event, Lane, Order, Row};

/// Texts of a page are cut to so many characters: a value can have megabytes.
pub(super) const LONGEST: usize = 2_000;

impl Exploration {
    /// What every counterexample has: who did what in which order, the places, the states, the calls, and the orders that
    /// explain nothing.
    #[must_use]
    pub fn of(counterexample: &Counterexample) -> Exploration {
        let (mut texts, mut places) = (Texts::default(), Texts::default());
        let column = |column: &Column| Column { title: cut(&column.title), lane: column.lane };
        let mut tasks: Vec<Column> = counterexample.columns.iter().map(column).collect();
        let outcome_is_wrong = !counterexample.orders.is_empty();
        let mut steps = Vec::new();
        for row in &counterexample.rows {
            let (kind, text) = said(&row.event);
            // A row without a column is a mistake of the caller, and still part of the data.
            while tasks.len() <= row.column {
                tasks.push(Column { title: String::new(), lane: Lane::Thread });
            }
            let is_outcome = matches!(kind, Kind::Returned | Kind::Panicked);
            steps.push(Step {
                task: row.column as u32,
                kind,
                text: texts.index(&middle(text, LONGEST)),
                place: row.location.as_ref().map(|place| places.index(place)),
                state: row.state.as_ref().map(|state| cut(state)),
                notes: row.notes.iter().map(|note| texts.index(&middle(note, LONGEST))).collect(),
                marked: (is_outcome && outcome_is_wrong) || row.notes.iter().any(|note| note.starts_with('▲')),
                ..Step::default()
            });
        }
        let spans = calls(&tasks, &steps, &mut texts);
        Exploration {
            version: VERSION,
            name: cut(&counterexample.name),
            verdict: cut(&counterexample.verdict),
            is_wrong: true,
            detail: cut(&counterexample.detail),
            start: cut(&counterexample.start),
            tasks,
            texts: texts.into_all(),
            places: places.into_all(),
            steps,
            spans,
            orders: counterexample.orders.iter().map(order).collect(),
            deadlock: counterexample.deadlock.clone(),
            replay: counterexample.replay.as_deref().map(cut),
            ..Exploration::default()
        }
    }
}

impl Exploration {
    /// What a replay file says without being run again: its report if it has one, or else its history.
    #[must_use]
    pub fn recorded(file: &ReplayFile) -> Exploration {
        let mut exploration = match &file.counterexample {
            Some(counterexample) => Exploration::of(counterexample),
            None => of_history(file),
        };
        let elsewhere = match file.origin {
            None => "is on the page that is written where the execution runs",
            Some(_) => "is on the page that `cargo interloper replay FILE --html PAGE` writes in the project",
        };
        exploration.notes.push(format!(
            "From the replay file, without running it again: how the steps depend on each other, and which choice mattered, \
             {elsewhere}."
        ));
        exploration
    }
}

/// The moments of a history, a row each.
fn of_history(file: &ReplayFile) -> Exploration {
    let actors = file.history.iter().filter_map(|moment| moment.by).max().map_or(0, |last| last as usize + 1);
    let lane = |number: usize| Column { title: format!("task {number}"), lane: Lane::Thread };
    let mut columns: Vec<Column> = (0..actors).map(lane).collect();
    columns.push(Column { title: "environment".to_owned(), lane: Lane::Environment });
    let row = |moment: &Moment| Row {
        state: moment.state.clone(),
        ..Row::event(moment.by.map_or(actors, |by| by as usize), Event::Operation(moment.says.clone()))
    };
    Exploration::of(&Counterexample {
        name: file.about.name().to_owned(),
        verdict: file.finding.replace('-', " "),
        detail: format!("execution {}, seed {}", file.execution, file.seed),
        start: String::new(),
        columns,
        rows: file.history.iter().map(row).collect(),
        orders: Vec::new(),
        deadlock: None,
        replay: None,
    })
}

fn cut(text: &str) -> String {
    middle(text, LONGEST).into_owned()
}

fn order(order: &Order) -> Order {
    Order { sequence: cut(&order.sequence), disagreement: cut(&order.disagreement) }
}

fn said(event: &Event) -> (Kind, &str) {
    match event {
        Event::Called(text) => (Kind::Called, text),
        Event::Operation(text) => (Kind::Operation, text),
        Event::Blocked(text) => (Kind::Blocked, text),
        Event::Returned(text) => (Kind::Returned, text),
        Event::Panicked(text) => (Kind::Panicked, text),
    }
}

/// The calls: from the row that says that a call began to the row that says how it ended. A method under test whose beginning
/// has no row is called with its first step.
fn calls(tasks: &[Column], steps: &[Step], texts: &mut Texts) -> Vec<Span> {
    let mut open: BTreeMap<u32, Span> = BTreeMap::new();
    let mut closed = Vec::new();
    for (index, step) in (0..).zip(steps) {
        let column = &tasks[step.task as usize];
        let span =
            |text: u32| Span { task: step.task, text, from: index, until: None, what: Extent::Call, marked: false };
        match step.kind {
            Kind::Called => closed.extend(open.insert(step.task, span(step.text))),
            _ if column.lane == Lane::Method => {
                let title = column.title.strip_prefix("method under test: ").unwrap_or(&column.title);
                open.entry(step.task).or_insert_with(|| span(texts.index(title)));
            }
            _ => {}
        }
        if matches!(step.kind, Kind::Returned | Kind::Panicked | Kind::Blocked)
            && let Some(span) = open.remove(&step.task)
        {
            let until = (step.kind != Kind::Blocked).then_some(index);
            closed.push(Span { until, marked: step.marked, ..span });
        }
    }
    closed.extend(open.into_values());
    closed.sort_by_key(|span| (span.from, span.task));
    closed
}
