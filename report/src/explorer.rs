//! The trace explorer: an execution as data, and one self-contained page that shows it.
//!
//! An [`Exploration`] is what the page knows: who took part, what each did in which order, how steps depend on each other,
//! and why no sequential order explains the execution. Each driver fills in as much as it knows. [`Exploration::of`] gives
//! what every [`Counterexample`](crate::Counterexample) has; drivers that follow each step add objects, blocks, locks and
//! dependences. [`page::render`] puts the data as JSON into a page, beside a script and a style that are part of this
//! crate. The page needs nothing from elsewhere; without a script it shows the steps as a table.
//!
//! The data is versioned: [`Exploration::to_json`] and [`Exploration::parse`].

#![cfg_attr(
    not(feature = "pages"),
    allow(rustdoc::broken_intra_doc_links, reason = "the text links to what the feature brings")
)]

mod counterexample;
#[cfg(feature = "pages")]
mod escape;
#[cfg(feature = "pages")]
pub mod findings;
#[cfg(feature = "pages")]
pub mod page;
#[cfg(feature = "pages")]
mod policy;
mod sources;
#[cfg(feature = "pages")]
mod table;
pub mod trace;

use serde::{Deserialize, Serialize};

use crate::{Column, Deadlock, Order, json};

pub use sources::{ADDED, Source, Stretch};

/// The version of the data that this crate writes and reads.
pub const VERSION: u32 = 1;

/// An execution as the page shows it.
///
/// Texts that come often ([`Exploration::texts`], [`Exploration::objects`], [`Exploration::places`]) are kept once and named
/// by their index. Steps are named by their index, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exploration {
    /// The format: [`VERSION`].
    pub version: u32,
    /// The name of what was run.
    pub name: String,
    /// What was found: `not atomic`, `deadlock`.
    pub verdict: String,
    /// Whether that is a violation.
    pub is_wrong: bool,
    /// How it was found. May be empty.
    pub detail: String,
    /// Paragraphs below the verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The state before the first step. Empty where there is no such state.
    pub start: String,
    /// Who acted: a lane each.
    pub tasks: Vec<Column>,
    /// What steps say.
    pub texts: Vec<String>,
    /// What steps act on: `mutex 1`.
    pub objects: Vec<String>,
    /// Where steps are: `src/account.rs:12:9`.
    pub places: Vec<String>,
    /// How many earlier steps are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// What happened, in order.
    pub steps: Vec<Step>,
    /// Blocks and calls: from a step to a step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
    /// Whether [`Step::happens_after`] is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub knows_happens_before: bool,
    /// Locks in the hands of tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Hold>,
    /// Every sequential order, with the first thing that disagrees with the execution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<Order>,
    /// The calls in an order that explains them, as far as one goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linearization: Vec<Effect>,
    /// How much each choice mattered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Choices>,
    /// The two places of a lock that its holder asks for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadlock: Option<Deadlock>,
    /// The command that reproduces the execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// The source files that the places name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}

/// One thing that happened, in one lane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Index into [`Exploration::tasks`].
    pub task: u32,
    /// What it is. Operations are the numbered steps.
    #[serde(default, skip_serializing_if = "Kind::is_operation")]
    pub kind: Kind,
    /// What happened: index into [`Exploration::texts`].
    pub text: u32,
    /// What it acts on: index into [`Exploration::objects`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<u32>,
    /// Where: index into [`Exploration::places`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
    /// The state afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Further lines, as indices into [`Exploration::texts`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<u32>,
    /// Whether it is part of what is wrong.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
    /// Steps of other tasks that this one depends on. The steps before those, and those of its own task, go without saying.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<u32>,
    /// Steps of other tasks that happen before this one in the sense of C++20 and Rust. The steps before those, and those of its own
    /// task, go without saying. Empty where it is not known: see [`Exploration::knows_happens_before`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub happens_after: Vec<u32>,
    /// The step that let the task go on: it spawned or woke it, ended the task that it joins, or gave back the lock that it
    /// takes here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woken_by: Option<u32>,
    /// The step that took the lock which it waits for and never gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<u32>,
    /// The store that it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Reads>,
}

/// Which store a step reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reads {
    /// The step that stored it. `None` for the value that was there at first, or whose step is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// Whether there was a newer value, which it could have read instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// For a stale value, the steps that stored what it could have read instead, the newest first; as [`Self::from`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Option<u32>>,
}

/// What a step tells: see [`crate::Event`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A call began.
    Called,
    /// An atomic step.
    #[default]
    Operation,
    /// A task hangs.
    Blocked,
    /// A call ended with a value.
    Returned,
    /// A call ended with a panic.
    Panicked,
}

impl Kind {
    fn is_operation(&self) -> bool {
        *self == Kind::Operation
    }
}

/// A block or a call of one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Index into [`Exploration::tasks`].
    pub task: u32,
    /// What it is called: index into [`Exploration::texts`].
    pub text: u32,
    /// Its first step.
    pub from: u32,
    /// Its last step; `None` if it has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u32>,
    /// What it is.
    pub what: Extent,
    /// Whether it is what cannot be explained.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
}

/// What a [`Span`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// An atomic block.
    Block,
    /// A call of a method.
    Call,
}

/// A lock in the hands of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// Index into [`Exploration::tasks`].
    pub task: u32,
    /// The lock: index into [`Exploration::objects`].
    pub object: u32,
    /// How it is held, if others may hold it too: `shared`, `upgradable`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mode: String,
    /// The step that took it.
    pub from: u32,
    /// The step that gave it back; `None` if the task keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u32>,
}

/// A call in a linearization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// Its place in the linearization, from 1.
    pub number: u32,
    /// Index into [`Exploration::spans`], if the call is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<u32>,
    /// The step after which it takes effect, if that is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
    /// The call with its result.
    pub text: String,
    /// The state afterwards.
    pub state: String,
}

/// How often an execution fails that goes another way from some point on: how much each choice mattered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choices {
    /// The seed of the continuations.
    pub seed: u64,
    /// For each decision that was tried, in order: how often a random continuation from there fails.
    pub points: Vec<Point>,
    /// For neighbouring steps of two tasks: how often the execution fails when they come the other way round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub swaps: Vec<Swap>,
    /// Whether there was no time for more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// Random continuations from one point on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The step that comes next in the execution that is shown. The end of the steps for the whole execution.
    pub step: u32,
    /// How many decisions are kept.
    pub kept: u32,
    /// How many executions failed in the same way.
    pub failed: u32,
    /// How many ran.
    pub of: u32,
}

/// Two neighbouring steps the other way round, and random continuations from there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Swap {
    /// The first of the two steps.
    pub first: u32,
    /// The second.
    pub second: u32,
    /// How many executions failed in the same way.
    pub failed: u32,
    /// How many ran.
    pub of: u32,
}

/// Why a text is not an exploration.
#[derive(Debug)]
pub enum ParseError {
    /// Not JSON, or not with the fields of an exploration.
    Damaged(serde_json::Error),
    /// Another version of Interloper has written it.
    Version(u32),
    /// An index leads nowhere.
    Index(&'static str),
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Damaged(error) => write!(f, "not an exploration: {error}"),
            Self::Version(version) => write!(f, "version {version} is not supported, only version {VERSION} is"),
            Self::Index(what) => write!(f, "damaged: the index of {what} is too large"),
        }
    }
}

impl std::error::Error for ParseError {}

impl Exploration {
    /// The data as one line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings, numbers and lists are always JSON")
    }

    /// Reads what [`Exploration::to_json`] wrote.
    ///
    /// # Errors
    /// When the text is not JSON, has another version, lacks a field, or has an index that leads nowhere.
    pub fn parse(text: &str) -> Result<Exploration, ParseError> {
        let version = json::version(text).map_err(ParseError::Damaged)?;
        if version != VERSION {
            return Err(ParseError::Version(version));
        }
        let exploration: Exploration = serde_json::from_str(text).map_err(ParseError::Damaged)?;
        exploration.check().map_err(ParseError::Index)?;
        Ok(exploration)
    }

    /// Looks at every index. The page relies on them.
    fn check(&self) -> Result<(), &'static str> {
        let below = |index: u32, length: usize, what| if (index as usize) < length { Ok(()) } else { Err(what) };
        let step = |index: u32| below(index, self.steps.len(), "a step");
        let task = |index: u32| below(index, self.tasks.len(), "a task");
        let text = |index: u32| below(index, self.texts.len(), "a text");
        let object = |index: u32| below(index, self.objects.len(), "an object");
        for one in &self.steps {
            task(one.task)?;
            text(one.text)?;
            one.notes.iter().try_for_each(|&note| text(note))?;
            one.object.map_or(Ok(()), object)?;
            one.place.map_or(Ok(()), |place| below(place, self.places.len(), "a place"))?;
            let reads = one.reads.iter().flat_map(|reads| reads.from.iter().chain(reads.others.iter().flatten()));
            one.after
                .iter()
                .chain(&one.happens_after)
                .chain(&one.woken_by)
                .chain(&one.blocked_by)
                .chain(reads)
                .try_for_each(|&other| step(other))?;
        }
        for span in &self.spans {
            task(span.task).and(text(span.text)).and(step(span.from)).and(span.until.map_or(Ok(()), step))?;
        }
        for hold in &self.holds {
            task(hold.task).and(object(hold.object)).and(step(hold.from)).and(hold.until.map_or(Ok(()), step))?;
        }
        for effect in &self.linearization {
            effect.span.map_or(Ok(()), |span| below(span, self.spans.len(), "a call"))?;
            effect.after.map_or(Ok(()), step)?;
        }
        let Some(Choices { points, swaps, .. }) = &self.choices else { return Ok(()) };
        points.iter().try_for_each(|point| below(point.step, self.steps.len() + 1, "a step"))?;
        swaps.iter().try_for_each(|swap| step(swap.first).and(step(swap.second)))
    }

    /// The number that each step has in the reports; `None` for what happens between steps.
    #[cfg(feature = "pages")]
    pub(crate) fn numbers(&self) -> impl Iterator<Item = Option<u64>> {
        self.steps.iter().scan(self.left_out, |number, step| {
            let counts = step.kind == Kind::Operation;
            *number += u64::from(counts);
            Some(counts.then_some(*number))
        })
    }
}

/// Keeps each text once.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    all: Vec<String>,
    known: std::collections::BTreeMap<String, u32>,
}

impl Texts {
    /// The texts of a list, none of which comes twice.
    #[must_use]
    pub fn of(all: Vec<String>) -> Texts {
        let known = (0..).zip(&all).map(|(index, text)| (text.clone(), index)).collect();
        Texts { all, known }
    }

    /// The index of a text, which is added if it is new.
    pub fn index(&mut self, text: &str) -> u32 {
        if let Some(&index) = self.known.get(text) {
            return index;
        }
        let index = self.all.len() as u32;
        self.all.push(text.to_owned());
        self.known.insert(text.to_owned(), index);
        index
    }

    /// All texts.
    #[must_use]
    pub fn into_all(self) -> Vec<String> {
        self.all
    }
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests;
