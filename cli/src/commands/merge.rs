//! `interloper merge`: the report of one machine from the results of several.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use interloper::blocks::progress::InMemory;
use interloper::objects::hunt::Visit;

use super::compare::{self, Compared};
use super::suite::{told, whole};
use super::{hunt, visibility};
use crate::answer::Answer;
use crate::args::{Command, OutputArgs, Request, SearchArgs, parse};
use crate::catalogue::{self, Entry};
use crate::entries::cases::check_joined;
use crate::entries::programs::check_kept;
use crate::entries::told::Told as One;
use crate::failure::Failure;
use crate::files::page_can_be_written;
use crate::shards::{Asked, Joined, Split, Told, join};

/// Joins the results of all shards. The replay files of what is reported are written as the shards wrote them.
pub fn merge(files: &[PathBuf], search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("merge", &["--jobs"])?;
    output.no_html("merge")?;
    page_can_be_written(output.html.as_deref())?;
    let Joined { asked, told, split } = join(files)?;
    match split {
        Some(Split::Visits(visits)) => return visited(&asked, visits, output),
        Some(Split::Compared(compared)) => return compared_cases(&asked, compared, output),
        Some(split) => return whole(&asked, concluded(&asked, split, search)?, None, output),
        None => {}
    }
    told.of_cases.0.iter().try_for_each(One::write_file)?;
    told.of_programs.0.iter().try_for_each(One::write_file)?;
    whole(&asked, told, None, output)
}

/// Ends a hunt or a derivation whose visits were made before: makes those with findings again.
fn visited(asked: &Asked, visits: Vec<Visit>, output: &OutputArgs) -> Result<Answer, Failure> {
    let Ok(Request::Run(cli)) = parse(asked.again().map(OsString::from)) else { return Err(other_parts()) };
    match &cli.command {
        Some(Command::Hunt(args)) => hunt::concluded(args, &cli.search, visits, output),
        Some(Command::Visibility(object)) => visibility::concluded(object, &cli.search, visits, output),
        _ => Err(other_parts()),
    }
}

/// The table of a comparison whose cases were searched before.
fn compared_cases(asked: &Asked, compared: Vec<Compared>, output: &OutputArgs) -> Result<Answer, Failure> {
    match parse(asked.again().map(OsString::from)) {
        Ok(Request::Run(cli)) if matches!(cli.command, Some(Command::Compare)) => {
            compare::concluded(compared, &cli.search, output)
        }
        _ => Err(other_parts()),
    }
}

fn other_parts() -> Failure {
    Failure::Request("not the result of a shard: the search of one program is split".to_owned())
}

/// Ends a search whose executions were run before: reruns what they found, and makes it smaller.
fn concluded(asked: &Asked, split: Split, search: &SearchArgs) -> Result<Told, Failure> {
    let [name] = &asked.names[..] else { return Err(other_parts()) };
    let entry = catalogue::find(name).map_err(|_| other_parts())?;
    let Ok(Request::Run(cli)) = parse(asked.again().map(OsString::from)) else { return Err(other_parts()) };
    let search = SearchArgs { jobs: search.jobs, ..cli.search };
    match (entry, split) {
        (Entry::Program(program), Split::Executions(executions)) => {
            let checked = check_kept(&program, &search, Arc::new(InMemory::after(*executions)))?;
            Ok(Told { of_programs: told(&[checked], |_| true, &search)?, ..Told::default() })
        }
        (Entry::Case(case), Split::Searches(parts)) => {
            let checked = check_joined(&case, parts, &search)?;
            Ok(Told { of_cases: told(&[checked], |_| true, &search)?, ..Told::default() })
        }
        _ => Err(other_parts()),
    }
}
