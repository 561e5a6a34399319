//! The tests of a project, for editors and for whoever divides them between machines.

use std::ffi::OsString;

use interloper_adopt::{Controlled, Refusal, Task};
use serde::Serialize;

use crate::args::Format;
use crate::orderings::process::Tests;

/// The version of the document.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document {
    version: u32,
    tests: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    /// The crate that has it: the library, the binary or the integration test.
    binary: String,
    name: String,
}

/// Builds, and lists the tests that the arguments leave: a line or an entry for each.
///
/// # Errors
/// When the project cannot be built, or a test binary cannot be run.
pub fn list(controlled: &Controlled, arguments: &[OsString], format: Format) -> Result<String, Refusal> {
    let built = controlled.build(Task::Test)?;
    let mut tests = Tests::new(controlled, &built.tests, None, arguments)?.list()?;
    // Cargo builds several binaries at a time.
    tests.sort_by(|a, b| (a.binary(), &a.name).cmp(&(b.binary(), &b.name)));
    let listed = tests.into_iter().map(|test| Listed { binary: test.binary().to_owned(), name: test.name });
    Ok(match format {
        Format::Text => listed.map(|test| format!("{}: {}\n", test.binary, test.name)).collect(),
        Format::Json => {
            let document = Document { version: VERSION, tests: listed.collect() };
            serde_json::to_string_pretty(&document).expect("texts are always JSON") + "\n"
        }
    })
}
