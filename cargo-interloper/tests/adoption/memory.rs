//! Data races and freed memory: the crate of examples/memory.

use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/memory")
}

const TESTS: [&str; 13] = [
    "a_block_is_freed_twice_or_never",
    "a_cell_needs_release",
    "a_lock_is_freed_by_the_last_who_had_it",
    "a_lock_needs_release",
    "a_map_needs_a_lock",
    "a_node_that_others_read_must_not_be_freed",
    "a_thread_local_ends_with_its_thread",
    "a_thread_local_that_another_thread_writes_needs_an_order",
    "an_old_pointer_is_used_after_its_block_was_freed",
    "the_last_owner_needs_a_fence",
    "the_result_of_a_thread_that_nobody_joins_is_no_race",
    "what_an_arc_orders_is_no_race",
    "what_std_orders_is_no_race",
];

#[test]
fn what_is_wrong_is_found_and_what_is_right_is_not() {
    let on = || interloper(&folder(), &["test"]).expect(0);
    let ran = on();
    ran.assert_passed(&TESTS);
    assert!(ran.out.contains("test sources::memory_from_each_source_is_watched ... ok\n"), "{}", ran.out);
    assert!(ran.err.contains("data races: looked for\n"), "{}", ran.err);
    // Nothing is compiled anew: only the judging differs. What is freed is watched all the same.
    let off = compiles_nothing_after(on, || interloper(&folder(), &["test", "--races", "off"]).expect(1));
    assert!(off.err.contains("data races: not looked for, `--races off`\n"), "{}", off.err);
    off.assert_passed(&["a_block_is_freed_twice_or_never", "a_node_that_others_read_must_not_be_freed"]);
    assert!(off.out.contains("test tests::a_cell_needs_release ... FAILED\n"), "{}", off.out);
}

/// What a crate outside of control orders would look like a race.
#[test]
fn races_are_judged_if_all_that_synchronises_is_under_control() {
    let project = Project::of_tests("once_cell = \"1\"", "#[test]\nfn passes() {}\n");
    let without = project.run(&["test", "--no-run"]).expect(0);
    let reason = "data races: not looked for, once_cell 1.";
    assert!(without.err.contains(reason) && without.err.contains("may synchronise outside"), "{}", without.err);
    let with = project.run(&["test", "--no-run", "--instrument", "once_cell"]).expect(0);
    assert!(with.err.contains("data races: looked for\n"), "{}", with.err);
}

/// The program does not contain a member that is not built, nor a dependency that only this member has.
#[test]
fn races_are_judged_if_only_other_members_synchronise_outside_of_control() {
    let project = Project::of_tests("", "#[test]\nfn passes() {}\n");
    let manifest = std::fs::read_to_string(project.folder().join("Cargo.toml")).expect("a manifest");
    project.put("Cargo.toml", &format!("{manifest}\n[workspace]\nmembers = [\"other\"]\n"));
    project.put(
        "other/Cargo.toml",
        "[package]\nname = \"other\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nonce_cell = \"1\"\n",
    );
    project.put("other/src/lib.rs", "pub use once_cell::sync::OnceCell;\n");
    let judges = |arguments: &[&str]| {
        let ran = project.run(&[&["test", "--no-run"], arguments].concat()).expect(0);
        assert!(ran.err.contains("data races: "), "{}", ran.err);
        ran.err.contains("data races: looked for\n")
    };
    assert!(judges(&[]));
    assert!(judges(&["--package", "subject"]));
    assert!(!judges(&["--package", "other"]));
    assert!(!judges(&["--workspace"]));
}

/// An allocator that asks the system with a function of another language, as that of the crate mimalloc does.
const FOREIGN: &str = "
use std::alloc::{GlobalAlloc, Layout};

unsafe extern \"C\" {
    fn malloc(size: usize) -> *mut u8;
    fn free(block: *mut u8);
}

struct NAME;

unsafe impl GlobalAlloc for NAME {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe { malloc(layout.size().max(layout.align())) }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        unsafe { free(block) }
    }
}

#[global_allocator]
static ALLOCATOR: NAME = NAME;
";

#[test]
fn an_allocator_of_the_projects_own_is_named() {
    let allocator = FOREIGN.replace("NAME", "Own");
    // Without the scheduler, which would be compiled for the mirror of this project alone.
    let project = Project::new("");
    let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn passes() {}\n}\n";
    project.put("src/lib.rs", &format!("{HEAD}\n{allocator}\n{tests}"));
    // Nothing runs under control here, so the mirror, which is compiled for this project alone, need not be quick.
    let quickly = "profile.dev.package.interloper-std.opt-level=0";
    let ran = project.run(&["test", "--config", quickly]).expect(0);
    assert!(ran.err.contains("freed memory: uses of it are not found, since the project has"), "{}", ran.err);
    assert!(ran.err.contains("data races: not looked for, the project has an allocator of its own"), "{}", ran.err);
    ran.assert_passed(&["passes"]);
    let asked = project.run(&["test", "--no-run", "--races", "on", "--config", quickly]).expect(0);
    assert!(asked.err.contains("data races: looked for\n"), "{}", asked.err);
}

#[test]
fn an_allocator_that_is_there_for_its_speed_is_left_out() {
    let project = Project::new("");
    // No text of the project's own implements it, as far as can be seen.
    let (implemented, used) = FOREIGN.split_once("#[global_allocator]").expect("a static");
    let implemented = implemented.replace("struct NAME", "struct $name").replace("for NAME", "for $name");
    let allocator = format!(
        "macro_rules! allocator {{ ($name:ident) => {{ {implemented} }} }}\nallocator!(MiMalloc);\n#[global_allocator]{}",
        used.replace("NAME", "MiMalloc")
    );
    let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn passes() {}\n}\n";
    project.put("src/lib.rs", &format!("{HEAD}\n{allocator}\n{tests}"));
    let ran = project.run(&["test", "--config", "profile.dev.package.interloper-std.opt-level=0"]).expect(0);
    let (_, left_out) = ran.err.split_once("switched off: subject 0.1.").unwrap_or_else(|| panic!("{}", ran.err));
    assert!(left_out.contains("the allocator MiMalloc at src/lib.rs:"), "{}", ran.err);
    assert!(ran.err.contains("data races: looked for\n"), "{}", ran.err);
    assert!(!ran.err.contains("freed memory: uses of it are not found"), "{}", ran.err);
    ran.assert_passed(&["passes"]);
}
