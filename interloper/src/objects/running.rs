//! The schema that a hunt is at, in a file beside its visits, so that another process goes on within the schema.
//!
//! The file is a JSON document with a checksum, which is replaced as a whole.

use std::io;
use std::path::{Path, PathBuf};

use interloper_harness::hunt::{KeepVisits, Running, Visit};
use interloper_report::file;
use interloper_report::sealed::{self, Kind};
use serde::{Deserialize, Serialize};

use super::journal::Journal;
use super::search::Search;
use crate::blocks::progress::Pace;

/// The format of the file. Before version 2 it did not say which program ran, before version 3 not which schema.
pub const VERSION: u32 = 3;

const KIND: Kind =
    Kind { what: "the progress of a hunt", version: VERSION, remedy: "delete it to begin its schema anew" };

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    asked: String,
    program: String,
    running: Running,
}

/// Keeps the visits of a hunt, and the schema that runs. It tells once if that fails: the search is worth its result all the same.
pub(super) struct Keeper<T> {
    journal: Option<Journal>,
    path: PathBuf,
    search: Search,
    pace: Pace,
    tell: T,
}

impl<T: Fn(&str)> Keeper<T> {
    /// Keeps the visits in `journal` and the schema in the file at `path`, which belongs to `search`.
    pub(super) fn new(journal: Journal, path: PathBuf, search: Search, tell: T) -> Keeper<T> {
        Keeper { journal: Some(journal), path, search, pace: Pace::default(), tell }
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
        self.pace.is_due()
    }

    fn keep_running(&mut self, running: Option<Running>) {
        if let Some(running) = running.filter(|_| self.journal.is_some()) {
            let Search { asked, program } = self.search.clone();
            let document = Document { version: VERSION, asked, program, running };
            let text = sealed::in_a_line(&document);
            // An earlier moment stays where this one is too large to be read: the search goes on from there.
            if text.len() as u64 <= sealed::MAX_BYTES
                && let Err(error) = file::write(&self.path, text.as_bytes())
            {
                self.failed(&error);
            }
        }
        self.pace.kept();
    }
}

/// The schema in the file at `path`, if there is such a file.
///
/// # Errors
/// In one line, with the path: when the file is that of another search or of another program, and when it is damaged.
pub(super) fn read(path: &Path, search: &Search) -> Result<Option<Running>, String> {
    let refused = |reason: String| format!("{}: {reason}", path.display());
    let Some(Document { asked, program, running, .. }) = KIND.read(path).map_err(refused)? else { return Ok(None) };
    match search.refusal(&Search { asked, program }) {
        None => Ok(Some(running)),
        Some(refusal) => Err(refused(refusal)),
    }
}

#[cfg(test)]
mod tests;
