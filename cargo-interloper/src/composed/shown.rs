//! The list of composed operations as text, JSON and SARIF.

use std::collections::BTreeMap;
use std::fmt::Write;

use interloper::report::annotation::of_finding;
use interloper::report::junit;
use interloper::report::plain;
use interloper::report::sarif::{Finding, Level, Place, Rule, log, log_with_fixes};
use interloper::report::table::{Align, Table};
use interloper_composed::{Call, Found, Operation};

use serde::Serialize;

use super::fixes::Fixed;
use super::pairs;
use super::running::{Outcome, counts};
use crate::args::Rendering;

/// The version of the document that [`json`] writes.
pub const VERSION: u32 = 1;

/// A table, the calls of each operation, and what could not be read.
pub fn text(found: &Found) -> String {
    let mut out = String::new();
    let operations = counted(found.operations.len(), "composed operation");
    let _ = writeln!(out, "{operations} in {} with {}", counted(found.files, "file"), counted(found.lines, "line"));
    if !found.operations.is_empty() {
        let _ = writeln!(out, "\n{}", table(found));
        for operation in &found.operations {
            details(&mut out, operation);
        }
    }
    if !found.unread.is_empty() {
        let _ = writeln!(out, "not read:");
        for unread in &found.unread {
            let _ = writeln!(out, "  {}: {}", unread.place, plain::line(&unread.reason));
        }
    }
    out
}

pub(super) fn counted(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

fn table(found: &Found) -> Table {
    let mut table = Table::new(
        ["operation", "place", "pattern", "calls", "can it be run"]
            .map(|heading| (heading, if heading == "calls" { Align::Right } else { Align::Left })),
    );
    for one in &found.operations {
        let place = format!("{}:{}", one.place.file, one.place.line);
        let cells =
            [one.name.clone(), place, one.pattern.to_string(), one.calls.len().to_string(), one.runnable.to_string()];
        table.row(cells);
    }
    table
}

fn details(out: &mut String, operation: &Operation) {
    let _ = writeln!(out, "{} at {}: {}", operation.name, operation.place, operation.pattern);
    for call in &operation.calls {
        let _ = writeln!(out, "  {}:{}  {}", call.place.line, call.place.column, plain::line(&described(call)));
    }
    if let Some(advice) = operation.pattern.advice() {
        let _ = writeln!(out, "  in one step: {advice}");
    }
    out.push('\n');
}

/// `self.map.get, in lookup`.
fn described(call: &Call) -> String {
    let through = if call.through.is_empty() { String::new() } else { format!(", in {}", call.through.join(" → ")) };
    format!("{}.{}{through}", call.collection, call.short())
}

/// One JSON document with a version field.
pub fn json(found: &Found) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        version: u32,
        #[serde(flatten)]
        found: &'a Found,
    }
    let mut text =
        serde_json::to_string_pretty(&Document { version: VERSION, found }).expect("plain data is always JSON");
    text.push('\n');
    text
}

const COMPOSED: &str = "composed-operation";
const UNREAD: &str = "not-read";

const RULES: [Rule; 2] = [
    Rule { id: COMPOSED, text: "Several calls on one concurrent collection: is the operation atomic?" },
    Rule { id: UNREAD, text: "A part of the sources could not be read." },
];

/// A SARIF log: a result for each operation, and for what could not be read.
pub fn sarif(found: &Found) -> String {
    let operations = found.operations.iter().map(|one| {
        let calls: Vec<String> = one.calls.iter().map(described).collect();
        let advice = one.pattern.advice().map_or(String::new(), |advice| format!(" In one step: {advice}."));
        Finding {
            rule: COMPOSED,
            level: Level::Note,
            text: format!("{} is a composed operation ({}): {}.{advice}", one.name, one.pattern, calls.join("; ")),
            place: sarif_place(&one.place),
            related: one.calls.iter().map(|call| (sarif_place(&call.place), described(call))).collect(),
        }
    });
    let unread = found.unread.iter().map(|one| Finding {
        rule: UNREAD,
        level: Level::Note,
        text: one.reason.clone(),
        place: sarif_place(&one.place),
        related: Vec::new(),
    });
    log(&RULES, operations.chain(unread))
}

fn sarif_place(place: &interloper_composed::Place) -> Place<'_> {
    Place { file: &place.file, line: place.line, column: place.column }
}

/// What came of the operations: a table, and the report of each that is not atomic. JSON and SARIF have the verdicts beside the
/// operations.
pub fn results(found: &Found, outcomes: &[Outcome], unchecked: &BTreeMap<usize, Fixed>, format: Rendering) -> String {
    match format {
        Rendering::Text => results_text(found, outcomes, unchecked),
        Rendering::Json => results_json(found, outcomes, unchecked),
        Rendering::Junit => results_junit(found, outcomes),
        Rendering::Sarif => results_sarif(found, outcomes),
    }
}

fn results_text(found: &Found, outcomes: &[Outcome], unchecked: &BTreeMap<usize, Fixed>) -> String {
    let mut table = Table::new([
        ("operation", Align::Left),
        ("place", Align::Left),
        ("pattern", Align::Left),
        ("verdict", Align::Left),
        ("executions", Align::Right),
    ]);
    for (one, outcome) in found.operations.iter().zip(outcomes) {
        let (verdict, executions) = match outcome {
            Outcome::Judged { verdict, executions, .. } => (verdict.replace('-', " "), executions.to_string()),
            Outcome::NotRun(_) | Outcome::Pairs(_) => ("not run".to_owned(), "–".to_owned()),
        };
        let place = format!("{}:{}", one.place.file, one.place.line);
        table.row([one.name.clone(), place, one.pattern.to_string(), verdict, executions]);
    }
    let mut out = table.to_string();
    for (one, outcome) in found.operations.iter().zip(outcomes) {
        if let Outcome::Judged { verdict, report, own, own_report, fix, .. } = outcome
            && verdict != "linearizable"
        {
            let _ = writeln!(out, "\n{report}");
            if let Some(unknown) = one.recipe.as_ref().ok().and_then(|recipe| recipe.unknown.as_ref()) {
                let _ = writeln!(
                    out,
                    "  anything may happen to its collections: the rest of its program is not known, since {unknown}"
                );
            }
            match own.as_deref() {
                Some("not-linearizable") => {
                    out.push_str("  other methods of its type can do as much by themselves:\n\n");
                    out.push_str(&own_report.as_ref().map(|report| format!("{report}\n\n")).unwrap_or_default());
                }
                Some("linearizable") => {
                    out.push_str("  the methods of its type that were tried do not do it by themselves\n")
                }
                _ => {}
            }
            if let Some(advice) = one.pattern.advice() {
                let _ = writeln!(out, "  in one step: {advice}");
            }
            if let Some(fix) = fix {
                out.push_str(&fix.text());
            }
        }
    }
    let uncalled = found.operations.iter().zip(outcomes).flat_map(|(one, outcome)| {
        let line = |call: &Call| format!("  {}: {} at {}\n", one.name, plain::line(&described(call)), call.place);
        outcome.uncalled(one).into_iter().map(line).collect::<Vec<_>>()
    });
    let uncalled: String = uncalled.collect();
    if !uncalled.is_empty() {
        let _ = write!(out, "\ncalls that ran in no execution, which no verdict covers:\n{uncalled}");
    }
    let refused = found.operations.iter().zip(outcomes).filter_map(|(one, outcome)| match outcome {
        Outcome::NotRun(reason) => Some(format!("  {}: {}\n", one.name, plain::line(reason))),
        Outcome::Judged { .. } | Outcome::Pairs(_) => None,
    });
    let refused: String = refused.collect();
    if !refused.is_empty() {
        let _ = write!(out, "\nnot run:\n{refused}");
    }
    if !unchecked.is_empty() {
        out.push_str("\nforms in one step of operations that were not run: nobody has compiled or checked them\n");
    }
    for (number, fix) in unchecked {
        let space = if matches!(fix, Fixed::Unchecked { .. }) { ", " } else { "\n" };
        let _ = write!(out, "\n{}{space}{}", found.operations[*number].name, fix.text());
    }
    out.push_str(&pairs::text(found, outcomes));
    let counts: Vec<String> =
        counts(outcomes).into_iter().map(|(word, count)| format!("{count} {}", word.replace('-', " "))).collect();
    let _ =
        writeln!(out, "\n{}", if counts.is_empty() { "no composed operations".to_owned() } else { counts.join(", ") });
    out
}

fn results_json(found: &Found, outcomes: &[Outcome], unchecked: &BTreeMap<usize, Fixed>) -> String {
    let mut document = serde_json::to_value(found).expect("plain data is always JSON");
    document["version"] = VERSION.into();
    document["types"] = pairs::json(found, outcomes).into();
    for (number, outcome) in outcomes.iter().enumerate().take(found.operations.len()) {
        document["operations"][number]["outcome"] = match outcome {
            Outcome::Judged { verdict, executions, report, own, own_report, low, fix, called: _, files: _ } => {
                let uncalled = outcome.uncalled(&found.operations[number]);
                let unknown = found.operations[number].recipe.as_ref().ok().and_then(|recipe| recipe.unknown.as_ref());
                let mut outcome = serde_json::json!({
                    "verdict": verdict, "executions": executions, "report": report, "own": own, "unknown": unknown
                });
                if let Some(report) = own_report {
                    outcome["own_report"] = report.as_str().into();
                }
                if *low {
                    outcome["low"] = true.into();
                }
                if !uncalled.is_empty() {
                    outcome["uncalled"] = serde_json::to_value(uncalled).expect("plain data is always JSON");
                }
                if let Some(fix) = fix {
                    outcome["fix"] = serde_json::to_value(fix).expect("plain data is always JSON");
                }
                outcome
            }
            Outcome::NotRun(reason) => {
                let mut outcome = serde_json::json!({ "verdict": "not-run", "reason": reason });
                if let Some(fix) = unchecked.get(&number) {
                    outcome["fix"] = serde_json::to_value(fix).expect("plain data is always JSON");
                }
                outcome
            }
            Outcome::Pairs(_) => continue,
        };
    }
    let mut text = serde_json::to_string_pretty(&document).expect("a value is always JSON");
    text.push('\n');
    text
}

fn results_sarif(found: &Found, outcomes: &[Outcome]) -> String {
    let fixed = outcomes.iter().filter(|outcome| outcome.is_violation()).map(|outcome| match outcome {
        Outcome::Judged { fix: Some(fix), .. } => fix.sarif(),
        _ => None,
    });
    let findings = violations(found, outcomes).map(|(_, finding)| finding).zip(fixed);
    let pairs = pairs::findings(found, outcomes).map(|(_, finding)| (finding, None));
    let rules = [
        Rule { id: NOT_ATOMIC, text: "A composed operation is not atomic." },
        Rule { id: pairs::NOT_ATOMIC, text: "Two methods of a type are not atomic together." },
    ];
    log_with_fixes(&rules, findings.chain(pairs))
}

/// The annotations of a change, for GitHub: of the operations that are not atomic.
pub fn annotations(found: &Found, outcomes: &[Outcome]) -> String {
    let title = |one: &Operation| format!("{}: not linearizable", one.name);
    let pairs = pairs::findings(found, outcomes).map(|(title, finding)| of_finding(&title, &finding));
    violations(found, outcomes).map(|(one, finding)| of_finding(&title(one), &finding)).chain(pairs).collect()
}

/// The operations that are not atomic.
fn violations<'f>(found: &'f Found, outcomes: &'f [Outcome]) -> impl Iterator<Item = (&'f Operation, Finding<'f>)> {
    let violations = found.operations.iter().zip(outcomes).filter(|(_, outcome)| outcome.is_violation());
    violations.map(|(one, _)| {
        let advice = one.pattern.advice().map_or(String::new(), |advice| format!(" In one step: {advice}."));
        let finding = Finding {
            rule: NOT_ATOMIC,
            level: Level::Warning,
            text: format!("{} is not linearizable ({}).{advice}", one.name, one.pattern),
            place: sarif_place(&one.place),
            related: one.calls.iter().map(|call| (sarif_place(&call.place), described(call))).collect(),
        };
        (one, finding)
    })
}

/// A case for each operation. A failure is what makes the exit code 1.
fn results_junit(found: &Found, outcomes: &[Outcome]) -> String {
    let case = |(one, outcome): (&Operation, &Outcome)| {
        let (result, says) = match outcome {
            Outcome::NotRun(reason) => (junit::Outcome::Skipped { reason: reason.clone() }, None),
            Outcome::Pairs(_) => (junit::Outcome::Passed, None),
            Outcome::Judged { verdict, executions, report, .. } => {
                let words = verdict.replace('-', " ");
                let says = format!(", {words}, {}", counted(*executions as usize, "execution"));
                let result = match verdict.as_str() {
                    _ if outcome.is_violation() => {
                        junit::Outcome::Failed { message: format!("{}: {words}", one.name), report: report.clone() }
                    }
                    "linearizable" | "modular" => junit::Outcome::Passed,
                    _ => junit::Outcome::Skipped { reason: words },
                };
                (result, Some(says))
            }
        };
        let place = format!("{}:{}", one.place.file, one.place.line);
        junit::Case { name: one.name.clone(), result, output: place + &says.unwrap_or_default() }
    };
    let cases = found.operations.iter().zip(outcomes).map(case).collect();
    let suite = junit::Suite { name: "composed operations".to_owned(), cases };
    junit::render(&[suite].into_iter().chain(pairs::junit(found, outcomes)).collect::<Vec<_>>())
}

const NOT_ATOMIC: &str = "composed-operation-not-atomic";
