//! Executions that replay files have recorded: `cargo interloper` runs them again in the tests that it has written for operations,
//! types and objects, and reads the files from the output of these tests.

use std::env;
use std::path::Path;

use interloper_report::Counterexample;
use interloper_report::explorer::Exploration;
use interloper_report::replay_file::{Moment, ReplayFile, difference};
use interloper_scheduler::decisions::Decisions;
use serde::{Deserialize, Serialize};

use crate::pages;

/// The variable that names the file of the execution to run again.
pub const REPLAY: &str = "INTERLOPER_REPLAY";
/// What begins the replay file of a finding in the output of a test: one line of JSON.
pub const FILE: &str = "\u{2}replay file ";
/// What begins what came of an execution that was run again: one line of JSON.
pub const AGAIN: &str = "\u{2}replayed ";
/// What says that a page was written; what it shows follows to the end of the line.
pub const WRITTEN: &str = "\u{2}page\u{3}";

/// What a recorded execution showed when it was run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Again {
    /// How it differs from the recording, if it does.
    pub divergence: Option<String>,
    /// What it shows. None where it shows nothing wrong.
    pub counterexample: Option<Counterexample>,
}

impl Again {
    /// The execution went another way, and shows nothing.
    pub(crate) fn diverged(divergence: String) -> Again {
        Again { divergence: Some(divergence), counterexample: None }
    }

    /// The execution showed a violation, which may differ from the recorded one. Where it is the same, its words are those of the
    /// search that found it: its page is the one that the search has written.
    pub(crate) fn showed(file: &ReplayFile, finding: &str, history: &[Moment], shown: Counterexample) -> Again {
        let divergence = match finding == file.finding {
            true => difference(&file.history, history),
            false => Some(format!("the recording shows {}, and the replay shows {finding}", file.finding)),
        };
        let counterexample = match &file.counterexample {
            Some(recorded) if divergence.is_none() => {
                let Counterexample { name, verdict, detail, replay, .. } = recorded.clone();
                Counterexample { name, verdict, detail, replay, ..shown }
            }
            _ => shown,
        };
        Again { divergence, counterexample: Some(counterexample) }
    }

    /// A page of the execution, under the name that its counterexample has.
    pub(crate) fn named(&self, page: Exploration) -> Exploration {
        match self.counterexample.clone() {
            Some(Counterexample { name, verdict, detail, replay, .. }) => {
                Exploration { name, verdict, detail, replay, ..page }
            }
            None => page,
        }
    }

    /// Prints it for `cargo interloper`.
    #[allow(clippy::print_stdout, reason = "the command reads the output of the test")]
    pub(crate) fn print(&self) {
        println!("\n{AGAIN}{}", serde_json::to_string(self).expect("a counterexample is always JSON"));
    }

    /// What a test has printed. Where it tried several environments, the last one says what came of it.
    pub fn of(out: &str) -> Option<Again> {
        serde_json::from_str(out.lines().filter_map(|line| line.strip_prefix(AGAIN)).next_back()?).ok()
    }
}

/// The file of the execution that is to be run again, if that is asked for.
///
/// # Panics
/// If the file cannot be read. `cargo interloper` has read it before.
pub(crate) fn asked() -> Option<ReplayFile> {
    let path = env::var_os(REPLAY)?;
    let path = Path::new(&path);
    Some(ReplayFile::read(path).unwrap_or_else(|error| panic!("cannot replay {}: {error}", path.display())))
}

/// The decisions of a file.
///
/// # Errors
/// Why they cannot be read.
pub(crate) fn decisions(file: &ReplayFile) -> Result<Decisions, String> {
    file.decisions.parse().map_err(|error| format!("its decisions are damaged: {error}"))
}

/// Prints the replay file of a finding for `cargo interloper`, which writes it. Long texts are shortened.
#[allow(clippy::print_stdout, reason = "the command reads the output of the test")]
pub(crate) fn print(file: &ReplayFile) {
    let shortened = file.counterexample.as_ref().and_then(Counterexample::shortened);
    let file = ReplayFile { counterexample: shortened.or(file.counterexample.clone()), ..file.clone() };
    println!("\n{FILE}{}", serde_json::to_string(&file).expect("strings and numbers are always JSON"));
}

/// The replay files that a test has printed.
pub fn files(out: &str) -> Vec<ReplayFile> {
    let lines = out.lines().filter_map(|line| line.strip_prefix(FILE));
    lines.filter_map(|line| ReplayFile::parse(line.as_bytes()).ok()).collect()
}

/// A file with the counterexample.
pub(crate) fn with(file: ReplayFile, counterexample: &Counterexample) -> ReplayFile {
    ReplayFile { counterexample: Some(counterexample.clone()), ..file }
}

/// Writes the page of a finding, and says so in the output of the test.
pub(crate) fn write_page(exploration: &Exploration, path: &Path) {
    match pages::write(path, exploration) {
        Ok(()) => println!("\n{WRITTEN}{}, {}", exploration.name, exploration.verdict),
        Err(error) => eprintln!("cannot write {}: {error}", path.display()),
    }
}
