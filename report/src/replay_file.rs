//! The file that a finding leaves behind, and that replays it: one format for every kind of finding.
//!
//! A file names what was run ([`About`]), has the decisions that determine the execution, and the execution itself as a
//! history of [`Moment`]s. A replay compares moments by their structure (who, which action, on what, with which values),
//! so a report may change its words without any saved file diverging.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Counterexample;
use crate::file;
use crate::json::version;
use crate::shorten::{LONGEST_TEXT, middle};

/// The folder of replay files: of the command in the working directory, of a test beside its source file.
pub const FOLDER: &str = "interloper-failures";

/// The version that is written and read.
///
/// Before version 3 there were three formats, whose histories were the words of a report.
pub const VERSION: u32 = 3;

/// A replay file has some kilobytes; a larger file is something else.
const MAX_BYTES: u64 = 16 << 20;

/// Everything that determines one execution, and what it showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayFile {
    /// The format: [`VERSION`].
    pub version: u32,
    /// What was run.
    pub about: About,
    /// The seed of the search that found the execution.
    pub seed: u64,
    /// Which execution of the search it was, counted from 1.
    pub execution: u64,
    /// What it showed, as one word: `not-linearizable`, `panic`, `deadlock`.
    pub finding: String,
    /// The decisions of the smallest execution that shows the finding.
    pub decisions: String,
    /// The decisions of the execution that was found first, where those are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The [`fingerprint`] of the history.
    pub history_hash: String,
    /// The execution, step by step.
    pub history: Vec<Moment>,
    /// The report, for a person who reads the file. Long texts are shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Counterexample>,
    /// Where a program for it is built from: an operation, a type or an object of a crate that `cargo interloper` has read.
    /// None of a test, and of what the command `interloper` has in itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// What `cargo interloper` builds to run an execution again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The words after `cargo interloper` that say what is built.
    pub arguments: Vec<String>,
    /// The package with the operation, the type or the object.
    pub package: String,
}

/// What a replay file is about, with the options that its decisions are counted under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum About {
    /// A composed operation of the suite.
    Case {
        /// Its name.
        name: String,
        /// `nearest`, `preceding` or `unfiltered`.
        adversary: String,
        /// `open`, `restricted` or `closed`.
        environment: String,
        /// Environment operations in one run, at most.
        bound: u32,
    },
    /// A program with atomic blocks of the suite.
    Program {
        /// Its name.
        name: String,
        /// How the search chose its schedules.
        strategy: String,
    },
    /// A test.
    Test {
        /// Its name, with its module.
        name: String,
        /// How the search chose its schedules.
        strategy: String,
        /// Whether critical sections were blocks.
        critical_sections: bool,
    },
    /// A schema of an object.
    Schema {
        /// The object.
        object: String,
        /// The method under test.
        method: String,
        /// The schema, as `hunt --schema` reads it.
        schema: String,
        /// Whether giving a lock back was a step of its own.
        unlock_is_a_step: bool,
        /// The seed of the hashers that the execution made.
        #[serde(default, skip_serializing_if = "crate::explorer::is_zero")]
        hasher_seed: u64,
    },
    /// Two methods of a type at once.
    Pair {
        /// The type.
        name: String,
        /// The methods.
        methods: [String; 2],
        /// The shape of the schemas, by its number: how many calls lead to the state, and how many each task makes.
        shape: u32,
    },
}

impl About {
    /// The name of what was run.
    pub fn name(&self) -> &str {
        match self {
            About::Case { name, .. }
            | About::Program { name, .. }
            | About::Test { name, .. }
            | About::Pair { name, .. } => name,
            About::Schema { object, .. } => object,
        }
    }

    /// What it is, as JSON documents name it.
    pub fn kind(&self) -> &'static str {
        match self {
            About::Case { .. } => "case",
            About::Program { .. } => "program",
            About::Test { .. } => "test",
            About::Schema { .. } => "object",
            About::Pair { .. } => "type",
        }
    }

    /// What it is, in words: `the case`.
    pub fn what(&self) -> &'static str {
        match self {
            About::Case { .. } => "the case",
            About::Program { .. } => "the program with blocks",
            About::Test { .. } => "the test",
            About::Schema { .. } => "the object",
            About::Pair { .. } => "the type",
        }
    }
}

/// One event of a history, by its structure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// The number of the call or task that acts. None for the environment, and for the state at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<u32>,
    /// What happens, as a word that no report shows: `lock exclusive`, `insert`, `returned`.
    pub action: String,
    /// The object, by its number in the order of first use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<u32>,
    /// Arguments and results. Of a long value the beginning, the end and a hash are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The state afterwards, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The same in the words of the report, for a person who reads the file. It is not compared.
    pub says: String,
}

impl Moment {
    /// A moment without object, values and state.
    pub fn new(by: Option<u32>, action: impl Into<String>, says: &str) -> Moment {
        Moment { by, action: action.into(), says: kept(says), ..Moment::default() }
    }

    /// With an argument or a result.
    #[must_use]
    pub fn with(mut self, value: impl fmt::Display) -> Moment {
        self.values.push(kept(&value.to_string()));
        self
    }

    /// With the state afterwards.
    #[must_use]
    pub fn and_state(mut self, state: &str) -> Moment {
        self.state = Some(kept(state));
        self
    }

    /// Whether the same happens. Words are not compared.
    pub fn is_same(&self, other: &Moment) -> bool {
        let structure = |moment: &Moment| (moment.by, moment.object);
        structure(self) == structure(other)
            && self.action == other.action
            && self.values == other.values
            && self.state == other.state
    }
}

/// The first moment in which two histories differ, in words; `None` if they are the same.
pub fn difference(recorded: &[Moment], now: &[Moment]) -> Option<String> {
    let longer = recorded.len().max(now.len());
    let same = |at: usize| match (recorded.get(at), now.get(at)) {
        (Some(recorded), Some(now)) => recorded.is_same(now),
        _ => false,
    };
    let at = (0..longer).find(|&at| !same(at))?;
    let describe = |moment: Option<&Moment>| match moment {
        Some(Moment { says, state: Some(state), .. }) => {
            format!("'{}' giving {}", middle(says, LONGEST_TEXT), middle(state, LONGEST_TEXT))
        }
        Some(Moment { says, .. }) => format!("'{}'", middle(says, LONGEST_TEXT)),
        None => "the end".to_owned(),
    };
    let (was, is) = (describe(recorded.get(at)), describe(now.get(at)));
    // The same words can stand for different values, which long texts do not show.
    let detail = if was == is { " (with other numbers or values)" } else { "" };
    Some(format!("at event {}: recorded {was}, now {is}{detail}", at + 1))
}

/// Why a replay file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// There is no such file, or it cannot be read.
    Unreadable(String),
    /// Another version of Interloper has written it.
    OtherVersion(u32),
    /// It is not a replay file, or it was changed.
    Damaged(String),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Unreadable(reason) => f.write_str(reason),
            Unusable::OtherVersion(version) => {
                let age = if *version < VERSION { "an older" } else { "a newer" };
                write!(f, "written by {age} interloper (version {version}, this one reads version {VERSION})")
            }
            Unusable::Damaged(reason) => write!(f, "damaged: {reason}"),
        }
    }
}

impl std::error::Error for Unusable {}

impl ReplayFile {
    /// A file of this version with the hash of its history.
    pub fn new(
        about: About,
        seed: u64,
        execution: u64,
        finding: &str,
        decisions: String,
        history: Vec<Moment>,
    ) -> Self {
        ReplayFile {
            version: VERSION,
            about,
            seed,
            execution,
            finding: finding.to_owned(),
            decisions,
            found: None,
            history_hash: fingerprint(&history),
            history,
            counterexample: None,
            origin: None,
        }
    }

    /// Where the file is written: a name with anything but words made a dash, and the seed.
    pub fn path(&self, folder: &Path) -> PathBuf {
        let name = match &self.about {
            About::Schema { object, method, .. } => format!("{object}-{method}"),
            About::Pair { name, methods: [one, other], .. } => format!("{name}-{one}-{other}"),
            about => about.name().to_owned(),
        };
        path(&name, self.seed, folder)
    }

    /// Writes the file, and its folder where that is missing.
    ///
    /// # Errors
    /// When the folder cannot be made, or the file cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(self).expect("strings and numbers are always JSON");
        text.push('\n');
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        file::write(path, text.as_bytes())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, has another version, or is damaged.
    pub fn read(path: &Path) -> Result<ReplayFile, Unusable> {
        let bytes = file::read(path, MAX_BYTES).map_err(|error| Unusable::Unreadable(error.to_string()))?;
        ReplayFile::parse(&bytes)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// When they have another version, or are damaged. The reason is one line of a length that a person reads.
    pub fn parse(bytes: &[u8]) -> Result<ReplayFile, Unusable> {
        let damaged = |reason: String| {
            let plain = reason.len() <= LONGEST_TEXT && !reason.contains(char::is_control);
            Unusable::Damaged(match plain {
                true => reason,
                false => middle(&reason.escape_debug().to_string(), LONGEST_TEXT).into_owned(),
            })
        };
        let json = |error: serde_json::Error| damaged(error.to_string());
        match version(bytes).map_err(json)? {
            VERSION => {}
            0 => return Err(Unusable::Damaged("no format has version 0".to_owned())),
            version => return Err(Unusable::OtherVersion(version)),
        }
        let file: ReplayFile = serde_json::from_slice(bytes).map_err(json)?;
        check_hash(&file.history_hash, &file.history).map_err(damaged)?;
        Ok(file)
    }
}

/// Refuses a history that is not the one of the hash beside it.
fn check_hash(hash: &str, history: &[Moment]) -> Result<(), String> {
    if hash.len() != 16 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("'{hash}' is not a history hash of 16 hexadecimal digits"));
    }
    match fingerprint(history) {
        found if found == hash.to_ascii_lowercase() => Ok(()),
        found => Err(format!("its history has the hash {found}, and the file says {hash}: was it edited?")),
    }
}

/// Where a file about something of this name is written.
pub fn path(name: &str, seed: u64, folder: &Path) -> PathBuf {
    folder.join(format!("{}{seed}.json", stem(name)))
}

/// The beginning of a file's name: the name of what was run, with a dash for everything that is not a word.
pub fn stem(name: &str) -> String {
    let plain = |part: &str| -> String {
        part.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect()
    };
    let parts: Vec<String> = name.split("::").map(plain).collect();
    format!("{}-", parts.join("-"))
}

/// A text as a history keeps it: of a long one the beginning, the end and a hash.
fn kept(text: &str) -> String {
    const LONGEST: usize = 10_000;
    match middle(text, LONGEST) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(short) => format!("{short} (hash {:016x})", fnv(START, text.as_bytes())),
    }
}

/// The start value of FNV-1a.
pub(crate) const START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, continued over more bytes.
pub(crate) fn fnv(mut hash: u64, bytes: &[u8]) -> u64 {
    // This crate is built without optimisation, where an iterator takes several times as long as a plain loop.
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ u64::from(bytes[at])).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}

/// A hash of a history that is equal on every machine: FNV-1a over the structure of each moment, as 16 hexadecimal
/// digits. Words are left out.
pub fn fingerprint(history: &[Moment]) -> String {
    // No text holds the byte 255, and what is absent differs from what is empty.
    let part = |hash: u64, bytes: &[u8]| fnv(fnv(hash, bytes), &[0xff]);
    let absent: &[u8] = &[0xfe];
    let mut hash = START;
    for Moment { by, action, object, values, state, says: _ } in history {
        for number in [by, object] {
            hash = number.map_or_else(|| part(hash, absent), |number| part(hash, number.to_string().as_bytes()));
        }
        hash = part(hash, action.as_bytes());
        hash = part(hash, values.len().to_string().as_bytes());
        hash = values.iter().fold(hash, |hash, value| part(hash, value.as_bytes()));
        hash = part(hash, state.as_deref().map_or(absent, str::as_bytes));
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests;
