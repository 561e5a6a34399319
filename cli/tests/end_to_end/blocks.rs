//! Programs with blocks: how they are run, shown and replayed.

use interloper::blocks::{Expected, Grade, Program};
use interloper_suite::blocks::{find_program, programs};
use serde_json::{Value, json};

use super::{Folder, Ran, bad, good, hash, interloper};

/// Two threads of Figure 1, and its assertion.
const FIGURE_1: &str = "figure-1";
/// The one that needs most luck: its bug takes another strategy some executions.
const LATE: &str = "figure-2-fifty";

fn program(name: &str) -> Program {
    find_program(name).unwrap_or_else(|| panic!("the suite has no {name}"))
}

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err))
}

/// The replay file of Figure 1, in a directory of its own.
fn recorded() -> (Folder, String) {
    let folder = Folder::new();
    let ran = folder.run(&["run", FIGURE_1, "--seed", "7"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let name = format!("interloper-failures/{FIGURE_1}-7.json");
    assert!(ran.out.contains(&format!("\n  replay: interloper replay {name}\n")), "{}", ran.out);
    (folder, name)
}

#[test]
fn a_run_shows_the_interleaving_and_the_triple() {
    let ran = interloper(&["run", FIGURE_1, "figure-1-one-section"]);
    assert_eq!(ran.code, Some(0), "both are as expected: {}", ran.err);
    assert!(ran.out.starts_with("✗ figure-1 "), "{}", ran.out);
    for part in [
        "thread 1",
        "▲ 1 of 3: the block accesses mutex 1",
        "▲ 2 of 3: ",
        " interrupts the block",
        "▲ 3 of 3: the block accesses mutex 1 again",
        "in withdraw, holds mutex 1",
        "at mut-suite/src/blocks/figures.rs:",
        "panicked: the balance is negative",
        "\n  warning: withdraw accesses a mutex at ",
        "\n✓ figure-1-one-section ",
        "\n2 programs with blocks: 1 clean, 1 bug; ",
    ] {
        assert!(ran.out.contains(part), "{part:?} in {}", ran.out);
    }
    assert!(ran.out.ends_with("\nagain: interloper run figure-1 figure-1-one-section --seed 42\n"), "{}", ran.out);
}

/// A program whose bug needs weak memory says so itself; the command line takes it away.
#[test]
fn memory_of_the_command_line_overrides_that_of_a_program() {
    let weak = interloper(&["run", "publish-relaxed-load"]);
    assert_eq!(weak.code, Some(0), "{}{}", weak.out, weak.err);
    assert!(weak.out.starts_with("✗ publish-relaxed-load "), "{}", weak.out);
    let strong = interloper(&["run", "publish-relaxed-load", "--memory", "sc"]);
    assert_eq!(strong.code, Some(0), "another search may find less: {}{}", strong.out, strong.err);
    assert!(strong.out.starts_with("✓ publish-relaxed-load "), "{}", strong.out);
    assert!(strong.out.contains("no violation found\n"), "{}", strong.out);
}

#[test]
fn what_no_order_explains_is_shown_with_the_orders() {
    let ran = interloper(&["run", "figure-1-without-assertion"]);
    let orders = "\n  No sequential order explains it:\n    withdraw of main, withdraw of thread 1      the program \
                  returns 30\n    withdraw of thread 1, withdraw of main      the program returns 30\n";
    assert!(ran.out.contains(orders), "{}", ran.out);
    assert!(ran.out.lines().any(|line| line.trim() == "returned -40"), "{}", ran.out);
}

#[test]
fn a_deadlock_shows_its_cycle() {
    let ran = interloper(&["run", "lock-order-inversion"]);
    let cycles =
        ["cycle: main → mutex 2 → thread 1 → mutex 1 → main", "cycle: main → mutex 1 → thread 1 → mutex 2 → main"];
    assert!(cycles.iter().any(|cycle| ran.out.contains(cycle)), "{}", ran.out);
    assert_eq!(ran.out.matches("waits for ever: locks ").count(), 2, "{}", ran.out);
    let words = ran.out.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert_eq!(words.matches(", taken at mut-suite/src/blocks/bank.rs:").count(), 2, "{}", ran.out);
}

#[test]
fn the_bytes_depend_on_the_seed_alone() {
    let names: Vec<&str> =
        programs().iter().map(|program| program.name).filter(|name| name.contains("figure")).collect();
    let run = |options: &[&str]| interloper(&[&["run"], &names[..], options].concat()).out;
    let first = run(&["--executions", "500"]);
    for jobs in ["1", "2", "40"] {
        assert_eq!(run(&["--executions", "500", "--jobs", jobs]), first, "--jobs {jobs}");
    }
    assert_ne!(run(&["--executions", "500", "--seed", "43"]), first);
}

#[test]
fn every_violation_of_a_program_replays() {
    let folder = Folder::new();
    let names: Vec<&str> = programs().iter().map(|program| program.name).collect();
    let ran = folder.run(&[&["run"], &names[..], &["--executions", "1000", "--format", "json"]].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let document = document(&ran);
    let results = document["programs"].as_array().expect("a list");
    assert_eq!(results.len(), names.len());
    let mut replayed = 0;
    for (result, program) in results.iter().zip(programs()) {
        let name = program.name;
        assert_eq!((&result["name"], &result["expected"]), (&name.into(), &program.expected.to_string().into()));
        assert_eq!(result["grade"], program.expected.grade().word(), "{name}");
        let path = format!("interloper-failures/{name}-42.json");
        assert_eq!(folder.has(&path), program.expected.grade() >= Grade::Error, "{name}");
        assert_eq!(result["counterexample"].is_object(), folder.has(&path), "{name}");
        if folder.has(&path) {
            let ran = folder.run(&["replay", &path]);
            assert_eq!(ran.code, Some(0), "{name}: {}{}", ran.out, ran.err);
            assert!(ran.out.contains("\nthe same history as recorded ("), "{}", ran.out);
            replayed += 1;
        }
    }
    assert!(replayed >= 30, "{replayed}");
}

#[test]
fn a_replay_that_goes_another_way_is_exit_code_1() {
    let (folder, name) = recorded();
    let check = |change: fn(&mut Value), expected: &str| {
        let recorded = folder.read(&name);
        folder.edit(&name, change);
        let ran = folder.run(&["replay", &name]);
        folder.write(&name, &recorded);
        let last = ran.out.lines().last().unwrap_or_default().to_owned();
        assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
        assert!(last.starts_with(&format!("diverged from the recorded history: {expected}")), "{last}");
    };
    check(|file| file["finding"] = json!("deadlock"), "the recording shows deadlock, and the replay shows panic");
    let sings = |file: &mut Value| {
        file["history"][0]["action"] = json!("sing");
        file["history"][0]["says"] = json!("main: sings");
        file["history_hash"] = json!(hash(&file["history"]));
    };
    check(sings, "at event 1: recorded 'main: sings', now '");
    check(|file| file["decisions"] = json!("-"), "");
    let ran = folder.run(&["replay", &name, "--format", "json"]);
    assert_eq!((ran.code, &document(&ran)["same"]), (Some(0), &json!(true)));
    assert!(folder.run(&["replay", &name, "--format", "html"]).out.starts_with("<!DOCTYPE html>"));
}

#[test]
fn a_damaged_file_is_told_in_one_line() {
    let check = |change: &dyn Fn(&mut Value), reason: &str| {
        let (folder, name) = recorded();
        folder.edit(&name, change);
        let ran = folder.run(&["replay", &name]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
        let expected = format!("error: cannot replay {name}: {reason}");
        assert!(ran.err.starts_with(&expected) && ran.err.lines().count() == 1, "{} instead of {expected}", ran.err);
    };
    check(&|file| file["seed"] = json!("many"), "damaged: invalid type: string \"many\", expected u64");
    check(&|file| file["more"] = json!(1), "damaged: unknown field `more`");
    check(&|file| file["history"][0]["action"] = json!("sing"), "damaged: its history has the hash ");
    check(&|file| file["decisions"] = json!("?"), "damaged: its decisions: decision 1 is \"?\": ");
    check(&|file| file["about"]["name"] = json!("figure-1x"), "no case 'figure-1x'; did you mean 'figure-1'?");
    let other = format!("'{}' is a composed operation, not a program with blocks", bad());
    check(&|file| file["about"]["name"] = json!(bad()), &other);
    let test = json!({ "kind": "test", "name": "suite::transfers", "strategy": "random", "critical_sections": false });
    check(
        &|file| file["about"] = test.clone(),
        "it belongs to the test 'suite::transfers'; replay it with INTERLOPER_REPLAY=",
    );
}

#[test]
fn a_strategy_and_its_parameters_are_chosen() {
    let schedule = |options: &[&str]| {
        let ran = interloper(&[&["run", FIGURE_1, "--format", "json"], options].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        document(&ran)["programs"][0]["schedule"].as_str().expect("text").to_owned()
    };
    assert_eq!(schedule(&[]), "atomfuzzer:0.5+rff+pct:3+pos+surw+random");
    assert_eq!(schedule(&["--q", "1", "--depth", "2"]), "atomfuzzer:1+rff+pct:2+pos+surw+random");
    assert_eq!(schedule(&["--strategy", "atomfuzzer", "--q", "0.9"]), "atomfuzzer:0.9");
    // Figure 2: with q = 1 the first execution has it (section 3.1 of the paper).
    let ran = interloper(&["run", LATE, "--strategy", "atomfuzzer", "--q", "1", "--format", "json"]);
    assert_eq!(document(&ran)["programs"][0]["executions_to_violation"], 1);
    let ran = interloper(&["run", "figure-1-one-section", "--strategy", "exhaustive"]);
    assert!(
        ran.out.contains("\n  exhaustive, seed 42: ")
            && ran.out.contains(" executions of 2 traces, 20 steps, complete"),
        "{}",
        ran.out
    );
    let ran = interloper(&["run", "figure-1-one-section", "--check-determinism", "--executions", "100"]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.out.ends_with("--seed 42 --executions 100 --check-determinism\n"), "{}", ran.out);
}

#[test]
fn less_than_expected_is_unexpected_unless_another_strategy_was_asked_for() {
    let ran = interloper(&["run", LATE, "--executions", "1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let Expected::Bug(bug) = program(LATE).expected else { panic!("it has one") };
    assert!(ran.out.contains(&format!("\n  expected: bug ({bug})\n")), "{}", ran.out);
    assert!(ran.out.contains(&format!("1 unexpected: {LATE}\n")), "{}", ran.out);
    let ran = interloper(&["run", LATE, "--executions", "1", "--strategy", "preemptions:0"]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.out.contains("at most bug (panic)"), "{}", ran.out);
}

#[test]
fn a_trace_and_a_page_are_written() {
    let folder = Folder::new();
    let ran = folder.run(&["run", FIGURE_1, "--trace", "out/trace.jsonl", "--html", "page.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let text = folder.read("out/trace.jsonl");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (header, steps) = lines.split_first().expect("a header");
    assert_eq!((&header["version"], &header["program"], &header["seed"]), (&json!(2), &json!(FIGURE_1), &json!(42)));
    assert_eq!(header["finding"], json!("panic"));
    assert_eq!(header["steps"], steps.len());
    for (index, step) in steps.iter().enumerate() {
        assert_eq!(step["step"], index + 1);
        assert!(step["location"].as_str().is_some_and(|place| place.contains(".rs:")), "{step}");
    }
    let of_triple: Vec<&Value> = steps.iter().filter(|step| step["marked"] == true).collect();
    assert_eq!(of_triple.len(), 3);
    for (part, step) in (1..).zip(&of_triple) {
        let notes = step["notes"].to_string();
        assert!(notes.contains(&format!("▲ {part} of 3")), "{notes}");
    }
    assert!(of_triple[0]["task"] == of_triple[2]["task"] && of_triple[0]["task"] != of_triple[1]["task"]);
    assert!(of_triple.iter().all(|step| step["action"] == "locks mutex 1" && step["holds"] == json!(["mutex 1"])));
    assert!(folder.read("page.html").starts_with("<!DOCTYPE html>"));
    // Of a program without a violation there is no execution to be told.
    let ran = folder.run(&["run", "figure-1-one-section", "--trace", "trace.jsonl", "--executions", "10"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.read("trace.jsonl").lines().count(), 1);
    let shown = folder.run(&["explore", "trace.jsonl"]);
    assert_eq!(shown.out, "trace.html: figure-1-one-section, no violation, 0 steps\n");
}

#[test]
fn an_option_that_nothing_uses_is_refused() {
    let check = |arguments: &[&str], message: &str| {
        let ran = interloper(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert_eq!(ran.err.lines().last(), Some(format!("error: {message}").as_str()), "{arguments:?}");
    };
    check(&["run", good(), "--strategy", "pos"], "'run' uses --strategy for programs with blocks only");
    check(&["show", good(), "--q", "1"], "'show' uses --q for programs with blocks only");
    check(&["run", FIGURE_1, "--bound", "2"], "'run' uses --bound for composed operations only");
    check(&["list", "--depth", "2"], "'list' does not use --depth");
    check(&["run", FIGURE_1, "--strategy", "pos", "--q", "1"], "--q is for atomfuzzer, and the strategy is pos");
    check(&["run", FIGURE_1, LATE, "--trace", "x"], "--trace is for one case or program");
    // Together each finds its own.
    let ran = interloper(&["run", FIGURE_1, good(), "--bound", "1", "--strategy", "pos"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn a_program_is_shown_with_its_source() {
    for name in [FIGURE_1, "figure-3", "get-unique-id"] {
        let program = program(name);
        let folder = Folder::new();
        let ran = folder.run(&["show", name]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.starts_with(&format!("{name}\n  ")), "{}", ran.out);
        assert!(ran.out.contains(&format!("\n  origin: {}\n", program.origin)), "{}", ran.out);
        assert!(ran.out.contains(&format!("\n  expected: {}\n", program.expected)), "{}", ran.out);
        for line in program.source.trim_end().lines() {
            assert!(ran.out.contains(format!("\n    {line}").trim_end()), "{line:?} in {}", ran.out);
        }
        assert!(!folder.has("interloper-failures"), "showing writes nothing");
        let document = document(&folder.run(&["show", name, "--format", "json"]));
        assert_eq!((&document["source"], &document["name"]), (&json!(program.source), &json!(name)));
        assert_eq!(document["counterexample"].is_object(), name != "figure-3");
        let page = folder.run(&["show", name, "--format", "html"]);
        assert_eq!(page.code, Some(if name == "figure-3" { 2 } else { 0 }), "{}", page.err);
    }
}

/// No execution is quick enough for this limit.
#[test]
fn where_nothing_was_explored_the_code_is_2() {
    let ran = interloper(&["run", "figure-1-one-section", "--time", "0.000000001"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("nothing was explored: "), "{}", ran.out);
    let ran = interloper(&["run", "figure-1-one-section", "--executions", "5"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("nothing was explored"), "{}", ran.out);
}
