//! Runs a function with the attribute `#[interloper::test]`.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use interloper_report::replay_file::{About, FOLDER, ReplayFile};
use interloper_report::{Counterexample, annotation, sealed};
use interloper_scheduler::Shard;
use interloper_scheduler::decisions::Decisions;
use interloper_scheduler::schedule::Preempt;
use interloper_std::runtime::BUILT_UNDER_CONTROL;

use super::check::{Checker, LONGEST_SHOWN};
use super::failures;
use super::grade::Grade;
use super::misuse::Misuse;
use super::orderings::notes::CHANGE;
use super::overrides::{self, BadVariable};
use super::reached::{self, Worth};
use super::report::{Report, Violation};
use super::runner::Body;
use super::sections::Blocks;
use super::settings::Settings;
use crate::pages;

/// Where a test is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its name, with the module.
    pub name: &'static str,
    /// The source file, as the compiler names it.
    pub file: &'static str,
    /// The folder of the package.
    pub manifest: &'static str,
}

/// Runs a test: first the failures of earlier times, then the search.
///
/// # Panics
/// If the test fails, or if a variable in the environment has a wrong value.
#[track_caller]
pub(crate) fn test(site: &Site, change: impl FnOnce(&mut Settings), expected: Option<Grade>, program: Body<'_>) {
    let mut settings = Settings::default();
    change(&mut settings);
    let test = Test { site, settings, expected, variable: &read_variable, print: &print };
    if let Err(Failed { brief, report }) = test.run(program) {
        // libtest captures it and shows it before the panic, whose message follows a line about the thread.
        tell(&brief);
        panic!("{report}");
    }
}

#[allow(clippy::print_stderr, reason = "the panic message goes there, too")]
fn tell(brief: &str) {
    eprint!("{brief}");
}

/// Why a test fails.
#[derive(Debug)]
struct Failed {
    /// What is wrong, where, and how to see it again: a line each. Empty if nothing was found.
    brief: String,
    /// All that is known.
    report: String,
}

impl From<String> for Failed {
    fn from(report: String) -> Failed {
        Failed { brief: String::new(), report }
    }
}

fn read_variable(name: &'static str) -> Option<String> {
    // No variable has a correct value that is not Unicode; the error shows the value in lossy form.
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// A test about to be run.
struct Test<'a> {
    site: &'a Site,
    settings: Settings,
    expected: Option<Grade>,
    variable: &'a dyn Fn(&'static str) -> Option<String>,
    /// Writes a line to standard output.
    print: &'a dyn Fn(&str),
}

#[allow(clippy::print_stdout, reason = "libtest captures it")]
fn print(line: &str) {
    println!("{line}");
}

impl Test<'_> {
    /// Runs the test.
    ///
    /// # Errors
    /// Why it fails.
    fn run(mut self, program: Body<'_>) -> Result<(), Failed> {
        overrides::apply(&mut self.settings, self.variable).map_err(|error| error.to_string())?;
        if let Some(replayed) = self.replay_from_environment(program) {
            return replayed;
        }
        let folder = self.folder();
        self.settings.explore = folder.is_some() && self.expected.is_none() && self.writes_pages()?;
        if let (Some(folder), None) = (&folder, self.expected) {
            self.earlier_failures(folder, program)?;
        }
        if self.is_for_another_shard() {
            return Ok(());
        }
        let report = self.checker(&self.settings).check_values(program).map_err(|misuse| misuse.to_string())?;
        self.judge(report, folder.as_deref())
    }

    /// Whether the test has nothing to run in this shard, and says so. A part of a search cannot miss a finding that is
    /// expected of the whole: such a search belongs to one shard as a whole, and so does one that cannot be split.
    fn is_for_another_shard(&mut self) -> bool {
        let Settings { shard, schedule, .. } = &self.settings;
        let (shard, is_split) = (*shard, self.expected.is_none() && schedule.can_split());
        if shard.is_whole() || is_split {
            return false;
        }
        self.settings.shard = Shard::WHOLE;
        // Tests are dealt by their names.
        let is_own = shard.has(sealed::hash(self.site.name) >> 32);
        if !is_own {
            self.has_nothing_to_do(shard, "the search is not split, and another shard runs it");
        }
        !is_own
    }

    /// Says that nothing runs in this shard, so that its end is not taken for a pass: on standard output, which `cargo test`
    /// captures, and on standard error past the capture.
    fn has_nothing_to_do(&self, shard: Shard, reason: &str) {
        let line = format!("{}{NOTHING_TO_DO}{shard}: {reason}", self.site.name);
        (self.print)(&line);
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    fn checker(&self, settings: &Settings) -> Checker {
        let name = self.site.name.rsplit("::").next().unwrap_or(self.site.name);
        Checker::new(name).settings(|own| *own = settings.clone())
    }

    /// Makes the one execution that `INTERLOPER_REPLAY` names, if it names one of this test.
    fn replay_from_environment(&self, program: Body<'_>) -> Option<Result<(), Failed>> {
        const NAME: &str = "INTERLOPER_REPLAY";
        let value = (self.variable)(NAME)?;
        let bad = |reason: String| BadVariable { name: NAME, value: value.clone(), reason }.to_string();
        if let Ok(decisions) = value.parse::<Decisions>() {
            return Some(self.replayed(&self.settings, &decisions, program, None));
        }
        let path = self.find(Path::new(&value));
        match failures::read(&path) {
            Err(error) => Some(Err(bad(format!("expected a replay file, or its decisions: {error}")).into())),
            Ok(file) if !self.is_about(&file) => {
                // This test runs as always, and says so, because its pass is not a replay of that file.
                eprintln!(
                    "{} is about {} {}: this test is not replayed",
                    path.display(),
                    file.about.what(),
                    file.about.name()
                );
                None
            }
            Ok(file) => Some(match self.replay_file(&path, &file, program) {
                Ok(Some(report)) => self.judge(report, None),
                Ok(None) => Err(format!("{} no longer fits the program", path.display()).into()),
                Err(wrong) => Err(wrong.into()),
            }),
        }
    }

    /// Whether a file is about this test, or about a program or case of the same name.
    fn is_about(&self, file: &ReplayFile) -> bool {
        match &file.about {
            About::Test { name, .. } => name == self.site.name,
            // A program of the suite, run as a test.
            About::Program { name, .. } => Some(name.replace('-', "_").as_str()) == self.site.name.rsplit("::").next(),
            About::Case { .. } | About::Schema { .. } | About::Pair { .. } => false,
        }
    }

    fn replayed(
        &self,
        settings: &Settings,
        decisions: &Decisions,
        program: Body<'_>,
        folder: Option<&Path>,
    ) -> Result<(), Failed> {
        let report = self.checker(settings).replay_values(decisions, program).map_err(|misuse| misuse.to_string())?;
        self.judge(report, folder)
    }

    /// Makes the executions of earlier failures again.
    fn earlier_failures(&self, folder: &Path, program: Body<'_>) -> Result<(), Failed> {
        for (path, failure) in failures::of_test(folder, self.site.name)? {
            match self.replay_file(&path, &failure, program)? {
                None => {
                    eprintln!("{}: the recorded failure no longer fits the program; delete the file", path.display())
                }
                Some(report) if report.grade >= self.settings.fail_at => {
                    return Err(self.message(report, Some(&path)));
                }
                Some(_) => eprintln!("{}: the recorded failure no longer occurs", path.display()),
            }
        }
        Ok(())
    }

    /// Runs the execution of a file: the smallest, or else the one that was found first if the smallest does not fit.
    /// `None` if neither fits.
    fn replay_file(&self, path: &Path, file: &ReplayFile, program: Body<'_>) -> Result<Option<Report>, String> {
        let blocks = match file.about {
            About::Test { critical_sections: true, .. } => Blocks::CriticalSections,
            _ => Blocks::Marked,
        };
        let settings = Settings { seed: file.seed, blocks, ..self.settings.clone() };
        let wrong = |reason: String| format!("{}: {reason}", path.display());
        for decisions in failures::decisions(file).map_err(|unusable| wrong(unusable.to_string()))? {
            match self.checker(&settings).replay_values(&decisions, program) {
                Ok(report) => return Ok(Some(report)),
                Err(Misuse::Diverged { .. }) => {}
                Err(misuse) => return Err(wrong(misuse.to_string())),
            }
        }
        Ok(None)
    }

    /// Compares the report with the expected grade, and writes a failure to the folder.
    fn judge(&self, report: Report, folder: Option<&Path>) -> Result<(), Failed> {
        match self.expected {
            Some(expected) if report.grade == expected => {
                self.passed(&report);
                Ok(())
            }
            Some(expected) => {
                let (found, expected) = (report.grade.word(), expected.word());
                Err(format!("expected {expected}, found {found}\n\n{report}").into())
            }
            None if report.grade < self.settings.fail_at => {
                self.passed(&report);
                Ok(())
            }
            None => {
                let write = |folder: &Path, violation: &Violation| {
                    let file = failures::file(self.site.name, &self.settings, violation);
                    let path = file.path(folder);
                    file.write(&path).map(|()| path)
                };
                let written = folder.zip(report.violation()).map(|(folder, violation)| write(folder, violation));
                let path = match written {
                    Some(Ok(path)) => Some(path),
                    Some(Err(error)) => {
                        eprintln!("cannot write the failure: {error}");
                        None
                    }
                    None => None,
                };
                Err(self.message(report, path.as_deref()))
            }
        }
    }

    /// Whether a failure is written as a page, too: by default where this build knows pages.
    ///
    /// # Errors
    /// When the variable that says so has another value, or asks for what this build does not know.
    fn writes_pages(&self) -> Result<bool, String> {
        const NAME: &str = "INTERLOPER_HTML";
        match (self.variable)(NAME).as_deref() {
            None => Ok(pages::KNOWN),
            Some("on") if pages::KNOWN => Ok(true),
            Some("off") => Ok(false),
            Some(value) => {
                let reason = match value {
                    "on" => "the feature `pages` of interloper is off",
                    _ => "expected on or off",
                };
                let reason = reason.to_owned();
                Err(BadVariable { name: NAME, value: value.to_owned(), reason }.to_string())
            }
        }
    }

    /// Writes the page of a failure beside its replay file, and says where it is.
    fn page(&self, violation: &Violation, replay: Option<&Path>) -> Option<String> {
        let (exploration, path) = (violation.exploration.is_some().then(|| violation.page())?, replay?);
        let page = path.with_extension("html");
        match pages::write(&page, &exploration) {
            Ok(()) => Some(format!("\n  page: {}", as_the_user_has_it(&page).display())),
            Err(error) => {
                eprintln!("cannot write the page of the failure: {error}");
                None
            }
        }
    }

    /// Says what a passing test has covered, on standard output: `cargo test -- --show-output` shows it.
    fn passed(&self, report: &Report) {
        if report.coverage.nothing_to_do {
            let reason = "all executions of the search belong to other shards";
            return self.has_nothing_to_do(self.settings.shard, reason);
        }
        (self.print)(&format!("{}: {}", report.name, report.coverage));
        reached::note_check(Worth::of(&report.coverage));
    }

    /// The report, with the command that reruns the failing execution; and what is wrong, where, and that command.
    fn message(&self, mut report: Report, path: Option<&Path>) -> Failed {
        let test = self.site.name.split_once("::").map_or(self.site.name, |(_, test)| test);
        let place = if report.bug.is_some() { &mut report.bug } else { &mut report.error };
        if let Some(violation) = place {
            let decisions = || Some(violation.smallest.to_string()).filter(|text| text.len() <= LONGEST_SHOWN);
            // The seed reproduces a longer one.
            let what = path.map(|path| path.display().to_string()).or_else(decisions);
            let changed = (self.variable)(CHANGE).map(|change| format!("{CHANGE}='{change}' ")).unwrap_or_default();
            let command = |what| format!("{changed}INTERLOPER_REPLAY={what} {} {test}", self.rerun());
            violation.counterexample.replay = what.map(command);
        }
        let page = report.violation().and_then(|violation| self.page(violation, path)).unwrap_or_default();
        let brief = report.violation().map_or_else(String::new, |violation| violation.counterexample.brief());
        if let (Some(violation), Some(file)) = (report.violation(), (self.variable)(FINDINGS)) {
            note(&violation.counterexample, Path::new(&file));
        }
        if (self.variable)("GITHUB_ACTIONS").as_deref() == Some("true") {
            self.annotate(&report);
        }
        let Settings { seed, shard, .. } = self.settings;
        let shard = if shard.is_whole() { String::new() } else { format!(" INTERLOPER_SHARD={shard}") };
        let same = format!("the same search: INTERLOPER_SEED={seed}{shard} {} {test}", self.rerun());
        Failed { brief, report: format!("{report}{page}\n  {same}") }
    }

    /// The command that runs tests.
    fn rerun(&self) -> String {
        // What was typed decides what is built. Memory may be asked for in another way.
        let typed = (self.variable)(AGAIN).unwrap_or_else(|| RERUN.to_owned());
        let asks = self.settings.preempt == Preempt::Memory && !typed.contains(PREEMPT);
        if asks { typed + PREEMPT } else { typed }
    }

    /// Annotates the lines that matter, for GitHub, which reads the output of a job.
    #[allow(clippy::print_stdout, reason = "libtest captures it, and shows it when the test fails")]
    fn annotate(&self, report: &Report) {
        if let Some(violation) = report.violation() {
            print!("{}", annotation::errors(&violation.counterexample));
        }
    }

    /// Where the failures of the test are kept. None when they are not.
    fn folder(&self) -> Option<PathBuf> {
        match (self.variable)("INTERLOPER_FAILURES") {
            Some(off) if off == "off" => None,
            Some(folder) => Some(PathBuf::from(folder)),
            None => Some(as_the_user_has_it(&beside(self.site)).join(FOLDER)),
        }
    }

    /// A file by its name: as it is, or in the folder.
    fn find(&self, path: &Path) -> PathBuf {
        let inside = self.folder().map(|folder| folder.join(path));
        if path.exists() { path.to_owned() } else { inside.filter(|inside| inside.exists()).unwrap_or(path.to_owned()) }
    }
}

/// What follows the name of a test that has nothing to do in a shard, in the line that says so. The shard follows.
pub const NOTHING_TO_DO: &str = ": nothing to do in shard ";

/// The variable with the file for findings, a line of JSON each: `cargo interloper test` makes other formats of them.
pub const FINDINGS: &str = "INTERLOPER_FINDINGS";

/// Appends a finding to a file, in one piece.
fn note(counterexample: &Counterexample, file: &Path) {
    let line = serde_json::to_string(counterexample).expect("a counterexample is always JSON") + "\n";
    let opened = OpenOptions::new().create(true).append(true).open(file);
    if let Err(error) = opened.and_then(|mut file| file.write_all(line.as_bytes())) {
        eprintln!("cannot note the finding in {}: {error}", file.display());
    }
}

/// The variable with the command that the user has typed, without names of tests.
const AGAIN: &str = "INTERLOPER_AGAIN";

const PREEMPT: &str = " --preempt memory";

/// What runs a test again.
const RERUN: &str = if BUILT_UNDER_CONTROL { "cargo interloper test" } else { "cargo test" };

/// The path that a folder below the links of `cargo interloper` has for the user: the tree of links mirrors the file system.
pub(super) fn as_the_user_has_it(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    let original = text.split_once("/interloper/tree/").map(|(_, rest)| Path::new("/").join(rest));
    original.filter(|original| original.exists()).unwrap_or_else(|| path.to_owned())
}

/// The folder of the source file. The compiler names the file relative to the root of the workspace, which is the
/// package's folder or a folder above it.
fn beside(site: &Site) -> PathBuf {
    let manifest = Path::new(site.manifest);
    let file = manifest.ancestors().map(|root| root.join(site.file)).find(|path| path.exists());
    let folder = file.and_then(|file| file.parent().map(Path::to_owned));
    folder.unwrap_or_else(|| manifest.to_owned())
}

#[cfg(test)]
mod tests;
