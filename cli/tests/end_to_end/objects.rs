//! `objects`, `hunt`, `visibility` and `generate`. Whatever is compared to the byte was run by the scheduler.

use serde_json::Value;

use super::{Folder, Ran, interloper};

fn hunt(arguments: &[&str]) -> Ran {
    interloper(&[&["hunt"], arguments].concat())
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).expect("one JSON document")
}

#[test]
fn objects_are_listed_with_their_engines() {
    let ran = interloper(&["objects"]);
    assert_eq!(ran.code, Some(0));
    for (name, engines) in [("striped-map", "systematic, stress"), ("dashmap", "stress"), ("moka", "stress")] {
        let line = ran.out.lines().find(|line| line.starts_with(&format!("{name} "))).expect("a line");
        assert_eq!(line.contains("systematic"), engines.contains("systematic"), "{line}");
    }
    let listed = json(&interloper(&["objects", "--format", "json"]));
    assert_eq!(listed["version"], 1);
    assert_eq!(listed["objects"][0]["core"], serde_json::json!(["put", "get", "remove", "containsKey"]));
}

#[test]
fn a_violation_is_reported_with_its_harness_its_outcomes_and_a_trace() {
    let ran = hunt(&["striped-map", "--method", "size"]);
    assert_eq!(ran.code, Some(1));
    for part in [
        "✗ size   not atomic   { get(0); size() } || { put(0, 0) }   0, 0, none",
        "0, 0, none   ✗            1",
        "0, 1, none   ✓            1",
        "called size()",
        "reads atomic 1",
        "put(0, 0), get(0), size()      size() returns 1",
        "replay: interloper replay interloper-failures/striped-map-size-42.json",
    ] {
        assert!(ran.out.contains(part), "{part} is not in\n{}", ran.out);
    }
    assert!(ran.err.contains("schemas, ") && ran.err.contains("executions in "), "{}", ran.err);
    assert_eq!(hunt(&["striped-map", "--method", "size"]).out, ran.out, "the same bytes each time");
    // The schema alone shows the same.
    let again = hunt(&["striped-map", "--schema", "{ get(0); size() } || { put(0, 0) }", "--engine", "systematic"]);
    assert_eq!(again.code, Some(1));
    assert!(again.out.contains("put(0, 0), get(0), size()      size() returns 1"), "{}", again.out);
}

/// The replay file of a finding runs the same execution; when the object's answer changes, the replay says so.
#[test]
fn a_finding_of_a_hunt_replays() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["hunt", "striped-map", "--method", "size"]).code, Some(1));
    let name = "interloper-failures/striped-map-size-42.json";
    let ran = folder.run(&["replay", name]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    for part in ["called size()", "put(0, 0), get(0), size()      size() returns 1", "\nthe same history as recorded ("]
    {
        assert!(ran.out.contains(part), "{part} is not in\n{}", ran.out);
    }
    let document = json(&folder.run(&["replay", name, "--format", "json"]));
    assert_eq!((&document["object"], &document["same"]), (&"striped-map".into(), &true.into()));
    let edit = |change: &dyn Fn(&mut Value)| {
        let whole = folder.read(name);
        let mut file: Value = serde_json::from_str(&whole).expect("JSON");
        change(&mut file);
        folder.write(name, &file.to_string());
        let ran = folder.run(&["replay", name]);
        folder.write(name, &whole);
        ran
    };
    // Without its decisions every task runs to its end: an order explains that.
    let other = edit(&|file| file["decisions"] = "-".into());
    assert_eq!(other.code, Some(1), "{}{}", other.out, other.err);
    assert!(other.out.contains("diverged from the recorded history: "), "{}", other.out);
    let gone = edit(&|file| file["about"]["object"] = "striped-mop".into());
    assert_eq!(gone.code, Some(2));
    assert!(gone.err.contains("no object 'striped-mop'"), "{}", gone.err);
}

/// A hunt takes every strategy that the check of a program takes, says which one it had, and its findings replay.
#[test]
fn a_finding_of_every_strategy_replays() {
    for (typed, printed) in [
        ("pct:3", "pct:3"),
        ("random", "random"),
        ("surw", "surw"),
        ("atomfuzzer", "atomfuzzer:0.5"),
        ("portfolio", "atomfuzzer:0.5+rff+pct:3+pos+surw+random"),
        ("preemptions:2", "preemptions:2"),
    ] {
        let folder = Folder::new();
        let arguments = ["hunt", "striped-map", "--method", "size", "--strategy", typed];
        let ran = folder.run(&arguments);
        assert_eq!(ran.code, Some(1), "{typed}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(&format!("\nstrategy: {printed}, seed 42\n")), "{}", ran.out);
        assert!(ran.out.contains("✗ size   not atomic"), "{}", ran.out);
        let says = ran.out.contains("of further executions would show a new trace")
            || ran.out.contains("every trace came more than once");
        assert_eq!(says, typed != "preemptions:2", "{typed}: {}", ran.out);
        assert_eq!(folder.run(&arguments).out, ran.out, "the same bytes each time");
        let replayed = folder.run(&["replay", "interloper-failures/striped-map-size-42.json"]);
        assert_eq!(replayed.code, Some(0), "{typed}: {}{}", replayed.out, replayed.err);
        assert!(replayed.out.contains("\nthe same history as recorded ("), "{typed}: {}", replayed.out);
    }
}

#[test]
fn without_a_strategy_there_are_passes() {
    let default = ["striped-map", "--method", "size"];
    let ran = hunt(&default);
    let passes = "\nstrategy: random+pct:3, then rff, then exhaustive, seed 42";
    assert!(ran.out.contains(&format!("{passes}\n")), "{}", ran.out);
    // The seventh has the violation.
    assert!(ran.out.contains("; every interleaving of 6 of 7 schemas ran\n"), "{}", ran.out);
    let exhaustive = hunt(&[&default[..], &["--strategy", "exhaustive"]].concat());
    assert!(exhaustive.out.contains("\nstrategy: exhaustive, seed 42\n"), "{}", exhaustive.out);
    let without = hunt(&[&default[..], &["--freedoms", "none"]].concat());
    assert!(without.out.contains(&format!("{passes}, freedoms none\n")), "{}", without.out);
    let document = json(&hunt(&[&default[..], &["--format", "json", "--strategy", "pct", "--depth", "2"]].concat()));
    assert_eq!(document["strategy"], "pct:2, seed 42");
    let stress = ["mutex-map", "--method", "size", "--engine", "stress", "--programs", "1", "--executions", "100"];
    let ran = hunt(&stress);
    assert!(!ran.out.contains("strategy"), "{}", ran.out);
    assert_eq!(json(&hunt(&[&stress[..], &["--format", "json"]].concat()))["strategy"], Value::Null);
}

#[test]
fn visibility_and_generate_take_a_strategy() {
    let folder = Folder::new();
    let strategy = ["--programs", "20", "--executions", "50", "--strategy", "pos"];
    let derived = folder.run(&[&["visibility", "mutex-map", "--method", "size"], &strategy[..]].concat());
    assert_eq!(derived.code, Some(0), "{}", derived.err);
    for part in ["\nstrategy: pos, seed 42\n", "\nOf the schemas together, ", " trace"] {
        assert!(derived.out.contains(part), "{part} is not in\n{}", derived.out);
    }
    let arguments = [&["visibility", "mutex-map", "--method", "size", "--format", "json"], &strategy[..]].concat();
    let document = json(&folder.run(&arguments));
    assert_eq!(document["strategy"], "pos, seed 42");
    assert!(document["unseen"]["executions"].as_u64() > Some(0), "{document}");
    let size = ["generate", "striped-map", "--method", "size", "--out", "size.rs", "--strategy", "pct:3"];
    let ran = folder.run(&size);
    assert!(
        ran.out.starts_with("size.rs: 1 test; violations among them: 1\nstrategy: pct:3, seed 42; "),
        "{}",
        ran.out
    );
}

#[test]
fn what_refutes_a_level_of_visibility_replays() {
    let folder = Folder::new();
    let ran = folder.run(&["visibility", "striped-map", "--method", "size"]);
    let line = ran.out.lines().find(|line| line.starts_with("  replay size: interloper replay "));
    let file = line.and_then(|line| line.rsplit(' ').next()).unwrap_or_else(|| panic!("{}{}", ran.out, ran.err));
    let replayed = folder.run(&["replay", file]);
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.out, replayed.err);
}

/// Real threads leave no decisions, so there is no file to promise.
#[test]
fn what_only_real_threads_have_shown_has_no_replay_file() {
    let folder = Folder::new();
    let ran = folder.run(&["hunt", "dashmap", "--method", "len", "--programs", "400", "--time", "20"]);
    assert!(!ran.out.contains("interloper replay"), "{}", ran.out);
    assert!(!folder.has("interloper-failures"), "{}", ran.out);
}

#[test]
fn the_same_as_json() {
    let ran = hunt(&["striped-map", "--method", "size", "--format", "json"]);
    assert_eq!(ran.code, Some(1));
    let document = json(&ran);
    assert_eq!((&document["version"], &document["engine"]), (&1.into(), &"systematic".into()));
    let method = &document["methods"][0];
    assert_eq!(method["verdict"], "not atomic");
    assert_eq!(method["violation"]["schema"], "{ get(0); size() } || { put(0, 0) }");
    assert_eq!(method["violation"]["outcome"], serde_json::json!([0, 0, null]));
    assert_eq!(method["violation"]["admitted"], serde_json::json!([[null, 0, null], [null, 1, null], [0, 1, null]]));
    assert_eq!(method["trace"]["verdict"], "not atomic");
}

#[test]
fn what_is_atomic_is_passed_and_says_how_much_was_tried() {
    let ran = hunt(&["mutex-map", "--method", "size", "--programs", "40"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("✓ size   no violation found"), "{}", ran.out);
    let sound = hunt(&["mutex-map", "--schema", "{ put(0,1); size() } || { put(1,1) }"]);
    assert_eq!(sound.code, Some(0), "{}", sound.out);
}

/// What is trusted in the search of another method is searched itself when it is asked for.
#[test]
fn a_core_method_can_be_hunted() {
    let ran = hunt(&["mutex-map", "--method", "put", "--programs", "40"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("✓ put    no violation found"), "{}", ran.out);
}

#[test]
fn real_threads_run_any_object() {
    let ran = hunt(&["mutex-map", "--method", "size", "--engine", "stress", "--programs", "2", "--executions", "500"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("1,000"), "two schemas of 500 executions: {}", ran.out);
}

#[test]
fn wrong_requests_get_one_line() {
    let check = |arguments: &[&str], expected: &str| {
        let ran = interloper(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert_eq!(ran.err, format!("error: {expected}\n"), "{arguments:?}");
    };
    check(&["hunt", "dahsmap"], "no object 'dahsmap'; did you mean 'dashmap'?");
    check(&["hunt", "zzzzzzzz"], "no object 'zzzzzzzz'; 'interloper objects' lists them");
    check(&["hunt", "mutex-map", "--method", "siz"], "mutex-map has no method 'siz'; did you mean 'size'?");
    check(
        &["visibility", "mutex-map", "--method", "put"],
        "'put' is a core method of mutex-map, which is trusted and not searched",
    );
    check(
        &["hunt", "dashmap", "--engine", "systematic"],
        "dashmap is not written over the mirror of std, so the scheduler does not see its steps; use '--engine stress'",
    );
    check(
        &["hunt", "mutex-map", "--schema", "{ size(1) }"],
        "in mutex-map: size takes 0 arguments, not 1\n  { size(1) }\n    ^",
    );
    check(
        &["hunt", "mutex-map", "--schema", "{ size() } || { size() }", "--limit", "1"],
        "the schema has more than 1 configurations; raise the bound, use fewer invocations, or relax fewer of them; \
         --limit sets the bound",
    );
    check(
        &["hunt", "mutex-map", "--limit", "0"],
        "invalid value '0' for '--limit <N>': a limit is a whole number of at least 1",
    );
    check(&["visibility", "mutex-map", "--bound", "3"], "'visibility' does not use --bound");
    let real_threads = |option: &str, object: &str| {
        format!("{option} is for the systematic engine, and {object} runs on real threads, which no strategy controls")
    };
    check(&["hunt", "dashmap", "--strategy", "pct"], &real_threads("--strategy", "dashmap"));
    let stress = ["visibility", "mutex-map", "--engine", "stress", "--freedoms", "all"];
    check(&stress, &real_threads("--freedoms", "mutex-map"));
    let generate = ["generate", "dashmap", "--out", "no/such/folder.rs", "--q", "1"];
    check(&generate, &real_threads("--q", "dashmap"));
    check(&["hunt", "mutex-map", "--depth", "2"], "--depth is for pct, and the strategy is exhaustive");
    check(
        &["visibility", "mutex-map", "--strategy", "pct", "--q", "1"],
        "--q is for atomfuzzer, and the strategy is pct:3",
    );
    check(&["hunt", "mutex-map", "--format", "html"], "'hunt' writes its pages with --html FILE");
}

#[test]
fn visibility_is_derived_with_what_refutes_more() {
    let ran = interloper(&["visibility", "striped-map", "--method", "keys", "--programs", "150"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("monotonic    keys"), "{}", ran.out);
    assert!(ran.out.contains("these levels explain every outcome."), "{}", ran.out);
    let document =
        json(&interloper(&["visibility", "striped-map", "--method", "size", "--programs", "300", "--format", "json"]));
    let size = &document["methods"][0];
    assert_eq!((&size["method"], &size["visibility"]), (&"size".into(), &Value::Null));
    assert_eq!(size["refuted"][0]["level"], "complete");
}

/// Whatever `hunt` finds, `visibility` comes upon: both try the same harnesses, the small ones first.
#[test]
fn visibility_does_not_contradict_what_a_hunt_finds() {
    for method in ["addAll", "pollFirst"] {
        let arguments = ["rwlock-set", "--method", method, "--programs", "700", "--format", "json"];
        let hunted = json(&hunt(&arguments));
        let derived = json(&interloper(&[&["visibility"][..], &arguments].concat()));
        assert_eq!(hunted["methods"][0]["verdict"], "not atomic");
        let derived = &derived["methods"][0];
        assert_eq!((&derived["derived"], &derived["visibility"]), (&true.into(), &Value::Null), "{derived}");
        assert_eq!(derived["refuted"][0]["level"], "complete");
    }
}

/// What is too large to be judged is left out and said, and is not a support for anything.
#[test]
fn a_limit_leaves_harnesses_out() {
    let ran = hunt(&["mutex-map", "--method", "size", "--programs", "4", "--limit", "1"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("– size   not judged"), "{}", ran.out);
    assert!(
        ran.out.contains("size: 4 schemas not judged; the first, ") && ran.out.contains("; --limit sets the bound")
    );
    let ran = interloper(&["visibility", "mutex-map", "--method", "size", "--programs", "4", "--limit", "1"]);
    assert!(ran.out.contains("not derived   size"), "{}", ran.out);
    assert!(interloper(&["visibility", "mutex-map", "--method", "size", "--programs", "4"]).out.contains(", size\n"));
}

/// The file that is generated is a test of the suite, which holds the object to it.
#[test]
fn the_generated_file_is_the_one_that_is_committed() {
    let folder = Folder::new();
    let ran = folder.run(&["generate", "mutex-map", "--method", "clear", "--out", "generated.rs", "--programs", "20"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out, "generated.rs: 3 tests; violations among them: 0\nstrategy: exhaustive, seed 42\n");
    assert_eq!(folder.read("generated.rs"), include_str!("../../../mut-suite/tests/generated.rs"));
    let broken =
        folder.run(&["generate", "striped-map", "--method", "size", "--out", "size.rs", "--expression", "mine()"]);
    assert_eq!(broken.out, "size.rs: 1 test; violations among them: 1\nstrategy: exhaustive, seed 42\n");
    let text = folder.read("size.rs");
    assert!(text.contains("/// When this was written, size was not atomic: it gave 0, 0, none."), "{text}");
    assert!(text.contains("&mine(),"), "{text}");
    let nowhere =
        folder.run(&["generate", "mutex-map", "--method", "clear", "--out", "no/such/folder.rs", "--programs", "2"]);
    assert_eq!(nowhere.code, Some(2));
}
