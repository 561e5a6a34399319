//! Replay files: written by a failing case, read back, and what becomes of them when something has changed.

use serde_json::{Value, json};

use super::{Folder, bad, hash};

/// A directory with the replay file of a bad case, and the name of the file.
fn recorded() -> (Folder, String) {
    let folder = Folder::new();
    let ran = folder.run(&["run", bad(), "--seed", "7"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let name = format!("interloper-failures/{}-7.json", bad());
    assert!(folder.has(&name), "{}", ran.out);
    (folder, name)
}

#[test]
fn a_recorded_run_is_the_same_again() {
    let (folder, name) = recorded();
    let document: Value = serde_json::from_str(&folder.read(&name)).expect("JSON");
    assert_eq!(
        (&document["version"], &document["about"]["kind"], &document["seed"]),
        (&3.into(), &"case".into(), &7.into())
    );
    assert_eq!(document["about"]["name"], bad());
    let hash = document["history_hash"].as_str().expect("text").to_owned();
    let ran = folder.run(&["replay", &name]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    assert!(ran.out.ends_with(&format!("\nthe same history as recorded ({hash})\n")), "{}", ran.out);
    assert!(ran.out.starts_with(&format!("✗ {} ", bad())), "{}", ran.out);

    let ran = folder.run(&["replay", &name, "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((&document["same"], &document["divergence"]), (&true.into(), &Value::Null));
    assert!(folder.run(&["replay", &name, "--format", "html"]).out.starts_with("<!DOCTYPE html>"));
}

#[test]
fn two_runs_write_the_same_file() {
    let (folder, name) = recorded();
    let first = folder.read(&name);
    let (again, _) = recorded();
    assert_eq!(again.read(&name), first);
}

#[test]
fn a_history_that_was_edited_is_refused() {
    let (folder, name) = recorded();
    folder.edit(&name, |document| document["history"][1]["action"] = json!("sing"));
    let ran = folder.run(&["replay", &name]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    let expected = format!("error: cannot replay {name}: damaged: its history has the hash ");
    assert!(ran.err.starts_with(&expected), "{}", ran.err);
    assert!(ran.err.ends_with(": was it edited?\n"), "{}", ran.err);
}

/// A release that calls a step something else reads the files of today.
#[test]
fn other_words_for_the_same_steps_do_not_diverge() {
    let (folder, name) = recorded();
    folder.edit(&name, |document| {
        for moment in document["history"].as_array_mut().expect("a list") {
            moment["says"] = json!("in other words");
        }
    });
    assert_eq!(folder.run(&["replay", &name]).code, Some(0));
}

/// As when the case has changed since the file was written.
#[test]
fn another_history_is_told_with_the_step() {
    let (folder, name) = recorded();
    folder.edit(&name, |document| {
        document["history"][1]["action"] = json!("sing");
        document["history"][1]["says"] = json!("somebody sings");
        document["history_hash"] = json!(hash(&document["history"]));
    });
    let ran = folder.run(&["replay", &name]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let last = ran.out.lines().last().unwrap_or_default();
    let expected = "diverged from the recorded history: at event 2: recorded 'somebody sings', now '";
    assert!(last.starts_with(expected), "{last}");
}

#[test]
fn decisions_of_another_run_diverge() {
    let (folder, name) = recorded();
    folder.edit(&name, |document| document["decisions"] = json!("-"));
    let ran = folder.run(&["replay", &name]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.out.starts_with("diverged from the recorded history: "), "{}", ran.out);
}

#[test]
fn damage_is_told_in_one_line() {
    let check = |field: &str, value: Value, reason: &str| {
        let (folder, name) = recorded();
        folder.edit(&name, |document| document[field] = value);
        let ran = folder.run(&["replay", &name]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{field}");
        let expected = format!("error: cannot replay {name}: {reason}");
        assert!(ran.err.starts_with(&expected), "{} instead of {expected}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    };
    check("version", json!(4), "written by a newer interloper (version 4, this one reads version 3)");
    check("version", json!(2), "written by an older interloper (version 2, this one reads version 3)");
    check("seed", json!("many"), "damaged: invalid type: string \"many\", expected u64");
    check("history_hash", json!("xyz"), "damaged: 'xyz' is not a history hash of 16 hexadecimal digits");
    check("decisions", json!("?"), "damaged: its decisions: decision 1 is \"?\": ");
    let about = |name: &str, adversary: &str, environment: &str, bound: u32| json!({ "kind": "case", "name": name, "adversary": adversary, "environment": environment, "bound": bound });
    let other = format!("{}x", bad());
    check("about", about(&other, "nearest", "open", 3), &format!("no case '{other}'; did you mean '{}'?", bad()));
    check("about", about(bad(), "kind", "open", 3), "damaged: 'kind' is not a valid adversary");
    check("about", about(bad(), "nearest", "wide", 3), "damaged: 'wide' is not a valid environment");
    check("about", about(bad(), "nearest", "open", 0), "damaged: '0' is not a valid bound");
    check("about", json!({ "kind": "song" }), "damaged: unknown variant `song`");
}

/// Every violation that the cases of the suite have under these options is recorded, and is the same when it is replayed.
fn every_violation_replays(options: &[&str], at_least: usize) {
    let folder = Folder::new();
    let all: Vec<&str> = interloper_suite::cases().iter().map(|case| case.name).collect();
    let found = folder.run(&[&["run"], &all[..], &["--format", "json"], options].concat());
    let document: Value = serde_json::from_str(&found.out).expect("JSON");
    let violates = |case: &&Value| case["executions_to_violation"].is_u64();
    let cases = document["cases"].as_array().expect("a list").iter().filter(violates);
    let names: Vec<&str> = cases.filter_map(|case| case["name"].as_str()).collect();
    assert!(names.len() >= at_least, "{options:?}: {names:?}");
    let ran = folder.run(&[&["run"], &names[..], options].concat());
    for name in names {
        let path = format!("interloper-failures/{name}-42.json");
        assert!(ran.out.contains(&format!("\n  replay: interloper replay {path}\n")), "{name}: {}", ran.out);
        let replayed = folder.run(&["replay", &path]);
        assert_eq!(replayed.code, Some(0), "{name} {options:?}: {}{}", replayed.out, replayed.err);
    }
}

#[test]
fn every_violation_in_the_open_environment_replays() {
    every_violation_replays(&["--executions", "1000", "--adversary", "preceding"], 30);
    every_violation_replays(&["--executions", "1000", "--adversary", "nearest"], 30);
}

#[test]
fn every_violation_in_a_closed_environment_replays() {
    every_violation_replays(&["--executions", "1000", "--environment", "closed"], 10);
}

#[test]
fn a_run_of_the_naive_adversary_is_reproduced_by_its_seed() {
    let folder = Folder::new();
    let options = ["--adversary", "naive", "--executions", "20000"];
    let ran = folder.run(&[&["run", "counter-load-then-store"], &options[..]].concat());
    let again = "interloper run counter-load-then-store --seed 42 --adversary naive --executions 20000";
    assert!(ran.out.contains(&format!("\n  replay: {again}\n")), "{}", ran.out);
    assert!(!folder.has("interloper-failures"), "its decisions are not recorded");
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let folder = Folder::new();
    folder.write("interloper-failures", "a file in the way");
    let ran = folder.run(&["run", bad()]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    let name = format!("interloper-failures/{}-42.json", bad());
    assert!(ran.err.contains(&format!("error: cannot write {name}: ")), "{}", ran.err);
}
