//! The page, from its data.

use std::collections::BTreeMap;
use std::fmt::Write;

use interloper_report::table::Align::{Left, Right};
use interloper_report::table::Table;
use serde::{Deserialize, Serialize};

/// What is known.
#[derive(Serialize, Deserialize)]
pub struct Data {
    /// The programs, by the name of their file.
    pub programs: BTreeMap<String, Ran>,
    /// What a reader says of a program that did not do what its name promises.
    pub readings: BTreeMap<String, String>,
    /// Test files of published crates, run as they are.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub own_tests: Vec<OwnTests>,
}

/// A file with tests of a published crate.
#[derive(Serialize, Deserialize)]
pub struct OwnTests {
    /// The crate and its version.
    pub of: String,
    pub file: String,
    /// How many tests ran.
    pub tests: usize,
    /// Those that failed, with the kind of finding.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub failed: BTreeMap<String, String>,
    /// What a reader says of them, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub readings: BTreeMap<String, String>,
}

/// What came of a program.
#[derive(Serialize, Deserialize)]
pub struct Ran {
    /// What it is, as its file says.
    pub what: String,
    /// The dependencies that it asks for and their versions.
    pub versions: Vec<String>,
    /// The crates under control, with their versions.
    pub control: Vec<String>,
    /// The checks of the wrong program, one for each seed.
    pub planted: Vec<Checked>,
    /// The check of the correct one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub correct: Option<Checked>,
    /// Why it did not run to its end: the first line of the error.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failed: Option<String>,
}

/// One check.
#[derive(Serialize, Deserialize)]
pub struct Checked {
    pub program: String,
    pub seed: u64,
    /// The kind of finding.
    #[serde(default)]
    pub found: Option<String>,
    /// In which execution, counted from 1; 0 without a finding.
    #[serde(default)]
    pub at: u64,
    #[serde(default)]
    pub executions: u64,
    #[serde(default)]
    pub steps: u64,
    #[serde(default)]
    pub traces: u64,
    /// Whether all executions ran that there are.
    #[serde(default)]
    pub complete: bool,
    /// How many executions were stopped at the bound of steps.
    #[serde(default)]
    pub given_up: u64,
    /// Whether executions were judged for data races.
    #[serde(default)]
    pub races: bool,
    /// How long it took, on the machine where it ran.
    #[serde(default)]
    pub seconds: f64,
    /// Why the check was refused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<String>,
}

/// What the page says before its table.
const HEAD: &str = "# Crates under control

Each row is a small program over a published crate, unmodified, as `cargo interloper test` builds it: a wrong program with a planted
bug, and its correct twin. The sources are in `cargo-interloper/adopted`. `crates.txt` there is the list of crates. Each name was
written into it before it was tried. A crate that does not work has a row too, with the reason; a name without a row is at the end, with
the reason.

- The first 69 names, to `lock_api`, are widely used crates with threads or async. They were chosen from memory, and no download counts
  were read.
- The names after them were chosen by a rule. The [Rust Playground](https://github.com/rust-lang/rust-playground) offers the 100 crates
  of crates.io with the most downloads, the crates of the Rust Cookbook, and what these need. Its list is the file
  `compiler/base/crate-information.json` of the repository rust-lang/rust-playground, read at commit
  `d098ad7d49512b2f49411e385b662e1a8af58fdb` of 2026-08-07; it has 487 entries. Chosen is each crate of that list, without a row among the
  first 69, that has threads, locks, atomics or async in its public API, with whichever features, or that by its documentation shares
  state between threads behind its API.

Left out are the crates of that list without any of this, and by rule: values that are computed once and kept, and settings that are
made once; state of one thread; parallelism that is rayon's, since rayon has a row; bindings to the system or to C without an interface of
their own; what runs when a program is compiled; and traits that a crate implements for types of std.

This page is printed from `cargo-interloper/adopted/results.json`; a test compares the two. In the root of the repository,

```text
cargo run -p cargo-interloper --example adopted -- run FOLDER [NAME…]    # runs programs, and updates the data
cargo run -p cargo-interloper --example adopted -- print
```

runs programs again, and prints the page. Both programs are checked with the defaults of `#[interloper::test]`: the portfolio, at
most 10,000 executions. *Found* is the number of the execution that shows the bug: the median of five seeds (42 to 46), the least
and the most, and the kind of finding. *Clean* is the number of executions of the correct twin, all without a finding (seed 42).
*Steps* is the mean of an execution of the correct twin. *Rate* is the number of its executions in a second on the machine that
measured it, one of two cores that others used too, with `opt-level = 1`; another run gives other numbers. The programs that are
run together share one project, so that it is built once. With *races*, executions were judged for data races as well, which is
the default if all crates of the project that synchronise are under control: here foldhash was not. All rows are of the default as it was
before `rff` asked for single unseen pairs (see the changelog), so a program shows its bug in another execution now.
";

/// The names in the list, one a line, without empty lines and lines that begin with `#`.
pub fn names(list: &str) -> impl Iterator<Item = &str> + Clone {
    list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The page.
pub fn page(list: &str, data: &Data) -> String {
    let mut out = HEAD.to_owned();
    let names = || names(list);
    let works = |ran: &&Ran| verdict(ran) == Verdict::Works;
    let tried = names().filter_map(|name| data.programs.get(name));
    let mut counts = Table::new([("", Left), ("", Right)]);
    counts.row(["names of the list", &names().count().to_string()]);
    counts.row(["programs that were run", &data.programs.len().to_string()]);
    counts.row(["bug found with each seed, twin clean", &tried.clone().filter(works).count().to_string()]);
    let words = ["program", "versions", "what it is", "found"].map(|heading| (heading, Left));
    let numbers = [("clean", Right), ("steps", Right), ("rate", Right), ("races", Left)];
    let mut table = Table::new(words.into_iter().chain(numbers));
    for (name, ran) in names().filter_map(|name| Some((name, data.programs.get(name)?))) {
        table.row([format!("`{name}`"), ran.versions.join(", "), ran.what.clone()].into_iter().chain(cells(ran)));
    }
    let _ = write!(out, "\n{}\n{}", counts.markdown(), table.markdown());
    let not = tried.filter(|ran| verdict(ran) != Verdict::Works).count();
    if not > 0 {
        out.push_str("\n## What does not work\n\n");
        for (name, ran) in names().filter_map(|name| Some((name, data.programs.get(name)?))) {
            if verdict(ran) != Verdict::Works {
                let reading = data.readings.get(name).map_or("nobody has read it", String::as_str);
                let _ = writeln!(out, "- `{name}`: {}. {reading}", brief(ran));
            }
        }
    }
    let untried: Vec<String> =
        names().filter(|name| !data.programs.contains_key(*name)).map(|name| format!("`{name}`")).collect();
    if !untried.is_empty() {
        let _ = write!(out, "\n## Without a row\n\n{}\n\n{WITHOUT}", untried.join(", "));
    }
    if !data.own_tests.is_empty() {
        own_tests(&mut out, &data.own_tests);
    }
    out
}

/// What the page says after the names without a row.
const WITHOUT: &str = "`zstd` can compress in several threads. They are made by its C library and wait for each other there, which no scheduler here sees, and
nothing else in the crate changes while threads share it.
";

/// What the page says before the test files of published crates.
const OWN_TESTS: &str = "
## Tests of tokio itself

The package of tokio contains its tests. The files below ran under control, with races judged and four changes to their text: the line
at the root of each file, `#[interloper::test(executions = 100, allow_trivial)]` in place of `#[test]` and above `#[tokio::test]`,
`tokio::test` where a file names it differently, and the type of an empty vector in `time_interval`. They are a crate of their own beside
an unmodified tokio with `instrument = [\"tokio\"]`. A test passes if no execution of 100 has a finding. Of the files whose names begin
with `sync_` or `time_`, three did not run: `time_alt` needs tokio's unstable features, `time_wasm` and `sync_emscripten_blocking` need
another target.

";

/// The section about test files of published crates.
fn own_tests(out: &mut String, all: &[OwnTests]) {
    let mut table = Table::new([("crate", Left), ("file", Left), ("tests", Right), ("pass", Right)]);
    for one in all {
        let (tests, pass) = (one.tests.to_string(), (one.tests - one.failed.len()).to_string());
        table.row([one.of.clone(), format!("`{}`", one.file), tests, pass]);
    }
    let tests: usize = all.iter().map(|one| one.tests).sum();
    let failed: usize = all.iter().map(|one| one.failed.len()).sum();
    table.row(["", "**all**", &tests.to_string(), &(tests - failed).to_string()]);
    *out += OWN_TESTS;
    *out += &table.markdown();
    if failed > 0 {
        out.push_str("\nThe others:\n\n");
    }
    for one in all {
        for (test, found) in &one.failed {
            let reading = one.readings.get(test).map_or("nobody has read it", String::as_str);
            let _ = writeln!(out, "- `{}`, `{test}`: {found}. {reading}", one.file);
        }
    }
}

/// What a row comes to.
#[derive(PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The bug was found with each seed, and the twin is clean.
    Works,
    /// With some seed the bug was not found.
    Missed,
    /// The correct twin has a finding.
    Alarm,
    /// It did not run to its end.
    Failed,
}

/// What a row comes to.
pub fn verdict(ran: &Ran) -> Verdict {
    let refused = |checked: &Checked| checked.refused.is_some();
    match &ran.correct {
        _ if ran.failed.is_some() || ran.planted.iter().any(refused) => Verdict::Failed,
        Some(correct) if !refused(correct) => match correct.found.is_some() || correct.given_up > 0 {
            true => Verdict::Alarm,
            false if ran.planted.iter().all(|checked| checked.found.is_some()) => Verdict::Works,
            false => Verdict::Missed,
        },
        _ => Verdict::Failed,
    }
}

/// A row in a line.
pub fn brief(ran: &Ran) -> String {
    let correct = ran.correct.as_ref();
    match verdict(ran) {
        Verdict::Works => format!("found: {}, clean: {}", found(ran), correct.map_or(0, |checked| checked.executions)),
        Verdict::Missed => {
            let missed = ran.planted.iter().filter(|checked| checked.found.is_none()).count();
            format!("not found with {missed} of {} seeds", ran.planted.len())
        }
        Verdict::Alarm => {
            let kind = correct.and_then(|checked| checked.found.as_deref()).unwrap_or("no end");
            format!("the correct twin has a finding: {kind}")
        }
        Verdict::Failed => {
            let checks = ran.planted.iter().chain(correct);
            let refused = checks.filter_map(|checked| checked.refused.as_ref()).next();
            let reason = ran.failed.as_ref().or(refused).map_or("it gave no result", String::as_str);
            format!("`{}`", reason.lines().next().unwrap_or_default().replace('`', "'"))
        }
    }
}

/// The cells with numbers.
fn cells(ran: &Ran) -> [String; 5] {
    let Some(correct) = ran.correct.as_ref().filter(|_| verdict(ran) != Verdict::Failed) else {
        return ["does not work", "", "", "", ""].map(str::to_owned);
    };
    let clean = match (&correct.found, correct.complete) {
        (Some(_), _) => "**a finding**".to_owned(),
        (None, true) => format!("{}, complete", correct.executions),
        (None, false) => correct.executions.to_string(),
    };
    let steps = correct.steps.checked_div(correct.executions).unwrap_or_default();
    let rate = if correct.seconds > 0.0 { correct.executions as f64 / correct.seconds } else { 0.0 };
    let races = if correct.races { "yes" } else { "no" };
    [found(ran), clean, steps.to_string(), two_digits(rate).to_string(), races.to_owned()]
}

/// When the bug was found.
fn found(ran: &Ran) -> String {
    let mut at: Vec<u64> = ran.planted.iter().map(|checked| checked.at).collect();
    // What was not found counts as later than all.
    at.sort_by_key(|at| at.checked_sub(1).unwrap_or(u64::MAX));
    let kinds: std::collections::BTreeSet<&str> = ran.planted.iter().filter_map(|one| one.found.as_deref()).collect();
    let shown = |at: Option<&u64>| match at {
        None | Some(0) => "never".to_owned(),
        Some(at) => at.to_string(),
    };
    let median = shown(at.get(at.len() / 2));
    let kinds: Vec<&str> = kinds.into_iter().collect();
    format!("{median} ({} to {}), {}", shown(at.first()), shown(at.last()), kinds.join(" or "))
}

/// A number with its first two digits: more would be noise.
fn two_digits(number: f64) -> u64 {
    let whole = number.round() as u64;
    let unit = 10_u64.pow(whole.max(1).ilog10().saturating_sub(1));
    (whole + unit / 2) / unit * unit
}
