//! `interloper commutativity`: the non-commutativity specification of a type, as Figure 5 of the COLT paper has it.

use std::fmt::Write;

use interloper_commutativity::models::{model_named, models};
use interloper_commutativity::{MethodId, Model, Specification};
use interloper_report::table::{Align, Table};
use serde::Serialize;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::failure::Failure;
use crate::nearest::unknown;
use crate::output;

#[derive(Serialize)]
struct Document {
    version: u32,
    #[serde(rename = "type")]
    model: String,
    operations: Vec<String>,
    /// For each operation, the conditions under which it does not commute with each of `operations`.
    conditions: Vec<Vec<String>>,
    notes: Vec<String>,
}

/// How wide the output is without a terminal. Large tables come in panels of this many columns of text.
const WIDTH: usize = 120;

/// The table of a type, for all of its methods or for the named ones.
pub fn commutativity(
    name: &str,
    methods: &[String],
    search: &SearchArgs,
    output: &OutputArgs,
) -> Result<Answer, Failure> {
    search.only("commutativity", &[])?;
    output.judges_nothing("commutativity")?;
    let model = model_named(name).ok_or_else(|| Failure::Request(unknown_type(name)))?;
    let Some(specification) = model.specification() else {
        return Err(Failure::Request(format!(
            "the type '{name}' has no table: its operations are compared by running both orders"
        )));
    };
    let table = chosen(model.as_ref(), specification, methods)?;
    if output.format == Format::Json {
        let document = Document {
            version: JSON_VERSION,
            model: table.name,
            operations: table.header.into_iter().skip(1).collect(),
            conditions: table.rows.into_iter().map(|row| row.into_iter().skip(1).collect()).collect(),
            notes: table.notes,
        };
        return Ok(Answer::expected(json(&document)));
    }
    let mut text = format!("When two operations of a {} do not commute\n\n", table.name);
    let mut grid = Table::new(table.header.iter().map(|heading| (heading.as_str(), Align::Left)));
    for row in &table.rows {
        grid.row(row.iter().map(|cell| broken(cell)));
    }
    let width = output::style(output.color).width.unwrap_or(WIDTH);
    text.push_str(&grid.panels(width));
    text.push('\n');
    for note in &table.notes {
        writeln!(text, "{}", textwrap::fill(note, width)).expect("writing to a string");
    }
    Ok(Answer::expected(text))
}

/// A condition in lines of a readable length, broken before a connective only.
fn broken(condition: &str) -> String {
    const BLANK: &str = "\u{a0}";
    let glued = condition.replace(' ', BLANK);
    let breakable = ["∨", "∧", "⊕"].iter().fold(glued, |text, connective| {
        text.replace(&format!("{BLANK}{connective}{BLANK}"), &format!(" {connective}{BLANK}"))
    });
    let options = textwrap::Options::new(CELL).break_words(false).word_separator(textwrap::WordSeparator::AsciiSpace);
    textwrap::fill(&breakable, options).replace(BLANK, " ")
}

/// How wide a condition may be before it is broken.
const CELL: usize = 36;

fn chosen(
    model: &dyn Model,
    specification: &Specification,
    methods: &[String],
) -> Result<interloper_commutativity::Table, Failure> {
    if methods.is_empty() {
        return Ok(specification.table());
    }
    let names = || model.methods().iter().map(|method| method.name);
    let find = |name: &String| {
        let kind = format!("operation of a {}", model.name());
        let otherwise = format!("there are {}", names().collect::<Vec<&str>>().join(", "));
        model.method_named(name).ok_or_else(|| Failure::Request(unknown(&kind, name, names(), &otherwise)))
    };
    let methods = methods.iter().map(find).collect::<Result<Vec<MethodId>, Failure>>()?;
    Ok(specification.table_of(&methods))
}

fn unknown_type(name: &str) -> String {
    let models = models();
    let names = || models.iter().map(|model| model.name());
    unknown("type", name, names(), &format!("there are {}", names().collect::<Vec<&str>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_break_before_connectives_only() {
        assert_eq!(broken("get(k) ≠ none"), "get(k) ≠ none");
        assert_eq!(
            broken("get(k) ≠ none ∧ (((get(k) = old₂) ⊕ (v₁ = old₂)) ∨ v₁ = old₂)"),
            "get(k) ≠ none ∧ (((get(k) = old₂)\n⊕ (v₁ = old₂)) ∨ v₁ = old₂)"
        );
    }
}
