//! `cargo interloper composed`: the composed operations of a workspace.

mod fixes;
mod harness;
mod manifest;
mod pairs;
mod running;
mod shown;
mod written;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use interloper::Shard;
use interloper_adopt::{Members, Options, Refusal};
use interloper_composed::{Found, Operation, Package, scan};
use interloper_report::events::Place;

use crate::args::Rendering;
use crate::pages::Pages;
use crate::progress::{self, Progress};
use crate::shards::{self, Told};
use crate::{EXPECTED, REFUSED, UNEXPECTED, annotate, note, print};

use running::Names;
pub use running::Outcome;
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
        let run = |shard: Shard| {
            let names = names(&found);
            let own = (0..names.len()).filter(|number| shard.has(*number as u64) && can_run(&found, *number)).count();
            let progress = Progress::start("operation", own);
            let names = Names { progress: &progress, names: &names };
            let results = running::run(folder, options, &members, &found, (limits, asked, &names), shard)?;
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
                asked.pages.end();
                let own = results.into_iter().enumerate().filter(|(number, _)| shard.has(*number as u64));
                let own: BTreeMap<usize, Outcome> = own.collect();
                let nothing_to_do = own.is_empty();
                print(&shards::document(*shard, search.clone(), Told::Operations(own), nothing_to_do))?;
                return Ok(EXPECTED);
            }
            Split::Joined(outcomes) if outcomes.len() == found.operations.len() + found.together.len() => {
                outcomes.values().cloned().collect()
            }
            Split::Joined(outcomes) => {
                return Err(Refusal::Request(format!(
                    "the shards have {} operations and types, and there are {} here: merge where the same sources are",
                    outcomes.len(),
                    found.operations.len() + found.together.len()
                )));
            }
        };
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
