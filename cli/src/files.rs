//! Files that commands write beside their result: pages, traces, histories.

use std::fs;
use std::io;
use std::path::Path;

use interloper_report::file;

use crate::failure::Failure;

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

/// Why a file could not be written.
pub fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::Request(format!("cannot write {}: {error}", path.display()))
}
