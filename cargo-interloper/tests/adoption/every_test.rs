//! `cargo interloper test --every-test`: the tests of a project that has nothing of interloper.

use super::*;

const MANIFEST: &str = "[package]\nname = \"subject\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

/// A counter that is right or wrong, and tests of both kinds.
const LIBRARY: &str = include_str!("every_test/library.rs");

/// A module that declares std itself.
const INNER: &str = r#"
extern crate std;

#[test]
fn wrong() {
    let number = std::sync::atomic::AtomicU32::new(0);
    let count = || number.store(number.load(std::sync::atomic::Ordering::SeqCst) + 1, std::sync::atomic::Ordering::SeqCst);
    std::thread::scope(|scope| {
        scope.spawn(count);
        count();
    });
    assert_eq!(number.into_inner(), 2);
}
"#;

/// Tests that lock a file and leave it open, as a thread does that an execution leaves behind.
const LOCKED_FILES: &str = include_str!("every_test/locked_files.rs");

/// Tests with an allocator that counts, whose atomics are those of a crate under control.
const OWN_ALLOCATOR: &str = include_str!("every_test/own_allocator.rs");

fn project() -> Project {
    let project = Project::new("");
    project.put("src/lib.rs", LIBRARY);
    project.put("src/inner.rs", INNER);
    project.put(
        "tests/whole.rs",
        // Under control, `core` is the mirror in this file, since the library names atomics of `core`.
        "mod beside;\nmod shared;\n\nuse core::sync::atomic::{AtomicU32, Ordering::Relaxed};\n\n\
         #[test]\nfn wrong() {\n    let expected = AtomicU32::new(2);\n    \
         assert_eq!(subject::both_count(false), expected.load(Relaxed));\n}\n\n\
         #[test]\nfn starts_an_example() {\n    let test = std::env::current_exe().unwrap();\n    \
         let example = test.parent().unwrap().parent().unwrap().join(\"examples\").join(\"told\");\n    \
         assert_eq!(std::process::Command::new(example).output().unwrap().stdout, b\"told\\n\");\n}\n",
    );
    project.put("examples/told.rs", "fn main() {\n    println!(\"told\");\n}\n");
    project.put("Cargo.toml", &format!("{MANIFEST}\n[[test]]\nname = \"own_main\"\nharness = false\n"));
    project.put("tests/own_main.rs", "fn main() {\n    assert!(subject::both_count(false) > 0);\n}\n");
    project.put("tests/own_allocator.rs", OWN_ALLOCATOR);
    project.put("tests/locked_files.rs", LOCKED_FILES);
    project.put(
        "tests/shared.rs",
        "//! For tests, each of which uses a part.\n\n#[allow(dead_code)]\npub fn helps() {}\n",
    );
    project.put("tests/beside.rs", "#[test]\nfn right() {\n    assert_eq!(subject::both_count(true), 2);\n}\n");
    project
}

#[test]
fn each_test_of_an_untouched_project_is_checked() {
    let project = project();
    let before = texts(&project);
    let ran = interloper(project.folder(), &["test", "--every-test", "--no-fail-fast"]).expect(1);
    let has = |line: &str| assert!(ran.out.contains(&format!("test {line}\n")), "{line}: {}", ran.out);
    for (test, result) in [
        ("inner::wrong", "FAILED"),
        ("tests::alone", "ok"),
        ("tests::an_error", "FAILED"),
        ("tests::does_not_always_panic", "FAILED"),
        ("tests::ignored", "ignored"),
        ("tests::made_right", "ok"),
        ("tests::made_wrong", "FAILED"),
        ("tests::panics - should panic", "ok"),
        ("tests::right", "ok"),
        ("tests::wrong", "FAILED"),
        ("tests::an_error_of_an_alias", "FAILED"),
        ("tests::of_a_lifetime", "ok"),
        ("tests::calls_others", "ok"),
        ("tests::exchanges_at_once", "ok"),
        ("tests::compares_with_what_has_no_type", "ok"),
        ("tests::repeats_what_it_does", "ok"),
        ("tests::repeats_what_threads_do", "ok"),
        ("tests::wrong_by_its_path", "FAILED"),
        ("tests::imported::wrong", "FAILED"),
        ("tests::imported_in_braces::wrong", "FAILED"),
        ("tests::of_a_unit_result", "ok"),
        ("tests::calls_another_for_its_result", "FAILED"),
        ("tests::imported::below::wrong", "FAILED"),
        ("tests::of_core::below::wrong", "FAILED"),
        ("beside::right", "ok"),
        ("starts_an_example", "ok"),
        ("tests::too_weak", "FAILED"),
        ("tests::strong_enough", "ok"),
        ("tests::ordered_by_a_sleep", "ok"),
        ("tests::works_for_long", "ok"),
        ("tests::works_for_long_far_down_its_stack", "ok"),
        ("tests::waits_for_ever", "FAILED"),
        ("tests::the_clock_goes_on", "ok"),
        ("tests::the_clock_goes_on_for_long", "FAILED"),
        ("what_is_allocated_is_counted", "ok"),
        ("nothing_is_allocated", "FAILED"),
        ("memory_that_is_used_again_is_no_race", "ok"),
        ("both_write_what_was_allocated", "FAILED"),
        ("what_was_freed_is_read", "FAILED"),
        ("a_lock_ends_with_the_execution", "ok"),
        ("a_file_is_locked_twice", "FAILED"),
        ("a_thread_waits_for_a_lock", "ok"),
        ("a_thread_waits_for_its_own_lock", "FAILED"),
        ("wrong", "FAILED"),
        // The file of this one is a module, too: it runs as it would without Interloper.
        ("right", "ok"),
    ] {
        // Who takes over `should_panic` says nothing about it to the harness.
        has(&format!("{} ... {result}", test.trim_end_matches(" - should panic")));
    }
    for line in [
        "not under control: subject 0.1.0: the tests of tests/beside.rs are not checked, since the file is a module of another \
         test, too\n",
        "not under control: subject 0.1.0: the test target own_main runs without checks, since its own `main` calls its tests \
         (`harness = false`)\n",
        "\n22 tests passed under control; 13 of them explored nothing: one thread, or threads that take turns, or share nothing but the counts of an `Arc` \
         (`-- --show-output` says which); 1 of them did not come to the end in any execution (`--steps` and `--time` allow longer ones)\n",
    ] {
        assert!(ran.err.contains(line), "{}", ran.err);
    }
    // A module of another test that has no tests itself is no news.
    assert!(!ran.err.contains("tests/shared.rs are not checked"), "{}", ran.err);
    // A failing test prints what runs it again, and that does.
    let (_, command) = ran.out.split_once("replay: INTERLOPER_REPLAY=").expect("a replay");
    let (file, command) = command.lines().next().and_then(|line| line.split_once(' ')).expect("a file");
    assert!(command.starts_with("cargo interloper test --every-test "), "{command}");
    let words: Vec<&str> = command.split(' ').skip(2).collect();
    let mut again = super::command(project.folder(), &words);
    let again = super::ran(again.env("INTERLOPER_REPLAY", file)).expect(1);
    assert!(again.out.contains("1 execution of 1 trace"), "{}", again.out);
    // Beside the failures, nothing of the project has changed.
    for folder in ["src/interloper-failures", "tests/interloper-failures"] {
        fs::remove_dir_all(project.folder().join(folder)).expect("failures");
    }
    assert_eq!(texts(&project), before);
}

/// The files of a project without its lock file, which cargo writes.
fn texts(project: &Project) -> BTreeMap<PathBuf, Vec<u8>> {
    files(project.folder()).into_iter().filter(|(path, _)| !path.ends_with("Cargo.lock")).collect()
}

/// A project that has what `init` writes, and tests of both kinds: those with the attribute keep their options.
#[test]
fn a_project_under_control_has_its_other_tests_checked() {
    let facade = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let project = Project::of_tests(
        &format!("interloper = {{ path = {facade:?} }}"),
        r#"
        use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

        fn counted() -> u32 {
            let number = AtomicU32::new(0);
            let count = || number.store(number.load(SeqCst) + 1, SeqCst);
            std::thread::scope(|scope| {
                scope.spawn(count);
                count();
            });
            number.into_inner()
        }

        #[test]
        fn plain() {
            assert_eq!(counted(), 2);
        }

        #[interloper::test(executions = 7, strategy = "random", freedoms = "none")]
        fn with_the_attribute() {
            assert!(counted() > 0);
        }"#,
    );
    let ran = interloper(project.folder(), &["test"]).expect(0);
    ran.assert_passed(&["plain", "with_the_attribute"]);
    let ran = interloper(project.folder(), &["test", "--every-test", "--", "--show-output"]).expect(1);
    assert!(ran.out.contains("test tests::plain ... FAILED\n"), "{}", ran.out);
    assert!(ran.out.contains(": 7 executions of"), "{}", ran.out);
}

/// A procedural macro that is a member of the workspace, and names std's attribute in other ways than those of others do.
#[test]
fn the_tests_of_a_macro_of_the_workspace_are_checked() {
    let project = Project::new("");
    project.put("Cargo.toml", "[workspace]\nmembers = [\"made\", \"subject\"]\nresolver = \"2\"\n");
    let manifest = MANIFEST.replace("subject", "made");
    project.put("made/Cargo.toml", &format!("{manifest}\n[lib]\nproc-macro = true\n"));
    let attribute = |name: &str, path: &str| {
        format!(
            "#[proc_macro_attribute]\npub fn {name}(_: TokenStream, item: TokenStream) -> TokenStream {{\n    \
             let test: TokenStream = \"#[{path}]\".parse().unwrap();\n    test.into_iter().chain(item).collect()\n}}\n"
        )
    };
    let attributes =
        [("plain", "test"), ("of_core", "::core::prelude::v1::test"), ("of_std", "std::prelude::v1::test")];
    let text = attributes.map(|(name, path)| attribute(name, path)).concat();
    project.put("made/src/lib.rs", &format!("use proc_macro::TokenStream;\n\n{text}"));
    project.put("subject/Cargo.toml", &format!("{MANIFEST}\n[dependencies]\nmade = {{ path = \"../made\" }}\n"));
    let test = |(name, _): (&str, &str)| {
        format!("#[made::{name}]\nfn {name}() {{\n    assert_eq!(both_count(false), 2);\n}}\n")
    };
    let tests = attributes.map(test).concat();
    let library = LIBRARY.split("#[cfg(test)]").next().expect("it has a begin").replace("mod inner;", "");
    project.put("subject/src/lib.rs", &format!("{library}\n{tests}"));
    let ran = interloper(project.folder(), &["test", "--every-test", "--no-fail-fast"]).expect(1);
    for (name, _) in attributes {
        assert!(ran.out.contains(&format!("test {name} ... FAILED\n")), "{name}: {}", ran.out);
    }
    // The tests of a procedural macro are a binary that needs the shared library of std.
    let listed = interloper(project.folder(), &["test", "--every-test", "--list"]).expect(0);
    assert!(attributes.iter().all(|(name, _)| listed.out.contains(name)), "{}", listed.out);
}

/// What serde_json implements for numbers leaves the type of a sum open. A test that does not reach serde_json compiles, although the
/// checker is built with serde_json, and so is the project. A test that does has what serde_json implements, and so has a build script.
#[test]
fn a_test_sees_what_serde_json_implements_only_where_the_project_does() {
    for (kind, script) in [("dev-dependencies", ""), ("build-dependencies", "build.rs")] {
        let project = Project::new("");
        project.put("Cargo.toml", &format!("{MANIFEST}\n[{kind}]\nserde_json = \"1\"\n"));
        project.put("src/lib.rs", LIBRARY.split("#[cfg(test)]").next().expect("it has a begin"));
        project.put("src/inner.rs", "");
        let compared = |what: &str| {
            format!("{what} {{\n    assert!(serde_json::json!(3) == 3 && 4 != serde_json::json!(3));\n}}\n")
        };
        if script.is_empty() {
            project.put("tests/reaching.rs", &compared("#[test]\nfn reaches()"));
        } else {
            project.put(script, &compared("fn main()"));
        }
        project.put(
            "tests/open.rs",
            "#[test]\nfn right() {\n    let three: u32 = subject::both_count(true) + 1;\n    \
             assert_eq!(three, (0..3).sum());\n}\n\n\
             #[test]\nfn wrong() {\n    assert_eq!(subject::both_count(false), (1..2).map(|one| 2 * one).sum());\n}\n",
        );
        let ran = interloper(project.folder(), &["test", "--every-test", "--no-fail-fast"]).expect(1);
        for line in
            ["right ... ok", "wrong ... FAILED"].into_iter().chain(script.is_empty().then_some("reaches ... ok"))
        {
            assert!(ran.out.contains(&format!("test {line}\n")), "{kind}: {}{}", ran.out, ran.err);
        }
    }
}
