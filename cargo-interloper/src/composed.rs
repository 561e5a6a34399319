//! `cargo interloper composed`: the composed operations of a workspace.

mod fixes;
mod harness;
mod manifest;
mod pairs;
mod running;
mod shown;
mod written;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use interloper::Shard;
use interloper_adopt::{Members, Options, Refusal};
use interloper_composed::{Found, Operation, Package, scan};
use interloper_report::events::Place;
use interloper_report::replay_file::{About, ReplayFile};

use crate::args::Rendering;
use crate::pages::Pages;
use crate::progress::{self, Progress};
use crate::recorded::{Files, Recorded};
use crate::shards::{self, Told};
use crate::{EXPECTED, REFUSED, UNEXPECTED, annotate, note, print};

pub use running::Outcome;
use running::{Names, Runs};
#[cfg(test)]
pub use shown::VERSION;

/// What is asked for.
pub struct Asked {
    /// The packages to read. If the list is empty: all packages of the workspace.
    pub packages: Vec<String>,
    /// Whether tests are read too.
    pub tests: bool,
    /// A part of the names of the operations to list.
    pub name: Option<String>,
    /// Whether the operations are run, and for how long each.
    pub run: Option<Limits>,
    /// Whether the methods of each type are run two at once, too.
    pub pairs: bool,
    /// The packages that `--instrument` names: they are put under control, too.
    pub instrument: Vec<String>,
    /// The pages of violations.
    pub pages: Pages,
    /// Their replay files.
    pub files: Files,
    /// The folder of each package into which tests are written.
    pub write: Option<PathBuf>,
    /// Which of them are run here.
    pub split: Split,
}

/// Which of the operations are run here, and what was done before.
pub enum Split {
    /// All of them.
    Whole,
    /// Those of a part, dealt by their numbers; its document names the search.
    Shard(Shard, shards::Asked),
    /// None: all parts have run.
    Joined(BTreeMap<usize, Outcome>),
    /// One recorded execution.
    Again(Box<Recorded>),
}

/// How far an operation is searched.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most operations of the environment in one execution.
    pub bound: u32,
    /// The longest time, in seconds.
    pub time: u64,
    /// Whether atomic forms of those that are not atomic are tried.
    pub fixes: bool,
}

/// Reads the sources and prints what is found.
pub fn run(folder: &Path, options: &Options, asked: &Asked, format: Rendering) -> Result<u8, Refusal> {
    if asked.run.is_none() && format == Rendering::Junit {
        note("'composed' has no form 'junit' without --run: it lists operations, and judges none");
        return Ok(REFUSED);
    }
    let members = Members::read(folder, options)?;
    let found = find(&members, asked)?;
    if let Some(into) = &asked.write {
        written::refuse(&members, &found, into)?;
    }
    if let Some(limits) = asked.run {
        if let Split::Again(recorded) = &asked.split {
            return again((folder, options, &members), &found, (limits, asked), recorded, format);
        }
        let run = |shard: Shard| {
            let names = names(&found);
            let own = (0..names.len()).filter(|number| shard.has(*number as u64) && can_run(&found, *number)).count();
            let progress = Progress::start("operation", own);
            let names = Names { progress: &progress, names: &names };
            let has = |number: usize| shard.has(number as u64);
            let runs = Runs::Searches(&has);
            let results = running::run(folder, options, &members, &found, (limits, asked, &names), &runs)?;
            (0..)
                .zip(&results)
                .filter(|(_, result)| result.is_violation())
                .for_each(|(number, _)| tell(&found, number));
            Ok::<_, Refusal>(results)
        };
        let results = match &asked.split {
            Split::Whole => run(Shard::WHOLE)?,
            Split::Shard(shard, search) => {
                let results = run(*shard)?;
                keep(&found, &results, asked);
                asked.pages.end();
                let own = results.into_iter().enumerate().filter(|(number, _)| shard.has(*number as u64));
                let own: BTreeMap<usize, Outcome> = own.collect();
                let nothing_to_do = own.is_empty();
                print(&shards::document(*shard, search.clone(), Told::Operations(own), nothing_to_do))?;
                return Ok(EXPECTED);
            }
            Split::Joined(outcomes) if outcomes.len() == found.operations.len() + found.together.len() => {
                let results: Vec<Outcome> = outcomes.values().cloned().collect();
                if asked.pages.first().is_some() {
                    write_pages((folder, options, &members), &found, (limits, asked), &results)?;
                }
                results
            }
            Split::Joined(outcomes) => {
                return Err(Refusal::Request(format!(
                    "the shards have {} operations and types, and there are {} here: merge where the same sources are",
                    outcomes.len(),
                    found.operations.len() + found.together.len()
                )));
            }
            Split::Again(_) => unreachable!("it was run above"),
        };
        keep(&found, &results, asked);
        asked.pages.end();
        if let Some(into) = &asked.write {
            written::write((folder, options), &members, (&found, &results), limits, into)?;
        }
        let unchecked = if limits.fixes { fixes::unchecked(&members.root, &found, &results) } else { BTreeMap::new() };
        print(&shown::results(&found, &results, &unchecked, format))?;
        annotate(|| shown::annotations(&found, &results));
        let violated = results.iter().any(|result| result.is_violation());
        return Ok(if violated { UNEXPECTED } else { EXPECTED });
    }
    print(&match format {
        Rendering::Text => shown::text(&found),
        Rendering::Json => shown::json(&found),
        Rendering::Sarif | Rendering::Junit => shown::sarif(&found),
    })?;
    Ok(EXPECTED)
}

/// Writes the replay files of what was found.
fn keep(found: &Found, results: &[Outcome], asked: &Asked) {
    for (result, package) in results.iter().zip(packages(found)) {
        result.files().iter().for_each(|file| asked.files.keep(package, file));
    }
}

/// The packages of the operations, and then of the types.
fn packages(found: &Found) -> impl Iterator<Item = &str> {
    let types = found.together.iter().map(|one| one.package.as_str());
    found.operations.iter().map(|one| one.package.as_str()).chain(types)
}

/// Runs what the shards have found again, so that its pages are written.
fn write_pages(
    (folder, options, members): (&Path, &Options, &Members),
    found: &Found,
    (limits, asked): (Limits, &Asked),
    results: &[Outcome],
) -> Result<(), Refusal> {
    let all = results.iter().map(|result| result.files().to_vec());
    let files: BTreeMap<usize, Vec<ReplayFile>> = all.enumerate().filter(|(_, files)| !files.is_empty()).collect();
    let names = names(found);
    let progress = Progress::start("replay", files.len());
    let names = Names { progress: &progress, names: &names };
    let runs = Runs::Again(&files, RefCell::default());
    running::run(folder, options, members, found, (limits, asked, &names), &runs)?;
    let Runs::Again(_, came) = runs else { return Ok(()) };
    for (number, again) in came.into_inner() {
        if let Some(reason) = again.divergence {
            note(&format!("{}: what a shard has found differs here: {reason}", names.names[number]));
        }
    }
    Ok(())
}

/// Runs the execution of a file again, and says what came of it.
fn again(
    (folder, options, members): (&Path, &Options, &Members),
    found: &Found,
    (limits, asked): (Limits, &Asked),
    recorded: &Recorded,
    format: Rendering,
) -> Result<u8, Refusal> {
    let (about, package) = (&recorded.file.about, recorded.origin().package.as_str());
    let is_type = matches!(about, About::Pair { .. });
    let names = names(found);
    let is_it = |(number, (name, of)): &(usize, (&String, &str))| {
        (*number >= found.operations.len()) == is_type && name.as_str() == about.name() && *of == package
    };
    let files: BTreeMap<usize, Vec<ReplayFile>> = (0..)
        .zip(names.iter().zip(packages(found)))
        .filter(is_it)
        .map(|(number, _)| (number, vec![recorded.file.clone()]))
        .collect();
    if files.is_empty() {
        return recorded.refused(&format!("the sources no longer have {}", recorded.what()));
    }
    let progress = Progress::start("replay", 1);
    // The file stands for all that get on.
    let quiet = Progress::quiet();
    let runs = Runs::Again(&files, RefCell::default());
    let how = Names { progress: &quiet, names: &names };
    let outcomes = running::run(folder, options, members, found, (limits, asked, &how), &runs)?;
    let Runs::Again(_, came) = runs else { unreachable!("it was made above") };
    let mut came: Vec<_> = came.into_inner().into_iter().map(|(_, again)| again).collect();
    // A library and a program can have operations of one name: one of them was recorded.
    came.sort_by_key(|again| again.divergence.is_some());
    asked.pages.end();
    match came.into_iter().next() {
        Some(again) => recorded.show(again, &progress, format),
        None => {
            let reason = files.keys().find_map(|number| match &outcomes[*number] {
                Outcome::NotRun(reason) => Some(reason.as_str()),
                Outcome::Pairs(told) => told.report.as_ref().err().map(String::as_str),
                Outcome::Judged { .. } => None,
            });
            recorded.refused(reason.unwrap_or("its test says nothing"))
        }
    }
}

/// The names of the operations, and then of the types whose methods run two at once.
fn names(found: &Found) -> Vec<String> {
    let types = found.together.iter().map(|one| one.name.clone());
    found.operations.iter().map(|one| one.name.clone()).chain(types).collect()
}

/// Whether there is a way to run an operation, or a type, as far as its sources say.
fn can_run(found: &Found, number: usize) -> bool {
    found.operations.get(number).is_none_or(|one| one.recipe.is_ok())
}

/// Tells of an operation, or a type, that is not linearizable.
fn tell(found: &Found, number: usize) {
    const VERDICT: &str = "not linearizable";
    match found.operations.get(number) {
        Some(one) => {
            let Operation { name, place, .. } = one;
            let says = format!("{name} is {VERDICT}");
            progress::found_at(
                name,
                VERDICT,
                vec![Place { file: &place.file, line: place.line, column: place.column, says }],
            );
        }
        None => progress::found_at(&names(found)[number], VERDICT, Vec::new()),
    }
}

fn find(members: &Members, asked: &Asked) -> Result<Found, Refusal> {
    let missing = asked.packages.iter().find(|name| !members.packages.iter().any(|own| own.name == **name));
    if let Some(name) = missing {
        return Err(Refusal::NotAMember { name: name.clone(), similar: None });
    }
    // All packages are read: a chosen one may use types of the others.
    let packages: Vec<Package> = members
        .packages
        .iter()
        .map(|member| {
            let extras = member.extras.iter().filter(|_| asked.tests);
            Package { name: member.name.clone(), crates: member.crates.iter().chain(extras).cloned().collect() }
        })
        .collect();
    let mut options = manifest::options(members)?;
    options.tests = asked.tests;
    let mut found = scan(&packages, &options);
    let is_chosen = |package: &str| asked.packages.is_empty() || asked.packages.iter().any(|name| name == package);
    let is_named = |name: &str| asked.name.as_ref().is_none_or(|part| name.contains(part.as_str()));
    found.operations.retain(|one| is_chosen(&one.package) && is_named(&one.name));
    found.together.retain_mut(|one| {
        let name = format!("{}::", one.name);
        one.methods.retain(|method| is_named(&(name.clone() + &method.name)));
        asked.pairs && is_chosen(&one.package) && !one.is_empty()
    });
    Ok(found)
}
