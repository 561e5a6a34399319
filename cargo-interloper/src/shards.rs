//! Parts of hunts and of composed operations: the document that a shard prints, and how the documents of all shards are joined.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use interloper::objects::hunt::Visit;
use interloper::{OfShard, Shard, ShardError, Shards};
use interloper_adopt::Refusal;
use interloper_report::file;
use interloper_report::orderings::Trial;
use interloper_report::sealed::{self, Kind};
use serde::{Deserialize, Serialize};

use crate::composed::Outcome;
use crate::note;

/// The format of the document. Before version 2 it had no checksum, before version 3 a visit did not say of which schema it is.
pub const VERSION: u32 = 3;

const KIND: Kind = Kind { what: "the result of a shard", version: VERSION, remedy: "run the shard again" };

/// What was asked for: the same for all shards of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The version of the command.
    tool: String,
    /// The words after `cargo interloper` that determine the result.
    arguments: Vec<String>,
}

impl Asked {
    /// What was typed, without the options in `without`, which have a value each.
    pub fn typed(arguments: impl IntoIterator<Item = OsString>, without: &[&str]) -> Asked {
        let words = arguments.into_iter().skip(1).map(|word| word.to_string_lossy().into_owned());
        let words = words.enumerate().filter(|(number, word)| *number > 0 || word != "interloper");
        let arguments = left_of(words.map(|(_, word)| word), without);
        Asked { tool: env!("CARGO_PKG_VERSION").to_owned(), arguments }
    }

    /// The words after `cargo interloper`, without the options in `without`, which have a value each.
    pub fn without(&self, without: &[&str]) -> Vec<String> {
        left_of(self.arguments.iter().cloned(), without)
    }

    /// The command line that asks for it again.
    pub fn again(&self) -> impl Iterator<Item = OsString> {
        ["cargo-interloper"].into_iter().chain(self.arguments.iter().map(String::as_str)).map(OsString::from)
    }

    /// In one line.
    pub fn line(&self) -> String {
        format!("{} of version {}", self.arguments.join(" "), self.tool)
    }
}

/// The words without some options, which have a value each.
fn left_of(mut words: impl Iterator<Item = String>, without: &[&str]) -> Vec<String> {
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let is_it =
            |option: &&&str| word.strip_prefix(**option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
        match without.iter().find(is_it) {
            Some(option) if word == **option => drop(words.next()),
            Some(_) => {}
            None => kept.push(word),
        }
    }
    kept
}

/// What a shard prints.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    shard: String,
    asked: Asked,
    /// Whether all the work belongs to other shards, so that this one says nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    nothing_to_do: bool,
    gave: Told,
}

/// What the shards gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Told {
    /// The visits of each object, by the name of its test.
    Hunts(BTreeMap<String, Vec<Visit>>),
    /// What came of operations, by their numbers.
    Operations(BTreeMap<usize, Outcome>),
    /// What came of weakening orderings, by their numbers.
    Orderings(BTreeMap<usize, Vec<Trial>>),
}

impl Told {
    /// What two shards gave.
    fn and(self, other: Told) -> Option<Told> {
        Some(match (self, other) {
            (Told::Hunts(mut hunts), Told::Hunts(others)) => {
                others.into_iter().for_each(|(test, visits)| hunts.entry(test).or_default().extend(visits));
                Told::Hunts(hunts)
            }
            (Told::Operations(mut operations), Told::Operations(others)) => {
                operations.extend(others);
                Told::Operations(operations)
            }
            (Told::Orderings(mut orderings), Told::Orderings(others)) => {
                orderings.extend(others);
                Told::Orderings(orderings)
            }
            _ => return None,
        })
    }
}

/// The document of a shard, in one line. Says so if the shard had nothing to do: its end with exit code 0 is not a pass.
pub fn document(shard: Shard, asked: Asked, told: Told, nothing_to_do: bool) -> String {
    if nothing_to_do {
        let what = asked.arguments.join(" ");
        let words = "nothing to do: all the work belongs to other shards, so this one says nothing about";
        note(&format!("shard {shard} has {words} `cargo interloper {what}`"));
    }
    let document = Document { version: VERSION, shard: shard.to_string(), asked, nothing_to_do, gave: told };
    sealed::in_a_line(&document) + "\n"
}

/// Joins the documents of all shards of one search. A shard that is given twice counts once.
///
/// # Errors
/// When a file is not the document of a shard, when the files belong to different searches, and when shards are missing.
pub fn join(files: &[PathBuf]) -> Result<(Asked, Told), Refusal> {
    let difference = |one: &Document, other: &Document| {
        (one.asked != other.asked).then(|| format!("{}, and {}", one.asked.line(), other.asked.line()))
    };
    let of_shard = |path: &PathBuf| {
        let name = path.display().to_string();
        let (text, shard, document) = read(path).map_err(|reason| format!("{name}: {reason}"))?;
        Ok(OfShard { name, text, shard, document })
    };
    let shards = Shards::read(files, of_shard, difference).map_err(Refusal::Request)?;
    let OfShard { name, document: Document { asked, .. }, .. } = shards.first();
    let asked = asked.clone();
    if asked.tool != env!("CARGO_PKG_VERSION") {
        let reason = format!("{name}: another version of interloper has made it; merge with that version");
        return Err(Refusal::Request(reason));
    }
    let shards = shards.all().map_err(Refusal::Request)?;
    let idle: Vec<Shard> =
        shards.iter().filter(|shard| shard.document.nothing_to_do).map(|shard| shard.shard).collect();
    interloper::idle(&idle).iter().for_each(|said| note(said));
    let told = shards.into_iter().map(|shard| Some(shard.document.gave));
    let told = told.reduce(|one, other| one?.and(other?)).flatten();
    told.map(|told| (asked, told)).ok_or_else(|| Refusal::Request("the files are of different commands".to_owned()))
}

fn read(path: &Path) -> Result<(String, Shard, Document), String> {
    let text = file::read(path, sealed::MAX_BYTES).map_err(|error| error.to_string())?;
    let text = String::from_utf8(text).map_err(|error| KIND.damaged(error))?;
    if serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|value| value["told"].is_object()) {
        return Err("the result of a shard of `interloper`: join it with `interloper merge`".to_owned());
    }
    let document: Document = KIND.parse(&text)?;
    let shard = document.shard.parse().map_err(|error: ShardError| KIND.damaged(error))?;
    Ok((text, shard, document))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn typed(line: &str) -> Asked {
        Asked::typed(line.split(' ').map(OsString::from), &["--shard", "--format"])
    }

    #[test]
    fn what_does_not_determine_the_result_is_left_out() {
        let asked = typed("x interloper hunt --shard 1/2 --seed 7 --format=json map --shard=2/2 --format text");
        assert_eq!(asked.arguments, ["hunt", "--seed", "7", "map"]);
        assert_eq!(typed("x hunt --seed 7 interloper").arguments, ["hunt", "--seed", "7", "interloper"]);
        assert_eq!(typed("x hunt --shards").arguments, ["hunt", "--shards"]);
        assert_eq!(asked.again().collect::<Vec<_>>(), ["cargo-interloper", "hunt", "--seed", "7", "map"]);
    }

    #[test]
    fn complete_parts_are_joined_and_others_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, shard: &str, line: &str, told: Told| {
            let path = folder.path().join(name);
            let text = document(shard.parse().expect("a shard"), typed(line), told, false);
            fs::write(&path, text).expect("a file");
            path
        };
        let visit = |schema| Visit { schema, ..Visit::default() };
        let hunts =
            |schemas: &[u64]| Told::Hunts([("t".to_owned(), schemas.iter().copied().map(visit).collect())].into());
        let one = write("1", "1/2", "x hunt", hunts(&[0, 2]));
        let two = write("2", "2/2", "x hunt", hunts(&[1]));
        let joined = join(&[two.clone(), one.clone(), two.clone()]).expect("all parts");
        assert_eq!(joined, (typed("x hunt"), hunts(&[0, 2, 1])));
        let refused = |files: &[PathBuf], reason: &str| {
            let error = join(files).expect_err("not all parts of one search").to_string();
            assert!(error.contains(reason) && error.lines().count() == 1, "{error}");
        };
        refused(std::slice::from_ref(&two), "shard 1 of 2 is missing");
        refused(&[one.clone(), write("a", "2/2", "x hunt map", hunts(&[]))], "belong to different searches: hunt of");
        refused(&[one.clone(), write("b", "2/3", "x hunt", hunts(&[]))], "different searches: shard 1/2, and 2/3");
        refused(
            &[one.clone(), write("c", "1/2", "x hunt", hunts(&[]))],
            "are both shard 1/2, and have different results",
        );
        let operations = Told::Operations([(0, Outcome::NotRun("so".to_owned()))].into());
        refused(&[one.clone(), write("d", "2/2", "x hunt", operations)], "the files are of different commands");
        for (text, reason) in [
            ("", "not the result of a shard: EOF"),
            ("{}", "missing field `version`"),
            ("{\"version\":1}", "written by another interloper (version 1, this one reads version 3)"),
            ("{\"version\":3,\"told\":{}}", "join it with `interloper merge`"),
            ("{\"version\":3,\"shard\":\"1/1\"}", "its checksum does not fit: it was torn or edited"),
            (&format!("{}\n", sealed::seal("{\"version\":3,\"shard\":\"1/1\"}")), "not the result of a shard: missing"),
        ] {
            let path = folder.path().join("e");
            fs::write(&path, text).expect("a file");
            refused(&[path], reason);
        }
        refused(&[folder.path().to_owned()], "not a file");
        // Each byte of it counts.
        let intact = fs::read(&two).expect("a file");
        for at in 0..intact.len() {
            let mut flipped = intact.clone();
            flipped[at] ^= 1;
            fs::write(&two, flipped).expect("a file");
            assert!(
                join(&[one.clone(), two.clone()]).is_err_and(|error| error.to_string().lines().count() == 1),
                "{at}"
            );
        }
        fs::write(&two, intact).expect("a file");
        assert!(join(&[one, two]).is_ok());
    }
}
