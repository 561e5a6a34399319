//! The crate of docs/ADOPTION.md.

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// With `std::sync`, a `LazyLock` static, `thread_local!`, and the real parking_lot, crossbeam-channel and dashmap: a map
/// whose guard is held too long is a deadlock with both lines, and does not hang.
#[test]
fn the_crate_of_the_guide_runs_under_control() {
    let folder = root().join("examples/adoption");
    let ran = interloper(&folder, &["test"]).expect(0);
    let lost = ["a_word_can_be_lost", "no_word_is_lost"];
    let to_the_worker = ["a_word_can_be_lost_to_the_worker", "no_word_is_lost_to_the_worker"];
    let deadlocks = ["a_guard_of_a_map_is_held_too_long", "a_mutex_is_locked_twice"];
    for test in lost.into_iter().chain(to_the_worker).chain(deadlocks) {
        assert!(ran.out.contains(&format!("test tests::{test} ... ok\n")), "{}", ran.out);
    }
    let controlled = ran.err.lines().next().unwrap_or_default();
    assert!(controlled.starts_with("under control: crossbeam-channel 0.5."), "{}", ran.err);
    for part in [", dashmap 6.", ", parking_lot 0.12.", ", parking_lot_core 0.9."] {
        assert!(controlled.contains(part), "{}", ran.err);
    }
    assert!(!ran.err.contains("not under control"), "{}", ran.err);
    again(|| interloper(&folder, &["test"]).expect(0));
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
