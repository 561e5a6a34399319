//! The page about published crates says what the data says.

#[path = "../examples/ecosystem/page.rs"]
mod page;

use std::fs;
use std::path::Path;

use page::{Data, Reading};

fn data() -> Data {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("ecosystem/results.json");
    serde_json::from_str(&fs::read_to_string(file).expect("the data")).expect("the data has its form")
}

#[test]
fn the_page_is_printed_from_the_data() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/COMPOSED.md");
    let actual = fs::read_to_string(file).expect("the page");
    let again = "cargo run -p interloper-composed --example ecosystem -- print > docs/COMPOSED.md";
    assert!(actual == page::page(&data()), "docs/COMPOSED.md is not what the data says; run `{again}`");
}

#[test]
fn other_data_is_another_page() {
    let (before, mut data) = (page::page(&data()), data());
    let package = data.packages.values_mut().find(|package| !package.judged.is_empty()).expect("something was judged");
    package.judged[0].reading = Some(Reading { is: "doubtful".to_owned(), why: "nobody knows".to_owned() });
    assert_ne!(page::page(&data), before);
}

#[test]
fn the_data_agrees_with_itself() {
    for (name, package) in &data().packages {
        let not_run: u64 = package.not_run.values().sum();
        assert_eq!(package.listed, not_run + package.judged.len() as u64, "{name}");
        for one in &package.judged {
            let violated = matches!(one.verdict.as_str(), "not-linearizable" | "modular");
            assert_eq!(violated, one.report.is_some(), "{name}: {}", one.name);
            assert!(
                one.report.as_ref().is_none_or(|report| report.contains("No sequential order explains it")
                    || report.contains("deadlock")
                    || report.contains("panic")),
                "{name}: {}",
                one.name
            );
            if let Some(reading) = &one.reading {
                assert!(violated && ["true", "benign"].contains(&reading.is.as_str()), "{name}: {}", one.name);
            }
        }
    }
}
