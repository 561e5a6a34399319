//! The tests of a project, for editors and for whoever divides them between machines.

use std::ffi::OsString;

use interloper_adopt::{Controlled, Refusal, Task};
use serde::Serialize;

use crate::args::Rendering;
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
/// When a format of results is asked for, the project cannot be built, or a test binary cannot be run.
pub fn list(controlled: &Controlled, arguments: &[OsString], format: Rendering) -> Result<String, Refusal> {
    let as_json = match format {
        Rendering::Text => false,
        Rendering::Json => true,
        Rendering::Junit | Rendering::Sarif => {
            let reason = "--list has no results: JUnit XML and SARIF logs need tests that run";
            return Err(Refusal::Request(reason.to_owned()));
        }
    };
    let built = controlled.build(Task::Test)?;
    let mut tests = Tests::new(controlled, &built.tests, None, arguments)?.list()?;
    // Cargo builds several binaries at a time.
    tests.sort_by(|a, b| (a.binary(), &a.name).cmp(&(b.binary(), &b.name)));
    let listed = tests.into_iter().map(|test| Listed { binary: test.binary().to_owned(), name: test.name });
    if !as_json {
        return Ok(listed.map(|test| format!("{}: {}\n", test.binary, test.name)).collect());
    }
    let document = Document { version: VERSION, tests: listed.collect() };
    Ok(serde_json::to_string_pretty(&document).expect("texts are always JSON") + "\n")
}
