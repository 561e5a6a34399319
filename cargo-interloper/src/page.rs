//! The page of the first violation, which the process that finds it writes.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use interloper::operations::WRITTEN;
use interloper_adopt::Refusal;
use interloper_report::file;

use crate::note;

/// A file for the page of the first violation, if one is asked for.
#[derive(Debug, Default)]
pub struct Page {
    path: Option<PathBuf>,
    written: Cell<bool>,
}

impl Page {
    /// A page in this file, as named in this folder.
    pub fn of(folder: &Path, path: Option<PathBuf>) -> Result<Page, Refusal> {
        let path = path.map(|path| folder.join(path));
        if let Some(path) = &path {
            file::check(path).map_err(|error| Refusal::Request(format!("cannot write {}: {error}", path.display())))?;
        }
        Ok(Page { path, written: Cell::new(false) })
    }

    /// The file, for a process that may find the first violation.
    pub fn wanted(&self) -> Option<&Path> {
        self.path.as_deref().filter(|_| !self.written.get())
    }

    /// Looks whether a process says that it has written the page.
    pub fn look(&self, out: &str) {
        self.written.set(self.written.get() || out.contains(WRITTEN));
    }

    /// Says that there is no page, where one was asked for.
    pub fn end(&self) {
        if let Some(path) = self.wanted() {
            note(&format!("no violation was found, so {} was not written", path.display()));
        }
    }
}
