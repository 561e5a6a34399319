//! `cargo interloper init`.

use super::*;

const MANIFEST: &str = "[package]\nname = \"subject\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

/// A crate with a library, a binary and an integration test, and nothing of interloper.
fn plain() -> Project {
    let project = Project::new("");
    project.put("Cargo.toml", MANIFEST);
    project.put("src/lib.rs", "//! A library.\n\npub fn f() {}\n");
    project.put("src/main.rs", "fn main() {}\n");
    project.put("tests/whole.rs", "#[test]\nfn whole() {}\n");
    project.put("examples/one.rs", "fn main() {}\n");
    project
}

/// The files of a project without its lock file, which cargo writes.
fn texts(project: &Project) -> BTreeMap<PathBuf, Vec<u8>> {
    files(project.folder()).into_iter().filter(|(path, _)| !path.ends_with("Cargo.lock")).collect()
}

#[test]
fn what_is_put_in_can_be_taken_out_again() {
    let project = plain();
    let before = texts(&project);
    let dry = interloper(project.folder(), &["init", "--dry-run"]).expect(0);
    assert_eq!(texts(&project), before, "a dry run writes nothing");
    let put = interloper(project.folder(), &["init"]).expect(0);
    assert_eq!(put.out, dry.out);
    assert!(put.err.starts_with("4 files changed;"), "{}", put.err);
    let lines = "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std as std;\n\n";
    let text = |name: &str| fs::read_to_string(project.folder().join(name)).expect("a file");
    assert_eq!(text("src/lib.rs"), format!("//! A library.\n\n{lines}pub fn f() {{}}\n"));
    assert_eq!(text("src/main.rs"), format!("{lines}fn main() {{}}\n"));
    assert_eq!(text("tests/whole.rs"), format!("{lines}#[test]\nfn whole() {{}}\n"));
    assert_eq!(text("examples/one.rs"), "fn main() {}\n");
    let again = interloper(project.folder(), &["init"]).expect(0);
    assert_eq!((again.out.as_str(), again.err.starts_with("nothing to change")), ("", true), "{}", again.err);
    interloper(project.folder(), &["init", "--undo"]).expect(0);
    assert_eq!(texts(&project), before);
    let nothing = interloper(project.folder(), &["init", "--undo"]).expect(0);
    assert!(nothing.err.starts_with("nothing to undo"), "{}", nothing.err);
}

/// Like the root of crossbeam-queue. Under control, `std` is the mirror there as well; elsewhere it is std. What stays that of core is
/// named, and nothing does where `init` has seen it: an atomic of `core` is one of the mirror's.
#[test]
fn a_crate_that_declares_std_itself() {
    let project = plain();
    project.put(
        "src/lib.rs",
        "#![no_std]\n\n#[cfg(feature = \"std\")]\nextern crate std;\n\n#[cfg(all(test, interloper))]\nmod tests {\n    \
             #[test]\n    fn it_is_the_mirror() {\n        \
                 let lock: std::sync::Mutex<u8> = interloper_std::sync::Mutex::new(1);\n        \
                 assert_eq!(*lock.lock().unwrap(), 1);\n    }\n}\n",
    );
    project.put("Cargo.toml", &format!("{MANIFEST}\n[features]\ndefault = [\"std\"]\nstd = []\n"));
    let before = texts(&project);
    interloper(project.folder(), &["init"]).expect(0);
    let ran = interloper(project.folder(), &["test"]).expect(0);
    ran.assert_passed(&["it_is_the_mirror"]);
    let outside = "subject 0.1.0: what it names through `core::`, unless src/lib.rs says `#[cfg(interloper)] extern crate \
                   interloper_std as core;`, which `cargo interloper init` puts in";
    assert!(!ran.err.contains(outside), "{}", ran.err);
    let root = fs::read_to_string(project.folder().join("src/lib.rs")).expect("a file");
    let of_core = "#[cfg(all(test, interloper))]\npub const COUNT: core::sync::atomic::AtomicU8 = \
                   std::sync::atomic::AtomicU8::new(0);\n";
    project.put("src/lib.rs", &format!("{root}pub type Count = core::sync::atomic::AtomicU8;\n"));
    let ran = interloper(project.folder(), &["test"]).expect(0);
    assert!(ran.err.contains(&format!("not under control: {outside}\n")), "{}", ran.err);
    project.put("src/lib.rs", &format!("{root}{of_core}"));
    interloper(project.folder(), &["init"]).expect(0);
    let ran = interloper(project.folder(), &["test"]).expect(0);
    assert!(!ran.err.contains(outside), "{}", ran.err);
    interloper(project.folder(), &["init", "--undo"]).expect(0);
    let after = fs::read_to_string(project.folder().join("src/lib.rs")).expect("a file");
    project.put("src/lib.rs", after.strip_suffix(of_core).expect("what is not of init stays"));
    assert_eq!(texts(&project), before);
}

/// Like threadpool. The line names the mirror, and the copy of the package has the mirror in its paths, in all of its files.
#[test]
fn a_package_of_the_edition_of_2015() {
    let project = plain();
    let of_2015 = MANIFEST.replace("2024", "2015");
    project.put("Cargo.toml", &of_2015);
    project.put("src/lib.rs", "//! A library.\n\nmod counter;\npub use counter::Counter;\n");
    project.put(
        "src/counter.rs",
        "use std::sync::atomic::{AtomicUsize, Ordering};\n\n#[derive(Default)]\npub struct Counter(AtomicUsize);\n\n\
         impl Counter {\n    pub fn add(&self) {\n        let seen = self.0.load(Ordering::SeqCst);\n        \
         self.0.store(seen + 1, Ordering::SeqCst);\n    }\n\n    pub fn get(&self) -> usize {\n        \
         self.0.load(::std::sync::atomic::Ordering::SeqCst)\n    }\n}\n",
    );
    project.put(
        "tests/whole.rs",
        "#[cfg(interloper)]\nextern crate interloper;\nextern crate subject;\n\nuse std::sync::Arc;\nuse subject::Counter;\n\n\
         #[cfg_attr(interloper, interloper::test(expect = \"bug\"))]\n#[cfg_attr(not(interloper), test)]\n\
         fn an_addition_is_lost() {\n    let counter = Arc::new(Counter::default());\n    let shared = counter.clone();\n    \
         let other = std::thread::spawn(move || shared.add());\n    counter.add();\n    other.join().unwrap();\n    \
         assert_eq!(counter.get(), 2);\n}\n",
    );
    let before = texts(&project);
    let put = interloper(project.folder(), &["init"]).expect(0);
    let line = "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std;\n\n";
    let root = fs::read_to_string(project.folder().join("src/lib.rs")).expect("a file");
    assert_eq!(root, format!("//! A library.\n\n{line}mod counter;\npub use counter::Counter;\n"));
    assert!(put.out.contains("+extern crate interloper_std;\n"), "{}", put.out);
    let after = texts(&project);
    // What the command line puts under control comes beside the package's own line.
    for arguments in [&["test"][..], &["test", "--instrument", "subject"]] {
        let ran = interloper(project.folder(), arguments).expect(0);
        assert!(ran.out.contains("test an_addition_is_lost ... ok\n"), "{}", ran.out);
        assert!(!ran.err.contains("not under control"), "{}", ran.err);
    }
    assert_eq!(texts(&project), after, "the project's own files stay as they are");
    let nothing = interloper(project.folder(), &["init"]).expect(0);
    assert!(nothing.err.starts_with("nothing to change"), "{}", nothing.err);
    // In a later edition this line changes nothing, which the command says, until `init` puts in the other one.
    project.put("src/lib.rs", "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std;\n\npub fn f() {}\n");
    let root = fs::read_to_string(project.folder().join("tests/whole.rs")).expect("a file");
    let changed = after[&project.folder().join("Cargo.toml")].clone();
    let later = String::from_utf8(changed).expect("text").replace("2015", "2021");
    project.put("Cargo.toml", &later);
    project
        .put("tests/whole.rs", &root.replace("use subject::Counter;", "use std::sync::atomic::AtomicU8 as Counter;"));
    let says = "is that of std, since tests/whole.rs lacks the line";
    let lacks = interloper(project.folder(), &["test", "--no-run"]);
    assert!(lacks.err.contains(says), "{}", lacks.err);
    interloper(project.folder(), &["init"]).expect(0);
    let has = interloper(project.folder(), &["test", "--no-run"]);
    assert!(!has.err.contains(says), "{}", has.err);
    for (path, text) in &after {
        fs::write(path, text).expect("a file");
    }
    interloper(project.folder(), &["init", "--undo"]).expect(0);
    assert_eq!(texts(&project), before);
}

/// A package that takes its lints from the workspace gets the cfg there, and the package beside it stays as it is.
#[test]
fn a_member_of_a_workspace_with_lints_of_its_own() {
    let project = plain();
    project.put("Cargo.toml", "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n");
    for name in ["one", "two"] {
        let manifest = MANIFEST.replace("subject", name);
        project.put(&format!("{name}/Cargo.toml"), &format!("{manifest}\n[lints]\nworkspace = true\n"));
        project.put(&format!("{name}/src/lib.rs"), "");
    }
    project.put(
        "Cargo.toml",
        "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n\n[workspace.lints.rust]\nunused = \"warn\"\n",
    );
    let before = texts(&project);
    let put = interloper(project.folder(), &["init", "--package", "one"]).expect(0);
    assert!(put.err.starts_with("3 files changed;"), "{}", put.err);
    let after = texts(&project);
    let changed: Vec<_> = after.iter().filter(|(path, text)| before[*path] != **text).map(|(path, _)| path).collect();
    let changed: Vec<_> = changed.iter().map(|path| path.strip_prefix(project.folder()).expect("below it")).collect();
    assert_eq!(changed, [Path::new("Cargo.toml"), Path::new("one/Cargo.toml"), Path::new("one/src/lib.rs")]);
    interloper(project.folder(), &["init", "--undo", "--package", "one"]).expect(0);
    assert_eq!(texts(&project), before);
}

#[test]
fn what_cannot_come_under_control_is_left_alone() {
    let project = plain();
    let refused = |arguments: &[&str], expected: &str| {
        let before = texts(&project);
        let ran = interloper(project.folder(), arguments).expect(2);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.err.starts_with(expected), "{}", ran.err);
        assert_eq!(texts(&project), before);
    };
    refused(&["init", "--package", "sbject"], "error: the workspace has no package sbject: did you mean subject?");
    refused(&["init", "--path", "."], "error: cannot find the crate interloper in ");
    project.put("src/main.rs", "mod std {}\nfn main() {}\n");
    refused(&["init"], "error: subject 0.1.0 cannot be put under control: it has a module named `std` at its root");
    project.put("src/main.rs", "fn main() {");
    refused(&["init"], "error: subject 0.1.0 cannot be read at ");
    project.put("Cargo.toml", &MANIFEST.replace("2024", "2015"));
    refused(&["init"], "error: subject 0.1.0 cannot be read at ");
}

/// The manifest names what the tests use. What is named already stays named once.
#[test]
fn features_are_written_into_the_manifest() {
    let project = plain();
    let before = texts(&project);
    let manifest = || fs::read_to_string(project.folder().join("Cargo.toml")).expect("a file");
    interloper(project.folder(), &["init", "--features", "composed,objects"]).expect(0);
    assert!(manifest().contains("features = [\"composed\", \"objects\"] }\n"), "{}", manifest());
    interloper(project.folder(), &["init", "--features", "objects"]).expect(0);
    assert!(manifest().contains("features = [\"composed\", \"objects\"] }\n"), "{}", manifest());
    interloper(project.folder(), &["init", "--undo"]).expect(0);
    assert_eq!(texts(&project), before);
}

/// Without the feature, a failure has no page, and who asks for one hears why. What needs another feature does not compile, and the
/// compiler says which one that is.
#[test]
fn what_is_left_out_is_said() {
    let facade = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let project =
        Project::new(&format!("[dev-dependencies.interloper]\npath = {facade:?}\ndefault-features = false\n"));
    let test = "#[cfg(test)]\nmod tests {\n    #[interloper::test]\n    fn fails() {\n        assert_eq!(1 + 1, 3);\n    }\n}\n";
    project.put("src/lib.rs", test);
    let failures = || {
        let all = fs::read_dir(project.folder().join("src/interloper-failures")).expect("a folder");
        all.map(|entry| entry.expect("an entry").path()).collect::<Vec<PathBuf>>()
    };
    let ran = project.run(&["test"]).expect(1);
    assert!(ran.out.contains("replay: ") && !ran.out.contains("page: "), "{}", ran.out);
    let all = failures();
    assert!(matches!(&all[..], [file] if file.extension().is_none_or(|ending| ending != "html")), "{all:?}");
    let asked = self::ran(command(project.folder(), &["test"]).env("INTERLOPER_HTML", "on")).expect(1);
    let reason = "the environment variable INTERLOPER_HTML is \"on\": the feature `pages` of interloper is off";
    assert!(asked.out.contains(reason), "{}", asked.out);
    let uses = "#[test]\nfn uses() {\n    let _ = interloper::objects::Level::Atomic;\n}\n";
    project.put("tests/uses.rs", uses);
    let refused = project.run(&["test"]).expect(2);
    assert!(refused.err.contains("the item is gated behind the `objects` feature"), "{}", refused.err);
}
