//! Hunts that `cargo interloper hunt` has asked for: it writes a test for each object, which calls [`run`], and runs each test
//! in a process of its own.

#[cfg(test)]
mod tests;

use std::env;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use interloper_harness::explain::explored;
use interloper_harness::hunt::{Campaign, Ended, Engine, Pass, Progress, Searched, Visit, Visits};
use interloper_harness::judge::Refusal;
use interloper_harness::stress::Next;
use interloper_harness::systematic::{Executions, Limits, Settings};
use interloper_harness::{MethodId, Object, Role};
use interloper_linearize::schema::Schema;
use interloper_report::replay_file::ReplayFile;
use interloper_report::shorten::{in_crate, plural, with_places};
use interloper_report::text::Style;
use interloper_report::{annotation, file};
use interloper_scheduler::Watch;
use interloper_scheduler::schedule::Memory;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::findings::{Findings, Of, Row, reason, schedules};
use super::journal;
use super::recorded::{self as of_schemas, Replayed};
use crate::built::{lacks_lines, preempt, watch};
use crate::recorded::{self, Again};

/// The variable of the environment that has [`Asked`], as JSON.
pub const VARIABLE: &str = "INTERLOPER_HUNT_ASKED";

/// What begins the result of a hunt in the output of its test: then comes a word, a line end, and the result.
pub const BEGIN: &str = "\u{2}interloper hunt ";
/// What ends it.
pub const END: &str = "\u{3}interloper hunt";
/// What begins the annotations of the lines that matter, for GitHub, before the result.
pub const ANNOTATIONS: &str = "\u{2}interloper annotations\n";

/// What begins the findings, where they are wanted, before the result: a line of JSON each, with the name of the method, the verdict, and
/// the counterexample if there is one.
pub const FINDINGS: &str = "\u{2}interloper findings\n";

/// What begins a line of the standard error that says how far a hunt is.
pub const PROGRESS: &str = "\u{2}interloper progress ";

/// A hunt says no more often how far it is.
const NOW_AND_THEN: Duration = Duration::from_secs(10);

/// So many executions of a schema are the most in each pass, and of a schema that is asked for.
const EXECUTIONS: u64 = 2_000;

/// So many schemas of a method are tried, if their executions are many and long.
const SCHEMAS: u64 = 200;

/// Reports are this wide.
const WIDTH: usize = 100;

/// How an object is hunted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Determines the schemas and the schedules.
    pub seed: u64,
    /// The most schemas of a method; `None` for 200, and more while their executions are few or short.
    pub schemas: Option<u64>,
    /// The longest time for a method, in seconds.
    pub time: Option<u64>,
    /// Only the method with this name.
    pub method: Option<String>,
    /// Only this schema.
    pub schema: Option<String>,
    /// Only the visits of this part of the schemas, which are the result.
    pub shard: Option<String>,
    /// How many methods of other objects are dealt to the parts before those of this object, and how many methods in all.
    pub among: Option<(u64, u64)>,
    /// Only how many methods would be searched, which is the result.
    pub counts: bool,
    /// The file that keeps the progress, and what its first line says of the search.
    pub state: Option<(PathBuf, String)>,
    /// Whether the visits that were made before are on standard input, as a list in JSON.
    pub joined: bool,
    /// Which memory executions have; `None` is weak memory where orderings are weaker than `SeqCst`.
    pub memory: Option<String>,
    /// The file for the page of the first violation.
    pub html: Option<PathBuf>,
    /// How many pages were written before, by the hunts of other objects.
    pub pages: usize,
    /// Whether the result is data.
    pub json: bool,
    /// Whether the findings are wanted as data, too.
    pub tells: bool,
    /// The command that hunts this object.
    pub command: String,
    /// What else the command needs to show a finding again, each option after a space.
    pub options: String,
}

/// How a hunt has ended, as the word at the beginning of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The result has the visits of a part of a hunt.
    Part,
    /// The same, of a part that has nothing to do: all schemas belong to other parts.
    Idle,
    /// No violation was found.
    Clean,
    /// There is a violation, or the object differs from its model.
    Wrong,
    /// Nothing was explored.
    Nothing,
    /// The request does not fit the object: the result says why.
    Misuse,
}

impl Ending {
    const WORDS: [(Ending, &'static str); 6] = [
        (Ending::Part, "part"),
        (Ending::Idle, "idle"),
        (Ending::Clean, "clean"),
        (Ending::Wrong, "wrong"),
        (Ending::Nothing, "nothing"),
        (Ending::Misuse, "misuse"),
    ];

    fn word(self) -> &'static str {
        Ending::WORDS.iter().find(|(ending, _)| *ending == self).map_or("", |(_, word)| word)
    }

    /// The ending with this word.
    pub fn of_word(word: &str) -> Option<Ending> {
        Ending::WORDS.iter().find(|(_, known)| *known == word).map(|(ending, _)| *ending)
    }
}

/// Hunts an object as the environment asks, and prints the result between [`BEGIN`] and [`END`].
///
/// # Panics
/// When the environment does not ask: only `cargo interloper hunt` runs these tests.
pub fn run(object: Object) {
    let asked = env::var(VARIABLE).ok().and_then(|text| serde_json::from_str(&text).ok());
    let asked: Asked = asked.unwrap_or_else(|| panic!("{VARIABLE} says how to hunt: `cargo interloper hunt` sets it"));
    if let Some(file) = recorded::asked() {
        return replayed(&object, &file, &asked).print();
    }
    let (ending, text) = hunted(object, &asked);
    println!("\n{BEGIN}{}\n{text}\n{END}", ending.word());
}

/// How an object is searched. The reason, if what was asked for is damaged.
fn campaign(object: &Object, asked: &Asked) -> Result<Campaign, String> {
    let time = asked.time.map(Duration::from_secs);
    let executions = Executions::AtMost(EXECUTIONS);
    // Hashers too: which keys share a shard of a map decides what can be seen of it.
    let limits = Limits { seed: asked.seed, ..Limits::default() };
    let built = as_built(Settings { seed: asked.seed, executions, limits, ..Settings::default() });
    let thorough = match asked.memory.as_deref().map(str::parse::<Memory>).transpose() {
        Ok(None) => built,
        Ok(memory) => Settings { memory, ..built },
        Err(error) => return Err(error.to_string()),
    };
    let passes = Pass::before(&thorough);
    let engine = Engine::Systematic(thorough);
    let staged = Campaign::staged(object, asked.seed).of_at_most(asked.schemas.unwrap_or(SCHEMAS));
    Ok(Campaign { time, passes, engine, goes_on_while_cheap: asked.schemas.is_none(), ..staged })
}

/// The ending, and the text or data.
fn hunted(object: Object, asked: &Asked) -> (Ending, String) {
    let campaign = match campaign(&object, asked) {
        Ok(campaign) => campaign,
        Err(reason) => return (Ending::Misuse, reason),
    };
    let memory = match &campaign.engine {
        Engine::Systematic(thorough) => memory_of(thorough),
        Engine::Stress(_) | Engine::Passes(_) => None,
    };
    let result = visits(asked).and_then(|visits| searched(campaign, asked, visits));
    let mut findings = match result {
        Ok(Came::Findings(findings)) => findings,
        Ok(Came::Methods(methods)) => return (Ending::Part, methods.to_string()),
        Ok(Came::Part(visits, schemas)) => {
            let visits: Vec<Visit> = visits.into_made().collect();
            let ending = if schemas == 0 { Ending::Idle } else { Ending::Part };
            return (ending, serde_json::to_string(&visits).expect("numbers are always JSON"));
        }
        Err(reason) => return (Ending::Misuse, reason),
    };
    findings.strategy = Some(format!("{}, seed {}", schedules(&findings.campaign), asked.seed));
    findings.memory = memory;
    let Asked { command, seed, options, .. } = asked;
    let again = |schema: &Schema| format!("{command} --schema '{schema}' --seed {seed}{options}");
    for row in &mut findings.rows {
        row.replay = row.found().map(|found| again(&found.schema));
    }
    if env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
        let found = findings.rows.iter().filter_map(|row| Some((row, row.found()?)));
        let lines: String =
            found.map(|(row, found)| annotation::errors(&findings.counterexample(row, found))).collect();
        println!("\n{ANNOTATIONS}{lines}{END}");
    }
    if asked.tells {
        println!("\n{FINDINGS}{}{END}", told(&findings));
    }
    findings.rows.iter().filter_map(|row| replay_file(&findings, row)).for_each(|file| recorded::print(&file));
    if let Some(path) = &asked.html {
        for (number, page) in (asked.pages + 1..).zip(findings.pages()) {
            recorded::write_page(&page, &file::numbered(path, number));
        }
    }
    let ending = match () {
        () if findings.is_wrong() => Ending::Wrong,
        () if findings.is_trivial() || !findings.is_seen() => Ending::Nothing,
        () => Ending::Clean,
    };
    let text = match asked.json {
        true => json!({
            "object": object.name(),
            "strategy": findings.strategy,
            "memory": findings.memory,
            "seed": asked.seed,
            "core": findings.labels(Role::Core),
            "methods": findings.methods(),
            "together": findings.pairs_as_data(),
        })
        .to_string(),
        false => findings.text(true, Style { color: false, width: Some(WIDTH) }, &|schema| Some(again(schema))),
    };
    (ending, text)
}

/// The replay file of what was found of a method, if the scheduler has shown it.
fn replay_file(findings: &Findings, row: &Row) -> Option<ReplayFile> {
    let shown = row.searched.traced().or(row.found())?;
    let file = of_schemas::file(findings.campaign.object.name(), &row.label, findings.campaign.seed, shown)?;
    Some(recorded::with(file, &findings.counterexample(row, shown)))
}

/// Runs the execution of a file again, and writes its page if that is asked for.
fn replayed(object: &Object, file: &ReplayFile, asked: &Asked) -> Again {
    let decisions = match recorded::decisions(file) {
        Ok(decisions) => decisions,
        Err(damaged) => return Again::diverged(damaged),
    };
    let limits = as_built(Settings::default()).limits;
    let Replayed { found, counterexample, history, .. } =
        match of_schemas::again(object, &file.about, limits, &decisions) {
            Ok(Some(replayed)) if !replayed.right => replayed,
            Ok(Some(_)) => return Again::diverged(of_schemas::RIGHT.to_owned()),
            Ok(None) => return Again::diverged(of_schemas::MISFIT.to_owned()),
            Err(reason) => return Again::diverged(reason),
        };
    let shown = with_places(counterexample, in_crate);
    let again = Again::showed(file, &of_schemas::finding(&found), &history, shown);
    if let (Some(counterexample), Some(path)) = (&again.counterexample, &asked.html) {
        let page = explored(object, object.visibility(), &found, counterexample, file.seed).with_sources();
        recorded::write_page(&again.named(page), path);
    }
    again
}

/// The findings, a line each.
fn told(findings: &Findings) -> String {
    let wrong = findings.rows.iter().filter(|row| row.found().is_some() || row.disagreement().is_some());
    let line = |row: &Row| {
        let name = format!("{}.{}", findings.campaign.object.name(), row.label);
        let found = row.searched.traced().or(row.found()).map(|shown| findings.counterexample(row, shown));
        serde_json::to_string(&(name, row.verdict(), found)).expect("a counterexample is always JSON") + "\n"
    };
    wrong.map(line).collect()
}

/// These settings with weak memory where orderings are weaker than `SeqCst`, and with the faults of plain memory that a program shows
/// that `cargo interloper` built.
pub fn as_built(settings: Settings) -> Settings {
    let watch = if lacks_lines() { None } else { watch(None, false, preempt()) };
    Settings { memory: None, limits: Limits { plain: watch, ..settings.limits }, ..settings }
}

/// What executions with these settings see of memory, in a line. `None` in a program that `cargo interloper` did not build.
fn memory_of(settings: &Settings) -> Option<String> {
    let atomics = match settings.memory {
        None => "weak where orderings are weaker than SeqCst",
        Some(Memory::SequentiallyConsistent) => "sequentially consistent",
        Some(Memory::Weak) => "weak",
    };
    let faults = match settings.limits.plain {
        Some(Watch { races: true, .. }) => "data races and uses of freed memory are violations",
        Some(_) => "uses of freed memory are violations, data races are not looked for",
        None if lacks_lines() => "plain memory is not looked at, since the program has no debug information",
        None => return None,
    };
    let steps =
        if settings.limits.plain.is_some_and(|watch| watch.steps) { "; loads and stores are steps" } else { "" };
    Some(format!("{atomics}; {faults}{steps}"))
}

/// What came of a search.
enum Came {
    Findings(Box<Findings>),
    /// The visits of a part, and how many schemas belong to it.
    Part(Box<Visits>, u64),
    Methods(usize),
}

/// What was visited before.
fn visits(asked: &Asked) -> Result<Visits, String> {
    if let Some((path, search)) = &asked.state {
        return journal::visits(path, search, |said| eprintln!("{said}"));
    }
    if asked.joined {
        let made: Vec<Visit> = serde_json::from_reader(io::stdin()).map_err(|error| error.to_string())?;
        return Ok(Visits::after(made));
    }
    Ok(Visits::default())
}

fn searched(campaign: Campaign, asked: &Asked, mut visits: Visits) -> Result<Came, String> {
    let object = &campaign.object;
    if let Some(schema) = &asked.schema {
        let parsed = Schema::parse(schema).and_then(|schema| object.program(&schema).map(|_| schema));
        let schema = parsed.map_err(|mistake| mistake.to_string())?;
        let searched = campaign.schema(schema);
        if let [(schema, refusal)] = &searched.hunted.skipped[..]
            && !matches!(refusal, Refusal::Disagreement(_))
        {
            return Err(reason(refusal, schema));
        }
        let row = Row { label: "schema".to_owned(), of: Of::Schema, searched, replay: None };
        return Ok(Came::Findings(Box::new(Findings::of(campaign, vec![row]))));
    }
    let methods = methods(object, asked)?;
    if asked.counts {
        return Ok(Came::Methods(methods.len()));
    }
    let mut teller = Teller { methods: &methods, said: Instant::now() };
    if let Some(shard) = &asked.shard {
        let shard = shard.parse().map_err(|error: interloper_scheduler::ShardError| error.to_string())?;
        let among = asked.among.unwrap_or((0, methods.len() as u64));
        let mut visits = visits.within_among(shard, &methods, among);
        let part = |&method| campaign.part(method, &mut visits, &mut |now| teller.method(object, method, now)).schemas;
        let schemas = methods.iter().map(part).sum();
        return Ok(Came::Part(Box::new(visits), schemas));
    }
    let object = object.clone();
    let mut watch = |method, now: &Progress<'_>| teller.method(&object, method, now);
    let mut findings = Findings::search_after(campaign, &methods, &mut visits, &mut watch);
    if asked.method.is_none() {
        // A core method that only reads, and is the only one, cannot go wrong.
        let core: Vec<MethodId> = findings.campaign.object.with_role(Role::Core).collect();
        findings.rows.retain(|Row { searched: Searched { method, hunted, .. }, .. }| {
            !core.contains(method) || hunted.schemas > 0 || hunted.end != Ended::NoMore
        });
        findings.search_together(&mut visits, &mut |now| teller.tell("pairs of methods", now));
    }
    Ok(Came::Findings(Box::new(findings)))
}

/// Says now and then how far a hunt is, on standard error.
struct Teller<'m> {
    methods: &'m [MethodId],
    said: Instant,
}

impl Teller<'_> {
    fn method(&mut self, object: &Object, method: MethodId, now: &Progress<'_>) -> Next {
        let number = 1 + self.methods.iter().take_while(|other| **other != method).count();
        self.tell(&format!("{}, method {number} of {}", object.label(method), self.methods.len()), now)
    }

    fn tell(&mut self, what: &str, now: &Progress<'_>) -> Next {
        if self.said.elapsed() >= NOW_AND_THEN {
            let (schemas, executions) = (plural(now.schemas, "schema"), plural(now.executions, "execution"));
            eprintln!("{PROGRESS}{what}: {schemas}, {executions}");
            self.said = Instant::now();
        }
        Next::Continue
    }
}

/// The methods that are searched.
fn methods(object: &Object, asked: &Asked) -> Result<Vec<MethodId>, String> {
    // What is trusted in the search of another method is searched itself.
    let tested: Vec<MethodId> = object.with_role(Role::UnderTest).chain(object.with_role(Role::Core)).collect();
    let methods: Vec<MethodId> = match &asked.method {
        None => tested,
        Some(name) => {
            let named: Vec<MethodId> = tested.iter().copied().filter(|&method| object.label(method) == *name).collect();
            if named.is_empty() {
                let labels: Vec<String> = tested.iter().map(|&method| object.label(method)).collect();
                return Err(format!("{} has no method '{name}' to test; it has {}", object.name(), labels.join(", ")));
            }
            named
        }
    };
    if methods.is_empty() {
        return Err(format!("{} has no method to test", object.name()));
    }
    Ok(methods)
}
