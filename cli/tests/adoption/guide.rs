//! The crate of docs/ADOPTION.md.

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// With `std::sync`, a `LazyLock` static, `thread_local!`, the real parking_lot and the real dashmap: one whose guard is held
/// too long is a deadlock with both lines, and does not hang.
#[test]
fn the_crate_of_the_guide_runs_under_control() {
    let folder = root().join("examples/adoption");
    let ran = interloper(&folder, &["test"]).expect(0);
    let deadlocks = ["a_guard_of_a_map_is_held_too_long", "a_mutex_is_locked_twice"];
    for test in ["a_word_can_be_lost", "no_word_is_lost"].into_iter().chain(deadlocks) {
        assert!(ran.out.contains(&format!("test tests::{test} ... ok\n")), "{}", ran.out);
    }
    assert!(ran.err.starts_with("under control: dashmap 6."), "{}", ran.err);
    assert!(ran.err.lines().next().is_some_and(|line| line.contains(", parking_lot 0.12")), "{}", ran.err);
    assert!(ran.err.lines().next().is_some_and(|line| line.contains("parking_lot_core 0.9")), "{}", ran.err);
    assert_eq!(interloper(&folder, &["test"]).expect(0).compiled(), 0);
}

#[test]
fn the_guide_shows_what_the_crate_has() {
    let read = |name: &str| fs::read_to_string(root().join(name)).expect("a file of the repository");
    let guide = read("docs/ADOPTION.md");
    for (language, file) in [("rust", "src/lib.rs"), ("toml", "Cargo.toml")] {
        let crates = read(&format!("examples/adoption/{file}"));
        let opening = format!("```{language}\n");
        let blocks = guide.split(&opening).skip(1);
        let blocks: Vec<&str> = blocks.map(|rest| rest.split("```").next().expect("a block ends")).collect();
        assert_eq!(blocks.len(), if language == "rust" { 4 } else { 2 });
        blocks.iter().flat_map(|block| block.split("\n\n")).for_each(|part| {
            assert!(crates.contains(part.trim_end()), "{part}");
        });
    }
}
