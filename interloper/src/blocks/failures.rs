//! The files that failing tests leave behind, and that are rerun first the next time.

use std::fs;
use std::path::{Path, PathBuf};

use interloper_report::replay_file::{About, ReplayFile, Unusable, stem};
use interloper_scheduler::decisions::Decisions;

use super::report::Violation;
use super::sections::Blocks;
use super::settings::Settings;

/// The replay file of a test's violation.
pub(crate) fn file(test: &str, settings: &Settings, violation: &Violation) -> ReplayFile {
    let about = About::Test {
        name: test.to_owned(),
        strategy: settings.schedule.to_string(),
        critical_sections: settings.blocks == Blocks::CriticalSections,
    };
    let (word, decisions) = (violation.finding.word(), format!("{:#}", violation.smallest));
    let file = ReplayFile::new(about, settings.seed, violation.execution, word, decisions, violation.history.clone());
    let counterexample = violation.counterexample.shortened().unwrap_or_else(|| violation.counterexample.clone());
    ReplayFile { found: Some(format!("{:#}", violation.decisions)), counterexample: Some(counterexample), ..file }
}

/// The decisions of the smallest execution, and of the execution that was found first.
///
/// # Errors
/// When the file has something else in their place.
pub(crate) fn decisions(file: &ReplayFile) -> Result<Vec<Decisions>, Unusable> {
    let parse = |text: &String| text.parse().map_err(|error| Unusable::Damaged(format!("its decisions: {error}")));
    std::iter::once(&file.decisions).chain(&file.found).map(parse).collect()
}

/// Reads a file that can be replayed.
///
/// # Errors
/// When it cannot be read, has another version, or is damaged.
pub(crate) fn read(path: &Path) -> Result<ReplayFile, Unusable> {
    let file = ReplayFile::read(path)?;
    decisions(&file)?;
    Ok(file)
}

/// The files of a test in a folder, in the order of their names. Files of another version are left out, with a note.
///
/// # Errors
/// When a file that has the name of one is damaged.
pub(crate) fn of_test(folder: &Path, test: &str) -> Result<Vec<(PathBuf, ReplayFile)>, String> {
    // A folder that is not there has no failures.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let stem = stem(test);
    let named = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix(&stem).is_some_and(|rest| rest.ends_with(".json"))
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(named).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        match read(&path) {
            Ok(file) if matches!(&file.about, About::Test { name, .. } if name == test) => files.push((path, file)),
            Ok(_) => {}
            Err(unusable @ Unusable::OtherVersion(_)) => {
                eprintln!("{}: not replayed: {unusable}; delete the file", path.display());
            }
            Err(unusable) => return Err(format!("{} cannot be replayed: {unusable}", path.display())),
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use interloper_report::Counterexample;
    use tempfile::TempDir;

    use super::super::report::Finding;
    use super::*;

    fn failure(test: &str, seed: u64) -> ReplayFile {
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
            history: Vec::new(),
            exploration: None,
        };
        file(test, &Settings { seed, ..Settings::default() }, &violation)
    }

    fn keep(folder: &TempDir, file: &ReplayFile) -> PathBuf {
        let path = file.path(folder.path());
        file.write(&path).unwrap();
        path
    }

    #[test]
    fn a_failure_is_written_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (failure("a::test", 7), failure("a::test", 8));
        let path = keep(&folder, &first);
        assert_eq!(path.file_name().unwrap(), "a-test-7.json");
        keep(&folder, &second);
        keep(&folder, &failure("a::test::other", 7));
        let found = of_test(folder.path(), "a::test").unwrap();
        assert_eq!(found.into_iter().map(|(_, failure)| failure).collect::<Vec<_>>(), [first, second]);
        assert_eq!(of_test(Path::new("/nowhere"), "a::test").unwrap(), []);
    }

    #[test]
    fn damage_is_named_and_another_version_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = keep(&folder, &failure("test", 7));
        let good = fs::read_to_string(&path).unwrap();
        let check = |text: &str, reason: &str| {
            fs::write(&path, text).unwrap();
            let error = of_test(folder.path(), "test").unwrap_err();
            assert!(error.contains("test-7.json cannot be replayed: damaged: "), "{error}");
            assert!(error.contains(reason), "{error}");
        };
        check("", "EOF");
        check(&good.replace("\"T1/2\"", "\"T3/2\""), "decision 1 is \"T3/2\"");
        check(&good.replace("\"seed\"", "\"sed\""), "unknown field");
        fs::write(&path, "{\"version\": 1}").unwrap();
        assert_eq!(of_test(folder.path(), "test"), Ok(Vec::new()));
    }
}
