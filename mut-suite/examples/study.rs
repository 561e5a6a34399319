//! The study of concurrent objects, as Markdown: `cargo run --release -p interloper-suite --example study > docs/STUDY.md`.
//!
//! An argument is the number of seconds that each method of an object on real threads is searched for, and that what is
//! found is made small for: 1 unless it is said. The others are run under the scheduler, and come out the same each time.

use std::process::ExitCode;
use std::time::Duration;

use interloper::objects::derive::{Derivation, DerivedMethod};
use interloper::objects::generated::text;
use interloper::objects::hunt::{Campaign, Engine, Found, Searched, What};
use interloper::objects::{Level, Next, Object, Role};
use interloper_suite::objects::{Studied, all};

const SEED: u64 = 1;

fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).map_or(Ok(1.0), |seconds| seconds.parse::<f64>());
    let time = seconds.ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let Some(time) = time else {
        eprintln!("the argument is a number of seconds");
        return ExitCode::from(2);
    };
    let entries: Vec<Entry> = all().into_iter().map(|studied| Entry::new(studied, time)).collect();
    print!("{}", document(&entries));
    ExitCode::SUCCESS
}

/// What was found out about an object.
struct Entry {
    studied: Studied,
    object: Object,
    searched: Vec<Searched>,
    /// For what the scheduler runs.
    derived: Vec<DerivedMethod>,
}

impl Entry {
    fn new(studied: Studied, time: Duration) -> Entry {
        let object = studied.object();
        let campaign = match studied.instrumented {
            true => Campaign::systematic(&object, SEED),
            false => Campaign { time: Some(time), ..Campaign::stress(&object, SEED) },
        };
        let methods = || object.with_role(Role::UnderTest);
        let searched = methods().map(|method| {
            eprintln!("{}.{}", studied.name, object.label(method));
            campaign.method(method, &mut |_| Next::Continue)
        });
        let searched = searched.collect();
        let derivation = Derivation { engine: Engine::exhaustive(), schemas: 1_000, ..Derivation::new(&object, SEED) };
        let derived = match studied.instrumented {
            true => methods().map(|method| derivation.method(method, &mut |_| ())).collect(),
            false => vec![],
        };
        Entry { studied, object, searched, derived }
    }

    fn labels(&self, which: impl Fn(&Searched) -> bool) -> String {
        let those = self.searched.iter().filter(|searched| which(searched));
        listed(those.map(|searched| self.object.label(searched.method)).collect())
    }
}

fn listed(labels: Vec<String>) -> String {
    if labels.is_empty() { "–".to_owned() } else { labels.join(", ") }
}

fn document(entries: &[Entry]) -> String {
    let found = |entry: &&Entry| entry.searched.iter().any(|searched| searched.found().is_some());
    let objects = entries.iter().filter(found).count();
    let methods: usize =
        entries.iter().map(|entry| entry.searched.iter().filter(|one| one.found().is_some()).count()).sum();
    let mut out = format!(
        "# The study\n\n\
         Which methods of concurrent objects are not atomic, and how weak are they? Made by\n\
         `cargo run --release -p interloper-suite --example study > docs/STUDY.md`.\n\n\
         {methods} methods of {objects} objects are not atomic. Core methods are taken to be atomic; of the others it says\n\
         whether a violation was found, which is no proof where none was. Bulk methods such as `addAll` are loops of core\n\
         methods where a crate has no method of its own for them. Objects that are written over the mirror of std are run\n\
         under the scheduler, in every interleaving of each harness; those of published crates on real threads, where what\n\
         is found depends on the machine.\n\n\
         ## Methods (*Exposing non-atomic methods*, Figure 6)\n\n\
         | object | core | no violation found | not atomic |\n|---|---|---|---|\n"
    );
    for entry in entries {
        let core = entry.object.with_role(Role::Core).map(|method| entry.object.label(method)).collect();
        out += &format!(
            "| **{}**: {} | {} | {} | {} |\n",
            entry.studied.name,
            entry.studied.about,
            listed(core),
            entry.labels(|searched| searched.found().is_none()),
            entry.labels(|searched| searched.found().is_some()),
        );
    }
    out += "\n## The smallest harnesses (*Visibility relaxation*, Table 2)\n\n\
            Results are in the order of the text. The last column has the schemas and executions that the search took; on\n\
            real threads the outcome came once among those of its last schema.\n";
    for entry in entries.iter().filter(found) {
        out += &format!(
            "\n### {}\n\n| method | harness | outcome | schemas / executions |\n|---|---|---|---|\n",
            entry.studied.name
        );
        for searched in &entry.searched {
            let Some(found) = searched.found() else { continue };
            let label = entry.object.label(searched.method);
            let (schemas, executions) = (searched.hunted.schemas, searched.hunted.executions);
            let harness = found.schema.to_string().replace('|', "\\|");
            out += &format!("| {label} | `{harness}` | {} | {schemas} / {executions} |\n", shown(found));
        }
    }
    out += "\n## Visibility (*Visibility relaxation*, Table 3)\n\n\
            The strongest level that 1,000 random harnesses of each method do not contradict, in any interleaving. Core\n\
            methods are complete.\n\n\
            | object | visibility | methods |\n|---|---|---|\n";
    for entry in entries {
        for level in Level::ALL.into_iter().rev().map(Some).chain([None]) {
            let those = entry.derived.iter().filter(|derived| derived.level == level);
            let labels: Vec<String> = those.map(|derived| entry.object.label(derived.method)).collect();
            if !labels.is_empty() {
                let level = level.map_or("none", Level::name);
                out += &format!("| {} | {level} | {} |\n", entry.studied.name, labels.join(", "));
            }
        }
    }
    out
}

/// What went wrong, in a few words.
fn shown(found: &Found) -> String {
    match &found.what {
        What::Outcome { outcome, .. } => format!("`{}`", text(outcome)),
        What::Blocked(_) => "never returns".to_owned(),
        What::Panicked(message) => format!("panicked: {message}"),
    }
}
