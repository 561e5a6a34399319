//! How a command gets on, on standard error: a bar where that is a terminal, elsewhere a line now and then.

pub mod events;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use interloper::blocks::{Phase, Watch};

use interloper_report::Counterexample;

use self::events::{Event, places};
use crate::counts::{grouped, plural};
use crate::output;

/// A command that takes no longer than this shows no progress.
const SILENCE: Duration = Duration::from_secs(1);
/// Then it says something this often.
const NOW_AND_THEN: Duration = Duration::from_secs(2);

/// Calls a function on a thread of its own, after a second and then every two seconds, until it is dropped.
pub struct Heartbeat(Option<(Sender<()>, JoinHandle<()>)>);

impl Heartbeat {
    /// Begins to call `beat`.
    pub fn start(mut beat: impl FnMut() + Send + 'static) -> Heartbeat {
        let (sender, ends) = mpsc::channel();
        let work = move || {
            let mut pause = SILENCE;
            while ends.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                beat();
                pause = NOW_AND_THEN;
            }
        };
        // Without a thread, no progress is shown.
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(work).ok();
        Heartbeat(thread.map(|thread| (sender, thread)))
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

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
    fn a_heart_beats_after_a_second_and_stops() {
        let beats = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&beats);
        let heartbeat = Heartbeat::start(move || _ = count.fetch_add(1, Ordering::Relaxed));
        assert_eq!(beats.load(Ordering::Relaxed), 0);
        let begun = Instant::now();
        while beats.load(Ordering::Relaxed) == 0 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(begun.elapsed() >= SILENCE / 2, "{:?}", begun.elapsed());
        drop(heartbeat);
        let before = beats.load(Ordering::Relaxed);
        assert!(before > 0);
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(beats.load(Ordering::Relaxed), before);
    }

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
