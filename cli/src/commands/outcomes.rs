//! `interloper outcomes`: what a small concurrent program may return.

use std::collections::BTreeMap;
use std::fmt::Write;

use interloper_commutativity::Value;
use interloper_linearize::enumerate::{Row, rows};
use interloper_linearize::outcomes::{DEFAULT_BOUND, Outcomes, linearizations, outcomes};
use interloper_linearize::program::{Program, TooLarge, Typed};
use interloper_linearize::schema::{Invocation, Schema};
use interloper_linearize::types::DataType;
use interloper_linearize::visibility::Visibility;
use interloper_report::table::{Align, Table};
use serde::Serialize;
use serde_json::Value as Json;

use super::types::type_named;
use super::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutcomesArgs, OutputArgs, SearchArgs};
use crate::failure::Failure;
use crate::nearest::unknown;
use crate::values::{shown, to_json};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    #[serde(rename = "type")]
    data_type: &'static str,
    /// As it was typed.
    schema: &'a str,
    /// For each method that was named, what its invocations must see.
    visibility: BTreeMap<&'a str, String>,
    /// None: 2^128 or more.
    linearizations: Option<u128>,
    /// For each admitted outcome the results in text order.
    outcomes: Vec<Vec<Json>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Vec<Explained>>,
}

/// One linearization with one choice of what the relaxed invocations see. Invocations are numbers in text order, from 0.
#[derive(Serialize)]
struct Explained {
    linearization: Vec<usize>,
    /// For each relaxed invocation those that it sees besides itself, in the order of the linearization.
    visible: BTreeMap<usize, Vec<usize>>,
    outcome: Vec<Json>,
}

/// The bound on what [`rows`] tries when none is given.
const EXPLAINED: usize = 1_000_000;

/// The admitted outcomes of a schema over a reference type.
pub fn run(arguments: &OutcomesArgs, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("outcomes", &[])?;
    output.no_html("outcomes")?;
    let data_type = type_named(&arguments.data_type)?;
    let schema = Schema::parse(&arguments.schema).map_err(Failure::Schema)?;
    schema.check(data_type).map_err(Failure::Schema)?;
    let visibility = visibility(arguments.visibility.as_deref().unwrap_or_default(), data_type)?;
    let question = Question { arguments, data_type, schema: &schema, visibility: &visibility };
    question.answer(output.format == Format::Json)
}

/// The specification, if every method that it names is one of the type.
fn visibility(text: &str, data_type: &dyn DataType) -> Result<Visibility, Failure> {
    let visibility: Visibility = text.parse().map_err(|error| Failure::Request(format!("--visibility: {error}")))?;
    let known = || data_type.methods().iter().map(|method| method.name);
    let about = |methods: &[interloper_linearize::visibility::Predicate]| -> Vec<String> {
        methods.iter().filter_map(|predicate| predicate.about.clone()).flatten().collect()
    };
    let named = visibility.entries().flat_map(|(method, predicates)| {
        std::iter::once(method.to_owned()).chain(about(predicates)).collect::<Vec<String>>()
    });
    for method in named {
        if !known().any(|name| name == method) {
            let kind = format!("method of a {}", data_type.name());
            let otherwise = format!("'interloper types {}' lists them", data_type.name());
            return Err(Failure::Request(format!("--visibility: {}", unknown(&kind, &method, known(), &otherwise))));
        }
    }
    Ok(visibility)
}

fn too_large(error: TooLarge) -> Failure {
    match error {
        TooLarge::Invocations(_) => Failure::Request(error.to_string()),
        TooLarge::Configurations(_) | TooLarge::Choices(_) => Failure::Request(format!("{error}; --limit sets it")),
    }
}

/// What was asked, checked.
struct Question<'q> {
    arguments: &'q OutcomesArgs,
    data_type: &'static dyn DataType,
    schema: &'q Schema,
    visibility: &'q Visibility,
}

impl Question<'_> {
    fn answer(&self, as_json: bool) -> Result<Answer, Failure> {
        let limit = self.arguments.limit.map_or(DEFAULT_BOUND, usize::from);
        let program = Program::new(self.schema, self.visibility).map_err(too_large)?;
        let linearizations = linearizations(&program, limit).map_err(too_large)?;
        let mut admitted = self.admitted(&program, limit)?;
        let listed = self.listed(&mut admitted, limit)?;
        let rows = if self.arguments.explain { Some(self.rows(&program)?) } else { None };
        if as_json {
            let document = self.document(&program, linearizations, &listed, rows.as_deref());
            return Ok(Answer::expected(json(&document)));
        }
        let mut text = self.heading(linearizations, listed.len());
        match rows {
            Some(rows) => write!(text, "{}", self.explanation(&program, &rows)).expect("writing to a string"),
            None => text.push_str(&self.list(&listed, limit)?),
        }
        Ok(Answer::expected(text))
    }

    fn admitted(&self, program: &Program, limit: usize) -> Result<Outcomes, Failure> {
        outcomes(&mut Typed::new(self.data_type, self.schema), program, limit).map_err(too_large)
    }

    fn listed(&self, admitted: &mut Outcomes, limit: usize) -> Result<Vec<Vec<Value>>, Failure> {
        match admitted.count() {
            Some(count) if count <= limit as u128 => Ok(admitted.sorted()),
            count => {
                let count = count.map_or("2^128 or more".to_owned(), |count| count.to_string());
                let message =
                    format!("the schema admits {count} outcomes, which is more than are listed; --limit sets");
                Err(Failure::Request(format!("{message} how many are, now {limit}")))
            }
        }
    }

    fn rows(&self, program: &Program) -> Result<Vec<Row>, Failure> {
        let limit = self.arguments.limit.map_or(EXPLAINED, usize::from);
        let mut found = Vec::new();
        let mut keep = |row| {
            found.push(row);
            true
        };
        rows(&mut Typed::new(self.data_type, self.schema), program, limit, &mut keep)
            .map_err(|error| Failure::Request(format!("--explain: {error}; --limit sets it")))?;
        Ok(found)
    }

    fn document(
        &self,
        program: &Program,
        linearizations: Option<u128>,
        listed: &[Vec<Value>],
        rows: Option<&[Row]>,
    ) -> Document<'_> {
        let explained = |row: &Row| Explained {
            linearization: row.linearization.clone(),
            visible: relaxed(program).map(|index| (index, seen(row, index))).collect(),
            outcome: row.outcome.iter().map(to_json).collect(),
        };
        let predicates = |predicates: &[interloper_linearize::visibility::Predicate]| {
            predicates.iter().map(ToString::to_string).collect::<Vec<String>>().join("+")
        };
        Document {
            version: JSON_VERSION,
            data_type: self.data_type.name(),
            schema: &self.arguments.schema,
            visibility: self.visibility.entries().map(|(method, all)| (method, predicates(all))).collect(),
            linearizations,
            outcomes: listed.iter().map(|outcome| outcome.iter().map(to_json).collect()).collect(),
            explanation: rows.map(|rows| rows.iter().map(explained).collect()),
        }
    }

    fn heading(&self, linearizations: Option<u128>, outcomes: usize) -> String {
        let mut text = format!("{}: {}\n", self.data_type.name(), self.schema);
        if self.visibility.entries().next().is_some() {
            writeln!(text, "visibility: {}", self.visibility).expect("writing to a string");
        }
        let count =
            linearizations.map_or("2^128 or more linearizations".to_owned(), |count| plural(count, "linearization"));
        writeln!(text, "{count}, {}\n", plural(outcomes as u128, "outcome")).expect("writing to a string");
        text
    }

    /// The outcomes, and which of them atomic methods have too, where there are others.
    fn list(&self, listed: &[Vec<Value>], limit: usize) -> Result<String, Failure> {
        if self.visibility.entries().next().is_none() {
            return Ok(listed.iter().map(|outcome| format!("{}\n", results(outcome))).collect());
        }
        let program = Program::new(self.schema, &Visibility::complete()).map_err(too_large)?;
        let atomic = self.admitted(&program, limit)?;
        let mut table = Table::new([("outcome", Align::Left), ("atomic?", Align::Left)]);
        for outcome in listed {
            table.row([results(outcome).as_str(), if atomic.contains(outcome) { "✓" } else { "✗" }]);
        }
        Ok(table.to_string())
    }

    /// A table like Table 1 of *Weak-consistency specification via visibility relaxation*.
    fn explanation(&self, program: &Program, rows: &[Row]) -> Table {
        let invocations: Vec<&Invocation> = self.schema.invocations().collect();
        let text = |index: &usize| invocations[*index].to_string();
        let joined = |indices: &[usize]| indices.iter().map(text).collect::<Vec<String>>().join("; ");
        let name = |index: usize| {
            let method = &invocations[index].method;
            let is_only = invocations.iter().filter(|other| other.method == *method).count() == 1;
            let is_only_text = invocations.iter().filter(|other| **other == invocations[index]).count() == 1;
            match (is_only, is_only_text) {
                (true, _) => format!("visibility of {method}"),
                (false, true) => format!("visibility of {}", invocations[index]),
                // As the JSON counts.
                (false, false) => format!("visibility of {}, number {index}", invocations[index]),
            }
        };
        let names = relaxed(program).map(|index| (name(index), Align::Left));
        let ends = ("outcome".to_owned(), Align::Left);
        let mut table =
            Table::new(std::iter::once(("linearization".to_owned(), Align::Left)).chain(names).chain([ends]));
        let mut last: Option<&[usize]> = None;
        for row in rows {
            let is_new = last != Some(&row.linearization);
            last = Some(&row.linearization);
            let first = if is_new { joined(&row.linearization) } else { String::new() };
            let visible = relaxed(program).map(|index| match seen(row, index).as_slice() {
                [] => "nothing".to_owned(),
                seen => joined(seen),
            });
            table.row(std::iter::once(first).chain(visible).chain([results(&row.outcome)]));
        }
        table
    }
}

/// The invocations that need not see everything.
fn relaxed(program: &Program) -> impl Iterator<Item = usize> {
    (0..program.len()).filter(|&index| !program.is_complete(index))
}

fn seen(row: &Row, invocation: usize) -> Vec<usize> {
    row.seen_by(invocation).filter(|&other| other != invocation).collect()
}

fn results(outcome: &[Value]) -> String {
    outcome.iter().map(shown).collect::<Vec<String>>().join(", ")
}

fn plural(count: u128, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
