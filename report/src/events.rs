//! How a command gets on, as events for editors and other programs: one JSON object in each line.

use serde::Serialize;

use crate::Counterexample;

/// Something that a program may show. Names and units are documented in docs/reference/files.md.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// A number of checks begins. The total is missing where it is not known.
    Started {
        /// What is counted.
        what: &'a str,
        /// How many there are.
        total: Option<u64>,
    },
    /// The check of this name goes on to another phase.
    Phase {
        /// Of what.
        name: &'a str,
        /// Which one.
        phase: &'a str,
    },
    /// So many of them have ended.
    Progress {
        /// How many have ended.
        done: u64,
        /// How many there are.
        total: Option<u64>,
        /// What ended, or what runs.
        name: &'a str,
        /// The executions so far of what runs, where they are counted.
        executions: Option<u64>,
        /// The time since the beginning.
        seconds: f64,
    },
    /// A check has found something.
    Finding {
        /// Of what.
        name: &'a str,
        /// What it is.
        verdict: &'a str,
        /// Whether the suite knows of it.
        expected: bool,
        /// The lines that matter most, with the text that a report has there.
        places: Vec<Place<'a>>,
    },
    /// What a person would read.
    Note {
        /// The line.
        says: &'a str,
    },
    /// These shards had nothing to do.
    NothingToDo {
        /// Which ones.
        shards: Vec<String>,
    },
    /// All have ended.
    Finished {
        /// What was counted.
        what: &'a str,
        /// How many there were.
        done: u64,
        /// Their executions, where they are counted.
        executions: Option<u64>,
        /// The time since the beginning.
        seconds: f64,
    },
}

/// A line of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place<'a> {
    /// As the compiler names it, and so relative to the root of the workspace.
    pub file: &'a str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// What happens there.
    pub says: String,
}

impl Event<'_> {
    /// The event in one line of JSON.
    #[must_use]
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers are always JSON")
    }
}

/// The places of a finding that matter most.
#[must_use]
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
