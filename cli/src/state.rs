//! The folder of `--state`: how far each search has come, so that it can be continued after its process has ended.
//!
//! The folder holds one JSON document for each search, and a file that is locked while a process uses the folder. A document
//! is replaced as a whole, so a process that is killed leaves the old one or the new one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use interloper::blocks::progress::{Keep, Progress};
use interloper::objects::hunt::Visits;
use interloper::objects::journal::Journal;
use interloper_report::file;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::files::{can_write, cannot_write};
use crate::output;
use crate::shards::Asked;

/// The format of a document.
pub const VERSION: u32 = 1;

/// A larger document is something else.
const MAX_BYTES: u64 = 1 << 30;

/// How often progress is kept: a process that is killed loses the work of less than a second, and the chunks of executions
/// that were running.
const EVERY: Duration = Duration::from_millis(500);

/// A folder that no other process uses as long as this value lives.
pub struct State {
    folder: PathBuf,
    _locked: File,
}

impl State {
    /// Locks the folder, and makes it where it is missing.
    ///
    /// # Errors
    /// When another process uses the folder, and when it cannot be written to.
    pub fn open(folder: &Path) -> Result<State, Failure> {
        let path = folder.join("lock");
        let wrong = |error: io::Error| cannot_write(&path, &error);
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        let locked = File::options().create(true).append(true).open(&path).map_err(wrong)?;
        match fs4::FileExt::try_lock(&locked) {
            Ok(()) => Ok(State { folder: folder.to_owned(), _locked: locked }),
            Err(fs4::TryLockError::WouldBlock) => {
                let folder = folder.display();
                Err(Failure::Request(format!(
                    "{folder} is in use by another process; wait for its end, or name another folder"
                )))
            }
            Err(fs4::TryLockError::Error(error)) => Err(wrong(error)),
        }
    }

    /// What keeps the progress of a search in this folder. What an earlier process did is read.
    ///
    /// # Errors
    /// When the folder has the progress of a search of this name that was asked for otherwise, and when the document is
    /// damaged.
    pub fn of(&self, name: &str, asked: Asked) -> Result<OnDisk, Failure> {
        let path = self.folder.join(format!("{name}.json"));
        can_write(&path)?;
        let refused = |reason: String| Failure::Request(format!("{}: {reason}", path.display()));
        let earlier = match read(&path).map_err(refused)? {
            Some(kept) => match kept.asked.difference(&asked) {
                None => Some(kept.progress),
                Some(difference) => {
                    let reason = format!("the progress of another search: {difference}; name another folder");
                    return Err(refused(reason));
                }
            },
            None => None,
        };
        if let Some(earlier) = &earlier {
            let executions = crate::counts::plural(earlier.executions(), "execution");
            output::note(&format!("{name}: continues after {executions}"));
        }
        let (last, failed) = (Mutex::new(Instant::now()), AtomicBool::new(false));
        Ok(OnDisk { path, asked, earlier, last, failed })
    }
}

impl State {
    /// The visits of a hunt that are in this folder; further ones are kept there.
    ///
    /// # Errors
    /// When the folder has the progress of a hunt of this object that was asked for otherwise, and when it is damaged.
    pub fn hunt(&self, object: &str, asked: &Asked) -> Result<Visits, Failure> {
        let path = self.folder.join(format!("hunt-{object}.jsonl"));
        can_write(&path)?;
        let (journal, made) = Journal::open(&path, &asked.line()).map_err(Failure::Request)?;
        let visits = Visits::after(made);
        if visits.executions() > 0 {
            let executions = crate::counts::plural(visits.executions(), "execution");
            output::note(&format!("{object}: continues after {executions}"));
        }
        Ok(visits.kept_by(journal.keeper(output::note)))
    }
}

/// How far a search has come, as a document.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    asked: Asked,
    progress: Progress,
}

/// Only the version: it decides whether the rest can be expected to have today's shape.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

/// The document of a search. `None` if the folder has no document.
fn read(path: &Path) -> Result<Option<Document>, String> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata.map_err(|error| error.to_string())?,
    };
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err("not the progress of a search: not a file, or too large; name another folder".to_owned());
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let damaged = |error: serde_json::Error| format!("not the progress of a search: {error}; delete it to begin anew");
    let Header { version } = serde_json::from_str(&text).map_err(damaged)?;
    if version != VERSION {
        return Err(format!("written by another interloper (version {version}, this one reads version {VERSION})"));
    }
    serde_json::from_str(&text).map(Some).map_err(damaged)
}

/// Keeps the progress of one search.
pub struct OnDisk {
    path: PathBuf,
    asked: Asked,
    earlier: Option<Progress>,
    last: Mutex<Instant>,
    /// Progress could not be kept, and that was said.
    failed: AtomicBool,
}

impl Keep for OnDisk {
    fn earlier(&self) -> Option<Progress> {
        self.earlier.clone()
    }

    fn is_due(&self) -> bool {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= EVERY
    }

    fn keep(&self, progress: Progress) {
        let document = Document { version: VERSION, asked: self.asked.clone(), progress };
        let text = serde_json::to_vec(&document).expect("strings and numbers are always JSON");
        if let Err(error) = file::write(&self.path, &text)
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            // The search is worth its result all the same.
            output::note(&format!("cannot keep the progress in {}: {error}", self.path.display()));
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}
