//! Rewrites of operations as one step: edits of the text of a file.
//!
//! A rewrite is offered where its form fits the text, and refused where it could do something else: with other keys, other
//! collections, other uses in between. Whether it is right, only running it says.

mod atomics;
mod code;
mod entries;
mod locks;
mod maps;
mod patch;
mod queues;
mod removals;
mod site;
mod swaps;
mod table;
mod words;

use std::ops::Range;

pub use patch::{Replacement, diff, patched, replacements};
pub use words::form;

use crate::operation::Operation;
use crate::subject::is_run;
use site::Site;

/// A rewrite of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The atomic form, in words.
    pub form: String,
    /// What changes in the text of the file, in its order.
    pub edits: Vec<Edit>,
    /// Whether the operation returns something.
    pub gives: bool,
}

/// A change of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// What replaces them.
    pub text: String,
}

/// What one form makes of an operation.
type Made = Result<Vec<Fix>, String>;

/// The rewrites of an operation in the text of its file, the best first.
///
/// # Errors
/// Why an operation has no patch.
pub fn fixes(text: &str, operation: &Operation) -> Result<Vec<Fix>, String> {
    let parsed = site::parse(text)?;
    let site = Site::new(text, &parsed, operation)?;
    let first = site.operation.calls.first();
    let (library, kind) = first.map(|call| (call.library.as_str(), call.kind.as_str())).unwrap_or_default();
    let made: Made = match kind {
        "Mutex" | "RwLock" => locks::fixes(&site),
        kind if kind.starts_with("Atomic") => atomics::fixes(&site),
        "SegQueue" | "ArrayQueue" => queues::fixes(&site),
        "ArcSwap" | "ArcSwapOption" | "ArcSwapAny" => swaps::fixes(&site),
        kind => match table::of(library, kind) {
            Some(forms) => maps::fixes(&site, forms),
            None => Err(format!("no call of `{kind}` that does several things in one step is known")),
        },
    };
    let mut made = made?;
    // Two edits of one text, where several statements stand on one line, are no rewrite.
    made.retain(|fix| fix.edits.windows(2).all(|edits| edits[0].range.end <= edits[1].range.start));
    if made.is_empty() { Err("its text has no form that is known".to_owned()) } else { Ok(made) }
}

/// The rewrite of an operation that is not run, because nothing is known that runs calls of its collection one by one. Nothing has
/// checked it. `None` for an operation that is run, or that is not run for another reason.
pub fn unchecked(text: &str, operation: &Operation) -> Option<Result<Fix, String>> {
    let is_run = operation.recipe.is_ok() || operation.calls.iter().all(|call| is_run(&call.library, &call.kind));
    let first = |all: Vec<Fix>| all.into_iter().next().ok_or_else(|| "its text has no form that is known".to_owned());
    (!is_run).then(|| fixes(text, operation).and_then(first))
}

/// The operation with a rewrite, as an item of its module under another name.
///
/// # Errors
/// When the text does not have the operation.
pub fn item(text: &str, operation: &Operation, fix: &Fix, name: &str) -> Result<String, String> {
    let parsed = site::parse(text)?;
    Ok(Site::new(text, &parsed, operation)?.item(fix, name))
}
