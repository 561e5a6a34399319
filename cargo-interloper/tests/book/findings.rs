//! The page about hunts of published crates says what the data says.

#[path = "../../examples/findings/page.rs"]
mod page;

use std::fs;
use std::path::Path;

use page::Data;

fn data() -> Data {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("findings/results.json");
    serde_json::from_str(&fs::read_to_string(file).expect("the data")).expect("the data has its form")
}

#[test]
fn the_page_is_printed_from_the_data() {
    let actual = fs::read_to_string(super::docs().join("FINDINGS.md")).expect("the page");
    let again = "cargo run -p cargo-interloper --example findings -- print > docs/FINDINGS.md";
    assert!(actual == page::page(&data()), "docs/FINDINGS.md is not what the data says; run `{again}`");
}

#[test]
fn what_is_read_is_a_violation_and_what_is_a_violation_has_its_execution() {
    let data = data();
    let mut found = Vec::new();
    for object in data.crates.values().flat_map(|one| &one.objects) {
        for method in &object.methods {
            let name = format!("{}::{}", object.name, method.name);
            assert!(method.complete <= method.schemas && method.cut <= method.executions, "{name}");
            if let Some(violation) = &method.violation {
                let again = format!("--schema '{}'", violation.schema);
                assert!(violation.replay.contains(&object.name) && violation.replay.contains(&again), "{name}");
                assert!(violation.report.as_ref().is_none_or(|report| report.contains(&violation.schema)), "{name}");
                found.push(name);
            }
        }
    }
    assert!(!data.crates.is_empty());
    let is_finding = |name: &String| found.contains(name) && !data.readings.contains_key(name);
    assert!(data.unconfirmed.keys().all(is_finding), "{:?}", data.unconfirmed);
    assert!(data.readings.keys().all(|name| found.contains(name)), "{:?} of {found:?}", data.readings.keys());
}

/// No type that is described is missing.
#[test]
fn the_data_speaks_of_each_object_that_is_described() {
    let data = data();
    let hunted: Vec<&str> =
        data.crates.values().flat_map(|one| &one.objects).map(|object| object.name.as_str()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("objects");
    let mut objects = 0;
    for file in fs::read_dir(folder).expect("the descriptions") {
        let text = fs::read_to_string(file.expect("an entry").path()).expect("a description");
        for described in text.split("Object::describe(\"").skip(1) {
            let (object, _) = described.split_once('"').expect("a name");
            let of_crate = object.split("::").next().unwrap_or_default().replace('_', "-");
            let is_known = hunted.contains(&object) || data.without.contains_key(&of_crate);
            assert!(is_known, "cargo-interloper/findings/results.json says nothing of {object}");
            objects += 1;
        }
    }
    assert!(objects > 60, "there are many: {objects}");
}
