//! How executions are shared out among threads, so that what is found does not depend on their number.
//!
//! Executions are numbered, and a *chunk* is a row of them. Where each execution can run without the ones before it, a
//! chunk has a strategy of its own, and a thread takes the next chunk. A strategy that learns from its executions goes
//! through several chunks: chunks form [`LANES`] lanes, each with one strategy, and a lane belongs to one thread. So
//! four threads can take part, and the strategy of a lane is the same however many do. After [`STRIPE`] executions the
//! strategy of a lane begins anew.
//!
//! The same numbers split a search among machines: a shard has its own chunks, or, where the search learns, its own stripes. An
//! exhaustive search splits itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use interloper_scheduler::orderings;
use interloper_scheduler::schedule::{STEERED, Schedule, Search};
use interloper_scheduler::strategies::Pair;

use super::misuse::Misuse;
use super::progress::{Learnt, Progress, Resumed};
use super::schedule::Measured;
use super::settings::Settings;
use super::subtrees::{Subtrees, is_open};
use super::worker::{Summary, Worker};

/// How many executions of each member of a portfolio one thread runs in a row.
const ROUNDS: u64 = 64;

/// How many strategies learn beside each other. More would share less of what they learn.
const LANES: u64 = 4;

/// A search that tries everything can be kept after each row of so many executions.
const ROW: u64 = 16;

/// The numbers of the executions of a lane, as its strategy counts them, begin at a multiple of this.
const LANE: u64 = 1 << 40;

/// After so many executions the strategy of a lane begins anew. So a long search that learns can be continued without going
/// back to its beginning, and has work for more than four shards.
const STRIPE: u64 = if cfg!(test) { 300 } else { 1 << 18 };

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
    /// The chunks of an earlier search: all before this one, and these.
    earlier: (u64, BTreeSet<u64>),
    /// Of a part of an exhaustive search: what it has shown.
    subtrees: Mutex<Option<Subtrees>>,
    /// Of a search that tries everything: what an earlier process has shown, and what its strategy kept.
    underway: Mutex<Option<(Summary, Vec<u64>)>>,
    /// What the lanes of an earlier process had learnt.
    learnt: Mutex<BTreeMap<u64, Learnt>>,
    /// How often progress was kept: whoever sees another number says what its lanes have learnt.
    keeps: AtomicU64,
    /// The threads that could not be started: the first one does their share.
    adopted: Mutex<BTreeSet<usize>>,
}

impl<'a> Work<'a> {
    pub(super) fn new(settings: &'a Settings, measured: &'a Measured, jobs: usize) -> Work<'a> {
        let (next, limit) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let (made, earlier, adopted) = (Mutex::default(), (0, BTreeSet::new()), Mutex::default());
        let (subtrees, underway, learnt) = (Mutex::default(), Mutex::default(), Mutex::default());
        let keeps = AtomicU64::new(0);
        Work { settings, measured, jobs, next, limit, made, earlier, subtrees, underway, learnt, keeps, adopted }
    }

    /// Goes on where an earlier search of the same program with the same settings stopped.
    ///
    /// # Errors
    /// When an execution that showed something then differs now.
    pub(super) fn resume(&mut self, worker: &mut Worker<'_>) -> Result<(), Misuse> {
        let Some(progress) = self.settings.keeper.earlier() else { return Ok(()) };
        if let Some(subtrees) = progress.subtrees()
            && let Some(summary) = subtrees.summary(worker, self.settings)?
        {
            self.made.get_mut().expect("nobody panics while holding it").add(0, summary, true);
            self.earlier.0 = 1;
        }
        if !self.settings.schedule.is_random() {
            if let Some(underway) = progress.take_underway() {
                let (summary, strategy) = underway.summary(worker, self.settings)?;
                let kept = (summary, strategy.to_vec());
                *self.underway.get_mut().expect("nobody panics while holding it") = Some(kept);
            }
            return Ok(());
        }
        self.settings.keeper.tell(Resumed::GoesOn);
        let made = self.made.get_mut().expect("nobody panics while holding it");
        let (joined, next, ended) = progress.joined();
        (made.joined, made.next, made.ended) = (joined.summary(worker, self.settings)?, next, ended);
        let mut limit = if ended { next.saturating_sub(1) } else { u64::MAX };
        for (chunk, part, ends) in progress.ahead() {
            made.add(chunk, part.summary(worker, self.settings)?, ends);
            self.earlier.1.insert(chunk);
            if ends {
                limit = limit.min(chunk);
            }
        }
        self.earlier.0 = next;
        self.learnt = Mutex::new(progress.lanes().clone());
        self.limit = AtomicU64::new(limit);
        Ok(())
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
        let Settings { schedule, shard, keeper, .. } = self.settings;
        if self.is_known(0) {
            return;
        }
        if schedule.can_split() && !shard.is_whole() && keeper.keeps() {
            return self.take_subtrees(worker);
        }
        // A search that can be split has executions of its own in each shard.
        if schedule.can_split() || shard.has(0) {
            self.run(worker, &mut self.search(0), 0, u64::MAX);
        }
    }

    /// The part of a search that tries everything, to be joined with the others.
    fn take_subtrees(&self, worker: &mut Worker<'_>) {
        let Settings { schedule, shard, executions, keeper, .. } = self.settings;
        // Which of the schedules with few preemptions count here is known after each.
        let row = if *schedule == Schedule::Exhaustive { ROW } else { 1 };
        let mut search = self.search(0);
        let (mut all, mut repeats, mut first) = (Summary::default(), false, 0);
        if *schedule == Schedule::Exhaustive {
            worker.list_traces();
        }
        while first < *executions {
            worker.continue_after(&all);
            let numbers = first..first.saturating_add(row).min(*executions);
            first = numbers.end;
            let summary = worker.explore(search.strategy(), numbers);
            let counts = !search.is_shared() || shard.has(0);
            all = all.and(if counts { summary } else { summary.without_counts() });
            repeats = search.repeats();
            // Then the search runs again as a whole, so this part and the others are over.
            let is_open = repeats || is_open(&all) || search.is_weak();
            if is_open {
                keeper.post(0);
            }
            if is_open || all.exhausted || all.timed_out || keeper.earliest().is_some() {
                break;
            }
        }
        all.cut = search.cut().or(all.cut).or(all.steered.then_some(STEERED));
        all.stale = search.stale();
        let subtrees = Subtrees::of(*shard, &all, worker.take_traces(), repeats);
        *self.subtrees.lock().expect("nobody panics while holding it") = Some(subtrees);
        self.made.lock().expect("nobody panics while holding it").add(0, all, true);
    }

    fn take_chunks(&self, worker: &mut Worker<'_>) {
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if !self.is_left(chunk, ROUNDS) {
                return;
            }
            let is_own = self.settings.shard.has(chunk) && !self.is_known(chunk);
            if is_own && !self.run(worker, &mut self.search(chunk * ROUNDS), chunk, ROUNDS) {
                return;
            }
        }
    }

    fn take_lanes(&self, worker: &mut Worker<'_>, thread: usize) {
        let length = ROUNDS * self.settings.schedule.members().len() as u64;
        let adopted = self.adopted.lock().expect("nobody panics while holding it").clone();
        let is_own = |lane: u64| {
            let owner = lane as usize % self.jobs;
            owner == thread || (thread == 0 && adopted.contains(&owner))
        };
        let mut lanes: BTreeMap<u64, Lane> = BTreeMap::new();
        let mut keeps = 0;
        for chunk in (0..).filter(|chunk| is_own(chunk % LANES)) {
            if !self.is_left(chunk, length) {
                return;
            }
            let (lane, stripe) = (chunk % LANES, chunk / LANES / STRIPE.div_ceil(length));
            if !self.settings.shard.has(stripe * LANES + lane) || self.is_known(chunk) {
                continue;
            }
            let begun = |known: &Lane| known.stripe == stripe;
            if !lanes.get(&lane).is_some_and(begun) {
                lanes.insert(lane, self.lane((lane, stripe), chunk, length));
            }
            let last = self.keeps.load(Ordering::Relaxed);
            if keeps != last || self.settings.keeper.is_due() {
                keeps = last;
                self.tell_learnt(&mut lanes);
            }
            let at = lanes.get_mut(&lane).expect("it is there or was made");
            // What an earlier process learnt after it was kept last is learnt again.
            while at.next < chunk {
                if worker.explore(at.search.strategy(), self.numbers(at.next, length)).timed_out {
                    return;
                }
                at.next += LANES;
            }
            at.next += LANES;
            if !self.run(worker, &mut at.search, chunk, length) {
                return;
            }
        }
    }

    /// The strategy of a lane before this chunk or an earlier one of the stripe: with what an earlier process has kept of it.
    fn lane(&self, (lane, stripe): (u64, u64), chunk: u64, length: u64) -> Lane {
        let first = stripe * STRIPE.div_ceil(length);
        let begun = || self.search(lane * LANE + first * length);
        let learnt = self.learnt.lock().expect("nobody panics while holding it").remove(&lane);
        if let Some(learnt) = learnt.filter(|learnt| learnt.stripe == stripe && learnt.next <= chunk) {
            let mut search = begun();
            if search.strategy().restore(&learnt.strategy) {
                return Lane { stripe, search, next: learnt.next };
            }
        }
        Lane { stripe, search: begun(), next: first * LANES + lane }
    }

    /// Notes what the lanes of this thread have learnt, for what is kept next. A lane that has learnt too much to be written often stays
    /// noted as it was.
    fn tell_learnt(&self, lanes: &mut BTreeMap<u64, Lane>) {
        for (lane, Lane { stripe, search, next }) in lanes {
            if let Some(strategy) = search.strategy().saved() {
                let learnt = Learnt { stripe: *stripe, next: *next, strategy };
                self.made.lock().expect("nobody panics while holding it").lanes.insert(*lane, learnt);
            }
        }
    }

    fn search(&self, round: u64) -> Search {
        let Settings { schedule, seed, shard, .. } = self.settings;
        self.measured.search(schedule, *seed, round, *shard)
    }

    /// Whether the chunk has executions that matter.
    fn is_left(&self, chunk: u64, length: u64) -> bool {
        let first = chunk.checked_mul(length);
        let is_late = |limit: u64| chunk > limit;
        first.is_some_and(|first| first < self.settings.executions)
            && !is_late(self.limit.load(Ordering::Relaxed))
            && !self.settings.keeper.earliest().is_some_and(is_late)
    }

    /// Whether an earlier search has run the chunk.
    fn is_known(&self, chunk: u64) -> bool {
        chunk < self.earlier.0 || self.earlier.1.contains(&chunk)
    }

    /// The executions of a chunk.
    fn numbers(&self, chunk: u64, length: u64) -> Range<u64> {
        let first = chunk * length;
        first..first.saturating_add(length).min(self.settings.executions)
    }

    /// Runs the executions of a chunk. Says whether there may be more.
    fn run(&self, worker: &mut Worker<'_>, search: &mut Search, chunk: u64, length: u64) -> bool {
        let settings = self.settings;
        if !self.is_left(chunk, length) {
            return false;
        }
        let mut summary = match !settings.schedule.is_random() && settings.shard.is_whole() && settings.keeper.keeps() {
            true => self.explore_in_rows(worker, search),
            false => worker.explore(search.strategy(), self.numbers(chunk, length)),
        };
        // After other searches, shrinking looks for fewer stale accesses.
        let looks_for_fewer = settings.schedule == Schedule::Exhaustive && !settings.keep_going;
        if let Some(bug) = summary.bug.as_ref().filter(|_| looks_for_fewer)
            && let Some(mut fewer) = search.with_fewer_stale(&bug.decisions, settings.shard)
        {
            let mut later = worker.explore(fewer.strategy(), bug.number + 1..settings.executions);
            let bug = later.bug.take().or(summary.bug.take());
            // What was found stays found, whatever comes of looking for less.
            summary = Summary { bug, misuse: None, exhausted: false, ..summary.and(later) };
        }
        summary.cut = search.cut().or(summary.cut);
        summary.stale = search.stale().or(summary.stale);
        let ends = summary.misuse.is_some() || (summary.bug.is_some() && !settings.keep_going);
        if ends {
            self.limit.fetch_min(chunk, Ordering::Relaxed);
            self.settings.keeper.post(chunk);
        }
        let timed_out = summary.timed_out;
        let mut made = self.made.lock().expect("nobody panics while holding it");
        // What is kept is whole, and can be kept.
        match timed_out || summary.misuse.is_some() {
            true => _ = made.partial.insert(chunk, (summary, ends)),
            false => made.add(chunk, summary, ends),
        }
        if settings.schedule.is_random() && settings.keeper.is_due() {
            settings.keeper.keep(|| made.progress());
            self.keeps.fetch_add(1, Ordering::Relaxed);
        }
        !timed_out
    }

    /// All executions of a search that tries everything, or those that an earlier process has not made. Kept between rows of them, until
    /// something is found: that is found again.
    fn explore_in_rows(&self, worker: &mut Worker<'_>, search: &mut Search) -> Summary {
        let Settings { executions, keeper, keep_going, .. } = self.settings;
        let mut all = Summary::default();
        if let Some((summary, strategy)) = self.underway.lock().expect("nobody panics while holding it").take() {
            if search.strategy().restore(&strategy) {
                keeper.tell(Resumed::GoesOn);
                all = summary;
            } else {
                keeper.tell(Resumed::Anew);
                *search = self.search(0);
            }
        }
        loop {
            let first = all.executions;
            let row = first..first.saturating_add(ROW).min(*executions);
            let is_last = row.is_empty();
            if !is_last {
                worker.continue_after(&all);
                all = all.and(worker.explore(search.strategy(), row));
            }
            let found = all.misuse.is_some() || (all.bug.is_some() && !keep_going);
            let is_over = is_last || all.exhausted || all.timed_out;
            if !found
                && (is_over || keeper.is_due())
                && let Some(words) = search.strategy().saved()
            {
                keeper.keep(|| Progress::underway(&all, words));
            }
            if found || is_over {
                all.cut = search.cut().or(all.cut).or(all.steered.then_some(STEERED));
                return all;
            }
        }
    }

    /// The chunks up to the first that ends the search, in their order.
    pub(super) fn into_summary(self) -> Summary {
        let mut made = self.made.into_inner().expect("nobody panics while holding it");
        if self.settings.schedule.is_random() {
            if made.partial.is_empty() {
                // The search is over.
                made.lanes.clear();
            }
            self.settings.keeper.keep(|| made.progress());
        }
        if let Some(subtrees) = self.subtrees.into_inner().expect("nobody panics while holding it") {
            self.settings.keeper.keep(|| Progress::of_subtrees(subtrees));
        }
        let partial = std::mem::take(&mut made.partial);
        made.ahead.extend(partial);
        std::mem::take(&mut made.ahead).into_values().for_each(|(summary, ends)| made.join(summary, ends));
        made.joined
    }
}

/// The strategy of a lane, on its way through a stripe.
struct Lane {
    stripe: u64,
    search: Search,
    /// The chunk that it runs next.
    next: u64,
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
    /// What lanes have learnt: some chunks before the last ones at most.
    lanes: BTreeMap<u64, Learnt>,
    /// Chunks that have not run to their end.
    partial: BTreeMap<u64, (Summary, bool)>,
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

    fn progress(&self) -> Progress {
        Progress::new((&self.joined, self.next, self.ended), &self.ahead, &self.lanes)
    }
}

impl Summary {
    /// What it shows, of executions that count elsewhere.
    fn without_counts(self) -> Summary {
        let (executions, steps, violated, given_up, undecided, plain_steps) = Default::default();
        let (traces, sample) = Default::default();
        Summary { executions, steps, violated, given_up, undecided, plain_steps, traces, sample, ..self }
    }

    /// The executions of `self`, and then those of `later`.
    pub(super) fn and(mut self, later: Summary) -> Summary {
        self.traces.merge(&later.traces);
        self.sample.merge(&later.sample);
        orderings::add(&mut self.orderings, later.orderings);
        self.warnings.extend(later.warnings);
        self.inferred.resize(self.inferred.len().max(later.inferred.len()), Pair::default());
        for (count, more) in self.inferred.iter_mut().zip(later.inferred) {
            count.entered += more.entered;
            count.interrupted += more.interrupted;
        }
        Summary {
            executions: self.executions + later.executions,
            saw_plain_memory: self.saw_plain_memory || later.saw_plain_memory,
            hashed: self.hashed || later.hashed,
            plain_steps: self.plain_steps + later.plain_steps,
            weaker: self.weaker.max(later.weaker),
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
            inferred: self.inferred,
            exhausted: self.exhausted || later.exhausted,
            steered: self.steered || later.steered,
            cut: self.cut.or(later.cut),
            stale: self.stale.or(later.stale),
            timed_out: self.timed_out || later.timed_out,
            memory: self.memory.or(later.memory),
            serial: self.serial.and(later.serial),
        }
    }
}

#[cfg(test)]
mod tests;
