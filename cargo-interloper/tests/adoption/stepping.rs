//! Loads and stores of plain memory as steps: the crate of examples/classic.

use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/classic")
}

const ACCOUNT: &str = "an_account_without_its_lock_loses_money";
const FIXED: &str = "programs_without_their_bugs_are_clean";

#[test]
fn a_bug_in_a_plain_variable_is_found_where_loads_and_stores_are_steps() {
    let without = interloper(&folder(), &["test", "--races", "off"]).expect(0);
    without.assert_passed(&[ACCOUNT, FIXED]);
    let with = interloper(&folder(), &["test", "--races", "off", "--preempt", "memory"]).expect(1);
    with.assert_passed(&[FIXED]);
    // The checker does not depend on what is announced, and what was built in the one way stays beside what was built in the other.
    assert!(!with.err.contains("Compiling interloper"), "{}", with.err);
    for again in [&["test", "--races", "off"][..], &["test", "--races", "off", "--preempt", "memory"]] {
        assert_eq!(interloper(&folder(), again).compiled(), 0);
    }
    // Columns are narrow, so the message is on several lines.
    let words = with.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [&format!("test tests::{ACCOUNT} ... FAILED "), "money is missing", "reads plain memory"] {
        assert!(words.contains(text), "{}", with.out);
    }
    // The table of the page, with the numbers of this compiler.
    let table =
        interloper(&folder(), &["run", "--example", "table", "--races", "off", "--preempt", "memory"]).expect(0);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ADOPTION.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let rows = |text: &str| -> Vec<String> { text.lines().filter(|line| line.starts_with("| ")).map(kind).collect() };
    let at = page.find("| program |").expect("the page has the table");
    let printed = rows(&table.out);
    assert_eq!(printed.len(), 11, "{}", table.out);
    assert_eq!(printed, rows(&page[at..])[..11], "{}", table.out);
}

/// A row of the table, with a dot for each number of executions.
fn kind(row: &str) -> String {
    let cell = |cell: &str| if cell.trim().parse::<u64>().is_ok() { ".".to_owned() } else { cell.trim().to_owned() };
    row.split('|').map(cell).collect::<Vec<_>>().join("|")
}
