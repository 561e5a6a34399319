//! The page about hunts of published crates, docs/FINDINGS.md, and the data that it is printed from.
//!
//! `print` prints the page. `collect FOLDER` reads the documents in a folder that `cargo interloper hunt --crate CRATE --format
//! json` printed, `CRATE.json` for each, into the data: with what it wrote to standard error in `CRATE.err`, and with the options of
//! its hunt in `CRATE.options`, where they were others. A hunt with the option `--method` replaces what is known of that method
//! alone. Another hunt of a version that is known replaces what is known of a method, unless the earlier hunt says more: it alone
//! found a violation, or found one with fewer calls, or neither found one and the earlier hunt ran more programs. A method that one of
//! them did not judge has the row of the other one, and a type that only the earlier one hunted stays. Where the description of a crate
//! has changed, take the crate out of the data first. A pair goes once one of its methods has a violation of its own. What readers said
//! of violations is kept.
//!
//! `blame FOLDER` reads what the same hunts with `--schema` printed, `CRATE+NUMBER.json` for each violation, and notes whose calls have to
//! be interrupted for it. If those are not calls of the method in whose row the violation stands, and a later hunt found no violation of
//! the method without them, `collect` takes the row of that hunt: the violation is theirs.

mod page;
#[path = "../../../composed/examples/printed/mod.rs"]
mod printed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use interloper_report::text::{Style, render};
use page::{Data, Hunted, Method, Object, Violation};
use serde_json::Value;

/// A report with more lines is left out.
const LONGEST: usize = 100;

fn main() -> ExitCode {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("findings/results.json");
    printed::run(&file, page::page, "`print`, `collect FOLDER` or `blame FOLDER`", |words| {
        let change = match words {
            ["collect", _] => collect,
            ["blame", _] => blame,
            _ => return None,
        };
        Some(printed::change(&file, |data| change(data, Path::new(words[1]))))
    })
}

/// What the hunts of a folder printed. A hunt that did not end has printed nothing.
fn documents(folder: &Path) -> impl Iterator<Item = (PathBuf, Value)> {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let printed = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    printed.filter_map(|path| {
        let document = fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str(&text).ok())?;
        Some((path, document))
    })
}

/// Notes of violations whose calls have to be interrupted.
fn blame(data: &mut Data, folder: &Path) {
    for (path, document) in documents(folder) {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let (name, _) = name.split_once('+').unwrap_or_else(|| panic!("{name} is not CRATE+NUMBER"));
        let known = data.crates.get_mut(name).expect("a crate that was hunted");
        for again in document["objects"].as_array().into_iter().flatten().map(object) {
            let object = known.objects.iter_mut().find(|known| known.name == again.name).expect("a known object");
            settle(object, &again);
        }
    }
}

/// Takes from hunts of schemas whose calls have to be interrupted.
fn settle(object: &mut Object, schemas: &Object) {
    for again in schemas.methods.iter().filter_map(|row| row.violation.as_ref()) {
        let violations = object.methods.iter_mut().filter_map(|method| method.violation.as_mut());
        for violation in violations.filter(|known| known.schema == again.schema && known.interrupted.is_empty()) {
            violation.interrupted.clone_from(&again.interrupted);
        }
    }
}

fn collect(data: &mut Data, folder: &Path) {
    for (path, document) in documents(folder) {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let said = fs::read_to_string(path.with_extension("err")).unwrap_or_default();
        let objects = document["objects"].as_array().into_iter().flatten().map(object).collect();
        let options = fs::read_to_string(path.with_extension("options")).ok().map(|options| options.trim().to_owned());
        let hunted = Hunted { version: version(&name, &said), options, objects };
        if hunted.options.as_ref().is_some_and(|options| options.contains("--method")) {
            replace(data.crates.get_mut(&name).expect("the other methods of the crate were hunted"), hunted);
        } else {
            let known = data.crates.remove(&name).filter(|known| known.version == hunted.version);
            let hunted = match known {
                Some(known) => merged(known, hunted, &data.options),
                None => hunted,
            };
            data.crates.insert(name, hunted);
        }
    }
}

/// All of a hunt, with what an earlier one of the same version says of methods of which the later one says less.
fn merged(known: Hunted, later: Hunted, usual: &str) -> Hunted {
    let (mut known, mut later) = (each_with_options(known, usual), each_with_options(later, usual));
    for object in &mut later.objects {
        let Some(at) = known.objects.iter().position(|known| known.name == object.name) else { continue };
        for known in known.objects.swap_remove(at).methods {
            match object.methods.iter_mut().find(|method| method.name == known.name) {
                Some(method) if says_more(&known, method) => *method = known,
                Some(_) => {}
                None if known.is_together() => object.methods.push(known),
                None => {}
            }
        }
        // The row of all other pairs comes last.
        object.methods.sort_by_key(|row| row.is_of_pairs() && !row.is_together());
        without_explained_pairs(object);
    }
    later.objects.append(&mut known.objects);
    with_common_options(later, usual)
}

/// A pair is of two methods without a violation of their own.
fn without_explained_pairs(object: &mut Object) {
    let of = |method: &&Method| method.violation.is_none();
    let atomic: Vec<String> = object.methods.iter().filter(of).map(|method| method.name.clone()).collect();
    object
        .methods
        .retain(|row| !row.is_together() || row.name.split(" + ").all(|one| atomic.iter().any(|name| name == one)));
}

/// Whether more is known of a method than a later hunt says.
fn says_more(known: &Method, later: &Method) -> bool {
    let calls = |violation: &Violation| violation.schema.matches('(').count();
    // Where other methods are at fault, nothing is known of this one.
    let is_judged = |method: &Method| method.verdict != "core methods not atomic";
    if is_judged(known) != is_judged(later) {
        return is_judged(known);
    }
    // The violation is one of other methods, which the later hunt left out.
    let is_of_others = |violation: &Violation| {
        let interrupted = &violation.interrupted;
        let is_own = interrupted.is_empty() || interrupted.iter().any(|set| set.contains(&known.name));
        !is_own && !later.left_out.is_empty()
    };
    match (&known.violation, &later.violation) {
        (Some(known), Some(later)) => calls(known) < calls(later),
        (None, Some(_)) => false,
        (Some(violation), None) => !is_of_others(violation),
        (None, None) => (known.schemas, known.complete) > (later.schemas, later.complete),
    }
}

/// Each method with the options of its hunt.
fn each_with_options(mut hunted: Hunted, usual: &str) -> Hunted {
    let options = hunted.options.take().unwrap_or_else(|| usual.to_owned());
    for method in hunted.objects.iter_mut().flat_map(|object| &mut object.methods) {
        method.options.get_or_insert_with(|| options.clone());
    }
    hunted
}

/// The options of most methods are those of the crate.
fn with_common_options(mut hunted: Hunted, usual: &str) -> Hunted {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for options in hunted.objects.iter().flat_map(|object| &object.methods).filter_map(|method| method.options.clone())
    {
        *counts.entry(options).or_default() += 1;
    }
    let common =
        counts.into_iter().max_by_key(|(_, count)| *count).map_or_else(|| usual.to_owned(), |(options, _)| options);
    for method in hunted.objects.iter_mut().flat_map(|object| &mut object.methods) {
        method.options.take_if(|options| *options == common);
    }
    hunted.options = Some(common).filter(|options| options != usual);
    hunted
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
        without_explained_pairs(object);
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
        left_out: document["left_out"].as_array().into_iter().flatten().flat_map(labels).collect(),
        options: None,
        violation: violation.is_object().then(|| Violation {
            schema: text(&violation["schema"]),
            outcome: violation["outcome"].as_array().map(|_| violation["outcome"].to_string()),
            message: violation["message"].as_str().map(str::to_owned),
            blamed: labels(&document["blamed"]),
            interrupted: document["interrupted"].as_array().into_iter().flatten().map(labels).collect(),
            replay: text(&document["replay"]),
            report: report(&document["trace"]).filter(|report| report.lines().count() <= LONGEST),
        }),
    }
}

fn labels(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(text).collect()
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const USUAL: &str = "--schemas 100";

    /// A hunt of one type: its methods, each with a verdict and with how many programs ran.
    fn hunted(options: &str, methods: &[(&str, &str, u64)]) -> Hunted {
        let methods: Vec<Value> = methods
            .iter()
            .map(|&(name, verdict, schemas)| {
                let violation = json!({ "schema": "{ push(0) } || { pop() }", "outcome": [1], "trace": {} });
                let violation = if verdict.starts_with("no violation") { Value::Null } else { violation };
                json!({ "method": name, "verdict": verdict, "schemas": schemas, "violation": violation })
            })
            .collect();
        let objects = vec![object(&json!({ "object": "Queue", "methods": methods }))];
        Hunted { version: "1.0.0".to_owned(), options: Some(options.to_owned()).filter(|own| own != USUAL), objects }
    }

    /// What is known of each method afterwards, with its own options if it has any, and the options of the crate.
    fn told(hunted: &Hunted) -> (Option<&str>, Vec<(&str, u64, Option<&str>)>) {
        let methods = hunted.objects[0].methods.iter();
        (hunted.options.as_deref(), methods.map(|one| (&*one.name, one.schemas, one.options.as_deref())).collect())
    }

    const NONE: &str = "no violation found";

    #[test]
    fn a_shorter_hunt_loses_no_violation_and_no_longer_search() {
        let known = hunted("--time 30", &[("len", "not atomic", 50), ("push", NONE, 200), ("pop", NONE, 100)]);
        let later =
            hunted(USUAL, &[("len", NONE, 60), ("push", NONE, 100), ("pop", "not atomic", 3), ("together", NONE, 9)]);
        let merged = merged(known, later, USUAL);
        let own = Some(USUAL);
        assert_eq!(
            told(&merged),
            (Some("--time 30"), vec![("len", 50, None), ("push", 200, None), ("pop", 3, own), ("together", 9, own)])
        );
    }

    #[test]
    fn a_violation_of_other_methods_goes_to_these() {
        let known = || {
            let mut known = hunted(USUAL, &[("len", "not atomic", 50), ("push", "not atomic", 3), ("pop", NONE, 9)]);
            // Of one method, the schema is another.
            let push = known.objects[0].methods[1].violation.as_mut().expect("a violation");
            push.schema = "{ push(0) } || { push(0) }".to_owned();
            known
        };
        let row = |known: &Hunted, left_out: &[&str]| {
            let mut later = hunted(USUAL, &[("len", NONE, 60), ("push", "not atomic", 3), ("pop", NONE, 9)]);
            later.objects[0].methods[0].left_out = left_out.iter().map(|&name| name.to_owned()).collect();
            let merged = merged(Hunted { objects: known.objects.clone(), ..hunted(USUAL, &[]) }, later, USUAL);
            merged.objects[0].methods[0].verdict.clone()
        };
        let interrupted = |sets: &[&[&str]]| {
            let mut known = known();
            let violation = json!({ "schema": "{ push(0) } || { pop() }", "outcome": [1] });
            let again = json!({ "method": "schema", "violation": violation, "interrupted": sets });
            settle(&mut known.objects[0], &object(&json!({ "object": "Queue", "methods": [again] })));
            assert!(known.objects[0].methods[1].violation.as_ref().is_some_and(|push| push.interrupted.is_empty()));
            known
        };
        assert_eq!(row(&interrupted(&[&["push"]]), &["push"]), NONE);
        // Its twins: the method itself is to blame, too; nothing is known of that; the later hunt did not leave out the others.
        assert_eq!(row(&interrupted(&[&["push"], &["len"]]), &["push"]), "not atomic");
        assert_eq!(row(&interrupted(&[]), &["push"]), "not atomic");
        assert_eq!(row(&interrupted(&[&["push"]]), &[]), "not atomic");
    }

    #[test]
    fn a_method_that_was_not_judged_says_nothing() {
        let unjudged = "core methods not atomic";
        let known = || hunted(USUAL, &[("len", unjudged, 50), ("push", "not atomic", 20), ("pop", NONE, 100)]);
        let later = hunted(USUAL, &[("len", NONE, 10), ("push", unjudged, 30), ("pop", unjudged, 200)]);
        let merged = merged(known(), later, USUAL);
        let rows = |hunted: &Hunted| -> Vec<(String, u64)> {
            hunted.objects[0].methods.iter().map(|row| (row.verdict.clone(), row.schemas)).collect()
        };
        assert_eq!(rows(&merged), [(NONE.to_owned(), 10), ("not atomic".to_owned(), 20), (NONE.to_owned(), 100)]);
        // A type that was not hunted again stays.
        let other = |name: &str| {
            let mut hunted = known();
            hunted.objects[0].name = name.to_owned();
            hunted
        };
        let both = super::merged(other("Stack"), other("Map"), USUAL);
        let names: Vec<&str> = both.objects.iter().map(|object| &*object.name).collect();
        assert_eq!(names, ["Map", "Stack"]);
    }

    #[test]
    fn a_pair_goes_once_one_of_its_methods_has_a_violation() {
        let together = "not atomic together";
        let known = hunted(
            USUAL,
            &[("len", NONE, 50), ("clear", NONE, 50), ("len + clear", together, 3), ("together", NONE, 9)],
        );
        let again = || hunted(USUAL, &[("len", NONE, 50), ("clear", NONE, 50), ("together", NONE, 9)]);
        let kept = merged(known, again(), USUAL);
        assert_eq!(told(&kept).1[2..], [("len + clear", 3, None), ("together", 9, None)]);
        let mut gone = kept;
        replace(&mut gone, hunted("--method clear", &[("clear", "not atomic", 400)]));
        assert_eq!(
            told(&gone),
            (None, vec![("len", 50, None), ("clear", 400, Some("--method clear")), ("together", 9, None)])
        );
    }
}
