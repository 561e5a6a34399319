//! `cargo interloper test --format json|junit|sarif`: each test in a process of its own, and what came of all of them.

use std::ffi::OsString;

use interloper::blocks::NOTHING_TO_DO;
use interloper::report::{Counterexample, annotation, junit};
use interloper_adopt::{Controlled, Refusal, Task};
use serde::Serialize;

use crate::args::Rendering;
use crate::orderings::process::{Ended, Said, Tests, without_number};
use crate::progress::{self, Progress};
use crate::{EXPECTED, UNEXPECTED, annotate, note, print};

/// The version of the document.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    tests: &'a [Judged],
}

/// A test with what came of it.
#[derive(Debug, Serialize)]
struct Judged {
    /// The crate that has it: the library, the binary or the integration test.
    binary: String,
    name: String,
    #[serde(flatten)]
    result: Result,
    /// What the test wrote to standard output.
    output: String,
    /// What its checks found.
    findings: Vec<Counterexample>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
enum Result {
    Passed,
    Failed {
        message: String,
    },
    Ignored,
    /// All its work belongs to other shards.
    NothingToDo {
        reason: String,
    },
}

/// Builds, runs the tests that the arguments leave, and prints what came of them.
///
/// # Errors
/// When the project cannot be built, or a test binary cannot be run.
pub fn run(controlled: &Controlled, arguments: &[OsString], format: Rendering) -> std::result::Result<u8, Refusal> {
    let built = controlled.build(Task::Test)?;
    controlled.prepare_reached()?;
    let runner = Tests::new(controlled, &built.tests, None, arguments)?;
    let mut tests = runner.list()?;
    // Cargo builds several binaries at a time.
    tests.sort_by(|a, b| (a.binary(), &a.name).cmp(&(b.binary(), &b.name)));
    let mut all = Vec::new();
    let progress = Progress::start("test", tests.len());
    for test in tests {
        progress.begin(&test.name);
        let (said, findings) = runner.judge(&test)?;
        findings.iter().for_each(|found| progress::found(&test.name, found));
        progress.done(&test.name);
        let one = Judged::of(test.binary(), &test.name, &said, findings);
        if let Result::Failed { message } = &one.result {
            note(&format!("failed: {}: {}: {message}", one.binary, one.name));
        }
        all.push(one);
    }
    drop(progress);
    let findings = || all.iter().flat_map(|one| &one.findings);
    annotate(|| findings().map(annotation::errors).collect());
    print(&match format {
        Rendering::Junit => junit::render(&suites(&all)),
        Rendering::Sarif => annotation::sarif(findings()),
        Rendering::Text | Rendering::Json => {
            let document = Document { version: VERSION, tests: &all };
            serde_json::to_string_pretty(&document).expect("texts are always JSON") + "\n"
        }
    })?;
    let failed = || all.iter().filter(|one| matches!(one.result, Result::Failed { .. }));
    let unseen = failed().filter(|one| one.findings.is_empty()).count();
    if format == Rendering::Sarif && unseen > 0 {
        note(&format!("failed tests without a finding, which a SARIF log cannot show: {unseen}"));
    }
    Ok(if failed().next().is_some() { UNEXPECTED } else { EXPECTED })
}

impl Judged {
    fn of(binary: &str, name: &str, said: &Said, findings: Vec<Counterexample>) -> Judged {
        let result = match &said.ended {
            Ended::Passed if said.out.contains(&format!("\ntest {name} ... ignored")) => Result::Ignored,
            Ended::Passed => match nothing_to_do(&said.out) {
                Some(reason) => Result::NothingToDo { reason },
                None => Result::Passed,
            },
            ended => {
                let found = findings.last().map(|found| format!("{}: {}", found.name, found.verdict));
                Result::Failed { message: found.unwrap_or_else(|| ended.in_words()) }
            }
        };
        Judged { binary: binary.to_owned(), name: name.to_owned(), result, output: output(&said.out, name), findings }
    }
}

/// Why a test has nothing to do in its shard, if it says so.
fn nothing_to_do(out: &str) -> Option<String> {
    let line = out.lines().find(|line| line.contains(NOTHING_TO_DO))?;
    line.split_once(": ").map(|(_, reason)| reason.to_owned())
}

/// A suite for each binary.
fn suites(all: &[Judged]) -> Vec<junit::Suite> {
    let of_binary = |tests: &[Judged]| {
        let cases = tests.iter().map(|one| {
            let result = match &one.result {
                Result::Passed => junit::Outcome::Passed,
                Result::Failed { message } => {
                    junit::Outcome::Failed { message: message.clone(), report: one.output.clone() }
                }
                Result::NothingToDo { reason } => junit::Outcome::Skipped { reason: reason.clone() },
                Result::Ignored => junit::Outcome::Skipped { reason: "the test has the attribute `ignore`".to_owned() },
            };
            // The report of a failure has the output.
            let output = if result == junit::Outcome::Passed { one.output.clone() } else { String::new() };
            junit::Case { name: one.name.clone(), result, output }
        });
        junit::Suite { name: tests[0].binary.clone(), cases: cases.collect() }
    };
    all.chunk_by(|a, b| a.binary == b.binary).map(of_binary).collect()
}

/// What a test wrote, of all that the test harness of std says: `--show-output` has it between two headings. The number of a
/// thread differs from run to run, and is left out.
fn output(out: &str, name: &str) -> String {
    let Some((_, after)) = out.split_once(&format!("\n---- {name} stdout ----\n")) else { return String::new() };
    let ends = ["\nsuccesses:\n    ", "\nfailures:\n    "];
    let end = ends.iter().filter_map(|end| after.rfind(end)).min().unwrap_or(after.len());
    after[..end].trim_end().lines().map(|line| without_number(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(ended: Ended, out: &str) -> Said {
        Said::new(ended, out)
    }

    #[test]
    fn the_output_of_a_test_is_told_from_the_harness() {
        let out = "\nrunning 1 test\ntest a::b ... FAILED\n\nfailures:\n\n---- a::b stdout ----\nsaid\n\n\
                   thread 'a::b' (4711) panicked at src/lib.rs:1:1:\nno (12) way\n\n\nfailures:\n    a::b\n\n\
                   test result: FAILED. 0 passed; 1 failed; finished in 0.01s\n\n";
        assert_eq!(output(out, "a::b"), "said\n\nthread 'a::b' panicked at src/lib.rs:1:1:\nno (12) way\n");
        assert_eq!(output(out, "b"), "", "another test");
        let passed = "\nrunning 1 test\ntest c ... ok\n\nsuccesses:\n\n---- c stdout ----\nc: 3 executions\n\n\n\
                      successes:\n    c\n\ntest result: ok. 1 passed; finished in 0.00s\n\n";
        assert_eq!(output(passed, "c"), "c: 3 executions\n");
    }

    #[test]
    fn each_end_of_a_test_has_its_result() {
        let result = |ended, out| Judged::of("lib", "t", &said(ended, out), Vec::new()).result;
        assert_eq!(result(Ended::Passed, "\ntest t ... ok\n"), Result::Passed);
        assert_eq!(result(Ended::Passed, "\ntest t ... ignored\n"), Result::Ignored);
        assert_eq!(result(Ended::Passed, "\ntest t2 ... ignored\n"), Result::Passed, "another test is");
        let idle = "\n---- t stdout ----\na::t: nothing to do in shard 7/8: it is not split\n\n\nsuccesses:\n    t\n";
        let reason = "nothing to do in shard 7/8: it is not split".to_owned();
        assert_eq!(result(Ended::Passed, idle), Result::NothingToDo { reason });
        let failed = |message: &str| Result::Failed { message: message.to_owned() };
        assert_eq!(result(Ended::Failed("no".to_owned()), ""), failed("no"));
        assert_eq!(result(Ended::Crashed("signal: 6".to_owned()), ""), failed("signal: 6"));
    }

    #[test]
    fn binaries_are_suites() {
        let one = |binary: &str, name: &str, ended| Judged::of(binary, name, &said(ended, ""), Vec::new());
        let all =
            [one("a", "x", Ended::Passed), one("a", "y", Ended::Failed("no".to_owned())), one("b", "x", Ended::Passed)];
        let suites = suites(&all);
        assert_eq!(
            suites.iter().map(|suite| (&*suite.name, suite.cases.len())).collect::<Vec<_>>(),
            [("a", 2), ("b", 1)]
        );
        assert!(matches!(&suites[0].cases[1].result, junit::Outcome::Failed { message, .. } if message == "no"));
    }
}
