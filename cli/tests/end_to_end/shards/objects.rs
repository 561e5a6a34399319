//! Hunts, derivations of visibility and comparisons in parts.

use super::*;
use crate::explore::data;

/// What the whole search prints in each format, text first.
fn in_each_format(folder: &Folder, search: &[&str]) -> Vec<(&'static str, Ran)> {
    FORMATS.map(|format| (format, folder.run(&[search, &["--format", format]].concat()))).into()
}

/// An object of which some methods are not atomic, with few schemas: no visit is left to the merge but those with findings.
const HUNT: [&str; 4] = ["hunt", "two-lock-queue", "--programs", "40"];

#[test]
fn the_merged_hunt_is_the_hunt_byte_for_byte() {
    let folder = Folder::new();
    let whole = in_each_format(&folder, &HUNT);
    for of in [1, 3] {
        let files = shards(&folder, &HUNT, of);
        for (format, whole) in &whole {
            let merged = merge(&folder, &files, &["--format", format]);
            assert!(merged.out == whole.out, "{format} of {of} differs:\n{}\n{}", merged.out, whole.out);
            assert_eq!((merged.code, whole.code), (Some(1), Some(1)), "{}{}", merged.err, whole.err);
        }
    }
    // With another strategy there are no passes. Of this method nothing is wrong.
    let sound = ["hunt", "two-lock-queue", "--method", "put", "--strategy", "pct", "--depth", "2", "--programs", "20"];
    let whole = folder.run(&sound);
    assert_eq!((merge(&folder, &shards(&folder, &sound, 2), &[]).out, whole.code), (whole.out, Some(0)));
}

/// Of a derivation, the merge runs the schemas at which a level falls, and all methods together.
#[test]
fn the_merged_derivation_is_the_derivation_byte_for_byte() {
    let folder = Folder::new();
    let derive = ["visibility", "two-lock-queue", "--programs", "40"];
    let whole = in_each_format(&folder, &derive);
    // More parts than methods deal the schemas of each.
    for of in [2, 7] {
        let files = shards(&folder, &derive, of);
        let visits = |name: &String| {
            let document: serde_json::Value = serde_json::from_str(&folder.read(name)).expect("JSON");
            document["visits"].as_array().expect("visits").len()
        };
        assert!(files.iter().filter(|name| visits(name) > 0).count() > 1, "the work is dealt");
        for (format, whole) in &whole {
            let merged = merge(&folder, &files, &["--format", format]);
            assert!(merged.out == whole.out, "{format} of {of} differs:\n{}\n{}", merged.out, whole.out);
            assert_eq!(merged.code, whole.code, "{}{}", merged.err, whole.err);
        }
        let twice = [&files[..], &files[..1]].concat();
        assert_eq!(merge(&folder, &twice, &[]).out, whole[0].1.out, "a shard that is given twice counts once");
    }
    let files = shards(&folder, &derive, 2);
    refused(&merge(&folder, &files[1..], &[]), "shard 1 of 2 is missing");
    let with = |more: &[&str]| folder.run(&[&derive[..], &["--shard", "1/2"], more].concat());
    refused(&with(&["--html", "a.html"]), "--html is for a whole search: give it to 'interloper merge'");
    let time = "--shard does not go with --time: all schemas of a part must run; use --programs";
    refused(&with(&["--time", "1"]), time);
    let stress = "--shard does not go with real threads, which do not show twice what refutes a level";
    refused(&with(&["--engine", "stress"]), stress);
}

#[test]
fn the_merged_comparison_is_the_comparison_byte_for_byte() {
    let folder = Folder::new();
    let compare = ["compare", "--executions", "30"];
    let files = shards(&folder, &compare, 3);
    for (format, whole) in in_each_format(&folder, &compare) {
        let merged = merge(&folder, &files, &["--format", format]);
        assert!(merged.out == whole.out, "{format} differs:\n{}\n{}", merged.out, whole.out);
        assert_eq!((merged.code, whole.code), (Some(0), Some(0)), "{}", merged.err);
    }
    refused(&merge(&folder, &files[..2], &[]), "shard 3 of 3 is missing");
    // Each violation has a page under each adversary that has found it, of the merge as of the whole.
    let whole = folder.run(&[&compare[..], &["--format", "json", "--html", "whole.html"]].concat());
    let table: serde_json::Value = serde_json::from_str(&whole.out).expect("JSON");
    let cases = table["cases"].as_array().expect("cases");
    let found =
        |case: &serde_json::Value| ["naive", "nearest", "preceding"].iter().filter(|by| case[**by].is_u64()).count();
    let found: usize = cases.iter().map(found).sum();
    assert!(found > cases.len(), "{found}");
    assert_eq!(merge(&folder, &files, &["--html", "merged.html"]).code, Some(0));
    for number in 1..=found {
        let name = |which: &str| if number == 1 { format!("{which}.html") } else { format!("{which}-{number}.html") };
        // But for the names of the files, to which the pages have links.
        let whole = folder.read(&name("whole")).replace("\"./whole", "\"./merged");
        assert!(whole == folder.read(&name("merged")), "page {number} differs");
    }
    assert!(!folder.has(&format!("whole-{}.html", found + 1)));
    let first = data(&folder.read("whole-2.html"));
    assert!(first.name.ends_with(" adversary") && first.steps.len() > 1, "{first:?}");
    // What belongs to another command is refused.
    let other = folder.run(&["compare", "--executions", "31", "--shard", "3/3"]);
    folder.write("other.json", &other.out);
    let reason = "1-of-3.json and other.json belong to different searches: --seed 42 --executions 30, and --seed 42 \
                  --executions 31";
    refused(&merge(&folder, &[files[0].clone(), "other.json".to_owned()], &[]), reason);
}

/// On real threads no process repeats what another one has seen: the merge shows what the parts have seen, as often as it is asked.
/// The report of the object's atomic method is made of them alone.
#[test]
fn the_parts_of_a_hunt_on_real_threads_are_its_report() {
    let folder = Folder::new();
    let hunt = ["hunt", "two-lock-queue", "--method", "put", "--engine", "stress", "--programs", "6"];
    let files = shards(&folder, &hunt, 3);
    let visits = |name: &String| {
        let document: serde_json::Value = serde_json::from_str(&folder.read(name)).expect("JSON");
        document["visits"].as_array().expect("visits").clone()
    };
    let executions: u64 =
        files.iter().flat_map(visits).map(|visit| visit["executions"].as_u64().expect("a number")).sum();
    let merged = merge(&folder, &files, &["--format", "json"]);
    assert_eq!(merged.code, Some(0), "{}{}", merged.out, merged.err);
    let document: serde_json::Value = serde_json::from_str(&merged.out).expect("JSON");
    assert_eq!(
        (&document["methods"][0]["schemas"], &document["methods"][0]["executions"]),
        (&6.into(), &executions.into())
    );
    assert_eq!(merge(&folder, &files, &["--format", "json"]).out, merged.out);
    refused(&merge(&folder, &files[..2], &[]), "shard 3 of 3 is missing");
    // Kept, and continued: nothing is left to run.
    let kept = [&hunt[..], &["--state", "kept", "--format", "json"]].concat();
    let first = folder.run(&kept);
    assert_eq!((first.code, folder.run(&kept).out), (Some(0), first.out));
}

#[test]
fn hunts_that_cannot_be_split_and_foreign_parts_are_refused() {
    let folder = Folder::new();
    let files = shards(&folder, &HUNT, 2);
    refused(&merge(&folder, &files[..1], &[]), "shard 2 of 2 is missing");
    let other = folder.run(&["hunt", "two-lock-queue", "--programs", "41", "--shard", "2/2"]);
    folder.write("other.json", &other.out);
    let reason = "1-of-2.json and other.json belong to different searches: hunt two-lock-queue --programs 40, and hunt \
                  two-lock-queue --programs 41";
    refused(&merge(&folder, &[files[0].clone(), "other.json".to_owned()], &[]), reason);
    let with = |more: &[&str]| folder.run(&[&HUNT[..2], more].concat());
    let schema = "does not go with --schema: one schema is not split";
    refused(&with(&["--schema", "{ add(0) }", "--shard", "1/2"]), &format!("--shard {schema}"));
    refused(
        &with(&["--html", "a.html", "--shard", "1/2"]),
        "--html is for a whole search: give it to 'interloper merge'",
    );
    let time = "--shard does not go with --time: all schemas of a part must run; use --programs";
    refused(&with(&["--time", "1", "--shard", "1/2"]), time);
}

/// A part of a hunt continues what was begun.
#[test]
fn a_part_of_a_hunt_is_continued() {
    let folder = Folder::new();
    let part = [&HUNT[..], &["--shard", "1/2"]].concat();
    let kept = [&part[..], &["--state", "kept"]].concat();
    let whole = folder.run(&part);
    assert_eq!(folder.run(&kept).out, whole.out);
    let journal = "kept/hunt-two-lock-queue.1-of-2.jsonl";
    let lines = folder.read(journal);
    let lines: Vec<&str> = lines.split_inclusive('\n').collect();
    assert!(lines.len() > 4, "{lines:?}");
    folder.write(journal, &lines[..lines.len() / 2].concat());
    let again = folder.run(&kept);
    assert_eq!(again.out, whole.out);
    assert!(again.err.starts_with("two-lock-queue: continues after "), "{}", again.err);
}

/// More parts than methods deal the schemas of each. With one folder they tell each other what they find: the result is the same, and they
/// run less together than without.
#[test]
fn parts_of_a_hunt_that_tell_each_other_give_the_same() {
    let folder = Folder::new();
    let hunt = ["hunt", "striped-map", "--method", "size", "--programs", "200"];
    let whole = folder.run(&hunt);
    assert_eq!(whole.code, Some(1), "{}", whole.err);
    let executions = |name: &String| -> u64 {
        let document: serde_json::Value = serde_json::from_str(&folder.read(name)).expect("JSON");
        let visits = document["visits"].as_array().expect("visits").iter();
        visits.map(|visit| visit["executions"].as_u64().expect("a number")).sum()
    };
    for of in [2, 5] {
        let files = shards(&folder, &hunt, of);
        let apart: u64 = files.iter().map(executions).sum();
        assert_eq!(merge(&folder, &files, &[]).out, whole.out);
        let state = format!("told-{of}");
        let files = shards(&folder, &[&hunt[..], &["--state", &state]].concat(), of);
        let together: u64 = files.iter().map(executions).sum();
        let merged = merge(&folder, &files, &[]);
        assert_eq!((&merged.out, merged.code), (&whole.out, whole.code), "{}", merged.err);
        assert!(together < apart, "{together} and {apart}");
    }
}
