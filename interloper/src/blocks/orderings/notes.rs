//! What the checks of a process note for `cargo interloper orderings`, which runs the tests of a project again and again.
//!
//! Two variables in the environment apply to every check of a process, whatever its settings say. `INTERLOPER_ORDERING`
//! changes one ordering: `src/lib.rs:12:9 store Release Relaxed`. `INTERLOPER_ORDERINGS` names a file; each check appends its
//! notes to it. With one of them executions have weak memory, since orderings matter nowhere else.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use interloper_report::explorer::Exploration;
use interloper_report::plain;
use interloper_scheduler::orderings::{Change, Executed, Orderings};
use serde::{Deserialize, Serialize};

use super::super::check::Checker;
use super::super::misuse::Misuse;
use super::super::overrides::BadVariable;
use super::super::report::{Report, Violation};
use super::super::runner::Body;
use super::super::settings::Settings;
use crate::blocks::Memory;
use crate::pages;

/// The variable with the ordering that is changed.
pub const CHANGE: &str = "INTERLOPER_ORDERING";
/// The variable with the file for the notes.
pub const NOTES: &str = "INTERLOPER_ORDERINGS";
/// The variable with the page that is wanted, a [`Page`] in JSON.
pub const PAGE: &str = "INTERLOPER_ORDERINGS_PAGE";

/// The page of a finding. If several checks of a process have one, that of the last stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The file.
    pub path: PathBuf,
    /// What the page is called.
    pub name: String,
    /// The command that shows the finding again.
    pub replay: Option<String>,
}

impl Page {
    fn write(&self, violation: &Violation) -> io::Result<()> {
        let (name, replay) = (self.name.clone(), self.replay.clone());
        let shown = Exploration { name, replay, ..violation.page() };
        pages::write(&self.path, &shown)
    }
}

/// What a check noted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// The name of the program.
    pub program: String,
    /// The executions of the search.
    pub executions: u64,
    /// Their steps.
    pub steps: u64,
    /// How often each memory ordering was executed.
    pub orderings: Vec<Executed>,
    /// What was found.
    pub finding: Option<NotedFinding>,
}

/// A finding in a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedFinding {
    /// In one line.
    pub finding: String,
    /// The decisions of the smallest execution that shows it.
    pub decisions: String,
    /// The same decisions show it with the orderings of the source, too. False if no ordering is changed.
    pub unrelated: bool,
}

/// What the environment asks for.
#[derive(Debug, Default)]
struct Asked {
    change: Option<Result<Change, String>>,
    notes: Option<PathBuf>,
    page: Option<Page>,
}

impl Asked {
    fn get() -> &'static Asked {
        static ASKED: OnceLock<Asked> = OnceLock::new();
        ASKED.get_or_init(|| {
            let change = std::env::var_os(CHANGE).map(|value| value.to_string_lossy().into_owned());
            let page = std::env::var(PAGE).ok().and_then(|text| serde_json::from_str(&text).ok());
            let notes = std::env::var_os(NOTES).map(PathBuf::from);
            Asked { change: change.map(|text| read_change(&text)), notes, page }
        })
    }
}

fn read_change(text: &str) -> Result<Change, String> {
    let wrong = |reason: String| BadVariable { name: CHANGE, value: text.to_owned(), reason }.to_string();
    text.parse().map_err(|error: super::ChangeError| wrong(error.to_string()))
}

/// The settings with what the environment asks for. `None` if it asks for nothing, or if the settings already have orderings
/// of their own.
///
/// # Errors
/// When the variable with the change has a wrong value.
pub(crate) fn adjusted(settings: &Settings) -> Result<Option<Settings>, Misuse> {
    let Asked { change, notes, page } = Asked::get();
    if (change.is_none() && notes.is_none()) || settings.orderings != Orderings::default() {
        return Ok(None);
    }
    let changed = change.clone().transpose().map_err(|reason| Misuse::Unusable { reason })?;
    let orderings = Orderings { counted: true, changed };
    let explore = settings.explore || page.is_some();
    Ok(Some(Settings { orderings, memory: Some(Memory::Weak), explore, ..settings.clone() }))
}

/// Checks a program, and notes what came of it if the environment names a file.
pub(crate) fn noted(checker: &Checker, program: Body<'_>) -> Result<Report, Misuse> {
    let report = checker.check_as_it_is(program)?;
    if let (Some(page), Some(violation)) = (&Asked::get().page, report.violation()) {
        page.write(violation)
            .map_err(|error| Misuse::Unusable { reason: format!("cannot write {}: {error}", page.path.display()) })?;
    }
    if let Some(path) = &Asked::get().notes {
        let note = Note::of(checker, &report, program)?;
        if let Err(error) = note.append(path) {
            return Err(Misuse::Unusable { reason: format!("cannot write to {}: {error}", path.display()) });
        }
    }
    Ok(report)
}

impl Note {
    fn of(checker: &Checker, report: &Report, program: Body<'_>) -> Result<Note, Misuse> {
        let finding = match report.violation() {
            None => None,
            Some(violation) => Some(NotedFinding {
                finding: super::in_one_line(violation),
                decisions: violation.smallest.to_string(),
                unrelated: checker.current_settings().orderings.changed.is_some()
                    && checker.is_without_change(violation, program)?,
            }),
        };
        Ok(Note {
            program: report.name.clone(),
            executions: report.coverage.executions,
            steps: report.coverage.steps,
            orderings: report.coverage.orderings.clone(),
            finding,
        })
    }

    /// All lines at once, since several checks can end at the same time.
    fn append(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().create(true).append(true).open(path)?.write_all(self.text().as_bytes())
    }

    fn text(&self) -> String {
        let mut text = format!("check\t{}\t{}\t{}\n", self.executions, self.steps, plain::line(&self.program));
        for Executed { site, times, executions } in &self.orderings {
            writeln!(text, "site\t{times}\t{executions}\t{site}").expect("a string takes all text");
        }
        if let Some(NotedFinding { finding, decisions, unrelated }) = &self.finding {
            let about = if *unrelated { "unrelated" } else { "finding" };
            writeln!(text, "{about}\t{decisions}\t{}", plain::line(finding)).expect("a string takes all text");
        }
        text
    }

    /// Adds what a line says to the check that it is about.
    fn read_line(notes: &mut Vec<Note>, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once('\t')?;
        let (first, rest) = rest.split_once('\t')?;
        match kind {
            "check" => {
                let (steps, program) = rest.split_once('\t')?;
                let (executions, steps) = (first.parse().ok()?, steps.parse().ok()?);
                notes.push(Note { program: program.to_owned(), executions, steps, ..Note::default() });
            }
            "site" => {
                let (executions, site) = rest.split_once('\t')?;
                let (times, executions) = (first.parse().ok()?, executions.parse().ok()?);
                notes.last_mut()?.orderings.push(Executed { site: site.parse().ok()?, times, executions });
            }
            "finding" | "unrelated" => {
                let (finding, decisions) = (rest.to_owned(), first.to_owned());
                notes.last_mut()?.finding = Some(NotedFinding { finding, decisions, unrelated: kind == "unrelated" });
            }
            _ => return None,
        }
        Some(())
    }
}

/// Reads the notes of a process, in the order in which its checks ended. A process without checks leaves none.
///
/// # Errors
/// When the file cannot be read, or has a line that no check of this version writes.
pub fn read(path: &Path) -> io::Result<Vec<Note>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    let mut notes = Vec::new();
    for line in text.lines() {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, format!("it has the line {line:?}"));
        Note::read_line(&mut notes, line).ok_or_else(wrong)?;
    }
    Ok(notes)
}

#[cfg(test)]
mod tests;
