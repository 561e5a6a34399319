//! How a command gets on, on standard error: a bar where that is a terminal, elsewhere a line now and then.

pub mod events;
mod heartbeat;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use interloper::blocks::{Phase, Watch};

use interloper_report::Counterexample;

use self::events::{Event, Tell as _, places};
pub use self::heartbeat::Heartbeat;
use crate::counts::{grouped, plural};
use crate::output;

/// The progress of a number of cases or programs.
pub struct Progress {
    noun: &'static str,
    total: usize,
    bar: ProgressBar,
    started: Instant,
    done: Arc<AtomicUsize>,
    now: Arc<Now>,
    heartbeat: Heartbeat,
}

/// What is done at present, in one of the programs.
#[derive(Default)]
struct Now {
    name: Mutex<&'static str>,
    /// The kind of the phase, and its executions.
    phase: AtomicU64,
    /// The phases that were told as events.
    told: Mutex<BTreeSet<(&'static str, &'static str)>>,
}

/// Two bits of the number are the kind of the phase.
const KINDS: u64 = 4;

impl Now {
    fn note(&self, phase: Phase) {
        let (kind, executions) = match phase {
            Phase::Searching(executions) => (1, executions),
            Phase::SerialOrders(executions) => (2, executions),
            Phase::Shrinking(executions) => (3, executions),
        };
        self.phase.store(executions.saturating_mul(KINDS) + kind, Ordering::Relaxed);
    }

    /// In words; empty before the first note.
    fn text(&self) -> String {
        let Some((name, what, executions)) = self.parts() else { return String::new() };
        format!(", {name}: {what}, {}", plural(executions, "execution"))
    }

    /// The name, the phase and its executions. None before the first note.
    fn parts(&self) -> Option<(&'static str, &'static str, u64)> {
        let phase = self.phase.load(Ordering::Relaxed);
        let what = match phase % KINDS {
            0 => return None,
            1 => "searching",
            2 => "running serial orders",
            _ => "shrinking the finding",
        };
        Some((*self.name.lock().unwrap_or_else(PoisonError::into_inner), what, phase / KINDS))
    }

    /// Tells of a phase, once.
    fn tell(&self, name: &'static str) {
        let Some((_, phase, _)) = self.parts().filter(|_| events::are_wanted()) else { return };
        if self.told.lock().unwrap_or_else(PoisonError::into_inner).insert((name, phase)) {
            Event::Phase { name, phase }.tell();
        }
    }
}

impl Progress {
    /// Shows how `total` of them, called `noun` each, get on.
    pub fn start(noun: &'static str, total: usize) -> Self {
        Event::Started { what: noun, total: Some(total as u64) }.tell();
        let bar = if events::for_people() { ProgressBar::new(total as u64) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}").expect("a valid template");
        bar.set_style(style);
        let (started, done, now) = (Instant::now(), Arc::new(AtomicUsize::new(0)), Arc::new(Now::default()));
        let (shown, count, doing) = (bar.clone(), Arc::clone(&done), Arc::clone(&now));
        let heartbeat = Heartbeat::start(move || {
            let line = format!("{} s{}", started.elapsed().as_secs(), doing.text());
            if !events::for_people() {
                let (name, executions) = match doing.parts() {
                    Some((name, _, executions)) => (name, Some(executions)),
                    None => ("", None),
                };
                let (done, total) = (count.load(Ordering::Relaxed) as u64, Some(total as u64));
                Event::Progress { done, total, name, executions, seconds: started.elapsed().as_secs_f64() }.tell();
            } else if shown.is_hidden() {
                let done = grouped(count.load(Ordering::Relaxed) as u64);
                output::note(&format!("{done} of {} done in {line}", plural(total as u64, noun)));
            } else {
                shown.set_message(line);
            }
        });
        Self { noun, total, bar, started, done, now, heartbeat }
    }

    /// Tells how one of them, called `noun`, gets on as events, if they are wanted: it is too short for a person to wait for.
    pub fn for_programs(noun: &'static str) -> Option<Self> {
        events::are_wanted().then(|| Self::start(noun, 1))
    }

    /// Is told what is done in a program of this name.
    pub fn watch(&self, name: &'static str) -> Watch {
        let now = Arc::clone(&self.now);
        Watch::new(move |phase| {
            // The beginning of a phase says whose it is.
            if matches!(phase, Phase::Searching(0..=1) | Phase::SerialOrders(0..=1) | Phase::Shrinking(0..=1)) {
                *now.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
                now.note(phase);
                now.tell(name);
            }
            now.note(phase);
        })
    }

    /// One has ended.
    pub fn done(&self, name: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) as u64 + 1;
        self.bar.set_message(name.to_owned());
        self.bar.inc(1);
        let (total, seconds) = (Some(self.total as u64), self.started.elapsed().as_secs_f64());
        Event::Progress { done, total, name, executions: None, seconds }.tell();
    }

    /// One has found something.
    pub fn found(&self, name: &str, expected: bool, counterexample: &Counterexample) {
        Event::Finding { name, verdict: &counterexample.verdict, expected, places: places(counterexample) }.tell();
    }

    /// Takes the bar away and says how long it took.
    pub fn finish(self) {
        drop(self.heartbeat);
        self.bar.finish_and_clear();
        let (all, seconds) = (self.total as u64, self.started.elapsed().as_secs_f64());
        Event::Finished { what: self.noun, done: all, executions: None, seconds }.tell();
        if events::for_people() {
            output::note(&format!("{} in {seconds:.2} s", plural(all, self.noun)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_in_words() {
        let now = Now::default();
        assert_eq!(now.text(), "");
        *now.name.lock().unwrap() = "bank";
        now.note(Phase::SerialOrders(1));
        assert_eq!(now.text(), ", bank: running serial orders, 1 execution");
        now.note(Phase::Shrinking(1_234));
        assert_eq!(now.text(), ", bank: shrinking the finding, 1,234 executions");
    }
}
