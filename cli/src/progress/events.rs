//! Progress as events for editors and other programs: one JSON object in each line of standard error.

use std::sync::OnceLock;

use interloper_report::Counterexample;
use serde::Serialize;

use crate::args::ProgressArg;
use crate::output;

/// How progress is shown. It is the same for the whole process, like the logs.
static MODE: OnceLock<ProgressArg> = OnceLock::new();

/// Says how progress is shown from here on.
pub fn show(how: ProgressArg) {
    // Nothing but `main` says so.
    let _ = MODE.set(how);
}

/// Whether progress is for people, and not switched off.
pub fn for_people() -> bool {
    MODE.get().copied().unwrap_or(ProgressArg::Auto) == ProgressArg::Auto
}

/// Whether progress is told as events.
pub fn are_wanted() -> bool {
    MODE.get() == Some(&ProgressArg::Json)
}

/// Something that a program may show. Names and units are documented in docs/reference/files.md.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// A number of checks begins. The total is missing where it is not known.
    Started { what: &'a str, total: Option<u64> },
    /// The check of this name goes on to another phase.
    Phase { name: &'a str, phase: &'a str },
    /// So many of them have ended.
    Progress { done: u64, total: Option<u64>, name: &'a str, executions: Option<u64>, seconds: f64 },
    /// A check has found something.
    Finding {
        name: &'a str,
        verdict: &'a str,
        /// Whether the suite knows of it.
        expected: bool,
        /// The lines that matter most, with the text that a report has there.
        places: Vec<Place<'a>>,
    },
    /// These shards had nothing to do.
    NothingToDo { shards: Vec<String> },
    /// All have ended.
    Finished { what: &'a str, done: u64, executions: Option<u64>, seconds: f64 },
}

/// A line of source.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Place<'a> {
    /// As the compiler names it, and so relative to the root of the workspace.
    file: &'a str,
    line: u32,
    column: u32,
    says: String,
}

impl Event<'_> {
    /// Writes the event, if events are wanted.
    pub fn tell(&self) {
        if are_wanted() {
            output::note(&self.line());
        }
    }

    fn line(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers are always JSON")
    }
}

/// The places of a finding that matter most.
pub fn places(counterexample: &Counterexample) -> Vec<Place<'_>> {
    let rows = counterexample.culprits().into_iter();
    let placed = rows.filter_map(|row| Some((split(row.location.as_deref()?)?, row.event.to_string())));
    placed.map(|((file, line, column), says)| Place { file, line, column, says }).collect()
}

/// `src/cache.rs:12:9` in its parts. A file may have colons in its name.
fn split(location: &str) -> Option<(&str, u32, u32)> {
    let (rest, column) = location.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file, line.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line() {
        let check = |event: Event<'_>, line: &str| assert_eq!(event.line(), line);
        check(Event::Started { what: "case", total: Some(3) }, r#"{"event":"started","what":"case","total":3}"#);
        check(
            Event::Phase { name: "a\nb", phase: "searching" },
            r#"{"event":"phase","name":"a\nb","phase":"searching"}"#,
        );
        let place = Place { file: "src/a.rs", line: 3, column: 5, says: "get(7) → none".to_owned() };
        check(
            Event::Finding { name: "a", verdict: "panic", expected: false, places: vec![place] },
            r#"{"event":"finding","name":"a","verdict":"panic","expected":false,"places":[{"file":"src/a.rs","line":3,"column":5,"says":"get(7) → none"}]}"#,
        );
    }

    #[test]
    fn a_place_has_three_parts() {
        assert_eq!(split("src/a.rs:3:5"), Some(("src/a.rs", 3, 5)));
        assert_eq!(split("C:\\a.rs:3:5"), Some(("C:\\a.rs", 3, 5)));
        for wrong in ["", "src/a.rs", "src/a.rs:3", "src/a.rs:x:5", "src/a.rs:3:99999999999"] {
            assert_eq!(split(wrong), None, "{wrong}");
        }
    }
}
