//! The study in words and tables.

use std::time::Duration;

use interloper::objects::derive::DerivedMethod;
use interloper::objects::generated::text;
use interloper::objects::hunt::{Found, Runs, What};
use interloper::objects::{Level, Role};
use interloper::report::shorten::grouped;
use interloper::report::table::{Align, Table};

use super::under_control::UnderControl;
use super::{DERIVED_WITH, Entry, LONGER, Method, violated};

/// The whole document.
pub(super) fn document(entries: &[Entry], time: Duration, machine: &str) -> String {
    let (own, published): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.studied.instrumented);
    let mut out = heading(entries, time, machine);
    out += "\n## Methods (*Exposing non-atomic methods*, Figure 6)\n";
    out += &format!("\nUnder the scheduler:\n\n{}", methods(&own));
    let hunted = UnderControl::read();
    out += &format!(
        "\nPublished crates, on real threads. The last column has the methods whose violation a hunt under control has\n\
         found ([FINDINGS.md](FINDINGS.md)):\n\n{}",
        published_methods(&published, &hunted)
    );
    out += "\n## Smallest harnesses (*Violat*, Figures 2 and 4; *Visibility relaxation*, Table 2)\n\n\
            Results are in the order of the text. *Violated* is the weakest visibility that rules out the outcome.\n\
            *By the scheduler* says which execution of the harness showed the outcome first, and how many harnesses\n\
            and executions the search had run by then. *On real threads* says how many executions of the harness\n\
            were not atomic, and how many ran. Published crates run under the scheduler outside the workspace: for\n\
            them, *by the scheduler* is the verdict of a hunt with the same description\n\
            ([FINDINGS.md](FINDINGS.md)). A dash means that there is no such harness.\n";
    out += &format!("\nObjects over the mirror of std, which both engines run:\n{}", harnesses(&own, &hunted));
    out += &format!("\nObjects of published crates, which real threads run:\n{}", harnesses(&published, &hunted));
    out += &format!(
        "\n## Visibility (*Visibility relaxation*, Table 3)\n\n\
         For each method, the strongest level that no execution contradicts. Core methods are complete by\n\
         assumption. *Support* is the number of harnesses and executions that ran after the levels were found and\n\
         agree with them. *Together* is the same number for random harnesses of all these methods with their\n\
         levels.\n\n\
         Under the scheduler, up to {0} harnesses by rank and {0} random ones for each method:\n\n{1}\n\
         On real threads, random harnesses for {2} for each method: the levels are upper bounds.\n\n{3}",
        grouped(DERIVED_WITH),
        visibilities(&own),
        seconds(time),
        visibilities(&published),
    );
    out
}

fn heading(entries: &[Entry], time: Duration, machine: &str) -> String {
    let found = |entry: &&Entry| entry.methods.iter().filter(|method| method.found.is_some()).count();
    let of = |instrumented: bool| {
        let those = || entries.iter().filter(|entry| entry.studied.instrumented == instrumented);
        (those().map(|entry| found(&entry)).sum::<usize>(), those().filter(|entry| found(entry) > 0).count())
    };
    let ((own, own_objects), (published, published_objects)) = (of(true), of(false));
    format!(
        "# The study\n\n\
         Which methods of concurrent objects are not atomic, and how weak are they? Printed by\n\
         `cargo run --profile bench -p interloper-suite --features study --example study -- {} '…' > docs/STUDY.md`.\n\n\
         {} methods of {} objects are not atomic: {own} methods of {own_objects} objects over the mirror of std, and\n\
         {published} methods of {published_objects} objects of published crates. Core methods are taken to be atomic;\n\
         for each other method the tables say whether the search found a violation. Finding no violation is not a\n\
         proof.\n\n\
         - **Under the scheduler** each harness runs in every interleaving, up to 50,000 executions: first 3,000\n  \
           harnesses of up to four invocations by rank, then 3,000 random ones of up to six. The results depend on\n  \
           the seed alone, and are the same on every machine.\n\
         - **On real threads** each method is searched for {} with random harnesses of a twentieth of a second\n  \
           each; a violation is made smaller for up to {}. The violations and all counts depend on the machine\n  \
           and on the day:\n  \
           {machine}.\n\n\
         Methods of the objects over the mirror of std have the names of the JDK. Types of published crates have the\n\
         descriptions that hunts of them use (`cargo-interloper/objects`), with the names of the crates. A\n\
         violation is an error of the crate only if its documentation promises that the method is atomic.\n",
        time.as_secs_f64(),
        own + published,
        own_objects + published_objects,
        seconds(time),
        seconds(time * LONGER),
    )
}

fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        1.0 => "a second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}

fn listed(labels: Vec<String>) -> String {
    if labels.is_empty() { "–".to_owned() } else { labels.join(", ") }
}

/// Like Figure 6.
fn methods(entries: &[&Entry]) -> String {
    let mut table = table(METHODS);
    for entry in entries {
        table.row(row(entry));
    }
    table.markdown()
}

/// The same, with what is known from hunts.
fn published_methods(entries: &[&Entry], hunted: &UnderControl) -> String {
    let [object, core, not_found, found] = METHODS;
    let mut table = table([object, core, not_found, found, "found under control"]);
    for entry in entries {
        let [object, core, not_found, found] = row(entry);
        table.row([object, core, not_found, found, hunted.found(&entry.object)]);
    }
    table.markdown()
}

const METHODS: [&str; 4] = ["object", "core", "no violation found", "not atomic"];

/// An object, its core methods, and the others by what was found.
fn row(entry: &Entry) -> [String; 4] {
    let mut core = listed(entry.object.with_role(Role::Core).map(|method| entry.object.label(method)).collect());
    if let Some(found) = entry.core.found() {
        core += &format!(" (**not atomic**: `{}` gave {})", found.schema, shown(found));
    }
    let those = |found: bool| {
        let those = entry.methods.iter().filter(|method| method.found.is_some() == found);
        listed(those.map(|method| method.label.clone()).collect())
    };
    let (name, about) = (entry.studied.name, entry.studied.about);
    [format!("**{name}**: {about}"), core, those(false), those(true)]
}

fn table<const N: usize>(headings: [&str; N]) -> Table {
    Table::new(headings.map(|heading| (heading, Align::Left)))
}

/// Like Table 2.
fn harnesses(entries: &[&Entry], hunted: &UnderControl) -> String {
    let mut out = String::new();
    for entry in entries.iter().filter(|entry| entry.methods.iter().any(|method| method.found.is_some())) {
        let own = entry.studied.instrumented;
        let mut table = table(["method", "harness", "outcome", "violated", "by the scheduler", "on real threads"]);
        for method in &entry.methods {
            let Some(found) = &method.found else { continue };
            let level = violated(entry, method, found).map_or("–", Level::name).to_owned();
            let by_scheduler = match own {
                true => by_the_scheduler(method, found),
                false => hunted.verdict(entry.object.name(), &method.label),
            };
            let (label, harness) = (method.label.clone(), format!("`{}`", found.schema));
            table.row([label, harness, shown(found), level, by_scheduler, on_real_threads(method)]);
        }
        out += &format!("\n### {}\n\n{}", entry.studied.name, table.markdown());
        for method in entry.methods.iter().filter(|method| method.found.is_some()) {
            if let Some(reading) = hunted.reading(entry.object.name(), &method.label) {
                out += &format!("\n{}: {reading}.\n", method.label);
            }
        }
    }
    out
}

fn by_the_scheduler(method: &Method, found: &Found) -> String {
    let Runs::Systematic(explored) = &found.runs else { return "–".to_owned() };
    let (schemas, executions) = (method.searched.hunted.schemas, method.searched.hunted.executions);
    format!("{}; {} / {}", explored.executions, grouped(schemas), grouped(executions))
}

fn on_real_threads(method: &Method) -> String {
    match method.frequency {
        Some((wrong, executions)) => format!("{} / {}", grouped(wrong), grouped(executions)),
        None => "–".to_owned(),
    }
}

/// Like Table 3.
fn visibilities(entries: &[&Entry]) -> String {
    let mut table = table(["object", "visibility", "methods", "support"]);
    for entry in entries {
        let name = entry.studied.name;
        for level in Level::ALL.into_iter().rev().map(Some).chain([None]) {
            let those: Vec<&DerivedMethod> =
                entry.derived.methods.iter().filter(|derived| derived.level == level).collect();
            if those.is_empty() {
                continue;
            }
            let labels = those.iter().map(|derived| entry.object.label(derived.method)).collect();
            let sum = |count: fn(&DerivedMethod) -> u64| grouped(those.iter().map(|derived| count(derived)).sum());
            // Nothing supports that there is no level.
            let support = level.map_or("–".to_owned(), |_| {
                format!("{} / {}", sum(|derived| derived.supporting), sum(|derived| derived.supporting_executions))
            });
            let level = level.map_or("none", Level::name);
            table.row([name, level, &listed(labels), &support]);
        }
        let together = &entry.derived.together;
        let counts = format!("{} / {}", grouped(together.schemas), grouped(together.executions));
        let result = match together.found() {
            None => "no contradiction".to_owned(),
            Some(found) => format!("`{}`: {}", found.schema, shown(found)),
        };
        if together.schemas > 0 {
            table.row([name, "together", &result, &counts]);
        }
    }
    table.markdown()
}

/// What went wrong, in a few words.
fn shown(found: &Found) -> String {
    match &found.what {
        What::Outcome { outcome, .. } => format!("`{}`", text(outcome)),
        What::Blocked(_) => "never returns".to_owned(),
        What::Panicked(message) => format!("panicked: {message}"),
        What::Memory(fault) => fault.kind.to_string(),
    }
}
