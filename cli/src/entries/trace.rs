//! The trace of a program as a file.

use std::path::Path;

use interloper::blocks::{Report, Step};
use interloper_report::explorer::trace::{Header, Line, TRACE_VERSION};
use serde::Serialize;

use crate::failure::Failure;
use crate::files::write_text;

/// Writes the steps of a violation as JSON Lines. Without a violation, only the header line is written.
pub fn write(program: &str, seed: u64, report: &Report, path: &Path) -> Result<(), Failure> {
    let violation = report.violation();
    let steps: &[Step] = violation.map_or(&[], |violation| &violation.trace);
    let header = Header {
        version: TRACE_VERSION,
        program: program.to_owned(),
        seed,
        grade: report.grade.word().to_owned(),
        finding: violation.map(|violation| violation.finding.to_string()),
        steps: steps.len(),
    };
    let mut text = line(&header);
    for (index, step) in steps.iter().enumerate() {
        let Step { task, action, location, block, holds, of_triple } = step.clone();
        let step = index + 1;
        text += &line(&Line { step, task, action, location, block, holds, of_triple, ..Line::default() });
    }
    write_text(&text, path)
}

fn line(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("strings and numbers are always JSON") + "\n"
}
