//! The commands: each takes what was typed and gives what is to be printed.

mod check_history;
mod commutativity;
mod compare;
mod generate;
mod generate_history;
mod hunt;
mod list;
mod objects;
mod outcomes;
mod replay;
mod show;
mod suite;
mod types;
mod visibility;

use std::io::{self, Write};

use serde::Serialize;
#[cfg(test)]
pub use types::type_named;

use crate::args::{Cli, Command};
use crate::failure::{Failure, Finding};

/// The result of a command.
pub struct Answer {
    /// For standard output.
    pub text: String,
    /// What comes behind it where that may be too much to keep.
    pub rest: Option<Rest>,
    /// What it amounts to.
    pub finding: Finding,
}

/// Writes the end of an answer.
pub type Rest = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()>>;

impl Answer {
    /// An answer that is one text.
    pub fn new(text: String, finding: Finding) -> Self {
        Self { text, rest: None, finding }
    }

    /// An answer with nothing unexpected in it.
    fn expected(text: String) -> Self {
        Self::new(text, Finding::Expected)
    }
}

/// Does what the command line asks for.
pub fn execute(cli: &Cli) -> Result<Answer, Failure> {
    let (search, output) = (&cli.search, &cli.output);
    match &cli.command {
        None => suite::suite(search, output),
        Some(Command::Run(arguments)) => suite::run(arguments, search, output),
        Some(Command::List) => list::list(search, output),
        Some(Command::Show { name }) => show::show(name, search, output),
        Some(Command::Commutativity { model, operations }) => {
            commutativity::commutativity(model, operations, search, output)
        }
        Some(Command::Replay { file }) => replay::replay(file, search, output),
        Some(Command::Compare) => compare::compare(search, output),
        Some(Command::Outcomes(arguments)) => outcomes::run(arguments, search, output),
        Some(Command::CheckHistory(arguments)) => check_history::run(arguments, search, output),
        Some(Command::GenerateHistory(arguments)) => generate_history::run(arguments, search, output),
        Some(Command::Types { name }) => types::run(name.as_deref(), search, output),
        Some(Command::Objects) => objects::objects(search, output),
        Some(Command::Hunt { object, schema }) => hunt::hunt(object, schema.as_deref(), search, output),
        Some(Command::Visibility { object }) => visibility::visibility(object, search, output),
        Some(Command::Generate { object, out, expression }) => {
            generate::generate(object, out, expression.as_deref(), search, output)
        }
    }
}

/// The version of every JSON document that the commands print.
pub const JSON_VERSION: u32 = 1;

/// A JSON document: indented, ended by a newline.
pub fn json(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("strings, numbers and lists are always JSON");
    text.push('\n');
    text
}
