//! Runs operations: builds the crates with tests in their stand-ins, and runs each test in a process of its own.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use interloper::operations;
use interloper::recorded::{self, Again, REPLAY};
use interloper_adopt::{
    Built, Controlled, Harness, Member, Members, Options, Project, Refusal, Selection, Task, crossing,
};
use interloper_composed::{Call, Found, Operation, Recipe, Together};
use interloper_report::replay_file::ReplayFile;
use serde::{Deserialize, Serialize};

use super::fixes::{self, Fixed};
use super::harness::{self, Tests};
use super::pairs::{self, Told};
use super::{Asked, Limits};
use crate::pages::Pages;
use crate::progress::Progress;
use crate::recorded::Temporary;
use crate::{init, note};

/// What came of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It ran.
    Judged {
        /// The verdict as one word.
        verdict: String,
        /// How many executions there were.
        executions: u64,
        /// The report.
        report: String,
        /// The verdict where only other methods of its type act, as one word, or why no verdict was reached.
        own: Option<String>,
        /// The report of a violation there.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        own_report: Option<String>,
        /// Whether its arguments were low numbers, since nothing was explored with others.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        low: bool,
        /// What came of its atomic forms, if it is not atomic.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        fix: Option<Fixed>,
        /// The names of the methods that were called in any execution, if that is known: of the calls of the operation, see
        /// [`Outcome::uncalled`].
        #[serde(skip_serializing_if = "Option::is_none", default)]
        called: Option<BTreeSet<String>>,
        /// The replay file of a violation, and then that of one where only other methods of its type act.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        files: Vec<ReplayFile>,
    },
    /// It was not run, for this reason.
    NotRun(String),
    /// What came of a type's methods, two at once.
    Pairs(Told),
}

impl Outcome {
    /// Whether an execution is a violation, whoever acts on the collections.
    pub fn is_violation(&self) -> bool {
        match self {
            Outcome::Judged { verdict, .. } => verdict == "not-linearizable",
            Outcome::Pairs(told) => told.violations().next().is_some(),
            Outcome::NotRun(_) => false,
        }
    }

    /// The calls of the operation that ran in no execution, if none is a violation: the verdict does not cover them.
    pub fn uncalled<'o>(&self, operation: &'o Operation) -> Vec<&'o Call> {
        let Outcome::Judged { called: Some(called), .. } = self else { return Vec::new() };
        let is_uncalled = |call: &&Call| tells_calls(call) && !called.contains(&call.method);
        operation.calls.iter().filter(|call| !self.is_violation() && is_uncalled(call)).collect()
    }

    /// The replay files of its violations, in the order of their pages.
    pub fn files(&self) -> &[ReplayFile] {
        match self {
            Outcome::Judged { files, .. } => files,
            Outcome::Pairs(told) => &told.files,
            Outcome::NotRun(_) => &[],
        }
    }
}

/// Whether each call of such a method is heard. The methods of these crates are all marked: none is made by a macro.
fn tells_calls(call: &Call) -> bool {
    matches!(call.library.as_str(), "dashmap" | "crossbeam_queue" | "crossbeam_skiplist") && call.inside.is_empty()
}

/// The feature of the crate interloper that the tests of operations need.
pub(super) const COMPOSED: &str = "composed";
/// A test takes so many seconds beside its searches at most.
const SLACK: u64 = 30;
/// So often operations that do not compile are left out.
pub(super) const BUILDS: usize = 8;

/// How the operations get on, and their names and those of the types, by their numbers.
pub struct Names<'p> {
    pub progress: &'p Progress,
    pub names: &'p [String],
}

/// What is run of the operations and of the types.
pub enum Runs<'r> {
    /// The searches of those with such numbers.
    Searches(&'r dyn Fn(usize) -> bool),
    /// The recorded executions of these, with what comes of each.
    Again(&'r BTreeMap<usize, Vec<ReplayFile>>, RefCell<Vec<(usize, Again)>>),
}

impl Runs<'_> {
    fn has(&self, number: usize) -> bool {
        match self {
            Runs::Searches(has) => has(number),
            Runs::Again(files, _) => files.contains_key(&number),
        }
    }
}

/// Runs operations that can be run, and the methods of types; gives what came of each, the types after the operations.
pub fn run(
    folder: &Path,
    options: &Options,
    members: &Members,
    found: &Found,
    (limits, asked, progress): (Limits, &Asked, &Names<'_>),
    runs: &Runs<'_>,
) -> Result<Vec<Outcome>, Refusal> {
    let mut outcomes: Vec<Outcome> = found
        .operations
        .iter()
        .map(|one| Outcome::NotRun(one.recipe.as_ref().err().cloned().unwrap_or_default()))
        .chain(found.together.iter().map(|_| not_judged("no method of its can be run", Vec::new())))
        .collect();
    for member in &members.packages {
        for (at, (name, root)) in member.crates.iter().enumerate() {
            let recipes: Vec<(usize, Recipe)> = (0..)
                .zip(&found.operations)
                .filter(|(number, one)| runs.has(*number) && one.package == member.name)
                .filter_map(|(number, one)| Some((number, one.recipe.clone().ok()?)))
                .filter(|(_, recipe)| recipe.root == *root)
                .collect();
            let types = (found.operations.len()..).zip(&found.together);
            let types = types.filter(|(number, one)| runs.has(*number) && one.package == member.name);
            let types: Vec<(usize, Together)> =
                types.filter(|(_, one)| one.root == *root).map(|(number, one)| (number, one.clone())).collect();
            if !recipes.is_empty() || !types.is_empty() {
                let target = Target { member, name, root, is_first: at == 0, also: &asked.instrument };
                let how = How { limits, pages: &asked.pages, progress, runs };
                target.run(folder, options, (recipes.clone(), types), &how, &mut outcomes)?;
                if limits.fixes && matches!(runs, Runs::Searches(_)) {
                    fixes::suggest(&target, (folder, options), found, (&recipes, limits), &mut outcomes)?;
                }
            }
        }
    }
    Ok(outcomes)
}

/// How operations and types are run.
struct How<'h> {
    limits: Limits,
    pages: &'h Pages,
    progress: &'h Names<'h>,
    runs: &'h Runs<'h>,
}

/// The methods of a type could not be judged.
fn not_judged(reason: &str, rejected: Vec<(String, String)>) -> Outcome {
    Outcome::Pairs(Told { report: Err(reason.to_owned()), rejected, files: Vec::new() })
}

/// Operations or types, each with its number.
type Numbered<T> = Vec<(usize, T)>;
/// By type: the methods that do not compile, each with what the compiler says.
type Rejected = BTreeMap<usize, Vec<(String, String)>>;

/// Takes out the operations and the types that are not run, by their numbers and the packages of their collections: `why` says the
/// reason.
fn leave_out(
    (recipes, types): (&mut Numbered<Recipe>, &mut Numbered<Together>),
    outcomes: &mut [Outcome],
    why: impl Fn(usize, &BTreeSet<&'static str>) -> Option<String>,
) {
    recipes.retain(|(number, one)| match why(*number, &one.packages) {
        Some(reason) => {
            outcomes[*number] = Outcome::NotRun(reason);
            false
        }
        None => true,
    });
    types.retain(|(number, one)| match why(*number, &one.packages) {
        Some(reason) => {
            outcomes[*number] = not_judged(&reason, Vec::new());
            false
        }
        None => true,
    });
}

/// A crate whose operations are run.
pub(super) struct Target<'a> {
    member: &'a Member,
    name: &'a str,
    root: &'a Path,
    is_first: bool,
    /// What is put under control although no operation needs it, as a user typed it.
    also: &'a [String],
}

impl Target<'_> {
    fn run(
        &self,
        folder: &Path,
        options: &Options,
        (mut recipes, mut types): (Numbered<Recipe>, Numbered<Together>),
        how: &How<'_>,
        outcomes: &mut [Outcome],
    ) -> Result<(), Refusal> {
        let mut rejected_methods = Rejected::new();
        // What types of std cross to, from the crate or from its collections.
        let mut crossed = BTreeSet::new();
        for _ in 0..BUILDS {
            if recipes.is_empty() && types.is_empty() {
                return Ok(());
            }
            let tests = harness::tests(&recipes, &types, how.limits, lines);
            let operations = recipes.iter().flat_map(|(_, recipe)| recipe.packages.iter());
            let packages: BTreeSet<&str> =
                operations.chain(types.iter().flat_map(|(_, one)| one.packages.iter())).copied().collect();
            let named = packages.iter().copied().chain(crossed.iter().map(String::as_str)).collect();
            let controlled = match self.control(folder, options, named, &tests) {
                // Some collections are of a version that the driver does not know. The rest can be run without them.
                Err(Refusal::Unsuitable { package, reason }) => {
                    let reason = format!("needs its collections under control: {package}: {reason}");
                    let name = package.split(['@', ' ']).next().unwrap_or(&package);
                    let is_needed = packages.contains(name);
                    let all = (&mut recipes, &mut types);
                    leave_out(all, outcomes, |_, needed| (!is_needed || needed.contains(name)).then(|| reason.clone()));
                    continue;
                }
                controlled => controlled?,
            };
            match controlled.build(Task::Test) {
                Ok(built) => {
                    return run_all(&controlled, &built, (&tests, rejected_methods), how, outcomes);
                }
                Err(Refusal::Build { messages, rejected: targets, edits, controlled }) => {
                    let (rejected, methods) = (tests.rejected(&messages), tests.rejected_methods(&messages));
                    let undeclared = tests.undeclared(&messages);
                    if rejected.is_empty() && methods.is_empty() && undeclared.is_empty() {
                        let known = crossed.len();
                        crossed.extend(crossing(&messages));
                        if crossed.len() > known {
                            continue;
                        }
                        // The rest can be run without the crate of some collections.
                        let has = |package: &str| edits.iter().any(|edit| edit.starts_with(&format!("{package} ")));
                        let Some(failed) = packages.into_iter().find(|package| has(package)) else {
                            return Err(Refusal::Build { messages, rejected: targets, edits, controlled });
                        };
                        let reason = format!("needs its collections under control, where {failed} does not compile");
                        let all = (&mut recipes, &mut types);
                        leave_out(all, outcomes, |_, needed| needed.contains(failed).then(|| reason.clone()));
                        continue;
                    }
                    // Without values nothing of it can be run.
                    leave_out((&mut recipes, &mut types), outcomes, |number, _| {
                        undeclared.get(&number).map(|said| format!("needs a harness by hand: {said}"))
                    });
                    types.retain_mut(|(number, one)| {
                        let Some(said) = methods.get(number) else { return true };
                        pairs::without(one, &said.keys().cloned().collect());
                        rejected_methods.entry(*number).or_default().extend(said.clone());
                        if one.is_empty() {
                            outcomes[*number] =
                                not_judged("its methods need a harness by hand", said.clone().into_iter().collect());
                        }
                        !one.is_empty()
                    });
                    recipes.retain_mut(|(number, recipe)| match rejected.get(number) {
                        None => true,
                        // Perhaps only one of the other methods cannot be called so.
                        Some(_) if recipe.own.is_some() => {
                            recipe.own = None;
                            recipe.low.iter_mut().for_each(|(_, own)| *own = None);
                            true
                        }
                        Some(said) => {
                            outcomes[*number] = Outcome::NotRun(format!("needs a harness by hand: {said}"));
                            false
                        }
                    });
                }
                Err(other) => return Err(other),
            }
        }
        leave_out((&mut recipes, &mut types), outcomes, |_, _| {
            Some("needs a harness by hand: others of its crate do not compile".to_owned())
        });
        Ok(())
    }

    pub(super) fn control(
        &self,
        folder: &Path,
        options: &Options,
        packages: BTreeSet<&str>,
        tests: &Tests,
    ) -> Result<Controlled, Refusal> {
        let harness = Harness {
            manifests: BTreeSet::from([self.member.manifest.clone()]),
            interloper: init::interloper(folder, None)?,
            features: vec![COMPOSED, "pages"],
            roots: BTreeSet::from([self.root.to_owned()]),
            appended: tests.appended.clone(),
            every_test: false,
        };
        // The library and a binary can have the same name.
        let is_library = self.is_first && self.root.file_name().is_none_or(|name| name != "main.rs");
        let which =
            if is_library { vec!["--lib".into()] } else { vec!["--bin".into(), self.name.replace('_', "-").into()] };
        // The manifest says which package: its name may be that of a dependency, too.
        let build = which;
        let options =
            Options { harness: Some(harness), build, manifest: Some(self.member.manifest.clone()), ..options.clone() };
        let named = packages.into_iter().map(str::to_owned).chain(self.also.iter().cloned()).collect();
        Project::open(folder, options)?.control(&Selection::Named(named))
    }
}

pub(super) fn lines(file: &Path) -> usize {
    fs::read_to_string(file).map_or(0, |text| text.lines().count())
}

fn run_all(
    controlled: &Controlled,
    built: &Built,
    (tests, mut rejected): (&Tests, Rejected),
    &How { limits, pages, progress, runs }: &How<'_>,
    outcomes: &mut [Outcome],
) -> Result<(), Refusal> {
    for (number, name) in &tests.names {
        let is_type = matches!(outcomes[*number], Outcome::Pairs(_));
        let rejected = rejected.remove(number).unwrap_or_default();
        let not_run = |reason: String| match is_type {
            true => not_judged(&reason, Vec::new()),
            false => Outcome::NotRun(reason),
        };
        let named = progress.names.get(*number).map_or("", String::as_str);
        progress.progress.begin(named);
        let run = |recorded: Option<&ReplayFile>| {
            let (page, recorded) = (pages.next(), recorded.map(Temporary::write).transpose()?);
            let recorded = recorded.as_ref().map(Temporary::path);
            let ended = test(controlled, built, name, (limits, page.as_deref(), recorded))?;
            if let Ended::Out { out, .. } = &ended {
                pages.look(out);
            }
            Ok(ended)
        };
        match runs {
            Runs::Searches(_) => {
                outcomes[*number] = match run(None)? {
                    Ended::Late(reason) => not_run(reason),
                    Ended::Out { out, how } => {
                        let told = if is_type { Told::of(&out, rejected).map(Outcome::Pairs) } else { outcome(&out) };
                        told.unwrap_or_else(|| not_run(how))
                    }
                };
                // The search writes the page of the first violation. The others run again for theirs.
                let further = outcomes[*number].files().iter().skip(1).filter(|_| pages.first().is_some());
                further.map(|file| run(Some(file))).collect::<Result<Vec<Ended>, Refusal>>()?;
            }
            Runs::Again(files, came) => {
                for file in files.get(number).into_iter().flatten() {
                    match run(Some(file))? {
                        Ended::Late(reason) => outcomes[*number] = not_run(reason),
                        Ended::Out { out, how } => match Again::of(&out) {
                            Some(again) => came.borrow_mut().push((*number, again)),
                            None => outcomes[*number] = not_run(how),
                        },
                    }
                }
            }
        }
        progress.progress.done(named);
    }
    if matches!(runs, Runs::Again(..)) {
        return Ok(());
    }
    note(&match tests.names.keys().filter(|number| !matches!(outcomes[**number], Outcome::Pairs(_))).count() {
        1 => "1 operation ran".to_owned(),
        ran => format!("{ran} operations ran"),
    });
    Ok(())
}

/// How the process of a test ended.
pub(super) enum Ended {
    /// It was ended.
    Late(String),
    /// What it printed, and what is to be said if that is nothing.
    Out { out: String, how: String },
}

/// Runs one test in a process of its own. A page for its violation is wanted in that file. A recorded execution is run instead of
/// the search.
pub(super) fn test(
    controlled: &Controlled,
    built: &Built,
    name: &str,
    (limits, page, recorded): (Limits, Option<&Path>, Option<&Path>),
) -> Result<Ended, Refusal> {
    let [binary] = &built.tests[..] else {
        let doing = "find the tests that were built".to_owned();
        return Err(Refusal::System { doing, reason: format!("there are {}", built.tests.len()) });
    };
    let mut command = controlled.test_command(binary);
    command.args(["--exact", name, "--nocapture", "--test-threads", "1"]).stdin(Stdio::null());
    if let Some(path) = page {
        command.env(operations::PAGE, path);
    }
    match recorded {
        Some(path) => command.env(REPLAY, path),
        None => command.env_remove(REPLAY),
    };
    let failed = |error: std::io::Error| Refusal::System {
        doing: format!("run {}", binary.executable.display()),
        reason: error.to_string(),
    };
    let longest = Duration::from_secs(limits.time.saturating_mul(3).saturating_add(SLACK));
    let Some(output) = within(&mut command, longest).map_err(failed)? else {
        let reason = format!("it had not ended after {} s, though the search has a limit", longest.as_secs());
        return Ok(Ended::Late(reason));
    };
    let (out, err) = (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr));
    let how = if output.status.success() {
        "needs features, or a platform, with which its code is built".to_owned()
    } else {
        let said = err.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        format!("its test ended with {}: {said}", output.status)
    };
    Ok(Ended::Out { out, how })
}

/// What a process printed; `None` if it had to be ended.
fn within(command: &mut Command, longest: Duration) -> std::io::Result<Option<Output>> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (out, err) = (read(child.stdout.take()), read(child.stderr.take()));
    let end = Instant::now() + longest;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    };
    let bytes = |reader: thread::JoinHandle<Vec<u8>>| reader.join().unwrap_or_default();
    Ok(Some(Output { status, stdout: bytes(out), stderr: bytes(err) }))
}

/// Reads all of a pipe on a thread, so that its writer does not wait.
fn read(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is all there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// What a test printed of its operation.
pub(super) fn outcome(out: &str) -> Option<Outcome> {
    let (_, text) = out.split_once(operations::BEGIN)?;
    let (text, _) = text.split_once(operations::END)?;
    let (head, report) = text.split_once('\n')?;
    let (verdict, executions) = head.split_once(' ')?;
    let report = report.trim_end().to_owned();
    let own = out.split_once(operations::OWN).and_then(|(_, text)| text.split_once(operations::END));
    let (own, own_report) = own.map(|(text, _)| text.split_once('\n').unwrap_or((text, ""))).unzip();
    let own_report = own_report.map(|report| report.trim_end().to_owned()).filter(|report| !report.is_empty());
    Some(match verdict {
        "misuse" => Outcome::NotRun(report),
        verdict => Outcome::Judged {
            verdict: verdict.to_owned(),
            executions: executions.trim().parse().ok()?,
            report,
            own: own.map(str::to_owned),
            own_report,
            low: out.contains(operations::LOW),
            fix: None,
            called: out
                .split_once(operations::CALLED)
                .and_then(|(_, text)| text.split_once(operations::END))
                .map(|(names, _)| names.split_whitespace().map(str::to_owned).collect()),
            files: recorded::files(out),
        },
    })
}

/// How often each outcome came.
pub fn counts(outcomes: &[Outcome]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for outcome in outcomes {
        let word = match outcome {
            Outcome::Judged { verdict, .. } => verdict.as_str(),
            Outcome::NotRun(_) => "not run",
            Outcome::Pairs(_) => continue,
        };
        *counts.entry(word).or_default() += 1;
    }
    counts
}
