//! The replay files of operations, types and objects, and how a recorded execution is run again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use interloper::recorded::Again;
use interloper_adopt::Refusal;
use interloper_report::junit::{self, Outcome};
use interloper_report::replay_file::{About, FOLDER, Origin, ReplayFile};
use interloper_report::text::{self, Style};
use interloper_report::{Counterexample, annotation, file};
use serde_json::json;

use crate::args::Rendering;
use crate::progress::{self, Progress};
use crate::{EXPECTED, UNEXPECTED, note, print, shards};

/// The version of the document.
pub const VERSION: u32 = 1;

/// The variable that names the folder for replay files, or is `off`: then no file is written.
const FAILURES: &str = "INTERLOPER_FAILURES";

/// The options that say nothing about what is built, and have a value each.
const PASSING: [&str; 8] = ["--shard", "--format", "--progress", "--html", "--state", "--write", "--time", "--schemas"];

/// Where the replay files of findings go.
pub struct Files {
    /// The folder, as a reader names it. None where no files are wanted.
    folder: Option<PathBuf>,
    /// The words that were typed.
    arguments: Vec<String>,
    /// How many files of each name were written.
    written: RefCell<BTreeMap<PathBuf, usize>>,
}

impl Files {
    /// The folder that the environment names, or that of the current folder. `asked` is what was typed.
    pub fn of(asked: &shards::Asked) -> Files {
        let folder = match std::env::var_os(FAILURES) {
            Some(off) if off == "off" => None,
            Some(folder) => Some(PathBuf::from(folder)),
            None => Some(PathBuf::from(FOLDER)),
        };
        Files { folder, arguments: asked.without(&PASSING), written: RefCell::default() }
    }

    /// Writes a file about something of a package, and says where it is. Further files of the same name have a number.
    pub fn keep(&self, package: &str, found: &ReplayFile) {
        let Some(folder) = &self.folder else { return };
        let origin = Origin { arguments: self.arguments.clone(), package: package.to_owned() };
        let found = ReplayFile { origin: Some(origin), ..found.clone() };
        let path = found.path(folder);
        let number = *self.written.borrow_mut().entry(path.clone()).and_modify(|number| *number += 1).or_insert(1);
        let path = file::numbered(&path, number);
        note(&match found.write(&path) {
            Ok(()) => format!("recorded: cargo interloper replay {}", path.display()),
            Err(error) => format!("cannot write the replay file {}: {error}", path.display()),
        });
    }
}

/// A replay file for a process that runs its execution again; it is gone at the end.
pub struct Temporary(PathBuf);

impl Temporary {
    pub fn write(file: &ReplayFile) -> Result<Temporary, Refusal> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("interloper-replay-{}-{number}.json", std::process::id()));
        let failed = |error: std::io::Error| Refusal::System {
            doing: format!("write {}", path.display()),
            reason: error.to_string(),
        };
        file.write(&path).map_err(failed)?;
        Ok(Temporary(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Where it stays, the system removes it at some time.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A recorded execution that is to be run again.
pub struct Recorded {
    /// The name of the file, as it was typed.
    pub name: String,
    pub file: ReplayFile,
}

impl Recorded {
    /// Reads a file of something that `cargo interloper` builds.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or is about something else: the line says what replays it.
    pub fn read(path: &Path) -> Result<Recorded, Refusal> {
        let name = path.display().to_string();
        let refused = |reason: String| Err(Refusal::Request(format!("cannot replay {name}: {reason}")));
        let file = match ReplayFile::read(path) {
            Ok(file) => file,
            Err(unusable) => return refused(unusable.to_string()),
        };
        match (&file.origin, &file.about) {
            (Some(_), About::Case { .. } | About::Pair { .. } | About::Schema { .. }) => Ok(Recorded { name, file }),
            (_, About::Test { name: test, .. }) => {
                let short = test.split_once("::").map_or(test.as_str(), |(_, short)| short);
                let command = format!("INTERLOPER_REPLAY={name} cargo interloper test {short}");
                refused(format!(
                    "it belongs to the test '{test}'; replay it with {command} and the options of the search"
                ))
            }
            (_, about) => {
                let (what, of) = (about.what(), about.name());
                refused(format!("it belongs to {what} '{of}' of interloper; replay it with interloper replay {name}"))
            }
        }
    }

    /// The refusal to run it, with the reason.
    pub fn refused<T>(&self, reason: &str) -> Result<T, Refusal> {
        Err(Refusal::Request(format!("cannot replay {}: {reason}", self.name)))
    }

    /// Where its program is built from.
    pub fn origin(&self) -> &Origin {
        self.file.origin.as_ref().expect("it was read")
    }

    /// Whether a hunt has found it, and not `composed`.
    pub fn is_of_a_hunt(&self) -> bool {
        matches!(self.file.about, About::Schema { .. })
    }

    /// What it is about, in words.
    pub fn what(&self) -> String {
        let what = if matches!(self.file.about, About::Case { .. }) { "the operation" } else { self.file.about.what() };
        format!("{what} '{}' of the package {}", self.file.about.name(), self.origin().package)
    }

    /// Prints what came of it. The exit code is that of a finding if the execution differs from the recorded one.
    pub fn show(&self, again: Again, progress: &Progress, format: Rendering) -> Result<u8, Refusal> {
        if let Some(found) = &again.counterexample {
            progress::found(&self.name, found);
        }
        progress.done(&self.name);
        let code = if again.divergence.is_some() { UNEXPECTED } else { EXPECTED };
        print(&self.shown(again, format)).map(|_| code)
    }

    fn shown(&self, Again { divergence, counterexample }: Again, format: Rendering) -> String {
        let ReplayFile { about, seed, history_hash, .. } = &self.file;
        let replay = Some(format!("cargo interloper replay {}", self.name));
        let counterexample = counterexample.map(|found| Counterexample { replay, ..found });
        let report = counterexample.as_ref().map_or_else(String::new, |found| text::render(found, Style::default()));
        match format {
            Rendering::Text => {
                let gap = if report.is_empty() { "" } else { "\n" };
                match divergence {
                    None => format!("{report}{gap}the same history as recorded ({history_hash})\n"),
                    Some(reason) => format!("{report}{gap}diverged from the recorded history: {reason}\n"),
                }
            }
            Rendering::Json => {
                let document = json!({
                    "version": VERSION,
                    about.kind(): about.name(),
                    "seed": seed,
                    "same": divergence.is_none(),
                    "divergence": divergence,
                    "counterexample": counterexample,
                });
                serde_json::to_string_pretty(&document).expect("plain data is always JSON") + "\n"
            }
            Rendering::Junit => {
                let result = match divergence {
                    None => Outcome::Passed,
                    Some(reason) => Outcome::Failed { message: format!("diverged: {reason}"), report },
                };
                let case = junit::Case { name: self.name.clone(), result, output: format!("history {history_hash}") };
                junit::render(&[junit::Suite { name: "replays".to_owned(), cases: vec![case] }])
            }
            Rendering::Sarif => annotation::sarif(counterexample.iter()),
        }
    }
}

#[cfg(test)]
mod tests {
    use interloper_report::replay_file::Moment;

    use super::*;

    fn operation() -> ReplayFile {
        let about = About::Case {
            name: "Cache::memoize".to_owned(),
            adversary: "preceding".to_owned(),
            environment: "open".to_owned(),
            bound: 2,
        };
        let history = vec![Moment::new(Some(0), "get", "get(7) → none").with(7)];
        ReplayFile::new(about, 42, 3, "not-linearizable", "A0.I0.E0".to_owned(), history)
    }

    /// What belongs to another command is refused in one line that names the command.
    #[test]
    fn a_file_of_another_command_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.json");
        let read = |file: ReplayFile| {
            file.write(&path).expect("a file");
            Recorded::read(&path).map(|read| read.what()).map_err(|refusal| refusal.to_string())
        };
        let origin = || Some(Origin { arguments: vec!["composed".to_owned()], package: "cache".to_owned() });
        let own = read(ReplayFile { origin: origin(), ..operation() });
        assert_eq!(own, Ok("the operation 'Cache::memoize' of the package cache".to_owned()));
        let refused = |file: ReplayFile, expected: &str| {
            let said = read(file).expect_err("refused");
            assert!(said.starts_with(&format!("cannot replay {}: ", path.display())), "{said}");
            assert!(said.contains(expected) && !said.contains('\n'), "{said}");
        };
        refused(operation(), "of interloper; replay it with interloper replay ");
        let about = About::Test { name: "a::b".to_owned(), strategy: "pct:3".to_owned(), critical_sections: false };
        refused(
            ReplayFile { about, ..operation() },
            "it belongs to the test 'a::b'; replay it with INTERLOPER_REPLAY=",
        );
        std::fs::write(&path, "{\"version\": 9}").expect("a file");
        let said = Recorded::read(&path).map(|read| read.name).expect_err("refused").to_string();
        assert!(said.contains("written by a newer interloper (version 9"), "{said}");
        std::fs::write(&path, "{}").expect("a file");
        assert!(Recorded::read(&path).is_err());
        assert!(Recorded::read(&folder.path().join("none.json")).is_err());
    }

    #[test]
    fn what_came_of_it_has_each_form() {
        let file =
            ReplayFile { origin: Some(Origin { arguments: Vec::new(), package: "cache".to_owned() }), ..operation() };
        let hash = file.history_hash.clone();
        let recorded = Recorded { name: "x.json".to_owned(), file };
        let same = || Again { divergence: None, counterexample: None };
        let other = || Again { divergence: Some("at event 1".to_owned()), counterexample: None };
        assert_eq!(recorded.shown(same(), Rendering::Text), format!("the same history as recorded ({hash})\n"));
        assert_eq!(recorded.shown(other(), Rendering::Text), "diverged from the recorded history: at event 1\n");
        let data =
            |again| serde_json::from_str::<serde_json::Value>(&recorded.shown(again, Rendering::Json)).expect("JSON");
        assert_eq!((&data(same())["same"], &data(other())["same"]), (&json!(true), &json!(false)));
        assert_eq!(data(other())["case"], "Cache::memoize");
        assert!(!recorded.shown(same(), Rendering::Junit).contains("<failure"));
        assert!(recorded.shown(other(), Rendering::Junit).contains("diverged: at event 1"));
    }
}
