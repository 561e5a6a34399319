//! The binary from outside: what it prints and how it exits.

mod blocks;
mod explore;
mod files;
mod formats;
mod judges;
mod objects;
mod output;
mod refusals;
mod reports;
mod shards;
mod state;
mod writing;

use interloper_report::replay_file::{Moment, fingerprint};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use interloper::Verdict;
use interloper_suite::Case;

/// What a run of the binary left behind.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

/// A directory of its own for each test, where replay files are written.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory below the target directory");
        Self(path)
    }

    /// The binary with these arguments, in this directory and away from the environment of whoever runs the tests.
    fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_interloper")), arguments)
    }

    /// The same of another binary.
    fn command_of(&self, binary: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary);
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command.env_remove("INTERLOPER_LOG").env_remove("NO_COLOR").env_remove("GITHUB_ACTIONS");
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Folder::ran(&mut self.command(arguments))
    }

    /// As in a job of GitHub.
    fn annotated(&self, arguments: &[&str]) -> Ran {
        Folder::ran(self.command(arguments).env("GITHUB_ACTIONS", "true"))
    }

    fn ran(command: &mut Command) -> Ran {
        let output = command.output().expect("the binary was built");
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("a file in a directory of one's own");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("a file that was written before")
    }

    /// Changes a JSON file.
    fn edit(&self, name: &str, change: impl FnOnce(&mut serde_json::Value)) {
        let mut document = serde_json::from_str(&self.read(name)).expect("JSON");
        change(&mut document);
        self.write(name, &document.to_string());
    }

    fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A directory that stays is of no harm: the next build of the target directory reuses it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the binary in a directory of its own.
fn interloper(arguments: &[&str]) -> Ran {
    Folder::new().run(arguments)
}

/// The whole suite with so few executions that it is quick.
const SUITE: [&str; 4] = ["--seed", "42", "--executions", "60"];

const FORMATS: [&str; 4] = ["text", "json", "junit", "sarif"];

/// What the run of [`SUITE`] leaves behind in one of the [`FORMATS`]. Several tests compare with it, so it runs once for all of them.
fn suite(format: &str) -> &'static Ran {
    static RUNS: [OnceLock<Ran>; FORMATS.len()] = [const { OnceLock::new() }; FORMATS.len()];
    let number = FORMATS.iter().position(|known| *known == format).expect("a format");
    RUNS[number].get_or_init(|| interloper(&[&SUITE[..], &["--format", format]].concat()))
}

/// The first case of the suite with this verdict.
fn case(expected: Verdict) -> Case {
    interloper_suite::cases().into_iter().find(|case| case.expected == expected).expect("the suite has one of each")
}

/// A case that is not linearizable.
fn bad() -> &'static str {
    case(Verdict::NotLinearizable).name
}

/// A case that is linearizable.
fn good() -> &'static str {
    case(Verdict::Linearizable).name
}

/// The hash of a history as a replay file has it.
fn hash(history: &serde_json::Value) -> String {
    let history: Vec<Moment> = serde_json::from_value(history.clone()).expect("a history");
    fingerprint(&history)
}
