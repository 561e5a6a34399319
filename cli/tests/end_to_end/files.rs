//! Replay files: written by a failing case, read back, and what becomes of them when something has changed.

use serde_json::{Value, json};

use super::{Folder, bad};

/// A directory with the replay file of a bad case, and the name of the file.
fn recorded() -> (Folder, String) {
    let folder = Folder::new();
    let ran = folder.run(&["run", bad(), "--seed", "7"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let name = format!("interloper-failures/{}-7.json", bad());
    assert!(folder.has(&name), "{}", ran.out);
    (folder, name)
}

/// Rewrites the file with `change`.
fn edit(folder: &Folder, name: &str, change: impl FnOnce(&mut Value)) {
    let mut document: Value = serde_json::from_str(&folder.read(name)).expect("JSON");
    change(&mut document);
    folder.write(name, &document.to_string());
}

#[test]
fn a_recorded_run_is_the_same_again() {
    let (folder, name) = recorded();
    let document: Value = serde_json::from_str(&folder.read(&name)).expect("JSON");
    assert_eq!((&document["version"], &document["case"], &document["seed"]), (&1.into(), &bad().into(), &7.into()));
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
fn another_history_is_told_with_the_step() {
    let (folder, name) = recorded();
    edit(&folder, &name, |document| {
        document["history_hash"] = json!("0123456789abcdef");
        document["history"][0]["event"] = json!("somebody: did something");
    });
    let ran = folder.run(&["replay", &name]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let last = ran.out.lines().last().unwrap_or_default();
    let expected = "diverged from the recorded history: at step 1, recorded was 'somebody: did something'";
    assert!(last.starts_with(expected), "{last}");
    assert!(last.contains(", and now it is '"), "{last}");
}

#[test]
fn decisions_of_another_run_diverge() {
    let (folder, name) = recorded();
    edit(&folder, &name, |document| document["decisions"] = json!("-"));
    let ran = folder.run(&["replay", &name]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.out.starts_with("diverged from the recorded history: "), "{}", ran.out);
}

#[test]
fn damage_is_told_in_one_line() {
    let check = |field: &str, value: Value, reason: &str| {
        let (folder, name) = recorded();
        edit(&folder, &name, |document| document[field] = value);
        let ran = folder.run(&["replay", &name]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{field}");
        let expected = format!("error: cannot replay {name}: {reason}");
        assert!(ran.err.starts_with(&expected), "{} instead of {expected}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    };
    check("version", json!(2), "written by a newer interloper (version 2, this one reads version 1)");
    check("seed", json!("many"), "damaged: invalid type: string \"many\", expected u64");
    check("case", json!(format!("{}x", bad())), &format!("no case '{}x'; did you mean '{}'?", bad(), bad()));
    check("history_hash", json!("xyz"), "damaged: 'xyz' is no history hash of 16 hexadecimal digits");
    check("decisions", json!("?"), "damaged: its decisions: decision 1 is \"?\": ");
    let options = |adversary: &str, environment: &str, bound: u32| json!({ "adversary": adversary, "environment": environment, "bound": bound });
    check("options", options("kind", "open", 3), "damaged: 'kind' is no adversary");
    check("options", options("nearest", "wide", 3), "damaged: 'wide' is no environment");
    check("options", options("nearest", "open", 0), "damaged: '0' is no bound");
}

#[test]
fn every_adversary_and_environment_can_be_replayed() {
    for options in
        [["--adversary", "nearest"], ["--adversary", "preceding"], ["--bound", "1"], ["--environment", "open"]]
    {
        let folder = Folder::new();
        let ran = folder.run(&["run", bad(), options[0], options[1]]);
        let name = format!("interloper-failures/{}-42.json", bad());
        assert!(folder.has(&name), "{options:?}: {}", ran.out);
        let ran = folder.run(&["replay", &name]);
        assert_eq!(ran.code, Some(0), "{options:?}: {}", ran.out);
    }
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
