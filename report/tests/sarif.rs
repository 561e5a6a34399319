//! A log with a fix for one of its results.

use interloper_report::sarif::{Finding, Fix, Level, Place, Replacement, Rule, log, log_with_fixes};
use serde_json::{Value, json};

const RULES: [Rule; 1] = [Rule { id: "not-atomic", text: "It is not atomic." }];

fn finding() -> Finding<'static> {
    Finding {
        rule: RULES[0].id,
        level: Level::Warning,
        text: "f is not atomic".to_owned(),
        place: Place { file: "src/my lib.rs", line: 3, column: 5 },
        related: Vec::new(),
    }
}

fn results(log: &str) -> Value {
    let log: Value = serde_json::from_str(log).expect("JSON");
    log["runs"][0]["results"].clone()
}

#[test]
fn a_fix_replaces_parts_of_a_file() {
    let replacements = vec![
        Replacement { from: (3, 5), to: (4, 1), text: "g();\n" },
        Replacement { from: (6, 1), to: (7, 1), text: "" },
    ];
    let fix = Fix { text: "Make it one step.".to_owned(), file: "src/my lib.rs", replacements };
    let results = results(&log_with_fixes(&RULES, [(finding(), Some(fix)), (finding(), None)]));
    let region = |from: [u32; 2], to: [u32; 2]| json!({ "startLine": from[0], "startColumn": from[1], "endLine": to[0], "endColumn": to[1] });
    assert_eq!(
        results[0]["fixes"],
        json!([{
            "description": { "text": "Make it one step." },
            "artifactChanges": [{
                "artifactLocation": { "uri": "src/my%20lib.rs" },
                "replacements": [
                    { "deletedRegion": region([3, 5], [4, 1]), "insertedContent": { "text": "g();\n" } },
                    { "deletedRegion": region([6, 1], [7, 1]), "insertedContent": { "text": "" } },
                ],
            }],
        }])
    );
    assert_eq!(results[1].get("fixes"), None);
}

#[test]
fn a_log_without_fixes_is_what_it_was() {
    assert_eq!(log(&RULES, [finding()]), log_with_fixes(&RULES, [(finding(), None)]));
    assert!(!log(&RULES, [finding()]).contains("fixes"));
}
