//! What the suite has, checked: composed operations and programs with blocks, which commands check, report and show alike.

pub mod cases;
pub mod programs;
mod trace;

use interloper_report::Counterexample;
use interloper_report::text::Style;
use serde::Serialize;

use crate::args::SearchArgs;
use crate::failure::Failure;
use crate::jobs;
use crate::progress::Progress;

/// An entry of the suite, and what its check gave.
pub trait Checked: Sized {
    /// What a JSON document says of it.
    type Result: Serialize;

    /// The name of the entry.
    fn name(&self) -> &'static str;

    /// Whether this is what nobody expected.
    fn is_unexpected(&self) -> bool;

    /// Whether nothing was explored.
    fn is_unexplored(&self) -> bool {
        false
    }

    /// Why the entry cannot be checked under these options, if it cannot.
    fn refused(&self) -> Option<String> {
        None
    }

    /// The counterexample, if there is one, without a command that replays it.
    fn counterexample(&self) -> Option<Counterexample>;

    /// The counterexample, if there is one, with its replay file written.
    fn kept(&self, search: &SearchArgs) -> Result<Option<Counterexample>, Failure>;

    /// What was found out about it, in full.
    fn report(&self, counterexample: Option<&Counterexample>, style: Style) -> String;

    /// The same for a document.
    fn result(&self, counterexample: Option<Counterexample>) -> Self::Result;

    /// One line for each.
    fn table(checked: &[Self], style: Style) -> String;

    /// How many of what, and which are not as expected.
    fn summary(checked: &[Self]) -> String;

    /// What the entry is about.
    fn about(&self) -> Description;

    /// Everything about it, as a JSON document.
    fn document(&self, counterexample: Option<Counterexample>, seed: u64) -> String;
}

/// What an entry is about.
pub struct Description {
    pub about: &'static str,
    /// What is known of it: a word, and what it is.
    pub facts: Vec<(&'static str, String)>,
    pub source: &'static str,
}

/// Checks `entries` on as many threads as asked for. Results are in the order of the entries.
fn check_each<E: Sync, C: Send>(
    noun: &'static str,
    entries: &[E],
    search: &SearchArgs,
    name: impl Fn(&E) -> &'static str,
    check: impl Fn(&E, &Progress) -> C + Sync,
) -> Result<Vec<C>, Failure> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let progress = Progress::start(noun, entries.len());
    let jobs = search.jobs.unwrap_or_else(jobs::default_jobs);
    let checked = jobs::run(jobs, entries, |entry| check(entry, &progress), |entry| progress.done(name(entry)))?;
    progress.finish();
    Ok(checked)
}
