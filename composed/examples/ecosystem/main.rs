//! The page about composed operations of published crates, docs/COMPOSED.md, and the data that it is printed from.
//!
//! `print` prints the page. `collect FOLDER` reads the documents in a folder, `PACKAGE.json` for each package, that `cargo
//! interloper composed --run --format json` printed (or, without `--run`, of a package that was only listed), into the data. What
//! readers said of violations is kept.

mod page;
#[path = "../printed/mod.rs"]
mod printed;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use page::{Data, Judged, Package, Reading};
use serde_json::Value;

fn main() -> ExitCode {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("ecosystem/results.json");
    printed::run(&file, page::page, "`print` or `collect FOLDER`", |words| {
        let ["collect", folder] = words else { return None };
        Some(printed::change(&file, |data: &mut Data| {
            for (name, package) in &mut data.packages {
                if let Ok(text) = fs::read_to_string(Path::new(folder).join(format!("{name}.json"))) {
                    collect(package, &serde_json::from_str(&text).expect("a document"));
                }
            }
        }))
    })
}

/// What a document says of a package.
fn collect(package: &mut Package, document: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let readings: BTreeMap<(String, String), Reading> =
        package.judged.drain(..).filter_map(|one| Some(((one.name, one.place), one.reading?))).collect();
    package.not_run.clear();
    package.lines = document["lines"].as_u64().unwrap_or_default();
    let operations = document["operations"].as_array().cloned().unwrap_or_default();
    package.listed = operations.len() as u64;
    for one in operations {
        let outcome = &one["outcome"];
        let reason = match outcome["verdict"].as_str() {
            Some("not-run") => text(&outcome["reason"]),
            Some(_) => String::new(),
            // Only listed.
            None => match one["runnable"]["run"].as_str() {
                Some("refused") => format!("no: {}", text(&one["runnable"]["reason"])),
                Some("hole") => format!("needs {}", text(&one["runnable"]["what"])),
                _ => "its package was not built".to_owned(),
            },
        };
        if !reason.is_empty() {
            *package.not_run.entry(kind(&reason).to_owned()).or_default() += 1;
            continue;
        }
        let calls = one["calls"].as_array().cloned().unwrap_or_default();
        let calls = calls.iter().map(|call| format!("`{}.{}`", text(&call["collection"]), text(&call["method"])));
        let report = outcome["report"].as_str().map(|report| report.trim_end().to_owned());
        let verdict = text(&outcome["verdict"]);
        let violated = matches!(verdict.as_str(), "not-linearizable" | "modular");
        let own = match (outcome["own"].as_str(), outcome["unknown"].as_str()) {
            (Some("not-linearizable"), _) => Some("violation"),
            (Some("linearizable"), _) => Some("no violation"),
            (Some("unfinished"), _) => Some("the search was not finished in time"),
            (Some(_), _) => Some("their search could not be made"),
            (None, Some(unknown)) => Some(unknown),
            // The search went on with the program of the type, which is known.
            (None, None) if verdict == "modular" => Some("no violation"),
            (None, None) => Some("the search was not finished in time"),
        };
        let own = own.map(str::to_owned);
        let name = text(&one["name"]);
        let place = format!("{}:{}", text(&one["place"]["file"]), one["place"]["line"]);
        let key = (name.clone(), place.clone());
        package.judged.push(Judged {
            reading: readings.get(&key).cloned().filter(|_| violated),
            name,
            place,
            pattern: text(&one["pattern"]),
            calls: calls.collect(),
            verdict,
            executions: outcome["executions"].as_u64().unwrap_or_default(),
            environment: report.as_deref().filter(|_| violated).and_then(environment),
            own: own.filter(|_| violated),
            apart: outcome["unknown"].as_str().and_then(|unknown| unknown.strip_prefix(APART)).map(str::to_owned),
            report: report.filter(|_| violated),
            own_report: outcome["own_report"].as_str().filter(|_| violated).map(|report| report.trim_end().to_owned()),
        });
    }
}

/// What precedes the name of a collection that the environment leaves alone.
const APART: &str = "the environment cannot act on ";

/// `(2 environment operations, execution 13)`.
fn environment(report: &str) -> Option<u64> {
    let (before, _) = report.split_once(" environment operation")?;
    before.rsplit('(').next()?.parse().ok()
}

/// The kind of a reason.
fn kind(reason: &str) -> &str {
    const KINDS: [(&str, &str); 20] = [
        ("no: it reads a clock", "it reads a clock"),
        ("no: it does I/O", "it does I/O"),
        ("no: it waits", "it waits, or is asynchronous"),
        ("no: it is random", "it is random"),
        ("no: it spawns", "it spawns"),
        ("no: ", "it cannot be searched"),
        ("needs a harness by hand", "the harness does not compile"),
        ("needs the function around", "it is a closure that is spawned"),
        ("needs features", "it is not in a build with the default features"),
        ("needs a constructor", "its type has no simple constructor"),
        ("needs an argument", "it has an argument that is not simple"),
        ("needs `&self`", "it takes `&mut self`"),
        ("needs what its callers", "it is unsafe"),
        ("needs an environment that keeps", "it has unsafe code, which the environment would break"),
        ("needs the fields", "its type stands in another module"),
        ("needs a type that", "it is a method of a trait"),
        ("nothing was explored", "nothing was explored: its result is the same in all initial states"),
        ("its test ended", "its test ended early"),
        ("its package was not", "its package was not built"),
        ("needs a module", "its module has no file of its own"),
    ];
    if reason.contains("which the driver does not do yet") {
        return "the driver does not run its collection";
    }
    let of_values = ["needs a collection in", "needs values of"].iter().any(|begin| reason.starts_with(begin));
    if reason.contains("to be a field of its own") || of_values {
        return "its collections are in other collections, or hold values that cannot be made";
    }
    let known = KINDS.iter().find(|(begin, _)| reason.starts_with(begin));
    known.map_or(if reason.starts_with("needs") { "it needs something else" } else { "something else" }, |(_, kind)| {
        kind
    })
}
