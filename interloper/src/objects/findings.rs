//! What a search of the methods of an object has found, as a report and as data.

mod covered;
mod faulty;
mod together;

use std::collections::BTreeSet;

use interloper_commutativity::Value;
use interloper_harness::explain::{explain_cut, explain_until, explored};
use interloper_harness::faults::{in_full, lines};
use interloper_harness::generated::text;
use interloper_harness::hunt::{
    Campaign, Ended, Engine, Faulty, Found, Frequency, HASHER_SEEDS, Progress, Reproduced, Searched, Together, Visits,
    What,
};
use interloper_harness::judge::Refusal;
use interloper_harness::stress::Next;
use interloper_harness::{MethodId, Object, Role};
use interloper_linearize::program::TooLarge;
use interloper_linearize::schema::Schema;
use interloper_report::explorer::Exploration;
use interloper_report::shorten::{grouped, in_crate, plural, with_places, words_with_places};
use interloper_report::table::{Align, Table};
use interloper_report::text::{Style, paint_marks, render};
use interloper_report::{Counterexample, json};
use interloper_scheduler::{Deadline, Unseen};
use serde_json::{Value as Json, json};

/// What came of searching methods of an object.
pub struct Findings {
    /// The object and how it was searched.
    pub campaign: Campaign,
    /// What the object is, in a few words.
    pub about: Option<String>,
    /// How schedules were chosen, in a few words; `None` on real threads.
    pub strategy: Option<String>,
    /// What executions see of memory, in a few words.
    pub memory: Option<String>,
    /// One for each method, or for a schema; then those of pairs of methods.
    pub rows: Vec<Row>,
    /// What came of pairs of methods, if all methods were searched.
    pub together: Option<Together>,
}

/// What came of one search.
pub struct Row {
    /// The name of what was searched.
    pub label: String,
    /// What was searched.
    pub of: Of,
    /// What was found.
    pub searched: Searched,
    /// The command that replays the finding.
    pub replay: Option<String>,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A method.
    Method,
    /// A schema that somebody asked for.
    Schema,
    /// A pair of methods with a finding.
    Pair,
    /// All pairs of methods without a finding.
    Pairs,
}

impl Findings {
    /// The rows of a campaign, of which nothing else is said.
    pub fn of(campaign: Campaign, rows: Vec<Row>) -> Findings {
        let rows = faulty::with_own_rows(&campaign, rows);
        Findings { campaign, about: None, strategy: None, memory: None, rows, together: None }
    }

    /// Searches methods one after the other. Findings have no command that replays them yet.
    pub fn search(campaign: Campaign, methods: &[MethodId]) -> Findings {
        Findings::search_after(campaign, methods, &mut Visits::default(), &mut |_, _| Next::Continue)
    }

    /// The same, without the visits that were made before. `watch` is told of each method's progress.
    pub fn search_after(
        campaign: Campaign,
        methods: &[MethodId],
        visits: &mut Visits,
        watch: &mut dyn FnMut(MethodId, &Progress<'_>) -> Next,
    ) -> Findings {
        let row = |&method: &MethodId| {
            let searched = campaign.method_apart(method, visits, &mut |progress| watch(method, progress));
            Row { label: campaign.object.label(method), of: Of::Method, searched, replay: None }
        };
        let rows = methods.iter().map(row).collect();
        Findings::of(campaign, rows)
    }

    /// Whether something is wrong: a violation, or an object that differs from its model on one thread, or crashes there.
    pub fn is_wrong(&self) -> bool {
        let is_wrong = |row: &Row| row.found().is_some() || row.disagreement().is_some() || row.crash().is_some();
        self.rows.iter().any(is_wrong)
    }

    /// Whether no program of any method was judged.
    pub fn is_trivial(&self) -> bool {
        self.rows.iter().all(|row| row.verdict() == "not judged")
    }

    /// Whether the scheduler saw a step of a call, or there was no scheduler, or something was found all the same: a data race between
    /// calls without steps.
    pub fn is_seen(&self) -> bool {
        let coverage = || self.rows.iter().map(|row| &row.searched.hunted.coverage);
        self.strategy.is_none()
            || self.is_wrong()
            || coverage().all(|coverage| coverage.steps == 0 || coverage.instrumented)
    }

    /// What the pages of the violations show, one of each method.
    pub fn pages(&self) -> impl Iterator<Item = Exploration> {
        let found = self.rows.iter().filter_map(|row| Some((row, row.searched.traced().or(row.found())?)));
        found.map(|(row, shown)| {
            let counterexample = self.counterexample(row, shown);
            let Campaign { object, visibility, seed, .. } = &self.campaign;
            explored(object, visibility, shown, &counterexample, *seed).with_sources()
        })
    }

    /// The report: a table, and of each finding the outcomes and an execution, if it is to be in full. `cut` gives the command
    /// that shows the execution of a schema that was cut short.
    pub fn text(&self, in_full: bool, style: Style, cut: &dyn Fn(&Schema) -> Option<String>) -> String {
        let name = self.object().name();
        let about = self.about.as_ref().map(|about| format!(": {about}")).unwrap_or_default();
        let core = match &self.labels(Role::Core)[..] {
            [] => "none, so each method is tried with all others".to_owned(),
            core => core.join(", "),
        };
        let mut text = format!("{name}{about}\ncore methods: {core}\n");
        if let Some(strategy) = &self.strategy {
            text += &format!("strategy: {strategy}\n");
        }
        if let Some(memory) = &self.memory {
            text += &format!("memory: {memory}\n");
        }
        text.push('\n');
        // An error on one thread comes before every other result.
        for row in &self.rows {
            if let Some((schema, refusal)) = row.disagreement().or_else(|| row.crash()) {
                text += &format!("✗ {}: {}\n", row.label, reason(refusal, schema));
            }
        }
        if !self.is_seen() {
            text += "✗ nothing was explored: no call made a step that the scheduler sees, so whole calls took turns; perhaps the \
                     crate of the object is not under control\n\n";
        }
        text += &self.blame();
        text += &self.not_atomic_together();
        text += &paint_marks(&self.table().to_string(), style);
        for row in &self.rows {
            let skipped = &row.searched.hunted.skipped;
            if let Some((schema, refusal)) = skipped.first().filter(|_| row.disagreement().is_none()) {
                let (skipped, reason) = (plural(skipped.len() as u64, "schema"), reason(refusal, schema));
                text += &format!("\n{}: {skipped} not judged; the first, {schema}: {reason}\n", row.label);
            }
            text += &self.limits(row, style, cut);
            match row.found() {
                Some(found) if in_full => text += &self.details(row, found, style),
                _ => {}
            }
        }
        text + &self.covered()
    }

    /// What core methods are to blame for.
    fn blame(&self) -> String {
        let Some(row) = self.rows.iter().find(|row| row.searched.of_core) else {
            return self.says_left_out() + &self.misplaced_trust();
        };
        let schema = row.found().map(|found| found.schema.to_string()).unwrap_or_default();
        let blamed: Vec<String> = row.searched.blamed.iter().map(|&method| self.object().label(method)).collect();
        let blamed = if blamed.is_empty() { "core methods".to_owned() } else { listed(&blamed) };
        let (label, kind) = (&row.label, if self.labels(Role::Core).is_empty() { "other" } else { "core" });
        let why = match row.searched.interrupted.is_empty() {
            true => format!("{schema} calls only {blamed}"),
            false => format!("{schema} is wrong although only calls of {blamed} are interrupted"),
        };
        let unjudged = format!(
            "✗ {kind} methods are not atomic: {why}. Fix them first: until then, {label} cannot be judged.\n\n"
        );
        unjudged + &self.says_left_out()
    }

    fn table(&self) -> Table {
        let mut table = Table::new([
            ("method", Align::Left),
            ("verdict", Align::Left),
            ("harness", Align::Left),
            ("outcome", Align::Left),
            ("schemas", Align::Right),
            ("executions", Align::Right),
        ]);
        for row in &self.rows {
            let mark = match row.verdict() {
                "no violation found" => '✓',
                "not judged" => '–',
                _ => '✗',
            };
            let found = row.found().map(|found| (found.schema.to_string(), shown(found)));
            let (harness, outcome) = found.unwrap_or_default();
            let hunted = &row.searched.hunted;
            let counts = [grouped(hunted.schemas), grouped(hunted.executions)];
            let verdict = match row.verdict() {
                CORE_WRONG if self.labels(Role::Core).is_empty() => "other methods not atomic",
                verdict => verdict,
            };
            let words = [format!("{mark} {}", row.label), verdict.to_owned(), harness, outcome];
            table.row(words.into_iter().chain(counts));
        }
        table
    }

    /// Why no schema of a method ran, unless the time was over.
    fn without_schemas(&self, row: &Row) -> Option<String> {
        let Searched { method, hunted, .. } = &row.searched;
        if row.of != Of::Method || hunted.schemas > 0 || hunted.end == Ended::OutOfTime {
            return None;
        }
        let (object, label) = (self.object(), &row.label);
        let reads = |method: &MethodId| object.method(*method).reads;
        Some(match reads(method) && object.beside().iter().all(reads) {
            true => format!("no schema of {label} can fail: neither {label} nor a method beside it changes the object"),
            false => format!(
                "no schema of {label} can fail: no call runs beside it that it could disturb, or that could disturb it"
            ),
        })
    }

    /// What kept a search from going on: the time, and executions that were cut, of which the first is shown.
    pub fn limits(&self, row: &Row, style: Style, cut: &dyn Fn(&Schema) -> Option<String>) -> String {
        let hunted = &row.searched.hunted;
        let mut text = self.without_schemas(row).map_or_else(String::new, |reason| format!("\n{reason}\n"));
        if hunted.end == Ended::OutOfTime {
            text += &format!("\n{}: the time ran out before all schemas were tried\n", row.label);
        }
        if row.searched.smallest.as_ref().is_some_and(|minimised| !minimised.complete && minimised.attempts > 0) {
            text += &format!("\n{}: the time ran out before the schema was fully minimised\n", row.label);
        }
        if let Some(first) = &hunted.coverage.first_cut {
            let mut shown = explain_cut(self.object(), &row.label, &first.0, &first.1);
            shown.replay = cut(&first.0);
            let executions = plural(hunted.coverage.cut, "execution");
            let rendered = render(&shown, style);
            text += &format!("\n{}: {executions} ended without an outcome; the first:\n\n{rendered}", row.label);
        }
        text
    }

    /// An execution that shows a violation.
    pub fn counterexample(&self, row: &Row, shown: &Found) -> Counterexample {
        let visibility = &self.campaign.visibility;
        // The time of the searches is over. For the orders of six calls, this is plenty.
        let deadline = Deadline::of(self.campaign.time.map(|time| time / 4));
        let counterexample = explain_until(self.object(), &self.to_blame(row), visibility, shown, deadline);
        with_places(Counterexample { replay: row.replay.clone(), ..counterexample }, in_crate)
    }

    /// The method that a finding is about, or the methods that show it without the method of the row.
    fn to_blame(&self, row: &Row) -> String {
        let blamed = row.searched.blamed.iter().map(|&method| self.object().label(method));
        let blamed: Vec<String> = blamed.filter(|_| row.searched.of_core).collect();
        if blamed.is_empty() { row.label.clone() } else { blamed.join(" + ") }
    }

    /// The outcomes with their counts, and an execution that shows the wrong one.
    fn details(&self, row: &Row, found: &Found, style: Style) -> String {
        let outcomes = match &found.frequencies[..] {
            [] => String::new(),
            frequencies => format!("{}\n", outcomes(frequencies)),
        };
        let counterexample = self.counterexample(row, row.searched.traced().unwrap_or(found));
        let note = match &row.searched.reproduced {
            Some(Reproduced::Missed { executions, complete: true }) => {
                format!(
                    "\nThe scheduler ran all {} interleavings and did not show this outcome.\n",
                    grouped(*executions)
                )
            }
            Some(Reproduced::Missed { executions, complete: false }) => {
                format!("\nThe scheduler did not show this outcome in {}.\n", plural(*executions, "execution"))
            }
            _ => String::new(),
        };
        let interrupted = self.interrupted(row).map_or_else(String::new, |said| format!("{said}\n"));
        format!("\n{}\n{interrupted}\n{outcomes}{}{note}", found.schema, render(&counterexample, style))
    }

    /// Which methods have to be interrupted for the finding of a row, if that is known.
    fn interrupted(&self, row: &Row) -> Option<String> {
        let names = |set: &BTreeSet<MethodId>| {
            listed(&set.iter().map(|&method| self.object().label(method)).collect::<Vec<_>>())
        };
        let (first, others) = row.searched.interrupted.split_first()?;
        let mut said = format!("Only calls of {} are interrupted: every other call runs as one step.", names(first));
        for other in others {
            said += &format!(" The schema is wrong, too, if only calls of {} are.", names(other));
        }
        Some(said)
    }

    /// The methods as data.
    pub fn methods(&self) -> Vec<Json> {
        self.rows.iter().map(|row| self.method(row)).collect()
    }

    fn method(&self, row: &Row) -> Json {
        let hunted = &row.searched.hunted;
        let skipped = |(schema, refusal): &(Schema, Refusal)| json!({ "schema": schema.to_string(), "reason": reason(refusal, schema) });
        let mut document = json!({
            "method": row.label,
            "verdict": row.verdict(),
            "schemas": hunted.schemas,
            "executions": hunted.executions,
            "steps": hunted.coverage.steps,
            "plain_accesses": hunted.coverage.plain,
            "traces": hunted.coverage.traces,
            "more_traces": hunted.coverage.more_traces,
            "complete": hunted.coverage.complete,
            "cut": hunted.coverage.cut,
            "out_of_time": hunted.end == Ended::OutOfTime,
            "exhausted": hunted.end == Ended::NoMore,
            "skipped": hunted.skipped.iter().map(skipped).collect::<Vec<_>>(),
        });
        if hunted.coverage.plain_steps > 0 {
            document["plain_steps"] = hunted.coverage.plain_steps.into();
        }
        if hunted.coverage.hashed {
            document["hasher_seeds"] = self.hasher_seeds().into();
            document["hasher_executions"] = hunted.coverage.compared.into();
        }
        if hunted.coverage.as_seq_cst > 0 {
            document["as_seq_cst"] = hunted.coverage.as_seq_cst.into();
        }
        if let Some(unseen) = hunted.coverage.unseen {
            let Unseen { executions, once } = unseen;
            let probability = unseen.probability();
            document["unseen"] = json!({ "executions": executions, "once": once, "probability": probability });
        }
        if let Some(cut) = &hunted.coverage.first_cut {
            document["first_cut"] = parsed(&explain_cut(self.object(), &row.label, &cut.0, &cut.1));
        }
        if !row.searched.left_out.is_empty() {
            let labels = |faulty: &Faulty| faulty.methods.iter().map(|&method| self.object().label(method)).collect();
            document["left_out"] = row.searched.left_out.iter().map(labels).collect::<Vec<Vec<String>>>().into();
        }
        if let Some(found) = row.found() {
            document["violation"] = violation(found);
            document["replay"] = row.replay.as_deref().into();
            let blamed = row.searched.blamed.iter().map(|&method| self.object().label(method));
            document["blamed"] = blamed.collect();
            let labels = |set: &BTreeSet<MethodId>| set.iter().map(|&method| self.object().label(method)).collect();
            document["interrupted"] = row.searched.interrupted.iter().map(labels).collect::<Vec<Vec<String>>>().into();
            if let Some(traced) = row.searched.traced() {
                let counterexample = self.counterexample(row, traced);
                let place =
                    |row: &interloper_report::Row| json!({ "place": row.location, "what": row.event.to_string() });
                document["places"] = counterexample.culprits().into_iter().map(place).collect();
                document["trace"] = parsed(&counterexample);
            }
        }
        document
    }

    /// With how many seeds of hashers a schema runs, if it has hashers.
    fn hasher_seeds(&self) -> u64 {
        if self.campaign.passes.is_empty() { 1 } else { HASHER_SEEDS }
    }

    fn object(&self) -> &Object {
        &self.campaign.object
    }

    /// The names of the methods with a role.
    pub fn labels(&self, role: Role) -> Vec<String> {
        self.object().with_role(role).map(|method| self.object().label(method)).collect()
    }
}

/// The verdict on a method if others show a violation without it.
const CORE_WRONG: &str = "core methods not atomic";
/// The verdict of a search that found nothing.
const CLEAN: &str = "no violation found";

impl Row {
    /// The smallest finding.
    pub fn found(&self) -> Option<&Found> {
        self.searched.found()
    }

    /// The schema on which the object and its model disagree.
    pub fn disagreement(&self) -> Option<&(Schema, Refusal)> {
        disagreement(&self.searched.hunted.skipped)
    }

    /// The first schema with calls that crash on one thread.
    pub fn crash(&self) -> Option<&(Schema, Refusal)> {
        self.searched.hunted.skipped.iter().find(|(_, refusal)| refusal.is_crash())
    }

    /// The verdict in a few words.
    pub fn verdict(&self) -> &'static str {
        match self.found() {
            Some(_) if self.searched.of_core => CORE_WRONG,
            Some(Found { what: What::Outcome { .. }, .. }) if self.of == Of::Pair => "not atomic together",
            Some(found) => found.what.kind(),
            None if self.disagreement().is_some() => "differs from its model",
            None if self.crash().is_some() => "crashes on one thread",
            None if self.searched.hunted.schemas == self.searched.hunted.skipped.len() as u64 => "not judged",
            None => CLEAN,
        }
    }
}

/// The schedules of the passes of a campaign, in a few words.
pub fn schedules(campaign: &Campaign) -> String {
    let mut all: Vec<String> = campaign.passes.iter().map(|pass| pass.settings.schedule.to_string()).collect();
    all.dedup();
    match &campaign.engine {
        Engine::Systematic(settings) if all.is_empty() => settings.schedule.to_string(),
        _ => all.join(", then "),
    }
}

/// The first of the skipped schemas on which an object and its model disagree.
pub fn disagreement(skipped: &[(Schema, Refusal)]) -> Option<&(Schema, Refusal)> {
    skipped.iter().find(|(_, refusal)| matches!(refusal, Refusal::Disagreement(_)))
}

/// Why a schema was not judged, and what to do about it.
pub fn reason(refusal: &Refusal, schema: &Schema) -> String {
    let text = refusal.text(schema);
    match refusal {
        Refusal::TooLarge(TooLarge::Configurations(_) | TooLarge::Choices(_)) => {
            format!("{text}; --limit sets the bound")
        }
        Refusal::Disagreement(_) => {
            format!("{text}; fix the object or the model: until then, nothing else is searched here")
        }
        _ => text,
    }
}

/// Names in a sentence.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// How often each outcome occurred.
fn outcomes(frequencies: &[Frequency]) -> Table {
    let mut table = Table::new([("outcome", Align::Left), ("atomic", Align::Left), ("count", Align::Right)]);
    for frequency in frequencies {
        let mark = if frequency.right { "✓" } else { "✗" };
        table.row([text(&frequency.outcome), mark.to_owned(), grouped(frequency.count)]);
    }
    table
}

/// What went wrong, in a few words.
pub fn shown(found: &Found) -> String {
    match &found.what {
        What::Outcome { outcome, .. } => text(outcome),
        What::Blocked(_) => "never returns".to_owned(),
        What::Panicked(message) => format!("panicked: {message}"),
        What::Memory(fault) => lines(fault).join(", "),
    }
}

/// A finding as data.
pub fn violation(found: &Found) -> Json {
    let frequency = |frequency: &Frequency| {
        json!({
            "outcome": outcome(&frequency.outcome),
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
        What::Outcome { outcome: wrong, admitted } => {
            document["outcome"] = outcome(wrong);
            document["admitted"] = admitted.iter().map(|right| outcome(right)).collect();
        }
        What::Blocked(_) => {}
        What::Panicked(message) => document["message"] = message.as_str().into(),
        What::Memory(fault) => document["message"] = words_with_places(&in_full(fault), in_crate).into(),
    }
    document
}

/// An outcome as data.
pub fn outcome(results: &[Value]) -> Json {
    results.iter().map(value).collect()
}

/// A value as data: null for `none`, `"()"` for a method without a result, `{"error": "…"}` for an exception, `[k, v]` for an
/// entry of a map, an array for a list or a set, in iteration order.
pub fn value(result: &Value) -> Json {
    match result {
        Value::None => Json::Null,
        Value::Unit => Json::from("()"),
        Value::Bool(flag) => Json::from(*flag),
        Value::Int(number) => Json::from(*number),
        Value::Text(text) => Json::from(&**text),
        Value::Tuple(items) | Value::List(items) => items.iter().map(value).collect(),
        Value::Set(items) => items.iter().map(value).collect(),
        Value::Map(entries) => {
            entries.iter().map(|(key, content)| Json::from(vec![value(key), value(content)])).collect()
        }
        Value::Variant(variant) if &*variant.name == "error" => match variant.fields.as_slice() {
            [Value::Text(reason)] => json!({ "error": &**reason }),
            _ => Json::from(result.to_string()),
        },
        Value::Wide(_) | Value::Some(_) | Value::Variant(_) => Json::from(result.to_string()),
    }
}

fn parsed(counterexample: &Counterexample) -> Json {
    serde_json::from_str(&json::render(counterexample)).expect("a rendering is JSON")
}
