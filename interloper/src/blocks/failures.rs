//! The files that failing tests leave behind, and that are made first the next time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use interloper_report::shorten::{LONGEST_TEXT, middle};
use interloper_report::{Counterexample, file};
use interloper_scheduler::decisions::Decisions;
use serde::{Deserialize, Serialize};

use super::report::Violation;
use super::sections::Blocks;
use super::settings::Settings;

/// Where the files are, beside the test.
pub(crate) const FOLDER: &str = "interloper-failures";

/// The version that is written and read.
const VERSION: u32 = 1;

/// A file is some kilobytes; what is larger than this is something else.
const MAX_BYTES: u64 = 16 << 20;

/// Everything that determines one execution of one test, and what it showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failure {
    /// The format: [`VERSION`].
    version: u32,
    /// The test, with its module.
    pub(crate) test: String,
    /// The seed of the search that found it.
    pub(crate) seed: u64,
    /// How the schedules were chosen.
    pub(crate) strategy: String,
    /// Which execution of the search it was, counted from 1.
    pub(crate) execution: u64,
    /// Whether critical sections were blocks.
    pub(crate) critical_sections: bool,
    /// What it showed.
    pub(crate) finding: String,
    /// The decisions of the smallest execution that shows it.
    decisions: String,
    /// The decisions of the execution that was found.
    found: String,
    /// The smallest execution, for whoever reads the file. Long texts are shortened: an outcome may be any value.
    counterexample: Counterexample,
}

/// Only the version: it decides whether the rest can be expected to have today's shape.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

impl Failure {
    pub(crate) fn new(test: &str, settings: &Settings, violation: &Violation) -> Failure {
        Failure {
            version: VERSION,
            test: test.to_owned(),
            seed: settings.seed,
            strategy: settings.schedule.to_string(),
            execution: violation.execution,
            critical_sections: settings.blocks == Blocks::CriticalSections,
            finding: violation.finding.to_string(),
            decisions: format!("{:#}", violation.smallest),
            found: format!("{:#}", violation.decisions),
            counterexample: violation.counterexample.shortened().unwrap_or_else(|| violation.counterexample.clone()),
        }
    }

    /// The decisions of the smallest execution, and those of the one that was found.
    pub(crate) fn decisions(&self) -> Result<[Decisions; 2], String> {
        let parse = |text: &str| text.parse::<Decisions>().map_err(|error| error.to_string());
        Ok([parse(&self.decisions)?, parse(&self.found)?])
    }

    /// Writes the file into `folder`, which is made where it is missing. Gives its path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        let path = folder.join(format!("{}{}.json", stem(&self.test), self.seed));
        let mut text = serde_json::to_string_pretty(self).expect("strings and numbers are always JSON");
        text.push('\n');
        fs::create_dir_all(folder)?;
        file::write(&path, text.as_bytes())?;
        Ok(path)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is no such file.
    pub(crate) fn read(path: &Path) -> Result<Failure, String> {
        let wrong = |reason: String| format!("{} is no failure that can be replayed: {reason}", path.display());
        let length = fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
        if length > MAX_BYTES {
            return Err(wrong(format!("it has {length} bytes, and at most {MAX_BYTES} are read")));
        }
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        Failure::parse(&text).map_err(wrong)
    }

    /// The error is one line of a length that a person reads, whatever the file holds.
    fn parse(text: &str) -> Result<Failure, String> {
        let one_line = |reason: String| middle(&reason.escape_debug().to_string(), LONGEST_TEXT).into_owned();
        Failure::parse_in_full(text).map_err(|reason| {
            match reason.len() <= LONGEST_TEXT && !reason.contains(char::is_control) {
                true => reason,
                false => one_line(reason),
            }
        })
    }

    fn parse_in_full(text: &str) -> Result<Failure, String> {
        let Header { version } = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if version != VERSION {
            return Err(format!("version {version} is not supported, only version {VERSION} is"));
        }
        let failure: Failure = serde_json::from_str(text).map_err(|error| error.to_string())?;
        failure.decisions()?;
        Ok(failure)
    }
}

/// The failures of a test in a folder, in the order of their names.
///
/// # Errors
/// When a file that has the name of one is none.
pub(crate) fn of_test(folder: &Path, test: &str) -> Result<Vec<(PathBuf, Failure)>, String> {
    // A folder that is not there has no failures.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let stem = stem(test);
    let named = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix(&stem).is_some_and(|rest| rest.ends_with(".json"))
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(named).collect();
    paths.sort();
    let read = |path: PathBuf| Failure::read(&path).map(|failure| (path, failure));
    let mut failures = paths.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    failures.retain(|(_, failure)| failure.test == test);
    Ok(failures)
}

/// What the name of a file begins with: the name of the test, with anything but words made a dash.
fn stem(test: &str) -> String {
    let plain = |part: &str| -> String {
        part.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect()
    };
    let parts: Vec<String> = test.split("::").map(plain).collect();
    format!("{}-", parts.join("-"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::report::Finding;
    use super::*;

    fn failure(test: &str, seed: u64) -> Failure {
        let counterexample = Counterexample {
            name: test.to_owned(),
            verdict: "deadlock".to_owned(),
            detail: String::new(),
            start: String::new(),
            columns: Vec::new(),
            rows: Vec::new(),
            orders: Vec::new(),
            deadlock: None,
            replay: None,
        };
        let violation = Violation {
            finding: Finding::Deadlock,
            execution: 3,
            decisions: "T1/2.T0/2".parse().unwrap(),
            smallest: "T1/2".parse().unwrap(),
            departures: crate::blocks::Freedoms::NONE,
            counterexample,
            trace: Vec::new(),
        };
        Failure::new(test, &Settings { seed, ..Settings::default() }, &violation)
    }

    /// A folder of its own that is gone at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("interloper-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_failure_is_written_and_read_back() {
        let folder = Folder::new("round-trip");
        let (first, second) = (failure("a::test", 7), failure("a::test", 8));
        let path = first.write(&folder.0).unwrap();
        assert_eq!(path.file_name().unwrap(), "a-test-7.json");
        second.write(&folder.0).unwrap();
        failure("a::test::other", 7).write(&folder.0).unwrap();
        let found = of_test(&folder.0, "a::test").unwrap();
        assert_eq!(found.into_iter().map(|(_, failure)| failure).collect::<Vec<_>>(), [first, second]);
        assert_eq!(of_test(Path::new("/nowhere"), "a::test").unwrap(), []);
    }

    #[test]
    fn damage_is_named() {
        let folder = Folder::new("damage");
        let path = failure("test", 7).write(&folder.0).unwrap();
        let good = fs::read_to_string(&path).unwrap();
        let check = |text: &str, reason: &str| {
            fs::write(&path, text).unwrap();
            let error = of_test(&folder.0, "test").unwrap_err();
            assert!(error.contains("test-7.json is no failure that can be replayed: "), "{error}");
            assert!(error.contains(reason), "{error}");
        };
        check("", "EOF");
        check("{\"version\": 2}", "version 2 is not supported, only version 1 is");
        check(&good.replace("\"T1/2\"", "\"T3/2\""), "decision 1 is \"T3/2\"");
        check(&good.replace("\"seed\"", "\"sed\""), "unknown field");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn damaged_files_are_read_or_refused_in_one_line(
            edits in proptest::collection::vec((any::<usize>(), 0..40usize, any::<u8>()), 0..6),
        ) {
            let tokens = ["[", "\"", "18446744073709551616", "\u{1b}", "\n", "T1/2.", "-1", "null"];
            let mut text = serde_json::to_vec(&failure("test", 7)).unwrap();
            for (at, length, how) in edits {
                let at = at % (text.len() + 1);
                let end = (at + length).min(text.len());
                let token = tokens[usize::from(how / 4) % tokens.len()];
                match how % 4 {
                    0 => drop(text.drain(at..end)),
                    1 => drop(text.splice(at..at, token.bytes())),
                    2 => drop(text.splice(at..at, token.repeat(50 * length).bytes())),
                    _ => text[at..end].iter_mut().take(1).for_each(|byte| *byte ^= how),
                }
            }
            if let Err(reason) = Failure::parse(&String::from_utf8_lossy(&text)) {
                prop_assert!(reason.lines().count() <= 1 && reason.chars().count() < 600, "{reason:?}");
            }
        }
    }

    #[test]
    fn names_become_words() {
        assert_eq!(stem("../etc::x y"), "---etc-x-y-");
    }
}
