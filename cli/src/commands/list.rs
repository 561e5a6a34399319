//! `interloper list`.

use interloper_report::table::{Align, Table};
use serde::Serialize;

use super::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::failure::Failure;

#[derive(Serialize)]
struct Document {
    version: u32,
    cases: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    origin: &'static str,
    about: &'static str,
    expected: &'static str,
    twin: Option<&'static str>,
}

/// Every case with what is expected of it and where it comes from.
pub fn list(search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("list", &[])?;
    output.no_html("list")?;
    let cases = interloper_suite::cases();
    if output.format == Format::Json {
        let listed = |case: &interloper_suite::Case| Listed {
            name: case.name,
            origin: case.origin,
            about: case.about,
            expected: case.expected.word(),
            twin: case.twin,
        };
        let document = Document { version: JSON_VERSION, cases: cases.iter().map(listed).collect() };
        return Ok(Answer::expected(json(&document)));
    }
    let mut table = Table::new([("case", Align::Left), ("expected", Align::Left), ("origin", Align::Left)]);
    for case in cases {
        table.row([case.name, &super::suite::words(case.expected), case.origin]);
    }
    Ok(Answer::expected(table.to_string()))
}
