//! What the commands print, and that they print it again.

use std::io::Read;
use std::process::Stdio;

use interloper::Verdict;
use serde_json::Value;

use super::{Folder, bad, case, good, interloper};

/// The whole suite with so few executions that it is quick. That each verdict is as expected when nothing is cut short
/// is for the suite's own tests.
const SHORT: [&str; 4] = ["--seed", "42", "--executions", "200"];

#[test]
fn the_suite_is_the_same_bytes_for_any_number_of_jobs() {
    let folder = Folder::new();
    let first = folder.run(&SHORT);
    assert_eq!(first.code, Some(1), "200 executions cover no linearizable case: {}", first.err);
    assert_eq!(first.out.lines().last(), Some("again: interloper --seed 42 --executions 200"));
    for jobs in ["1", "2", "2"] {
        let again = folder.run(&[&SHORT[..], &["--jobs", jobs]].concat());
        assert_eq!(again.out, first.out, "--jobs {jobs}");
    }
    let names: Vec<&str> = first
        .out
        .lines()
        .skip_while(|line| !line.starts_with('─'))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    let expected: Vec<&str> = interloper_suite::cases().iter().map(|case| case.name).collect();
    assert_eq!(names, expected, "one line for each case, in the order of the suite");
}

#[test]
fn the_suite_as_json_has_the_promised_fields() {
    let arguments = [&SHORT[..], &["--format", "json"]].concat();
    let ran = interloper(&arguments);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(interloper(&arguments).out, ran.out, "the same bytes again");
    let document: Value = serde_json::from_str(&ran.out).expect("one JSON document");
    assert_eq!((&document["version"], &document["seed"]), (&1.into(), &42.into()));
    let cases = document["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), interloper_suite::cases().len());
    for (found, case) in cases.iter().zip(interloper_suite::cases()) {
        let mut promised = [
            "name",
            "origin",
            "expected",
            "verdict",
            "environment_operations",
            "executions_to_violation",
            "executions",
            "searches",
        ];
        promised.sort_unstable();
        let keys: Vec<&str> = found.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(keys, promised);
        assert_eq!((&found["name"], &found["origin"]), (&case.name.into(), &case.origin.into()));
        assert_eq!(found["expected"], case.expected.word());
        let violates = found["verdict"] == "not-linearizable" || found["verdict"] == "modular";
        assert_eq!(found["environment_operations"].is_u64(), violates, "{found}");
        assert_eq!(found["executions_to_violation"].is_u64(), violates, "{found}");
        let searches = found["searches"].as_array().expect("a list");
        let of = |field: &str| searches.iter().map(|search| search[field].as_u64().expect("a number")).sum::<u64>();
        assert_eq!(found["executions"], of("executions"), "{found}");
        assert!((1..=of("executions")).contains(&of("histories")) && of("steps") > 0, "{found}");
        assert!(searches.iter().all(|search| search.get("unseen").is_none()), "not drawn at random: {found}");
    }
}

#[test]
fn a_run_shows_violations_and_coverage() {
    let ran = interloper(&["run", bad(), good()]);
    assert_eq!(ran.code, Some(0), "both are as expected: {}", ran.err);
    assert!(ran.out.starts_with(&format!("✗ {} ", bad())), "{}", ran.out);
    assert!(ran.out.contains("\n  No sequential order explains it:\n"), "{}", ran.out);
    assert!(ran.out.contains(&format!("\n  replay: interloper replay interloper-failures/{}-42.json\n", bad())));
    assert!(ran.out.contains(&format!("\n✓ {} ", good())), "{}", ran.out);
    assert!(ran.out.ends_with(&format!("\nagain: interloper run {} {} --seed 42\n", bad(), good())), "{}", ran.out);
}

#[test]
fn a_verdict_that_nobody_expected_is_exit_code_1() {
    let ran = interloper(&["run", bad(), good(), "--executions", "1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("\n✗ "), "{}", ran.out);
    let summary = ran.out.lines().rev().nth(1).expect("a summary");
    assert!(summary.starts_with("2 cases: "), "{summary}");
    assert!(summary.contains("unfinished"), "{summary}");
    assert!(summary.contains(" unexpected: "), "{summary}");
}

#[test]
fn an_environment_that_a_case_does_not_know_is_a_wrong_request_for_it_alone() {
    // Of the linearizable cases only those that declare their program know a restricted environment.
    let ran = interloper(&[&SHORT[..], &["--environment", "restricted", "--format", "json"]].concat());
    let document: Value = serde_json::from_str(&ran.out).expect("one JSON document");
    let cases = document["cases"].as_array().expect("a list");
    let without = cases.iter().find(|case| case["verdict"] == "not applicable").expect("not every case declares one");
    let name = without["name"].as_str().expect("a name");
    let ran = interloper(&["run", name, "--environment", "restricted"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains(&format!("error: {name}: the environment of the program is unknown")), "{}", ran.err);
}

#[test]
fn a_case_is_shown_with_its_source() {
    for expected in [Verdict::NotLinearizable, Verdict::Linearizable, Verdict::Modular] {
        let case = case(expected);
        let folder = Folder::new();
        let ran = folder.run(&["show", case.name]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.starts_with(&format!("{}\n  ", case.name)), "{}", ran.out);
        assert!(ran.out.contains(&format!("\n  origin: {}\n", case.origin)), "{}", ran.out);
        for line in case.source.trim_end().lines() {
            assert!(ran.out.contains(format!("\n    {line}").trim_end()), "{line:?} in {}", ran.out);
        }
        assert_eq!(ran.out.contains("No sequential order"), expected != Verdict::Linearizable, "{}", ran.out);
        assert!(!folder.has("interloper-failures"), "showing writes nothing");

        let ran = folder.run(&["show", case.name, "--format", "json"]);
        let document: Value = serde_json::from_str(&ran.out).expect("one JSON document");
        assert_eq!(document["source"], case.source);
        assert_eq!(document["verdict"], expected.word());
        assert_eq!(document["counterexample"].is_object(), expected != Verdict::Linearizable);
    }
    let page = interloper(&["show", bad(), "--format", "html"]);
    assert!(page.out.starts_with("<!DOCTYPE html>"), "{}", page.out);
    assert_eq!(page.code, Some(0));
}

#[test]
fn the_list_names_every_case() {
    let ran = interloper(&["list"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let names: Vec<&str> = ran.out.lines().skip(2).map(|line| line.split("  ").next().unwrap_or_default()).collect();
    let (cases, programs) = (interloper_suite::cases(), interloper_suite::blocks::programs());
    let expected = cases.iter().map(|case| case.name).chain(programs.iter().map(|program| program.name));
    assert_eq!(names, expected.collect::<Vec<&str>>());
    let document: Value = serde_json::from_str(&interloper(&["list", "--format", "json"]).out).expect("JSON");
    assert_eq!(document["cases"].as_array().map(Vec::len), Some(cases.len()));
    assert_eq!(document["programs"].as_array().map(Vec::len), Some(programs.len()));
}

#[test]
fn the_specification_of_a_map_looks_like_figure_5() {
    let ran = interloper(&["commutativity", "map", "remove", "get", "insert_if_absent"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let expected = "\
When two operations of a map do not commute

Operation                 remove(k)       get(k)          insert_if_absent(k, v₂)
─────────────────────────────────────────────────────────────────────────────────
remove(k)                 get(k) ≠ none   get(k) ≠ none   true
get(k)                    get(k) ≠ none   false           get(k) = none
insert_if_absent(k, v₁)   true            get(k) = none   get(k) = none

";
    assert!(ran.out.starts_with(expected), "{}", ran.out);
    let document = interloper(&["commutativity", "map", "remove", "get", "--format", "json"]).out;
    let document: Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(document["type"], "map");
    assert_eq!(document["operations"], serde_json::json!(["remove(k)", "get(k)"]));
    let conditions = serde_json::json!([["get(k) ≠ none", "get(k) ≠ none"], ["get(k) ≠ none", "false"]]);
    assert_eq!(document["conditions"], conditions);
}

#[test]
fn every_type_has_a_table_that_fits_its_panels() {
    for model in interloper_commutativity::models::models() {
        let ran = interloper(&["commutativity", model.name()]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", model.name());
        let widest = ran.out.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(120), "{}: {widest:?}", model.name());
    }
}

#[test]
fn the_comparison_counts_executions_for_each_adversary() {
    let arguments = [&["compare"], &SHORT[..], &["--format", "json"]].concat();
    let ran = interloper(&arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(interloper(&arguments).out, ran.out, "the same bytes again");
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(document["naive_executions"], 200);
    let rows = document["cases"].as_array().expect("a list");
    let bad = interloper_suite::cases().iter().filter(|case| case.expected != Verdict::Linearizable).count();
    assert_eq!(rows.len(), bad);
    let text = interloper(&arguments[..5]).out;
    assert!(text.starts_with("Executions to the first violation; the naive adversary stops after 200 executions.\n"));
}

#[test]
fn colour_is_for_terminals_unless_asked_for() {
    assert!(!interloper(&["run", bad()]).out.contains('\u{1b}'));
    assert!(interloper(&["run", bad(), "--color", "always"]).out.contains("\u{1b}["));
}

#[test]
fn logs_go_to_standard_error() {
    let plain = interloper(&["run", good()]);
    let logged = interloper(&["run", good(), "--log", "info"]);
    assert_eq!(logged.out, plain.out);
    assert!(logged.err.contains(good()), "{}", logged.err);
    assert!(!plain.err.contains(good()), "{}", plain.err);
}

#[test]
fn help_and_version_are_results() {
    for arguments in [["--help"], ["-h"], ["--version"]] {
        let ran = interloper(&arguments);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(ran.out.contains("interloper"), "{}", ran.out);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    let mut child =
        folder.command(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
    drop(child.stdout.take());
    let mut message = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut message).expect("text");
    assert_eq!((child.wait().expect("it ends").code(), message.as_str()), (Some(0), ""));
}

#[test]
#[cfg(target_os = "linux")]
fn a_panic_of_the_tool_is_exit_code_3_and_one_line() {
    let folder = Folder::new();
    // No machine has this much memory for the stack of a thread, so the worker threads cannot be made.
    let output = folder.command(&["run", good()]).env("RUST_MIN_STACK", (1u64 << 62).to_string()).output();
    let output = output.expect("the binary was built");
    let message = String::from_utf8(output.stderr).expect("text");
    assert!(message.starts_with("internal error, please report: failed to spawn thread: "), "{message}");
    assert_eq!((output.status.code(), message.lines().count()), (Some(3), 1), "{message}");
    assert!(output.stdout.is_empty());
}

#[test]
fn services_read_what_was_judged() {
    // What is expected passes, also where it is a violation; what an option makes unexpected fails.
    let ran = interloper(&["run", good(), bad(), "--format", "junit"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let counts = "tests=\"2\" failures=\"0\" errors=\"0\"";
    assert!(ran.out.contains(&format!("<testsuites name=\"interloper\" {counts}>")), "{}", ran.out);
    assert!(
        ran.out.contains(&format!("<testcase classname=\"composed operations\" name=\"{}\">", bad())),
        "{}",
        ran.out
    );
    let ran = interloper(&["run", bad(), "--executions", "1", "--format", "junit"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.out.contains("failures=\"1\"") && ran.out.contains("<failure message="), "{}", ran.out);
    // The finding of a program, at its lines.
    let ran = interloper(&["run", "figure-1", "--format", "sarif"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let log: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert_eq!((results.len(), &results[0]["ruleId"]), (1, &"panic".into()));
    let place = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(place.as_str().is_some_and(|file| file.ends_with("figures.rs")), "{place}");
    assert_eq!(results[0]["relatedLocations"].as_array().map(Vec::len), Some(2));
}

#[test]
fn each_command_that_judges_has_the_forms_of_services() {
    let folder = Folder::new();
    let hunt = ["hunt", "striped-map", "--schema", "{ get(0); size() } || { put(0, 0) }", "--engine", "systematic"];
    let with = |format: &'static str| [&hunt[..], &["--format", format]].concat();
    let ran = folder.run(&with("junit"));
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.out.contains("<testcase classname=\"objects\" name=\"striped-map.schema\">"), "{}", ran.out);
    assert!(ran.out.contains("<failure message=\"striped-map.schema: "), "{}", ran.out);
    let log: serde_json::Value = serde_json::from_str(&folder.run(&with("sarif")).out).expect("JSON");
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(1));

    folder.run(&["run", "figure-1"]);
    let replay = ["replay", "interloper-failures/figure-1-42.json", "--format", "junit"];
    assert!(folder.run(&replay).out.contains("<testcase classname=\"replays\""));
    folder.edit(replay[1], |file| file["finding"] = "deadlock".into());
    let ran = folder.run(&replay);
    assert!(ran.code == Some(1) && ran.out.contains("<failure message=\"diverged: "), "{}", ran.out);

    let call =
        "{\"process\":0,\"type\":\"invoke\",\"call\":\"read\"}\n{\"process\":0,\"type\":\"return\",\"value\":VALUE}\n";
    for (value, result) in [
        ("null", "failures=\"0\" errors=\"0\""),
        ("7", "<failure message=\"read() of process 0 cannot have returned 7"),
    ] {
        folder.write("history.jsonl", &call.replace("VALUE", value));
        let ran = folder.run(&["check-history", "--type", "register", "history.jsonl", "--format", "junit"]);
        assert!(ran.out.contains("name=\"history.jsonl\"") && ran.out.contains(result), "{}", ran.out);
    }
    // Others say which forms they have.
    let ran = folder.run(&["list", "--format", "junit"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), "error: 'list' has no form 'junit', only text, json\n"));
}

/// The results of a SARIF log, each as its rule and its places (`file:line`, the one of the result first). Asserts what the
/// standard demands of the properties that are written (SARIF 2.1.0, sections 3.13 to 3.30).
fn results(log: &str) -> Vec<(String, Vec<String>)> {
    let log: serde_json::Value = serde_json::from_str(log).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let [run] = &log["runs"].as_array().expect("runs")[..] else { panic!("one run: {log}") };
    assert_eq!(run["tool"]["driver"]["name"], "interloper");
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let place = |location: &serde_json::Value| {
        let (artifact, region) =
            (&location["physicalLocation"]["artifactLocation"], &location["physicalLocation"]["region"]);
        let uri = artifact["uri"].as_str().expect("an address");
        assert!(!uri.is_empty() && uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri}");
        assert!(region["startColumn"].as_u64() >= Some(1), "{region}");
        let line = region["startLine"].as_u64().filter(|line| *line >= 1).expect("a line");
        format!("{uri}:{line}")
    };
    let result = |result: &serde_json::Value| {
        let rule = result["ruleId"].as_str().expect("a rule");
        assert!(rules.iter().any(|known| known["id"] == rule), "{rule}");
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        assert!(["note", "warning", "error"].iter().any(|level| result["level"] == *level), "{result}");
        let places = [&result["locations"], &result["relatedLocations"]];
        let places = places.into_iter().filter_map(serde_json::Value::as_array).flatten().map(place);
        (rule.to_owned(), places.collect())
    };
    run["results"].as_array().expect("results").iter().map(result).collect()
}

#[test]
fn visibility_has_a_case_for_each_method() {
    let folder = Folder::new();
    let asked = |object: &'static str, format: &'static str| {
        let small = ["--engine", "systematic", "--programs", "40", "--seed", "1", "--format", format];
        folder.run(&[&["visibility", object], &small[..]].concat())
    };
    let ran = asked("striped-map", "junit");
    let methods = ran.out.matches("<testcase classname=\"visibility\"").count();
    let table: serde_json::Value = serde_json::from_str(&asked("striped-map", "json").out).expect("JSON");
    let derived = table["methods"].as_array().expect("methods");
    assert_eq!((ran.code, methods), (Some(0), derived.len() + 1), "{}", ran.out);
    assert!(ran.out.contains("failures=\"0\"") && ran.out.contains("<system-out>visibility "), "{}", ran.out);
    // What refutes a level of a method is a finding, at the lines of the object; an atomic method has none.
    let refuted = derived.iter().filter(|one| !one["refuted"].as_array().expect("a list").is_empty()).count();
    let found = results(&asked("striped-map", "sarif").out);
    assert!(refuted > 0 && refuted < derived.len(), "{refuted} of {}", derived.len());
    assert_eq!(found.len(), refuted);
    assert!(found.iter().all(|(rule, places)| rule == "not-atomic" && !places.is_empty()), "{found:?}");
}

#[test]
fn a_history_is_judged_at_its_lines() {
    let folder = Folder::new();
    let call =
        "{\"process\":3,\"type\":\"invoke\",\"call\":\"read\"}\n{\"process\":3,\"type\":\"return\",\"value\":VALUE}\n";
    let check = ["check-history", "--type", "register", "a history.jsonl", "--format", "sarif"];
    folder.write("a history.jsonl", &call.replace("VALUE", "null"));
    assert_eq!(results(&folder.run(&check).out), []);
    folder.write("a history.jsonl", &call.replace("VALUE", "7"));
    let places = ["a%20history.jsonl:2", "a%20history.jsonl:1"].map(str::to_owned);
    assert_eq!(results(&folder.run(&check).out), [("not-atomic".to_owned(), places.to_vec())]);
    let ran = folder.annotated(&check[..4]);
    let title = "title=a history.jsonl%3A not linearizable::process 3";
    let claim = "▲ read() of process 3 cannot have returned 7 (lines 1 to 2).";
    let expected = format!(
        "::error file=a history.jsonl,line=1,col=1,{title} invokes read()%0A{claim}\n\
         ::error file=a history.jsonl,line=2,col=1,{title} returns 7%0A{claim}\n"
    );
    assert_eq!((ran.code, ran.err), (Some(1), expected));
}

#[test]
fn a_comparison_has_a_suite_for_each_adversary() {
    let asked = |format| interloper(&["compare", "--executions", "40", "--format", format]);
    let table: serde_json::Value = serde_json::from_str(&asked("json").out).expect("JSON");
    let cases = table["cases"].as_array().expect("cases");
    let missed = |adversary: &str| cases.iter().filter(|case| case[adversary].is_null()).count();
    let junit = asked("junit").out;
    for adversary in ["naive", "nearest", "preceding"] {
        let suite = format!(
            "<testsuite name=\"{adversary}\" tests=\"{}\" failures=\"0\" errors=\"0\" skipped=\"{}\">",
            cases.len(),
            missed(adversary)
        );
        assert!(junit.contains(&suite), "{suite}\n{junit}");
    }
    let missed: usize = ["naive", "nearest", "preceding"].map(missed).iter().sum();
    let found = results(&asked("sarif").out);
    assert!(missed > 0 && found.iter().all(|(_, places)| !places.is_empty()));
    // One case waits for its own lock: the two adversaries that go by the steps find it.
    let deadlocks = found.iter().filter(|(rule, _)| rule == "deadlock").count();
    assert_eq!((deadlocks, found.iter().filter(|(rule, _)| rule == "not-atomic").count()), (2, found.len() - 2));
    assert_eq!(found.len(), 3 * cases.len() - missed);
}

/// On standard error, so that the result stays the same; what is expected is no error of the change.
#[test]
fn github_is_told_the_lines_of_what_failed() {
    let folder = Folder::new();
    let lines = |err: &str| err.lines().filter(|line| line.starts_with("::")).map(str::to_owned).collect::<Vec<_>>();
    let hunt = ["hunt", "striped-map", "--schema", "{ get(0); size() } || { put(0, 0) }", "--engine", "systematic"];
    let (plain, annotated) = (folder.run(&hunt), folder.annotated(&hunt));
    assert_eq!((plain.out, lines(&plain.err)), (annotated.out, Vec::new()));
    let [line] = &lines(&annotated.err)[..] else { panic!("one line: {}", annotated.err) };
    assert!(line.starts_with("::error file=") && line.contains("title=striped-map.schema%3A "), "{line}");
    // Programs that read events have the places there.
    assert_eq!(lines(&folder.annotated(&[&hunt[..], &["--progress", "json"]].concat()).err), Vec::<String>::new());
    // The suite expects its violations.
    let expected = folder.annotated(&["run", "figure-1"]);
    assert_eq!((expected.code, lines(&expected.err)), (Some(0), Vec::new()));
}

#[test]
fn what_is_shown_has_the_forms_of_services() {
    let ran = interloper(&["show", "figure-1", "--format", "junit"]);
    let case = "<testcase classname=\"programs with blocks\" name=\"figure-1\">";
    assert!(ran.code == Some(0) && ran.out.contains(case), "{}", ran.out);
    let log = |command| results(&interloper(&[command, "figure-1", "--format", "sarif"]).out);
    assert_eq!((log("show").len(), log("show")), (1, log("run")));
}

/// The result on standard output is the same however progress is shown.
#[test]
fn progress_is_told_as_events() {
    let run = ["run", bad(), good(), "arc-drop-unfenced"];
    let quiet = interloper(&[&run[..], &["--progress", "off"]].concat());
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""));
    let told = interloper(&[&run[..], &["--progress", "json"]].concat());
    assert_eq!((told.code, told.out == quiet.out), (Some(0), true));
    let events: Vec<Value> = told.err.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let of = |kind: &str| -> Vec<&Value> { events.iter().filter(|event| event["event"] == kind).collect() };
    let started: Vec<(&Value, &Value)> = of("started").iter().map(|event| (&event["what"], &event["total"])).collect();
    assert_eq!(started, [(&"case".into(), &2.into()), (&"program".into(), &1.into())]);
    let finished: Vec<(&Value, &Value)> = of("finished").iter().map(|event| (&event["what"], &event["done"])).collect();
    assert_eq!(finished, [(&"case".into(), &2.into()), (&"program".into(), &1.into())]);
    assert_eq!(of("progress").iter().filter(|event| event["name"] == good()).count(), 1, "{}", told.err);
    let mut found: Vec<&str> = of("finding").iter().filter_map(|event| event["name"].as_str()).collect();
    found.sort_unstable();
    let mut expected = [bad(), "arc-drop-unfenced"];
    expected.sort_unstable();
    assert_eq!(found, expected, "{} shows no violation", good());
    let panic = of("finding").into_iter().find(|event| event["name"] == "arc-drop-unfenced").expect("it was found");
    let place = &panic["places"][0];
    assert!(panic["expected"] == true && panic["verdict"] == "panic", "{panic}");
    assert!(place["file"].as_str().expect("a file").ends_with(".rs") && place["line"].is_u64(), "{panic}");
    assert!(of("phase").iter().any(|event| event["phase"] == "searching"), "{}", told.err);
}

/// The events of a command, and its exit code.
fn told(folder: &Folder, arguments: &[&str]) -> (Vec<Value>, Option<i32>) {
    let plain = folder.run(arguments);
    let ran = folder.run(&[arguments, &["--progress", "json"]].concat());
    assert_eq!((&ran.out, ran.code), (&plain.out, plain.code), "the result is the same however progress is shown");
    (ran.err.lines().map(|line| serde_json::from_str(line).expect(line)).collect(), ran.code)
}

fn findings(events: &[Value]) -> Vec<&Value> {
    events.iter().filter(|event| event["event"] == "finding").collect()
}

/// Of each command one that finds something, and one that does not.
#[test]
fn every_command_that_judges_tells_its_findings() {
    let folder = Folder::new();
    let schema = |put: &str| format!("{{ get(0); size() }} || {{ {put} }}");
    let (wrong, right) = (schema("put(0, 0)"), schema("get(1)"));
    let history = |read: u32| {
        format!(
            "{{\"process\":0,\"type\":\"invoke\",\"call\":\"write\",\"args\":[1]}}\n{{\"process\":0,\"type\":\"return\",\"value\":null}}\n\
             {{\"process\":1,\"type\":\"invoke\",\"call\":\"read\",\"args\":[]}}\n{{\"process\":1,\"type\":\"return\",\"value\":{read}}}\n"
        )
    };
    folder.write("stale.jsonl", &history(0));
    folder.write("sound.jsonl", &history(1));
    assert_eq!(folder.run(&["run", bad()]).code, Some(0));
    let replay = format!("interloper-failures/{}-42.json", bad());
    let file = folder.read(&replay);
    // What is counted, the command, and the finding: its name, its verdict, and whether it is expected.
    type Case<'a> = (&'a str, Vec<&'a str>, Option<(&'a str, &'a str, bool)>);
    let all: [Case<'_>; 7] = [
        ("schema", vec!["hunt", "striped-map", "--schema", &wrong], Some(("striped-map.schema", "not atomic", false))),
        ("schema", vec!["hunt", "striped-map", "--schema", &right], None),
        (
            "history",
            vec!["check-history", "--type", "register", "stale.jsonl"],
            Some(("stale.jsonl", "not linearizable", false)),
        ),
        ("history", vec!["check-history", "--type", "register", "sound.jsonl"], None),
        ("replay", vec!["replay", &replay], Some((&replay, "not linearizable", true))),
        ("schema", vec!["visibility", "two-lock-queue", "--method", "put", "--programs", "10"], None),
        ("schema", vec!["hunt", "two-lock-queue", "--method", "put", "--programs", "2"], None),
    ];
    for (what, arguments, expected) in all {
        let (events, _) = told(&folder, &arguments);
        let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
        assert_eq!((of("started"), of("finished")), (1, 1), "{arguments:?}: {events:?}");
        assert!(events[0]["what"] == what && events.last().expect("events")["event"] == "finished", "{events:?}");
        match (&findings(&events)[..], expected) {
            ([], None) => {}
            ([found], Some((name, verdict, expected))) => {
                assert_eq!(
                    (&found["name"], &found["verdict"], &found["expected"]),
                    (&name.into(), &verdict.into(), &expected.into())
                );
                assert!(found["places"][0]["line"].is_u64(), "{found}");
            }
            (others, expected) => panic!("{arguments:?}: {others:?} instead of {expected:?}"),
        }
    }
    // A level that falls is what a derivation is about.
    let (events, code) = told(&folder, &["visibility", "striped-map", "--method", "size", "--programs", "40"]);
    let found = findings(&events);
    assert!(code == Some(0) && !found.is_empty() && found.iter().all(|found| found["expected"] == true), "{found:?}");
    // What differs from the file is not expected.
    folder.write("other.json", &file.replacen("\"finding\": \"not-linearizable\"", "\"finding\": \"panic\"", 1));
    let (events, code) = told(&folder, &["replay", "other.json"]);
    assert_eq!(code, Some(1), "{events:?}");
    assert!(findings(&events).iter().all(|found| found["expected"] == false), "{events:?}");
}
