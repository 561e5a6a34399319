//! The trace of an execution as JSON Lines: a header, then a line for each step.
//!
//! `interloper run NAME --trace FILE` writes such a file, and `interloper explore FILE --trace FILE` writes one of whatever a page
//! shows; `interloper explore FILE` reads it. A trace has all that the page has but the sources. Each line stands alone, so that a
//! trace can be filtered with the usual tools; lines that are missing are missing on the page.
//!
//! A line names other steps by their numbers, from 1, and what it says by its text. In the header the steps of spans, locks,
//! choices and the linearization are such numbers, too.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::counterexample::LONGEST;
use super::{Choices, Exploration, Kind, Reads, Step, Texts, VERSION};
use crate::json;
use crate::shorten::middle;

/// The version of the format.
pub const TRACE_VERSION: u32 = 2;

/// The first line of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of the format.
    pub version: u32,
    /// The name of the program.
    pub program: String,
    /// The seed of the search.
    pub seed: u64,
    /// What the execution shows; `None` if nothing is wrong.
    pub finding: Option<String>,
    /// How many lines follow.
    pub steps: usize,
    /// What the page has beside the steps, without the sources.
    pub exploration: Exploration,
}

/// A step of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Its number, from 1.
    pub step: u32,
    /// The task: `thread 2`.
    pub task: String,
    /// The number of the task, from 0, in the order of the header: two tasks may have one name.
    pub lane: u32,
    /// What it tells, if that is not an operation.
    #[serde(default, skip_serializing_if = "Kind::is_operation")]
    pub kind: Kind,
    /// What it does: `locks mutex 1`.
    pub action: String,
    /// What it acts on: `mutex 1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Where: `src/account.rs:12:9`.
    pub location: String,
    /// The block or the call that it is in. Only to be read by people and filters: the header has the blocks.
    #[serde(default)]
    pub block: Option<String>,
    /// The locks that its task holds after it; likewise.
    #[serde(default)]
    pub holds: Vec<String>,
    /// Whether it is part of what is wrong.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
    /// Further lines: `▲ 1 of 3: …`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The state after it, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Steps of other tasks that it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<u32>,
    /// Steps of other tasks that happen before it in the sense of C++20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub happens_after: Vec<u32>,
    /// The step that let its task go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woken_by: Option<u32>,
    /// The step that took the lock which it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<u32>,
    /// The store that it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Reads>,
}

/// An exploration as a trace.
#[must_use]
pub fn lines(exploration: &Exploration, seed: u64) -> String {
    let before_first = exploration.left_out as u32 + 1;
    let count = exploration.steps.len();
    let mut numbered = Exploration { sources: Vec::new(), ..exploration.clone() };
    numbered.renumber(&Numbers::of(&|step| Some(step + before_first)));
    let spans = exploration.spans.iter().map(|span| (span.from, span.until.map(|until| until + 1), span));
    let holds = exploration.holds.iter().map(|hold| (hold.from, hold.until, hold));
    let (mut spans, mut holds) = (Open::new(spans), Open::new(holds));
    let steps = std::mem::take(&mut numbered.steps);
    let text = |texts: &[String], index: u32| texts.get(index as usize).cloned().unwrap_or_default();
    let mut line = |(at, step): (u32, Step)| {
        let block = spans.at(at).iter().rev().find(|(.., span)| span.task == step.task);
        let holds = holds.at(at).iter().filter(|(.., hold)| hold.task == step.task);
        Line {
            step: at + before_first,
            task: exploration.tasks.get(step.task as usize).map_or_else(String::new, |task| task.title.clone()),
            lane: step.task,
            kind: step.kind,
            action: text(&exploration.texts, step.text),
            object: step.object.map(|object| text(&exploration.objects, object)),
            location: step.place.map_or_else(String::new, |place| text(&exploration.places, place)),
            block: block.map(|(.., span)| text(&exploration.texts, span.text)),
            holds: holds.map(|(.., hold)| text(&exploration.objects, hold.object)).collect(),
            marked: step.marked,
            notes: step.notes.iter().map(|note| text(&exploration.texts, *note)).collect(),
            state: step.state,
            after: step.after,
            happens_after: step.happens_after,
            woken_by: step.woken_by,
            blocked_by: step.blocked_by,
            reads: step.reads,
        }
    };
    let json = |line: serde_json::Result<String>| line.expect("strings and numbers are always JSON") + "\n";
    let steps: Vec<String> = (0..).zip(steps).map(|numbered| json(serde_json::to_string(&line(numbered)))).collect();
    let header = Header {
        version: TRACE_VERSION,
        program: exploration.name.clone(),
        seed,
        finding: exploration.is_wrong.then(|| exploration.verdict.clone()),
        steps: count,
        exploration: numbered,
    };
    std::iter::once(json(serde_json::to_string(&header))).chain(steps).collect()
}

/// What reaches from a step to before another one, or to the end: what is open at a step, for steps in their order.
struct Open<'e, T> {
    later: std::iter::Peekable<std::vec::IntoIter<(u32, Option<u32>, &'e T)>>,
    open: Vec<(u32, Option<u32>, &'e T)>,
}

impl<'e, T> Open<'e, T> {
    fn new(all: impl Iterator<Item = (u32, Option<u32>, &'e T)>) -> Open<'e, T> {
        let mut later: Vec<_> = all.collect();
        later.sort_by_key(|(from, ..)| *from);
        Open { later: later.into_iter().peekable(), open: Vec::new() }
    }

    fn at(&mut self, step: u32) -> &[(u32, Option<u32>, &'e T)] {
        self.open.retain(|(_, until, _)| until.is_none_or(|until| step < until));
        while let Some(next) = self.later.next_if(|(from, ..)| *from <= step) {
            if next.1.is_none_or(|until| step < until) {
                self.open.push(next);
            }
        }
        &self.open
    }
}

/// Other names of steps. A step may have none.
struct Numbers<'n> {
    /// Of a step.
    exact: &'n dyn Fn(u32) -> Option<u32>,
    /// Of the first step that is left of what begins with this one.
    first: &'n dyn Fn(u32) -> Option<u32>,
    /// Of the last step that is left of what ends with this one.
    last: &'n dyn Fn(u32) -> Option<u32>,
}

impl<'n> Numbers<'n> {
    /// All steps have a name.
    fn of(name: &'n dyn Fn(u32) -> Option<u32>) -> Numbers<'n> {
        Numbers { exact: name, first: name, last: name }
    }
}

impl Exploration {
    /// Names each step otherwise. What refers to a step without a name is left out.
    fn renumber(&mut self, numbers: &Numbers<'_>) {
        let Numbers { exact, first, last } = numbers;
        for step in &mut self.steps {
            for others in [&mut step.after, &mut step.happens_after] {
                *others = others.iter().filter_map(|other| exact(*other)).collect();
            }
            step.woken_by = step.woken_by.and_then(exact);
            step.blocked_by = step.blocked_by.and_then(exact);
            if let Some(reads) = &mut step.reads {
                reads.from = reads.from.and_then(exact);
                reads.others.iter_mut().for_each(|other| *other = other.and_then(exact));
            }
        }
        let extent = |from: &mut u32, until: &mut Option<u32>| {
            let (Some(begin), end) = (first(*from), until.map(last)) else { return false };
            (*from, *until) = (begin, end.flatten());
            end.is_none_or(|end| end.is_some_and(|end| begin <= end))
        };
        let mut kept = Vec::new();
        self.spans.retain_mut(|span| {
            kept.push(extent(&mut span.from, &mut span.until));
            *kept.last().expect("it was pushed")
        });
        self.holds.retain_mut(|hold| extent(&mut hold.from, &mut hold.until));
        for effect in &mut self.linearization {
            let before = |span: u32| kept[..span as usize].iter().filter(|kept| **kept).count() as u32;
            effect.span = effect.span.filter(|span| kept.get(*span as usize) == Some(&true)).map(before);
            effect.after = effect.after.and_then(exact);
        }
        let Some(Choices { points, swaps, .. }) = &mut self.choices else { return };
        points.retain_mut(|point| exact(point.step).map(|step| point.step = step).is_some());
        swaps.retain_mut(|swap| match (exact(swap.first), exact(swap.second)) {
            (Some(first), Some(second)) => {
                (swap.first, swap.second) = (first, second);
                true
            }
            _ => false,
        });
    }
}

/// Why a text is not a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotATrace {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for NotATrace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for NotATrace {}

/// Whether a text begins as a trace does.
#[must_use]
pub fn is_trace(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Named {
        #[serde(rename = "program")]
        _program: String,
        #[serde(rename = "steps")]
        _steps: usize,
    }
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| serde_json::from_str::<Named>(line).is_ok())
}

/// Reads a trace. Also gives its seed.
///
/// # Errors
/// When a line is not JSON, or not one of a trace of this version, or when it names what is not there.
pub fn parse(text: &str) -> Result<(Exploration, u64), NotATrace> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let wrong = |line: usize, reason: String| NotATrace { line, reason };
    let (number, first) = lines.next().ok_or_else(|| wrong(1, "the file is empty".to_owned()))?;
    let version = json::version(first).map_err(|error| wrong(number, error.to_string()))?;
    if version != TRACE_VERSION {
        return Err(wrong(number, format!("version {version} is not supported, only version {TRACE_VERSION} is")));
    }
    let header: Header = serde_json::from_str(first).map_err(|error| wrong(number, error.to_string()))?;
    if header.exploration.version != VERSION {
        let version = header.exploration.version;
        return Err(wrong(number, format!("pages of version {version} are not supported, only of version {VERSION}")));
    }
    let end = header.exploration.left_out + header.steps as u64 + 1;
    let mut reading = Reading::of(header.exploration);
    for (number, line) in lines {
        let line = serde_json::from_str(line).map_err(|error| wrong(number, error.to_string()))?;
        reading.add(line).map_err(|reason| wrong(number, reason))?;
    }
    let exploration = reading.finish(end);
    exploration.check().map_err(|what| wrong(number, format!("damaged: the index of {what} is too large")))?;
    Ok((exploration, header.seed))
}

/// The lines that were read.
struct Reading {
    exploration: Exploration,
    texts: Texts,
    objects: Texts,
    places: Texts,
    /// The index of each step by its number.
    indices: BTreeMap<u32, u32>,
}

impl Reading {
    fn of(mut exploration: Exploration) -> Reading {
        let [texts, objects, places] = [&mut exploration.texts, &mut exploration.objects, &mut exploration.places]
            .map(|texts| Texts::of(std::mem::take(texts)));
        exploration.steps.clear();
        Reading { exploration, texts, objects, places, indices: BTreeMap::new() }
    }

    fn add(&mut self, line: Line) -> Result<(), String> {
        let index = self.exploration.steps.len() as u32;
        if self.indices.last_key_value().is_some_and(|(last, _)| *last >= line.step) {
            return Err(format!("step {} comes after a later one", line.step));
        }
        if index == 0 {
            self.exploration.left_out = u64::from(line.step.saturating_sub(1));
        }
        self.indices.insert(line.step, index);
        self.exploration.steps.push(Step {
            task: line.lane,
            kind: line.kind,
            text: self.texts.index(&middle(&line.action, LONGEST)),
            object: line.object.map(|object| self.objects.index(&object)),
            place: (!line.location.is_empty()).then(|| self.places.index(&line.location)),
            state: line.state,
            notes: line.notes.iter().map(|note| self.texts.index(note)).collect(),
            marked: line.marked,
            after: line.after,
            happens_after: line.happens_after,
            woken_by: line.woken_by,
            blocked_by: line.blocked_by,
            reads: line.reads,
        });
        Ok(())
    }

    /// The exploration. In the trace, `end` is the number after that of the last step.
    fn finish(self, end: u64) -> Exploration {
        let Reading { mut exploration, texts, objects, places, indices } = self;
        (exploration.texts, exploration.objects, exploration.places) =
            (texts.into_all(), objects.into_all(), places.into_all());
        let count = indices.len() as u32;
        let exact = |number: u32| match u64::from(number) == end {
            true => Some(count),
            false => indices.get(&number).copied(),
        };
        let first = |number: u32| indices.range(number..).next().map(|(_, index)| *index);
        let last = |number: u32| indices.range(..=number).next_back().map(|(_, index)| *index);
        exploration.renumber(&Numbers { exact: &exact, first: &first, last: &last });
        exploration
    }
}

#[cfg(test)]
mod tests;
