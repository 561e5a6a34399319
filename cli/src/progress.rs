//! A progress bar on standard error, when that is a terminal.

use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::checking::plural;
use crate::output;

/// The progress of a number of cases or programs.
pub struct Progress {
    noun: &'static str,
    total: usize,
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    /// Shows a bar for `total` of them, called `noun` each; indicatif hides it when standard error is no terminal.
    pub fn start(noun: &'static str, total: usize) -> Self {
        let bar = ProgressBar::new(total as u64);
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}").expect("a valid template");
        bar.set_style(style);
        Self { noun, total, bar, started: Instant::now() }
    }

    /// One has ended.
    pub fn done(&self, name: &str) {
        self.bar.set_message(name.to_owned());
        self.bar.inc(1);
    }

    /// Takes the bar away and says how long it took.
    pub fn finish(self) {
        self.bar.finish_and_clear();
        let all = plural(self.total as u64, self.noun);
        output::note(&format!("{all} in {:.2} s", self.started.elapsed().as_secs_f64()));
    }
}
