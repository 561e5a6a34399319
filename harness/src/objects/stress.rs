//! The native engine: a harness on real threads, millions of times.

mod clock;
mod counts;
mod layout;
mod leader;
mod meet;
pub(crate) mod objects;
pub(crate) mod observed;
mod pace;
pub(crate) mod settings;
pub(crate) mod team;
#[cfg(test)]
mod tests;
mod trie;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use interloper_commutativity::Value;

use crate::object::Program;
use layout::{Layout, Segment};
use leader::{Leader, Message, Report, Terms};
use meet::Place;
use team::{Failure, Team};

pub use crate::next::Next;
pub use meet::Spin;
pub use observed::{Blocked, End, Observed, Overlap};
pub use pace::{Pace, Stride};
pub use settings::{Affinity, Budget, Settings};

/// Runs a program. `look` sees every outcome when it is new, and says whether to go on.
///
/// # Panics
/// When the operating system refuses a thread.
pub fn run(program: &Program, settings: &Settings, look: &mut dyn FnMut(&[Value]) -> Next) -> Observed {
    let layout = Layout::new(program.schema());
    let calls = |segment: &Segment| &program.calls()[segment.calls.clone()];
    let calls: Vec<Vec<_>> = layout.lanes.iter().map(|lane| lane.iter().map(calls).collect()).collect();
    let cores = Cores::new(settings);
    let threads = layout.lanes.len();
    let teams = (cores.number / threads).max(1);
    let crowded = cores.number < threads;
    let spin = if crowded && settings.spin == Spin::Auto { Spin::Yield } else { settings.spin };
    let terms = Terms { settings, start: Instant::now(), teams, crowded };
    let (sender, inbox) = mpsc::channel();
    let mut running = Vec::new();
    for number in 0..teams {
        let seed = (settings.seed, number);
        let team = Arc::new(Team::new(program.object().erased().batch(&calls), layout.clone(), seed, spin));
        let (answers, answered) = mpsc::channel();
        let leader = Leader::new(&terms, number, sender.clone(), answered);
        let handles = launch(&team, leader, &cores, number * threads);
        running.push(Running { team, handles, answers, report: Report::default(), pulse: 0 });
    }
    drop(sender);
    let end = Controller { running: &mut running, inbox, patience: settings.patience, look }.run();
    if !matches!(end, End::Blocked(_)) {
        for handle in running.iter_mut().flat_map(|running| running.handles.drain(..)) {
            handle.join().expect("internal error: a thread of the stress engine panicked");
        }
    }
    let mut observed = Observed {
        outcomes: BTreeMap::new(),
        executions: 0,
        took: terms.start.elapsed(),
        threads,
        teams,
        overlap: Overlap::default(),
        pace: running[0].report.pace,
        end,
    };
    for Running { report, .. } in running {
        observed.add(report);
    }
    observed
}

impl Observed {
    fn add(&mut self, report: Report) {
        for (outcome, count) in report.outcomes {
            *self.outcomes.entry(outcome).or_insert(0) += count;
            self.executions += count;
        }
        self.overlap.stamped += report.overlap.stamped;
        self.overlap.overlapping += report.overlap.overlapping;
    }
}

/// The cores that may be used.
struct Cores {
    number: usize,
    ids: Vec<core_affinity::CoreId>,
}

impl Cores {
    fn new(settings: &Settings) -> Cores {
        let ids = match settings.affinity {
            Affinity::Pinned => core_affinity::get_core_ids().unwrap_or_default(),
            Affinity::Free => Vec::new(),
        };
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        let available = if ids.is_empty() { available } else { available.min(ids.len()) };
        Cores { number: settings.cores.unwrap_or(available).clamp(1, available), ids }
    }

    fn pin(&self, thread: usize) -> Option<core_affinity::CoreId> {
        self.ids.get(thread % self.number).copied()
    }
}

fn launch(team: &Arc<Team>, leader: Leader, cores: &Cores, first: usize) -> Vec<std::thread::JoinHandle<()>> {
    let mut leader = Some(leader);
    let launch = |lane: usize| {
        let (team, core, mut leader) = (team.clone(), cores.pin(first + lane), leader.take());
        let work = move || {
            if let Some(core) = core {
                core_affinity::set_for_current(core);
            }
            team.work(lane, |team, plan| leader.as_mut().expect("lane 0 leads").lead(team, plan));
        };
        let name = format!("stress {lane}");
        std::thread::Builder::new().name(name).spawn(work).expect("the operating system has no thread left")
    };
    (0..team.layout.lanes.len()).map(launch).collect()
}

/// A team under way.
struct Running {
    team: Arc<Team>,
    handles: Vec<std::thread::JoinHandle<()>>,
    answers: mpsc::Sender<Next>,
    report: Report,
    pulse: u64,
}

struct Controller<'r> {
    running: &'r mut [Running],
    inbox: mpsc::Receiver<Message>,
    patience: Duration,
    look: &'r mut dyn FnMut(&[Value]) -> Next,
}

impl Controller<'_> {
    fn run(mut self) -> End {
        let mut end = End::Enough;
        let mut seen: BTreeMap<Vec<Value>, Next> = BTreeMap::new();
        let mut quiet_since = Instant::now();
        while self.running.iter().any(|running| !running.report.last) {
            match self.inbox.recv_timeout(self.patience / 4) {
                Ok(Message::New(team, outcomes)) => {
                    for outcome in outcomes {
                        let next = *seen.entry(outcome).or_insert_with_key(|outcome| (self.look)(outcome));
                        if next == Next::Stop {
                            end = End::Stopped;
                        }
                    }
                    let next = if end == End::Enough { Next::Continue } else { Next::Stop };
                    // A leader that does not wait for the answer has ended, which is as good.
                    let _ = self.running[team].answers.send(next);
                    quiet_since = Instant::now();
                }
                Ok(Message::Report(team, report)) => {
                    match &report.failure {
                        Some(Failure::Constructor(message)) => end = End::ConstructorPanicked(message.clone()),
                        Some(Failure::Drop(message)) => end = End::DropPanicked(message.clone()),
                        None => {}
                    }
                    self.running[team].report = report;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("internal error: a leader of the stress engine is gone"),
            }
            if end != End::Enough {
                for running in self.running.iter() {
                    running.team.stop();
                }
            }
            if self.somebody_got_on() {
                quiet_since = Instant::now();
            } else if quiet_since.elapsed() >= self.patience {
                return self.give_up();
            }
        }
        end
    }

    fn somebody_got_on(&mut self) -> bool {
        let mut all = true;
        for running in self.running.iter_mut().filter(|running| !running.report.last) {
            let pulse = running.team.meeting.pulse();
            all &= pulse != running.pulse;
            running.pulse = pulse;
        }
        all
    }

    fn give_up(self) -> End {
        let mut blocked = Vec::new();
        for running in self.running.iter() {
            running.team.meeting.give_up();
            blocked.extend(running.team.meeting.places().into_iter().filter_map(|place| match place {
                Place::Between => None,
                Place::Constructor => Some(Blocked::Constructor),
                Place::Drop => Some(Blocked::Drop),
                Place::Call(index) => Some(Blocked::Call(index as usize)),
            }));
        }
        End::Blocked(blocked)
    }
}
