//! The native engine: a harness on real threads, millions of times.

mod clock;
mod counts;
mod layout;
mod leader;
mod meet;
mod pace;
mod team;
#[cfg(test)]
mod tests;
mod trie;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use interloper_commutativity::Value;
use interloper_scheduler::Deadline;

use crate::object::{Program, Typed};
use layout::Layout;
use leader::{Leader, Message, Terms};
use meet::Place;
use team::{Failure, Team};

pub use meet::Spin;
pub use pace::{Pace, Stride};
pub use team::Overlap;

/// How a harness is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where the random delays come from. The executions themselves are up to the machine.
    pub seed: u64,
    /// When it has run enough.
    pub budget: Budget,
    /// When it ends, whether or not it has run enough.
    pub deadline: Deadline,
    /// How many cores are used; none: all that this process may use.
    pub cores: Option<usize>,
    /// Where threads run.
    pub affinity: Affinity,
    /// How threads wait for each other.
    pub spin: Spin,
    /// How they keep together; none: the engine finds out what makes most executions overlap.
    pub pace: Option<Pace>,
    /// A call that takes so long is taken to be blocked.
    pub patience: Duration,
}

impl Default for Settings {
    /// One second on all cores, pinned, at a pace that the engine finds; a call may take two seconds.
    fn default() -> Settings {
        Settings {
            seed: 0,
            budget: Budget::Time(Duration::from_secs(1)),
            deadline: Deadline::NEVER,
            cores: None,
            affinity: Affinity::Pinned,
            spin: Spin::Auto,
            pace: None,
            patience: Duration::from_secs(2),
        }
    }
}

/// When a harness has run enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// After this time.
    Time(Duration),
    /// After exactly so many executions.
    Executions(u64),
}

/// Where the threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affinity {
    /// Each on one core.
    Pinned,
    /// Wherever the operating system puts them.
    Free,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// How often each outcome came: the results of the invocations in text order.
    pub outcomes: BTreeMap<Vec<Value>, u64>,
    /// How many executions there were: the sum of the counts.
    pub executions: u64,
    /// How long it took, with the making and dropping of the objects.
    pub took: Duration,
    /// How many threads each team had, and how many teams there were.
    pub threads: usize,
    /// See `threads`.
    pub teams: usize,
    /// In how many executions sequences really overlapped, of those that were measured.
    pub overlap: Overlap,
    /// The pace that most executions went at.
    pub pace: Pace,
    /// Why it ended.
    pub end: End,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The budget is used up.
    Enough,
    /// Whoever looked at the outcomes had seen enough.
    Stopped,
    /// Calls did not return within [`Settings::patience`]. Their threads are left to themselves. The counts are those of
    /// shortly before; no outcome is missing.
    Blocked(Vec<Blocked>),
    /// The constructor panicked, and said this.
    ConstructorPanicked(String),
    /// Dropping an object panicked, and said this.
    DropPanicked(String),
}

/// Where a thread is stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// In the invocation with this index in text order.
    Call(usize),
    /// In the constructor.
    Constructor,
    /// Where an object is dropped.
    Drop,
}

/// What is to be done after a new outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Go on.
    Continue,
    /// End the run.
    Stop,
}

impl Observed {
    /// Executions a second.
    pub fn rate(&self) -> f64 {
        self.executions as f64 / self.took.as_secs_f64().max(1e-9)
    }

    /// The share of executions in which sequences overlapped; none when nothing was measured.
    pub fn overlapping(&self) -> Option<f64> {
        (self.overlap.stamped > 0).then(|| self.overlap.overlapping as f64 / self.overlap.stamped as f64)
    }
}

/// Runs a program. `look` sees every outcome when it is new, and says whether to go on.
///
/// # Panics
/// When the operating system refuses a thread.
pub fn run(program: &Program, settings: &Settings, look: &mut dyn FnMut(&[Value]) -> Next) -> Observed {
    program.object().erased().stress(program, settings, look)
}

/// The same, for objects of a known type.
pub(crate) fn run_typed<T: Send + Sync + 'static>(
    typed: &Arc<Typed<T>>,
    program: &Program,
    settings: &Settings,
    look: &mut dyn FnMut(&[Value]) -> Next,
) -> Observed {
    let layout = Layout::new(program.schema());
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
        let team = Arc::new(Team::new(typed.clone(), layout.clone(), program.calls(), seed, spin));
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

fn launch<T: Send + Sync + 'static>(
    team: &Arc<Team<T>>,
    leader: Leader,
    cores: &Cores,
    first: usize,
) -> Vec<std::thread::JoinHandle<()>> {
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
struct Running<T> {
    team: Arc<Team<T>>,
    handles: Vec<std::thread::JoinHandle<()>>,
    answers: mpsc::Sender<Next>,
    report: Report,
    pulse: u64,
}

/// What a leader has to say.
#[derive(Default)]
pub(super) struct Report {
    outcomes: Vec<(Vec<Value>, u64)>,
    overlap: Overlap,
    pace: Pace,
    failure: Option<Failure>,
    last: bool,
}

struct Controller<'r, T> {
    running: &'r mut [Running<T>],
    inbox: mpsc::Receiver<Message>,
    patience: Duration,
    look: &'r mut dyn FnMut(&[Value]) -> Next,
}

impl<T: Send + Sync + 'static> Controller<'_, T> {
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
