//! The study in words and tables.

use std::time::Duration;

use interloper::objects::derive::DerivedMethod;
use interloper::objects::generated::text;
use interloper::objects::hunt::{Found, Runs, What};
use interloper::objects::{Level, Role};
use interloper::report::shorten::grouped;
use interloper::report::table::{Align, Table};

use super::under_control::under_control;
use super::{DERIVED_WITH, Entry, LONGER, Method, violated};

/// The whole document.
pub(super) fn document(entries: &[Entry], time: Duration, machine: &str) -> String {
    let (own, published): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.studied.instrumented);
    let mut out = heading(entries, time, machine);
    out += "\n## Methods (*Exposing non-atomic methods*, Figure 6)\n";
    out += &format!("\nUnder the scheduler:\n\n{}", methods(&own));
    out += &format!("\nOn real threads:\n\n{}", methods(&published));
    out += "\n## Smallest harnesses (*Violat*, Figures 2 and 4; *Visibility relaxation*, Table 2)\n\n\
            Results are in the order of the text. *Violated* is the weakest visibility that rules out the outcome.\n\
            *By the scheduler* says which execution of the harness showed the outcome first, and how many harnesses\n\
            and executions the search had run by then. *On real threads* says how many executions of the harness\n\
            were not atomic, and how many ran. Published crates run under the scheduler outside the workspace: for\n\
            them, *by the scheduler* is the verdict of a hunt on the method that does the same\n\
            ([FINDINGS.md](FINDINGS.md)). A dash means that there is no such harness or method.\n";
    out += &format!("\nObjects over the mirror of std, which both engines run:\n{}", harnesses(&own));
    out += &format!("\nObjects of published crates, which real threads run:\n{}", harnesses(&published));
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
         Methods have the names of the JDK. If a crate has no method for a bulk operation such as `addAll`, the\n\
         object loops over core methods, and `clear` of a queue takes one item after the other. `containsValue`,\n\
         `keySet`, `values`, `entrySet` and `toArray` iterate. The documentation of the crates does not promise\n\
         that these methods are atomic, so the violations are not mistakes of the crates.\n",
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
    let mut table = table(["object", "core", "no violation found", "not atomic"]);
    for entry in entries {
        let mut core = listed(entry.object.with_role(Role::Core).map(|method| entry.object.label(method)).collect());
        if let Some(found) = entry.core.found() {
            core += &format!(" (**not atomic**: `{}` gave {})", found.schema, shown(found));
        }
        let those = |found: bool| {
            let those = entry.methods.iter().filter(|method| method.found.is_some() == found);
            listed(those.map(|method| method.label.clone()).collect())
        };
        let (name, about) = (entry.studied.name, entry.studied.about);
        table.row([format!("**{name}**: {about}"), core, those(false), those(true)]);
    }
    table.markdown()
}

fn table<const N: usize>(headings: [&str; N]) -> Table {
    Table::new(headings.map(|heading| (heading, Align::Left)))
}

/// Like Table 2.
fn harnesses(entries: &[&Entry]) -> String {
    let mut out = String::new();
    for entry in entries.iter().filter(|entry| entry.methods.iter().any(|method| method.found.is_some())) {
        let own = entry.studied.instrumented;
        let mut table = table(["method", "harness", "outcome", "violated", "by the scheduler", "on real threads"]);
        for method in &entry.methods {
            let Some(found) = &method.found else { continue };
            let level = violated(entry, method, found).map_or("–", Level::name).to_owned();
            let by_scheduler =
                if own { by_the_scheduler(method, found) } else { under_control(entry.studied.name, &method.label) };
            let (label, harness) = (method.label.clone(), format!("`{}`", found.schema));
            table.row([label, harness, shown(found), level, by_scheduler, on_real_threads(method)]);
        }
        out += &format!("\n### {}\n\n{}", entry.studied.name, table.markdown());
        let was_found =
            |name: &&str| entry.methods.iter().any(|method| method.found.is_some() && method.label == **name);
        for (_, methods, remark) in REMARKS.iter().filter(|(object, ..)| *object == entry.studied.name) {
            let those: Vec<String> = methods.iter().copied().filter(was_found).map(str::to_owned).collect();
            if !those.is_empty() {
                out += &format!("\n{}: {remark}\n", listed(those));
            }
        }
    }
    out
}

/// Why methods of published crates are not atomic: an object, its methods, and what the source or documentation says.
const REMARKS: [(&str, &[&str], &str); 16] = [
    (
        "dashmap",
        &["containsValue", "keySet", "values", "entrySet", "size", "isEmpty", "clear", "retain"],
        "one shard after the other, each under its own lock.",
    ),
    ("skip-map", &["size", "isEmpty"], SKIP_LEN),
    ("skip-set", &["size", "isEmpty"], SKIP_LEN),
    ("skip-map", &["put", "putAll"], SKIP_INSERT),
    ("skip-set", &["insert"], SKIP_INSERT),
    ("skip-map", &["remove"], SKIP_REMOVE),
    ("skip-set", &["remove"], SKIP_REMOVE),
    ("skip-map", &["pollFirstEntry", "pollLastEntry"], SKIP_POLL),
    ("skip-set", &["pollFirst", "pollLast"], SKIP_POLL),
    ("papaya", &["size", "isEmpty"], "the count is updated after the table."),
    (
        "papaya",
        &["clear"],
        "goes from slot to slot; a removed key may be inserted again in a later slot, and is then removed again.",
    ),
    ("scc-stack", &["drain", "clear", "addAll"], "one item after the other, by calls of `pop` and `push`."),
    ("scc-stack", &["toArray"], "walks from entry to entry while other calls push and pop."),
    ("scc-hash-map", &["putAll"], "one entry after the other, by calls of `put`."),
    (
        "scc-hash-index",
        &["containsValue", "keySet", "values", "entrySet", "size", "isEmpty", "clear"],
        "one bucket after the other.",
    ),
    (
        "moka",
        &["containsValue", "keySet", "values", "entrySet", "size", "isEmpty", "clear"],
        "implemented here with `iter`, whose documentation says that other threads may change the cache meanwhile.",
    ),
];

const SKIP_LEN: &str = "the count goes up before the node is linked (`base.rs`, \"Optimistically increment `len`\").";

const SKIP_INSERT: &str = "removes an entry with the key before it links the new one, as the documentation says, so \
                           the key is missing for a moment.";

const SKIP_POLL: &str = "chooses the entry at the end, then removes it; by then another entry may be at the end.";

const SKIP_REMOVE: &str = "returns the entry even if another call removed it: in `base.rs` the `return Some(entry)` \
                           stands after the `if n.mark_tower()`, not inside it. Two calls remove one entry. A program \
                           of twenty lines without Interloper shows the same. `Entry::remove` says which call removed \
                           the entry.";

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
