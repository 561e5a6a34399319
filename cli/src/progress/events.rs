//! Progress as events for editors and other programs: one JSON object in each line of standard error.

use std::sync::OnceLock;

pub use interloper_report::events::{Event, places};

use crate::args::ProgressArg;
use crate::output;

/// How progress is shown. It is the same for the whole process, like the logs.
static MODE: OnceLock<ProgressArg> = OnceLock::new();

/// Says how progress is shown from here on.
pub fn show(how: ProgressArg) {
    // Nothing but `main` says so.
    let _ = MODE.set(how);
}

/// Whether progress is for people, and not switched off.
pub fn for_people() -> bool {
    MODE.get().copied().unwrap_or(ProgressArg::Auto) == ProgressArg::Auto
}

/// Whether progress is told as events.
pub fn are_wanted() -> bool {
    MODE.get() == Some(&ProgressArg::Json)
}

/// Writes an event, if events are wanted.
pub trait Tell {
    /// See [`Tell`].
    fn tell(&self);
}

impl Tell for Event<'_> {
    fn tell(&self) {
        if are_wanted() {
            output::note(&self.line());
        }
    }
}
