//! What a test does with its failures and with the environment.

use std::cell::Cell;
use std::fs;

use interloper_commutativity::{ToValue, Value};
use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use interloper_std::thread;
use tempfile::TempDir;

use super::super::Schedule;
use super::super::mark::atomic;
use super::*;

const SITE: Site = Site { name: "suite::case", file: file!(), manifest: env!("CARGO_MANIFEST_DIR") };

fn new_folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn files(folder: &TempDir) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder.path()).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Two increments, each in two steps or at once.
fn increments(at_once: bool) -> Value {
    let number = AtomicI64::new(0);
    let increment = || {
        atomic("increment", || {
            if at_once {
                number.fetch_add(1, SeqCst);
            } else {
                let value = number.load(SeqCst);
                number.store(value + 1, SeqCst);
            }
        });
    };
    thread::scope(|scope| {
        scope.spawn(increment);
        increment();
    });
    number.load(SeqCst).to_value()
}

fn lost() -> Value {
    increments(false)
}

fn good() -> Value {
    increments(true)
}

/// A test with its own folder and its own variables.
fn run(
    folder: &TempDir,
    variables: &[(&str, &str)],
    change: impl FnOnce(&mut Settings),
    expected: Option<Grade>,
    program: fn() -> Value,
) -> Result<(), String> {
    let own = folder.path().display().to_string();
    let variable = |name: &'static str| {
        let found = variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
        found.or((name == "INTERLOPER_FAILURES").then(|| own.clone()))
    };
    let mut settings = Settings { executions: 200, ..Settings::default() };
    change(&mut settings);
    let run = Test { site: &SITE, settings, expected, variable: &variable, print: &print }.run(&program);
    run.map_err(|Failed { brief, report }| format!("{brief}{report}"))
}

fn plainly(folder: &TempDir, program: fn() -> Value) -> Result<(), String> {
    run(folder, &[], |_| (), None, program)
}

#[test]
fn the_folder_is_beside_the_source() {
    assert_eq!(beside(&SITE), Path::new(env!("CARGO_MANIFEST_DIR")).join("src/blocks/testing"));
    let elsewhere = Site { file: "gone.rs", ..SITE };
    assert_eq!(beside(&elsewhere), Path::new(env!("CARGO_MANIFEST_DIR")));
}

#[test]
fn a_failure_is_kept_and_made_first_the_next_time() {
    let folder = new_folder();
    plainly(&folder, good).unwrap();
    assert!(files(&folder).is_empty());
    let message = plainly(&folder, lost).unwrap_err();
    let (file, page) = (folder.path().join("suite-case-42.json"), folder.path().join("suite-case-42.html"));
    assert_eq!(files(&folder), [page.clone(), file.clone()]);
    let replay = format!("replay: INTERLOPER_REPLAY={} cargo test case", file.display());
    assert!(message.contains(&replay), "{message}");
    assert!(message.ends_with("the same search: INTERLOPER_SEED=42 cargo test case"), "{message}");
    assert!(message.contains(&format!("\n  page: {}\n", page.display())), "{message}");
    // One execution without preemptions finds nothing; the file does.
    let unlucky = |settings: &mut Settings| {
        settings.executions = 1;
        settings.schedule = Schedule::Preemptions(0);
    };
    run(&new_folder(), &[], unlucky, None, lost).unwrap();
    let message = run(&folder, &[], unlucky, None, lost).unwrap_err();
    assert!(message.contains("replay: 1 execution"), "{message}");
    assert!(message.contains(&replay), "{message}");
    run(&folder, &[("INTERLOPER_FAILURES", "off")], unlucky, None, lost).unwrap();
}

/// Without the options that were typed, another program would be built, which the replay does not fit.
#[test]
fn a_failure_says_the_command_that_was_typed() {
    let typed = "cargo interloper test --instrument dashmap";
    let message = run(&new_folder(), &[("INTERLOPER_AGAIN", typed)], |_| (), None, lost).unwrap_err();
    assert!(message.lines().nth(2).is_some_and(|line| line.ends_with(&format!("{typed} case"))), "{message}");
    assert!(message.ends_with(&format!("the same search: INTERLOPER_SEED=42 {typed} case")), "{message}");
}

#[test]
fn a_failure_begins_with_three_lines() {
    let message = plainly(&new_folder(), lost).unwrap_err();
    let lines: Vec<&str> = message.lines().take(5).collect();
    assert!(lines[0].starts_with("✗ case: not atomic (execution "), "{message}");
    assert!(lines[1].starts_with(&format!("  at {}:", file!())), "{message}");
    assert!(lines[2].starts_with("  replay: INTERLOPER_REPLAY="), "{message}");
    assert!(lines[3].starts_with("✗ case  "), "{message}");
}

/// Set for [`fails_in_a_process_of_its_own`].
const FAILS: &str = "INTERLOPER_TESTS_OF_TESTS";

/// Does what a function with the attribute does: it fails, or passes. Otherwise nothing is asked of it.
#[test]
fn fails_in_a_process_of_its_own() {
    let Ok(how) = std::env::var(FAILS) else { return };
    test(&SITE, |settings| settings.executions = 200, None, &if how == "fails" { lost } else { good });
}

/// What libtest shows of a test: nothing of one that passes.
fn shown(how: &str) -> String {
    let own = std::env::current_exe().expect("this program");
    let name = module_path!().split_once("::").expect("the crate").1.to_owned() + "::fails_in_a_process_of_its_own";
    let mut command = std::process::Command::new(own);
    command.args(["--exact", &name]).env(FAILS, how).env("INTERLOPER_FAILURES", "off").env("RUST_BACKTRACE", "0");
    command.env_remove("INTERLOPER_REPLAY").env_remove("GITHUB_ACTIONS");
    let output = command.output().expect("it runs");
    assert_eq!(output.status.success(), how == "passes", "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "libtest captures all");
    String::from_utf8(output.stdout).expect("text")
}

/// What is wrong, where, and how to see it again come before the line of the panic, and the report after it.
#[test]
fn the_three_lines_come_before_the_panic() {
    let shown_of_failing = shown("fails");
    let (_, shown_of_failing) = shown_of_failing.split_once(" stdout ----\n").expect("what the test has printed");
    let lines: Vec<&str> = shown_of_failing.lines().take(7).collect();
    assert!(lines[0].starts_with("✗ case: not atomic (execution "), "{shown_of_failing}");
    assert!(lines[1].starts_with(&format!("  at {}:", file!())), "{shown_of_failing}");
    assert!(lines[2].starts_with("  replay: INTERLOPER_REPLAY="), "{shown_of_failing}");
    assert_eq!(lines[3], "", "{shown_of_failing}");
    assert!(lines[4].starts_with("thread '") && lines[4].contains(" panicked at "), "{shown_of_failing}");
    assert!(lines[5].starts_with("✗ case  "), "{shown_of_failing}");
    assert_eq!(shown_of_failing.matches("✗ case: not atomic").count(), 1, "{shown_of_failing}");
    assert!(!shown("passes").contains("case"), "a test that passes shows nothing");
}

#[test]
fn the_page_of_a_failure_can_be_switched_off() {
    let folder = new_folder();
    let message = run(&folder, &[("INTERLOPER_HTML", "off")], |_| (), None, lost).unwrap_err();
    assert_eq!(files(&folder), [folder.path().join("suite-case-42.json")]);
    assert!(!message.contains("  page: "), "{message}");
    run(&folder, &[("INTERLOPER_HTML", "on")], |_| (), None, lost).unwrap_err();
    assert_eq!(files(&folder).len(), 2);
    let message = run(&folder, &[("INTERLOPER_HTML", "no")], |_| (), None, lost).unwrap_err();
    assert_eq!(message, "the environment variable INTERLOPER_HTML is \"no\": expected on or off");
    // Where failures are not recorded, pages are not.
    let message = run(&new_folder(), &[("INTERLOPER_FAILURES", "off")], |_| (), None, lost).unwrap_err();
    assert!(!message.contains("  page: "), "{message}");
}

#[test]
fn a_failure_of_what_was_mended_is_passed_over() {
    let folder = new_folder();
    plainly(&folder, lost).unwrap_err();
    // It has other steps, so the decisions fit no more.
    plainly(&folder, good).unwrap();
    // The same steps with another outcome: the recorded failure no longer occurs.
    fn forgets() -> Value {
        lost();
        ().to_value()
    }
    plainly(&folder, forgets).unwrap();
    // What is not a failure at all is no reason to pass over it.
    fs::write(folder.path().join("suite-case-42.json"), "{}").unwrap();
    let message = plainly(&folder, good).unwrap_err();
    assert!(message.contains("cannot be replayed: damaged: missing field `version`"), "{message}");
}

#[test]
fn one_failure_is_replayed_on_request() {
    let folder = new_folder();
    plainly(&folder, lost).unwrap_err();
    let file = folder.path().join("suite-case-42.json").display().to_string();
    let made = Cell::new(None);
    let replay = |value: &str, program: fn() -> Value| {
        let result = run(
            &folder,
            &[("INTERLOPER_REPLAY", value)],
            |settings| made.set(Some(settings.executions)),
            None,
            program,
        );
        result.err()
    };
    let message = replay(&file, lost).unwrap();
    assert!(message.contains("replay: 1 execution"), "{message}");
    // By its name in the folder, and by its decisions.
    assert_eq!(replay("suite-case-42.json", lost).as_ref(), Some(&message));
    let failure = failures::read(Path::new(&file)).unwrap();
    let decisions = failures::decisions(&failure).unwrap();
    assert_eq!(decisions.len(), 2);
    for decisions in decisions {
        let message = replay(&decisions.to_string(), lost).unwrap();
        assert!(message.contains("replay: 1 execution"), "{message}");
    }
    assert_eq!(replay(&file, good).unwrap(), format!("{file} no longer fits the program"));
    let message = replay("nonsense", good).unwrap();
    assert!(
        message.starts_with(
            "the environment variable INTERLOPER_REPLAY is \"nonsense\": expected a replay file, or its decisions: "
        ),
        "{message}"
    );
    // The failure of another test is skipped.
    let other = fs::read_to_string(&file).unwrap().replace("suite::case", "suite::other");
    fs::write(&file, other).unwrap();
    assert_eq!(replay(&file, good), None);
}

#[test]
fn an_expected_grade_is_no_failure_and_leaves_no_file() {
    let folder = new_folder();
    run(&folder, &[], |_| (), Some(Grade::Bug), lost).unwrap();
    let message = run(&folder, &[], |_| (), Some(Grade::Error), lost).unwrap_err();
    assert!(message.starts_with("expected error, found bug\n\n✗ case "), "{message}");
    let message = run(&folder, &[], |_| (), Some(Grade::Bug), good).unwrap_err();
    assert!(message.starts_with("expected bug, found clean\n\n✓ case "), "{message}");
    assert!(files(&folder).is_empty());
}

#[test]
fn the_environment_goes_before_the_attribute() {
    let folder = new_folder();
    let message = run(&folder, &[("INTERLOPER_SEED", "7")], |settings| settings.seed = 8, None, lost).unwrap_err();
    assert!(message.contains("seed 7"), "{message}");
    assert!(files(&folder)[1].ends_with("suite-case-7.json"));
    let message = run(&folder, &[("INTERLOPER_JOBS", "0")], |_| (), None, good).unwrap_err();
    assert!(message.starts_with("the environment variable INTERLOPER_JOBS is \"0\""), "{message}");
}

#[test]
fn a_file_below_the_links_is_named_as_the_user_names_it() {
    let folder = std::env::temp_dir();
    let linked = Path::new("/project/target/interloper/tree").join(folder.strip_prefix("/").unwrap_or(&folder));
    assert_eq!(as_the_user_has_it(&linked), folder);
    assert_eq!(as_the_user_has_it(&folder), folder);
}

/// A part without an execution of its own says so, however the search is dealt; a part that has some says what it explored.
#[test]
fn a_test_that_has_nothing_to_do_in_a_shard_says_so() {
    let said = |shard: &str, schedule: Schedule, expected: Option<Grade>| {
        let said = std::cell::RefCell::new(String::new());
        let change = |settings: &mut Settings| {
            settings.schedule = schedule;
            settings.executions = 100;
        };
        let mut settings = Settings::default();
        change(&mut settings);
        let variable = |name: &'static str| match name {
            "INTERLOPER_SHARD" => Some(shard.to_owned()),
            "INTERLOPER_FAILURES" => Some("off".to_owned()),
            _ => None,
        };
        let print = |line: &str| said.borrow_mut().push_str(line);
        let test = Test { site: &SITE, settings, expected, variable: &variable, print: &print };
        test.run(&good).expect("it passes");
        said.into_inner()
    };
    let random = || Schedule::Random;
    assert!(said("2/2", random(), None).starts_with("case: random, seed 42, shard 2/2: 36 executions"));
    let idle = "suite::case: nothing to do in shard 7/8: all executions of the search belong to other shards";
    assert_eq!(said("7/8", random(), None), idle);
    // It is not split: one shard runs it.
    let all: Vec<String> = (1..=3).map(|number| said(&format!("{number}/3"), random(), Some(Grade::Clean))).collect();
    let other = |line: &&String| line.ends_with(": the search is not split, and another shard runs it");
    assert_eq!(all.iter().filter(other).count(), 2, "{all:?}");
}
