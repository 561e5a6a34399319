use clap::CommandFactory;

use super::*;

#[test]
fn the_page_of_options_is_current() {
    crate::reference::assert_current("cargo-interloper.md", Cli::command());
}

fn parsed(arguments: &[&str]) -> Command {
    let arguments = ["cargo-interloper", "interloper"].iter().chain(arguments).map(OsString::from);
    match parse(arguments) {
        Request::Run(cli) => cli.command,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_model_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn the_features_of_interloper_are_known() {
    let manifest = include_str!("../../../interloper/Cargo.toml");
    let features = manifest.split_once("[features]").and_then(|(_, rest)| rest.split_once("\n\n")).expect("features").0;
    let names = features.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
    let names: std::collections::BTreeSet<&str> =
        names.map(|(name, _)| name).filter(|name| *name != "default").collect();
    assert_eq!(names, FEATURES.into());
    assert!(matches!(parsed(&["init", "--features", "objects,full"]), Command::Init { .. }));
    let mistyped = ["cargo-interloper", "interloper", "init", "--features", "nosuch"].map(OsString::from);
    assert!(!matches!(parse(mistyped), Request::Run(_)));
}

#[test]
fn cargo_gets_what_it_would_have_got() {
    let typed = "test --instrument a,b@1.0.0 -F x -p here --release --config k=1 --frozen name -- --exact";
    let Command::Test { common, build, checks, tests, name, arguments } = parsed(&typed.split(' ').collect::<Vec<_>>())
    else {
        panic!("a test")
    };
    assert_eq!(common.instrument, Some(vec!["a".to_owned(), "b@1.0.0".to_owned()]));
    assert_eq!((name.as_deref(), &arguments[..]), (Some("name"), &[OsString::from("--exact")][..]));
    let expected = Options {
        manifest: None,
        features: vec!["--features".into(), "x".into()],
        target: None,
        settings: vec!["--config".into(), "k=1".into(), "--offline".into()],
        locked: true,
        real: vec![],
        races: Races::Auto,
        preempts: false,
        checks: Vec::new(),
        build: ["--package", "here", "--release", "--tests"].map(OsString::from).into(),
        again: String::new(),
        harness: None,
    };
    assert_eq!(common.options(build.options().chain(tests.options(&build))), expected);
    let again = "cargo interloper test --instrument a,b@1.0.0 --features x --config k=1 --package here --release";
    assert_eq!(common.again(&build, &checks, &tests), again);
}

/// A replay needs what the build depends on, and nothing else.
#[test]
fn what_is_typed_again_decides_what_is_built() {
    let typed = [
        "test",
        "--preempt",
        "memory",
        "--races",
        "off",
        "--real",
        "parking_lot",
        "--seed",
        "7",
        "--strategy",
        "pos",
        "--lib",
        "-q",
        "-F",
        "a b",
        "t",
    ];
    let Command::Test { common, build, checks, tests, .. } = parsed(&typed) else { panic!("a test") };
    let again =
        "cargo interloper test --real parking_lot --races off --preempt memory --strategy pos --features 'a b' --lib";
    assert_eq!(common.again(&build, &checks, &tests), again);
    let Command::Test { common, build, checks, tests, .. } = parsed(&["test", "name"]) else { panic!("a test") };
    assert_eq!(common.again(&build, &checks, &tests), "cargo interloper test");
}

#[test]
fn chosen_targets_are_the_only_ones() {
    let Command::Test { build, tests, .. } = parsed(&["test", "--lib"]) else { panic!("a test") };
    assert_eq!(tests.options(&build).collect::<Vec<_>>(), ["--lib"]);
    let Command::Test { build, tests, .. } = parsed(&["test", "--example", "e"]) else { panic!("a test") };
    assert_eq!(tests.options(&build).count(), 0);
}

#[test]
fn it_can_be_started_without_cargo() {
    let started = parse(["cargo-interloper", "clean"].map(OsString::from));
    assert!(matches!(started, Request::Run(cli) if matches!(cli.command, Command::Clean { .. })));
    assert!(matches!(parse(["x", "interloper", "--help"].map(OsString::from)), Request::Print(_)));
    assert!(matches!(parse(["x", "interloper", "tset"].map(OsString::from)), Request::Refuse(_)));
}
