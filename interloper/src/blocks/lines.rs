//! Which line of the program each step belongs to, where the step itself is in a dependency, and fewer rows for such steps.
//!
//! A program that uses tokio makes dozens of steps inside tokio for each line of its own. A report shows the program's line and
//! what the last of these steps did; the page and the JSON trace have them all.

use std::path::Path;

use interloper_harness::faults::Drawn;
use interloper_report::{Event as Shown, Row, workspace};
use interloper_scheduler::{Around, Located, Pending, SourcePlace, Strategy};
use interloper_std::runtime::{self, TaskId};

use super::backtraces::is_elsewhere;
use super::polls::IS_POLLED;
use super::testing::as_the_user_has_it;
use crate::locate::{self, is_of_engine, line_at, locate};

/// Of so many steps at the end of an execution the lines are looked up.
const MOST_LINES: usize = 20_000;

/// A strategy, and for each step the line of the program that led to it.
pub(crate) struct Lines<S> {
    strategy: S,
    /// How many steps come before the first one whose line is looked up.
    skipped: usize,
    /// The task that was chosen last: the one that asks.
    asks: Option<TaskId>,
    /// Where each task was when it asked last.
    last: Vec<Option<SourcePlace>>,
    /// Those of the steps that do not continue another step; `None` for the first step of a task.
    steps: Vec<Option<SourcePlace>>,
}

impl<S: Strategy> Lines<S> {
    /// For an execution with so many steps that do not continue another one. A report shows the last ones, so of a long execution only
    /// these are looked up, which takes a walk over the stack for each.
    pub(crate) fn new(strategy: S, steps: usize) -> Lines<S> {
        let skipped = steps.saturating_sub(MOST_LINES);
        Lines { strategy, skipped, asks: None, last: Vec::new(), steps: Vec::new() }
    }

    /// For each event, the line of the program: that of the step that the event continues, if it does.
    pub(crate) fn of(&self, trace: &[interloper_scheduler::Event]) -> Vec<Option<SourcePlace>> {
        let mut asked = self.steps.iter();
        let mut latest: Vec<Option<SourcePlace>> = Vec::new();
        let line = |event: &interloper_scheduler::Event| {
            let task = event.task.index();
            if latest.len() <= task {
                latest.resize(task + 1, None);
            }
            if !event.continues {
                latest[task] = asked.next().cloned().flatten();
            }
            latest[task].clone()
        };
        trace.iter().map(line).collect()
    }
}

impl<S: Strategy> Around for Lines<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        &self.strategy
    }

    fn inner_mut(&mut self) -> &mut S {
        &mut self.strategy
    }

    fn around_choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        // A task asks on its own stack, before its next step.
        if let Some(task) = self.asks.filter(|_| self.steps.len() >= self.skipped) {
            if self.last.len() <= task.index() {
                self.last.resize(task.index() + 1, None);
            }
            self.last[task.index()] = own_line();
        }
        let index = self.strategy.choose(current, pending);
        let task = pending[index].task;
        self.asks = Some(task);
        self.steps.push(self.last.get(task.index()).cloned().flatten());
        index
    }
}

/// The innermost line on the stack that is of the program itself.
fn own_line() -> Option<SourcePlace> {
    let (mut found, mut is_called, mut is_inside) = (None, false, false);
    // A task is in the middle of a step: what is called here makes none, whatever of it is under control.
    let walk = |frame: &backtrace::Frame| {
        // The address is that of a return: the call before it is what is looked for.
        let address = (frame.ip() as usize).saturating_sub(1);
        found = line_at(address, is_of_program).map(as_compiled);
        // The engine comes twice: it is called by the step, and it has called the task. Nothing has called the engine there.
        is_inside |= is_called && matches!(locate(address), Located::Program(_));
        is_called |= is_of_engine(address);
        found.is_none() && !(is_inside && is_of_engine(address))
    };
    runtime::leave(|| backtrace::trace(walk));
    found
}

fn is_of_program(place: &SourcePlace) -> bool {
    place.line > 0 && place.file.ends_with(".rs") && !is_elsewhere(&place.file)
}

/// The place with the path that the compiler was given, as the places of steps have it: below the root of the workspace.
pub(crate) fn as_compiled(mut place: SourcePlace) -> SourcePlace {
    place.file = below_workspace(place.file);
    place
}

/// The place of the program's code at this address, which the system would have killed the process for.
pub(super) fn place_of_crash(code: usize) -> Option<SourcePlace> {
    line_at(code, |_| true).map(as_compiled)
}

/// A path, perhaps with a line and a column at its end, from the root of the workspace on, if it is below.
pub(crate) fn below_workspace(path: String) -> String {
    match Path::new(&path).strip_prefix(as_the_user_has_it(&workspace())) {
        Ok(below) => below.display().to_string(),
        Err(_) => path,
    }
}

/// Joins rows of one task that follow each other, are of dependencies, and belong to one line of the program. Those of events that
/// `stands_alone` names stay: a finding that needs weak memory is not understood without the accesses that see no newest store. Hints
/// of several tasks in turn change nothing: those of one task and one line are one row.
pub(super) fn joined(
    rows: Vec<Drawn>,
    lines: &[Option<SourcePlace>],
    stands_alone: impl Fn(usize) -> bool,
) -> Vec<Drawn> {
    if lines.is_empty() {
        return rows;
    }
    let mut shown: Vec<Drawn> = Vec::new();
    let mut joins: Vec<Option<Join<'_>>> = Vec::new();
    for drawn in rows {
        let line = lines.get(drawn.index).and_then(Option::as_ref);
        const SAID: [&str; 5] = ["▲", "woken by", "polled by", "wakes ", "spawns "];
        let says = |note: &String| SAID.iter().any(|start| note.starts_with(start));
        let begins = matches!(&drawn.row.event, Shown::Operation(text) if text == IS_POLLED);
        let is_told = drawn.is_event && stands_alone(drawn.index);
        let is_said = drawn.is_marked || is_told || begins || drawn.row.notes.iter().any(says);
        let is_inside = drawn.is_event && drawn.row.location.as_deref().is_some_and(is_of_dependency);
        if !is_inside || is_said {
            joins.push(None);
            shown.push(if is_inside { placed(drawn, line, 0) } else { drawn });
            continue;
        }
        let is_hint = matches!(&drawn.row.event, Shown::Operation(text) if text == YIELDS);
        let is_own =
            |at: &usize| shown[*at].row.column == drawn.row.column && joins[*at].is_some_and(|join| join.line == line);
        let hints = joins.iter().rev().take_while(|join| is_hint && join.is_some_and(|join| join.only_hints)).count();
        let before = (0..shown.len()).rev().take(hints.max(1)).find(is_own);
        let join = before.and_then(|at| {
            shown.remove(at);
            joins.remove(at)
        });
        let (others, only_hints) = join.map_or((0, true), |join| (join.steps, join.only_hints));
        joins.push(Some(Join { steps: others + 1, line, only_hints: only_hints && is_hint }));
        shown.push(placed(drawn, line, others));
    }
    shown
}

/// What a row of a dependency is joined of.
#[derive(Clone, Copy)]
struct Join<'l> {
    steps: usize,
    /// The line of the program.
    line: Option<&'l SourcePlace>,
    only_hints: bool,
}

/// What a report says of a hint.
const YIELDS: &str = "yields";

/// A row at the line of the program that it belongs to, after so many others that are not shown.
fn placed(mut drawn: Drawn, line: Option<&SourcePlace>, others: usize) -> Drawn {
    let Row { event, location, notes, .. } = &mut drawn.row;
    let inside = location.as_deref().and_then(package).map(|(package, rest)| (package.to_owned(), rest.to_owned()));
    if let (Shown::Operation(text), 1..) = (&mut *event, others) {
        let steps = if others == 1 { "1 other step".to_owned() } else { format!("{others} other steps") };
        let inside = inside.as_ref().map(|(package, _)| format!(" in {package}")).unwrap_or_default();
        text.push_str(&format!(", after {steps}{inside}"));
    }
    if let Some(SourcePlace { file, line, column }) = line {
        if let (Some((package, rest)), 0) = (&inside, others) {
            notes.insert(0, format!("in {package}{rest}"));
        }
        *location = Some(format!("{file}:{line}:{column}"));
    } else if let Some((package, rest)) = &inside {
        *location = Some(format!("{package}{rest}"));
    } else {
        // A step that std makes: nobody looks for it in the sources of Interloper.
        location.take_if(|location| locate::is_own(location));
    }
    drawn
}

fn is_of_dependency(location: &str) -> bool {
    is_elsewhere(location) || locate::is_own(location)
}

/// The folder of a dependency in a path, and the rest of the path.
pub(super) fn package(location: &str) -> Option<(&str, &str)> {
    let (_, path) = location.split_once("/registry/src/").or_else(|| location.split_once("/git/checkouts/"))?;
    let (_, path) = path.split_once('/')?;
    path.find('/').map(|at| path.split_at(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKIO: &str = "/home/me/.cargo/registry/src/index-1/tokio-1.54.1/src/sync/watch.rs:1:2";

    fn row(task: usize, text: &str, location: &str) -> Row {
        Row { location: Some(location.to_owned()), ..Row::event(task, Shown::Operation(text.to_owned())) }
    }

    /// What is shown of rows, each with its task, its text, its place, and the line of the program.
    #[track_caller]
    fn check(rows: &[(usize, &str, &str, Option<u32>)], expected: &[&str]) {
        let line = |line: u32| SourcePlace { file: "src/lib.rs".to_owned(), line, column: 9 };
        let lines: Vec<Option<SourcePlace>> = rows.iter().map(|row| row.3.map(line)).collect();
        let drawn = |(index, &(task, text, location, _)): (usize, &(usize, &str, &str, Option<u32>))| {
            let is_marked = text.starts_with(char::is_uppercase);
            Drawn { index, is_event: true, is_marked, row: row(task, text, location) }
        };
        let text = |drawn: Drawn| {
            let Shown::Operation(text) = drawn.row.event else { panic!("an operation") };
            let notes: String = drawn.row.notes.iter().map(|note| format!(" ({note})")).collect();
            format!("{} {text} at {}{notes}", drawn.row.column, drawn.row.location.unwrap_or_default())
        };
        let is_stale = |index: usize| rows[index].1.contains("stale");
        let shown = joined(rows.iter().enumerate().map(drawn).collect(), &lines, is_stale);
        assert_eq!(shown.into_iter().map(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn steps_of_a_dependency_for_one_line_are_one_row() {
        let (three, four) = (Some(3), Some(4));
        check(
            &[(0, "a", TOKIO, three), (0, "b", TOKIO, three), (0, "c", TOKIO, three), (0, "d", TOKIO, four)],
            &[
                "0 c, after 2 other steps in tokio-1.54.1 at src/lib.rs:3:9",
                "0 d at src/lib.rs:4:9 (in tokio-1.54.1/src/sync/watch.rs:1:2)",
            ],
        );
        // Two threads back off in turn.
        let [y, z] = [0, 1].map(|task| (task, "yields", TOKIO, three));
        let after =
            |task: usize, others: &str| format!("{task} yields, after {others} in tokio-1.54.1 at src/lib.rs:3:9");
        check(&[y, z, y, z, z], &[&after(0, "1 other step"), &after(1, "2 other steps")]);
        let inside = "(in tokio-1.54.1/src/sync/watch.rs:1:2)";
        let alone = |task: usize, text: &str, line: u32| format!("{task} {text} at src/lib.rs:{line}:9 {inside}");
        check(
            &[y, (1, "a", TOKIO, three), y, z, (0, "yields", TOKIO, four), y],
            &[
                &alone(0, "yields", 3),
                &alone(1, "a", 3),
                &alone(1, "yields", 3),
                &alone(0, "yields", 4),
                &after(0, "1 other step"),
            ],
        );
        // A worker of tokio has no line of the program.
        check(
            &[(1, "a", TOKIO, None), (1, "b", TOKIO, None)],
            &["1 b, after 1 other step in tokio-1.54.1 at tokio-1.54.1/src/sync/watch.rs:1:2"],
        );
    }

    #[test]
    fn another_task_a_line_of_the_program_and_what_is_marked_stay() {
        let three = Some(3);
        let inside = "(in tokio-1.54.1/src/sync/watch.rs:1:2)";
        let alone = |task: usize, text: &str| format!("{task} {text} at src/lib.rs:3:9 {inside}");
        check(
            &[(0, "a", TOKIO, three), (1, "b", TOKIO, three), (0, "c", TOKIO, three)],
            &[&alone(0, "a"), &alone(1, "b"), &alone(0, "c")],
        );
        check(
            &[(0, "a", TOKIO, three), (0, "stale", TOKIO, three), (0, "c", TOKIO, three)],
            &[&alone(0, "a"), &alone(0, "stale"), &alone(0, "c")],
        );
        check(
            &[(0, "a", TOKIO, three), (0, "b", "src/lib.rs:3:1", three), (0, "c", TOKIO, three)],
            &[&alone(0, "a"), "0 b at src/lib.rs:3:1", &alone(0, "c")],
        );
        check(
            &[(0, "a", TOKIO, three), (0, "B", TOKIO, three), (0, "c", TOKIO, three)],
            &[&alone(0, "a"), &alone(0, "B"), &alone(0, "c")],
        );
    }
}
