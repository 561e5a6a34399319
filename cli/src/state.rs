//! The folder of `--state`: how far each search has come, so that it can be continued after its process has ended.
//!
//! The folder holds one JSON document for each search, and a file that is locked while a process uses the folder. A document
//! is replaced as a whole, so a process that is killed leaves the old one or the new one. The shards of a search can have one
//! folder: each has files of its own there, and one file says where some shard has found something.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interloper::Notices;
use interloper::Shard;
use interloper::blocks::progress::{InMemory, Keep, Pace, Progress, Resumed};
use interloper::objects::hunt::Visits;
use interloper::objects::journal;
use interloper::objects::search::{ANOTHER_BUILD, program};
use interloper_report::file;
use interloper_report::folder::Folder;
use interloper_report::sealed::{self, Kind, TORN};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::counts::plural;
use crate::entries::Checked;
use crate::entries::told::Told;
use crate::failure::Failure;
use crate::files::can_write;
use crate::output;
use crate::shards::Asked;

/// The format of a document, and of what parts tell each other. Before version 2 they had no checksum, and
/// before version 3 they did not say which program ran.
pub const VERSION: u32 = 3;

const KIND: Kind = Kind { what: "the progress of a search", version: VERSION, remedy: "delete it to begin anew" };

/// The folder, or for a part of a search its files in the folder.
pub struct State {
    folder: Folder,
    /// The program that runs.
    program: &'static str,
}

impl State {
    /// Locks the folder, and makes it where it is missing.
    ///
    /// # Errors
    /// When another process uses the folder, when it cannot be written to, and when the file of the program cannot be read.
    pub fn open(folder: &Path, shard: Option<Shard>) -> Result<State, Failure> {
        let folder = Folder::open(folder, shard.map(Shard::suffix).unwrap_or_default()).map_err(Failure::Request)?;
        Ok(State { folder, program: program().map_err(Failure::Request)? })
    }

    /// What keeps the progress of a search in this folder. What an earlier process did is read.
    ///
    /// # Errors
    /// When the folder has the progress of a search of this name that was asked for otherwise or that another build ran, and when the
    /// document is damaged.
    pub fn of(&self, name: &str, asked: Asked) -> Result<OnDisk, Failure> {
        let path = self.folder.file(name, "json");
        can_write(&path)?;
        let earlier = self.read(&path, &asked)?;
        let (pace, failed) = (Mutex::new(Pace::default()), AtomicBool::new(false));
        Ok(OnDisk { name: name.to_owned(), path, asked, program: self.program, earlier, pace, failed })
    }

    /// The verdict that an earlier process came to about an entry of the suite, if it did.
    ///
    /// # Errors
    /// As [`State::of`].
    pub fn verdict<C: Checked>(&self, name: &str, asked: &Asked) -> Result<Option<Told<C>>, Failure> {
        self.read(&self.of_verdict(name), asked)
    }

    /// Keeps the verdict about an entry of the suite.
    pub fn keep_verdict<C: Checked>(&self, told: &Told<C>, asked: &Asked) {
        let path = self.of_verdict(&told.name);
        let document =
            Document { version: VERSION, asked: asked.clone(), program: self.program.to_owned(), progress: told };
        if let Err(error) = document.write(&path) {
            output::note(&format!("cannot keep the verdict in {}: {error}", path.display()));
        }
    }

    fn of_verdict(&self, name: &str) -> PathBuf {
        self.folder.file(name, "verdict.json")
    }

    /// What the document at `path` has kept, if there is such a document.
    fn read<T: DeserializeOwned>(&self, path: &Path, asked: &Asked) -> Result<Option<T>, Failure> {
        let refused = |reason: String| Failure::Request(format!("{}: {reason}", path.display()));
        let Some(kept) = KIND.read::<Document<T>>(path).map_err(refused)? else { return Ok(None) };
        match kept.asked.difference(asked) {
            None if kept.program != self.program => Err(refused(ANOTHER_BUILD.to_owned())),
            None => Ok(Some(kept.progress)),
            Some(difference) => {
                Err(refused(format!("the progress of another search: {difference}; name another folder")))
            }
        }
    }

    /// What the parts of a search of this name tell each other in this folder.
    ///
    /// # Errors
    /// When the folder has what the parts of another search, or of another build of the program, have told.
    pub fn notices(&self, name: &str, asked: &Asked, of: u32) -> Result<Posted, Failure> {
        let path = self.folder.path().join(format!("{name}.found-of-{of}"));
        let posted = Posted { path, asked: asked.line(), program: self.program, failed: AtomicBool::new(false) };
        let refused = |reason: String| Failure::Request(format!("{}: {reason}", posted.path.display()));
        match fs::read_to_string(&posted.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(posted),
            Err(error) => Err(refused(error.to_string())),
            Ok(text) => posted.parse(&text).map_err(refused).map(|_| posted),
        }
    }
}

/// What parts of a search have found, in a file. Its first line has the version and the program and says which search that is, and its last line is the
/// checksum of those before. Each line between says in which search of the check something was found, and where.
#[derive(Debug)]
pub struct Posted {
    path: PathBuf,
    asked: String,
    program: &'static str,
    /// Something could not be told, and that was said.
    failed: AtomicBool,
}

impl Posted {
    /// Whether some part has found something.
    pub fn is_told(&self) -> bool {
        !self.found().is_empty()
    }

    fn found(&self) -> BTreeMap<usize, u64> {
        // To know of no finding costs time, and is never wrong.
        let text = fs::read_to_string(&self.path).ok();
        text.and_then(|text| self.parse(&text).ok()).unwrap_or_default()
    }

    /// What the file says.
    ///
    /// # Errors
    /// When it is of another version, of another search or of another program, and when it is damaged.
    fn parse(&self, text: &str) -> Result<BTreeMap<usize, u64>, String> {
        let (first, _) = text.split_once('\n').unwrap_or((text, ""));
        // The first version had no number.
        let number = |version: &str| version.parse::<u32>().ok();
        let (version, asked) =
            first.split_once(' ').and_then(|(version, asked)| Some((number(version)?, asked))).unwrap_or((1, first));
        KIND.check(version)?;
        let (program, asked) = asked.split_once(' ').unwrap_or((asked, ""));
        if asked != self.asked {
            return Err("not what the parts of this search have found; name another folder".to_owned());
        }
        if program != self.program {
            return Err("what the parts found that another build of the program ran; name another folder".to_owned());
        }
        let torn = || format!("{TORN}; delete it");
        let (lines, checksum) = text.strip_suffix('\n').and_then(|text| text.rsplit_once('\n')).ok_or_else(torn)?;
        if sealed::of(lines) != checksum {
            return Err(torn());
        }
        let line = |line: &str| {
            let (search, place) = line.split_once(' ')?;
            Some((search.parse().ok()?, place.parse().ok()?))
        };
        lines.lines().skip(1).map(line).collect::<Option<_>>().ok_or_else(torn)
    }

    /// Adds a finding while no other part does. The file is replaced as a whole.
    fn add(&self, search: usize, place: u64) -> io::Result<()> {
        let mut path = self.path.clone().into_os_string();
        path.push(".lock");
        let lock = File::options().create(true).append(true).open(path)?;
        fs4::FileExt::lock(&lock)?;
        let mut found = self.found();
        let earliest = found.entry(search).or_insert(place);
        *earliest = place.min(*earliest);
        let lines = found.iter().map(|(search, place)| format!("\n{search} {place}"));
        let text = format!("{VERSION} {} {}{}", self.program, self.asked, lines.collect::<String>());
        file::write(&self.path, format!("{text}\n{}\n", sealed::of(&text)).as_bytes())
    }
}

impl Notices for Posted {
    fn earliest(&self, search: usize) -> Option<u64> {
        // Nearly always nothing was found, and there is no file.
        self.path.exists().then(|| self.found().get(&search).copied()).flatten()
    }

    fn post(&self, search: usize, place: u64) {
        // The others then search further than they need.
        if let Err(error) = self.add(search, place)
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            output::note(&format!("cannot tell the other shards in {}: {error}", self.path.display()));
        }
    }
}

impl State {
    /// The visits of a hunt that are in this folder; further ones are kept there.
    ///
    /// # Errors
    /// When the folder has the progress of a hunt of this object that was asked for otherwise or that another build ran, and when it is
    /// damaged.
    pub fn hunt(&self, object: &str, asked: &Asked) -> Result<Visits, Failure> {
        let path = self.folder.file(&format!("hunt-{object}"), "jsonl");
        can_write(&path)?;
        let visits = journal::visits(&path, &asked.line(), output::note).map_err(Failure::Request)?;
        if visits.executions() > 0 {
            let executions = plural(visits.executions(), "execution");
            output::note(&format!("{object}: continues after {executions}"));
        }
        Ok(visits)
    }
}

/// How far a search has come, or the verdict at its end, as a document.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<T> {
    version: u32,
    asked: Asked,
    program: String,
    progress: T,
}

impl<T: Serialize> Document<T> {
    fn write(&self, path: &Path) -> io::Result<()> {
        file::write(path, sealed::in_a_line(self).as_bytes())
    }
}

/// Keeps the progress of one search.
pub struct OnDisk {
    name: String,
    path: PathBuf,
    asked: Asked,
    program: &'static str,
    earlier: Option<Progress>,
    pace: Mutex<Pace>,
    /// Progress could not be kept, and that was said.
    failed: AtomicBool,
}

impl OnDisk {
    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keep for OnDisk {
    fn earlier(&self) -> Option<Progress> {
        self.earlier.clone()
    }

    fn is_due(&self) -> bool {
        self.pace().is_due()
    }

    fn hear(&self, resumed: Resumed) {
        let executions = plural(self.earlier.as_ref().map_or(0, Progress::executions), "execution");
        output::note(&match resumed {
            Resumed::GoesOn => format!("{}: continues after {executions}", self.name),
            Resumed::Anew => {
                let path = self.path.display();
                format!("{}: begins anew: what {path} has after {executions} does not fit this search", self.name)
            }
        });
    }

    fn keep(&self, progress: Progress) {
        let document =
            Document { version: VERSION, asked: self.asked.clone(), program: self.program.to_owned(), progress };
        if let Err(error) = document.write(&self.path)
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            // The search is worth its result all the same.
            output::note(&format!("cannot keep the progress in {}: {error}", self.path.display()));
        }
        self.pace().kept();
    }
}

/// Keeps what a part of a search has done: for its result, and where it is at random in the folder, too.
pub struct OfPart {
    disk: Option<OnDisk>,
    memory: InMemory,
    notices: Posted,
}

impl OfPart {
    pub fn new(disk: Option<OnDisk>, notices: Posted) -> Arc<OfPart> {
        Arc::new(OfPart { disk, memory: InMemory::default(), notices })
    }

    /// Whether some part has found something.
    pub fn is_told(&self) -> bool {
        self.notices.is_told()
    }

    /// What the part has done, if it has come to its end.
    pub fn take(&self) -> Option<Progress> {
        self.memory.take()
    }
}

impl Keep for OfPart {
    fn earlier(&self) -> Option<Progress> {
        self.disk.as_ref().and_then(Keep::earlier)
    }

    fn is_due(&self) -> bool {
        self.disk.as_ref().is_some_and(Keep::is_due)
    }

    fn keep(&self, progress: Progress) {
        if let Some(disk) = &self.disk {
            disk.keep(progress.clone());
        }
        self.memory.keep(progress.without_strategies());
    }

    fn hear(&self, resumed: Resumed) {
        self.disk.iter().for_each(|disk| disk.hear(resumed));
    }

    fn notices(&self) -> Option<&dyn Notices> {
        Some(&self.notices)
    }
}
