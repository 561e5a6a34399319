//! The methods of each type, two at once: the test that judges them, what came of it, and how it is shown.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;

use interloper::recorded;
use interloper::report::junit;
use interloper::report::plain;
use interloper::report::replay_file::ReplayFile;
use interloper::report::sarif::{Finding, Level, Place};
use interloper::report::table::{Align, Table};
use interloper::{Pair, PairVerdict, PairsReport, operations};
use interloper_composed::{Found, Together};
use serde::{Deserialize, Serialize};

use super::harness::indented;
use super::running::Outcome;
use super::shown::counted;

/// The rule of findings about pairs.
pub const NOT_ATOMIC: &str = "methods-not-atomic-together";

/// So many pairs are named that a limit has ended.
const NAMED: usize = 4;

/// What came of a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The report, or why the pair has no report.
    pub report: Result<PairsReport, String>,
    /// The methods whose calls the compiler rejects, each with what it says first.
    pub rejected: Vec<(String, String)>,
    /// The replay files of the pairs that are not atomic; first that of the violation that was found first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub files: Vec<ReplayFile>,
}

impl Told {
    /// The pairs that are not atomic.
    pub fn violations(&self) -> impl Iterator<Item = &Pair> {
        self.report.iter().flat_map(|report| &report.pairs).filter(|pair| pair.is_violation())
    }

    /// What a test printed of its type.
    pub fn of(out: &str, rejected: Vec<(String, String)>) -> Option<Told> {
        let (_, text) = out.split_once(operations::PAIRS)?;
        let (text, _) = text.split_once(operations::END)?;
        let report = match text.strip_prefix(operations::MISUSE) {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(serde_json::from_str(text).ok()?),
        };
        Some(Told { report, rejected, files: recorded::files(out) })
    }
}

/// The lines of each method of a type, in a file with what follows.
pub struct Lines {
    /// The number of the type.
    pub number: usize,
    file: PathBuf,
    methods: Vec<(Range<usize>, String)>,
}

impl Lines {
    /// The method that a place belongs to.
    pub fn method(&self, file: &str, line: usize) -> Option<&str> {
        let (_, name) = self.methods.iter().find(|(lines, _)| self.file.ends_with(file) && lines.contains(&line))?;
        Some(name)
    }
}

/// Adds the test of a type to the text that follows `above` lines of a file.
pub fn write(
    text: &mut String,
    above: usize,
    (number, one): (usize, &Together),
    items: &mut BTreeSet<String>,
) -> Lines {
    let (ty, item) = &one.subject;
    if items.insert(ty.clone()) {
        indented(text, item);
    }
    let _ = write!(
        text,
        "    #[test]\n    fn pairs_{number}() {{\n        let pairs = {}\n            .settings(limits);\n",
        one.make
    );
    let mut methods = Vec::new();
    let all = one.methods.iter().map(|method| (&method.name, &method.calls[..]));
    let all = all.chain(one.invariants.iter().map(|(name, code)| (name, std::slice::from_ref(code))));
    for (name, calls) in all {
        let begin = above + text.lines().count() + 1;
        for call in calls {
            let _ = writeln!(text, "        let pairs = pairs{call};");
        }
        methods.push((begin..above + text.lines().count() + 1, name.clone()));
    }
    text.push_str("        interloper::operations::judge_pairs(&pairs);\n    }\n");
    Lines { number, file: one.file.clone(), methods }
}

/// Takes the methods of these names out of a type.
pub fn without(one: &mut Together, names: &BTreeSet<String>) {
    one.methods.retain(|method| !names.contains(&method.name));
    one.invariants.retain(|(name, _)| !names.contains(name));
}

/// The types with what came of them. They are numbered after the operations.
fn told<'a>(found: &'a Found, outcomes: &'a [Outcome]) -> impl Iterator<Item = (&'a Together, &'a Told)> {
    let after = outcomes.get(found.operations.len()..).unwrap_or_default();
    found.together.iter().zip(after).filter_map(|(one, outcome)| match outcome {
        Outcome::Pairs(told) => Some((one, told)),
        _ => None,
    })
}

/// The method that is at fault by itself: it is the only one that is interrupted, and its own report says that the methods of its
/// type can do it.
fn by_itself<'a>(pair: &'a Pair, one: &Together, found: &Found, outcomes: &[Outcome]) -> Option<&'a str> {
    let [name] = &pair.interrupted[..] else { return None };
    if pair.verdict != PairVerdict::NotAtomic {
        return None;
    }
    let operation = one.methods.iter().find(|method| method.name == *name)?.operation.as_ref()?;
    let is_it = |other: &interloper_composed::Operation| other.package == one.package && other.name == *operation;
    let at = found.operations.iter().position(is_it)?;
    let Outcome::Judged { verdict, own, .. } = &outcomes[at] else { return None };
    let is_known = found.operations[at].recipe.as_ref().is_ok_and(|recipe| recipe.unknown.is_none());
    let fails = verdict == "not-linearizable" && is_known || own.as_deref() == Some("not-linearizable");
    fails.then_some(name)
}

fn both(pair: &Pair) -> String {
    let [one, other] = &pair.methods;
    if one == other { format!("{one} and itself") } else { format!("{one} and {other}") }
}

/// A table, and what is to be said of each type. Nothing where there are no types.
pub fn text(found: &Found, outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    let headings = [("type", Align::Left), ("place", Align::Left)];
    let numbers = ["pairs", "not atomic", "executions", "states"].map(|heading| (heading, Align::Right));
    let mut table = Table::new(headings.into_iter().chain(numbers));
    let mut any = false;
    for (one, told) in told(found, outcomes) {
        any = true;
        let place = format!("{}:{}", one.place.file, one.place.line);
        let cells = match &told.report {
            Ok(report) => {
                let executions: u64 = report.pairs.iter().map(|pair| pair.executions).sum();
                let states = format!("{}{}", report.states, if report.more_states { "+" } else { "" });
                let pairs = report.pairs.len() + report.plain;
                [pairs.to_string(), told.violations().count().to_string(), executions.to_string(), states]
            }
            Err(_) => ["not run", "–", "–", "–"].map(str::to_owned),
        };
        table.row([one.name.clone(), place].into_iter().chain(cells));
    }
    if !any {
        return out;
    }
    let _ = writeln!(out, "\ntwo methods of a type at once\n\n{table}");
    for (one, told) in told(found, outcomes) {
        details(&mut out, one, told, found, outcomes);
    }
    out
}

fn details(out: &mut String, one: &Together, told: &Told, found: &Found, outcomes: &[Outcome]) {
    let mut lines = Vec::new();
    let mut reports = Vec::new();
    let (mut shown, mut unfinished) = (BTreeSet::new(), Vec::new());
    match &told.report {
        Err(reason) => lines.push(format!("not run: {}", plain::line(reason))),
        Ok(report) => {
            for pair in &report.pairs {
                let line = format!("{}: {}", both(pair), pair.verdict.words());
                let schema = pair.schema.as_deref().unwrap_or_default();
                if pair.verdict == PairVerdict::Unfinished {
                    unfinished.push(both(pair));
                    continue;
                }
                let because = match (by_itself(pair, one, found, outcomes), &pair.interrupted[..]) {
                    _ if pair.verdict == PairVerdict::Atomic => continue,
                    _ if !pair.is_violation() => plain::line(&pair.report).to_string(),
                    (Some(name), _) => format!("{schema}, which `{name}` shows by itself above"),
                    (None, interrupted) if !interrupted.is_empty() && !shown.insert(interrupted) => {
                        format!("{schema}, where `{}` is interrupted as below", interrupted.join("` and `"))
                    }
                    _ => {
                        reports.push(&pair.report);
                        schema.to_owned()
                    }
                };
                lines.push(if because.is_empty() { line } else { format!("{line}: {because}") });
            }
            if !unfinished.is_empty() {
                let more = unfinished.len().saturating_sub(NAMED);
                let named = unfinished.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
                let more = if more > 0 { format!("; and {more} more") } else { String::new() };
                lines.push(format!("unfinished, with nothing found: {named}{more}"));
            }
            for (invariant, calls) in &report.broken_alone {
                lines.push(format!(
                    "`{invariant}` is false after {calls} one after the other: there it is no violation"
                ));
            }
            let all = one.left_out.iter().chain(&told.rejected).chain(&report.left_out);
            lines.extend(all.map(|(name, reason)| format!("left out: {name}: {}", plain::line(reason))));
        }
    }
    if !one.unread.is_empty() {
        lines.push(format!("not compared: {}", one.unread.join(", ")));
    }
    if !lines.is_empty() {
        let _ = writeln!(out, "{} at {}:{}", one.name, one.place.file, one.place.line);
        for line in lines {
            let _ = writeln!(out, "  {line}");
        }
        out.push('\n');
    }
    for report in reports {
        let _ = writeln!(out, "{report}");
    }
}

/// One entry for each type.
pub fn json(found: &Found, outcomes: &[Outcome]) -> Vec<serde_json::Value> {
    let entry = |(one, told): (&Together, &Told)| {
        let (report, reason) = match &told.report {
            Ok(report) => (Some(report), None),
            Err(reason) => (None, Some(reason)),
        };
        let left_out =
            one.left_out.iter().chain(&told.rejected).chain(report.iter().flat_map(|report| &report.left_out));
        let left_out: Vec<serde_json::Value> =
            left_out.map(|(method, reason)| serde_json::json!({ "method": method, "reason": reason })).collect();
        let broken = report.iter().flat_map(|report| &report.broken_alone);
        let broken: Vec<serde_json::Value> =
            broken.map(|(invariant, calls)| serde_json::json!({ "invariant": invariant, "calls": calls })).collect();
        serde_json::json!({
            "package": one.package, "name": one.name, "place": one.place, "not_run": reason,
            "pairs": report.map_or(&[][..], |report| &report.pairs[..]),
            "plain_pairs": report.map(|report| report.plain),
            "states": report.map(|report| report.states),
            "more_states": report.map(|report| report.more_states),
            "invariants": one.invariants.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "invariants_broken_alone": broken, "left_out": left_out, "not_compared": one.unread,
        })
    };
    told(found, outcomes).map(entry).collect()
}

/// The pairs that are not atomic, each at the place of its type.
pub fn findings<'a>(found: &'a Found, outcomes: &'a [Outcome]) -> impl Iterator<Item = (String, Finding<'a>)> {
    told(found, outcomes).flat_map(|(one, told)| told.violations().map(move |pair| finding(one, pair)))
}

fn finding<'a>(one: &'a Together, pair: &Pair) -> (String, Finding<'a>) {
    let title = format!("{}: {}: {}", one.name, both(pair), pair.verdict.words());
    let text = format!("{title}: {}", pair.schema.as_deref().unwrap_or_default());
    let interloper_composed::Place { file, line, column } = &one.place;
    let place = Place { file, line: *line, column: *column };
    (title, Finding { rule: NOT_ATOMIC, level: Level::Warning, text, place, related: Vec::new() })
}

/// A case for each pair; nothing where there are no types.
pub fn junit(found: &Found, outcomes: &[Outcome]) -> Option<junit::Suite> {
    let mut cases = Vec::new();
    for (one, told) in told(found, outcomes) {
        let place = format!("{}:{}", one.place.file, one.place.line);
        let case = |name: String, result, says: String| junit::Case { name, result, output: format!("{place}{says}") };
        match &told.report {
            Err(reason) => {
                cases.push(case(one.name.clone(), junit::Outcome::Skipped { reason: reason.clone() }, String::new()));
            }
            Ok(report) => cases.extend(report.pairs.iter().map(|pair| {
                let words = pair.verdict.words();
                let result = match pair.verdict {
                    PairVerdict::Atomic => junit::Outcome::Passed,
                    _ if pair.is_violation() => junit::Outcome::Failed {
                        message: format!("{}: {}: {words}", one.name, both(pair)),
                        report: pair.report.clone(),
                    },
                    _ => junit::Outcome::Skipped { reason: format!("{words} {}", pair.report).trim().to_owned() },
                };
                let says = format!(", {words}, {}", counted(pair.executions as usize, "execution"));
                case(format!("{}: {}", one.name, both(pair)), result, says)
            })),
        }
    }
    (!cases.is_empty()).then(|| junit::Suite { name: "two methods of a type at once".to_owned(), cases })
}
