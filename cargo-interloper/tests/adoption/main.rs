//! `cargo interloper` from outside: what it prints, how it exits, and what it leaves alone.

mod composed;
mod composing;
mod deriving;
mod editions;
mod every_test;
mod fixing;
mod foreign;
mod generic;
mod guide;
mod hashing;
mod hunting;
mod kernel;
mod locking;
mod memory;
mod mirrors;
mod older;
mod orderings;
mod pairing;
mod plans;
mod projects;
mod published;
mod quiet;
mod reached;
mod refusals;
mod replaying;
mod repositories;
mod setup;
mod statics;
mod stepping;
mod tokio;
mod valued;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};

use tempfile::TempDir;

/// What a run of the binary left behind.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    /// How many crates were compiled.
    fn compiled(&self) -> usize {
        self.err.lines().filter(|line| line.trim_start().starts_with("Compiling")).count()
    }

    #[track_caller]
    fn expect(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "standard output:\n{}\nstandard error:\n{}", self.out, self.err);
        self
    }

    /// These tests of [`Project::of_tests`] ran and passed.
    #[track_caller]
    fn assert_passed(&self, tests: &[&str]) {
        for test in tests {
            assert!(self.out.contains(&format!("test tests::{test} ... ok\n")), "{}", self.out);
        }
    }
}

/// Judges a document by the schema of its format, which the ending says: see `report/tests/formats/validate`.
#[track_caller]
fn assert_valid(document: &str, ending: &str) {
    let file = tempfile::Builder::new().suffix(ending).tempfile().expect("a file");
    fs::write(&file, document).expect("a file");
    let validate = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/formats/validate");
    match Command::new("bash").arg(validate).arg(file.path()).status() {
        Ok(judged) => assert!(judged.success(), "what is wrong is said above\n{document}"),
        Err(error) => eprintln!("\n!!! SKIPPED: a result was not validated: {error}\n"),
    }
}

/// Where all tests build, those of the book too: what several of them need is compiled once. Cargo lets one command at a time
/// build there, with both cores; meanwhile the programs of other tests run.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("adoption")
}

/// The crates that are kept in the repository.
fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crates")
}

/// The binary in a folder, as cargo starts it.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-interloper"));
    command.arg("interloper").args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env("CARGO_TARGET_DIR", target()).env("CARGO_TERM_COLOR", "never");
    // As in the tests of the book, so that what they build is shared.
    command.env("CARGO_INCREMENTAL", "0");
    command
}

/// Commands of several tests may run at once, but see [`alone`].
static COMMANDS: RwLock<()> = RwLock::new(());

thread_local! {
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs commands while no other test runs one: nothing replaces what these build.
fn alone<R>(work: impl FnOnce() -> R) -> R {
    let _no_other = COMMANDS.write().unwrap_or_else(PoisonError::into_inner);
    ALONE.set(true);
    let result = work();
    ALONE.set(false);
    result
}

fn ran(command: &mut Command) -> Ran {
    let _beside = (!ALONE.get()).then(|| COMMANDS.read().unwrap_or_else(PoisonError::into_inner));
    let output = command.output().expect("the binary was built");
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

fn interloper(folder: &Path, arguments: &[&str]) -> Ran {
    ran(&mut command(folder, arguments))
}

/// Once it has run, running it again compiles nothing.
#[track_caller]
fn again(run: impl Fn() -> Ran) -> Ran {
    compiles_nothing_after(&run, &run)
}

/// The second command compiles nothing if nothing is built between the two.
#[track_caller]
fn compiles_nothing_after(first: impl Fn() -> Ran, second: impl Fn() -> Ran) -> Ran {
    let second = alone(|| (first(), second()).1);
    assert_eq!(second.compiled(), 0, "{}", second.err);
    second
}

/// This page was written, with these texts in it; takes it away.
#[track_caller]
fn assert_page(path: &Path, texts: &[&str]) {
    let page = fs::read_to_string(path).expect("the page was written");
    for text in texts {
        assert!(page.contains(text), "{text} is not in the page");
    }
    fs::remove_file(path).expect("it is there");
}

/// All files below a folder, with what is in them. The replay files of findings are no files of the project.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && path.ends_with("interloper-failures") {
            continue;
        }
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            let bytes = fs::read(&path).expect("a file");
            all.insert(path, bytes);
        }
    }
    all
}

/// What puts a crate on the mirror of std.
const HEAD: &str = "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std as std;\n";

/// A project in a folder of its own.
struct Project(TempDir);

impl Project {
    /// A crate `subject` whose tests use the mirror, and what else its manifest says.
    ///
    /// Each has a version of its own: in the shared target folder, packages of one name and one version replace each other. Its
    /// lock file has the versions of this workspace: with others, the checker would be compiled again.
    fn new(manifest: &str) -> Project {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        let number = NUMBER.fetch_add(1, Relaxed);
        let mirror = Path::new(env!("CARGO_MANIFEST_DIR")).join("../instrument");
        let mirror = mirror.canonicalize().expect("the mirror is in this workspace");
        let project = Project(TempDir::new().expect("a folder"));
        project.put(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"subject\"\nversion = \"0.1.{number}\"\nedition = \"2024\"\n\n\
                 [dev-dependencies]\ninterloper-std = {{ path = {mirror:?} }}\n\n[profile.dev]\ndebug = false\n\n{manifest}"
            ),
        );
        project.put("src/lib.rs", "");
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
        project.put("Cargo.lock", &fs::read_to_string(lock).expect("the versions of this workspace"));
        project
    }

    /// As [`Project::new`], with these dependencies. The library consists of these tests, which run under control and may
    /// use the scheduler.
    fn of_tests(dependencies: &str, tests: &str) -> Project {
        let scheduler = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scheduler");
        let scheduler = scheduler.canonicalize().expect("it is in this workspace");
        let project = Project::new(&format!(
            "[dependencies]\n{dependencies}\n[dev-dependencies.interloper-scheduler]\npath = {scheduler:?}\n"
        ));
        project.put("src/lib.rs", &format!("{HEAD}\n#[cfg(all(test, interloper))]\nmod tests {{\n{tests}\n}}\n"));
        project
    }

    /// A crate that says nothing of interloper.
    fn plain(name: &str, version: &str, dependencies: &str) -> Project {
        let project = Project::new("");
        project.put(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\n\n\
                 [dependencies]\n{dependencies}\n[profile.dev]\ndebug = false\n"
            ),
        );
        project
    }

    fn remove_lock(&self) {
        fs::remove_file(self.folder().join("Cargo.lock")).expect("it is there");
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().expect("it is below the folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// A crate below the project, of which its library is known.
    fn dependency(&self, name: &str, library: &str) {
        self.put(&format!("{name}/Cargo.toml"), &format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n"));
        self.put(&format!("{name}/src/lib.rs"), library);
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        interloper(self.folder(), arguments)
    }

    /// Where the copies are.
    fn tree(&self) -> PathBuf {
        let folder = self.folder().canonicalize().expect("it is there");
        target().join("interloper/tree").join(folder.strip_prefix("/").expect("an absolute path"))
    }
}

/// The events among the lines of standard error; the others are those of cargo.
fn events(err: &str) -> Vec<serde_json::Value> {
    let lines = err.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).expect(line)).collect()
}
