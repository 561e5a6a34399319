//! The file that a failing case leaves behind, and that `replay` reads.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Where replay files are written, below the working directory.
pub const FOLDER: &str = "interloper-failures";

/// The version that is written and read.
pub const VERSION: u32 = 1;

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
    /// The fingerprint of the history, 16 hexadecimal digits.
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
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let damaged = |error: serde_json::Error| format!("damaged: {error}");
        let header: Header = serde_json::from_slice(bytes).map_err(damaged)?;
        if header.version > VERSION {
            return Err(format!(
                "written by a newer interloper (version {}, this one reads version {VERSION})",
                header.version
            ));
        }
        if header.version != VERSION {
            return Err(format!("version {} is not supported, only version {VERSION} is", header.version));
        }
        let file: Self = serde_json::from_slice(bytes).map_err(damaged)?;
        if file.history_hash.len() != 16 || !file.history_hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("damaged: '{}' is no history hash of 16 hexadecimal digits", file.history_hash));
        }
        Ok(file)
    }
}

/// Writes a document as indented JSON into a file, and its folder where that is missing.
pub fn write(document: &impl Serialize, path: &Path) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(document).expect("strings and numbers are always JSON");
    text.push('\n');
    write_text(&text, path)
}

/// Writes a text into a file, and its folder where that is missing.
pub fn write_text(text: &str, path: &Path) -> Result<(), Failure> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| fs::write(path, text))
        .map_err(|error| Failure::Request(format!("cannot write {}: {error}", path.display())))
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
        ReplayFile {
            version: VERSION,
            case: "memoize".into(),
            seed: 42,
            options: Options { adversary: "preceding".into(), environment: "open".into(), bound: 3 },
            decisions: "0 1 4".into(),
            history_hash: "00c0ffee00c0ffee".into(),
            history: vec![Moment { step: 1, event: "memoize(7): get(7) → none".into(), state: None }],
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
        check("{\"version\": 2, \"shape\": 1}", "written by a newer interloper (version 2, this one reads version 1)");
        check("{\"version\": 0}", "version 0 is not supported");
        check("{\"version\": \"1\"}", "damaged: invalid type");
        check("[]", "damaged: ");
        check("{\"version\": 1}", "damaged: missing field `case`");
        check("\u{0}\u{1}", "damaged: expected value at line 1 column 1");
        let mut short = example();
        short.history_hash = "+0c0ffee00c0ffee".into();
        check(&serde_json::to_string(&short).expect("JSON"), "damaged: '+0c0ffee00c0ffee' is no history hash");
    }

    #[test]
    fn a_path_stays_in_the_folder() {
        assert_eq!(ReplayFile::path("memoize", 42), Path::new("interloper-failures/memoize-42.json"));
        assert_eq!(ReplayFile::path("../etc/x y", 1), Path::new("interloper-failures/---etc-x-y-1.json"));
    }
}
