//! `interloper visibility`.

use interloper::objects::derive::{Derivation, Derived, DerivedMethod};
use interloper::objects::generated::text;
use interloper::objects::hunt::{Found, Hunted, What};
use interloper::objects::{Level, Role};
use interloper_report::table::{Align, Table};
use serde_json::json;

use super::hunt::{OPTIONS, violation};
use super::{Answer, JSON_VERSION, json};
use crate::args::{EngineArg, Format, ObjectArgs, OutputArgs, SearchArgs};
use crate::checking::{grouped, plural};
use crate::failure::{Failure, Finding};
use crate::subject::{Subject, Watcher};

/// Derives the visibility of each method, and of all of them together.
pub fn visibility(args: &ObjectArgs, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("visibility", &OPTIONS)?;
    output.no_html("visibility")?;
    let subject = Subject::find(args)?;
    let derivation = derivation(&subject, args, search);
    let mut watcher = Watcher::start();
    let mut methods = Vec::new();
    for &method in &subject.methods {
        let label = subject.object.label(method);
        let derived = derivation.method(method, &mut |progress| {
            watcher.note(&label, progress.schema, progress.schemas, progress.executions);
        });
        watcher.done(derived.schemas, derived.executions);
        methods.push(derived);
    }
    let together = derivation.together(&methods, &mut |progress| {
        watcher.note("all together", progress.schema, progress.schemas, progress.executions);
    });
    watcher.done(together.schemas, together.executions);
    watcher.finish();
    let derived = Derived { methods, together };
    let finding = Finding::unexpected_if(derived.together.found().is_some());
    let text = match output.format {
        Format::Json => json(&document(&subject, search, &derived)),
        Format::Text | Format::Html => report(&subject, &derived),
    };
    Ok(Answer { text, finding })
}

fn derivation(subject: &Subject, args: &ObjectArgs, search: &SearchArgs) -> Derivation {
    let derivation = Derivation::new(&subject.object, search.seed());
    let schemas = match subject.engine {
        EngineArg::Stress => derivation.schemas,
        // Most harnesses have a few interleavings only.
        EngineArg::Systematic => 2_000,
    };
    Derivation {
        engine: subject.engine(search),
        schemas: args.programs.map_or(schemas, |programs| programs.get()),
        time: search.time,
        ..derivation
    }
}

fn level(derived: &DerivedMethod) -> &'static str {
    derived.level.map_or("none", Level::name)
}

fn report(subject: &Subject, derived: &Derived) -> String {
    let mut text = format!("{}: {}\n\n", subject.studied.name, subject.studied.about);
    // As in Table 3 of the paper: the core methods are complete by assumption.
    let mut levels = Table::new([("visibility", Align::Left), ("methods", Align::Left)]);
    for name in Level::ALL.iter().rev().map(|level| level.name()).chain(["none"]) {
        let core = if name == Level::Complete.name() { subject.core() } else { vec![] };
        let those = derived.methods.iter().filter(|derived| level(derived) == name);
        let labels: Vec<String> =
            core.into_iter().chain(those.map(|derived| subject.object.label(derived.method))).collect();
        if !labels.is_empty() {
            levels.row([name.to_owned(), labels.join(", ")]);
        }
    }
    text += &levels.to_string();
    // As in Table 2: what contradicts the next level.
    let mut refuted = Table::new([
        ("method", Align::Left),
        ("not", Align::Left),
        ("harness", Align::Left),
        ("outcome", Align::Left),
        ("supporting schemas", Align::Right),
        ("executions", Align::Right),
    ]);
    for one in &derived.methods {
        let last = one.refuted.last();
        let (not, harness, outcome) =
            last.map(|(level, found)| (level.name(), found.schema.to_string(), shown(found))).unwrap_or_default();
        let counts = [grouped(one.supporting), grouped(one.executions)];
        let words = [subject.object.label(one.method), not.to_owned(), harness, outcome];
        refuted.row(words.into_iter().chain(counts));
    }
    text += &format!("\n{refuted}\n{}\n", together(&derived.together));
    text
}

fn together(hunted: &Hunted) -> String {
    let tried = format!(
        "All methods together: {}, {}",
        plural(hunted.schemas, "schema"),
        plural(hunted.executions, "execution")
    );
    match hunted.found() {
        None => format!("{tried}, all in keeping with these levels."),
        Some(found) => format!("{tried}; weaker than that: {} gave {}.", found.schema, shown(found)),
    }
}

fn shown(found: &Found) -> String {
    match &found.what {
        What::Outcome { outcome, .. } => text(outcome),
        What::Blocked(_) => "never returns".to_owned(),
        What::Panicked(message) => format!("panicked: {message}"),
    }
}

fn document(subject: &Subject, search: &SearchArgs, derived: &Derived) -> serde_json::Value {
    let method = |one: &DerivedMethod| {
        let refuted = one.refuted.iter().map(|(level, found)| json!({ "level": level.name(), "by": violation(found) }));
        json!({
            "method": subject.object.label(one.method),
            "visibility": one.level.map(Level::name),
            "refuted": refuted.collect::<Vec<_>>(),
            "schemas": one.schemas,
            "supporting": one.supporting,
            "executions": one.executions,
            "skipped": one.skipped.len(),
        })
    };
    debug_assert!(subject.methods.iter().all(|method| subject.object.method(*method).role == Role::UnderTest));
    json!({
        "version": JSON_VERSION,
        "object": subject.studied.name,
        "engine": subject.engine_name(),
        "seed": search.seed(),
        "core": subject.core(),
        "methods": derived.methods.iter().map(method).collect::<Vec<_>>(),
        "together": {
            "schemas": derived.together.schemas,
            "executions": derived.together.executions,
            "violation": derived.together.found().map(violation),
        },
    })
}
