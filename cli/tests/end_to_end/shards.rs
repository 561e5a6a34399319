//! Shards, and the report that is joined from them.

mod objects;

use interloper_report::sealed;

use super::{FORMATS, Folder, Ran, SUITE, bad, good, suite};

/// Runs all shards of a command, each into a file of its own. Gives the names of the files.
fn shards(folder: &Folder, arguments: &[&str], of: u32) -> Vec<String> {
    let shard = |number: u32| {
        let (shard, name) = (format!("{number}/{of}"), format!("{number}-of-{of}.json"));
        let ran = folder.run(&[arguments, &["--shard", &shard]].concat());
        assert!(matches!(ran.code, Some(0..=2)), "{}", ran.err);
        folder.write(&name, &ran.out);
        name
    };
    (1..=of).map(shard).collect()
}

/// A document in which something is replaced, with the checksum of what it says then.
fn edited(text: &str, from: &str, to: &str) -> String {
    let opened = sealed::open(text).expect("a sealed document");
    assert!(opened.contains(from), "{opened}");
    sealed::seal(&opened.replacen(from, to, 1))
}

fn merge(folder: &Folder, files: &[String], more: &[&str]) -> Ran {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    folder.run(&[&["merge"], &files[..], more].concat())
}

#[track_caller]
fn refused(ran: &Ran, reason: &str) {
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(2), "", format!("error: {reason}\n").as_str()));
}

#[test]
fn the_merged_suite_is_the_suite_byte_for_byte() {
    let folder = Folder::new();
    let files = shards(&folder, &SUITE, 3);
    for format in FORMATS {
        let whole = suite(format);
        let merged = merge(&folder, &files, &["--format", format]);
        assert!(merged.out == whole.out, "{format} differs:\n{}\n{}", merged.out, whole.out);
        assert_eq!(merged.code, whole.code, "{}", merged.err);
    }
    // In any order, and each of them as often as it likes.
    let shuffled = ["3-of-3.json", "1-of-3.json", "3-of-3.json", "2-of-3.json"].map(str::to_owned);
    assert_eq!(merge(&folder, &shuffled, &[]).out, suite("text").out);
}

/// With more shards than entries, too: then some have nothing to do.
#[test]
fn the_merged_run_is_the_run_byte_for_byte() {
    let folder = Folder::new();
    let run = ["run", bad(), "arc-drop-unfenced", good(), "arc-drop-fenced", "--seed", "7"];
    for of in [1, 2, 5] {
        let files = shards(&folder, &run, of);
        for format in FORMATS {
            let whole = folder.run(&[&run[..], &["--format", format]].concat());
            let merged = merge(&folder, &files, &["--format", format]);
            assert!(merged.out == whole.out, "{format} of {of} differs:\n{}\n{}", merged.out, whole.out);
            assert_eq!((merged.code, whole.code), (Some(0), Some(0)), "{}{}", merged.err, whole.err);
        }
    }
}

/// Shards ran elsewhere: the merge writes the replay files that the report names.
#[test]
fn what_a_merged_report_names_can_be_replayed() {
    let (elsewhere, here) = (Folder::new(), Folder::new());
    let files = shards(&elsewhere, &["run", bad(), good()], 2);
    files.iter().for_each(|name| here.write(name, &elsewhere.read(name)));
    assert_eq!(merge(&here, &files, &[]).code, Some(0));
    let replay = format!("interloper-failures/{}-42.json", bad());
    assert_eq!(here.read(&replay), elsewhere.read(&replay));
    assert_eq!(here.run(&["replay", &replay]).code, Some(0));
}

#[test]
fn missing_and_foreign_shards_are_refused() {
    let folder = Folder::new();
    let run = ["run", bad(), good(), "--executions", "50"];
    let files = shards(&folder, &run, 4);
    refused(&merge(&folder, &files[..3], &[]), "shard 4 of 4 is missing");
    refused(&merge(&folder, &files[1..2], &[]), "shards 1, 3, 4 of 4 are missing");
    let other = |name: &str, arguments: &[&str]| folder.write(name, &folder.run(arguments).out);
    let name = "other.json".to_owned();
    let with = |reason: &str| {
        let reason = format!("1-of-4.json and other.json belong to different searches: {reason}");
        refused(&merge(&folder, &[files[0].clone(), name.clone()], &[]), &reason);
    };
    other(&name, &["run", bad(), good(), "--executions", "50", "--seed", "43", "--shard", "2/4"]);
    with("--seed 42 --executions 50, and --seed 43 --executions 50");
    other(&name, &["run", bad(), good(), "--executions", "50", "--time", "9.5", "--shard", "2/4"]);
    with("no --time, and --time 9.5");
    other(&name, &["run", good(), bad(), "--executions", "50", "--shard", "2/4"]);
    with(&format!("run {} {}, and run {} {}", bad(), good(), good(), bad()));
    other(&name, &["run", bad(), good(), "--executions", "50", "--shard", "2/3"]);
    with("shard 1/4, and 2/3");
    folder.write(&name, &edited(&folder.read(&files[1]), "\"tool\": \"", "\"tool\": \"9."));
    let ran = merge(&folder, &[files[0].clone(), name.clone()], &[]);
    assert!(ran.err.contains("belong to different searches: version ") && ran.err.lines().count() == 1, "{}", ran.err);
}

#[test]
fn a_damaged_shard_is_refused_in_one_line() {
    let folder = Folder::new();
    let run = ["run", bad(), good(), "--executions", "50"];
    let files = shards(&folder, &run, 2);
    let text = folder.read(&files[0]);
    let damaged = |text: &str| {
        folder.write("damaged.json", text);
        let ran = merge(&folder, &["damaged.json".to_owned(), files[1].clone()], &[]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (Some(2), "", 1), "{}", ran.err);
        ran.err
    };
    for wrong in
        ["", "{}", "[]", &text[..text.len() / 2], "\u{0}", &folder.run(&[&run[..], &["--format", "json"]].concat()).out]
    {
        assert!(damaged(wrong).starts_with("error: damaged.json: not the result of a shard: "), "{wrong}");
    }
    // The first version had no checksum.
    let old = sealed::open(&text).expect("a sealed document").replacen("\"version\": 5", "\"version\": 1", 1);
    for (number, text) in [(1, old), (6, edited(&text, "\"version\": 5", "\"version\": 6"))] {
        let reason = format!("written by another interloper (version {number}, this one reads version 5)");
        assert_eq!(damaged(&text), format!("error: damaged.json: {reason}\n"));
    }
    // A digit, a letter, a space.
    for (from, to) in
        [("\"executions\": ", "\"executions\": 1"), ("--seed 42", "--seed 43"), ("  \"told\"", "   \"told\"")]
    {
        let error = damaged(&text.replacen(from, to, 1));
        let reason = "not the result of a shard: its checksum does not fit: it was torn or edited; run the shard again";
        assert_eq!(error, format!("error: damaged.json: {reason}\n"), "{from}");
    }
    folder.write("damaged.json", &text);
    let intact = merge(&folder, &["damaged.json".to_owned(), files[1].clone()], &[]);
    assert_eq!(intact.out, folder.run(&run).out, "{}", intact.err);
    // The other's entries.
    let foreign = edited(&folder.read(&files[1]), "\"2/2\"", "\"1/2\"");
    assert_eq!(damaged(&foreign), "error: damaged.json: not the result of a shard: other entries\n");
    // The same shard with another result.
    folder.write("again.json", &edited(&text, "\"executions\": ", "\"executions\": 1"));
    let both = merge(&folder, &["again.json".to_owned(), files[0].clone()], &[]);
    refused(&both, "again.json and 1-of-2.json are both shard 1/2, and have different results");
    refused(&merge(&folder, &["no.json".to_owned()], &[]), "no.json: No such file or directory (os error 2)");
    refused(&merge(&folder, &[".".to_owned()], &[]), ".: it is not a file");
}

#[test]
fn a_shard_is_refused_where_it_would_be_ignored() {
    let folder = Folder::new();
    let wrong = "a shard is written I/N, as in 2/4, with I from 1 to N and N from 1 to 65536";
    for value in ["0/4", "5/4", "2", "a/b", "1/65537"] {
        let reason = format!("invalid value '{value}' for '--shard <I/N>': {wrong}");
        refused(&folder.run(&["--shard", value]), &reason);
    }
    for command in ["list", "types", "objects"] {
        refused(&folder.run(&[command, "--shard", "1/2"]), &format!("'{command}' does not use --shard"));
    }
    refused(&folder.run(&["show", bad(), "--shard", "1/2"]), "'show' does not use --shard");
    refused(
        &folder.run(&["--shard", "1/2", "--format", "junit"]),
        "a shard prints a document for 'interloper merge'; give --format to 'merge'",
    );
    refused(
        &folder.run(&["run", bad(), "--html", "x.html", "--shard", "1/2"]),
        "--html is for a whole search: give it to 'interloper merge'",
    );
    refused(&folder.run(&["merge", "x.json", "--seed", "4"]), "'merge' does not use --seed");
}

/// A program whose search finds something late, or nothing.
const PROGRAMS: [&str; 2] = ["arc-drop-relaxed", "arc-drop-fenced"];

/// The executions of one search, split: the finding, and all the counts, are those of one process.
#[test]
fn the_merged_parts_of_a_search_are_the_search_byte_for_byte() {
    let folder = Folder::new();
    for name in PROGRAMS {
        for strategy in ["portfolio", "pos"] {
            let run = ["run", name, "--strategy", strategy, "--executions", "3000"];
            let whole = folder.run(&run);
            for of in [1, 2, 3, 8] {
                let files = shards(&folder, &run, of);
                let merged = merge(&folder, &files, &[]);
                assert!(merged.out == whole.out, "{name} of {of} differs:\n{}\n{}", merged.out, whole.out);
                assert_eq!(merged.code, whole.code, "{}{}", merged.err, whole.err);
            }
            let files = shards(&folder, &run, 2);
            let json = folder.run(&[&run[..], &["--format", "json"]].concat());
            assert_eq!(merge(&folder, &files, &["--format", "json"]).out, json.out);
            refused(&merge(&folder, &files[1..], &[]), "shard 1 of 2 is missing");
            if name == PROGRAMS[1] {
                let executions = |name: &String| {
                    let document: serde_json::Value = serde_json::from_str(&folder.read(name)).expect("JSON");
                    let part = |part: &serde_json::Value| part["executions"].as_u64().expect("a number");
                    let ahead = document["executions"]["ahead"].as_object().expect("chunks").values();
                    part(&document["executions"]["joined"]) + ahead.map(|both| part(&both[0])).sum::<u64>()
                };
                assert_eq!(files.iter().map(executions).sum::<u64>(), 3_000, "{name}");
            }
        }
    }
    let limited = folder.run(&["run", PROGRAMS[0], "--time", "5", "--shard", "1/2"]);
    let reason = "--time does not go with a part of one search: all its executions must run; use --executions";
    refused(&limited, reason);
}

/// The subtrees of an exhaustive search, split: where nothing is found, each trace counts once. Where something is found or memory is
/// weak, the merge runs the search.
#[test]
fn the_merged_parts_of_an_exhaustive_search_are_the_search_byte_for_byte() {
    let folder = Folder::new();
    for (name, is_joined) in
        [("bounded-buffer-all-notified", true), ("seqlock-fenced", false), ("arc-drop-relaxed", false)]
    {
        let run = ["run", name, "--strategy", "exhaustive"];
        let whole = folder.run(&run);
        for of in [2, 3] {
            let files = shards(&folder, &run, of);
            let merged = merge(&folder, &files, &[]);
            assert!(merged.out == whole.out, "{name} of {of} differs:\n{}\n{}", merged.out, whole.out);
            assert_eq!(merged.code, whole.code, "{}{}", merged.err, whole.err);
            for file in &files {
                let document: serde_json::Value = serde_json::from_str(&folder.read(file)).expect("JSON");
                let subtrees = &document["executions"]["subtrees"];
                let parts = subtrees["parts"].as_object().expect("parts").values();
                let traces: usize = parts.map(|part| part["traces"].as_str().expect("traces").len() / 16).sum();
                assert!(!is_joined || (subtrees["open"] == false && traces < 240), "{name}: {traces} traces");
            }
        }
    }
}

/// Schedules with few preemptions are dealt by their first preemption. No run is missing, and only those without a preemption run in
/// every part.
#[test]
fn the_merged_parts_of_a_search_with_few_preemptions_are_the_search_byte_for_byte() {
    let folder = Folder::new();
    for (name, is_found) in [("bounded-buffer-all-notified", false), ("arc-drop-unfenced", true)] {
        let run = ["run", name, "--strategy", "preemptions:2"];
        for format in ["text", "json"] {
            let whole = folder.run(&[&run[..], &["--format", format]].concat());
            for of in [2, 5] {
                let files = shards(&folder, &run, of);
                let merged = merge(&folder, &files, &["--format", format]);
                assert!(merged.out == whole.out, "{name} of {of} differs:\n{}\n{}", merged.out, whole.out);
                assert_eq!(merged.code, whole.code, "{}{}", merged.err, whole.err);
                let subtrees = |file: &String| {
                    let document: serde_json::Value = serde_json::from_str(&folder.read(file)).expect("JSON");
                    document["executions"]["subtrees"].clone()
                };
                if format == "json" && !is_found {
                    let parts: Vec<_> = files.iter().map(subtrees).collect();
                    assert!(parts.iter().all(|part| part["open"] == false), "{name}");
                    let executions = |part: &serde_json::Value| {
                        let mut shown = part["parts"].as_object().expect("parts").values();
                        shown.next().expect("one part")["part"]["executions"].as_u64().expect("a number")
                    };
                    let whole: serde_json::Value = serde_json::from_str(&whole.out).expect("JSON");
                    let counts: Vec<u64> = parts.iter().map(executions).collect();
                    assert_eq!(Some(counts.iter().sum()), whole["programs"][0]["executions"].as_u64(), "{counts:?}");
                    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
                }
            }
        }
    }
    // Without preemptions there are few schedules, which one part runs.
    let files = shards(&folder, &["run", "arc-drop-fenced", "--strategy", "preemptions:0"], 2);
    assert_eq!(
        merge(&folder, &files, &[]).out,
        folder.run(&["run", "arc-drop-fenced", "--strategy", "preemptions:0"]).out
    );
}

/// Parts with one folder tell each other what they have found. The result is the same, in whichever order they run, and when one of
/// them is run again; and they run less.
#[test]
fn parts_that_tell_each_other_give_the_same() {
    let folder = Folder::new();
    let searches: [&[&str]; 6] = [
        &["run", bad()],
        &["run", MODULAR],
        &["run", "arc-drop-unfenced", "--strategy", "pos"],
        &["run", "arc-drop-fenced", "--strategy", "pos", "--executions", "2000"],
        &["run", "bounded-buffer-all-notified", "--strategy", "exhaustive"],
        &["run", "arc-drop-unfenced", "--strategy", "preemptions:2"],
    ];
    for (number, run) in searches.into_iter().enumerate() {
        let whole = folder.run(run);
        for (of, backwards) in [(2, false), (5, true)] {
            let state = format!("kept-{number}-{of}");
            let mut order: Vec<u32> = (1..=of).collect();
            if backwards {
                order.reverse();
            }
            let name = |number: u32| format!("{number}-of-{of}.json");
            let part = |number: u32| {
                let shard = format!("{number}/{of}");
                let ran = folder.run(&[run, &["--shard", &shard, "--state", &state]].concat());
                assert_eq!(ran.code, Some(0), "{run:?}: {}", ran.err);
                folder.write(&name(number), &ran.out);
            };
            order.iter().for_each(|number| part(*number));
            let files: Vec<String> = (1..=of).map(name).collect();
            let merged = merge(&folder, &files, &[]);
            assert!(merged.out == whole.out, "{run:?} of {of} differs:\n{}\n{}", merged.out, whole.out);
            assert_eq!(merged.code, whole.code, "{}{}", merged.err, whole.err);
            part(1);
            assert_eq!(merge(&folder, &files, &[]).out, whole.out, "{run:?} of {of}");
        }
    }
    // What they tell each other is whole, or refused.
    let (found, told) = (format!("kept-0-2/{}.found-of-2", bad()), &["--shard", "1/2", "--state", "kept-0-2"][..]);
    let (text, part) = (folder.read(&found), [searches[0], told].concat());
    for damaged in
        [text.replacen("\n0 ", "\n1 ", 1), text[..text.len() - 3].to_owned(), text.replacen(" run ", " ran ", 1)]
    {
        folder.write(&found, &damaged);
        let ran = folder.run(&part);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (Some(2), "", 1), "{damaged}: {}", ran.err);
    }
    let (_, old) =
        text.split_once(' ').and_then(|(_, rest)| rest.split_once(' ')).expect("the version and the program");
    folder.write(&found, old);
    refused(
        &folder.run(&part),
        &format!("{found}: written by another interloper (version 1, this one reads version 3)"),
    );
    folder.write(&found, &text);
    assert_eq!(folder.run(&part).code, Some(0), "intact");
    // The folder is for one search.
    let other = folder.run(&["run", bad(), "--bound", "2", "--shard", "1/2", "--state", "kept-0-2"]);
    assert_eq!((other.code, other.err.lines().count()), (Some(2), 1), "{}", other.err);
    assert!(other.err.contains("not what the parts of this search have found; name another folder"), "{}", other.err);
}

/// A part of each kind that has no work says so, on standard error and in its document; one that has work does not. The merge names the
/// parts without work, and prints what one machine prints.
#[test]
fn a_shard_that_has_nothing_to_do_says_so() {
    let folder = Folder::new();
    let searches: [(&[&str], u32, &[u32]); 5] = [
        (&["run", bad(), good()], 3, &[3]),
        // Three rows of 64 executions.
        (&["run", "arc-drop-fenced", "--strategy", "pos", "--executions", "150"], 5, &[4, 5]),
        (&["run", "arc-drop-fenced", "--executions", "100"], 6, &[2, 3, 4, 5, 6]),
        (&["hunt", "two-lock-queue", "--method", "put", "--programs", "2"], 3, &[3]),
        (&["run", good(), "--adversary", "naive", "--executions", "100"], 3, &[3]),
    ];
    for (run, of, idle) in searches {
        for number in 1..=of {
            let ran = folder.run(&[run, &["--shard", &format!("{number}/{of}")]].concat());
            assert_eq!(ran.code, Some(0), "{run:?}: {}", ran.err);
            let document: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
            let is_idle = idle.contains(&number);
            let said = format!("shard {number}/{of} has nothing to do: all the work belongs to other shards");
            assert_eq!(ran.err.contains(&said), is_idle, "{run:?} {number}/{of}: {}", ran.err);
            let expected = if is_idle { true.into() } else { serde_json::Value::Null };
            assert_eq!(document["nothing_to_do"], expected, "{run:?} {number}/{of}");
            folder.write(&format!("{number}-of-{of}.json"), &ran.out);
        }
        let files: Vec<String> = (1..=of).map(|number| format!("{number}-of-{of}.json")).collect();
        let (whole, merged) = (folder.run(run), merge(&folder, &files, &[]));
        assert_eq!((merged.out, merged.code), (whole.out, whole.code), "{run:?}");
        let numbers: Vec<String> = idle.iter().map(u32::to_string).collect();
        let shards = if idle.len() == 1 { "shard" } else { "shards" };
        let said = format!("{shards} {} of {of} had nothing to do\n", numbers.join(", "));
        assert!(merged.err.contains(&said), "{run:?}: {}", merged.err);
        let events = merge(&folder, &files, &["--progress", "json"]).err;
        assert!(
            events.contains(&format!("{{\"event\":\"nothing_to_do\",\"shards\":[\"{}/{of}\"", idle[0])),
            "{events}"
        );
    }
    // All parts have work.
    let files = shards(&folder, &["run", bad(), good()], 2);
    assert!(!merge(&folder, &files, &[]).err.contains("nothing to do"));
}

/// It is not atomic in the open environment only.
const MODULAR: &str = "optimistic-column";

/// Of the same kind, in the environment of its own object's methods: several calls at once.
const CLOSED: &str = "release-then-remove-if-zero";

/// One composed operation, split by the first operation of its environment: an atomic one, one that is not, one that is not atomic in
/// the open environment only, several calls at once, and runs at random. Where the parts have found nothing, the merge runs nothing.
#[test]
fn the_merged_parts_of_a_case_are_the_case_byte_for_byte() {
    let folder = Folder::new();
    let searches = |name: &String| -> Vec<serde_json::Value> {
        let document: serde_json::Value = serde_json::from_str(&folder.read(name)).expect("JSON");
        document["searches"].as_array().expect("searches").clone()
    };
    let cases: [&[&str]; 9] = [
        &["run", good()],
        &["run", bad()],
        &["run", MODULAR],
        &["run", good(), "--bound", "2", "--executions", "300"],
        &["run", good(), "--adversary", "naive", "--executions", "2000"],
        &["run", bad(), "--adversary", "naive", "--executions", "2000"],
        &["run", MODULAR, "--environment", "restricted"],
        &["run", CLOSED],
        &["run", CLOSED, "--environment", "closed"],
    ];
    for run in cases {
        for of in [1, 2, 3, 7] {
            let files = shards(&folder, run, of);
            for format in ["text", "json"] {
                let whole = folder.run(&[run, &["--format", format]].concat());
                let merged = merge(&folder, &files, &["--format", format]);
                assert!(merged.out == whole.out, "{run:?} of {of} differs:\n{}\n{}", merged.out, whole.out);
                assert_eq!(merged.code, whole.code, "{}{}", merged.err, whole.err);
                let executions = |searched: &serde_json::Value| searched["executions"].as_u64().expect("a number");
                if format == "json" && files.iter().flat_map(searches).all(|searched| searched["open"] == false) {
                    // The parts make the executions of the whole, and no other.
                    let whole: serde_json::Value = serde_json::from_str(&whole.out).expect("JSON");
                    if whole["cases"][0]["verdict"] == "unfinished" {
                        continue; // No part has come to the limit of the whole.
                    }
                    let parts = files.iter().flat_map(searches).map(|searched| executions(&searched)).sum::<u64>();
                    assert_eq!(parts, executions(&whole["cases"][0]), "{run:?} of {of}");
                    let idle = files.iter().flat_map(searches).filter(|searched| executions(searched) == 0).count();
                    assert!(idle == 0, "{run:?} of {of}");
                }
            }
        }
    }
    let files = shards(&folder, &["run", good()], 3);
    assert!(files.iter().flat_map(searches).all(|searched| searched["open"] == false), "an atomic operation");
    let files = shards(&folder, &["run", MODULAR], 2);
    assert!(files.iter().all(|file| searches(file).len() == 2), "the environment of the program is split, too");
    let closed = ["run", CLOSED, "--environment", "closed"];
    let files = shards(&folder, &closed, 3);
    let counts: Vec<u64> =
        files.iter().map(|file| searches(file)[0]["executions"].as_u64().expect("a number")).collect();
    let whole = folder.run(&[&closed[..], &["--format", "json"]].concat());
    let whole: serde_json::Value = serde_json::from_str(&whole.out).expect("JSON");
    assert_eq!(Some(counts.iter().sum()), whole["cases"][0]["executions"].as_u64(), "{counts:?}");
    assert!(counts.iter().all(|count| *count > 0), "the programs are dealt: {counts:?}");
    refused(&merge(&folder, &files[1..], &[]), "shard 1 of 3 is missing");
    let limited = folder.run(&["run", good(), "--time", "5", "--shard", "1/2"]);
    let reason = "--time does not go with a part of one search: all its executions must run; use --executions";
    refused(&limited, reason);
}
