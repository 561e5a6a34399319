//! Parsing: what is accepted, what is refused, and how the options are typed again.

use clap::CommandFactory;

use super::*;

#[test]
fn the_page_of_options_is_current() {
    crate::reference::assert_current("interloper.md", Cli::command());
}

fn parsed(arguments: &[&str]) -> Cli {
    let arguments = std::iter::once("interloper").chain(arguments.iter().copied()).map(OsString::from);
    match parse(arguments) {
        Ok(Request::Run(cli)) => *cli,
        other => panic!("{other:?}"),
    }
}

fn refused(arguments: &[&str]) -> String {
    let arguments = std::iter::once("interloper").chain(arguments.iter().copied()).map(OsString::from);
    match parse(arguments) {
        Err(Failure::Request(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_model_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn options_stand_before_and_after_the_command() {
    for arguments in [["--seed", "7", "compare"], ["compare", "--seed", "7"]] {
        let cli = parsed(&arguments);
        assert!(matches!(cli.command, Some(Command::Compare)));
        assert_eq!(cli.search.seed(), 7);
    }
    assert_eq!(parsed(&[]).search.seed(), 42);
    assert_eq!(parsed(&["--seed", &u64::MAX.to_string()]).search.seed(), u64::MAX);
    assert_eq!(parsed(&["--time", "0.25"]).search.time, Some(Duration::from_millis(250)));
}

#[test]
fn a_wrong_value_gets_one_line_that_says_what_is_right() {
    let seed = "a seed is a whole number from 0 to 18446744073709551615";
    for wrong in ["abc", "-1", "1.5", "18446744073709551616", ""] {
        assert_eq!(refused(&["--seed", wrong]), format!("invalid value '{wrong}' for '--seed <N>': {seed}"));
    }
    assert_eq!(
        refused(&["--bound", "0"]),
        "invalid value '0' for '--bound <N>': a bound of zero leaves nothing to search; it must be at least 1"
    );
    for wrong in ["1001", "4294967295", "4294967296"] {
        let bound = "a bound is a whole number from 1 to 1000";
        assert_eq!(refused(&["--bound", wrong]), format!("invalid value '{wrong}' for '--bound <N>': {bound}"));
        let depth = "a depth is a whole number from 1 to 1000";
        assert_eq!(refused(&["--depth", wrong]), format!("invalid value '{wrong}' for '--depth <N>': {depth}"));
    }
    let time = "a time is a number of seconds above 0, such as 90, or 30m or 8h, and at most 1000000000 seconds";
    for wrong in [
        "h",
        "0m",
        "1d",
        "300000h",
        "0",
        "-3",
        "nan",
        "inf",
        "1e300",
        "1e-300",
        "soon",
        "18446744073709551615",
        "1000000001",
    ] {
        assert_eq!(refused(&["--time", wrong]), format!("invalid value '{wrong}' for '--time <TIME>': {time}"));
    }
    for wrong in ["0", "1025", "100000", "18446744073709551616"] {
        let jobs = "the number of jobs is a whole number from 1 to 1024";
        assert_eq!(refused(&["--jobs", wrong]), format!("invalid value '{wrong}' for '--jobs <N>': {jobs}"));
    }
}

#[test]
fn the_largest_values_are_accepted() {
    let cli = parsed(&["--bound", "1000", "--depth", "1000", "--time", "1000000000", "--jobs", "1024"]);
    let search = cli.search;
    assert_eq!((search.bound.map(u32::from), search.depth.map(u32::from)), (Some(1000), Some(1000)));
    assert_eq!(search.time, Some(Duration::from_secs(time::MAX_SECONDS)));
    assert_eq!(search.jobs.map(usize::from), Some(1024));
    let time = |typed: &str| parsed(&["--time", typed]).search.time.map(|time| time.as_secs_f64());
    assert_eq!(["1.5", "90s", "0.5m", "8h"].map(time), [Some(1.5), Some(90.0), Some(30.0), Some(28800.0)]);
    assert!(std::time::Instant::now().checked_add(Duration::from_secs(time::MAX_SECONDS)).is_some());
}

#[test]
fn a_misspelt_word_gets_a_suggestion_on_the_same_line() {
    assert_eq!(refused(&["--sed", "3"]), "unexpected argument '--sed' found: did you mean '--seed'?");
    assert_eq!(refused(&["lst"]), "unrecognized subcommand 'lst': did you mean 'list'?");
    assert_eq!(
        refused(&["--adversary", "nearst"]),
        "invalid value 'nearst' for '--adversary <ADVERSARY>' [possible values: nearest, preceding, naive]: did \
         you mean 'nearest'?"
    );
    assert_eq!(
        refused(&["--strategy", "pct:0"]),
        "invalid value 'pct:0' for '--strategy <STRATEGY>': \"pct:0\" is not a strategy: the depth is a number \
         from 1 to \
         1000"
    );
    assert_eq!(refused(&["--q", "1.5"]), "invalid value '1.5' for '--q <P>': a probability is a number from 0 to 1");
    assert_eq!(refused(&["run"]), "the following required arguments were not provided: <NAME>...");
}

#[test]
fn the_options_that_matter_are_typed_again() {
    assert_eq!(parsed(&[]).search.typed(), "--seed 42");
    let all = "--seed 7 --bound 2 --adversary nearest --environment closed --executions 9 --jobs 2 --time 3";
    let typed = parsed(&all.split(' ').collect::<Vec<&str>>()).search.typed();
    assert_eq!(typed, "--seed 7 --bound 2 --adversary nearest --environment closed --executions 9");
    let all = "--check-determinism --depth 4 --q 0.9 --freedoms time+hints:2 --strategy pct+atomfuzzer";
    let typed = parsed(&all.split(' ').collect::<Vec<&str>>()).search.typed();
    assert_eq!(
        typed,
        "--seed 42 --strategy pct:3+atomfuzzer:0.5 --freedoms time:1+hints:2 --q 0.9 --depth 4 --check-determinism"
    );
}

#[test]
fn an_option_that_would_be_ignored_is_refused() {
    let cli = parsed(&["replay", "x.json", "--bound", "4"]);
    let Err(Failure::Request(message)) = cli.search.only("replay", &[]) else { panic!("refused") };
    assert_eq!(message, "'replay' does not use --bound");
    assert!(cli.search.only("compare", &["--bound"]).is_ok());
    assert!(parsed(&["list"]).search.only("list", &[]).is_ok());
}
