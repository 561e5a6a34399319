//! The `interloper` command: is this concurrent code atomic?
//!
//! This crate alone knows the command line, the environment, files and exit codes. A command turns what was typed into
//! an [`Answer`](answer::Answer); the end of `main` prints it.

mod answer;
mod args;
mod catalogue;
mod commands;
mod counts;
mod entries;
mod failure;
mod failures;
mod files;
mod history_file;
mod internal;
mod jobs;
mod logging;
#[cfg(test)]
mod mutations;
mod nearest;
mod output;
mod progress;
#[cfg(test)]
mod reference;
mod services;
mod shards;
mod state;
mod strategy;
mod subject;
mod values;

use std::path::Path;
use std::process::ExitCode;

use args::Request;
use failure::{Failure, Finding};

fn main() -> ExitCode {
    let ending = internal::guard(run).and_then(|ending| ending);
    if let Err(failure) = &ending {
        output::note(&failure.to_string());
    }
    failure::exit_code(&ending)
}

fn run() -> Result<Finding, Failure> {
    let cli = match args::parse(std::env::args_os())? {
        Request::Run(cli) => cli,
        Request::Print(text) => return output::print(&text, None).map(|()| Finding::Expected),
    };
    progress::events::show(cli.output.progress);
    logging::start(cli.output.log.as_deref())?;
    // The suite's own places are those of the workspace that the command was built in.
    interloper_report::also_in(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")), &["mut-suite/"]);
    let answer = commands::execute(&cli)?;
    output::print(&answer.text, answer.rest)?;
    Ok(answer.finding)
}
