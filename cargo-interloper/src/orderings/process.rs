//! Tests that run one at a time, each in a process of its own.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use interloper::blocks::FINDINGS;
use interloper::blocks::orderings::notes::{self, Note, Page};
use interloper::blocks::orderings::{Change, Site, reaching};
use interloper::report::{Counterexample, plain};
use interloper_adopt::{Controlled, Refusal, TestBinary};

/// A test of a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    binary: TestBinary,
    /// The name, as the test harness of std knows it.
    pub name: String,
}

impl Test {
    /// The name of the crate that has it.
    pub fn binary(&self) -> &str {
        &self.binary.name
    }
}

/// What came of a run of a test.
#[derive(Debug)]
pub struct Ran {
    pub ended: Ended,
    /// What the checks noted, in the order in which they ended.
    pub notes: Vec<Note>,
    pub time: Duration,
}

/// What a test said.
#[derive(Debug)]
pub struct Said {
    pub ended: Ended,
    /// Its standard output, with the words of the test harness around it.
    pub out: String,
    time: Duration,
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Passed,
    /// With this message.
    Failed(String),
    /// The process ended before the test did.
    Crashed(String),
    /// After this time it had not ended.
    TimedOut(Duration),
}

#[cfg(test)]
impl Said {
    pub fn new(ended: Ended, out: &str) -> Said {
        Said { ended, out: out.to_owned(), time: Duration::ZERO }
    }
}

impl Ended {
    /// Why a test did not pass, in one line.
    pub fn in_words(&self) -> String {
        match self {
            Ended::Passed => "passed".to_owned(),
            Ended::Failed(message) | Ended::Crashed(message) => message.clone(),
            Ended::TimedOut(time) => format!("did not end within {} s", time.as_secs()),
        }
    }
}

impl Ran {
    pub fn passed(&self) -> bool {
        self.ended == Ended::Passed
    }

    /// In how many executions it reached a site.
    pub fn reaching(&self, site: &Site) -> u64 {
        self.notes.iter().map(|note| reaching(&note.orderings, site)).sum()
    }
}

/// The tests of a project.
pub struct Tests<'a> {
    controlled: &'a Controlled,
    binaries: &'a [TestBinary],
    time: Option<Duration>,
    arguments: &'a [OsString],
    folder: Folder,
}

/// The shortest time that a test has without a word of the user.
const SHORTEST: Duration = Duration::from_secs(60);
/// How many times as long a test may take with a changed ordering.
const SLOWER: u32 = 10;

impl<'a> Tests<'a> {
    pub fn new(
        controlled: &'a Controlled,
        binaries: &'a [TestBinary],
        time: Option<Duration>,
        arguments: &'a [OsString],
    ) -> Result<Tests<'a>, Refusal> {
        Ok(Tests { controlled, binaries, time, arguments, folder: Folder::new()? })
    }

    /// The tests that the arguments leave, in the order of the binaries and of their names there.
    pub fn list(&self) -> Result<Vec<Test>, Refusal> {
        let mut all = Vec::new();
        for binary in self.binaries {
            let mut command = self.controlled.test_command(binary);
            command.args(self.arguments).args(["--list", "--format", "terse"]);
            let output = command.output().map_err(|error| refused("run", &binary.executable, &error))?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            if !output.status.success() {
                let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                let doing = format!("list the tests of {}", binary.executable.display());
                return Err(Refusal::System { doing, reason });
            }
            all.extend(names(&text).map(|name| Test { binary: binary.clone(), name: name.to_owned() }));
        }
        Ok(all)
    }

    /// Runs a test with the orderings of the source, for as long as it takes unless the user said something else.
    pub fn run(&self, test: &Test, change: Option<&Change>) -> Result<Ran, Refusal> {
        self.run_within(test, change, self.time, None)
    }

    /// Runs a test with one ordering changed. It took `time` without the change.
    pub fn run_again(&self, test: &Test, change: &Change, time: Duration) -> Result<Ran, Refusal> {
        let time = self.time.unwrap_or_else(|| (time * SLOWER).max(SHORTEST));
        self.run_within(test, Some(change), Some(time), None)
    }

    /// Runs a test whose finding is known, so that it writes the page. It took `time` before.
    pub fn show(&self, test: &Test, change: Option<&Change>, time: Duration, page: &Page) -> Result<Ran, Refusal> {
        let time = self.time.unwrap_or_else(|| (time * SLOWER).max(SHORTEST));
        self.run_within(test, change, Some(time), Some(page))
    }

    fn run_within(
        &self,
        test: &Test,
        change: Option<&Change>,
        time: Option<Duration>,
        page: Option<&Page>,
    ) -> Result<Ran, Refusal> {
        let notes = self.folder.0.join("notes");
        let _ = fs::remove_file(&notes);
        let mut command = self.controlled.test_command(&test.binary);
        // A changed program's failures do not belong to the program as it is.
        command.env(notes::NOTES, &notes).env("INTERLOPER_FAILURES", "off").env_remove("INTERLOPER_REPLAY");
        command.env_remove(notes::CHANGE).env_remove(notes::PAGE).env_remove("RUST_BACKTRACE");
        command.envs(change.map(|change| (notes::CHANGE, change.to_string())));
        command.envs(page.map(|page| (notes::PAGE, serde_json::to_string(page).expect("texts are always JSON"))));
        let Said { ended, time, .. } = self.said(command, test, time)?;
        let noted = notes::read(&notes).map_err(|error| refused("read", &notes, &error))?;
        Ok(Ran { ended, notes: noted, time })
    }

    /// Runs a test as `cargo test` does, for as long as it takes, and gives its findings, too.
    pub fn judge(&self, test: &Test) -> Result<(Said, Vec<Counterexample>), Refusal> {
        let findings = self.folder.0.join("findings");
        let _ = fs::remove_file(&findings);
        let mut command = self.controlled.noting_test_command(&test.binary);
        // The caller annotates the lines, once.
        command.arg("--show-output").env(FINDINGS, &findings).env_remove("GITHUB_ACTIONS").env_remove("RUST_BACKTRACE");
        let said = self.said(command, test, None)?;
        Ok((said, read_findings(&findings)?))
    }

    /// Runs a test by a command that is prepared.
    fn said(&self, mut command: Command, test: &Test, time: Option<Duration>) -> Result<Said, Refusal> {
        let [out, err] = ["out", "err"].map(|name| self.folder.0.join(name));
        command.args(["--exact", &test.name]).args(options(self.arguments));
        let create = |path: &Path| File::create(path).map_err(|error| refused("write", path, &error));
        command.stdout(create(&out)?).stderr(create(&err)?);
        let begun = Instant::now();
        let status = status(&mut command, &test.binary.executable, time)?;
        let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let [out, err] = [&out, &err].map(|path| read(path).unwrap_or_default());
        let ended = match status {
            None => Ended::TimedOut(time.unwrap_or_default()),
            Some(status) if status.success() => Ended::Passed,
            Some(_) if out.contains("\ntest result: FAILED.") => Ended::Failed(message(&out)),
            Some(status) => Ended::Crashed(self::ended(&err, status)),
        };
        Ok(Said { ended, out, time: begun.elapsed() })
    }
}

/// The findings that a test has noted: see [`FINDINGS`].
fn read_findings(path: &Path) -> Result<Vec<Counterexample>, Refusal> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(|error| refused("read", path, &error))?,
    };
    let read = |line: &str| serde_json::from_str(line).map_err(|error| refused("read", path, &error.into()));
    text.lines().map(read).collect()
}

/// The status of a command, or `None` if it was ended after this time.
fn status(command: &mut Command, executable: &Path, time: Option<Duration>) -> Result<Option<ExitStatus>, Refusal> {
    let wrong = |error| refused("run", executable, &error);
    let mut child = command.spawn().map_err(wrong)?;
    let Some(time) = time else { return child.wait().map(Some).map_err(wrong) };
    let (begun, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        if let Some(status) = child.try_wait().map_err(wrong)? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= time {
            end(&mut child);
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// A process that has just ended by itself needs no help.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// The arguments without what chooses tests: the first, unless it is an option, and `--exact`, which may be there only once.
pub(super) fn options(arguments: &[OsString]) -> impl Iterator<Item = &OsString> {
    let is_option = |argument: &OsString| argument.to_str().is_none_or(|text| text.starts_with('-'));
    let filters = arguments.first().is_some_and(|first| !is_option(first));
    arguments.iter().skip(usize::from(filters)).filter(|argument| *argument != "--exact")
}

/// The names in a list of tests. Benchmarks are left out.
pub(super) fn names(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter_map(|line| line.strip_suffix(": test"))
}

/// The exit code of a process that a panic has ended.
const PANICKED: i32 = 101;

/// What a failed test says, in one line: what was found, or what its panic says.
pub(super) fn message(out: &str) -> String {
    let found = out.lines().take_while(|line| !line.contains("panicked at ")).find(|line| line.starts_with("✗ "));
    let mut lines = out.lines().skip_while(|line| !line.contains("panicked at "));
    let said = found.or_else(|| lines.by_ref().skip(1).find(|line| !line.trim().is_empty()));
    let said = said.or_else(|| out.lines().find(|line| line.starts_with("Error: ")));
    plain::line(said.unwrap_or("it says nothing").trim()).into_owned()
}

/// How a process ended, with its panic if that ended it, or else the last words that it said. What comes after a panic is its backtrace.
pub(crate) fn ended(err: &str, status: ExitStatus) -> String {
    let lines: Vec<&str> = err.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let panicked = lines.iter().rposition(|line| line.contains(" panicked at "));
    let said = match panicked.filter(|_| status.code() == Some(PANICKED)) {
        Some(panic) => lines[panic..].iter().take(2).map(|line| without_number(line)).collect::<Vec<_>>().join(" "),
        None => lines.last().map_or_else(String::new, |&line| line.to_owned()),
    };
    if said.is_empty() { status.to_string() } else { format!("{status}: {}", plain::line(&said)) }
}

/// `thread 'name' (17) panicked at` without the number.
pub(crate) fn without_number(line: &str) -> String {
    let numbered = || {
        let (before, after) = line.strip_prefix("thread '")?.split_once("' (")?;
        let (number, after) = after.split_once(')')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && after.starts_with(" panicked at ")).then(|| format!("thread '{before}'{after}"))
    };
    numbered().unwrap_or_else(|| line.to_owned())
}

/// A folder for what tests write, which is gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, Refusal> {
        let path = std::env::temp_dir().join(format!("interloper-tests-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| refused("make", &path, &error))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refused(doing: &str, path: &Path, error: &std::io::Error) -> Refusal {
    Refusal::System { doing: format!("{doing} {}", path.display()), reason: error.to_string() }
}
