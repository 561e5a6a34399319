//! What is said of the objects, as Markdown.

use interloper_harness::Object;
use interloper_harness::explain::explain;
use interloper_harness::generated::text;
use interloper_harness::hunt::What;
use interloper_report::shorten::{in_crate, with_places};
use interloper_report::text::{Style, render};

use crate::objects;
use crate::search::{Searched, Tally, Violation};

/// An object with what came of its methods.
pub struct Outcome {
    /// The object.
    pub object: Object,
    /// Its methods, in the order of the description.
    pub methods: Vec<Searched>,
}

/// A line for each method.
pub fn methods(outcomes: &[Outcome]) -> String {
    let mut out = String::from(
        "| object | method | 2–3 calls: schemas, executions | 4 calls | random: executions | verdict |\n\
         |---|---|---|---|---|---|\n",
    );
    for Outcome { object, methods } in outcomes {
        for searched in methods {
            let [small, large] = searched.systematic.map(tally);
            let mut verdict = verdict(searched);
            let because_of = objects::because_of(object.name(), &searched.method);
            if let Some(core) = because_of.filter(|_| searched.violation.is_some()) {
                verdict.push_str(&format!(" because of `{core}`"));
            }
            let random = searched.random.executions;
            out.push_str(&format!(
                "| `{}` | {} | {small} | {large} | {random} | {verdict} |\n",
                object.name(),
                searched.method
            ));
        }
    }
    out
}

/// So many schemas, of how many of them all was seen, and in how many executions.
fn tally(tally: Tally) -> String {
    let Tally { schemas, complete, executions, cut } = tally;
    let cut = if cut == 0 { String::new() } else { format!(", {cut} cut short") };
    match schemas {
        0 => "–".to_owned(),
        _ if complete == schemas => format!("{schemas}, all to the end; {executions}{cut}"),
        _ => format!("{schemas}, {complete} to the end; {executions}{cut}"),
    }
}

/// No more than what was tried.
fn verdict(searched: &Searched) -> String {
    let tried = searched.systematic.iter().map(|tally| tally.schemas).sum::<u64>() + searched.random.schemas;
    let refused = match searched.refused.len() {
        0 => String::new(),
        count => format!("; of {count} schemas there is no telling"),
    };
    match &searched.violation {
        Some(violation) => format!("**{}**", violation.found.what.kind()),
        None if tried == 0 => format!("nothing tried{refused}"),
        None => format!("no violation{refused}"),
    }
}

/// The smallest schema of each method that is not atomic.
pub fn violations(outcomes: &[Outcome]) -> String {
    let mut out = String::from("| method | schema | outcome | systematic | random |\n|---|---|---|---|---|\n");
    for (object, searched, Violation { found, systematic, random }) in violating(outcomes) {
        let execution = |number: &Option<u64>| number.map_or("not found".to_owned(), |number| number.to_string());
        out.push_str(&format!(
            "| `{}::{}` | `{}` | {} | {} | {} |\n",
            object.name(),
            searched.method,
            found.schema.to_string().replace('|', "\\|"),
            what(&found.what),
            execution(systematic),
            execution(random),
        ));
    }
    out
}

/// The executions, step by step.
pub fn traces(outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    for (object, searched, violation) in violating(outcomes) {
        let shown = explain(object, &searched.method, object.visibility(), &violation.found);
        let shown = with_places(shown, inside);
        let text = render(&shown, Style { color: false, width: None });
        let text: String = text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
        out.push_str(&format!("## `{}::{}`\n\n```text\n{text}```\n\n", object.name(), searched.method));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// What went wrong, in a table.
pub fn what(what: &What) -> String {
    match what {
        What::Outcome { outcome, .. } => text(outcome),
        What::Blocked(_) => "blocks".to_owned(),
        What::Panicked(message) => format!("panics: {}", message.lines().next().unwrap_or_default()),
        What::Memory(fault) => fault.kind.to_string(),
    }
}

fn violating(outcomes: &[Outcome]) -> impl Iterator<Item = (&Object, &Searched, &Violation)> {
    outcomes.iter().flat_map(|Outcome { object, methods }| {
        methods.iter().filter_map(move |searched| Some((object, searched, searched.violation.as_ref()?)))
    })
}

/// A place without the folder in which this machine keeps sources: it begins with the crate.
pub fn inside(location: &str) -> String {
    let location = in_crate(location);
    match location.rsplit_once("/proof/src/") {
        Some((_, rest)) => format!("proof/src/{rest}"),
        None => location,
    }
}
