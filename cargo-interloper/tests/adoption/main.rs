//! `cargo interloper` from outside: what it prints, how it exits, and what it leaves alone.

mod composed;
mod composing;
mod deriving;
mod editions;
mod fixing;
mod foreign;
mod guide;
mod hunting;
mod kernel;
mod memory;
mod mirrors;
mod orderings;
mod pairing;
mod plans;
mod projects;
mod published;
mod reached;
mod refusals;
mod replaying;
mod repositories;
mod setup;
mod statics;
mod stepping;
mod tokio;
mod valued;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

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

/// A folder for what a test builds. What several tests need is built once in each folder, and cargo lets one command at a time build
/// there, so tests that run at the same time have different ones. The first is also that of the book's tests.
struct Folder(usize);

/// Whether each folder is in use.
static FOLDERS: Mutex<Vec<bool>> = Mutex::new(Vec::new());

thread_local! {
    /// That of the test on this thread.
    static FOLDER: Folder = Folder::take();
}

impl Folder {
    fn take() -> Folder {
        let mut used = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
        let free = used.iter().position(|used| !used).unwrap_or_else(|| {
            used.push(false);
            used.len() - 1
        });
        used[free] = true;
        Folder(free)
    }

    fn path(&self) -> PathBuf {
        let name = if self.0 == 0 { "adoption".to_owned() } else { format!("adoption-{}", self.0) };
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)[self.0] = false;
    }
}

/// Where this test builds.
fn target() -> PathBuf {
    FOLDER.with(Folder::path)
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
    command
}

fn ran(command: &mut Command) -> Ran {
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

/// As [`interloper`], with a target folder for the real parking_lot, so that its copy does not replace the mirror's.
fn interloper_apart(folder: &Path, arguments: &[&str]) -> Ran {
    ran(command(folder, arguments).env("CARGO_TARGET_DIR", target().join("real")))
}

/// Runs it again, which compiles nothing.
#[track_caller]
fn again(run: impl Fn() -> Ran) -> Ran {
    let again = run();
    assert_eq!(again.compiled(), 0, "{}", again.err);
    again
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

/// A project in a folder of its own.
struct Project(TempDir);

impl Project {
    /// A crate `subject` whose tests use the mirror, and what else its manifest says.
    ///
    /// Each has a version of its own: in the shared target folder, packages of one name and one version replace each other.
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
        let head = "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std as std;\n";
        project.put("src/lib.rs", &format!("{head}\n#[cfg(all(test, interloper))]\nmod tests {{\n{tests}\n}}\n"));
        project
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
