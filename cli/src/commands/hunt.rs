//! `interloper hunt`.

use std::sync::Arc;

use interloper::Shard;
use interloper::objects::findings::{self, Findings, Of, Row};
use interloper::objects::hunt::{Campaign, Engine, Pass, Together, Visit, Visits};
use interloper::objects::judge::Refusal;
use interloper::objects::{MethodId, Next, Schema};
use interloper_report::junit::Outcome;
use interloper_report::text::render;
use serde_json::json;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{EngineArg, Format, HuntArgs, ObjectArgs, OutputArgs, SearchArgs};
use crate::counts::plural;
use crate::failure::{Failure, Finding};
use crate::failures;
use crate::files::{page_can_be_written, write_pages};
use crate::output;
use crate::progress::events::{self, Event, Tell as _, places};
use crate::services::{self, Judged};
use crate::shards::{Asked, ShardResult, Split, refuse_form};
use crate::state::{Posted, State};
use crate::strategy;
use crate::subject::{Subject, Watcher};

/// The search options that have a meaning for objects.
pub const OPTIONS: [&str; 8] =
    ["--seed", "--executions", "--time", "--strategy", "--freedoms", "--memory", "--q", "--depth"];

/// Searches the methods of an object, or runs one schema.
pub fn hunt(args: &HuntArgs, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("hunt", &[&OPTIONS[..], &["--shard"]].concat())?;
    output.no_html("hunt")?;
    refuse_form(search, output)?;
    let subject = Subject::hunted(&args.object)?;
    refuse_split(args, search)?;
    page_can_be_written(output.html.as_deref())?;
    let asked = Asked::object("hunt", &args.object, search);
    let state = args.state.as_deref().map(|folder| State::open(folder, search.shard)).transpose()?;
    if let Some(shard) = search.shard {
        let visits = match &state {
            Some(state) => state.hunt(&args.object.name, &asked)?,
            None => Visits::default(),
        };
        let notices = match &state {
            Some(state) => Some(Arc::new(state.notices(&format!("hunt-{}", args.object.name), &asked, shard.of())?)),
            None => None,
        };
        let visits = visits.within(shard, &subject.methods);
        let visits = match &notices {
            Some(notices) => visits.told_by(Arc::clone(notices) as _),
            None => visits,
        };
        return part(args, &subject, visits, (shard, asked, notices), search);
    }
    let visits = match &state {
        Some(state) => state.hunt(&args.object.name, &asked)?,
        None => Visits::default(),
    };
    searched(args, &subject, visits, search, output)
}

/// Refuses to split or to keep what cannot be.
fn refuse_split(args: &HuntArgs, search: &SearchArgs) -> Result<(), Failure> {
    let option = match (search.shard, &args.state) {
        (Some(_), _) => "--shard",
        (None, Some(_)) => "--state",
        (None, None) => return Ok(()),
    };
    let refused = |reason: &str| Err(Failure::Request(format!("{option} {reason}")));
    if args.schema.is_some() {
        return refused("does not go with --schema: one schema is not split");
    }
    if search.shard.is_some() && search.time.is_some() {
        return refused("does not go with --time: all schemas of a part must run; use --programs");
    }
    Ok(())
}

/// Makes the visits of a shard. A part has no verdict: that is for the whole.
fn part(
    args: &HuntArgs,
    subject: &Subject,
    mut visits: Visits,
    (shard, asked, notices): (Shard, Asked, Option<Arc<Posted>>),
    search: &SearchArgs,
) -> Result<Answer, Failure> {
    let campaign = staged(subject, &args.object, search)?;
    let mut watcher = Watcher::start();
    let mut schemas = 0;
    for &method in &subject.methods {
        let label = subject.object.label(method);
        let hunted = campaign.part(method, &mut visits, &mut |progress| {
            watcher.search(&label, progress);
            Next::Continue
        });
        schemas += hunted.schemas;
        watcher.done(hunted.schemas, hunted.executions);
    }
    watcher.finish();
    let visits = Split::Visits(visits.into_made().collect());
    // Where others have found something before this one began, it has no schema either.
    let nothing_to_do = schemas == 0 && !notices.is_some_and(|notices| notices.is_told());
    Ok(Answer::expected(ShardResult::of(shard, asked, visits, nothing_to_do).said().in_a_line()))
}

/// The end of a hunt whose parts were made elsewhere.
pub fn concluded(
    args: &HuntArgs,
    search: &SearchArgs,
    visits: Vec<Visit>,
    output: &OutputArgs,
) -> Result<Answer, Failure> {
    searched(args, &Subject::hunted(&args.object)?, Visits::after(visits), search, output)
}

/// Searches without what was visited before, and says what was found.
fn searched(
    args: &HuntArgs,
    subject: &Subject,
    mut visits: Visits,
    search: &SearchArgs,
    output: &OutputArgs,
) -> Result<Answer, Failure> {
    let campaign = staged(subject, &args.object, search)?;
    let mut watcher = Watcher::start();
    let rows: Vec<Row> = match &args.schema {
        Some(schema) => vec![one_schema(subject, &campaign, schema)?],
        None => {
            subject.methods.iter().map(|&method| row(subject, &campaign, method, &mut visits, &mut watcher)).collect()
        }
    };
    let strategy = Subject::strategy(&campaign, search);
    let mut findings =
        Findings { about: Some(subject.studied.about.to_owned()), strategy, ..Findings::of(campaign, rows) };
    if args.schema.is_none() && args.object.method.is_none() {
        findings.search_together(&mut visits, &mut |progress| {
            watcher.search("pairs of methods", progress);
            Next::Continue
        });
        let (schemas, executions) = findings.together.as_ref().map_or((0, 0), Together::counts);
        watcher.done(schemas, executions);
    }
    findings.rows.iter().for_each(|row| tell(&findings, row));
    watcher.finish();
    for row in &mut findings.rows {
        row.replay = replay(subject, findings.campaign.seed, row)?;
    }
    if let Some(path) = &output.html {
        write_pages(&findings.pages().collect::<Vec<_>>(), path, "no violation was found")?;
    }
    let cut = |schema: &Schema| {
        let (name, strategy) = (subject.studied.name, strategy::typed(search));
        Some(format!("interloper hunt {name} --schema '{schema}' --engine systematic{strategy}"))
    };
    let style = output::style(output.color);
    let judged: Vec<Judged> = match services::are_asked(output.format) {
        true => findings.rows.iter().map(|row| judged(&findings, row, findings.limits(row, style, &cut))).collect(),
        false => Vec::new(),
    };
    services::annotate(&judged);
    let text = match output.format {
        Format::Json => json(&document(subject, search, &findings)),
        Format::Junit | Format::Sarif => services::document(output.format, judged),
        Format::Text | Format::Html => {
            findings.text(args.object.method.is_some() || args.schema.is_some(), style, &cut)
        }
    };
    Ok(Answer::new(text, Finding::unexpected_if(findings.is_wrong())))
}

/// Tells what was found of a method, if events are wanted.
fn tell(findings: &Findings, row: &Row) {
    if !events::are_wanted() {
        return;
    }
    let name = format!("{}.{}", findings.campaign.object.name(), row.label);
    let shown = row.searched.traced().or(row.found()).map(|shown| findings.counterexample(row, shown));
    if shown.is_some() || row.disagreement().is_some() {
        let places = shown.as_ref().map(places).unwrap_or_default();
        Event::Finding { name: &name, verdict: row.verdict(), expected: false, places }.tell();
    }
}

/// The command that shows a finding again: by its replay file, or on real threads.
fn replay(subject: &Subject, seed: u64, row: &Row) -> Result<Option<String>, Failure> {
    let Some(found) = row.found() else { return Ok(None) };
    let shown = row.searched.traced().unwrap_or(found);
    let again = || {
        let (name, schema) = (subject.studied.name, &shown.schema);
        format!("interloper hunt {name} --schema '{schema}' --engine stress --seed {seed}")
    };
    Ok(Some(failures::of_schema(subject, &row.label, seed, shown)?.unwrap_or_else(again)))
}

/// How the methods are searched: each schema once, by the engine that was asked for.
pub fn campaign(subject: &Subject, args: &ObjectArgs, search: &SearchArgs) -> Result<Campaign, Failure> {
    let campaign = match subject.engine {
        EngineArg::Stress => Campaign::stress(&subject.object, search.seed()),
        EngineArg::Systematic => Campaign::systematic(&subject.object, search.seed()),
    };
    within(campaign, subject, args, search)
}

/// The same in passes over more schemas, where the scheduler runs them and no strategy is asked for.
fn staged(subject: &Subject, args: &ObjectArgs, search: &SearchArgs) -> Result<Campaign, Failure> {
    if subject.engine == EngineArg::Stress || search.strategy.is_some() {
        return campaign(subject, args, search);
    }
    let staged = within(Campaign::staged(&subject.object, search.seed()), subject, args, search)?;
    let Engine::Systematic(thorough) = &staged.engine else { unreachable!("this engine was asked for") };
    Ok(Campaign { passes: Pass::before(thorough), ..staged })
}

/// A campaign with the limits that were asked for.
fn within(campaign: Campaign, subject: &Subject, args: &ObjectArgs, search: &SearchArgs) -> Result<Campaign, Failure> {
    let campaign = match args.programs {
        None => campaign,
        Some(programs) => campaign.of_at_most(programs.get()),
    };
    let bound = args.limit.map_or(campaign.bound, usize::from);
    Ok(Campaign { engine: subject.engine(search)?, bound, time: search.time, ..campaign })
}

fn row(subject: &Subject, campaign: &Campaign, method: MethodId, visits: &mut Visits, watcher: &mut Watcher) -> Row {
    let label = subject.object.label(method);
    let searched = campaign.method_apart(method, visits, &mut |progress| {
        watcher.search(&label, progress);
        Next::Continue
    });
    watcher.done(searched.hunted.schemas, searched.hunted.executions);
    Row { label, of: Of::Method, searched, replay: None }
}

/// Runs one schema for as long as a method would be searched.
fn one_schema(subject: &Subject, campaign: &Campaign, schema: &str) -> Result<Row, Failure> {
    let schema = Schema::parse(schema).and_then(|schema| subject.object.program(&schema).map(|_| schema));
    let schema = schema.map_err(Failure::Schema)?;
    let searched = campaign.schema(schema);
    if let [(schema, refusal)] = &searched.hunted.skipped[..]
        && !matches!(refusal, Refusal::Disagreement(_))
    {
        return Err(Failure::Request(findings::reason(refusal, schema)));
    }
    Ok(Row { label: "schema".to_owned(), of: Of::Schema, searched, replay: None })
}

/// What services read of a method.
fn judged(findings: &Findings, row: &Row, limits: String) -> Judged {
    let shown = row.searched.traced().or(row.found());
    let counterexample = shown.map(|shown| findings.counterexample(row, shown));
    let name = format!("{}.{}", findings.campaign.object.name(), row.label);
    let message = format!("{name}: {}", row.verdict());
    let result = match (&counterexample, row.disagreement()) {
        (Some(counterexample), _) => {
            let report = render(counterexample, interloper_report::text::Style::default());
            Outcome::Failed { message, report }
        }
        (None, Some((schema, refusal))) => {
            Outcome::Failed { message, report: format!("{}\n", findings::reason(refusal, schema)) }
        }
        (None, None) if row.verdict() == "not judged" => Outcome::Unjudged { reason: message },
        (None, None) => Outcome::Passed,
    };
    let hunted = &row.searched.hunted;
    let covered = format!("{}, {}", plural(hunted.schemas, "schema"), plural(hunted.executions, "execution"));
    Judged { suite: "objects", name, result, output: covered + &limits, counterexample }
}

fn document(subject: &Subject, search: &SearchArgs, findings: &Findings) -> serde_json::Value {
    json!({
        "version": JSON_VERSION,
        "object": subject.studied.name,
        "engine": subject.engine_name(),
        "strategy": findings.strategy,
        "seed": search.seed(),
        "core": subject.core(),
        "methods": findings.methods(),
        "together": findings.pairs_as_data(),
    })
}
