//! `interloper outcomes`: what a small concurrent program may return.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

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
use textwrap::core::display_width;

use super::types::type_named;
use crate::answer::{Answer, JSON_VERSION, Rest, json};
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
    /// For each admitted outcome the results in text order. They are written one by one, see [`outcomes_as_json`].
    outcomes: [Json; 0],
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Vec<Explained>>,
}

/// One linearization with one choice of what the relaxed invocations see. Invocations are numbers in text order, from 0.
#[derive(Serialize)]
struct Explained {
    linearization: Vec<usize>,
    /// For each relaxed invocation, the other invocations that it sees, in the order of the linearization.
    visible: BTreeMap<usize, Vec<usize>>,
    outcome: Vec<Json>,
}

/// How much [`rows`] tries when no bound is given.
const EXPLAINED: usize = 1_000_000;

/// How many outcomes are listed at most when no bound is given.
const LISTED: usize = 4_000_000;

/// The admitted outcomes of a schema over a reference type.
pub fn run(arguments: &OutcomesArgs, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("outcomes", &[])?;
    output.judges_nothing("outcomes")?;
    let data_type = type_named(&arguments.data_type)?;
    let schema = Schema::parse(&arguments.schema).map_err(Failure::Schema)?;
    schema.check(data_type).map_err(Failure::Schema)?;
    let visibility = visibility(arguments.visibility.as_deref().unwrap_or_default(), data_type)?;
    let question = Question { arguments, data_type, schema: &schema, visibility: &visibility };
    question.answer(output.format == Format::Json)
}

/// The specification, if the type has every method that it names.
fn visibility(text: &str, data_type: &DataType) -> Result<Visibility, Failure> {
    let visibility: Visibility = text.parse().map_err(|error| Failure::Request(format!("--visibility: {error}")))?;
    let known = || data_type.methods().map(|method| method.name);
    let about = |methods: &[interloper_linearize::visibility::Predicate]| -> Vec<String> {
        methods.iter().filter_map(|predicate| predicate.about.clone()).flatten().collect()
    };
    let named = visibility.entries().flat_map(|(method, predicates)| {
        std::iter::once(method.to_owned()).chain(about(predicates)).collect::<Vec<String>>()
    });
    for method in named {
        if !known().any(|name| name == method) {
            let kind = format!("method of a {}", data_type.name);
            let otherwise = format!("'interloper types {}' lists them", data_type.name);
            return Err(Failure::Request(format!("--visibility: {}", unknown(&kind, &method, known(), &otherwise))));
        }
    }
    Ok(visibility)
}

fn too_large(error: TooLarge) -> Failure {
    match error {
        TooLarge::Invocations(_) => Failure::Request(error.to_string()),
        TooLarge::Configurations(_) | TooLarge::Choices(_) => {
            Failure::Request(format!("{error}; --limit sets the bound"))
        }
    }
}

/// What was asked, checked.
struct Question<'q> {
    arguments: &'q OutcomesArgs,
    data_type: &'static DataType,
    schema: &'q Schema,
    visibility: &'q Visibility,
}

impl Question<'_> {
    fn answer(&self, as_json: bool) -> Result<Answer, Failure> {
        let limit = self.arguments.limit.map_or(DEFAULT_BOUND, usize::from);
        let program = Program::new(self.schema, self.visibility).map_err(too_large)?;
        let linearizations = linearizations(&program, limit).map_err(too_large)?;
        let admitted = self.admitted(&program, limit)?;
        let count = self.count(&admitted)?;
        let rows = if self.arguments.explain { Some(self.rows(&program)?) } else { None };
        if as_json {
            let document = json(&self.document(&program, linearizations, rows.as_deref()));
            // Quotes within a string are escaped, so this is the field and nothing else.
            let (head, tail) = document.split_once("\"outcomes\": []").expect("the field is there");
            let rest = outcomes_as_json(admitted, tail.to_owned());
            return Ok(Answer { rest: Some(rest), ..Answer::expected(format!("{head}\"outcomes\": [")) });
        }
        let text = self.heading(linearizations, count);
        if let Some(rows) = rows {
            return Ok(Answer::expected(format!("{text}{}", self.explanation(&program, &rows))));
        }
        let atomic = match self.visibility.entries().next() {
            None => None,
            Some(_) => {
                let atomic = Program::new(self.schema, &Visibility::complete()).map_err(too_large)?;
                Some(self.admitted(&atomic, limit)?)
            }
        };
        Ok(Answer { rest: Some(outcomes_as_text(admitted, atomic)), ..Answer::expected(text) })
    }

    fn admitted(&self, program: &Program, limit: usize) -> Result<Outcomes, Failure> {
        outcomes(&mut Typed::new(self.data_type, self.schema), program, limit).map_err(too_large)
    }

    /// How many outcomes there are, if they can be listed.
    fn count(&self, admitted: &Outcomes) -> Result<u128, Failure> {
        let limit = self.arguments.limit.map_or(LISTED, usize::from);
        match admitted.count() {
            Some(count) if count <= limit as u128 => Ok(count),
            count => {
                let count = count.map_or("2^128 or more".to_owned(), |count| count.to_string());
                let message = format!("the schema admits {count} outcomes, too many to list; --limit sets");
                Err(Failure::Request(format!("{message} how many are listed, now {limit}")))
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
            .map_err(|error| Failure::Request(format!("--explain: {error}; --limit sets the bound")))?;
        Ok(found)
    }

    fn document(&self, program: &Program, linearizations: Option<u128>, rows: Option<&[Row]>) -> Document<'_> {
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
            data_type: self.data_type.name,
            schema: &self.arguments.schema,
            visibility: self.visibility.entries().map(|(method, all)| (method, predicates(all))).collect(),
            linearizations,
            outcomes: [],
            explanation: rows.map(|rows| rows.iter().map(explained).collect()),
        }
    }

    fn heading(&self, linearizations: Option<u128>, outcomes: u128) -> String {
        let mut text = format!("{}: {}\n", self.data_type.name, self.schema);
        if self.visibility.entries().next().is_some() {
            writeln!(text, "visibility: {}", self.visibility).expect("writing to a string");
        }
        let count =
            linearizations.map_or("2^128 or more linearizations".to_owned(), |count| plural(count, "linearization"));
        writeln!(text, "{count}, {}\n", plural(outcomes, "outcome")).expect("writing to a string");
        text
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

/// The invocations that may miss earlier ones.
fn relaxed(program: &Program) -> impl Iterator<Item = usize> {
    (0..program.len()).filter(|&index| !program.is_complete(index))
}

fn seen(row: &Row, invocation: usize) -> Vec<usize> {
    row.seen_by(invocation).filter(|&other| other != invocation).collect()
}

fn results<V: Borrow<Value>>(outcome: &[V]) -> String {
    outcome.iter().map(|value| shown(value.borrow())).collect::<Vec<String>>().join(", ")
}

/// A line for each outcome, or a table that says which of them atomic methods have, too.
fn outcomes_as_text(mut admitted: Outcomes, atomic: Option<Outcomes>) -> Rest {
    Box::new(move |out| {
        let Some(atomic) = atomic else { return each(&mut admitted, |outcome| writeln!(out, "{}", results(outcome))) };
        let heading = "outcome";
        let mut width = heading.len();
        each(&mut admitted, |outcome| {
            width = width.max(display_width(&results(outcome)));
            Ok(())
        })?;
        let column = |text: &str| format!("{text}{}   ", " ".repeat(width - display_width(text)));
        writeln!(out, "{0}atomic?\n{1}", column(heading), "─".repeat(width + "   atomic?".len()))?;
        each(&mut admitted, |outcome| {
            let mark = if atomic.contains(outcome) { "✓" } else { "✗" };
            writeln!(out, "{}{mark}", column(&results(outcome)))
        })
    })
}

/// The text after the bracket that opens the list: the outcomes, each in a line, and the end of the document.
fn outcomes_as_json(mut admitted: Outcomes, tail: String) -> Rest {
    Box::new(move |out| {
        let mut separator = "";
        each(&mut admitted, |outcome| {
            let results: Vec<Json> = outcome.iter().map(|value| to_json(value)).collect();
            let row = serde_json::to_string(&results).expect("strings, numbers and lists are always JSON");
            write!(out, "{separator}\n    {row}")?;
            separator = ",";
            Ok(())
        })?;
        write!(out, "\n  ]{tail}")
    })
}

/// Does something with each outcome, until it fails.
fn each(admitted: &mut Outcomes, mut act: impl FnMut(&[&Value]) -> io::Result<()>) -> io::Result<()> {
    let mut done = Ok(());
    admitted.each(|outcome| {
        done = act(outcome);
        done.is_ok()
    });
    done
}

fn plural(count: u128, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
