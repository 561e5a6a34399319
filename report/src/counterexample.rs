//! The data of a counterexample.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plain;
use crate::shorten::{LONGEST_TEXT, middle};
use crate::text::{self, Style};

/// An execution that happened, and why no sequential order explains it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counterexample {
    /// The name of the method under test, or of the case it belongs to.
    pub name: String,
    /// The verdict: `not linearizable`, `deadlock`.
    pub verdict: String,
    /// How it was found: `2 environment operations, execution 17`. May be empty.
    pub detail: String,
    /// The abstract state before the first step: `{}`, or `m: {}, q: []` for several collections. Empty where there is
    /// no such state.
    pub start: String,
    /// Who acted: one column per call of the method under test or per thread, and one for the environment.
    pub columns: Vec<Column>,
    /// What happened, in order.
    pub rows: Vec<Row>,
    /// Every sequential order with the first thing that disagrees with the execution. Empty when the finding needs no
    /// comparison (a deadlock).
    pub orders: Vec<Order>,
    /// The two places of a lock that its holder asks for again.
    pub deadlock: Option<Deadlock>,
    /// The command that reproduces the execution.
    pub replay: Option<String>,
}

/// One actor of the execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The heading: `method under test: memoize(7)`, `environment`, `thread 2`.
    pub title: String,
    /// Which kind of actor it is; decides the colour only.
    pub lane: Lane,
}

/// The kind of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// A call of the method under test.
    Method,
    /// The adversary.
    Environment,
    /// A thread of a program with atomic blocks.
    Thread,
}

/// One thing that happened, in one column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Index into [`Counterexample::columns`].
    pub column: usize,
    /// What happened.
    pub event: Event,
    /// The abstract state afterwards, where it is worth showing.
    pub state: Option<String>,
    /// The place in the source: `src/cache.rs:12:9`.
    pub location: Option<String>,
    /// The source line at this place, if it was read: see [`Counterexample::with_source`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Further lines about this event: held locks, the block it belongs to.
    pub notes: Vec<String>,
}

/// What a row tells. Operations are the numbered steps of an execution; the others happen between steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
pub enum Event {
    /// A call began. Only worth a row when several calls overlap.
    Called(String),
    /// An atomic step with its result: `get(7) → none`.
    Operation(String),
    /// How a call hangs: `get(7) never returns`, `did not return within the step bound`.
    Blocked(String),
    /// The call ended with this value.
    Returned(String),
    /// The call ended with this panic message.
    Panicked(String),
}

/// One sequential order of the calls and the environment operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The order: `memoize, insert, remove`.
    pub sequence: String,
    /// The first thing in it that differs from the execution: `memoize returns 14`.
    pub disagreement: String,
}

/// A lock asked for by the task that holds it already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// Where the lock was taken.
    pub held: Place,
    /// Where it is asked for again.
    pub wanted: Place,
}

/// An operation on the lock, and its place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The operation: `users.get_mut(1) holds a lock of users`, `users.insert(1, 6) needs it`.
    pub operation: String,
    /// The place in the source: `src/cache.rs:12:9`.
    pub location: String,
}

impl Counterexample {
    /// The rows that matter most, and that have a place: those that are marked as part of what is wrong, or else the row that
    /// says how it ended, or else the last one. Empty if no row has a place.
    pub fn culprits(&self) -> Vec<&Row> {
        let placed = || self.rows.iter().filter(|row| row.location.is_some());
        let marked: Vec<&Row> = placed().filter(|row| row.notes.iter().any(|note| note.starts_with('▲'))).collect();
        let is_end = |row: &&Row| matches!(row.event, Event::Panicked(_) | Event::Blocked(_));
        match marked.is_empty() {
            true => placed().rfind(is_end).or(placed().next_back()).into_iter().collect(),
            false => marked,
        }
    }

    /// What is wrong, where, and how to see it again: a line each. A line of which nothing is known is left out.
    #[must_use]
    pub fn brief(&self) -> String {
        let detail = if self.detail.is_empty() { String::new() } else { format!(" ({})", self.detail) };
        let column = |row: &Row| self.columns.get(row.column).map_or("", |column| &column.title);
        // Of what came between two accesses, the middle one says most.
        let culprits = self.culprits();
        let place = culprits.get(culprits.len() / 2).and_then(|row| {
            let says = row.event.to_string();
            let says = says.lines().next().unwrap_or_default();
            Some(format!("  at {}: {} {says}", row.location.as_ref()?, column(row)))
        });
        let lines = [
            Some(format!("✗ {}: {}{detail}", self.name, self.verdict)),
            place,
            self.replay.as_ref().map(|replay| format!("  replay: {replay}")),
        ];
        let line = |text: String| format!("{}\n", plain::line(&middle(&text, LONGEST_TEXT)));
        lines.into_iter().flatten().map(line).collect()
    }

    /// What stands above the numbers of the steps.
    pub(crate) fn heading(&self) -> String {
        if self.start.is_empty() { String::new() } else { format!("start: {}", self.start) }
    }
}

impl Row {
    /// An operation of `column`, without a place or notes.
    pub fn operation(column: usize, text: impl Into<String>, state: impl Into<String>) -> Self {
        Self { state: Some(state.into()), ..Self::event(column, Event::Operation(text.into())) }
    }

    /// An event of `column`, without a state, a place or notes.
    #[must_use]
    pub fn event(column: usize, event: Event) -> Self {
        Self { column, event, state: None, location: None, source: None, notes: Vec::new() }
    }
}

impl Event {
    /// Whether this event is a numbered step.
    #[must_use]
    pub fn is_step(&self) -> bool {
        matches!(self, Self::Operation(_))
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Called(text) => write!(f, "called {text}"),
            Self::Operation(text) | Self::Blocked(text) => f.write_str(text),
            Self::Returned(text) => write!(f, "returned {text}"),
            Self::Panicked(text) => write!(f, "panicked: {text}"),
        }
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { held, wanted } = self;
        write!(f, "{} at {}, and {} at {}", held.operation, held.location, wanted.operation, wanted.location)
    }
}

impl fmt::Display for Counterexample {
    /// The text rendering without colour, as wide as it needs to be.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::render(self, Style::default()))
    }
}
