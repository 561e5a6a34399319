//! Pages: what the commands write, and what `explore` makes of files.

use interloper_report::explorer::{Exploration, Extent};
use serde_json::{Value, json};

use super::{Folder, bad, good};

const FIGURE_1: &str = "figure-1";

/// The data of a page.
pub fn data(page: &str) -> Exploration {
    let (_, rest) = page.split_once(r#"type="application/json">"#).expect("the data");
    let (json, _) = rest.split_once("</script>").expect("its end");
    Exploration::parse(json).expect("sound data")
}

#[test]
fn the_page_of_a_program_has_its_steps_and_its_choices() {
    let folder = Folder::new();
    let ran = folder.run(&["run", FIGURE_1, "--html", "page.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let page = folder.read("page.html");
    let shown = data(&page);
    assert_eq!((shown.name.as_str(), shown.verdict.as_str()), (FIGURE_1, "panic"));
    assert_eq!(shown.spans.iter().filter(|span| span.what == Extent::Block).count(), 2);
    assert_eq!(shown.steps.iter().filter(|step| step.marked).count(), 3);
    assert!(shown.holds.len() >= 4 && shown.steps.iter().any(|step| !step.after.is_empty()));
    assert!(shown.choices.is_some_and(|choices| choices.points.len() > 2));
    // The sources of the suite are found from any folder.
    let files: Vec<&str> = shown.sources.iter().map(|source| source.file.as_str()).collect();
    assert!(files.contains(&"mut-suite/src/blocks/figures.rs"), "{files:?}");
    assert_eq!(shown.replay.as_deref(), Some("interloper replay interloper-failures/figure-1-42.json"));
    // The same seed, the same bytes; also whatever the number of threads is.
    folder.run(&["run", FIGURE_1, "--html", "again.html", "--jobs", "3"]);
    assert!(folder.read("again.html") == page);
    // The replay file gives the same steps.
    let ran = folder.run(&["explore", "interloper-failures/figure-1-42.json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let line = format!("interloper-failures/figure-1-42.html: figure-1, panic, {} steps\n", shown.steps.len());
    assert_eq!(ran.out, line);
    assert_eq!(data(&folder.read("interloper-failures/figure-1-42.html")).steps, shown.steps);
}

#[test]
fn a_trace_is_explored() {
    let folder = Folder::new();
    folder.run(&["run", FIGURE_1, "--trace", "trace.jsonl"]);
    let ran = folder.run(&["explore", "trace.jsonl", "--html", "pages/trace.html", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((&document["page"], &document["divergence"]), (&json!("pages/trace.html"), &Value::Null));
    let shown = data(&folder.read("pages/trace.html"));
    assert_eq!(shown.steps.len(), folder.read("trace.jsonl").lines().count() - 1);
    assert_eq!(shown.spans.len(), 2);
    // A line that is missing is missing on the page; one that is damaged is named.
    let lines: Vec<String> = folder.read("trace.jsonl").lines().map(str::to_owned).collect();
    folder.write("less.jsonl", &[&lines[..3], &lines[4..]].concat().join("\n"));
    assert!(folder.run(&["explore", "less.jsonl"]).out.ends_with(&format!(" {} steps\n", shown.steps.len() - 1)));
    folder.write("less.jsonl", &[&lines[..3], &["{}".to_owned()]].concat().join("\n"));
    let ran = folder.run(&["explore", "less.jsonl"]);
    let expected = "error: cannot explore less.jsonl: line 4: missing field `step`";
    assert!(ran.code == Some(2) && ran.err.starts_with(expected), "{}", ran.err);
}

#[test]
fn a_composed_operation_and_its_replay_file_have_pages() {
    let folder = Folder::new();
    folder.run(&["run", bad(), "--html", "page.html"]);
    let shown = data(&folder.read("page.html"));
    assert!(!shown.orders.is_empty() && shown.steps.iter().any(|step| step.state.is_some()));
    assert!(shown.spans.iter().any(|span| span.what == Extent::Call && span.marked));
    let again = |name: &str| data(&folder.read(name));
    let file = format!("interloper-failures/{}-42.json", bad());
    assert_eq!(folder.run(&["explore", &file, "--html", "again.html"]).code, Some(0));
    assert_eq!((again("again.html").steps, again("again.html").choices), (shown.steps.clone(), shown.choices.clone()));
    // The same file with another history: the page is written, and the difference is said.
    folder.edit(&file, |document| {
        document["history"][1]["action"] = json!("sing");
        document["history_hash"] = json!(super::hash(&document["history"]));
    });
    let ran = folder.run(&["explore", &file, "--html", "other.html"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.out.contains("\ndiverged from the recorded history: at event 2: "), "{}", ran.out);
    assert_eq!(data(&folder.read("other.html")).steps, shown.steps);
}

/// The execution of the README: `get(7)`, then the environment's `insert(7, 15)`, then `insert(7, 14)`.
#[test]
fn the_page_of_a_composed_operation_has_its_order_and_its_choices() {
    let folder = Folder::new();
    folder.run(&["run", "memoize-get-then-insert", "--html", "page.html"]);
    let shown = data(&folder.read("page.html"));
    // The insertion conflicts with the look before it, and with the insertion after it. The return depends on nothing else.
    let after: Vec<Vec<u32>> = shown.steps.iter().map(|step| step.after.clone()).collect();
    assert_eq!(after, [vec![], vec![0], vec![1], vec![]]);
    assert_eq!(shown.objects, ["map"]);
    assert_eq!(shown.steps.iter().map(|step| step.object).collect::<Vec<_>>(), [Some(0), Some(0), Some(0), None]);
    let choices = shown.choices.expect("the choices of a composed operation");
    // The initial state and the gaps before the look, before the insertion and before the return.
    let points: Vec<(u32, u32)> = choices.points.iter().map(|point| (point.step, point.kept)).collect();
    let (&(end, kept), before) = points.split_last().expect("the whole execution");
    assert_eq!((end, kept), (4, 6), "{points:?}");
    assert!(before.iter().all(|(step, kept)| *step == kept.saturating_sub(2)), "{points:?}");
    let share = |kept: u32| {
        let point = choices.points.iter().find(|point| point.kept == kept).expect("a point");
        (f64::from(point.failed) / f64::from(point.of), point.of)
    };
    // Once the environment has inserted between look and insertion, what comes after can hardly repair it; before, most
    // random continuations insert nothing there. An estimate of 200 differs from its share by more than 0.15 with probability
    // below 2 exp(-2 · 200 · 0.0225) < 0.0003, and the seed is fixed.
    assert_eq!(share(4).1, 200);
    assert!(share(4).0 > 0.8 && share(4).0 > share(2).0 + 0.3, "{:?} and {:?}", share(4), share(2));
}

#[test]
fn the_file_of_a_test_is_shown_as_it_was_recorded() {
    let folder = Folder::new();
    folder.run(&["run", FIGURE_1]);
    let file = "interloper-failures/figure-1-42.json";
    folder.edit(file, |document| {
        let strategy = document["about"]["strategy"].clone();
        document["about"] =
            json!({ "kind": "test", "name": "suite::case", "strategy": strategy, "critical_sections": false });
    });
    let ran = folder.run(&["explore", file]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let shown = data(&folder.read("interloper-failures/figure-1-42.html"));
    assert_eq!((shown.name.as_str(), shown.verdict.as_str()), ("suite::case", "panic"));
    assert!(shown.notes[0].contains("without running it again") && shown.steps.len() > 10);
}

/// The object of this name in the command is another one: the file belongs to a crate that only `cargo interloper` builds.
#[test]
fn the_file_of_a_crate_is_shown_as_it_was_recorded() {
    let folder = Folder::new();
    let asked = ["hunt", "striped-map", "--schema", "{ get(0); size() } || { put(0, 0) }", "--engine", "systematic"];
    assert_eq!(folder.run(&asked).code, Some(1));
    let file = "interloper-failures/striped-map-schema-42.json";
    assert_eq!(folder.run(&["replay", file]).code, Some(0), "it is the command's own");
    folder.edit(file, |file| file["origin"] = json!({ "arguments": ["hunt"], "package": "maps" }));
    let replayed = folder.run(&["replay", file]);
    let line = format!(
        "error: cannot replay {file}: it belongs to the object 'striped-map' of the package maps; replay it with cargo interloper \
         replay {file}\n"
    );
    assert_eq!((replayed.code, replayed.out.as_str(), replayed.err), (Some(2), "", line));
    let explored = folder.run(&["explore", file, "--html", "page.html"]);
    assert_eq!(explored.code, Some(0), "{}", explored.err);
    let shown = data(&folder.read("page.html"));
    assert_eq!(shown.name, "striped-map");
    assert!(shown.steps.len() > 3, "{shown:?}");
    assert!(shown.notes.iter().any(|note| note.contains("`cargo interloper replay FILE --html PAGE`")), "{shown:?}");
}

/// Each finding has a page: the first where it was asked for, the others beside it. What has no finding has none.
#[test]
fn every_finding_has_a_page() {
    let folder = Folder::new();
    let asked = ["run", FIGURE_1, good(), bad(), "dining-philosophers"];
    let ran = folder.run(&[&asked[..], &["--html", "pages/of.html"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    // Cases come before programs, as in a report.
    let names = ["pages/of.html", "pages/of-2.html", "pages/of-3.html"];
    let shown: Vec<String> = names.iter().map(|name| data(&folder.read(name)).name).collect();
    assert_eq!(shown, [bad(), FIGURE_1, "dining-philosophers"]);
    assert!(ran.err.contains(&format!("pages/of-2.html: {FIGURE_1}, panic\n")), "{}", ran.err);
    assert!(!folder.0.join("pages/of-4.html").exists());
    // A merge, which has replay files alone, writes the same pages.
    for shard in ["1/2", "2/2"] {
        let ran = folder.run(&[&asked[..], &["--shard", shard]].concat());
        folder.write(&format!("{}.json", &shard[..1]), &ran.out);
    }
    let ran = folder.run(&["merge", "1.json", "2.json", "--html", "merged.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for (one, other) in names.iter().zip(["merged.html", "merged-2.html", "merged-3.html"]) {
        // But for the names of the files, to which the pages have links.
        assert!(folder.read(one).replace("\"./of", "\"./merged") == folder.read(other), "{one} and {other}");
    }
    let links = |page: &str| page.matches("<a href=\"./of").count();
    assert_eq!(names.map(|name| links(&folder.read(name))), [2; 3]);
    // Show and replay write the page that they print.
    let shown = folder.run(&["show", FIGURE_1, "--html", "show.html"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert_eq!(folder.read("show.html"), folder.run(&["show", FIGURE_1, "--format", "html"]).out);
    let file = format!("interloper-failures/{FIGURE_1}-42.json");
    let replayed = folder.run(&["replay", &file, "--html", "replay.html"]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.err);
    assert_eq!(folder.read("replay.html"), folder.run(&["replay", &file, "--format", "html"]).out);
}

#[test]
fn without_a_finding_no_page_is_written() {
    let folder = Folder::new();
    for asked in [&["run", "figure-3", good()][..], &["show", good()], &["run", good()]] {
        let ran = folder.run(&[asked, &["--html", "page.html"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.err.contains("so page.html was not written\n"), "{}", ran.err);
    }
    for asked in [&["list"][..], &["types"]] {
        let ran = folder.run(&[asked, &["--html", "page.html"]].concat());
        assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{}", ran.err);
    }
    assert!(!folder.0.join("page.html").exists());
}

/// A replay file of each kind: an operation with states, a finding of a hunt, a program, a deadlock, and the file of a test.
#[test]
fn every_replay_file_has_a_trace_that_has_a_page() {
    let folder = Folder::new();
    folder.run(&["run", bad(), FIGURE_1, "dining-philosophers"]);
    folder.run(&["hunt", "striped-map", "--method", "size", "--programs", "60"]);
    let recorded = "interloper-failures/figure-1-42.json";
    folder.write("test.json", &folder.read(recorded));
    folder.edit("test.json", |document| {
        let strategy = document["about"]["strategy"].clone();
        document["about"] =
            json!({ "kind": "test", "name": "suite::case", "strategy": strategy, "critical_sections": false });
    });
    let composed = format!("interloper-failures/{}-42.json", bad());
    let deadlock = "interloper-failures/dining-philosophers-42.json";
    for file in [&composed, recorded, deadlock, "interloper-failures/striped-map-size-42.json", "test.json"] {
        let ran = folder.run(&["explore", file, "--html", "page.html", "--trace", "steps.jsonl"]);
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.err);
        let shown = data(&folder.read("page.html"));
        let ran = folder.run(&["explore", "steps.jsonl", "--html", "again.html"]);
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.err);
        let again = data(&folder.read("again.html"));
        // All that the page has: reads, waits, happens-before, spans, orders, choices, sources.
        assert_eq!(again, shown, "{file}");
    }
    let same = folder.run(&["explore", recorded, "--html", "page.html", "--trace", "page.html"]);
    assert_eq!((same.code, same.err.as_str()), (Some(2), "error: cannot write page.html: the page is written there\n"));
    assert_eq!(folder.run(&["explore", "steps.jsonl", "--trace", "steps.jsonl"]).code, Some(2));
}

#[test]
fn a_refuted_level_has_a_page() {
    let folder = Folder::new();
    let visibility = |method: &str| {
        let arguments = ["visibility", "striped-map", "--method", method, "--programs", "60", "--html", "page.html"];
        folder.run(&arguments)
    };
    let ran = visibility("putIfAbsent");
    assert!(ran.err.contains("no finding refutes a level, so page.html was not written"), "{}{}", ran.out, ran.err);
    let ran = visibility("size");
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let page = folder.read("page.html");
    let shown = data(&page);
    assert_eq!((shown.name.as_str(), shown.verdict.as_str()), ("striped-map.size", "not atomic"));
    assert!(shown.steps.iter().any(|step| !step.after.is_empty()), "{shown:?}");
    assert!(!shown.objects.is_empty() && !shown.orders.is_empty());
    // Its continuations are judged at the level that falls.
    assert!(shown.choices.is_some_and(|choices| choices.points.len() > 2));
    assert_eq!((visibility("size").code, folder.read("page.html") == page), (Some(0), true));
    let file = shown.replay.as_deref().and_then(|command| command.strip_prefix("interloper replay ")).expect("a file");
    assert_eq!(folder.run(&["explore", file, "--html", "again.html"]).code, Some(0));
    assert_eq!(data(&folder.read("again.html")).steps, shown.steps);
}

#[test]
fn a_hunt_has_a_page() {
    let folder = Folder::new();
    // The first trace that an exhaustive search finds has a swap that mends it. Not every trace has one.
    let hunt = |schema: &str| {
        let asked = ["hunt", "striped-map", "--schema", schema, "--engine", "systematic", "--strategy", "exhaustive"];
        folder.run(&[&asked[..], &["--html", "page.html"]].concat())
    };
    let ran = hunt("{ get(0) } || { put(0, 0) }");
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("no violation was found, so page.html was not written"), "{}", ran.err);
    let ran = hunt("{ get(0); size() } || { put(0, 0) }");
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let shown = data(&folder.read("page.html"));
    assert_eq!(shown.name, "striped-map.schema");
    assert!(shown.steps.iter().any(|step| !step.after.is_empty()), "{shown:?}");
    assert_eq!(shown.spans.iter().filter(|span| span.what == Extent::Call).count(), 3);
    assert!(!shown.objects.is_empty() && !shown.orders.is_empty());
    // As far as an order goes, with the states of the model: `put` comes first, since `get` has seen it; no `size` of 0 can follow.
    let effects = shown.linearization.iter().map(|effect| (effect.number, effect.text.as_str(), effect.state.as_str()));
    let expected = [(1, "sequence 2: put(0, 0) → none", "{0: 0}"), (2, "sequence 1: get(0) → 0", "{0: 0}")];
    assert_eq!(effects.collect::<Vec<_>>(), expected);
    // Each has its call in the lanes, and none takes effect before its call or the effect before it.
    let at = |effect: &interloper_report::explorer::Effect| {
        let span = &shown.spans[effect.span.expect("its call") as usize];
        (span.from, effect.after.expect("a step"), span.until.expect("it returned"))
    };
    let points: Vec<_> = shown.linearization.iter().map(at).collect();
    assert!(points.iter().all(|(from, point, until)| from <= point && point < until), "{points:?}");
    assert!(points[0].1 <= points[1].1, "{points:?}");
    // Random continuations of the whole execution fail more often than those of nothing, and the same seed gives the same.
    let choices = shown.choices.expect("the choices of a hunt");
    let share = |point: &interloper_report::explorer::Point| f64::from(point.failed) / f64::from(point.of);
    assert!(choices.points.len() > 2 && !choices.swaps.is_empty(), "{choices:?}");
    let first = share(&choices.points[0]);
    assert!(first < 1.0 && choices.points.iter().any(|point| share(point) > first), "{choices:?}");
    let file = "interloper-failures/striped-map-schema-42.json";
    assert_eq!(folder.run(&["explore", file, "--html", "again.html"]).code, Some(0));
    assert_eq!(data(&folder.read("again.html")).choices, Some(choices));
}

#[test]
fn what_cannot_be_explored_is_refused_in_one_line() {
    let folder = Folder::new();
    let check = |arguments: &[&str], message: &str| {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.err.starts_with(&format!("error: {message}")) && ran.err.lines().count() == 1, "{}", ran.err);
    };
    check(&["explore", "missing.json"], "cannot explore missing.json: ");
    folder.write("history.jsonl", "{\"process\":0,\"type\":\"invoke\",\"call\":\"read\"}\n");
    check(&["explore", "history.jsonl"], "cannot explore history.jsonl: it is a recorded history; 'check-history ");
    folder.write("page.html", "text");
    check(&["explore", "page.html"], "cannot write page.html: it is the file to explore");
    check(&["explore", "page.html", "--html", "x.html"], "cannot explore page.html: damaged: ");
    check(&["explore", "page.html", "--html", "page.html"], "cannot write page.html: it is the file to explore");
    check(&["explore", "page.html", "--seed", "1"], "'explore' does not use --seed");
    check(&["explore", "page.html", "--format", "html"], "'explore' writes its pages with --html FILE");
    assert_eq!(folder.read("page.html"), "text");
}
