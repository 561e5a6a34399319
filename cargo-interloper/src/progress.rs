//! `--progress json`: how a command gets on, as events on standard error.

#[path = "../../cli/src/progress/heartbeat.rs"]
mod heartbeat;

use std::io::{self, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use clap::ValueEnum;
use interloper_report::Counterexample;
use interloper_report::events::{Event, Place, places};

use self::heartbeat::Heartbeat;

/// How the progress of a command is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressArg {
    /// For people: lines of text
    Auto,
    /// For programs: one JSON event in each line
    Json,
}

/// How progress is shown. It is the same for the whole process.
static MODE: OnceLock<ProgressArg> = OnceLock::new();

/// Says how progress is shown from here on.
pub fn show(how: ProgressArg) {
    // Nothing but `main` says so.
    let _ = MODE.set(how);
}

/// Whether progress is told as events.
pub fn are_wanted() -> bool {
    MODE.get() == Some(&ProgressArg::Json)
}

/// Writes an event, if events are wanted.
pub fn tell(event: &Event<'_>) {
    if are_wanted() {
        // Nothing is left to do when that fails.
        let _ = writeln!(io::stderr().lock(), "{}", event.line());
    }
}

/// The progress of a number of tests, objects, operations or orderings.
pub struct Progress {
    what: &'static str,
    total: u64,
    started: Instant,
    now: Arc<Mutex<Now>>,
    is_quiet: bool,
    /// While this exists, an event is told now and then.
    _heartbeat: Option<Heartbeat>,
}

/// How far it has come.
#[derive(Default)]
struct Now {
    done: u64,
    name: String,
}

impl Progress {
    /// So many of them begin.
    pub fn start(what: &'static str, total: usize) -> Progress {
        let (total, started, now) = (total as u64, Instant::now(), Arc::new(Mutex::new(Now::default())));
        tell(&Event::Started { what, total: Some(total) });
        let shown = Arc::clone(&now);
        let beat = move || {
            let Now { done, name } = &*shown.lock().unwrap_or_else(PoisonError::into_inner);
            tell(&progress(*done, total, name, started));
        };
        Progress {
            what,
            total,
            started,
            now,
            is_quiet: false,
            _heartbeat: are_wanted().then(|| Heartbeat::start(beat)),
        }
    }

    /// The progress of a part of something whose progress is told: nothing is told of it.
    pub fn quiet() -> Progress {
        Progress { what: "", total: 0, started: Instant::now(), now: Arc::default(), is_quiet: true, _heartbeat: None }
    }

    /// This one runs.
    pub fn begin(&self, name: &str) {
        name.clone_into(&mut self.now.lock().unwrap_or_else(PoisonError::into_inner).name);
    }

    /// This one has ended.
    pub fn done(&self, name: &str) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.done += 1;
        if self.is_quiet {
            return;
        }
        tell(&progress(now.done, self.total, name, self.started));
    }
}

impl Drop for Progress {
    /// Says that all have ended.
    fn drop(&mut self) {
        if self.is_quiet {
            return;
        }
        let done = self.now.lock().unwrap_or_else(PoisonError::into_inner).done;
        let seconds = self.started.elapsed().as_secs_f64();
        tell(&Event::Finished { what: self.what, done, executions: None, seconds });
    }
}

fn progress(done: u64, total: u64, name: &str, started: Instant) -> Event<'_> {
    let seconds = started.elapsed().as_secs_f64();
    Event::Progress { done, total: Some(total), name, executions: None, seconds }
}

/// Something was found.
pub fn found(name: &str, counterexample: &Counterexample) {
    found_at(name, &counterexample.verdict, places(counterexample));
}

/// The same where the places are known otherwise.
pub fn found_at(name: &str, verdict: &str, places: Vec<Place<'_>>) {
    tell(&Event::Finding { name, verdict, expected: false, places });
}
