//! Searches that are continued in another process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use interloper_report::sealed;

use super::{Folder, SUITE, bad, good, suite};

/// A program of the suite without a bug.
const NAME: &str = "arc-drop-fenced";

fn begin(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary was built")
}

/// Waits until the folder has the progress of the search.
fn wait_for_progress(folder: &Folder, name: &str) {
    let begun = Instant::now();
    while !folder.has(name) {
        assert!(begun.elapsed() < Duration::from_secs(120), "no progress was kept");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_search_that_is_killed_again_and_again_comes_to_the_same_end() {
    let folder = Folder::new();
    for strategy in ["pos", "portfolio"] {
        let run = ["run", NAME, "--executions", "300000", "--jobs", "2", "--strategy", strategy];
        let whole = folder.run(&run);
        assert_eq!(whole.code, Some(0), "{}", whole.err);
        let kept = [&run[..], &["--state", strategy]].concat();
        let document = format!("{strategy}/{NAME}.json");
        let (mut kills, mut done) = (0, 0);
        let chunks = || {
            // Whole at every moment.
            let progress: serde_json::Value = serde_json::from_str(&folder.read(&document)).expect("JSON");
            progress["progress"]["next"].as_u64().expect("a number")
        };
        for (number, milliseconds) in [40, 0, 300, 20].into_iter().enumerate() {
            let mut child = begin(&folder, &kept);
            let is_over = |child: &mut Child| child.try_wait().expect("a child").is_some();
            // The first one may be killed before it has kept anything, the others go on for some time.
            while number > 0 && (!folder.has(&document) || chunks() == done) && !is_over(&mut child) {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(milliseconds));
            kills += u32::from(!is_over(&mut child));
            child.kill().expect("it is a child of this process");
            child.wait().expect("it was killed");
            if folder.has(&document) {
                let now = chunks();
                assert!(now >= done, "{now} after {done}");
                done = now;
            }
        }
        assert!(kills > 1 && done > 0, "the search is too short to be killed");
        let end = folder.run(&kept);
        assert!(end.out == whole.out, "{strategy} differs:\n{}\n{}", end.out, whole.out);
        // Nothing is left to run.
        let again = folder.run(&kept);
        assert_eq!((again.out, again.code), (whole.out, whole.code));
        assert!(again.err.starts_with(&format!("{NAME}: continues after 300,000 executions\n")), "{}", again.err);
    }
}

#[test]
fn a_search_that_tries_everything_goes_on_after_its_time() {
    // 3,150 executions and 8,792.
    for (strategy, executions) in [("exhaustive", "3,150"), ("preemptions:3", "8,792")] {
        let folder = Folder::new();
        let run = ["run", "array-list-both-locks", "--executions", "10000", "--strategy", strategy];
        let whole = folder.run(&run);
        assert_eq!(whole.code, Some(0), "{}", whole.err);
        let kept = [&run[..], &["--state", "kept"]].concat();
        let cut = folder.run(&[&kept[..], &["--time", "0.05"]].concat());
        assert_ne!(cut.out, whole.out, "the machine is too fast for this test");
        let progress: serde_json::Value =
            serde_json::from_str(&folder.read("kept/array-list-both-locks.json")).expect("JSON");
        assert!(progress["progress"]["underway"]["part"]["executions"].as_u64().is_some_and(|made| made > 0));
        let end = folder.run(&kept);
        assert!(end.err.starts_with("array-list-both-locks: continues after "), "{}", end.err);
        assert!(end.out == whole.out, "{strategy} differs:\n{}\n{}", end.out, whole.out);
        let again = folder.run(&kept);
        assert_eq!((again.out, again.code), (whole.out, whole.code));
        let note = format!("array-list-both-locks: continues after {executions} executions\n");
        assert!(again.err.starts_with(&note), "{}", again.err);
    }
}

/// A composed operation that is atomic, and takes some seconds to search.
const CASE: &str = "memoize-read-then-recheck";

/// How many executions of a composed operation are kept.
fn of_case(folder: &Folder, document: &str) -> u64 {
    if !folder.has(document) {
        return 0;
    }
    let progress: serde_json::Value = serde_json::from_str(&folder.read(document)).expect("JSON");
    let searches = progress["progress"]["searches"].as_array().expect("searches").iter();
    searches.map(|search| search[0].as_u64().expect("a number")).sum()
}

#[test]
fn a_composed_operation_that_is_killed_again_and_again_comes_to_the_same_end() {
    let folder = Folder::new();
    let run = ["run", CASE, "--bound", "4"];
    let whole = folder.run(&run);
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    let kept = [&run[..], &["--state", "kept"]].concat();
    let document = format!("kept/{CASE}.json");
    let (mut kills, mut done) = (0, 0);
    for milliseconds in [40, 0, 200, 20] {
        let mut child = begin(&folder, &kept);
        let is_over = |child: &mut Child| child.try_wait().expect("a child").is_some();
        while of_case(&folder, &document) == done && !is_over(&mut child) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let refused = folder.run(&kept);
        if !is_over(&mut child) {
            let reason = "error: kept is in use by another process; wait for its end, or name another folder\n";
            assert_eq!((refused.code, refused.err.as_str()), (Some(2), reason));
        }
        std::thread::sleep(Duration::from_millis(milliseconds));
        kills += u32::from(!is_over(&mut child));
        child.kill().expect("it is a child of this process");
        child.wait().expect("it was killed");
        let now = of_case(&folder, &document);
        assert!(now >= done, "{now} after {done}");
        done = now;
    }
    assert!(kills > 0 && done > 0, "the search is too short to be killed");
    let end = folder.run(&kept);
    assert!(end.out == whole.out, "differs:\n{}\n{}", end.out, whole.out);
    assert!(end.err.starts_with(&format!("{CASE}: continues after ")), "{}", end.err);
    let again = folder.run(&kept);
    assert_eq!((again.out, again.code), (whole.out, whole.code));
    assert!(again.err.starts_with(&format!("{CASE}: continues after 351,395 executions\n")), "{}", again.err);
    // Another search is refused.
    let other = folder.run(&["run", CASE, "--bound", "3", "--state", "kept"]);
    let was = "--seed 42 --bound 4, and --seed 42 --bound 3; name another folder";
    let reason = format!("error: {document}: the progress of another search: {was}\n");
    assert_eq!((other.code, other.out.as_str(), other.err), (Some(2), "", reason));
}

/// Cut by time, also at random, where there is a violation, and in a closed environment.
#[test]
fn a_composed_operation_goes_on_after_its_time() {
    for arguments in [
        &["run", CASE, "--bound", "4"][..],
        &["run", good(), "--adversary", "naive", "--executions", "20000"],
        &["run", bad(), "optimistic-column"],
        &["run", "--environment", "closed", CASE, "--executions", "5000"],
    ] {
        let folder = Folder::new();
        let whole = folder.run(arguments);
        let kept = [arguments, &["--state", "kept"]].concat();
        for time in ["0.02", "0.1"] {
            folder.run(&[&kept[..], &["--time", time]].concat());
        }
        let end = folder.run(&kept);
        assert!(end.out == whole.out, "{arguments:?} differs:\n{}\n{}", end.out, whole.out);
        assert_eq!(end.code, whole.code, "{}", end.err);
    }
}

/// Where a file has the progress of another program, the search begins anew, and says why.
#[test]
fn progress_that_does_not_fit_begins_anew_and_says_so() {
    let folder = Folder::new();
    let run = ["run", "array-list-both-locks", "--strategy", "exhaustive", "--executions", "10000"];
    let kept = [&run[..], &["--state", "kept"]].concat();
    let whole = folder.run(&run);
    folder.run(&[&kept[..], &["--time", "0.05"]].concat());
    let document = "kept/array-list-both-locks.json";
    let text = sealed::open(&folder.read(document)).expect("a sealed document");
    let (before, after) = text.split_once("\"strategy\":[").expect("what the strategy keeps");
    // Another version of what the strategy keeps.
    folder.write(document, &sealed::seal(&format!("{before}\"strategy\":[9{after}")));
    let end = folder.run(&kept);
    assert!(end.out == whole.out, "differs:\n{}\n{}", end.out, whole.out);
    let note = end.err.lines().next().expect("a note");
    assert!(note.starts_with(&format!("array-list-both-locks: begins anew: what {document} has after ")), "{note}");
    assert!(note.ends_with("does not fit this search") && !end.err.contains("continues after"), "{}", end.err);
}

fn is_verdict(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".verdict.json")
}

/// The suite keeps each verdict, and is killed at several moments.
#[test]
fn a_suite_that_is_killed_again_and_again_comes_to_the_same_end() {
    let folder = Folder::new();
    let whole = suite("text");
    let kept = [&SUITE[..], &["--state", "kept"]].concat();
    let verdicts = || {
        let files = std::fs::read_dir(folder.0.join("kept"));
        files.map_or(0, |files| files.filter(|file| is_verdict(&file.as_ref().expect("a file").path())).count())
    };
    let (mut kills, mut done) = (0, 0);
    for more in [3, 20, 40] {
        let mut child = begin(&folder, &kept);
        let is_over = |child: &mut Child| child.try_wait().expect("a child").is_some();
        while verdicts() < done + more && !is_over(&mut child) {
            std::thread::sleep(Duration::from_millis(2));
        }
        kills += u32::from(!is_over(&mut child));
        child.kill().expect("it is a child of this process");
        child.wait().expect("it was killed");
        done = verdicts();
    }
    assert!(kills > 1 && done > 20, "the suite is too short to be killed: {kills} {done}");
    let other = folder.run(&["--seed", "43", "--executions", "60", "--state", "kept"]);
    assert_eq!((other.code, other.out.as_str(), other.err.lines().count()), (Some(2), "", 1), "{}", other.err);
    assert!(other.err.contains("the progress of another search: --seed 42"), "{}", other.err);
    let end = folder.run(&kept);
    assert!(end.out == whole.out, "differs:\n{}\n{}", end.out, whole.out);
    assert_eq!(end.code, whole.code, "{}", end.err);
    // Then nothing is left to check, in each format.
    for format in ["json", "sarif"] {
        let again = folder.run(&[&kept[..], &["--format", format]].concat());
        let whole = suite(format);
        assert!(again.out == whole.out && again.code == whole.code, "{format} differs:\n{}\n{}", again.out, whole.out);
    }
    // With a limit on the time no further verdict is kept.
    let limited = Folder::new();
    limited.run(&[&SUITE[..], &["--time", "10", "--state", "kept"]].concat());
    let files = std::fs::read_dir(limited.0.join("kept")).expect("a folder");
    assert!(files.into_iter().all(|file| !is_verdict(&file.expect("a file").path())));
    // Parts of the suite have verdicts of their own.
    let part = |state: &[&str]| folder.run(&[&SUITE[..], &["--shard", "1/3"], state].concat());
    let own = part(&["--state", "parts"]);
    assert_eq!((part(&[]).out, part(&["--state", "parts"]).out), (own.out.clone(), own.out));
}

/// The processor time of a process so far, in seconds. It stands still where the machine is busy with something else.
#[cfg(target_os = "linux")]
fn processor_time(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("a process that was not waited for");
    let (_, fields) = stat.rsplit_once(')').expect("the name of the process is in parentheses");
    let ticks = |field: usize| fields.split_whitespace().nth(field).and_then(|ticks| ticks.parse().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// A process that is killed at any moment loses less than a second of its work, measured in its own processor time: what it has
/// counted and not kept, as a share of all that it has counted.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_killed_loses_less_than_a_second() {
    for seconds in [0.3, 0.9, 1.3, 1.9] {
        let folder = Folder::new();
        let run = ["run", NAME, "--executions", "100000000", "--jobs", "1", "--state", "kept", "--progress", "json"];
        let mut command = folder.command(&run);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary was built");
        let mut counted = 0;
        for line in BufReader::new(child.stderr.take().expect("a pipe")).lines() {
            let event: serde_json::Value = serde_json::from_str(&line.expect("text")).expect("JSON");
            counted = event["executions"].as_u64().unwrap_or(counted);
            if processor_time(child.id()) > seconds {
                break;
            }
        }
        child.kill().expect("it is a child of this process");
        let took = processor_time(child.id());
        child.wait().expect("it was killed");
        let document = format!("kept/{NAME}.json");
        let kept = match folder.has(&document) {
            true => {
                let document: serde_json::Value = serde_json::from_str(&folder.read(&document)).expect("JSON");
                document["progress"]["joined"]["executions"].as_u64().expect("a number")
            }
            false => 0,
        };
        assert!(counted > 0, "nothing was counted in {took} s");
        let lost = took * counted.saturating_sub(kept) as f64 / counted as f64;
        assert!(lost < 1.0, "{lost:.2} s of {took:.2} s: kept {kept} of {counted} executions");
    }
}

#[test]
fn a_folder_is_for_one_process_and_one_search() {
    let folder = Folder::new();
    let run = ["run", NAME, "--state", "kept", "--strategy", "pos"];
    let long = [&run[..], &["--executions", "100000000"]].concat();
    let mut child = begin(&folder, &long);
    wait_for_progress(&folder, &format!("kept/{NAME}.json"));
    let refused = |arguments: &[&str], reason: &str| {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.out.as_str(), ran.err), (Some(2), "", format!("error: {reason}\n")));
    };
    refused(&long, "kept is in use by another process; wait for its end, or name another folder");
    child.kill().expect("it is a child of this process");
    child.wait().expect("it was killed");
    let document = format!("kept/{NAME}.json");
    let other = |given: &str| {
        let was = "--seed 42 --executions 100000000 --strategy pos";
        format!("{document}: the progress of another search: {was}, and {given}; name another folder")
    };
    refused(&run, &other("--seed 42 --strategy pos"));
    let seed = [&long[..], &["--seed", "1"]].concat();
    refused(&seed, &other("--seed 1 --executions 100000000 --strategy pos"));
    // Another limit on the time is the same search.
    let limited = folder.run(&[&long[..], &["--time", "0.2"]].concat());
    assert!(limited.out.contains("the time ran out during the search"), "{}{}", limited.out, limited.err);
    let text = folder.read(&document);
    let edited = text.replacen("\"executions\":", "\"executions\":1", 1);
    for damaged in ["", "{", "{\"version\": 3}", "[]", &text[..text.len() / 2], &edited] {
        folder.write(&document, damaged);
        let ran = folder.run(&long);
        assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{}", ran.err);
        assert!(ran.err.starts_with(&format!("error: {document}: not the progress of a search: ")), "{}", ran.err);
    }
    for version in [2, 4] {
        folder.write(&document, &format!("{{\"version\": {version}}}"));
        let reason = format!("written by another interloper (version {version}, this one reads version 3)");
        refused(&long, &format!("{document}: {reason}"));
    }
    folder.write(&document, &text);
    let intact = folder.run(&[&long[..], &["--time", "0.2"]].concat());
    assert!(intact.err.starts_with(&format!("{NAME}: continues after ")), "{}", intact.err);
    refused(&["--state", "kept", "run", NAME], "before a command, --state means nothing: give it after the command");
    let several = "--state is for a shard of one search, and for a whole search";
    refused(&["run", NAME, bad(), "--state", "kept", "--shard", "1/2"], several);
}

#[test]
fn a_hunt_that_is_killed_again_and_again_comes_to_the_same_end() {
    let folder = Folder::new();
    let hunt = ["hunt", "list-set", "--programs", "60"];
    let whole = folder.run(&hunt);
    assert_eq!(whole.code, Some(1), "{}", whole.err);
    let kept = [&hunt[..], &["--state", "kept"]].concat();
    let visits = "kept/hunt-list-set.jsonl";
    let (mut kills, mut done) = (0, 0);
    for milliseconds in [60, 350, 200, 400] {
        let mut child = begin(&folder, &kept);
        if done == 0 {
            wait_for_progress(&folder, visits);
            let refused = folder.run(&kept);
            let reason = "error: kept is in use by another process; wait for its end, or name another folder\n";
            assert_eq!((refused.code, refused.err.as_str()), (Some(2), reason));
        }
        std::thread::sleep(Duration::from_millis(milliseconds));
        kills += u32::from(child.try_wait().expect("a child").is_none());
        child.kill().expect("it is a child of this process");
        child.wait().expect("it was killed");
        // Never less than before.
        let now = if folder.has(visits) { folder.read(visits).lines().count() } else { 0 };
        assert!(now >= done, "{now} after {done}");
        done = now;
    }
    assert!(kills > 1 && done > 1, "the search is too short to be killed");
    let end = folder.run(&kept);
    assert!(end.out == whole.out, "differs:\n{}\n{}", end.out, whole.out);
    // What is kept does not run again. A limit on the time is no other search.
    let again = folder.run(&[&kept[..], &["--time", "1000"]].concat());
    assert_eq!((again.out, again.code), (whole.out, whole.code));
    assert!(again.err.starts_with("list-set: continues after "), "{}", again.err);
    let other = folder.run(&["hunt", "list-set", "--programs", "61", "--state", "kept"]);
    assert_eq!((other.code, other.err.lines().count()), (Some(2), 1), "{}", other.err);
    assert!(other.err.contains("the progress of another search: hunt list-set --programs 60"), "{}", other.err);
}

/// The number of the last schema that ran, and how many of its executions the folder has. Whole at every moment.
fn of_running(folder: &Folder, name: &str) -> (u64, u64) {
    let kept: serde_json::Value = serde_json::from_str(&folder.read(name)).expect("JSON");
    let running = &kept["running"];
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    (number(&running["schema"]), number(&running["partial"]["executions"]))
}

/// Three schemas with seconds of executions each: a process that is killed within one goes on there, and the report is the one of a
/// hunt that was never killed.
#[test]
fn a_hunt_that_is_killed_within_a_schema_goes_on_there() {
    let folder = Folder::new();
    let search = ["--programs", "3", "--executions", "300000", "--strategy", "pos"];
    let hunt = [&["hunt", "list-set", "--method", "first"], &search[..]].concat();
    let whole = folder.run(&hunt);
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    let kept = [&hunt[..], &["--state", "kept"]].concat();
    let running = "kept/hunt-list-set.running.json";
    let progress = || folder.has(running).then(|| of_running(&folder, running));
    let mut kills = 0;
    for _ in 0..4 {
        let before = progress();
        let mut child = begin(&folder, &kept);
        let is_over = |child: &mut Child| child.try_wait().expect("a child").is_some();
        while progress() == before && !is_over(&mut child) {
            std::thread::sleep(Duration::from_millis(10));
        }
        if before.is_none() {
            let refused = folder.run(&kept);
            let reason = "error: kept is in use by another process; wait for its end, or name another folder\n";
            assert_eq!((refused.code, refused.err.as_str()), (Some(2), reason));
        }
        kills += u32::from(!is_over(&mut child));
        child.kill().expect("it is a child of this process");
        child.wait().expect("it was killed");
        let now = progress();
        assert!(now > before, "{now:?} after {before:?}");
    }
    assert!(kills > 2, "the schemas are too short to be killed within");
    let executions = progress().map_or(0, |(_, executions)| executions);
    assert!(executions > 0 && executions < 300_000, "{executions}");
    let end = folder.run(&kept);
    assert!(end.out == whole.out, "differs:\n{}\n{}", end.out, whole.out);
    let again = folder.run(&kept);
    assert_eq!((again.out, again.code), (whole.out, whole.code));
    assert_eq!(again.err.lines().next(), Some("list-set: continues after 900,000 executions"), "{}", again.err);
    // An edited file is refused, and so is that of another search.
    let text = folder.read(running);
    folder.write(running, &text.replacen("\"executions\":", "\"executions\":1", 1));
    let edited = folder.run(&kept);
    assert_eq!((edited.code, edited.err.lines().count()), (Some(2), 1), "{}", edited.err);
    assert!(edited.err.starts_with(&format!("error: {running}: not the progress of a hunt: ")), "{}", edited.err);
    // Without it, its schema begins anew.
    std::fs::remove_file(folder.0.join(running)).expect("a file");
    assert_eq!(folder.run(&kept).out, end.out);
}

/// A deadline cuts a schema, and the next process goes on within it.
#[test]
fn a_hunt_that_ran_out_of_time_within_a_schema_goes_on_there() {
    let folder = Folder::new();
    let hunt =
        ["hunt", "list-set", "--method", "first", "--programs", "1", "--executions", "600000", "--strategy", "pos"];
    let whole = folder.run(&hunt);
    let cut = [&hunt[..], &["--state", "kept", "--time", "0.2"]].concat();
    let running = "kept/hunt-list-set.running.json";
    let mut done = (0, 0);
    for _ in 0..2 {
        let ran = folder.run(&cut);
        assert!(ran.out.contains("the time ran out"), "{}{}", ran.out, ran.err);
        let now = of_running(&folder, running);
        assert!(now > done, "{now:?} after {done:?}");
        done = now;
    }
    assert_eq!(folder.run(&[&hunt[..], &["--state", "kept"]].concat()).out, whole.out);
}

/// The schema that runs is kept so often that a process that is killed loses less than a second of its processor time.
#[cfg(target_os = "linux")]
#[test]
fn a_schema_is_kept_within_a_second() {
    let folder = Folder::new();
    let search = ["--programs", "1", "--executions", "100000000", "--strategy", "pos", "--state", "kept"];
    let mut child = begin(&folder, &[&["hunt", "list-set", "--method", "first"], &search[..]].concat());
    let running = "kept/hunt-list-set.running.json";
    let (mut last, mut done) = (0.0, 0);
    while last < 3.0 {
        std::thread::sleep(Duration::from_millis(10));
        let now = processor_time(child.id());
        assert!(now - last < 1.0, "nothing was kept from {last} s to {now} s");
        let executions = if folder.has(running) { of_running(&folder, running).1 } else { 0 };
        if executions > done {
            (last, done) = (now, executions);
        }
    }
    child.kill().expect("it is a child of this process");
    child.wait().expect("it was killed");
}

/// What was kept is that of one build: another one may run something else under the same name. A copy of the binary is the same build,
/// and one more byte at its end is another one.
#[test]
fn progress_is_that_of_one_build() {
    let folder = Folder::new();
    let hunt = ["hunt", "list-set", "--programs", "6", "--state", "kept"];
    let run = ["run", NAME, "--executions", "2000", "--strategy", "pos", "--state", "kept"];
    const WRONG: &str = "arc-drop-unfenced";
    let part = ["run", WRONG, "--strategy", "pos", "--shard", "1/2", "--state", "told"];
    let whole = [&hunt[..], &run, &part].map(|arguments| folder.run(arguments));
    assert!(folder.has(&format!("told/{}.found-of-2", WRONG)), "{}", whole[2].err);
    let bytes = std::fs::read(env!("CARGO_BIN_EXE_interloper")).expect("the binary");
    let build = |name: &str, bytes: &[u8]| {
        let path = folder.0.join(name);
        std::fs::copy(env!("CARGO_BIN_EXE_interloper"), &path).expect("an executable copy");
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    let other = build("other", &[&bytes[..], b"\n"].concat());
    let progress = "the progress of another build of the program, which may do something else; name another folder";
    let found = "what the parts found that another build of the program ran; name another folder";
    let files = [
        ("kept/hunt-list-set.jsonl".to_owned(), progress),
        (format!("kept/{NAME}.json"), progress),
        (format!("told/{}.1-of-2.json", WRONG), progress),
    ];
    for (arguments, (file, reason)) in [&hunt[..], &run, &part].into_iter().zip(files) {
        let before = folder.read(&file);
        let refused = Folder::ran(&mut folder.command_of(&other, arguments));
        let expected = (Some(2), "", format!("error: {file}: {reason}\n"));
        assert_eq!((refused.code, refused.out.as_str(), refused.err), expected);
        assert_eq!(folder.read(&file), before, "the file stays as it was");
    }
    // What other parts have found is that of one build, too.
    std::fs::remove_file(folder.0.join(format!("told/{}.1-of-2.json", WRONG))).expect("a file");
    let refused = Folder::ran(&mut folder.command_of(&other, &part));
    assert_eq!(refused.err, format!("error: told/{}.found-of-2: {found}\n", WRONG));
    let same = build("same", &bytes);
    for (arguments, whole) in [&hunt[..], &run, &part].into_iter().zip(&whole) {
        let again = Folder::ran(&mut folder.command_of(&same, arguments));
        assert_eq!((&again.out, again.code), (&whole.out, whole.code), "{}", again.err);
    }
}
