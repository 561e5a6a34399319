//! The trace of an execution as JSON Lines: a header, then a line for each step.
//!
//! `interloper run NAME --trace FILE` writes such a file, and `interloper explore FILE --trace FILE` writes one of whatever a page
//! shows; `interloper explore FILE` reads it. Each line stands alone, so that a trace can be filtered with the usual tools; lines
//! that are missing are missing on the page.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::counterexample::LONGEST;
use super::{Exploration, Extent, Hold, Span, Step, Texts, VERSION};
use crate::shorten::middle;
use crate::{Column, Lane};

/// The version of the format.
pub const TRACE_VERSION: u32 = 1;

/// The first line of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub version: u32,
    /// The name of the program.
    pub program: String,
    /// The seed of the search.
    pub seed: u64,
    /// The grade: `bug`.
    pub grade: String,
    /// What the execution shows; `None` if the search found nothing.
    pub finding: Option<String>,
    /// How many lines follow.
    pub steps: usize,
}

/// A step of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Its number, from 1.
    pub step: usize,
    /// The task: `thread 2`.
    pub task: String,
    /// What it does: `locks mutex 1`.
    pub action: String,
    /// Where: `src/account.rs:12:9`.
    pub location: String,
    /// The block that it is in.
    pub block: Option<String>,
    /// The locks that its task holds after it.
    pub holds: Vec<String>,
    /// 1, 2 or 3 if it is one of the violating triple.
    pub of_triple: Option<u8>,
    /// Whether it is part of what is wrong in another way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
    /// The state after it, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// The steps of an exploration as a trace. The page of a trace has what its lines say, and no more.
#[must_use]
pub fn lines(exploration: &Exploration, seed: u64) -> String {
    let Exploration { name, verdict, is_wrong, steps, .. } = exploration;
    let header = Header {
        version: TRACE_VERSION,
        program: name.clone(),
        seed,
        grade: verdict.clone(),
        finding: is_wrong.then(|| verdict.clone()),
        steps: steps.len(),
    };
    let text = |texts: &[String], index: u32| texts.get(index as usize).cloned().unwrap_or_default();
    let spans = exploration.spans.iter().map(|span| (span.from, span.until.map(|until| until + 1), span));
    let holds = exploration.holds.iter().map(|hold| (hold.from, hold.until, hold));
    let (mut spans, mut holds) = (Open::new(spans), Open::new(holds));
    let mut line = |(at, step): (u32, &Step)| {
        let block = spans.at(at).iter().rev().find(|(.., span)| span.task == step.task);
        let holds = holds.at(at).iter().filter(|(.., hold)| hold.task == step.task);
        Line {
            step: at as usize + 1 + exploration.left_out as usize,
            task: exploration.tasks.get(step.task as usize).map_or_else(String::new, |task| task.title.clone()),
            action: text(&exploration.texts, step.text),
            location: step.place.map_or_else(String::new, |place| text(&exploration.places, place)),
            block: block.map(|(.., span)| text(&exploration.texts, span.text)),
            holds: holds.map(|(.., hold)| text(&exploration.objects, hold.object)).collect(),
            of_triple: None,
            marked: step.marked,
            state: step.state.clone(),
        }
    };
    let json = |line: serde_json::Result<String>| line.expect("strings and numbers are always JSON") + "\n";
    let steps = (0..).zip(steps).map(|numbered| json(serde_json::to_string(&line(numbered))));
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
/// When a line is not JSON, or not one of a trace of this version.
pub fn parse(text: &str) -> Result<(Exploration, u64), NotATrace> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let wrong = |line: usize, reason: String| NotATrace { line, reason };
    let (number, first) = lines.next().ok_or_else(|| wrong(1, "the file is empty".to_owned()))?;
    let header: Header = serde_json::from_str(first).map_err(|error| wrong(number, error.to_string()))?;
    if header.version != TRACE_VERSION {
        let version = header.version;
        return Err(wrong(number, format!("version {version} is not supported, only version {TRACE_VERSION} is")));
    }
    let mut reading = Reading::default();
    for (number, line) in lines {
        reading.add(serde_json::from_str(line).map_err(|error| wrong(number, error.to_string()))?);
    }
    let seed = header.seed;
    Ok((reading.finish(header), seed))
}

/// The lines that were read.
#[derive(Default)]
struct Reading {
    tasks: Vec<String>,
    texts: Texts,
    objects: Texts,
    places: Texts,
    steps: Vec<Step>,
    spans: Vec<Span>,
    holds: Vec<Hold>,
    /// Those that have not ended, as indices into them.
    held: Vec<usize>,
    /// By task: the block that it is in, as an index into the spans.
    blocks: BTreeMap<u32, usize>,
    left_out: u64,
}

impl Reading {
    fn add(&mut self, line: Line) {
        if self.steps.is_empty() {
            self.left_out = line.step.saturating_sub(1) as u64;
        }
        let known = self.tasks.iter().position(|task| *task == line.task);
        let task = known.unwrap_or_else(|| {
            self.tasks.push(line.task.clone());
            self.tasks.len() - 1
        }) as u32;
        self.block(task, line.block.as_deref());
        self.hold(task, &line.holds);
        let note = line.of_triple.map(|part| self.texts.index(&format!("▲ {part} of 3")));
        self.steps.push(Step {
            task,
            text: self.texts.index(&middle(&line.action, LONGEST)),
            place: (!line.location.is_empty()).then(|| self.places.index(&line.location)),
            notes: note.into_iter().collect(),
            marked: line.marked || line.of_triple.is_some(),
            state: line.state,
            ..Step::default()
        });
    }

    /// The next step of a task is in this block.
    fn block(&mut self, task: u32, block: Option<&str>) {
        let at = self.steps.len() as u32;
        let text = block.map(|block| self.texts.index(block));
        if let Some(&span) = self.blocks.get(&task) {
            if text == Some(self.spans[span].text) {
                return;
            }
            self.spans[span].until = Some(at.saturating_sub(1));
            self.blocks.remove(&task);
        }
        if let Some(text) = text {
            self.blocks.insert(task, self.spans.len());
            self.spans.push(Span { task, text, from: at, until: None, what: Extent::Block, marked: false });
        }
    }

    /// After the next step of a task, the task holds these locks.
    fn hold(&mut self, task: u32, locks: &[String]) {
        let at = self.steps.len() as u32;
        let now: Vec<u32> = locks.iter().map(|lock| self.objects.index(lock)).collect();
        let holds = &mut self.holds;
        self.held.retain(|&held| {
            let stays = holds[held].task != task || now.contains(&holds[held].object);
            if !stays {
                holds[held].until = Some(at);
            }
            stays
        });
        for object in now {
            if !self.held.iter().any(|&held| holds[held].task == task && holds[held].object == object) {
                self.held.push(holds.len());
                holds.push(Hold { task, object, mode: String::new(), from: at, until: None });
            }
        }
    }

    fn finish(self, header: Header) -> Exploration {
        let lane = |title: String| Column { title, lane: Lane::Thread };
        Exploration {
            version: VERSION,
            name: header.program,
            is_wrong: header.finding.is_some(),
            verdict: header.finding.unwrap_or_else(|| header.grade.clone()),
            detail: format!("trace of a search with seed {}", header.seed),
            tasks: self.tasks.into_iter().map(lane).collect(),
            texts: self.texts.into_all(),
            objects: self.objects.into_all(),
            places: self.places.into_all(),
            left_out: self.left_out,
            steps: self.steps,
            spans: self.spans,
            holds: self.holds,
            ..Exploration::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(step: usize, task: &str, action: &str, block: Option<&str>, holds: &[&str]) -> String {
        let line = Line {
            step,
            task: task.to_owned(),
            action: action.to_owned(),
            location: format!("src/lib.rs:{step}:5"),
            block: block.map(str::to_owned),
            holds: holds.iter().map(|lock| (*lock).to_owned()).collect(),
            of_triple: (step == 2).then_some(1),
            ..Line::default()
        };
        serde_json::to_string(&line).expect("JSON")
    }

    fn header(version: u32) -> String {
        let header = Header { version, program: "p".into(), finding: Some("deadlock".into()), ..Header::default() };
        serde_json::to_string(&header).expect("JSON")
    }

    #[test]
    fn blocks_and_locks_are_put_together_from_the_lines() {
        let lines = [
            header(1),
            line(1, "main", "begins b", Some("b"), &[]),
            line(2, "main", "locks mutex 1", Some("b"), &["mutex 1"]),
            line(3, "thread 1", "reads atomic 1", None, &[]),
            line(4, "main", "unlocks mutex 1", Some("b"), &[]),
            line(5, "main", "ends", None, &[]),
        ];
        let (read, _) = parse(&lines.join("\n")).expect("a trace");
        let titles: Vec<&str> = read.tasks.iter().map(|task| task.title.as_str()).collect();
        assert_eq!((titles, read.verdict.as_str(), read.steps.len()), (vec!["main", "thread 1"], "deadlock", 5));
        let block = Span { task: 0, text: 0, from: 0, until: Some(3), what: Extent::Block, marked: false };
        assert_eq!((read.spans, read.texts[0].as_str()), (vec![block], "b"));
        let hold = Hold { task: 0, object: 0, mode: String::new(), from: 1, until: Some(3) };
        assert_eq!(read.holds, [hold]);
        let marked: Vec<bool> = read.steps.iter().map(|step| step.marked).collect();
        assert_eq!(marked, [false, true, false, false, false]);
    }

    /// What a trace has comes back: tasks, blocks, locks, marks and states.
    #[test]
    fn the_trace_of_an_exploration_is_read_back() {
        let lines = [
            header(1),
            line(1, "main", "begins b", Some("b"), &[]),
            line(2, "main", "locks mutex 1", Some("b"), &["mutex 1"]),
            line(3, "thread 1", "reads atomic 1", None, &[]),
            line(4, "main", "unlocks mutex 1", Some("b"), &[]),
        ];
        let (mut read, _) = parse(&lines.join("\n")).expect("a trace");
        read.steps[2].state = Some("{7: 1}".to_owned());
        read.spans[0].until = Some(3);
        read.steps.iter_mut().for_each(|step| step.notes.clear());
        read.detail = "trace of a search with seed 5".to_owned();
        let (again, seed) = parse(&super::lines(&read, 5)).expect("a trace");
        assert_eq!(seed, 5);
        let texts =
            |one: &Exploration| one.steps.iter().map(|step| one.texts[step.text as usize].clone()).collect::<Vec<_>>();
        assert_eq!(texts(&again), texts(&read));
        let rest = |one: Exploration| {
            let spans: Vec<_> =
                one.spans.iter().map(|span| (span.task, span.from, one.texts[span.text as usize].clone())).collect();
            let steps: Vec<_> =
                one.steps.into_iter().map(|step| (step.task, step.place, step.marked, step.state)).collect();
            (
                one.name,
                one.verdict,
                one.is_wrong,
                one.detail,
                one.tasks,
                one.objects,
                one.places,
                one.holds,
                spans,
                steps,
            )
        };
        assert_eq!(rest(again), rest(read));
    }

    #[test]
    fn what_is_not_a_trace_is_refused_with_its_line() {
        let check = |text: &str, line, reason: &str| {
            let error = parse(text).expect_err("refused");
            assert!(error.line == line && error.reason.contains(reason), "{error}");
        };
        check("", 1, "the file is empty");
        check("{}", 1, "missing field `version`");
        check(&header(2), 1, "version 2 is not supported");
        check(&format!("{}\n\n{{\"step\": 1}}", header(1)), 3, "missing field `task`");
        assert_eq!(parse(&header(1)).expect("a trace without steps").0.steps, []);
        assert!(is_trace(&header(7)) && !is_trace("") && !is_trace("{\n\"version\": 3}") && !is_trace("{}"));
    }
}
