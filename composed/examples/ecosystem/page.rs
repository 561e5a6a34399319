//! The data about published packages, and the page that is printed from it.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// What is known of the packages that the rule chose.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Data {
    /// How the packages were chosen.
    pub rule: String,
    /// What was searched for, in this order.
    pub queries: Vec<String>,
    /// What the rule names and cannot be had, with the reason.
    pub gone: BTreeMap<String, String>,
    /// The packages.
    pub packages: BTreeMap<String, Package>,
}

/// A package.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Package {
    /// Its version.
    pub version: String,
    /// The lines of its sources.
    pub lines: u64,
    /// How many operations were found in them.
    pub listed: u64,
    /// How many were not run, by the kind of reason.
    pub not_run: BTreeMap<String, u64>,
    /// Why the package was not built, if it was not.
    pub not_built: Option<String>,
    /// Those that were judged.
    pub judged: Vec<Judged>,
}

/// An operation that was judged.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Judged {
    /// Its path in the crate.
    pub name: String,
    /// File and line.
    pub place: String,
    /// What it looks like.
    pub pattern: String,
    /// Its calls.
    pub calls: Vec<String>,
    /// `linearizable`, `not-linearizable`, `modular`, `unfinished`.
    pub verdict: String,
    /// How many executions there were.
    pub executions: u64,
    /// The operations of the environment in the smallest violation.
    pub environment: Option<u64>,
    /// What the methods of its own type can do: `violation`, `no violation`, or why that is not known.
    pub own: Option<String>,
    /// What the environment did not act on: collections that it does not know, or all but the first elements of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<String>,
    /// The report, where there is a violation.
    pub report: Option<String>,
    /// The report of what the methods of its own type can do, where they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_report: Option<String>,
    /// What a reader of the source says of a violation.
    pub reading: Option<Reading>,
}

/// What a reader of the source says of a violation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// `true`, `benign` or `doubtful`.
    pub is: String,
    /// Why.
    pub why: String,
}

/// The kind of reason of an operation that can be run, in a package that was not built.
const NOT_BUILT: &str = "its package was not built";

/// What begins the page, before what is printed.
const TITLE: &str = "# Composed operations of published crates\n";

/// The whole page.
pub fn page(data: &Data) -> String {
    let mut out = String::from(TITLE);
    let all = || data.packages.values().flat_map(|package| &package.judged);
    let count = |verdict: &str| all().filter(|one| one.verdict == verdict).count();
    let listed: u64 = data.packages.values().map(|package| package.listed).sum();
    let lines: u64 = data.packages.values().map(|package| package.lines).sum();
    let with_judged = data.packages.values().filter(|package| !package.judged.is_empty()).count();
    let _ = write!(
        out,
        "
This page is printed from `composed/ecosystem/results.json`; a test compares the two. In the root of the repository,

```text
cargo run -p interloper-composed --example ecosystem -- print
```

prints it again. `collect FOLDER` reads the documents that `cargo interloper composed --run --format json` printed for the
packages.

| | |
|---|---:|
| packages listed | {packages} |
| lines read | {lines} |
| composed operations listed | {listed} |
| judged | {judged} |
| packages with a judged operation | {with_judged} |
| linearizable | {linearizable} |
| modular | {modular} |
| not linearizable | {not} |
| unfinished | {unfinished} |

The aim was 60 packages with 250 judged operations. **{packages} packages were listed, and {judged} operations of
{with_judged} packages were judged.** Most operations do input or output, wait, spawn or draw random numbers, or stand on
types that only a whole server can make ([below](#what-was-not-run)). {waiting} more operations can be run as they are, in packages
that were not built, since there was no time for it.
So the shares say little about the operations that were not run. In the study of the COLT paper, 36 of 95 methods were linearizable,
17 modular and 42 not linearizable.

## How the packages were chosen

{rule}

",
        packages = data.packages.len(),
        waiting = data.packages.values().filter_map(|package| package.not_run.get(NOT_BUILT)).sum::<u64>(),
        judged = all().count() - count("unfinished"),
        linearizable = count("linearizable"),
        modular = count("modular"),
        not = count("not-linearizable"),
        unfinished = count("unfinished"),
        rule = data.rule,
    );
    for (number, query) in (1..).zip(&data.queries) {
        let _ = writeln!(out, "{number}. {query}");
    }
    if !data.gone.is_empty() {
        let gone: Vec<String> = data.gone.iter().map(|(name, why)| format!("`{name}` ({why})")).collect();
        let _ = writeln!(out, "\nNot to be had: {}.", gone.join(", "));
    }
    judged(&mut out, data);
    violations(&mut out, data);
    not_run(&mut out, data);
    out
}

fn judged(out: &mut String, data: &Data) {
    out.push_str(
        "
## What was judged

*Environment* is the number of operations of the environment in the smallest violation. The environment is open: anybody may do
anything to the collections. *Own methods* says whether other methods of the type (up to 8 that can be run)
show a violation by themselves, in up to three calls from states that they reach. *Left alone* is a collection that the
operation calls or its type has, and on which the environment does not act (of a list, it acts on the first two elements): a pass
says nothing of it. *Reading* is what a reader of the source says of a violation: `true`, `benign`, with
the reason below, or `doubtful`. Where nothing is said, nobody has read it. The clocks of std stand still in all searches.

| package | operation | pattern | calls | verdict | environment | executions | own methods | left alone | reading |
|---|---|---|---:|---|---:|---:|---|---|---|
",
    );
    for (name, package) in &data.packages {
        for one in &package.judged {
            let number = |number: Option<u64>| number.map_or("–".to_owned(), |number| number.to_string());
            let own = match one.own.as_deref() {
                Some(own @ ("violation" | "no violation")) => own,
                Some(_) => "not known",
                None => "–",
            };
            let reading = one.reading.as_ref().map_or("", |reading| reading.is.as_str());
            let apart = one.apart.as_ref().map_or(String::new(), |apart| format!("`{apart}`"));
            let verdict = match one.verdict.as_str() {
                "not-linearizable" => "**not linearizable**",
                other => other,
            };
            let _ = writeln!(
                out,
                "| {name} {} | `{}` | {} | {} | {verdict} | {} | {} | {own} | {apart} | {reading} |",
                package.version,
                one.name,
                one.pattern,
                one.calls.len(),
                number(one.environment),
                one.executions,
            );
        }
    }
}

fn violations(out: &mut String, data: &Data) {
    out.push_str("\n## The violations\n");
    for (name, package) in &data.packages {
        for one in package.judged.iter().filter(|one| one.report.is_some()) {
            let _ = writeln!(out, "\n### {name}: `{}`\n", one.name);
            let _ = writeln!(out, "{} {}, {}: {}.", name, package.version, one.place, one.calls.join(", "));
            match one.own.as_deref() {
                Some("violation") => out.push_str("Its own methods can do it.\n"),
                Some("no violation") => out.push_str("Its own methods, as far as they were tried, do not do it.\n"),
                Some(why) => {
                    let _ = writeln!(out, "Whether its own methods can do it is not known: {why}.");
                }
                None => {}
            }
            if let Some(reading) = &one.reading {
                let _ = writeln!(out, "**{}**: {}", reading.is, reading.why);
            }
            let _ = writeln!(out, "\n```text\n{}\n```", one.report.as_deref().unwrap_or_default().trim_end());
            if let Some(report) = &one.own_report {
                let _ = writeln!(out, "\nBy its own methods alone:\n\n```text\n{}\n```", report.trim_end());
            }
        }
    }
}

fn not_run(out: &mut String, data: &Data) {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for (kind, count) in data.packages.values().flat_map(|package| &package.not_run) {
        *kinds.entry(kind).or_default() += count;
    }
    let mut kinds: Vec<(&str, u64)> = kinds.into_iter().collect();
    kinds.sort_by_key(|&(kind, count)| (std::cmp::Reverse(count), kind));
    out.push_str("\n## What was not run\n\n| reason | operations |\n|---|---:|\n");
    for (kind, count) in kinds {
        let _ = writeln!(out, "| {kind} | {count} |");
    }
    out.push_str("\n## All packages\n\n| package | lines | listed | judged | |\n|---|---:|---:|---:|---|\n");
    for (name, package) in &data.packages {
        let _ = writeln!(
            out,
            "| {name} {} | {} | {} | {} | {} |",
            package.version,
            package.lines,
            package.listed,
            package.judged.len(),
            package.not_built.as_deref().unwrap_or_default(),
        );
    }
}
