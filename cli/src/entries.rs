//! What the suite has: composed operations and programs with blocks, which commands list, check, report, show and replay
//! alike.

pub mod cases;
pub mod programs;
pub mod recorded;
pub mod told;

use std::sync::Arc;

use interloper::blocks::progress::Keep;
use interloper_report::Counterexample;
use interloper_report::table::Align;
use serde::Serialize;

use self::told::{Documented, Kept};
use crate::args::SearchArgs;
use crate::counts::grouped;
use crate::failure::Failure;
use crate::jobs;
use crate::progress::{Progress, events};

/// An entry of the suite.
pub trait Item: Copy {
    /// The entry with what its check gave.
    type Checked: Checked;

    /// What a list says of it.
    fn listed(&self) -> Listed;

    /// Checks `items`, on several threads. Results are in the order of the items.
    fn check_all(items: &[Self], search: &SearchArgs) -> Result<Vec<Self::Checked>, Failure> {
        let items: Vec<Begun<Self>> = items.iter().map(|item| (*item, None)).collect();
        Self::check_begun(&items, search, &|_| ())
    }

    /// As [`Item::check_all`], for items whose progress is kept. Each thread gives `done` what it has checked.
    fn check_begun(
        items: &[Begun<Self>],
        search: &SearchArgs,
        done: &(dyn Fn(&Self::Checked) + Sync),
    ) -> Result<Vec<Self::Checked>, Failure>;
}

/// An entry, and what keeps the progress of its check, if it is kept.
pub type Begun<I> = (I, Option<Arc<dyn Keep>>);

/// An entry in a list.
#[derive(Serialize)]
pub struct Listed {
    pub name: &'static str,
    pub origin: &'static str,
    about: &'static str,
    expected: String,
    /// What is expected, in the words of a table.
    #[serde(skip)]
    pub in_table: String,
    /// Which parts of a program are blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<&'static str>,
    twin: Option<&'static str>,
}

/// An entry of the suite, and what its check gave.
pub trait Checked: Sized {
    /// What a JSON document says of it.
    type Result: Documented;

    /// The name of the entry.
    fn name(&self) -> &'static str;

    /// Whether the result differs from the expected one.
    fn is_unexpected(&self) -> bool;

    /// Whether the check comes to the same result whenever it is made: no limit on its time was set.
    fn is_settled(&self) -> bool;

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

    /// The counterexample, if there is one, with its replay file.
    fn kept(&self, search: &SearchArgs) -> Option<Kept>;

    /// The mark of the result.
    fn mark(&self) -> &'static str {
        if self.is_unexpected() { "✗" } else { "✓" }
    }

    /// The mark and the words of a report without a counterexample.
    fn headline(&self) -> (&'static str, String);

    /// What a report says after that, a line each.
    fn details(&self) -> Vec<String>;

    /// What must be found, if anything must.
    fn expectation(&self) -> Option<String>;

    /// How many executions ran, if any.
    fn executions(&self) -> Option<u64>;

    /// What was found, in one of [`Checked::words`].
    fn word(&self) -> String;

    /// What a summary counts, in its order.
    fn words() -> Vec<String>;

    /// What a summary counts: `3 cases`.
    fn number(count: u64) -> String;

    /// What a table has beside the mark and the name.
    fn row(&self) -> Vec<String>;

    /// The heads of a table.
    fn heads() -> [(&'static str, Align); 6];

    /// The same for a document, without the counterexample.
    fn result(&self) -> Self::Result;

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

/// A number in a table, or a dash.
fn or_dash(number: Option<u64>) -> String {
    number.map_or_else(|| "–".to_owned(), grouped)
}

/// Checks `entries` on as many threads as asked for. Results are in the order of the entries.
fn check_each<E: Sync, C: Checked + Send>(
    noun: &'static str,
    entries: &[E],
    search: &SearchArgs,
    name: impl Fn(&E) -> &'static str + Sync,
    check: impl Fn(&E, &Progress) -> C + Sync,
) -> Result<Vec<C>, Failure> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let progress = Progress::start(noun, entries.len());
    let jobs = search.jobs.unwrap_or_else(jobs::default_jobs);
    let work = |entry: &E| {
        let checked = check(entry, &progress);
        if let Some(counterexample) = checked.counterexample().filter(|_| events::are_wanted()) {
            progress.found(name(entry), !checked.is_unexpected(), &counterexample);
        }
        checked
    };
    let checked = jobs::run(jobs, entries, work, |entry| progress.done(name(entry)))?;
    progress.finish();
    Ok(checked)
}
