//! The page about hunts of published crates, docs/FINDINGS.md, and the data that it is printed from.
//!
//! `print` prints the page. `collect FOLDER` reads the documents in a folder that `cargo interloper hunt --crate CRATE --format
//! json` printed, `CRATE.json` for each, into the data: with what it wrote to standard error in `CRATE.err`, and with the options of
//! its hunt in `CRATE.options`, where they were others. A hunt with the option `--method` replaces what is known of that method
//! alone. What readers said of violations is kept.

mod page;
#[path = "../../../composed/examples/printed/mod.rs"]
mod printed;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use interloper_report::text::{Style, render};
use page::{Data, Hunted, Method, Object, Violation};
use serde_json::Value;

/// A report with more lines is left out.
const LONGEST: usize = 100;

fn main() -> ExitCode {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("findings/results.json");
    printed::run(&file, page::page, "`print` or `collect FOLDER`", |words| {
        let ["collect", folder] = words else { return None };
        Some(printed::change(&file, |data| collect(data, Path::new(folder))))
    })
}

fn collect(data: &mut Data, folder: &Path) {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let said = fs::read_to_string(path.with_extension("err")).unwrap_or_default();
        let document = fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
        // A hunt that did not end has printed nothing.
        let Some(document) = document else { continue };
        let objects = document["objects"].as_array().into_iter().flatten().map(object).collect();
        let options = fs::read_to_string(path.with_extension("options")).ok().map(|options| options.trim().to_owned());
        let hunted = Hunted { version: version(&name, &said), options, objects };
        if hunted.options.as_ref().is_some_and(|options| options.contains("--method")) {
            replace(data.crates.get_mut(&name).expect("the other methods of the crate were hunted"), hunted);
        } else {
            data.crates.insert(name, hunted);
        }
    }
}

/// Methods that were hunted alone.
fn replace(known: &mut Hunted, alone: Hunted) {
    assert_eq!(known.version, alone.version, "the other methods were hunted in another version");
    for Object { name, methods } in alone.objects {
        let object = known.objects.iter_mut().find(|object| object.name == name).expect("a known object");
        for method in methods {
            let place = object.methods.iter_mut().find(|known| known.name == method.name).expect("a known method");
            *place = Method { options: alone.options.clone(), ..method };
        }
    }
}

/// The version that was put under control.
fn version(name: &str, said: &str) -> String {
    let line = said.lines().find_map(|line| line.strip_prefix("under control: ")).unwrap_or_default();
    let same = |known: &str| known.replace('-', "_") == name.replace('-', "_");
    let mut all = line.split(", ").filter_map(|label| label.split_once(' '));
    all.find(|(known, _)| same(known)).map(|(_, version)| version.to_owned()).unwrap_or_default()
}

fn object(document: &Value) -> Object {
    Object {
        name: text(&document["object"]),
        methods: document["methods"].as_array().into_iter().flatten().map(method).collect(),
    }
}

fn method(document: &Value) -> Method {
    let number = |name: &str| document[name].as_u64().unwrap_or_default();
    let violation = &document["violation"];
    Method {
        name: text(&document["method"]),
        verdict: text(&document["verdict"]),
        schemas: number("schemas"),
        not_judged: document["skipped"].as_array().map_or(0, |skipped| skipped.len() as u64),
        complete: number("complete"),
        executions: number("executions"),
        cut: number("cut"),
        out_of_time: document["out_of_time"].as_bool().unwrap_or_default(),
        options: None,
        violation: violation.is_object().then(|| Violation {
            schema: text(&violation["schema"]),
            outcome: violation["outcome"].as_array().map(|_| violation["outcome"].to_string()),
            message: violation["message"].as_str().map(str::to_owned),
            blamed: document["blamed"].as_array().into_iter().flatten().map(text).collect(),
            replay: text(&document["replay"]),
            report: report(&document["trace"]).filter(|report| report.lines().count() <= LONGEST),
        }),
    }
}

/// The report of a trace, with the lines of the crate's source.
fn report(trace: &Value) -> Option<String> {
    let counterexample = interloper_report::json::parse(&trace.to_string()).ok()?;
    let text = render(&counterexample, Style { color: false, width: Some(100) });
    Some(text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
