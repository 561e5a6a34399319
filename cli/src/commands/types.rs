//! `interloper types`: the reference types with their methods.

use interloper_linearize::types::{self, DataType, Shape, Signature};
use interloper_report::table::{Align, Table};
use serde::Serialize;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::failure::Failure;
use crate::nearest::unknown;

#[derive(Serialize)]
struct Document {
    version: u32,
    types: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    methods: Vec<Method>,
}

#[derive(Serialize)]
struct Method {
    name: &'static str,
    parameters: Vec<&'static str>,
    /// Whether it never changes the object.
    reads: bool,
}

/// Every type, or one, with what can be called.
pub fn run(name: Option<&str>, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("types", &[])?;
    output.judges_nothing("types")?;
    let chosen = match name {
        Some(name) => std::slice::from_ref(type_named(name)?),
        None => types::types(),
    };
    if output.format == Format::Json {
        let types = chosen.iter().map(listed).collect();
        return Ok(Answer::expected(json(&Document { version: JSON_VERSION, types })));
    }
    let mut table = Table::new([("type", Align::Left), ("method", Align::Left), ("", Align::Left)]);
    for data_type in chosen {
        for (index, signature) in data_type.methods().enumerate() {
            let parameters: Vec<&str> = signature.parameters.iter().map(|&shape| word(shape)).collect();
            let call = format!("{}({})", signature.name, parameters.join(", "));
            let first = if index == 0 { data_type.name } else { "" };
            table.row([first, &call, if signature.reads { "reads" } else { "changes" }]);
        }
    }
    Ok(Answer::expected(table.to_string()))
}

/// The type with this name.
pub fn type_named(name: &str) -> Result<&'static DataType, Failure> {
    let names = || types::types().iter().map(|data_type| data_type.name);
    let otherwise = format!("there are {}", names().collect::<Vec<&str>>().join(", "));
    types::type_named(name).ok_or_else(|| Failure::Request(unknown("type", name, names(), &otherwise)))
}

fn listed(data_type: &'static DataType) -> Listed {
    let method = |signature: &Signature| Method {
        name: signature.name,
        parameters: signature.parameters.iter().map(|&shape| word(shape)).collect(),
        reads: signature.reads,
    };
    Listed { name: data_type.name, methods: data_type.methods().map(method).collect() }
}

fn word(shape: Shape) -> &'static str {
    match shape {
        Shape::Any => "value",
        Shape::Key => "key",
        Shape::Amount => "integer",
        Shape::Text => "string",
        Shape::Elements => "list",
        Shape::Entries => "map",
    }
}
