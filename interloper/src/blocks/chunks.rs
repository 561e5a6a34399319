//! How executions are shared out among threads, so that what is found does not depend on their number.
//!
//! Executions are numbered, and a *chunk* is a row of them. Where each execution can run without the ones before it, a
//! chunk has a strategy of its own, and a thread takes the next chunk. A strategy that learns from its executions goes
//! through several chunks: chunks form [`LANES`] lanes, each with one strategy, and a lane belongs to one thread. So
//! four threads can take part, and the strategy of a lane is the same however many do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use interloper_scheduler::orderings;
use interloper_scheduler::schedule::{Schedule, Search};

use super::schedule::Measured;
use super::settings::Settings;
use super::worker::{Summary, Worker};

/// How many executions of each member of a portfolio one thread runs in a row.
const ROUNDS: u64 = 64;

/// How many strategies learn beside each other. More would share less of what they learn.
const LANES: u64 = 4;

/// The numbers of the executions of a lane, as its strategy counts them, begin at a multiple of this.
const LANE: u64 = 1 << 40;

/// The most threads that can take part.
pub(super) fn most_jobs(schedule: &Schedule) -> usize {
    if schedule.learns() { LANES as usize } else { usize::MAX }
}

/// What threads share that make executions.
pub(super) struct Work<'a> {
    settings: &'a Settings,
    measured: &'a Measured,
    jobs: usize,
    /// The next chunk, where each has a strategy of its own.
    next: AtomicU64,
    /// The first chunk that ends the search: later chunks do not matter.
    limit: AtomicU64,
    made: Mutex<Chunks>,
    /// The threads that could not be started: the first one does their share.
    adopted: Mutex<BTreeSet<usize>>,
}

impl<'a> Work<'a> {
    pub(super) fn new(settings: &'a Settings, measured: &'a Measured, jobs: usize) -> Work<'a> {
        let (next, limit) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        Work { settings, measured, jobs, next, limit, made: Mutex::default(), adopted: Mutex::default() }
    }

    pub(super) fn jobs(&self) -> usize {
        self.jobs
    }

    /// The thread of this number could not be started. Said before the first thread takes part.
    pub(super) fn adopt(&self, thread: usize) {
        self.adopted.lock().expect("nobody panics while holding it").insert(thread);
    }

    /// Runs chunks of executions until no chunk before the first bug is left.
    pub(super) fn take_part(&self, worker: &mut Worker<'_>, thread: usize) {
        match &self.settings.schedule {
            schedule if !schedule.is_random() => self.take_all(worker),
            schedule if schedule.learns() => self.take_lanes(worker, thread),
            _ => self.take_chunks(worker),
        }
    }

    /// One strategy runs all executions.
    fn take_all(&self, worker: &mut Worker<'_>) {
        let mut search = self.search(0);
        self.run(worker, &mut search, 0, u64::MAX);
    }

    fn take_chunks(&self, worker: &mut Worker<'_>) {
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if !self.run(worker, &mut self.search(chunk * ROUNDS), chunk, ROUNDS) {
                return;
            }
        }
    }

    fn take_lanes(&self, worker: &mut Worker<'_>, thread: usize) {
        let members = self.settings.schedule.members().len() as u64;
        let adopted = self.adopted.lock().expect("nobody panics while holding it").clone();
        let is_own = |lane: u64| {
            let owner = lane as usize % self.jobs;
            owner == thread || (thread == 0 && adopted.contains(&owner))
        };
        let mut lanes: BTreeMap<u64, Search> = BTreeMap::new();
        for chunk in (0..).filter(|chunk| is_own(chunk % LANES)) {
            let lane = chunk % LANES;
            let search = lanes.entry(lane).or_insert_with(|| self.search(lane * LANE));
            if !self.run(worker, search, chunk, ROUNDS * members) {
                return;
            }
        }
    }

    fn search(&self, round: u64) -> Search {
        self.measured.search(&self.settings.schedule, self.settings.seed, round)
    }

    /// Runs the executions of a chunk. Says whether there may be more.
    fn run(&self, worker: &mut Worker<'_>, search: &mut Search, chunk: u64, length: u64) -> bool {
        let settings = self.settings;
        let Some(first) = chunk.checked_mul(length).filter(|first| *first < settings.executions) else { return false };
        if chunk > self.limit.load(Ordering::Relaxed) {
            return false;
        }
        let numbers = first..first.saturating_add(length).min(settings.executions);
        let mut summary = worker.explore(search.strategy(), numbers);
        summary.cut = search.cut().or(summary.cut);
        summary.stale = search.stale().or(summary.stale);
        let ends = summary.misuse.is_some() || (summary.bug.is_some() && !settings.keep_going);
        if ends {
            self.limit.fetch_min(chunk, Ordering::Relaxed);
        }
        let timed_out = summary.timed_out;
        self.made.lock().expect("nobody panics while holding it").add(chunk, summary, ends);
        !timed_out
    }

    /// The chunks up to the first that ends the search, in their order.
    pub(super) fn into_summary(self) -> Summary {
        let mut made = self.made.into_inner().expect("nobody panics while holding it");
        std::mem::take(&mut made.ahead).into_values().for_each(|(summary, ends)| made.join(summary, ends));
        made.joined
    }
}

/// The chunks that have run.
#[derive(Default)]
struct Chunks {
    /// The chunks up to the first missing one, or up to the first that ends the search.
    joined: Summary,
    /// How many these are.
    next: u64,
    /// Whether the last joined chunk ends the search.
    ended: bool,
    /// Chunks that have run out of turn, and whether each ends the search.
    ahead: BTreeMap<u64, (Summary, bool)>,
}

impl Chunks {
    fn add(&mut self, chunk: u64, summary: Summary, ends: bool) {
        self.ahead.insert(chunk, (summary, ends));
        while let Some((summary, ends)) = self.ahead.remove(&self.next) {
            self.join(summary, ends);
            self.next += 1;
        }
    }

    fn join(&mut self, later: Summary, ends: bool) {
        if !self.ended {
            self.joined = std::mem::take(&mut self.joined).and(later);
            self.ended = ends;
        }
    }
}

impl Summary {
    /// The executions of `self`, and then those of `later`.
    fn and(mut self, later: Summary) -> Summary {
        self.traces.merge(&later.traces);
        self.sample.merge(&later.sample);
        orderings::add(&mut self.orderings, later.orderings);
        self.warnings.extend(later.warnings);
        Summary {
            executions: self.executions + later.executions,
            saw_plain_memory: self.saw_plain_memory || later.saw_plain_memory,
            steps: self.steps + later.steps,
            traces: self.traces,
            sample: self.sample,
            orderings: self.orderings,
            seen: self.seen.and(later.seen),
            violated: self.violated + later.violated,
            bugs: self.bugs + later.bugs,
            given_up: self.given_up + later.given_up,
            undecided: self.undecided + later.undecided,
            error: self.error.or(later.error),
            bug: self.bug.or(later.bug),
            misuse: self.misuse.or(later.misuse),
            warnings: self.warnings,
            exhausted: self.exhausted || later.exhausted,
            cut: self.cut.or(later.cut),
            stale: self.stale.or(later.stale),
            timed_out: self.timed_out || later.timed_out,
            serial: self.serial.and(later.serial),
        }
    }
}
