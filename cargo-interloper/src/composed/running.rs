//! Runs operations: builds the crates with tests in their stand-ins, and runs each test in a process of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use interloper::{Shard, operations};
use interloper_adopt::{Built, Controlled, Harness, Member, Members, Options, Project, Refusal, Selection, Task};
use interloper_composed::{Found, Recipe};
use serde::{Deserialize, Serialize};

use super::Limits;
use super::harness::{self, Tests};
use crate::page::Page;
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
        /// The verdict where only other methods of its type act, as one word, or why there is none.
        own: Option<String>,
    },
    /// It was not run, for this reason.
    NotRun(String),
}

impl Outcome {
    /// Whether an execution is a violation, whoever acts on the collections.
    pub fn is_violation(&self) -> bool {
        matches!(self, Outcome::Judged { verdict, .. } if verdict == "not-linearizable")
    }
}

/// A test takes so many seconds beside its searches at most.
const SLACK: u64 = 30;
/// So often operations that do not compile are left out.
const BUILDS: usize = 8;

/// Runs the operations of a shard that can be run; gives what came of each.
pub fn run(
    folder: &Path,
    options: &Options,
    members: &Members,
    found: &Found,
    (limits, page): (Limits, &Page),
    shard: Shard,
) -> Result<Vec<Outcome>, Refusal> {
    let mut outcomes: Vec<Outcome> = found
        .operations
        .iter()
        .map(|one| Outcome::NotRun(one.recipe.as_ref().err().cloned().unwrap_or_default()))
        .collect();
    for member in &members.packages {
        for (at, (name, root)) in member.crates.iter().enumerate() {
            let recipes: Vec<(usize, Recipe)> = (0..)
                .zip(&found.operations)
                .filter(|(number, one)| shard.has(*number as u64) && one.package == member.name)
                .filter_map(|(number, one)| Some((number, one.recipe.clone().ok()?)))
                .filter(|(_, recipe)| recipe.root == *root)
                .collect();
            if !recipes.is_empty() {
                let target = Target { member, name, root, is_first: at == 0 };
                target.run(folder, options, recipes, (limits, page), &mut outcomes)?;
            }
        }
    }
    Ok(outcomes)
}

/// A crate whose operations are run.
struct Target<'a> {
    member: &'a Member,
    name: &'a str,
    root: &'a Path,
    is_first: bool,
}

impl Target<'_> {
    fn run(
        &self,
        folder: &Path,
        options: &Options,
        mut recipes: Vec<(usize, Recipe)>,
        (limits, page): (Limits, &Page),
        outcomes: &mut [Outcome],
    ) -> Result<(), Refusal> {
        for _ in 0..BUILDS {
            if recipes.is_empty() {
                return Ok(());
            }
            let tests = harness::tests(&recipes, limits, lines);
            let controlled = match self.control(folder, options, &recipes, &tests) {
                // Its collections are of a version that the driver does not know.
                Err(Refusal::Unsuitable { package, reason }) => {
                    for (number, _) in recipes {
                        let reason = format!("needs its collections under control: {package}: {reason}");
                        outcomes[number] = Outcome::NotRun(reason);
                    }
                    return Ok(());
                }
                controlled => controlled?,
            };
            match controlled.build(Task::Test) {
                Ok(built) => return run_all(&controlled, &built, &tests, (limits, page), outcomes),
                Err(Refusal::Build { messages, edits }) => {
                    let rejected = tests.rejected(&messages);
                    if rejected.is_empty() {
                        return Err(Refusal::Build { messages, edits });
                    }
                    recipes.retain_mut(|(number, recipe)| match rejected.get(number) {
                        None => true,
                        // Perhaps only one of the other methods cannot be called so.
                        Some(_) if recipe.own.is_some() => {
                            recipe.own = None;
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
        for (number, _) in recipes {
            outcomes[number] =
                Outcome::NotRun("needs a harness by hand: others of its crate do not compile".to_owned());
        }
        Ok(())
    }

    fn control(
        &self,
        folder: &Path,
        options: &Options,
        recipes: &[(usize, Recipe)],
        tests: &Tests,
    ) -> Result<Controlled, Refusal> {
        let harness = Harness {
            manifest: self.member.manifest.clone(),
            interloper: init::interloper(folder, None)?,
            roots: BTreeSet::from([self.root.to_owned()]),
            appended: tests.appended.clone(),
        };
        // The library and a binary can have the same name.
        let is_library = self.is_first && self.root.file_name().is_none_or(|name| name != "main.rs");
        let which =
            if is_library { vec!["--lib".into()] } else { vec!["--bin".into(), self.name.replace('_', "-").into()] };
        // The manifest says which package: its name may be that of a dependency, too.
        let build = which;
        let options =
            Options { harness: Some(harness), build, manifest: Some(self.member.manifest.clone()), ..options.clone() };
        let packages: BTreeSet<&str> = recipes.iter().flat_map(|(_, recipe)| recipe.packages.iter().copied()).collect();
        let named = packages.into_iter().map(str::to_owned).collect();
        Project::open(folder, options)?.control(&Selection::Named(named))
    }
}

fn lines(file: &Path) -> usize {
    fs::read_to_string(file).map_or(0, |text| text.lines().count())
}

fn run_all(
    controlled: &Controlled,
    built: &Built,
    tests: &Tests,
    (limits, page): (Limits, &Page),
    outcomes: &mut [Outcome],
) -> Result<(), Refusal> {
    let [binary] = &built.tests[..] else {
        let doing = "find the tests that were built".to_owned();
        return Err(Refusal::System { doing, reason: format!("there are {}", built.tests.len()) });
    };
    for (number, name) in &tests.names {
        let mut command = controlled.test_command(binary);
        command.args(["--exact", name, "--nocapture", "--test-threads", "1"]).stdin(Stdio::null());
        if let Some(path) = page.wanted() {
            command.env(operations::PAGE, path);
        }
        let failed = |error: std::io::Error| Refusal::System {
            doing: format!("run {}", binary.executable.display()),
            reason: error.to_string(),
        };
        let longest = Duration::from_secs(limits.time.saturating_mul(3).saturating_add(SLACK));
        let Some(output) = within(&mut command, longest).map_err(failed)? else {
            let reason = format!("it had not ended after {} s, though the search has a limit", longest.as_secs());
            outcomes[*number] = Outcome::NotRun(reason);
            continue;
        };
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        page.look(&out);
        outcomes[*number] = outcome(&out).unwrap_or_else(|| {
            if output.status.success() {
                return Outcome::NotRun("needs features, or a platform, with which its code is built".to_owned());
            }
            let said = err.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
            Outcome::NotRun(format!("its test ended with {}: {said}", output.status))
        });
    }
    note(&match tests.names.len() {
        1 => "1 operation ran".to_owned(),
        ran => format!("{ran} operations ran"),
    });
    Ok(())
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
fn outcome(out: &str) -> Option<Outcome> {
    let (_, text) = out.split_once(operations::BEGIN)?;
    let (text, _) = text.split_once(operations::END)?;
    let (head, report) = text.split_once('\n')?;
    let (verdict, executions) = head.split_once(' ')?;
    let report = report.trim_end().to_owned();
    let own = out.split_once(operations::OWN).and_then(|(_, text)| text.split_once(operations::END));
    let own = own.map(|(text, _)| text.lines().next().unwrap_or_default().to_owned());
    Some(match verdict {
        "misuse" => Outcome::NotRun(report),
        verdict => {
            Outcome::Judged { verdict: verdict.to_owned(), executions: executions.trim().parse().ok()?, report, own }
        }
    })
}

/// How often each outcome came.
pub fn counts(outcomes: &[Outcome]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for outcome in outcomes {
        let word = match outcome {
            Outcome::Judged { verdict, .. } => verdict.as_str(),
            Outcome::NotRun(_) => "not run",
        };
        *counts.entry(word).or_default() += 1;
    }
    counts
}
