//! The commands: each takes what was typed and gives what is to be printed.

mod check_history;
mod commutativity;
mod compare;
mod explore;
mod generate;
mod generate_history;
mod hunt;
mod list;
mod merge;
mod objects;
mod outcomes;
mod replay;
mod show;
mod suite;
mod types;
mod visibility;

#[cfg(test)]
pub use types::type_named;

pub use compare::Compared;

use crate::answer::Answer;
use crate::args::{Cli, Command};
use crate::failure::Failure;

/// Does what the command line asks for.
pub fn execute(cli: &Cli) -> Result<Answer, Failure> {
    let (search, output) = (&cli.search, &cli.output);
    if let (Some(_), Some(_)) = (&cli.command, &cli.state) {
        return Err(Failure::Request("before a command, --state means nothing: give it after the command".to_owned()));
    }
    match &cli.command {
        None => suite::suite(cli.state.as_deref(), search, output),
        Some(Command::Run(arguments)) => suite::run(arguments, search, output),
        Some(Command::List) => list::list(search, output),
        Some(Command::Show { name }) => show::show(name, search, output),
        Some(Command::Commutativity { model, operations }) => {
            commutativity::commutativity(model, operations, search, output)
        }
        Some(Command::Replay { file }) => replay::replay(file, search, output),
        Some(Command::Explore { file, trace }) => explore::explore(file, trace.as_deref(), search, output),
        Some(Command::Merge { files }) => merge::merge(files, search, output),
        Some(Command::Compare) => compare::compare(search, output),
        Some(Command::Outcomes(arguments)) => outcomes::run(arguments, search, output),
        Some(Command::CheckHistory(arguments)) => check_history::run(arguments, search, output),
        Some(Command::GenerateHistory(arguments)) => generate_history::run(arguments, search, output),
        Some(Command::Types { name }) => types::run(name.as_deref(), search, output),
        Some(Command::Objects) => objects::objects(search, output),
        Some(Command::Hunt(arguments)) => hunt::hunt(arguments, search, output),
        Some(Command::Visibility(object)) => visibility::visibility(object, search, output),
        Some(Command::Generate { object, out, expression }) => {
            generate::generate(object, out, expression.as_deref(), search, output)
        }
    }
}
