//! Admitted outcomes and recorded histories: `outcomes`, `types`, `check-history`, `generate-history`.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::explore::data;
use super::refusals::{refused, refused_in};
use super::{Folder, interloper};

const SCHEMA: &str = "{ put(1,0); contains(0) } || { put(0,0); put(1,1) }";

#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let ran = interloper(arguments);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{arguments:?}");
    ran.out
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON document")
}

#[test]
fn outcomes_as_json() {
    let out = printed(&["outcomes", "map", SCHEMA, "--visibility", "contains=monotonic", "--format", "json"]);
    let expected = json!({
        "version": 1,
        "type": "map",
        "schema": SCHEMA,
        "visibility": { "contains": "monotonic" },
        "linearizations": 6,
        "outcomes": [[null, false, null, 0], [null, true, null, 0], [1, true, null, null]],
    });
    assert_eq!(parsed(&out), expected);
}

#[test]
fn results_as_json() {
    let outcomes = |name: &str, schema: &str| {
        parsed(&printed(&["outcomes", name, schema, "--format", "json"]))["outcomes"].clone()
    };
    assert_eq!(
        outcomes("sorted-map", "{ firstKey(); putAll({1=0,0=1}); entrySet(); pollFirstEntry(); get(0) }"),
        json!([[{ "error": "empty" }, "()", [[0, 1], [1, 0]], [0, 1], null]])
    );
    assert_eq!(outcomes("queue", "[ offer(1); offer(0) ], [ toArray() ], {0<1}"), json!([[true, true, [1, 0]]]));
    assert_eq!(outcomes("set", "{ addAll([1,0]); toArray(); toString() }"), json!([[true, [0, 1], "[0, 1]"]]));
    assert_eq!(
        outcomes("map", "{ clear() } || { put(\"a\",true); containsKey(\"a\") }"),
        json!([["()", null, false], ["()", null, true]])
    );
}

#[test]
fn outcomes_as_text() {
    assert_eq!(
        printed(&["outcomes", "map", SCHEMA]),
        "map: { put(1, 0); contains(0) } || { put(0, 0); put(1, 1) }\n\
         6 linearizations, 2 outcomes\n\
         \n\
         null, true, null, 0\n\
         1, true, null, null\n"
    );
    assert_eq!(
        printed(&["outcomes", "map", SCHEMA, "--visibility", "contains=weak"]),
        "map: { put(1, 0); contains(0) } || { put(0, 0); put(1, 1) }\n\
         visibility: contains=weak\n\
         6 linearizations, 4 outcomes\n\
         \n\
         outcome                atomic?\n\
         ──────────────────────────────\n\
         null, false, null, 0   ✗\n\
         null, true, null, 0    ✓\n\
         1, false, null, null   ✗\n\
         1, true, null, null    ✓\n"
    );
}

#[test]
fn many_outcomes() {
    let schema = format!("{{ put(0,0); put(1,1) }} || {{ {} }}", ["size()"; 8].join("; "));
    let arguments = ["outcomes", "map", &schema, "--visibility", "size=weak"];
    // Each of the 8 sees none, one or both of the puts; atomic ones count up.
    let out = printed(&arguments);
    assert!(out.contains("45 linearizations, 6561 outcomes\n"), "{out}");
    let lines: Vec<&str> = out.lines().skip(6).collect();
    assert_eq!(lines.len(), 6561);
    assert!(lines.is_sorted());
    assert_eq!(lines.iter().filter(|line| line.ends_with(" ✓")).count(), 45);
    let all = parsed(&printed(&[&arguments[..], &["--format", "json"]].concat()));
    assert_eq!(all["outcomes"].as_array().map(Vec::len), Some(6561));
    assert_eq!(all["linearizations"], json!(45));
    refused(
        &[&arguments[..], &["--limit", "6560"]].concat(),
        "the schema admits 6561 outcomes, too many to list; --limit sets how many are listed, now 6560",
    );
}

/// Table 1 of *Weak-consistency specification via visibility relaxation*, its linearizations in lexicographic order.
#[test]
fn the_table_of_the_paper() {
    assert_eq!(
        printed(&["outcomes", "map", SCHEMA, "--visibility", "contains=monotonic", "--explain"]),
        "\
map: { put(1, 0); contains(0) } || { put(0, 0); put(1, 1) }
visibility: contains=monotonic
6 linearizations, 3 outcomes

linearization                                  visibility of contains            outcome
─────────────────────────────────────────────────────────────────────────────────────────────────────
put(1, 0); contains(0); put(0, 0); put(1, 1)   put(1, 0)                         null, true, null, 0
put(1, 0); put(0, 0); contains(0); put(1, 1)   put(1, 0)                         null, true, null, 0
                                               put(1, 0); put(0, 0)              null, true, null, 0
put(1, 0); put(0, 0); put(1, 1); contains(0)   put(1, 0)                         null, true, null, 0
                                               put(1, 0); put(0, 0)              null, true, null, 0
                                               put(1, 0); put(1, 1)              null, false, null, 0
                                               put(1, 0); put(0, 0); put(1, 1)   null, true, null, 0
put(0, 0); put(1, 0); contains(0); put(1, 1)   put(0, 0); put(1, 0)              null, true, null, 0
put(0, 0); put(1, 0); put(1, 1); contains(0)   put(0, 0); put(1, 0)              null, true, null, 0
                                               put(0, 0); put(1, 0); put(1, 1)   null, true, null, 0
put(0, 0); put(1, 1); put(1, 0); contains(0)   put(0, 0); put(1, 1); put(1, 0)   1, true, null, null
"
    );
}

#[test]
fn an_explanation_as_json_and_of_several_calls_of_a_method() {
    let schema = "{ size(); size() } || { put(0,0) }";
    let arguments = ["outcomes", "map", schema, "--visibility", "size=weak", "--explain"];
    let out = printed(&[&arguments[..], &["--format", "json"]].concat());
    let explanation = parsed(&out)["explanation"].clone();
    // Three linearizations: size, which is first, sees nothing; the others choose from 1 or 2 before them.
    assert_eq!(explanation.as_array().map(Vec::len), Some(2 + 4 + 8));
    assert_eq!(
        explanation[0],
        json!({ "linearization": [0, 1, 2], "visible": { "0": [], "1": [] }, "outcome": [0, 0, null] })
    );
    let out = printed(&arguments);
    assert!(out.contains("visibility of size(), number 0   visibility of size(), number 1   outcome\n"), "{out}");
}

#[test]
fn schemas_that_are_none() {
    let check = |schema: &str, expected: &str| {
        let ran = interloper(&["outcomes", "map", schema]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(2), "", expected), "{schema}");
    };
    check("{ put(1 0) }", "error: expected `,` or `)`, found `0`\n  { put(1 0) }\n          ^\n");
    check("", "error: expected a sequence: `{` or `[`, found the end\n  \n  ^\n");
    check("{ put(1) }", "error: in map: put takes 2 arguments, not 1\n  { put(1) }\n    ^\n");
    check("{ put(\u{1b}[31m) }", "error: expected a value, found `\\u{1b}`\n  { put( [31m) }\n        ^\n");
}

#[test]
fn requests_of_outcomes_that_are_wrong() {
    refused(&["outcomes", "mop", SCHEMA], "no type 'mop'; did you mean 'map'?");
    refused(
        &["outcomes", "§", SCHEMA],
        "no type '§'; there are map, sorted-map, set, sorted-set, queue, deque, priority-queue, stack, counter, register, kv",
    );
    let with = |visibility| ["outcomes", "map", SCHEMA, "--visibility", visibility];
    refused(&with("contain=weak"), "--visibility: no method of a map 'contain'; did you mean 'contains'?");
    refused(&with("size=weak(§)"), "--visibility: no method of a map '§'; 'interloper types map' lists them");
    refused(
        &with("size=strong"),
        "--visibility: there is no visibility \"strong\"; there are weak, basic, monotonic, peer, causal, complete, \
         linPrefix, linMonotonic",
    );
    refused(&with("size"), "--visibility: \"size\" is not of the form METHOD=LEVEL");
    refused(&with("size=weak,size=weak"), "--visibility: the visibility of size is given twice");
    refused(
        &["outcomes", "map", SCHEMA, "--limit", "3"],
        "the schema has more than 3 configurations; raise the bound, use fewer invocations, or relax fewer of them; \
         --limit sets the bound",
    );
    refused(
        &["outcomes", "map", SCHEMA, "--limit", "0"],
        "invalid value '0' for '--limit <N>': a limit is a whole number of at least 1",
    );
    let long = format!("{{ {} }}", vec!["get(0)"; 65].join("; "));
    refused(&["outcomes", "map", &long], "the schema has 65 invocations; exact outcomes are limited to 64");
    // 7! linearizations of 2^7 configurations.
    let wide = ["{ size() }"; 7].join(" || ");
    refused(
        &["outcomes", "map", &wide, "--explain", "--limit", "1000"],
        "--explain: the schema has more than 1000 linearizations with visibilities; raise the bound, use fewer \
         invocations, or relax fewer of them; --limit sets the bound",
    );
    refused(&["outcomes", "map", SCHEMA, "--seed", "1"], "'outcomes' does not use --seed");
}

#[test]
fn types_and_their_methods() {
    let out = printed(&["types", "register"]);
    let expected = "\
type       method
──────────────────────────────────────
register   read()              reads
           write(value)        changes
           cas(value, value)   changes
";
    assert_eq!(out, expected);
    let all = parsed(&printed(&["types", "--format", "json"]));
    assert_eq!(all["types"].as_array().map(Vec::len), Some(11));
    assert_eq!(all["types"][0]["name"], json!("map"));
    refused(&["types", "sets"], "no type 'sets'; did you mean 'set'?");
}

fn invoke(process: i64, call: &str, arguments: Value) -> String {
    format!("{}\n", json!({ "process": process, "type": "invoke", "call": call, "args": arguments }))
}

fn returned(process: i64, value: Value) -> String {
    format!("{}\n", json!({ "process": process, "type": "return", "value": value }))
}

/// A register in which 2 is overwritten by nothing, and then 1 is read.
fn stale() -> String {
    [
        invoke(0, "write", json!([1])),
        invoke(1, "read", json!([])),
        returned(0, Value::Null),
        invoke(0, "write", json!([2])),
        returned(0, Value::Null),
        returned(1, json!(2)),
        invoke(1, "read", json!([])),
        returned(1, json!(1)),
    ]
    .concat()
}

#[test]
fn a_history_that_is_not_linearizable() {
    let folder = Folder::new();
    folder.write("stale.jsonl", &stale());
    let ran = folder.run(&["check-history", "--type", "register", "stale.jsonl", "--html", "stale.html"]);
    let expected = "\
✗ not linearizable: register, 4 calls of 2 processes
  judged without a search, since no value is inserted twice

read() of process 1 cannot have returned 1 (lines 7 to 8).

The longest linearization before its return has 3 calls:

line   process   call       result   state
──────────────────────────────────────────
1      0         write(1)   null     1
4      0         write(2)   null     2
2      1         read()     2        2

After these calls, read() would return 2.
";
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(1), expected, ""));
    let page = data(&folder.read("stale.html"));
    assert_eq!((page.tasks.len(), page.steps.len(), page.spans.len()), (2, 8, 4));
    assert_eq!(page.spans.iter().filter(|span| span.marked).count(), 1);
    let effects: Vec<(u32, Option<u32>)> = page.linearization.iter().map(|one| (one.number, one.span)).collect();
    // The calls in the order of their invocations: write(1), read() of 2, write(2), and the last.
    assert_eq!(effects, [(1, Some(0)), (2, Some(2)), (3, Some(1))]);
    assert!(page.linearization.iter().all(|one| one.after.is_some()) && page.is_wrong);
    assert!(page.notes.iter().any(|note| note == "read() of process 1 cannot have returned 1 (lines 7 to 8)."));
    // A call comes after those that returned before it.
    assert!(page.steps.iter().any(|step| !step.after.is_empty()));
    let ran = folder.run(&["check-history", "--type", "register", "stale.jsonl", "--format", "json"]);
    let expected = json!({
        "version": 1,
        "type": "register",
        "verdict": "not linearizable",
        "calls": 4,
        "pending": 0,
        "processes": 2,
        "parts": 1,
        "checker": "distinct values",
        "stuck": { "lines": [7, 8], "process": 1, "call": "read", "args": [], "value": 1 },
        "longest": [[1, 4, 2]],
    });
    assert_eq!((ran.code, parsed(&ran.out)), (Some(1), expected));
}

#[test]
fn a_history_that_is_linearizable() {
    let folder = Folder::new();
    // The last read does not return, so nothing is known of it.
    let text = stale();
    folder.write("good.jsonl", text.trim_end().rsplit_once('\n').expect("lines").0);
    let ran = folder.run(&["check-history", "--type", "register", "good.jsonl", "--html", "good.html"]);
    let expected = "\
✓ linearizable: register, 4 calls of 2 processes, 1 pending
  judged without a search, since no value is inserted twice
";
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), expected, ""));
    let page = data(&folder.read("good.html"));
    assert_eq!((page.is_wrong, page.linearization.len()), (false, 3));
    assert_eq!(page.spans.iter().filter(|span| span.until.is_none()).count(), 1);
    let ran = folder.run(&["check-history", "--type", "register", "good.jsonl", "--format", "json"]);
    assert_eq!(parsed(&ran.out)["linearization"], json!([1, 4, 2]));
}

#[test]
fn a_history_on_standard_input() {
    let folder = Folder::new();
    let mut command = folder.command(&["check-history", "--type", "register", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary was built");
    child.stdin.take().expect("a pipe").write_all(stale().as_bytes()).expect("the binary reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.starts_with("✗ not linearizable: register".as_bytes()));
}

#[test]
fn a_search_that_takes_too_long() {
    let folder = Folder::new();
    // Any of 2^40 sums, and none of them is -1.
    let adds: String = (0..40).map(|bit| invoke(bit, "add", json!([1i64 << bit]))).collect();
    folder.write("hard.jsonl", &[adds, invoke(40, "get", json!([])), returned(40, json!(-1))].concat());
    let ran = folder.run(&["check-history", "--type", "counter", "hard.jsonl", "--time", "0.1", "--html", "hard.html"]);
    let expected = "\
? unknown: counter, 41 calls of 41 processes, 40 pending
  judged by a search

No verdict within 0.1 seconds; --time sets the limit.
";
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(4), expected, ""));
    assert!(folder.read("hard.html").contains("No verdict within 0.1 seconds; --time sets the limit."));
    let ran = folder.run(&["check-history", "--type", "counter", "hard.jsonl", "--time", "0.1", "--format", "json"]);
    let document = parsed(&ran.out);
    assert_eq!((ran.code, &document["verdict"], &document["unknown"]), (Some(4), &json!("unknown"), &json!("time")));
}

#[test]
fn a_hard_part_does_not_hide_another() {
    let folder = Folder::new();
    // Of 40 puts that overlap any may be the last, and none of them writes what is read; then there is a second key.
    let puts: String = (0..40).map(|n| invoke(n, "put", json!([1, "a".repeat(n as usize + 1)]))).collect();
    let ends: String = (0..40).map(|n| returned(n, json!("()"))).collect();
    let read = |key: i64, text: &str| [invoke(0, "get", json!([key])), returned(0, json!(text))].concat();
    for (text, code) in [("y", 1), ("", 4)] {
        folder.write("hard.jsonl", &[&puts, &ends, &read(1, "x"), &read(2, text)].map(String::as_str).concat());
        let ran = folder.run(&["check-history", "--type", "kv", "hard.jsonl", "--time", "2"]);
        assert_eq!(ran.code, Some(code), "{}", ran.out);
        assert_eq!(ran.out.contains("get(2) of process 0 cannot have returned \"y\""), code == 1, "{}", ran.out);
    }
}

#[test]
fn reading_takes_time_too() {
    let folder = Folder::new();
    let mut command = folder.command(&["check-history", "--type", "register", "-", "--time", "0.3"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary was built");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(stale().as_bytes()).expect("the binary reads");
    // The pipe stays open.
    let output = child.wait_with_output().expect("it ends");
    drop(pipe);
    let expected = "\
? unknown: register, 4 calls of 2 processes

No verdict within 0.3 seconds, all spent on reading the history; --time sets the limit.
";
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).as_ref()), (Some(4), expected));
}

#[test]
fn ways_to_write_values() {
    let folder = Folder::new();
    let check = |call: &str, arguments: Value, result: Value, code: i32| {
        folder.write("one.jsonl", &[invoke(0, call, arguments), returned(0, result)].concat());
        let ran = folder.run(&["check-history", "--type", "register", "one.jsonl"]);
        assert_eq!(ran.code, Some(code), "{}{}", ran.out, ran.err);
        ran.out
    };
    // No result has two forms.
    for (nothing, code) in [(json!(null), 0), (json!("()"), 0), (json!(0), 1)] {
        check("write", json!([1]), nothing, code);
    }
    // There is one zero.
    folder.write("zero.jsonl", "{\"process\":-0,\"type\":\"invoke\",\"call\":\"write\",\"args\":[-0]}");
    assert_eq!(folder.run(&["check-history", "--type", "register", "zero.jsonl"]).code, Some(0));
    // What is shown has no effect on the terminal.
    for text in ["\u{1b}[2J\n", "\u{9b}31m", "\u{202e}x", "\r"] {
        for shown in [check("read", json!([]), json!({ "error": text }), 1), check("read", json!([]), json!(text), 1)] {
            assert!(shown.contains("cannot have returned"), "{shown}");
            let is_plain = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
            assert!(shown.chars().all(is_plain), "{shown:?}");
        }
    }
}

#[test]
fn histories_that_are_none() {
    let folder = Folder::new();
    folder.write("twice.jsonl", &[stale(), returned(1, json!(1))].concat());
    folder.write("other.jsonl", &invoke(0, "pop", json!([])));
    folder.write("text.jsonl", "no JSON");
    let check = |arguments: &[&str], expected: &str| {
        refused_in(&folder, &[&["check-history", "--type", "register"], arguments].concat(), expected);
    };
    check(&["twice.jsonl"], "twice.jsonl, line 9: process 1 has no open call that could end here");
    check(&["other.jsonl"], "other.jsonl, line 1: in register: there is no method pop; there are cas, read, write");
    check(&["text.jsonl"], "text.jsonl, line 1: not JSON: expected ident, at column 2");
    check(&["missing.jsonl"], "cannot read missing.jsonl: No such file or directory (os error 2)");
    check(&["twice.jsonl", "--seed", "1"], "'check-history' does not use --seed");
    check(&["twice.jsonl", "--format", "html"], "'check-history' writes its pages with --html FILE");
    folder.write("good.jsonl", &invoke(0, "read", json!([])));
    check(
        &["good.jsonl", "--html", "missing/page.html"],
        "cannot write missing/page.html: No such file or directory (os error 2)",
    );
    refused_in(&folder, &["check-history", "--type", "stak", "good.jsonl"], "no type 'stak'; did you mean 'stack'?");
}

#[test]
fn generated_histories() {
    let folder = Folder::new();
    for name in ["register", "counter", "kv", "map", "set", "queue", "stack", "priority-queue"] {
        let generate = ["generate-history", "--type", name, "--calls", "60", "--seed", "7"];
        let text = printed(&generate);
        assert_eq!(text, printed(&generate), "{name}");
        assert_eq!(text.lines().count(), 120, "{name}");
        folder.write("history.jsonl", &text);
        let ran = folder.run(&["check-history", "--type", name, "history.jsonl"]);
        assert_eq!(ran.code, Some(0), "{name}: {}{}", ran.out, ran.err);
        assert_ne!(text, printed(&[&generate[..], &["--corrupt"]].concat()), "{name}");
    }
    refused(
        &["generate-history", "--type", "deque"],
        "no type with a generator 'deque'; there are register, counter, kv, map, set, queue, stack, priority-queue",
    );
    refused(
        &["generate-history", "--type", "queue", "--keys", "3"],
        "a queue has no keys: --keys is for kv, map and register",
    );
    refused(
        &["generate-history", "--type", "queue", "--calls", "0", "--corrupt"],
        "no two calls have results to exchange; generate more calls",
    );
}
