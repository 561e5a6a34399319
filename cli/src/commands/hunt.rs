//! `interloper hunt`.

use std::collections::BTreeSet;
use std::path::Path;

use interloper::Unseen;
use interloper::objects::generated::text;
use interloper::objects::hunt::{
    Campaign, Coverage, Ended, Engine, Found, Hunt, Pass, Reproduced, Searched, Source, What,
};
use interloper::objects::judge::Refusal;
use interloper::objects::systematic::Deadline;
use interloper::objects::{MethodId, Next, Pool, Schema, explain_cut, explain_until, explored};
use interloper_report::Counterexample;
use interloper_report::explorer::{Exploration, page};
use interloper_report::junit::Outcome;
use interloper_report::table::{Align, Table};
use interloper_report::text::render;
use serde_json::json;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{EngineArg, Format, ObjectArgs, OutputArgs, SearchArgs};
use crate::counts::{Unseen as UnseenTraces, grouped, plural};
use crate::failure::{Failure, Finding};
use crate::failures;
use crate::files::{can_write, make_folder, write_page};
use crate::output;
use crate::services::{self, Judged};
use crate::strategy;
use crate::subject::{self, Subject, Watcher};

/// The search options that have a meaning for objects.
pub const OPTIONS: [&str; 8] =
    ["--seed", "--executions", "--time", "--strategy", "--freedoms", "--memory", "--q", "--depth"];

/// Searches the methods of an object, or runs one schema.
pub fn hunt(
    args: &ObjectArgs,
    schema: Option<&str>,
    html: Option<&Path>,
    search: &SearchArgs,
    output: &OutputArgs,
) -> Result<Answer, Failure> {
    search.only("hunt", &OPTIONS)?;
    output.no_html("hunt")?;
    let subject = Subject::find(args)?;
    if let Some(path) = html {
        make_folder(path)?;
        can_write(path)?;
    }
    let campaign = staged(&subject, args, search)?;
    let mut watcher = Watcher::start();
    let mut rows: Vec<Row> = match schema {
        Some(schema) => vec![one_schema(&subject, &campaign, schema)?],
        None => subject.methods.iter().map(|&method| row(&subject, &campaign, method, &mut watcher)).collect(),
    };
    watcher.finish();
    for row in &mut rows {
        if let Some(traced) = row.searched.traced() {
            row.replay = failures::of_schema(&subject, &row.label, campaign.seed, traced)?;
        }
    }
    if let Some(path) = html {
        match exploration(&subject, &campaign, &rows) {
            Some(exploration) => write_page(&page::render(&exploration), path)?,
            None => output::note(&format!("no violation was found, so {} was not written", path.display())),
        }
    }
    let finding = Finding::unexpected_if(rows.iter().any(|row| row.found().is_some() || row.disagreement().is_some()));
    let text = match output.format {
        Format::Json => json(&document(&subject, search, &campaign, &rows)),
        Format::Junit | Format::Sarif => {
            let judged = |row: &Row| judged(&subject, (&campaign, search), row, output);
            services::document(output.format, rows.iter().map(judged).collect())
        }
        Format::Text | Format::Html => {
            let in_full = args.method.is_some() || schema.is_some();
            report(&subject, (&campaign, search), &rows, in_full, output)
        }
    };
    Ok(Answer::new(text, finding))
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
fn within(
    campaign: Campaign,
    subject: &Subject,
    args: &ObjectArgs,
    search: &SearchArgs,
) -> Result<Campaign, Failure> {
    let campaign = match args.programs {
        None => campaign,
        Some(programs) => campaign.of_at_most(programs.get()),
    };
    let bound = args.limit.map_or(campaign.bound, usize::from);
    Ok(Campaign { engine: subject.engine(search)?, bound, time: search.time, ..campaign })
}

/// What a line of the report is about.
struct Row {
    label: String,
    searched: Searched,
    /// The command that replays the finding, where there is a replay file.
    replay: Option<String>,
    /// When the time of the method is over, including the time of its report.
    deadline: Deadline,
}

impl Row {
    fn found(&self) -> Option<&Found> {
        self.searched.found()
    }

    /// The schema on which the object and its model disagree.
    fn disagreement(&self) -> Option<&(Schema, Refusal)> {
        subject::disagreement(&self.searched.hunted.skipped)
    }

    fn verdict(&self) -> &'static str {
        match self.found() {
            Some(_) if self.searched.of_core => "core methods not atomic",
            Some(found) => found.what.kind(),
            None if self.disagreement().is_some() => "differs from its model",
            None if self.searched.hunted.schemas == self.searched.hunted.skipped.len() as u64 => "not judged",
            None => "no violation found",
        }
    }
}

fn row(subject: &Subject, campaign: &Campaign, method: MethodId, watcher: &mut Watcher) -> Row {
    let label = subject.object.label(method);
    let deadline = Deadline::of(campaign.time);
    let searched = campaign.method(method, &mut |progress| {
        watcher.search(&label, progress);
        Next::Continue
    });
    watcher.done(searched.hunted.schemas, searched.hunted.executions);
    Row { label, searched, replay: None, deadline }
}

/// Runs one schema for as long as a method would be searched.
fn one_schema(subject: &Subject, campaign: &Campaign, schema: &str) -> Result<Row, Failure> {
    let schema = Schema::parse(schema).and_then(|schema| subject.object.program(&schema).map(|_| schema));
    let schema = schema.map_err(Failure::Schema)?;
    let hunt = Hunt {
        engine: campaign.engine.clone(),
        visibility: campaign.visibility.clone(),
        source: Source::Given(vec![schema]),
        bound: campaign.bound,
        time: campaign.time,
        ..Hunt::new(&subject.object, Pool::Together(vec![]), campaign.seed)
    };
    let deadline = Deadline::of(campaign.time);
    let hunted = hunt.run(&mut |_| Next::Continue);
    if let [(schema, refusal)] = &hunted.skipped[..]
        && !matches!(refusal, Refusal::Disagreement(_))
    {
        return Err(Failure::Request(subject::reason(refusal, schema)));
    }
    let smallest = hunted.found().cloned().map(|found| interloper::objects::hunt::Minimised {
        found,
        attempts: 0,
        complete: false,
    });
    let reproduced = smallest
        .as_ref()
        .filter(|_| subject.engine == EngineArg::Stress)
        .map(|minimised| campaign.reproduce(&minimised.found));
    let searched = Searched { method: MethodId(0), hunted, smallest, of_core: false, blamed: BTreeSet::new(), reproduced };
    Ok(Row { label: "schema".to_owned(), searched, replay: None, deadline })
}

fn report(
    subject: &Subject,
    (campaign, search): (&Campaign, &SearchArgs),
    rows: &[Row],
    in_full: bool,
    output: &OutputArgs,
) -> String {
    let style = output::style(output.color);
    let (name, about, core) = (subject.studied.name, subject.studied.about, subject.core().join(", "));
    let mut text = format!("{name}: {about}\ncore methods: {core}\n");
    if let Some(strategy) = Subject::strategy(&campaign.engine, search) {
        text += &format!("strategy: {strategy}\n");
    }
    text.push('\n');
    // An error on one thread comes before every other result.
    for row in rows {
        if let Some((schema, refusal)) = row.disagreement() {
            text += &format!("✗ {}: {}\n", row.label, subject::reason(refusal, schema));
        }
    }
    if let Some(row) = rows.iter().find(|row| row.searched.of_core) {
        let schema = row.found().map(|found| found.schema.to_string()).unwrap_or_default();
        text += &format!(
            "✗ core methods are not atomic: {schema} calls only core methods. Fix them first: until then, {} cannot \
             be judged.\n\n",
            row.label
        );
    }
    let mut table = Table::new([
        ("method", Align::Left),
        ("verdict", Align::Left),
        ("harness", Align::Left),
        ("outcome", Align::Left),
        ("schemas", Align::Right),
        ("executions", Align::Right),
    ]);
    for row in rows {
        let mark = match row.verdict() {
            "no violation found" => '✓',
            "not judged" => '–',
            _ => '✗',
        };
        let (harness, outcome) = row.found().map(|found| (found.schema.to_string(), shown(found))).unwrap_or_default();
        let hunted = &row.searched.hunted;
        let counts = [grouped(hunted.schemas), grouped(hunted.executions)];
        let words = [format!("{mark} {}", row.label), row.verdict().to_owned(), harness, outcome];
        table.row(words.into_iter().chain(counts));
    }
    text += &output::paint_marks(&table.to_string(), style);
    for row in rows {
        let skipped = &row.searched.hunted.skipped;
        if let Some((schema, refusal)) = skipped.first().filter(|_| row.disagreement().is_none()) {
            let (skipped, reason) = (plural(skipped.len() as u64, "schema"), subject::reason(refusal, schema));
            text += &format!("\n{}: {skipped} not judged; the first, {schema}: {reason}\n", row.label);
        }
        text += &limits(subject, row, search, output);
        match row.found() {
            Some(found) if in_full => text += &details(subject, campaign, row, found, output),
            _ => {}
        }
    }
    text + &covered(rows)
}

/// What the executions have covered, all together, where the scheduler ran them.
fn covered(rows: &[Row]) -> String {
    let of = |count: fn(&Coverage) -> u64| rows.iter().map(|row| count(&row.searched.hunted.coverage)).sum::<u64>();
    let (traces, steps) = (of(|coverage| coverage.traces), of(|coverage| coverage.steps));
    if steps == 0 {
        return String::new();
    }
    let more = if rows.iter().any(|row| row.searched.hunted.coverage.more_traces) { "more than " } else { "" };
    let unseen = rows.iter().filter_map(|row| row.searched.hunted.coverage.unseen).reduce(Unseen::and);
    let unseen = unseen.map_or_else(String::new, |unseen| format!("; {}", unseen.text("trace")));
    format!("\n{more}{} of the schemas, {}{unseen}\n", plural(traces, "trace"), plural(steps, "step"))
}

/// What kept a search from going on: the time, and executions that were cut, of which the first is shown.
fn limits(subject: &Subject, row: &Row, search: &SearchArgs, output: &OutputArgs) -> String {
    let hunted = &row.searched.hunted;
    let mut text = String::new();
    if hunted.end == Ended::OutOfTime {
        text += &format!("\n{}: the time ran out before all schemas were tried\n", row.label);
    }
    if row.searched.smallest.as_ref().is_some_and(|minimised| !minimised.complete && minimised.attempts > 0) {
        text += &format!("\n{}: the time ran out before the schema was fully minimised\n", row.label);
    }
    if let Some(cut) = &hunted.coverage.first_cut {
        let mut shown = explain_cut(&subject.object, &row.label, &cut.0, &cut.1);
        let (name, schema, strategy) = (subject.studied.name, &cut.0, strategy::typed(search));
        shown.replay = Some(format!("interloper hunt {name} --schema '{schema}' --engine systematic{strategy}"));
        let executions = plural(hunted.coverage.cut, "execution");
        let rendered = render(&shown, output::style(output.color));
        text += &format!("\n{}: {executions} ended without an outcome; the first:\n\n{rendered}", row.label);
    }
    text
}

/// What went wrong, in a few words.
fn shown(found: &Found) -> String {
    match &found.what {
        What::Outcome { outcome, .. } => text(outcome),
        What::Blocked(_) => "never returns".to_owned(),
        What::Panicked(message) => format!("panicked: {message}"),
    }
}

/// What services read of a method.
fn judged(subject: &Subject, (campaign, search): (&Campaign, &SearchArgs), row: &Row, output: &OutputArgs) -> Judged {
    let shown = row.searched.traced().or(row.found());
    let counterexample = shown.map(|shown| counterexample(subject, campaign, row, shown));
    let name = format!("{}.{}", subject.studied.name, row.label);
    let message = format!("{name}: {}", row.verdict());
    let result = match (&counterexample, row.disagreement()) {
        (Some(counterexample), _) => {
            let report = render(counterexample, interloper_report::text::Style::default());
            Outcome::Failed { message, report }
        }
        (None, Some((schema, refusal))) => {
            Outcome::Failed { message, report: format!("{}\n", subject::reason(refusal, schema)) }
        }
        (None, None) if row.verdict() == "not judged" => Outcome::Unjudged { reason: message },
        (None, None) => Outcome::Passed,
    };
    let hunted = &row.searched.hunted;
    let covered = format!("{}, {}", plural(hunted.schemas, "schema"), plural(hunted.executions, "execution"));
    let limits = limits(subject, row, search, output);
    Judged { suite: "objects", name, result, output: covered + &limits, counterexample }
}

/// What the page of the first violation shows, if there is one.
fn exploration(subject: &Subject, campaign: &Campaign, rows: &[Row]) -> Option<Exploration> {
    let (row, shown) = rows.iter().find_map(|row| Some((row, row.searched.traced().or(row.found())?)))?;
    let counterexample = counterexample(subject, campaign, row, shown);
    Some(explored(&subject.object, shown, &counterexample).with_sources())
}

/// An execution that shows a violation, with the command that shows it again.
fn counterexample(subject: &Subject, campaign: &Campaign, row: &Row, shown: &Found) -> Counterexample {
    let counterexample = explain_until(&subject.object, &row.label, &campaign.visibility, shown, row.deadline);
    let again = || {
        let (name, schema) = (subject.studied.name, &shown.schema);
        format!("interloper hunt {name} --schema '{schema}' --engine stress --seed {}", campaign.seed)
    };
    let replay = Some(row.replay.clone().unwrap_or_else(again));
    Counterexample { replay, ..counterexample }
}

/// The outcomes with their counts, and an execution that shows the wrong one.
fn details(subject: &Subject, campaign: &Campaign, row: &Row, found: &Found, output: &OutputArgs) -> String {
    let mut table = Table::new([("outcome", Align::Left), ("atomic", Align::Left), ("count", Align::Right)]);
    for frequency in &found.frequencies {
        let mark = if frequency.right { "✓" } else { "✗" };
        table.row([text(&frequency.outcome), mark.to_owned(), grouped(frequency.count)]);
    }
    let shown = row.searched.traced().unwrap_or(found);
    let counterexample = counterexample(subject, campaign, row, shown);
    let note = match &row.searched.reproduced {
        Some(Reproduced::Missed { executions, complete: true }) => {
            format!("\nThe scheduler ran all {} interleavings and did not show this outcome.\n", grouped(*executions))
        }
        Some(Reproduced::Missed { executions, complete: false }) => {
            format!("\nThe scheduler did not show this outcome in {}.\n", plural(*executions, "execution"))
        }
        _ => String::new(),
    };
    format!("\n{}\n\n{table}\n{}{note}", found.schema, render(&counterexample, output::style(output.color)))
}

fn document(subject: &Subject, search: &SearchArgs, campaign: &Campaign, rows: &[Row]) -> serde_json::Value {
    let methods: Vec<serde_json::Value> = rows.iter().map(|row| method(subject, campaign, row)).collect();
    json!({
        "version": JSON_VERSION,
        "object": subject.studied.name,
        "engine": subject.engine_name(),
        "strategy": Subject::strategy(&campaign.engine, search),
        "seed": search.seed(),
        "core": subject.core(),
        "methods": methods,
    })
}

fn method(subject: &Subject, campaign: &Campaign, row: &Row) -> serde_json::Value {
    let hunted = &row.searched.hunted;
    let skipped = |(schema, refusal): &(Schema, Refusal)| json!({ "schema": schema.to_string(), "reason": subject::reason(refusal, schema) });
    let mut document = json!({
        "method": row.label,
        "verdict": row.verdict(),
        "schemas": hunted.schemas,
        "executions": hunted.executions,
        "steps": hunted.coverage.steps,
        "traces": hunted.coverage.traces,
        "more_traces": hunted.coverage.more_traces,
        "cut": hunted.coverage.cut,
        "out_of_time": hunted.end == Ended::OutOfTime,
        "exhausted": hunted.end == Ended::NoMore,
        "skipped": hunted.skipped.iter().map(skipped).collect::<Vec<_>>(),
    });
    if let Some(unseen) = hunted.coverage.unseen {
        document["unseen"] = serde_json::to_value(UnseenTraces::from(unseen)).expect("numbers");
    }
    if let Some(cut) = &hunted.coverage.first_cut {
        let rendered = interloper_report::json::render(&explain_cut(&subject.object, &row.label, &cut.0, &cut.1));
        document["first_cut"] = serde_json::from_str(&rendered).expect("a rendering is JSON");
    }
    if let Some(found) = row.found() {
        document["violation"] = violation(found);
        document["replay"] = row.replay.as_deref().into();
        let traced = row.searched.traced();
        if let Some(traced) = traced {
            let counterexample = explain_until(&subject.object, &row.label, &campaign.visibility, traced, row.deadline);
            let text = interloper_report::json::render(&counterexample);
            document["trace"] = serde_json::from_str(&text).expect("a rendering is JSON");
        }
    }
    document
}

/// A finding as JSON.
pub fn violation(found: &Found) -> serde_json::Value {
    let frequency = |frequency: &interloper::objects::hunt::Frequency| {
        json!({
            "outcome": subject::outcome(&frequency.outcome),
            "right": frequency.right,
            "count": frequency.count,
        })
    };
    let mut document = json!({
        "schema": found.schema.to_string(),
        "kind": found.what.kind(),
        "frequencies": found.frequencies.iter().map(frequency).collect::<Vec<_>>(),
    });
    match &found.what {
        What::Outcome { outcome, admitted } => {
            document["outcome"] = subject::outcome(outcome);
            let admitted: Vec<_> = admitted.iter().map(|outcome| subject::outcome(outcome)).collect();
            document["admitted"] = admitted.into();
        }
        What::Blocked(_) => {}
        What::Panicked(message) => document["message"] = message.as_str().into(),
    }
    document
}
