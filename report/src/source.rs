//! The source lines at the places of a counterexample, as the files have them now.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::Counterexample;

/// A larger file is not source that somebody wrote.
const MAX_BYTES: u64 = 4 << 20;

impl Counterexample {
    /// The counterexample with the source line of each row whose place can be read.
    ///
    /// Places are relative to the workspace that was compiled: the folder with a `Cargo.lock` that holds the package under
    /// test, or else the working directory. A row has no line if its file cannot be read, or no longer has code at its
    /// place.
    #[must_use]
    pub fn with_source(mut self) -> Counterexample {
        let mut sources = Sources::new(workspace());
        for row in &mut self.rows {
            row.source = row.location.as_deref().and_then(|place| sources.line(place));
        }
        self
    }
}

/// The workspace that the process belongs to. Cargo names the package of what it runs.
pub fn workspace() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let start = package.or_else(|| env::current_dir().ok()).unwrap_or_default();
    let root = start.ancestors().find(|folder| folder.join("Cargo.lock").is_file());
    root.unwrap_or(&start).to_owned()
}

/// Where the sources of what this process was compiled with are, too: a folder, and the beginnings of the files that it has.
static ALSO: OnceLock<(PathBuf, &'static [&'static str])> = OnceLock::new();

/// Says that files whose names begin with one of `beginnings` are also in `root`: the command has programs of its own, and runs
/// anywhere. Only the first call counts.
pub fn also_in(root: &Path, beginnings: &'static [&'static str]) {
    let _ = ALSO.set((root.to_owned(), beginnings));
}

/// Source files that were read.
pub(crate) struct Sources {
    root: PathBuf,
    /// The lines of each file; `None` for a file that cannot be read.
    files: BTreeMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Sources with places relative to `root`.
    pub(crate) fn new(root: PathBuf) -> Sources {
        Sources { root, files: BTreeMap::new() }
    }

    /// The line at a place such as `src/cache.rs:12:9`, without the white space around it.
    fn line(&mut self, place: &str) -> Option<String> {
        let (file, line, column) = parts(place)?;
        let line = self.lines(file)?.get(line.checked_sub(1)?)?;
        // In a file that was edited since it was compiled, the place is likely to lie outside of the line.
        let at = line.chars().nth(column.checked_sub(1)?)?;
        (!at.is_whitespace()).then(|| line.trim().to_owned())
    }

    /// The lines of a file, if it can be read.
    pub(crate) fn lines(&mut self, file: &str) -> Option<&[String]> {
        let root = &self.root;
        let also = || {
            let (root, beginnings) = ALSO.get()?;
            beginnings.iter().any(|beginning| file.starts_with(beginning)).then(|| lines(&root.join(file)))?
        };
        self.files.entry(file.to_owned()).or_insert_with(|| lines(&root.join(file)).or_else(also)).as_deref()
    }
}

/// The file, the line and the column of a place such as `src/cache.rs:12:9`.
pub fn parts(place: &str) -> Option<(&str, usize, usize)> {
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some((parts.next()?, line, column))
}

fn lines(path: &Path) -> Option<Vec<String>> {
    // A trace may come from elsewhere, and a page is sent on: what it names is shown only if it is source.
    if path.extension().is_none_or(|extension| extension != "rs") {
        return None;
    }
    let about = fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > MAX_BYTES {
        return None;
    }
    Some(fs::read_to_string(path).ok()?.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;

    #[test]
    fn a_line_is_found_by_its_place() {
        let mut sources = Sources::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
        let mut check = |place: &str, expected: Option<&str>| {
            assert_eq!(sources.line(place).as_deref(), expected, "{place}");
        };
        let text = include_str!("source.rs");
        let line = 1 + text.lines().position(|line| line.contains("const MAX_BYTES")).expect("it is above");
        let known = "const MAX_BYTES: u64 = 4 << 20;";
        check(&format!("report/src/source.rs:{line}:1"), Some(known));
        check(&format!("report/src/source.rs:{line}:{}", known.len()), Some(known));
        check(&format!("{}/src/source.rs:{line}:7", env!("CARGO_MANIFEST_DIR")), Some(known));
        // Beyond the line, on white space, on an empty line, beyond the file.
        check(&format!("report/src/source.rs:{line}:{}", known.len() + 1), None);
        check(&format!("report/src/source.rs:{line}:6"), None);
        check("report/src/source.rs:2:1", None);
        check("report/src/source.rs:1000000:1", None);
        // No file, no place.
        check("report/src:1:1", None);
        check("report/src/no-such-file.rs:1:1", None);
        for text in ["", "report/src/source.rs", "report/src/source.rs:1", "report/src/source.rs:0:0", "a::b", ":1:1"] {
            check(text, None);
        }
    }

    /// The only test that says so: it is said once in a process.
    #[test]
    fn sources_of_the_command_are_found_from_anywhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = include_str!("source.rs").lines().next().expect("a line");
        let line = |place: &str| Sources::new(folder.path().to_owned()).line(place);
        assert_eq!(line("report/src/source.rs:1:1"), None);
        also_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &["report/"]);
        assert_eq!(line("report/src/source.rs:1:1").as_deref(), Some(first));
        // Not what begins otherwise, and not before what the workspace has.
        assert_eq!(line("cli/src/main.rs:1:1"), None);
        fs::create_dir_all(folder.path().join("report/src")).expect("a folder");
        fs::write(folder.path().join("report/src/source.rs"), "mine\n").expect("a file");
        assert_eq!(line("report/src/source.rs:1:1").as_deref(), Some("mine"));
    }

    #[test]
    fn rows_with_a_place_get_their_line_and_others_do_not() {
        let text = r#"{"version": 1, "name": "", "verdict": "", "detail": "", "start": "", "columns": [], "rows": [],
            "orders": [], "deadlock": null, "replay": null}"#;
        let mut example = crate::json::parse(text).expect("a counterexample");
        let with_place = |location: Option<String>| Row { location, ..Row::operation(0, "step", "") };
        example.rows = vec![with_place(Some(format!("{}:1:1", file!()))), with_place(None)];
        let lines: Vec<Option<String>> = example.with_source().rows.into_iter().map(|row| row.source).collect();
        assert_eq!(lines, [include_str!("source.rs").lines().next().map(str::to_owned), None]);
    }
}
