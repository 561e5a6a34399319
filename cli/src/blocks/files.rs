//! What is written about a program: a replay file, a trace, a page.

use std::path::Path;

use interloper::blocks::{Step, Violation};
use interloper_report::{Counterexample, html};
use serde::{Deserialize, Serialize};

use super::checking::Checked;
use crate::commands::JSON_VERSION;
use crate::failure::Failure;
use crate::failures::history;
use crate::replay_file::{Moment, ReplayFile, VERSION, check_hash, check_version, fingerprint, write, write_text};

/// Everything that determines one execution of one program, and what it showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramFile {
    /// The format: [`VERSION`].
    pub version: u32,
    /// The name of the program.
    pub program: String,
    /// The seed of the search that found the execution.
    pub seed: u64,
    /// How that search chose its schedules.
    pub strategy: String,
    /// Which execution of the search it was, counted from 1.
    pub execution: u64,
    /// What it showed: `panic`, `not atomic`.
    pub finding: String,
    /// The decisions of the smallest execution that shows it, as the scheduler writes them.
    pub decisions: String,
    /// The [`fingerprint`] of the history.
    pub history_hash: String,
    /// The steps of that execution: what tells where another one goes another way.
    pub history: Vec<Moment>,
}

/// Writes the replay file of a violation, and gives the counterexample with the command that replays it.
pub fn record(checked: &Checked, violation: &Violation) -> Result<Counterexample, Failure> {
    let (name, settings) = (checked.program.name, &checked.settings);
    let path = ReplayFile::path(name, settings.seed);
    let history = history(&violation.counterexample);
    let file = ProgramFile {
        version: VERSION,
        program: name.to_owned(),
        seed: settings.seed,
        strategy: settings.schedule.to_string(),
        execution: violation.execution,
        finding: violation.finding.to_string(),
        decisions: format!("{:#}", violation.smallest),
        history_hash: fingerprint(&history),
        history,
    };
    write(&file, &path)?;
    let replay = Some(format!("interloper replay {}", path.display()));
    Ok(Counterexample { replay, ..violation.counterexample.clone() })
}

/// What a file begins with that is no replay file of a case.
#[derive(Deserialize)]
struct Header {
    version: u32,
    program: Option<String>,
    test: Option<String>,
}

/// A file by what it is about.
#[derive(Debug, PartialEq, Eq)]
pub enum About {
    Program(Box<ProgramFile>),
    /// A test of this name has left it, which is not in this binary.
    Test(String),
    /// Something else: a case, or damage.
    Other,
}

/// Looks what a file is about.
///
/// # Errors
/// When it is about a program, and of another version or damaged.
pub fn read(bytes: &[u8]) -> Result<About, String> {
    match serde_json::from_slice(bytes) {
        Ok(Header { test: Some(test), .. }) => Ok(About::Test(test)),
        Ok(Header { version, program: Some(_), .. }) => {
            check_version(version)?;
            let file: Box<ProgramFile> = serde_json::from_slice(bytes).map_err(|error| format!("damaged: {error}"))?;
            check_hash(&file.history_hash, &file.history)?;
            Ok(About::Program(file))
        }
        _ => Ok(About::Other),
    }
}

/// The first line of a trace.
#[derive(Serialize)]
struct TraceHeader<'a> {
    version: u32,
    program: &'a str,
    seed: u64,
    grade: &'static str,
    finding: Option<String>,
    steps: usize,
}

/// A line of a trace.
#[derive(Serialize)]
struct TraceLine<'a> {
    step: usize,
    task: &'a str,
    action: &'a str,
    location: &'a str,
    block: Option<&'a str>,
    holds: &'a [String],
    /// 1, 2 or 3 if it is one of the violating triple.
    of_triple: Option<u8>,
}

/// Writes the steps of a violation as JSON Lines; only the first line where there is none.
pub fn write_trace(checked: &Checked, path: &Path) -> Result<(), Failure> {
    let Some(report) = checked.report() else { return Ok(()) };
    let violation = report.violation();
    let steps: &[Step] = violation.map_or(&[], |violation| &violation.trace);
    let header = TraceHeader {
        version: JSON_VERSION,
        program: checked.program.name,
        seed: checked.settings.seed,
        grade: report.grade.word(),
        finding: violation.map(|violation| violation.finding.to_string()),
        steps: steps.len(),
    };
    let mut text = line(&header);
    for (index, step) in steps.iter().enumerate() {
        let Step { task, action, location, block, holds, of_triple } = step;
        let block = block.as_deref();
        text += &line(&TraceLine { step: index + 1, task, action, location, block, holds, of_triple: *of_triple });
    }
    write_text(&text, path)
}

fn line(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("strings and numbers are always JSON") + "\n"
}

/// Writes a counterexample as a page.
pub fn write_page(name: &str, counterexample: Option<&Counterexample>, path: &Path) -> Result<(), Failure> {
    match counterexample {
        Some(counterexample) => write_text(&html::render(counterexample), path),
        None => Err(Failure::Request(format!("{name} has no violation, so there is no page to write"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> ProgramFile {
        let history = vec![Moment { step: 1, event: "main: locks mutex 1".into(), state: None }];
        ProgramFile {
            version: VERSION,
            program: "figure-1".into(),
            seed: 42,
            strategy: "random".into(),
            execution: 3,
            finding: "panic".into(),
            decisions: "T1/2".into(),
            history_hash: fingerprint(&history),
            history,
        }
    }

    #[test]
    fn a_file_tells_what_it_is_about() {
        let bytes = serde_json::to_vec(&example()).expect("JSON");
        assert_eq!(read(&bytes), Ok(About::Program(Box::new(example()))));
        assert_eq!(read(br#"{"version": 1, "test": "suite::case"}"#), Ok(About::Test("suite::case".into())));
        for other in [&br#"{"version": 2, "case": "memoize"}"#[..], br#"{"version": 3, "case": "x"}"#, b"[]", b""] {
            assert_eq!(read(other), Ok(About::Other));
        }
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let check = |text: &str, expected: &str| assert_eq!(read(text.as_bytes()), Err(expected.to_owned()));
        check(r#"{"version": 2, "program": "figure-1"}"#, "damaged: missing field `seed` at line 1 column 37");
        let older = "written by an older interloper (version 1, this one reads version 2)";
        check(r#"{"version": 1, "program": "figure-1"}"#, older);
        let newer = "written by a newer interloper (version 3, this one reads version 2)";
        check(r#"{"version": 3, "program": "figure-1"}"#, newer);
        let mut edited = example();
        edited.history[0].event.push('!');
        let reason = read(&serde_json::to_vec(&edited).expect("JSON")).expect_err("its history was edited");
        assert!(reason.starts_with("damaged: its history has the hash "), "{reason}");
    }
}
