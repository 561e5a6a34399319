//! Requests that cannot be met: one report, exit code 2, and nothing half done.

use super::*;

/// Refuses, and leaves no copies behind.
#[track_caller]
fn refused(project: &Project, arguments: &[&str]) -> String {
    let before = files(project.folder());
    let ran = project.run(arguments).expect(2);
    assert_eq!(ran.out, "");
    assert!(files(project.folder()) == before);
    ran.err
}

/// Refuses before anything was copied.
#[track_caller]
fn check(project: &Project, arguments: &[&str], expected: &str) {
    assert_eq!(refused(project, arguments), expected);
    assert!(!project.tree().exists(), "nothing was copied");
}

#[test]
fn what_is_not_a_dependency() {
    let project = Project::new("[dependencies]\nspoon = { path = \"spoon\" }\n");
    project.dependency("spoon", "");
    let test = |names| ["test", "--offline", "--instrument", names];
    check(&project, &test("spon"), "error: spon is not a dependency: did you mean spoon?\n");
    check(&project, &test("spoon,knife"), "error: knife is not a dependency\n");
    check(&project, &test("spoon@2.0.0"), "error: spoon@2.0.0 is not a dependency: did you mean spoon?\n");
    check(
        &project,
        &test("interloper-std"),
        "error: interloper-std 0.1.0 cannot be put under control: it is a part of interloper\n",
    );
}

#[test]
fn a_list_in_the_manifest_that_is_none() {
    let project = Project::new("[package.metadata.interloper]\ninstrument = \"spoon\"\n");
    let file = project.folder().canonicalize().unwrap().join("Cargo.toml");
    let expected =
        format!("error: {} cannot be read: `metadata.interloper.instrument` is not a list of names\n", file.display());
    check(&project, &["test", "--offline"], &expected);
}

#[test]
fn a_project_without_the_mirror() {
    let project = Project::new("");
    project.put("Cargo.toml", "[package]\nname = \"subject\"\nversion = \"0.1.0\"\n");
    let expected = "error: nothing here depends on interloper: add it with `cargo interloper init`, or check the tests as they are with \
                    `cargo interloper test --every-test`\n";
    check(&project, &["test", "--offline"], expected);
    check(&project, &["run", "--offline"], expected);
}

#[test]
fn a_root_that_is_not_there() {
    let project = Project::new("[dependencies]\nspoon = { path = \"spoon\" }\n");
    project.dependency("spoon", "");
    let manifest = "[package]\nname = \"spoon\"\nversion = \"1.0.0\"\n[lib]\npath = \"gone.rs\"\n";
    project.put("spoon/Cargo.toml", manifest);
    let file = project.folder().canonicalize().unwrap().join("spoon/gone.rs");
    let expected = format!("error: the root file of spoon 1.0.0 is missing: {}\n", file.display());
    check(&project, &["test", "--offline", "--instrument", "spoon"], &expected);
}

#[test]
fn a_root_that_is_no_rust() {
    let project = Project::new("[dependencies]\nspoon = { path = \"spoon\" }\n");
    project.dependency("spoon", "\nfn f( {}\n");
    let err = refused(&project, &["test", "--offline", "--instrument", "spoon"]);
    let reason = "a bracket has no partner, or a literal does not end";
    assert_eq!(err, format!("error: spoon 1.0.0 cannot be read at src/lib.rs:2: {reason}\n"));
    assert!(!project.tree().exists());
}

#[test]
fn a_crate_with_a_module_of_its_own_named_std() {
    let project = Project::new("[dependencies]\nspoon = { path = \"spoon\" }\n");
    project.dependency("spoon", "");
    project.put("spoon/Cargo.toml", "[package]\nname = \"spoon\"\nversion = \"1.0.0\"\nedition = \"2021\"\n");
    project.put("spoon/src/lib.rs", "\nmod std {}\n");
    check(
        &project,
        &["test", "--offline", "--instrument", "spoon"],
        "error: spoon 1.0.0 cannot be put under control: it has its own module named `std`, at src/lib.rs:2\n",
    );
}

#[test]
fn a_source_that_is_missing() {
    let project = Project::new("[dependencies]\nno-registry-has-this = \"1\"\n");
    let err = refused(&project, &["test", "--offline"]);
    assert!(err.starts_with("error: cargo cannot read the project: ") && err.contains("no-registry-has-this"), "{err}");
    assert!(!project.tree().exists());
}

#[test]
fn a_copy_that_does_not_compile() {
    let project = Project::new("[dependencies]\nspoon = { path = \"spoon\" }\n");
    // The attribute is part of the crate under test: the line that puts a crate under control must come after attributes of
    // the whole crate.
    let library = "#![allow(dead_code)]\nuse std::sync::Once;\n\
                   pub fn bits(a: Once) -> u32 { unsafe { std::mem::transmute(a) } }\n";
    project.dependency("spoon", library);
    project.put("spoon/Cargo.toml", "[package]\nname = \"spoon\"\nversion = \"1.0.0\"\nedition = \"2021\"\n");
    project.run(&["test", "--offline"]).expect(0);
    let err = refused(&project, &["test", "--offline", "--instrument", "spoon"]);
    let expected = [
        "error[E0512]: cannot transmute between types of different sizes",
        " spoon/src/lib.rs:3:40\n",
        "spoon 1.0.0 at src/lib.rs:1: put in: #[allow(unused_imports)] #[macro_use] extern crate interloper_std as std;\n\
         error: the library `spoon` does not compile under control\n",
    ];
    expected.iter().for_each(|text| assert!(err.contains(text), "{text} is not in\n{err}"));
    // Without it everything is as before.
    project.run(&["test", "--offline"]).expect(0);
}

#[test]
fn a_project_that_does_not_compile() {
    let project = Project::new("");
    project.put("src/lib.rs", "fn f() -> u8 { \"\" }\n");
    let err = refused(&project, &["test", "--offline"]);
    assert!(err.contains(" src/lib.rs:1:16\n"), "{err}");
    assert!(err.ends_with("\n\nerror: the library `subject` does not compile\n"), "{err}");
}

/// The message is there once, as the compiler prints it, and one line says what it is about.
#[test]
fn a_test_that_does_not_compile() {
    let project = Project::new("");
    project.put("src/lib.rs", "");
    project.put("tests/counts.rs", "#[test]\nfn counts() { absent::count() }\n");
    let err = refused(&project, &["test", "--offline"]);
    assert_eq!(err.matches("error[E0433]").count(), 1, "{err}");
    assert!(err.contains("\nerror[E0433]: ") && err.contains("\n --> tests/counts.rs:2:15\n"), "{err}");
    assert!(err.ends_with("\n\nerror: the test `counts` does not compile\n"), "{err}");
    project.put("tests/counts.rs", "#[test]\nfn counts() {}\n");
    project.run(&["test", "--offline"]).expect(0);
}

#[test]
fn what_is_typed_wrongly() {
    let project = Project::new("");
    let err = refused(&project, &["tset"]);
    assert!(err.contains("unrecognized subcommand 'tset'") && err.contains("'test'"), "{err}");
    assert!(refused(&project, &["test", "--no-such-option"]).contains("--no-such-option"));
    assert!(project.run(&["--help"]).expect(0).out.contains("cargo interloper <COMMAND>"));
}
