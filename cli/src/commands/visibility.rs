//! `interloper visibility`.

use interloper::objects::derive::{Derivation, Derived, DerivedMethod};
use interloper::objects::findings::{disagreement, reason, shown, violation};
use interloper::objects::hunt::{Campaign, Found, Hunted, Visit, Visits};
use interloper::objects::judge::Refusal;
use interloper::objects::{Level, Role, Schema, Visibility, explain, explored};
use interloper::{Shard, Unseen};
use interloper_report::Counterexample;
use interloper_report::explorer::Exploration;
use interloper_report::junit::Outcome;
use interloper_report::table::{Align, Table};
use interloper_report::text::{Style, render};
use serde_json::json;

use super::hunt::{OPTIONS, campaign};
use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{EngineArg, Format, ObjectArgs, OutputArgs, SearchArgs};
use crate::counts::{Unseen as UnseenTraces, grouped, plural};
use crate::failure::{Failure, Finding};
use crate::failures;
use crate::files::{page_can_be_written, write_pages};
use crate::progress::events::{self, Event, Tell as _, places};
use crate::services::{self, Judged};
use crate::shards::{Asked, ShardResult, Split, refuse_form};
use crate::subject::{Subject, Watcher};

/// Derives the visibility of each method, and of all of them together.
pub fn visibility(args: &ObjectArgs, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("visibility", &[&OPTIONS[..], &["--shard"]].concat())?;
    output.no_html("visibility")?;
    refuse_form(search, output)?;
    page_can_be_written(output.html.as_deref())?;
    if let Some(shard) = search.shard {
        return part(args, shard, search);
    }
    derive(args, search, output, &mut Visits::default())
}

/// Tries the schemas of a shard with each method. A part derives nothing: that is for the whole.
fn part(args: &ObjectArgs, shard: Shard, search: &SearchArgs) -> Result<Answer, Failure> {
    let refused = |reason: &str| Err(Failure::Request(reason.to_owned()));
    if search.time.is_some() {
        return refused("--shard does not go with --time: all schemas of a part must run; use --programs");
    }
    let subject = Subject::find(args)?;
    if subject.engine == EngineArg::Stress {
        return refused("--shard does not go with real threads, which do not show twice what refutes a level");
    }
    let derivation = Derivation::new(campaign(&subject, args, search)?);
    let mut visits = Visits::default().within(shard, &subject.methods);
    let (mut watcher, mut schemas) = (Watcher::start(), 0);
    for &method in &subject.methods {
        let label = subject.object.label(method);
        let derived = derivation.method_after(method, &[], &mut visits, &mut |progress| {
            watcher.note(&label, progress.schema, progress.schemas, progress.executions);
        });
        schemas += derived.schemas;
        watcher.done(derived.schemas, derived.executions);
    }
    watcher.finish();
    let visits = Split::Visits(visits.into_made().collect());
    let asked = Asked::object("visibility", args, search);
    Ok(Answer::expected(ShardResult::of(shard, asked, visits, schemas == 0).said().in_a_line()))
}

/// The end of a derivation whose parts were made elsewhere.
pub fn concluded(
    args: &ObjectArgs,
    search: &SearchArgs,
    visits: Vec<Visit>,
    output: &OutputArgs,
) -> Result<Answer, Failure> {
    derive(args, search, output, &mut Visits::after(visits))
}

/// Derives the visibilities without what was visited before.
fn derive(args: &ObjectArgs, search: &SearchArgs, output: &OutputArgs, visits: &mut Visits) -> Result<Answer, Failure> {
    let subject = Subject::find(args)?;
    let derivation = Derivation::new(campaign(&subject, args, search)?);
    let strategy = Subject::strategy(&derivation.campaign, search);
    let mut watcher = Watcher::start();
    let mut methods = Vec::new();
    for &method in &subject.methods {
        let label = subject.object.label(method);
        let derived = derivation.method_after(method, &[], visits, &mut |progress| {
            watcher.note(&label, progress.schema, progress.schemas, progress.executions);
        });
        watcher.done(derived.schemas, derived.executions);
        methods.push(derived);
    }
    let together = derivation.together(&methods, &mut |progress| {
        watcher.note(TOGETHER, progress.schema, progress.schemas, progress.executions);
    });
    watcher.done(together.schemas, together.executions);
    let derived = Derived { methods, together };
    if events::are_wanted() {
        tell(&subject, &derivation, &derived);
    }
    watcher.finish();
    let unsound = derived.methods.iter().any(|one| one.of_core.is_some() || one.disagreement().is_some());
    let finding = Finding::unexpected_if(unsound || derived.together.found().is_some());
    let replays = replays(&subject, search.seed(), &derived)?;
    let described = described(&subject, &derivation, &derived, &replays);
    if let Some(path) = &output.html {
        let pages: Vec<Exploration> = described.iter().flatten().map(|one| one.page(&derivation)).collect();
        write_pages(&pages, path, "no finding refutes a level")?;
    }
    let judged = match services::are_asked(output.format) {
        true => judged(&subject, &derived, described),
        false => Vec::new(),
    };
    services::annotate(&judged);
    let text = match output.format {
        Format::Json => json(&document(&subject, (search, strategy.as_deref()), &derived, &replays)),
        Format::Junit | Format::Sarif => services::document(output.format, judged),
        _ => report(&subject, strategy.as_deref(), &derived, &replays),
    };
    Ok(Answer::new(text, finding))
}

/// Tells what was found. That a level falls is what a derivation is about, and so expected.
fn tell(subject: &Subject, derivation: &Derivation, derived: &Derived) {
    let none = vec![None; derived.methods.len() + 1];
    let described = described(subject, derivation, derived, &none);
    let labels = derived.methods.iter().map(|one| (subject.object.label(one.method), Some(one)));
    for ((label, of_method), described) in labels.chain([(TOGETHER.to_owned(), None)]).zip(&described) {
        let name = format!("{}.{label}", subject.studied.name);
        let name = name.as_str();
        if of_method.is_some_and(|one| one.disagreement().is_some()) {
            let verdict = "differs from its model";
            Event::Finding { name, verdict, expected: false, places: Vec::new() }.tell();
        } else if let Some(Described { counterexample, .. }) = described {
            let expected = of_method.is_some_and(|one| one.of_core.is_none());
            let (verdict, places) = (counterexample.verdict.as_str(), places(counterexample));
            Event::Finding { name, verdict, expected, places }.tell();
        }
    }
}

/// For each method, in order, the command that replays the finding that refutes the next level; `None` if only real
/// threads have shown it. The last command is for all methods together.
fn replays(subject: &Subject, seed: u64, derived: &Derived) -> Result<Vec<Option<String>>, Failure> {
    let of = |label: &str, found: Option<&Found>| match found {
        Some(found) => failures::of_schema(subject, label, seed, found),
        None => Ok(None),
    };
    let methods = derived.methods.iter().map(|one| {
        let found = one.of_core.as_ref().or(one.refuted.last().map(|(_, found)| found));
        of(&subject.object.label(one.method), found)
    });
    methods.chain([of(TOGETHER, derived.together.found())]).collect()
}

/// A finding, as a report or a page shows it.
struct Described<'d> {
    found: &'d Found,
    /// What it refutes.
    visibility: Visibility,
    counterexample: Counterexample,
}

impl Described<'_> {
    fn page(&self, derivation: &Derivation) -> Exploration {
        let Campaign { object, seed, .. } = &derivation.campaign;
        explored(object, &self.visibility, self.found, &self.counterexample, *seed).with_sources()
    }
}

/// Of each method the finding that refutes the next level, or that core methods are at fault; then the one of all methods together.
fn described<'d>(
    subject: &Subject,
    derivation: &Derivation,
    derived: &'d Derived,
    replays: &[Option<String>],
) -> Vec<Option<Described<'d>>> {
    let describe = |label: &str, visibility: Visibility, found: &'d Found, replay: &Option<String>| {
        let counterexample = explain(&subject.object, label, &visibility, found);
        Described { found, visibility, counterexample: Counterexample { replay: replay.clone(), ..counterexample } }
    };
    let methods = derived.methods.iter().zip(replays).map(|(one, replay)| {
        let (visibility, found) = match (&one.of_core, one.refuted.last()) {
            (Some(found), _) => (derivation.campaign.visibility.clone(), found),
            (None, Some((level, found))) => (derivation.with_level(one.method, *level), found),
            (None, None) => return None,
        };
        Some(describe(&subject.object.label(one.method), visibility, found, replay))
    });
    let replay = replays.last().unwrap_or(&None);
    let together = derived.together.found();
    let together = together.map(|found| describe(TOGETHER, derivation.levels(&derived.methods), found, replay));
    methods.chain([together]).collect()
}

/// What services read: of each method, and of all methods together. What refutes a level is a finding also where the method
/// has the level below it.
fn judged(subject: &Subject, derived: &Derived, described: Vec<Option<Described<'_>>>) -> Vec<Judged> {
    let suite = "visibility";
    let failed = |message: String, counterexample: &Counterexample| Outcome::Failed {
        message,
        report: render(counterexample, Style::default()),
    };
    let mut described = described.into_iter().map(|one| Some(one?.counterexample));
    let mut judged = Vec::new();
    for (one, counterexample) in derived.methods.iter().zip(described.by_ref()) {
        let name = format!("{}.{}", subject.studied.name, subject.object.label(one.method));
        let result = match (disagreement(&one.skipped), &one.of_core, &counterexample) {
            (Some((schema, refusal)), ..) => Outcome::Failed {
                message: format!("{name}: differs from its model"),
                report: format!("{}\n", reason(refusal, schema)),
            },
            (None, Some(_), Some(found)) => failed(format!("{name}: core methods not atomic"), found),
            _ if is_derived(one) => Outcome::Passed,
            _ => Outcome::Unjudged { reason: format!("{name}: {NOT_DERIVED}") },
        };
        let (schemas, executions) = (plural(one.schemas, "schema"), plural(one.executions, "execution"));
        let output = format!("visibility {}, {schemas}, {executions}", level(one));
        judged.push(Judged { suite, name, result, output, counterexample });
    }
    let name = format!("{}: {TOGETHER}", subject.studied.name);
    let counterexample = described.next().flatten();
    let result = match &counterexample {
        Some(found) => failed(format!("{name}: these levels do not explain an outcome"), found),
        None => Outcome::Passed,
    };
    judged.push(Judged { suite, name, result, output: together(&derived.together), counterexample });
    judged
}

/// Whether anything is known of a method.
fn is_derived(derived: &DerivedMethod) -> bool {
    let is_sound = derived.of_core.is_none() && derived.disagreement().is_none();
    is_sound && (derived.supporting > 0 || !derived.refuted.is_empty())
}

const NOT_DERIVED: &str = "not derived";

/// What the search with all methods is called.
const TOGETHER: &str = "all together";

fn level(derived: &DerivedMethod) -> &'static str {
    if is_derived(derived) { derived.level.map_or("none", Level::name) } else { NOT_DERIVED }
}

fn report(subject: &Subject, strategy: Option<&str>, derived: &Derived, replays: &[Option<String>]) -> String {
    let strategy = strategy.map_or_else(String::new, |strategy| format!("strategy: {strategy}\n"));
    let mut text = format!("{}: {}\n{strategy}\n", subject.studied.name, subject.studied.about);
    for one in &derived.methods {
        if let Some((schema, refusal)) = disagreement(&one.skipped) {
            text += &format!("✗ {}: {}\n", subject.object.label(one.method), reason(refusal, schema));
        }
    }
    if let Some(of_core) = derived.methods.iter().find_map(|one| one.of_core.as_ref()) {
        let (schema, outcome) = (&of_core.schema, shown(of_core));
        text += &format!("✗ core methods are not atomic: {schema} calls only core methods, and gave {outcome}\n\n");
    }
    // As in Table 3 of the paper: the core methods are complete by assumption.
    let mut levels = Table::new([("visibility", Align::Left), ("methods", Align::Left)]);
    for name in Level::ALL.iter().rev().map(|level| level.name()).chain(["none", NOT_DERIVED]) {
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
        ("schemas", Align::Right),
        ("executions", Align::Right),
        ("supporting schemas", Align::Right),
        ("their executions", Align::Right),
    ]);
    for one in &derived.methods {
        let last = one.refuted.last();
        let (not, harness, outcome) =
            last.map(|(level, found)| (level.name(), found.schema.to_string(), shown(found))).unwrap_or_default();
        let counts = [one.schemas, one.executions, one.supporting, one.supporting_executions].map(grouped);
        let words = [subject.object.label(one.method), not.to_owned(), harness, outcome];
        refuted.row(words.into_iter().chain(counts));
    }
    text += &format!("\n{refuted}\n{}\n", together(&derived.together));
    if let Some(unseen) = unseen(derived) {
        text += &format!("Of the schemas together, {}.\n", unseen.text("trace"));
    }
    let labels = derived.methods.iter().map(|one| subject.object.label(one.method));
    for (label, replay) in labels.chain([TOGETHER.to_owned()]).zip(replays) {
        text += &replay.as_ref().map_or(String::new(), |replay| format!("  replay {label}: {replay}\n"));
    }
    text
}

/// For random schedules: what all executions together say about traces that they have not shown.
fn unseen(derived: &Derived) -> Option<Unseen> {
    let methods = derived.methods.iter().map(|one| &one.coverage);
    methods.chain([&derived.together.coverage]).filter_map(|coverage| coverage.unseen).reduce(Unseen::and)
}

fn together(hunted: &Hunted) -> String {
    let tried = format!(
        "All methods together: {}, {}",
        plural(hunted.schemas, "schema"),
        plural(hunted.executions, "execution")
    );
    match hunted.found() {
        None => format!("{tried}; these levels explain every outcome."),
        Some(found) => format!("{tried}; {} gave {}, which these levels do not explain.", found.schema, shown(found)),
    }
}

fn document(
    subject: &Subject,
    (search, strategy): (&SearchArgs, Option<&str>),
    derived: &Derived,
    replays: &[Option<String>],
) -> serde_json::Value {
    let skipped = |(schema, refusal): &(Schema, Refusal)| json!({ "schema": schema.to_string(), "reason": reason(refusal, schema) });
    let method = |(one, replay): (&DerivedMethod, &Option<String>)| {
        let refuted = one.refuted.iter().map(|(level, found)| json!({ "level": level.name(), "by": violation(found) }));
        json!({
            "method": subject.object.label(one.method),
            "derived": is_derived(one),
            "visibility": one.level.filter(|_| is_derived(one)).map(Level::name),
            "refuted": refuted.collect::<Vec<_>>(),
            "replay": replay,
            "schemas": one.schemas,
            "executions": one.executions,
            "of_core": one.of_core.as_ref().map(violation),
            "supporting": one.supporting,
            "supporting_executions": one.supporting_executions,
            "skipped": one.skipped.iter().map(skipped).collect::<Vec<_>>(),
        })
    };
    debug_assert!(subject.methods.iter().all(|method| subject.object.method(*method).role == Role::UnderTest));
    let mut document = json!({
        "version": JSON_VERSION,
        "object": subject.studied.name,
        "engine": subject.engine_name(),
        "strategy": strategy,
        "seed": search.seed(),
        "core": subject.core(),
        "methods": derived.methods.iter().zip(replays).map(method).collect::<Vec<_>>(),
        "together": {
            "schemas": derived.together.schemas,
            "executions": derived.together.executions,
            "violation": derived.together.found().map(violation),
            "replay": replays.last(),
        },
    });
    if let Some(unseen) = unseen(derived) {
        document["unseen"] = serde_json::to_value(UnseenTraces::from(unseen)).expect("numbers");
    }
    document
}
