//! The pages of violations, which the processes that find them write.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use interloper::recorded::WRITTEN;
use interloper_adopt::Refusal;
use interloper_report::explorer::findings;
use interloper_report::file;

use crate::note;

/// Where the pages of violations go, if any are asked for: the first into the file that was named, the others beside it.
#[derive(Debug, Default)]
pub struct Pages {
    path: Option<PathBuf>,
    /// What the pages show that were written.
    written: RefCell<Vec<String>>,
}

impl Pages {
    /// The first page in this file, as named in this folder.
    pub fn of(folder: &Path, path: Option<PathBuf>) -> Result<Pages, Refusal> {
        let path = path.map(|path| folder.join(path));
        if let Some(path) = &path {
            file::check(path).map_err(|error| Refusal::Request(format!("cannot write {}: {error}", path.display())))?;
        }
        Ok(Pages { path, written: RefCell::default() })
    }

    /// The file of the first page.
    pub fn first(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// How many were written.
    pub fn count(&self) -> usize {
        self.written.borrow().len()
    }

    /// The file for the next page.
    pub fn next(&self) -> Option<PathBuf> {
        self.path.as_deref().map(|path| file::numbered(path, self.count() + 1))
    }

    /// Takes note of a page that was written into the next file.
    pub fn wrote(&self, shown: String) {
        self.written.borrow_mut().push(shown);
    }

    /// Looks which pages a process says that it has written.
    pub fn look(&self, out: &str) {
        let shown = out.lines().filter_map(|line| line.strip_prefix(WRITTEN)).map(str::to_owned);
        self.written.borrow_mut().extend(shown);
    }

    /// If there are several pages, links them with each other and names the file of each. Without any page, says that none was written.
    pub fn end(&self) {
        self.end_of("violation");
    }

    /// The same for pages that show something of this kind.
    pub fn end_of(&self, what: &str) {
        let (Some(path), written) = (&self.path, self.written.borrow()) else { return };
        if written.is_empty() {
            note(&format!("no {what} was found, so {} was not written", path.display()));
        }
        if written.len() > 1 {
            let file = |(number, shown): (usize, &String)| (file::numbered(path, number), shown.clone());
            let files: Vec<(PathBuf, String)> = (1..).zip(&*written).map(file).collect();
            if let Err(error) = findings::link(&files) {
                note(&format!("cannot link the pages with each other: {error}"));
            }
            files.iter().for_each(|(path, shown)| note(&format!("{}: {shown}", path.display())));
        }
    }
}
