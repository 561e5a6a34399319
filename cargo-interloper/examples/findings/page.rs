//! The page, from its data.

use std::collections::BTreeMap;
use std::fmt::Write;

use interloper_report::table::Align::{Left, Right};
use interloper_report::table::Table;
use serde::{Deserialize, Serialize};

/// What is known.
#[derive(Clone, Serialize, Deserialize)]
pub struct Data {
    /// What the hunts were asked for, as it is typed after the name of the crate.
    pub options: String,
    /// The crates, by name.
    pub crates: BTreeMap<String, Hunted>,
    /// What readers said of violations, by `object::method`.
    pub readings: BTreeMap<String, String>,
    /// Violations that no reader could confirm from the source, by `object::method`, each with what is known. They are not listed
    /// among the findings.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub unconfirmed: BTreeMap<String, String>,
    /// Crates whose hunt gave no result, each with the reason.
    pub without: BTreeMap<String, String>,
}

/// A crate.
#[derive(Clone, Serialize, Deserialize)]
pub struct Hunted {
    pub version: String,
    /// The options of its hunt, where they were others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub options: Option<String>,
    pub objects: Vec<Object>,
}

/// One of its types.
#[derive(Clone, Serialize, Deserialize)]
pub struct Object {
    pub name: String,
    pub methods: Vec<Method>,
}

/// What came of a method.
#[derive(Clone, Serialize, Deserialize)]
pub struct Method {
    pub name: String,
    pub verdict: String,
    pub schemas: u64,
    /// How many of them could not be judged, since a call has no end on one thread, say.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub not_judged: u64,
    /// Of how many of them every interleaving ran.
    pub complete: u64,
    pub executions: u64,
    /// How many executions ended without an outcome.
    pub cut: u64,
    pub out_of_time: bool,
    /// The methods at fault that ran beside no call of it: at the start at most.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_out: Vec<String>,
    /// The options of its hunt, where it was hunted apart from the others of its crate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub options: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub violation: Option<Violation>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A violation.
#[derive(Clone, Serialize, Deserialize)]
pub struct Violation {
    pub schema: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    pub blamed: Vec<String>,
    /// The methods whose calls have to be interrupted, if the hunt found them: one of these sets.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub interrupted: Vec<Vec<String>>,
    /// The command that shows the execution again.
    pub replay: String,
    /// The execution, if it is not long.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub report: Option<String>,
}

/// The verdict on two methods that show a violation beside each other alone.
const TOGETHER: &str = "not atomic together";

/// The row of all pairs of methods that showed no violation.
const ALL_PAIRS: &str = "together";

impl Method {
    /// Whether the row is of two methods beside each other, or of all other pairs.
    pub fn is_of_pairs(&self) -> bool {
        self.name == ALL_PAIRS || self.is_together()
    }

    /// Whether the row is of two methods that show a violation beside each other.
    pub fn is_together(&self) -> bool {
        self.verdict == TOGETHER
    }
}

/// What the page says before its tables.
const HEAD: &str = "# Findings in published crates

This page is printed from `cargo-interloper/findings/results.json`; a test compares the two. In the root of the repository,

```text
cargo run -p cargo-interloper --example findings -- print
```

prints it again. `collect FOLDER` reads what `cargo interloper hunt --crate CRATE --format json` printed. The crates are those whose
types are described in `cargo-interloper/objects`. A description trusts its core methods: those that the documentation of the crate
gives no reason to doubt. Core methods were hunted, too. All crates but `papaya` have been hunted since hunts look for whose calls
have to be interrupted, and since they try the smallest schemas with two calls of a method early. The rows of `papaya`, and rows in
which an earlier hunt says more than the latest one, come from earlier versions: some of those gave all hashers one seed, and had
descriptions without core methods. A finding says that a method is not atomic, which is not always an error: see what a reader says
of it. Memory is weak where orderings are weaker than `SeqCst`, and data races and uses of freed memory are findings, too. A race
ends the search of a method: the hunt does not look for wrong results after it. `force_push + len` stands for two methods that are
atomic beside core methods and not beside each other; only the hunts of the crates that have such rows, or a row of pairs, searched
for these. Where a version of a crate was hunted more than once, the row of a method is of the hunt that found its violation, with
the fewest calls, or else of the hunt with the most programs. So the rows of a crate can have different options. A pair has no row
if one of its methods has a violation of its own. A method whose row says *core methods not atomic* was not judged: without the
methods at fault, no core method is left beside it, or the time was over. \"Interrupted\" names the methods whose calls have to be
interrupted for the violation, while all other calls run as one step. Where nothing is said of it, the hunt is an earlier one, which
did not look for that; or the violation takes weak memory or interruptions of all methods of the program; or the hunt ran no such
execution. *Without insert beside it* means that `insert` is at fault: it ran before all other calls at most.

No rule is recorded for the first 35 crates and crossbeam-epoch. The next 25 were chosen by a rule that was fixed before any of them
ran: the crates about concurrent objects in the answers to twelve searches of documentation pages, and those in a list written down
before, in the order of the alphabet, until there were 60. The searches were for a lock-free concurrent queue, a concurrent hash map,
a lock-free stack, a thread-safe object pool, an atomic cell, a bounded channel over a ring, a concurrent set or ordered map, an
append-only vector or bag, a concurrent cache, a shared pointer with read-copy-update, a lock or semaphore with `try_lock`, and a
queue for one producer or for work stealing.

The latest 28 were chosen by another rule that was fixed before any of them ran: from each of eighteen searches of documentation
pages, in the order of the answers, the first two crates about concurrent objects that no search before had given and that this page
did not name. The searches were for a semaphore, a latch or barrier, a rate limiter, an interner, an allocator of slots or numbers, an
atomic option or shared pointer, a ring for many producers and consumers, a channel for one producer or for broadcasts, a counter in
shards, a Bloom filter, a lock with sequence numbers, a cell with read-copy-update, hazard pointers, a trie, skip list or tree, a
double buffer, a slab or arena, a spinlock or lock with upgrades, and a deque for work stealing. Four of them gave one crate, and two
none. `tokio` came last, as the crate whose types most programs share.

A crate counts if it builds on Rust 1.95 and has a type with at least two safe methods on `&self` that threads can share. Whether an
error was expected played no part. Those looked at and left out are listed below with the reason.
In `concread` data races are not looked for: it names an allocator for its tests, which keeps out the one that tells new memory from
freed memory, and a race was reported between memory of the hunt and memory of the crate that had been given the same address.
";

/// The page.
pub fn page(data: &Data) -> String {
    let mut out = HEAD.to_owned();
    let rows = || data.crates.values().flat_map(|one| &one.objects).flat_map(|object| &object.methods);
    let of = |count: fn(&Method) -> u64| rows().map(count).sum::<u64>();
    let violations = |of_pairs: bool| {
        all(data).filter(|found| found.3.is_of_pairs() == of_pairs && confirmed(data, found).is_some()).count() as u64
    };
    let mut counts = Table::new([("", Left), ("", Right)]);
    for (what, count) in [
        ("crates", data.crates.len() as u64),
        ("types", data.crates.values().map(|one| one.objects.len() as u64).sum()),
        ("methods", rows().filter(|row| !row.is_of_pairs()).count() as u64),
        ("programs", of(|method| method.schemas)),
        ("of these in every interleaving", of(|method| method.complete)),
        ("executions", of(|method| method.executions)),
        ("executions that ended without an outcome", of(|method| method.cut)),
        ("methods with a violation", violations(false)),
        ("pairs of methods with a violation", violations(true)),
    ] {
        counts.row([what.to_owned(), count.to_string()]);
    }
    let _ = write!(out, "\n{}\nThe options were `{}`.\n", counts.markdown(), data.options);
    let mut by_options: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, hunted) in &data.crates {
        if let Some(options) = &hunted.options {
            by_options.entry(options).or_default().push(format!("`{name}`"));
        }
    }
    for found @ (.., method) in all(data) {
        if let Some(options) = &method.options {
            let name = match &*method.name {
                ALL_PAIRS => format!("the other pairs of methods of `{}`", found.2.name),
                _ => format!("`{}`", full(&found)),
            };
            by_options.entry(options).or_default().push(name);
        }
    }
    for (options, names) in by_options {
        let _ = writeln!(out, "\nWith `{options}`: {}.", names.join(", "));
    }
    if !data.without.is_empty() {
        out.push_str("\nNo result:\n\n");
        for (name, reason) in &data.without {
            let _ = writeln!(out, "- `{name}`: {reason}");
        }
    }
    let mut table =
        Table::new([("method", Left), ("smallest program", Left), ("outcome", Left), ("what a reader says", Left)]);
    for found in all(data) {
        let Some(violation) = confirmed(data, &found) else { continue };
        let (name, hunted, ..) = found;
        let (outcome, full) = (violation.outcome(), full(&found));
        let reading = data.readings.get(&full).map_or("nobody has read it", String::as_str);
        let blamed = match &violation.blamed[..] {
            [] => String::new(),
            [one, other] if found.3.is_together() => format!("It takes both {one} and {other}. "),
            blamed => format!("Its core methods show it by themselves: {}. ", blamed.join(", ")),
        };
        let method = format!("`{full}` ({name} {})", hunted.version);
        let interrupted =
            match violation.interrupted.iter().map(|set| set.join(" and ")).collect::<Vec<_>>().join(" or ") {
                sets if sets.is_empty() => sets,
                sets => format!("Interrupted: {sets}. "),
            };
        table.row([method, format!("`{}`", violation.schema), format!("`{outcome}`"), blamed + &interrupted + reading]);
    }
    let _ = write!(out, "\n## Methods with a violation\n\n{}", table.markdown());
    if !data.unconfirmed.is_empty() {
        out.push_str(
            "\n## Not confirmed\n\nThe hunt reports these, and no reader has confirmed them from the source:\n\n",
        );
    }
    for found in all(data) {
        let (Some(known), Some(violation)) = (data.unconfirmed.get(&full(&found)), &found.3.violation) else {
            continue;
        };
        let (name, outcome, schema) = (full(&found), violation.outcome(), &violation.schema);
        let _ = writeln!(out, "- `{name}`: `{outcome}` in `{schema}`. {known}");
    }
    let words = [("method", Left), ("verdict", Left)];
    let numbers = ["programs", "in every interleaving", "executions", "without an outcome"];
    let mut table = Table::new(words.into_iter().chain(numbers.map(|heading| (heading, Right))));
    for found in all(data) {
        let (name, hunted, object, method) = found;
        let mut verdict = method.verdict.clone();
        if method.violation.is_none() && !method.left_out.is_empty() {
            let _ = write!(verdict, ", without {} beside it", method.left_out.join(" and "));
        }
        if method.out_of_time {
            verdict.push_str(", out of time");
        }
        if method.not_judged > 0 {
            let _ = write!(verdict, ", {} programs not judged", method.not_judged);
        }
        if data.unconfirmed.contains_key(&full(&found)) {
            verdict.push_str(", not confirmed");
        }
        let Method { schemas, complete, executions, cut, .. } = method;
        let method = match &*method.name {
            ALL_PAIRS => format!("the other pairs of methods of `{}` ({name} {})", object.name, hunted.version),
            method => format!("`{}::{method}` ({name} {})", object.name, hunted.version),
        };
        table.row([method, verdict].into_iter().chain([schemas, complete, executions, cut].map(u64::to_string)));
    }
    let _ = write!(out, "\n## All methods\n\n{}", table.markdown());
    out.push_str("\n## The executions\n\nLong ones are shown by their commands alone.\n");
    for found in all(data) {
        if let Some(violation) = confirmed(data, &found) {
            let shown = violation.report.as_ref().unwrap_or(&violation.replay);
            let _ = write!(out, "\n### `{}`\n\n```text\n{}\n```\n", full(&found), shown.trim_end());
        }
    }
    out
}

impl Violation {
    /// What the calls returned, or what else went wrong.
    fn outcome(&self) -> String {
        self.outcome.clone().or_else(|| self.message.clone()).unwrap_or_else(|| "never returns".to_owned())
    }
}

/// A method with the name of its crate, what came of that, and its type.
type OfMethod<'d> = (&'d String, &'d Hunted, &'d Object, &'d Method);

/// The violation of a method, unless no reader could confirm it.
fn confirmed<'d>(data: &Data, found: &OfMethod<'d>) -> Option<&'d Violation> {
    found.3.violation.as_ref().filter(|_| !data.unconfirmed.contains_key(&full(found)))
}

fn full((_, _, object, method): &OfMethod<'_>) -> String {
    format!("{}::{}", object.name, method.name)
}

fn all(data: &Data) -> impl Iterator<Item = OfMethod<'_>> {
    data.crates.iter().flat_map(|(name, hunted)| {
        hunted
            .objects
            .iter()
            .flat_map(move |object| object.methods.iter().map(move |method| (name, hunted, object, method)))
    })
}
