//! `interloper objects`.

use interloper::objects::Role;
use interloper_report::table::{Align, Table};
use interloper_suite::objects::{Studied, all};
use serde::Serialize;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::failure::Failure;

#[derive(Serialize)]
struct Document {
    version: u32,
    objects: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    about: &'static str,
    instrumented: bool,
    core: Vec<String>,
    methods: Vec<String>,
}

/// Every object of the study with its methods.
pub fn objects(search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("objects", &[])?;
    output.judges_nothing("objects")?;
    let listed: Vec<Listed> = all().into_iter().map(listed).collect();
    if output.format == Format::Json {
        return Ok(Answer::expected(json(&Document { version: JSON_VERSION, objects: listed })));
    }
    let mut table = Table::new([
        ("object", Align::Left),
        ("what it is", Align::Left),
        ("engines", Align::Left),
        ("methods", Align::Right),
    ]);
    for object in listed {
        let engines = if object.instrumented { "systematic, stress" } else { "stress" };
        let methods = (object.core.len() + object.methods.len()).to_string();
        table.row([object.name.to_owned(), object.about.to_owned(), engines.to_owned(), methods]);
    }
    Ok(Answer::expected(table.to_string()))
}

fn listed(studied: Studied) -> Listed {
    let Studied { name, about, instrumented, .. } = studied;
    let object = studied.object();
    let labels = |role: Role| object.with_role(role).map(|method| object.label(method)).collect();
    Listed { name, about, instrumented, core: labels(Role::Core), methods: labels(Role::UnderTest) }
}
