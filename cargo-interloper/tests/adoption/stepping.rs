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

/// A sum that is wrong only where a task is preempted between a load and a store.
const SUM: &str = r#"
struct Word(std::cell::UnsafeCell<u64>);
unsafe impl Sync for Word {}

#[interloper::test(allow_trivial)]
fn two_add() {
    let word = Word(std::cell::UnsafeCell::new(0));
    let add = |word: &Word| unsafe { *word.0.get() += 1 };
    std::thread::scope(|scope| {
        scope.spawn(|| add(&word));
        add(&word);
    });
    assert_eq!(word.0.into_inner(), 2);
}
"#;

/// What is built in the one way stays beside what is built in the other, and the checker is the same in both.
#[test]
fn only_what_announces_is_built_again_where_loads_and_stores_are_steps() {
    let interloper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let interloper = interloper.canonicalize().expect("it is in this workspace");
    let project = Project::new(&format!("[dev-dependencies.interloper]\npath = {interloper:?}\n"));
    project.put("src/lib.rs", HEAD);
    project.put("tests/sum.rs", &format!("{HEAD}{SUM}"));
    let without = || project.run(&["test", "--races", "off"]).expect(0);
    let with = || project.run(&["test", "--races", "off", "--preempt", "memory"]).expect(1);
    alone(|| {
        without();
        let with_steps = with();
        let is_compiling = |line: &&str| line.trim_start().starts_with("Compiling");
        let compiled: Vec<&str> = with_steps.err.lines().filter(is_compiling).collect();
        assert!(matches!(compiled[..], [line] if line.contains("subject")), "{}", with_steps.err);
        assert!(with_steps.out.contains("left: 1\n") && with_steps.out.contains("right: 2\n"), "{}", with_steps.out);
        assert_eq!([without().compiled(), with().compiled()], [0, 0]);
    });
}

/// A row of the table, with a dot for each number of executions.
fn kind(row: &str) -> String {
    let cell = |cell: &str| if cell.trim().parse::<u64>().is_ok() { ".".to_owned() } else { cell.trim().to_owned() };
    row.split('|').map(cell).collect::<Vec<_>>().join("|")
}
