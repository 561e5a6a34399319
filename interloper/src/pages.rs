//! The page of an execution, which the feature `pages` brings.

use std::io;
use std::path::Path;

use interloper_report::explorer::Exploration;

/// Whether this build can write pages.
pub(crate) const KNOWN: bool = cfg!(feature = "pages");

/// Writes the page of an execution.
///
/// # Errors
/// When the file cannot be written, or when this build knows no pages.
#[cfg(feature = "pages")]
pub(crate) fn write(path: &Path, exploration: &Exploration) -> io::Result<()> {
    interloper_report::file::write(path, interloper_report::explorer::page::render(exploration).as_bytes())
}

/// Fails: this build knows no pages.
#[cfg(not(feature = "pages"))]
pub(crate) fn write(_: &Path, _: &Exploration) -> io::Result<()> {
    Err(io::Error::other("the feature `pages` of interloper is off"))
}
