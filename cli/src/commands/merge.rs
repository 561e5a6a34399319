//! `interloper merge`: the report of one machine from the results of several.

use std::path::PathBuf;

use super::suite::whole;
use crate::answer::Answer;
use crate::args::{OutputArgs, SearchArgs};
use crate::entries::told::Told;
use crate::failure::Failure;
use crate::shards::join;

/// Joins the results of all shards. The replay files of what is reported are written as the shards wrote them.
pub fn merge(files: &[PathBuf], search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("merge", &[])?;
    output.no_html("merge")?;
    let (asked, told) = join(files)?;
    told.of_cases.0.iter().try_for_each(Told::write_file)?;
    told.of_programs.0.iter().try_for_each(Told::write_file)?;
    whole(&asked, told, output)
}
