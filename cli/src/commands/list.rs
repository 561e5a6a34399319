//! `interloper list`.

use interloper::blocks::Program;
use interloper_report::table::{Align, Table};
use serde::Serialize;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::entries::cases::words;
use crate::entries::programs::{blocks, expected};
use crate::failure::Failure;

#[derive(Serialize)]
struct Document {
    version: u32,
    cases: Vec<Listed>,
    /// Programs with blocks; what is expected is a grade.
    programs: Vec<ListedProgram>,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    origin: &'static str,
    about: &'static str,
    expected: &'static str,
    twin: Option<&'static str>,
}

#[derive(Serialize)]
struct ListedProgram {
    name: &'static str,
    origin: &'static str,
    about: &'static str,
    expected: String,
    blocks: &'static str,
    twin: Option<&'static str>,
}

/// Every case and every program with what is expected of it and where it comes from.
pub fn list(search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("list", &[])?;
    output.no_html("list")?;
    let (cases, programs) = (interloper_suite::cases(), interloper_suite::blocks::programs());
    if output.format == Format::Json {
        let listed = |case: &interloper_suite::Case| Listed {
            name: case.name,
            origin: case.origin,
            about: case.about,
            expected: case.expected.word(),
            twin: case.twin,
        };
        let listed_program = |program: &Program| ListedProgram {
            name: program.name,
            origin: program.origin,
            about: program.about,
            expected: program.expected.to_string(),
            blocks: blocks(*program),
            twin: program.twin,
        };
        let document = Document {
            version: JSON_VERSION,
            cases: cases.iter().map(listed).collect(),
            programs: programs.iter().map(listed_program).collect(),
        };
        return Ok(Answer::expected(json(&document)));
    }
    let mut table = Table::new([("case", Align::Left), ("expected", Align::Left), ("origin", Align::Left)]);
    for case in cases {
        table.row([case.name, &words(case.expected), case.origin]);
    }
    for program in programs {
        table.row([program.name, &expected(program), program.origin]);
    }
    Ok(Answer::expected(table.to_string()))
}
