//! `interloper list`.

use interloper_report::table::{Align, Table};
use serde::Serialize;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::entries::{Item, Listed};
use crate::failure::Failure;

#[derive(Serialize)]
struct Document {
    version: u32,
    cases: Vec<Listed>,
    /// Programs with blocks; what is expected is a grade.
    programs: Vec<Listed>,
}

/// Every case and every program with its expected result and its origin.
pub fn list(search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("list", &[])?;
    output.judges_nothing("list")?;
    let cases = interloper_suite::cases().iter().map(Item::listed).collect();
    let programs = interloper_suite::blocks::programs().iter().map(Item::listed).collect();
    let document = Document { version: JSON_VERSION, cases, programs };
    if output.format == Format::Json {
        return Ok(Answer::expected(json(&document)));
    }
    let mut table = Table::new([("case", Align::Left), ("expected", Align::Left), ("origin", Align::Left)]);
    for listed in document.cases.into_iter().chain(document.programs) {
        table.row([listed.name, &listed.in_table, listed.origin]);
    }
    Ok(Answer::expected(table.to_string()))
}
