//! The file that a failing case leaves behind, and that `replay` reads.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use interloper_report::file;
use interloper_report::shorten::middle;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Where replay files are written, below the working directory.
pub const FOLDER: &str = "interloper-failures";

/// The version that is written and read. In version 1 the hash was not that of the history in the file.
pub const VERSION: u32 = 2;

/// A replay file is some kilobytes; what is larger than this is something else.
const MAX_BYTES: u64 = 16 << 20;

/// Everything that determines one run of one case, and what the run was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayFile {
    /// The format: [`VERSION`].
    pub version: u32,
    /// The name of the case.
    pub case: String,
    /// The seed of the search that found the run.
    pub seed: u64,
    /// The options that the decisions are counted under.
    pub options: Options,
    /// The decisions of the run, as the scheduler writes them.
    pub decisions: String,
    /// The [`fingerprint`] of the history.
    pub history_hash: String,
    /// The history itself: what tells where another run goes another way.
    pub history: Vec<Moment>,
}

/// One event of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// The number of the step that it is, or follows.
    pub step: usize,
    /// Who did what: `environment: insert(7, 12) → none`.
    pub event: String,
    /// The state afterwards.
    pub state: Option<String>,
}

/// The options of a run, by their names on the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// `nearest`, `preceding` or `naive`.
    pub adversary: String,
    /// `open`, `restricted` or `closed`.
    pub environment: String,
    /// Environment operations in one run, at most.
    pub bound: u32,
}

/// Only the version: it decides whether the rest can be expected to have today's shape.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

impl ReplayFile {
    /// The path of the file for a case and a seed. Names of cases are words; anything else in one becomes a dash.
    pub fn path(case: &str, seed: u64) -> PathBuf {
        let plain = |c: char| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
        let case: String = case.chars().map(plain).collect();
        Path::new(FOLDER).join(format!("{case}-{seed}.json"))
    }

    /// Writes the file, and its folder where that is missing.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        write(self, path)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        Self::parse(&bytes(path)?).map_err(|reason| refuse(path, &reason))
    }

    /// Reads the bytes of a file; the error is the reason alone.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let damaged = |error: serde_json::Error| format!("damaged: {error}");
        let header: Header = serde_json::from_slice(bytes).map_err(damaged)?;
        check_version(header.version)?;
        let file: Self = serde_json::from_slice(bytes).map_err(damaged)?;
        check_hash(&file.history_hash, &file.history)?;
        Ok(file)
    }
}

/// Refuses a file of another version.
pub fn check_version(version: u32) -> Result<(), String> {
    let age = match version {
        VERSION => return Ok(()),
        1..VERSION => "an older",
        0 => return Err("damaged: there is no version 0".to_owned()),
        _ => "a newer",
    };
    Err(format!("written by {age} interloper (version {version}, this one reads version {VERSION})"))
}

/// Refuses a history that is not the one of the hash beside it.
pub fn check_hash(hash: &str, history: &[Moment]) -> Result<(), String> {
    if hash.len() != 16 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("damaged: '{hash}' is no history hash of 16 hexadecimal digits"));
    }
    match fingerprint(history) {
        found if found == hash.to_ascii_lowercase() => Ok(()),
        found => Err(format!("damaged: its history has the hash {found}, and the file says {hash}: was it edited?")),
    }
}

/// A text as a history keeps it: of a long one, the beginning, the end and the hash. An outcome may be any value.
pub fn kept(text: &str) -> String {
    const LONGEST: usize = 10_000;
    match middle(text, LONGEST) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(short) => format!("{short} (hash {:016x})", fnv(START, text.as_bytes())),
    }
}

/// What FNV-1a begins with.
const START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, gone on with.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A hash of a history that is equal on every machine: FNV-1a over every field, as 16 hexadecimal digits.
pub fn fingerprint(history: &[Moment]) -> String {
    let mut hash = START;
    for Moment { step, event, state } in history {
        // No text holds the byte 255, and an absent state differs from an empty one.
        let state = state.as_deref().map_or(&[0xfe][..], str::as_bytes);
        for part in [step.to_string().as_bytes(), event.as_bytes(), state] {
            hash = fnv(fnv(hash, part), &[0xff]);
        }
    }
    format!("{hash:016x}")
}

/// Writes a document as indented JSON into a file, and its folder where that is missing.
pub fn write(document: &impl Serialize, path: &Path) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(document).expect("strings and numbers are always JSON");
    text.push('\n');
    write_text(&text, path)
}

/// Writes a text into a file, and its folder where that is missing.
pub fn write_text(text: &str, path: &Path) -> Result<(), Failure> {
    make_folder(path)?;
    write_page(text, path)
}

/// Writes a text into a file of a folder that exists.
pub fn write_page(text: &str, path: &Path) -> Result<(), Failure> {
    file::write(path, text.as_bytes()).map_err(|error| cannot_write(path, &error))
}

/// Refuses a file that could not be written, before the search whose result it is to hold.
pub fn can_write(path: &Path) -> Result<(), Failure> {
    file::check(path).map_err(|error| cannot_write(path, &error))
}

/// Makes the folder of a file where it is missing.
pub fn make_folder(path: &Path) -> Result<(), Failure> {
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::Request(format!("cannot write {}: {error}", path.display()))
}

/// The bytes of a file, if it can be a replay file.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let metadata = fs::metadata(path).map_err(|error| refuse(path, &error.to_string()))?;
    if !metadata.is_file() {
        return Err(refuse(path, "not a file"));
    }
    if metadata.len() > MAX_BYTES {
        return Err(refuse(path, &format!("{} bytes are no replay file", metadata.len())));
    }
    fs::read(path).map_err(|error| refuse(path, &error.to_string()))
}

/// Why a file cannot be replayed.
pub fn refuse(path: &Path, reason: &str) -> Failure {
    Failure::Request(format!("cannot replay {}: {reason}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> ReplayFile {
        let history = vec![Moment { step: 1, event: "memoize(7): get(7) → none".into(), state: None }];
        ReplayFile {
            version: VERSION,
            case: "memoize".into(),
            seed: 42,
            options: Options { adversary: "preceding".into(), environment: "open".into(), bound: 3 },
            decisions: "0 1 4".into(),
            history_hash: fingerprint(&history),
            history,
        }
    }

    #[test]
    fn a_file_round_trips() {
        let bytes = serde_json::to_vec(&example()).expect("JSON");
        assert_eq!(ReplayFile::parse(&bytes), Ok(example()));
    }

    #[test]
    fn every_prefix_of_a_file_is_damaged() {
        let bytes = serde_json::to_vec(&example()).expect("JSON");
        for length in 0..bytes.len() {
            let reason = ReplayFile::parse(&bytes[..length]).expect_err("cut short");
            assert!(reason.starts_with("damaged: "), "{length}: {reason}");
            assert!(!reason.contains('\n'), "{reason}");
        }
    }

    #[test]
    fn versions_and_fields_are_checked() {
        let check = |file: &str, expected: &str| {
            let reason = ReplayFile::parse(file.as_bytes()).expect_err(file);
            assert!(reason.starts_with(expected), "{file}: {reason}");
        };
        check("{\"version\": 3, \"shape\": 1}", "written by a newer interloper (version 3, this one reads version 2)");
        check("{\"version\": 1}", "written by an older interloper (version 1, this one reads version 2)");
        check("{\"version\": 0}", "damaged: there is no version 0");
        check("{\"version\": \"1\"}", "damaged: invalid type");
        check("[]", "damaged: ");
        check("{\"version\": 2}", "damaged: missing field `case`");
        check("\u{0}\u{1}", "damaged: expected value at line 1 column 1");
        let mut short = example();
        short.history_hash = "+0c0ffee00c0ffee".into();
        check(&serde_json::to_string(&short).expect("JSON"), "damaged: '+0c0ffee00c0ffee' is no history hash");
    }

    #[test]
    fn a_history_of_another_hash_is_refused() {
        let check = |change: fn(&mut ReplayFile)| {
            let mut file = example();
            change(&mut file);
            let bytes = serde_json::to_vec(&file).expect("JSON");
            let reason = ReplayFile::parse(&bytes).expect_err("it was edited");
            assert!(reason.starts_with("damaged: its history has the hash "), "{reason}");
        };
        check(|file| file.history_hash = "00c0ffee00c0ffee".into());
        check(|file| file.history[0].event.push('!'));
        check(|file| file.history[0].step = 2);
        check(|file| file.history[0].state = Some(String::new()));
        check(|file| file.history.clear());
        check(|file| file.history.push(file.history[0].clone()));
    }

    #[test]
    fn a_long_text_is_kept_by_its_ends_and_its_hash() {
        assert_eq!(kept("get(7) → none"), "get(7) → none");
        let (one, other) = ("x".repeat(1 << 20), format!("{}y{}", "x".repeat(1 << 19), "x".repeat((1 << 19) - 1)));
        assert_eq!(one.len(), other.len());
        assert!(kept(&one).len() < 11_000);
        assert_ne!(kept(&one), kept(&other));
    }

    #[test]
    fn digits_of_a_hash_may_be_capitals() {
        let mut file = example();
        file.history_hash.make_ascii_uppercase();
        let bytes = serde_json::to_vec(&file).expect("JSON");
        assert_eq!(ReplayFile::parse(&bytes), Ok(file));
    }

    #[test]
    fn a_path_stays_in_the_folder() {
        assert_eq!(ReplayFile::path("memoize", 42), Path::new("interloper-failures/memoize-42.json"));
        assert_eq!(ReplayFile::path("../etc/x y", 1), Path::new("interloper-failures/---etc-x-y-1.json"));
    }
}
