//! The results of shards: the document that each of them prints, and how the documents of all shards are joined.
//!
//! Entries are dealt to shards by their number, so a document need not number them: the first entry of shard 2 of 4 is the
//! second entry of all, its second entry is the sixth.

use std::path::Path;

use interloper::blocks::progress::Progress;
use interloper::objects::hunt::Visit;
use interloper::{OfShard, Parts, Shard, ShardError, Shards};
use interloper_report::explorer::Exploration;
use interloper_report::file;
use interloper_report::sealed::{self, Kind};
use serde::{Deserialize, Serialize};

use crate::answer::json;
use crate::args::{Format, ObjectArgs, OutputArgs, SearchArgs};
use crate::catalogue::{self, Entry};
use crate::commands::Compared;
use crate::entries::cases::CheckedCase;
use crate::entries::programs::CheckedProgram;
use crate::entries::told::{Part, Told as One};
use crate::failure::{Failure, Finding};
use crate::output;
use crate::progress::events::{self, Event, Tell as _};

/// The format of the document. Before version 2 it had no checksum, before version 3 each trace was an object, before version 4 a text
/// of its own, and before version 5 a visit did not say of which schema it is.
pub const VERSION: u32 = 5;

const KIND: Kind = Kind { what: "the result of a shard", version: VERSION, remedy: "run the shard again" };

/// What the entries gave.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    #[serde(rename = "cases")]
    pub of_cases: Part<CheckedCase>,
    #[serde(rename = "programs")]
    pub of_programs: Part<CheckedProgram>,
}

impl Told {
    /// What the pages of all counterexamples show, in the order of the entries.
    pub fn pages(&self) -> Result<Vec<Exploration>, Failure> {
        let pages = self.of_cases.0.iter().filter_map(One::page);
        pages.chain(self.of_programs.0.iter().filter_map(One::page)).collect()
    }

    /// What the entries amount to: the worst of them.
    pub fn finding(&self) -> Finding {
        let findings = [self.of_cases.finding(), self.of_programs.finding()];
        let worst = [Finding::Unexpected, Finding::Unexplored].into_iter().find(|finding| findings.contains(finding));
        worst.unwrap_or(Finding::Expected)
    }
}

/// What was asked for: the same for all shards of a search.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The version of the command.
    tool: String,
    /// Identifies the entries of the suite and their sources.
    suite: String,
    /// The names given to `run`. None of them for the suite.
    pub names: Vec<String>,
    /// Another command, and the options of its own: `hunt`, the object, and how it is hunted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    pub seed: u64,
    /// The options that determine the result, as they are typed.
    pub options: String,
    /// The limit, in seconds. With a limit the result depends on the machine.
    time: Option<f64>,
}

impl Asked {
    pub fn new(names: &[String], search: &SearchArgs) -> Asked {
        Asked {
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            suite: suite(),
            names: names.to_vec(),
            command: Vec::new(),
            seed: search.seed(),
            options: search.typed(),
            time: search.time.map(|time| time.as_secs_f64()),
        }
    }

    /// The same for a command about an object, such as `hunt`.
    pub fn object(command: &str, object: &ObjectArgs, search: &SearchArgs) -> Asked {
        Asked::command([vec![command.to_owned()], object.typed()].concat(), search)
    }

    /// The same for a command with options of its own.
    pub fn command(command: Vec<String>, search: &SearchArgs) -> Asked {
        Asked { command, ..Asked::new(&[], search) }
    }

    /// The search in one line: two searches with the same line have the same result.
    pub fn line(&self) -> String {
        let Asked { tool, suite, options, .. } = self;
        format!("{} {options} of version {tool} with the suite {suite}", self.what())
    }

    /// The command that was split, in words.
    fn what(&self) -> String {
        match (&self.command[..], &self.names[..]) {
            ([], []) => "the suite".to_owned(),
            ([], names) => format!("run {}", names.join(" ")),
            (command, _) => command.join(" "),
        }
    }

    /// The command line that asks for it again.
    pub fn again(&self) -> impl Iterator<Item = String> {
        let run = self.command.is_empty().then_some("run");
        let names = self.command.iter().chain(&self.names).map(String::as_str);
        let words = ["interloper"].into_iter().chain(run).chain(names).chain(self.options.split(' '));
        words.map(str::to_owned).collect::<Vec<String>>().into_iter()
    }

    /// Without the limit on time: a search goes on in another process with another limit.
    #[must_use]
    pub fn whenever(self) -> Asked {
        Asked { time: None, ..self }
    }

    /// The entries, in their order.
    fn entries(&self) -> Result<Vec<Entry>, Failure> {
        match &self.names[..] {
            [] => Ok(catalogue::all()),
            names => names.iter().map(|name| catalogue::find(name)).collect(),
        }
    }

    /// What differs from another request, in words.
    pub fn difference(&self, other: &Asked) -> Option<String> {
        let time = |asked: &Asked| asked.time.map_or("no --time".to_owned(), |time| format!("--time {time}"));
        let version = |asked: &Asked| format!("version {} with the suite {}", asked.tool, asked.suite);
        let parts = [
            (version(self), version(other)),
            (self.what(), other.what()),
            (self.options.clone(), other.options.clone()),
            (time(self), time(other)),
        ];
        let (one, another) = parts.into_iter().find(|(one, another)| one != another)?;
        Some(format!("{one}, and {another}"))
    }
}

/// Identifies the suite: a hash of its names and sources (FNV-1a).
fn suite() -> String {
    let text = catalogue::all().into_iter().flat_map(|entry| [entry.name(), "\0", entry.source(), "\0"]);
    sealed::of(&text.collect::<String>())
}

/// Refuses a form for a shard: its document is for `merge`, which has all the forms.
pub fn refuse_form(search: &SearchArgs, output: &OutputArgs) -> Result<(), Failure> {
    if search.shard.is_some() && !matches!(output.format, Format::Text | Format::Json) {
        let reason = "a shard prints a document for 'interloper merge'; give --format to 'merge'";
        return Err(Failure::Request(reason.to_owned()));
    }
    if search.shard.is_some() && output.html.is_some() {
        return Err(Failure::Request("--html is for a whole search: give it to 'interloper merge'".to_owned()));
    }
    Ok(())
}

/// What a shard prints.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardResult {
    version: u32,
    /// Which one of how many.
    shard: String,
    asked: Asked,
    /// Whether all the work belongs to other shards, so that this one says nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    nothing_to_do: bool,
    told: Told,
    /// Where the search of one program is split: what this part of its executions gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    executions: Option<Progress>,
    /// Where a hunt is split: the visits of this part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    visits: Option<Vec<Visit>>,
    /// Where the check of one composed operation is split: what this part of its searches gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    searches: Option<Parts>,
    /// Where a comparison is split: its cases in this part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compared: Option<Vec<Compared>>,
}

/// Where one thing is split: what its parts gave.
pub enum Split {
    /// The executions of one program.
    Executions(Box<Progress>),
    /// The visits of a hunt.
    Visits(Vec<Visit>),
    /// The searches of one composed operation.
    Searches(Parts),
    /// Cases under each adversary.
    Compared(Vec<Compared>),
}

impl Split {
    /// What two parts of the same thing gave.
    fn and(self, other: Split) -> Option<Split> {
        Some(match (self, other) {
            (Split::Executions(one), Split::Executions(other)) => Split::Executions(Box::new(one.and(*other))),
            (Split::Visits(one), Split::Visits(other)) => Split::Visits([one, other].concat()),
            (Split::Searches(one), Split::Searches(other)) => Split::Searches(one.and(other)),
            (Split::Compared(one), Split::Compared(other)) => Split::Compared([one, other].concat()),
            _ => return None,
        })
    }
}

/// What the shards of a search gave together.
pub struct Joined {
    pub asked: Asked,
    pub told: Told,
    /// Where one thing was split: what its parts gave. Then there are no entries.
    pub split: Option<Split>,
}

impl ShardResult {
    pub fn new(shard: Shard, asked: Asked, told: Told) -> ShardResult {
        let (executions, visits, searches, compared) = (None, None, None, None);
        let nothing_to_do = told.of_cases.0.is_empty() && told.of_programs.0.is_empty();
        let shard = shard.to_string();
        ShardResult { version: VERSION, shard, asked, nothing_to_do, told, executions, visits, searches, compared }
    }

    /// The result of a part of one thing, which may have had nothing to do.
    pub fn of(shard: Shard, asked: Asked, split: Split, nothing_to_do: bool) -> ShardResult {
        let none = ShardResult { nothing_to_do, ..ShardResult::new(shard, asked, Told::default()) };
        match split {
            Split::Executions(executions) => ShardResult { executions: Some(*executions), ..none },
            Split::Visits(visits) => ShardResult { visits: Some(visits), ..none },
            Split::Searches(searches) => ShardResult { searches: Some(searches), ..none },
            Split::Compared(compared) => ShardResult { compared: Some(compared), ..none },
        }
    }

    fn split(&mut self) -> Option<Split> {
        let executions = self.executions.take().map(|executions| Split::Executions(Box::new(executions)));
        let visits = || self.visits.take().map(Split::Visits);
        let split = executions.or_else(visits).or_else(|| self.searches.take().map(Split::Searches));
        split.or_else(|| self.compared.take().map(Split::Compared))
    }

    /// Says so if the shard had nothing to do: its end with exit code 0 is not a pass.
    #[must_use]
    pub fn said(self) -> ShardResult {
        if self.nothing_to_do {
            let ShardResult { shard, asked, .. } = &self;
            let what = asked.what();
            Event::NothingToDo { shards: vec![shard.clone()] }.tell();
            if !events::are_wanted() {
                let words = "nothing to do: all the work belongs to other shards, so this one says nothing about";
                output::note(&format!("shard {shard} has {words} {what}"));
            }
        }
        self
    }

    /// The document, with its checksum.
    pub fn document(&self) -> String {
        sealed::seal(&json(self))
    }

    /// The document in one line: a hunt has many visits.
    pub fn in_a_line(&self) -> String {
        sealed::in_a_line(self) + "\n"
    }

    /// Reads the document of a shard.
    fn parse(text: &str) -> Result<(Shard, ShardResult), String> {
        /// Other documents have versions, too.
        #[derive(Deserialize)]
        struct Named {
            #[serde(rename = "shard")]
            _shard: String,
        }
        serde_json::from_str::<Named>(text).map_err(|error| KIND.damaged(error))?;
        let result: ShardResult = KIND.parse(text)?;
        let shard = result.shard.parse().map_err(|error: ShardError| KIND.damaged(error))?;
        Ok((shard, result))
    }
}

fn document(path: &Path) -> Result<OfShard<ShardResult>, String> {
    let name = path.display().to_string();
    let wrong = |reason: String| format!("{name}: {reason}");
    let text = file::read(path, sealed::MAX_BYTES).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|error| wrong(KIND.damaged(error)))?;
    let (shard, document) = ShardResult::parse(&text).map_err(wrong)?;
    Ok(OfShard { name, text, shard, document })
}

/// Joins the documents of all shards of one search. A shard that is given twice counts once.
///
/// # Errors
/// When a file is not the document of a shard, when the files belong to different searches, and when shards are missing.
pub fn join(files: &[impl AsRef<Path>]) -> Result<Joined, Failure> {
    let difference = |one: &ShardResult, other: &ShardResult| one.asked.difference(&other.asked);
    let files = files.iter().map(AsRef::as_ref);
    let shards = Shards::read(files, document, difference).map_err(Failure::Request)?;
    let OfShard { name, document: ShardResult { asked, .. }, .. } = shards.first();
    let asked = asked.clone();
    if asked.tool != env!("CARGO_PKG_VERSION") || asked.suite != suite() {
        let reason = format!("{name}: another version of interloper has made it; merge with that version");
        return Err(Failure::Request(reason));
    }
    let mut shards = shards.all().map_err(Failure::Request)?;
    say_idle(&shards);
    let splits: Vec<Option<Split>> = shards.iter_mut().map(|shard| shard.document.split()).collect();
    if splits.iter().all(Option::is_some) {
        let split = splits.into_iter().reduce(|one, other| one?.and(other?)).flatten();
        let mixed = || Failure::Request("the files are of different commands".to_owned());
        return Ok(Joined { asked, told: Told::default(), split: Some(split.ok_or_else(mixed)?) });
    }
    let told = gather(&asked.entries()?, shards)?;
    Ok(Joined { asked, told, split: None })
}

/// Names the shards that had nothing to do.
fn say_idle(shards: &[OfShard<ShardResult>]) {
    let idle: Vec<Shard> =
        shards.iter().filter(|shard| shard.document.nothing_to_do).map(|shard| shard.shard).collect();
    let Some(said) = interloper::idle(&idle) else { return };
    Event::NothingToDo { shards: idle.iter().map(Shard::to_string).collect() }.tell();
    if !events::are_wanted() {
        output::note(&said);
    }
}

/// Puts the entries of all shards into the order of the whole.
fn gather(entries: &[Entry], shards: Vec<OfShard<ShardResult>>) -> Result<Told, Failure> {
    let mut dealt: Vec<_> = shards
        .into_iter()
        .map(|OfShard { name, document: ShardResult { told, .. }, .. }| {
            (name, told.of_cases.0.into_iter(), told.of_programs.0.into_iter())
        })
        .collect();
    let mut joined = Told::default();
    let of = dealt.len();
    let damaged = |file: &str| Failure::Request(format!("{file}: not the result of a shard: other entries"));
    for (number, entry) in entries.iter().enumerate() {
        let (file, cases, programs) = &mut dealt[number % of];
        match entry {
            Entry::Case(case) => {
                let told = cases.next().filter(|told: &One<_>| told.name == case.name);
                joined.of_cases.0.push(told.ok_or_else(|| damaged(file))?);
            }
            Entry::Program(program) => {
                let told = programs.next().filter(|told: &One<_>| told.name == program.name);
                joined.of_programs.0.push(told.ok_or_else(|| damaged(file))?);
            }
        }
    }
    for (file, cases, programs) in &mut dealt {
        if cases.next().is_some() || programs.next().is_some() {
            return Err(damaged(file));
        }
    }
    Ok(joined)
}
