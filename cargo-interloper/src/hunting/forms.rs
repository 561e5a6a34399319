//! The results of hunts for services: JUnit XML and a SARIF log, made from the data that each hunt has printed.

use interloper_report::junit::{self, Case, Outcome, Suite};
use interloper_report::parts;
use interloper_report::sarif::{Finding, Level, Place, Rule, log};
use serde_json::Value;

/// What came of the objects of a hunt.
pub struct Hunted<'r> {
    /// The data of each object.
    pub objects: Vec<Value>,
    /// Those that were not hunted, with the reason.
    pub left: Vec<(&'r str, &'r str)>,
}

const NOT_ATOMIC: &str = "not-atomic";
const RULES: [Rule; 1] = [Rule { id: NOT_ATOMIC, text: "A method of a concurrent object is not atomic." }];
/// The verdicts of methods that were judged without a finding, and of those that were not judged.
const CLEAN: &str = "no violation found";
const UNJUDGED: &str = "not judged";

/// A suite for each object, with a case for each method. A failure is what makes the exit code 1.
pub fn junit(hunted: &Hunted<'_>) -> String {
    let suite = |object: &Value| Suite {
        name: text(&object["object"]).to_owned(),
        cases: list(&object["methods"]).iter().map(case).collect(),
    };
    let left = |(object, reason): &(&str, &str)| Suite {
        name: (*object).to_owned(),
        cases: vec![Case {
            name: "object".to_owned(),
            result: Outcome::Unjudged { reason: (*reason).to_owned() },
            output: String::new(),
        }],
    };
    let suites: Vec<Suite> = hunted.objects.iter().map(suite).chain(hunted.left.iter().map(left)).collect();
    junit::render(&suites)
}

fn case(method: &Value) -> Case {
    let (name, verdict) = (text(&method["method"]), text(&method["verdict"]));
    let result = match verdict {
        CLEAN => Outcome::Passed,
        UNJUDGED => Outcome::Unjudged { reason: format!("{name}: no schema could be judged") },
        _ => Outcome::Failed { message: says(method), report: format!("{}\n", lines(method).join("\n")) },
    };
    let number = |field: &str| method[field].as_u64().unwrap_or_default();
    let output =
        format!("schemas: {}, executions: {}, traces: {}", number("schemas"), number("executions"), number("traces"));
    Case { name: name.to_owned(), result, output }
}

/// A result for each method with a violation, at the last of the places that matter most.
pub fn sarif(hunted: &Hunted<'_>) -> String {
    let methods = hunted.objects.iter().flat_map(|object| list(&object["methods"]));
    log(&RULES, methods.filter_map(finding))
}

fn finding(method: &Value) -> Option<Finding<'_>> {
    let placed: Vec<(Place<'_>, String)> = list(&method["places"]).iter().filter_map(place).collect();
    let (last, others) = placed.split_last()?;
    let (place, _) = last.clone();
    let related = others.to_vec();
    Some(Finding { rule: NOT_ATOMIC, level: Level::Error, text: lines(method).join(". "), place, related })
}

fn place(value: &Value) -> Option<(Place<'_>, String)> {
    let (file, line, column) = parts(value["place"].as_str()?)?;
    let place = Place { file, line: line.try_into().ok()?, column: column.try_into().ok()? };
    Some((place, text(&value["what"]).to_owned()))
}

/// What is wrong, in one line.
fn says(method: &Value) -> String {
    let schema = method["violation"]["schema"].as_str().map_or(String::new(), |schema| format!(" ({schema})"));
    format!("{}: {}{schema}", text(&method["method"]), text(&method["verdict"]))
}

/// What is wrong, and how to see it again.
fn lines(method: &Value) -> Vec<String> {
    let violation = &method["violation"];
    let outcome = violation.get("outcome").map(|outcome| format!("The calls return {outcome}"));
    let message = violation["message"].as_str().map(|message| format!("It panicked: {message}"));
    let replay = method["replay"].as_str().map(|replay| format!("Replay: {replay}"));
    [Some(says(method)), outcome, message, replay].into_iter().flatten().collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |list| list)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hunted() -> Hunted<'static> {
        let wrong = json!({
            "method": "add", "verdict": "not atomic", "schemas": 3, "executions": 40, "traces": 20,
            "violation": { "schema": "{ add(1) } || { add(1) }", "outcome": [1, 1] },
            "replay": "cargo interloper hunt Total --schema '{ add(1) } || { add(1) }'",
            "places": [
                { "place": "src/lib.rs:7:20", "what": "reads atomic 1" },
                { "place": "src/lib.rs:8:9", "what": "writes atomic 1" },
            ],
        });
        let right = json!({ "method": "get", "verdict": CLEAN, "schemas": 3, "executions": 9, "traces": 9 });
        let unknown = json!({ "method": "max", "verdict": UNJUDGED, "schemas": 0, "executions": 0, "traces": 0 });
        Hunted {
            objects: vec![json!({ "object": "Total", "methods": [wrong, right, unknown] })],
            left: vec![("Other", "not hunted (src/b.rs:1): its module is private")],
        }
    }

    #[test]
    fn each_method_is_a_case() {
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="interloper" tests="4" failures="1" errors="2">
  <testsuite name="Total" tests="3" failures="1" errors="1" skipped="0">
    <testcase classname="Total" name="add">
      <failure message="add: not atomic ({ add(1) } || { add(1) })">add: not atomic ({ add(1) } || { add(1) })
The calls return [1,1]
Replay: cargo interloper hunt Total --schema '{ add(1) } || { add(1) }'
</failure>
      <system-out>schemas: 3, executions: 40, traces: 20</system-out>
    </testcase>
    <testcase classname="Total" name="get">
      <system-out>schemas: 3, executions: 9, traces: 9</system-out>
    </testcase>
    <testcase classname="Total" name="max">
      <error message="max: no schema could be judged"/>
      <system-out>schemas: 0, executions: 0, traces: 0</system-out>
    </testcase>
  </testsuite>
  <testsuite name="Other" tests="1" failures="0" errors="1" skipped="0">
    <testcase classname="Other" name="object">
      <error message="not hunted (src/b.rs:1): its module is private"/>
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(junit(&hunted()), expected);
    }

    #[test]
    fn a_violation_is_a_result_at_its_place() {
        let log: Value = serde_json::from_str(&sarif(&hunted())).unwrap();
        let results = list(&log["runs"][0]["results"]);
        assert_eq!(results.len(), 1, "{log}");
        let line = |location: &Value| location["physicalLocation"]["region"]["startLine"].clone();
        assert_eq!(line(&results[0]["locations"][0]), 8);
        assert_eq!(line(&results[0]["relatedLocations"][0]), 7);
        assert_eq!(
            results[0]["message"]["text"],
            "add: not atomic ({ add(1) } || { add(1) }). The calls return [1,1]. Replay: cargo interloper hunt Total --schema '{ \
             add(1) } || { add(1) }'"
        );
    }
}
