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
    assert!(data.readings.keys().all(|name| found.contains(name)), "{:?} of {found:?}", data.readings.keys());
}
