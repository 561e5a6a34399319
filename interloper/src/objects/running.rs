//! The schema that a hunt is at, in a file beside its visits, so that another process goes on within the schema.
//!
//! The file is a JSON document with a checksum, which is replaced as a whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use interloper_harness::hunt::{KeepVisits, Running, Visit};
use interloper_report::{file, sealed};
use serde::{Deserialize, Serialize};

use super::journal::Journal;
use super::search::Search;

/// The format of the file. Before version 2 it did not say which program ran.
pub const VERSION: u32 = 2;

/// A larger file is something else.
const MAX_BYTES: u64 = 1 << 30;

/// A checksum takes fewer bytes.
const CHECKSUM: u64 = 64;

/// How often the schema is kept.
const EVERY: Duration = Duration::from_millis(500);

/// To keep the schema takes at most this part of the time.
const SHARE: u32 = 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    asked: String,
    program: String,
    running: Running,
}

/// Only the version: it decides whether the rest can be expected to have today's shape.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Keeps the visits of a hunt, and the schema that runs. It tells once if that fails: the search is worth its result all the same.
pub(super) struct Keeper<T> {
    journal: Option<Journal>,
    path: PathBuf,
    search: Search,
    last: Instant,
    /// When it was last asked whether the schema is to be kept.
    asked: Instant,
    wait: Duration,
    tell: T,
}

impl<T: Fn(&str)> Keeper<T> {
    /// Keeps the visits in `journal` and the schema in the file at `path`, which belongs to `search`.
    pub(super) fn new(journal: Journal, path: PathBuf, search: Search, tell: T) -> Keeper<T> {
        let now = Instant::now();
        Keeper { journal: Some(journal), path, search, last: now, asked: now, wait: EVERY, tell }
    }

    fn failed(&mut self, error: &io::Error) {
        self.journal = None;
        (self.tell)(&format!("cannot keep the progress: {error}"));
    }
}

impl<T: Fn(&str)> KeepVisits for Keeper<T> {
    fn keep(&mut self, visit: &Visit) {
        let added = self.journal.as_mut().map(|journal| journal.add(visit));
        if let Some(Err(error)) = added {
            self.failed(&error);
        }
    }

    fn is_due(&mut self) -> bool {
        self.asked = Instant::now();
        self.asked - self.last >= self.wait
    }

    fn keep_running(&mut self, running: Option<Running>) {
        if let Some(running) = running.filter(|_| self.journal.is_some()) {
            let Search { asked, program } = self.search.clone();
            let document = Document { version: VERSION, asked, program, running };
            let text = serde_json::to_string(&document).expect("plain data is always JSON");
            // An earlier moment stays where this one is too large to be read: the search goes on from there.
            if text.len() as u64 <= MAX_BYTES - CHECKSUM
                && let Err(error) = file::write(&self.path, sealed::seal(&text).as_bytes())
            {
                self.failed(&error);
            }
        }
        self.last = Instant::now();
        // What the strategy keeps was put together since it was asked for.
        self.wait = EVERY.max((self.last - self.asked) * SHARE);
    }
}

/// The schema in the file at `path`, if there is such a file.
///
/// # Errors
/// In one line, with the path: when the file is that of another search or of another program, and when it is damaged.
pub(super) fn read(path: &Path, search: &Search) -> Result<Option<Running>, String> {
    parse(path, search).map_err(|reason| format!("{}: {reason}", path.display()))
}

fn parse(path: &Path, search: &Search) -> Result<Option<Running>, String> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata.map_err(|error| error.to_string())?,
    };
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err("not the progress of a hunt: not a file, or too large; name another folder".to_owned());
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let damaged = |error: &str| format!("not the progress of a hunt: {error}; delete it to begin its schema anew");
    let wrong = |error: serde_json::Error| damaged(&error.to_string());
    let Version { version } = serde_json::from_str(&text).map_err(wrong)?;
    if version != VERSION {
        return Err(format!("written by another interloper (version {version}, this one reads version {VERSION})"));
    }
    let text = sealed::open(&text).ok_or_else(|| damaged("its checksum does not fit: the file was torn or edited"))?;
    let Document { asked, program, running, .. } = serde_json::from_str(&text).map_err(wrong)?;
    match search.refusal(&Search { asked, program }) {
        None => Ok(Some(running)),
        Some(refusal) => Err(refusal),
    }
}

#[cfg(test)]
mod tests;
