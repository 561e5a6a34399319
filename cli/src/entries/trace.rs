//! The trace of a program as a file.

use std::path::Path;

use interloper::blocks::{Report, Step};
use serde::Serialize;

use crate::answer::JSON_VERSION;
use crate::failure::Failure;
use crate::files::write_text;

/// The first line of a trace.
#[derive(Serialize)]
struct TraceHeader<'a> {
    version: u32,
    program: &'a str,
    seed: u64,
    grade: &'static str,
    finding: Option<String>,
    steps: usize,
}

/// A line of a trace.
#[derive(Serialize)]
struct TraceLine<'a> {
    step: usize,
    task: &'a str,
    action: &'a str,
    location: &'a str,
    block: Option<&'a str>,
    holds: &'a [String],
    /// 1, 2 or 3 if it is one of the violating triple.
    of_triple: Option<u8>,
}

/// Writes the steps of a violation as JSON Lines. Without a violation, only the header line is written.
pub fn write(program: &str, seed: u64, report: &Report, path: &Path) -> Result<(), Failure> {
    let violation = report.violation();
    let steps: &[Step] = violation.map_or(&[], |violation| &violation.trace);
    let header = TraceHeader {
        version: JSON_VERSION,
        program,
        seed,
        grade: report.grade.word(),
        finding: violation.map(|violation| violation.finding.to_string()),
        steps: steps.len(),
    };
    let mut text = line(&header);
    for (index, step) in steps.iter().enumerate() {
        let Step { task, action, location, block, holds, of_triple } = step;
        let block = block.as_deref();
        text += &line(&TraceLine { step: index + 1, task, action, location, block, holds, of_triple: *of_triple });
    }
    write_text(&text, path)
}

fn line(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("strings and numbers are always JSON") + "\n"
}
