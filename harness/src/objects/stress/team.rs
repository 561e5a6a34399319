//! A team of threads that run one harness, and what each of them does.
//!
//! A team works batch by batch. In each batch, every thread creates its part of the objects; all threads run their
//! sequences on all objects, in the same order; every thread counts the outcomes on its own objects and drops them. The
//! threads meet between these steps, and lane 0 leads: it decides how to continue while the other lanes wait.
//!
//! There is no `unsafe` here and nothing that a race detector could object to: objects are shared as `Arc`s of whole
//! batches, which costs a few atomic operations for each batch; the results of a lane are in atomics that no other lane
//! writes, on cache lines of their own; a lock protects everything else, and its lane holds the lock for a whole batch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use interloper_commutativity::Value;
use interloper_random::{Purpose, Stream};
use interloper_scheduler::panics;

use super::clock;
use super::counts::Counts;
use super::layout::{Layout, Segment};
use super::meet::{GivenUp, Meeting, Place, Spin};
use super::observed::Overlap;
use super::pace::{Pace, Stride};
use super::trie::Trie;

pub(crate) struct Team {
    objects: Box<dyn Batch>,
    pub(super) layout: Layout,
    pub(super) meeting: Meeting,
    /// By sequence.
    pub(super) tracks: Vec<Track>,
    /// By lane.
    books: Vec<Mutex<Books>>,
    plan: Mutex<Arc<Plan>>,
    failure: Mutex<Option<Failure>>,
    stopped: AtomicBool,
}

/// The objects of a team, of a type that is not known, and the calls on them. A call is known by its lane, its segment in the lane, and
/// its place in the segment.
pub(crate) trait Batch: Send + Sync {
    /// Makes so many objects for a lane.
    ///
    /// # Panics
    /// As the constructor does.
    fn make(&self, team: &Team, lane: usize, number: usize, books: &mut Books);

    /// Drops the objects that a lane has made, until a destructor panics.
    ///
    /// # Panics
    /// As the destructor does.
    fn drop_all(&self, team: &Team, lane: usize, books: &mut Books);

    /// Goes on from `at` to the end of the batch, until a call panics.
    ///
    /// # Panics
    /// As the call does.
    fn executions(&self, team: &Team, lane: usize, plan: &Plan, books: &mut Books, at: &mut At) -> Result<(), GivenUp>;

    /// The number of the result "panicked with this message" of a call.
    fn panicked(&self, call: (usize, usize, usize), message: &str) -> u32;

    /// The result of a call with this number.
    fn result(&self, call: (usize, usize, usize), number: u32) -> Value;
}

/// What one sequence has shown on each object of a batch.
pub(super) struct Track {
    /// The number of the combination of its results.
    pub(super) results: Vec<AtomicU32>,
    /// When it began and ended, in batches that are stamped.
    pub(super) begin: Vec<AtomicU64>,
    pub(super) end: Vec<AtomicU64>,
}

/// What a lane keeps for itself.
pub(crate) struct Books {
    /// For each segment, the combinations of the results of its calls.
    pub(super) tries: Vec<Trie>,
    counts: Counts,
    overlap: Overlap,
    pub(super) random: Stream,
    /// How many segments this lane has finished, and how many objects it has created and dropped.
    pub(super) done: u64,
    pub(super) handled: u64,
}

/// The leader's plan for the next batch.
#[derive(Clone)]
pub(crate) struct Plan {
    /// False if no batch follows.
    pub(super) go: bool,
    pub(super) pace: Pace,
    /// How many objects.
    pub(super) size: usize,
    /// Whether beginnings and ends are stamped.
    pub(super) stamped: bool,
    /// How many executions there were before.
    pub(super) before: u64,
    /// The delays at the start, in rounds of [`clock::delay`]: for each lane the longest random delay, and a fixed
    /// delay by the lane that created the object, which compensates for objects in another processor's cache.
    pub(super) random: u32,
    pub(super) fixed: Vec<Vec<u32>>,
}

/// The delays of one lane of a team: no two threads have the same ones.
fn delays(seed: u64, team: usize, lane: usize) -> Stream {
    Stream::new(seed, Purpose::Delays, (team as u64) << 32 | lane as u64)
}

/// Why a team cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Constructor(String),
    Drop(String),
}

impl Team {
    pub(super) fn new(objects: Box<dyn Batch>, layout: Layout, (seed, number): (u64, usize), spin: Spin) -> Team {
        let books = |lane: usize| {
            let trie = |segment: &Segment| Trie::new(segment.calls.len());
            Mutex::new(Books {
                tries: layout.lanes[lane].iter().map(trie).collect(),
                counts: Counts::new(layout.sequences),
                overlap: Overlap::default(),
                random: delays(seed, number, lane),
                done: 0,
                handled: 0,
            })
        };
        let lanes = layout.lanes.len();
        let track = || Track { results: zeros(MAX_BATCH), begin: zeros(MAX_BATCH), end: zeros(MAX_BATCH) };
        let nothing = Plan {
            go: false,
            pace: Pace::default(),
            size: 0,
            stamped: false,
            before: 0,
            random: 0,
            fixed: vec![vec![0; lanes]; lanes],
        };
        Team {
            meeting: Meeting::new(lanes, spin),
            objects,
            tracks: (0..layout.sequences).map(|_| track()).collect(),
            books: (0..lanes).map(books).collect(),
            plan: Mutex::new(Arc::new(nothing)),
            failure: Mutex::new(None),
            stopped: AtomicBool::new(false),
            layout,
        }
    }

    /// The work of this lane's thread. Lane 0 calls `lead` before each batch, with the plan of the last batch, while no
    /// other lane runs.
    pub(super) fn work(&self, lane: usize, mut lead: impl FnMut(&Team, &Plan) -> Plan) {
        // A lane that has given up leaves its objects to the lanes that still wait.
        let _ = panics::quietly(|| self.batches(lane, &mut lead));
    }

    fn batches(&self, lane: usize, lead: &mut dyn FnMut(&Team, &Plan) -> Plan) -> Result<(), GivenUp> {
        loop {
            self.meeting.all(lane, || {
                let next = lead(self, &self.plan());
                *lock(&self.plan) = Arc::new(next);
            })?;
            let plan = self.plan();
            if !plan.go {
                return Ok(());
            }
            let mut books = lock(&self.books[lane]);
            self.make(lane, self.part(plan.size, lane).len(), &mut books);
            self.meeting.all(lane, || {})?;
            if lock(&self.failure).is_none() {
                self.run(lane, &plan, &mut books)?;
                self.meeting.all(lane, || {})?;
                self.count(self.part(plan.size, lane), plan.stamped, &mut books);
            }
            self.drop_objects(lane, &mut books);
        }
    }

    /// The objects of a batch that this lane makes, and whose outcomes it counts.
    fn part(&self, size: usize, lane: usize) -> std::ops::Range<usize> {
        let lanes = self.layout.lanes.len();
        size * lane / lanes..size * (lane + 1) / lanes
    }

    fn make(&self, lane: usize, number: usize, books: &mut Books) {
        self.meeting.is_at(lane, Place::Constructor);
        let made = panics::caught(|| self.objects.make(self, lane, number, books));
        self.meeting.is_at(lane, Place::Between);
        if let Err(panicked) = made {
            lock(&self.failure).get_or_insert(Failure::Constructor(panicked.message));
        }
    }

    fn drop_objects(&self, lane: usize, books: &mut Books) {
        self.meeting.is_at(lane, Place::Drop);
        // One at a time, since a second panic while a vector drops its elements ends the process.
        while let Err(panicked) = panics::caught(|| self.objects.drop_all(self, lane, books)) {
            lock(&self.failure).get_or_insert(Failure::Drop(panicked.message));
        }
        self.meeting.is_at(lane, Place::Between);
    }

    fn run(&self, lane: usize, plan: &Plan, books: &mut Books) -> Result<(), GivenUp> {
        let mut at = At { owner: 0, index: 0, execution: 0, segment: 0, begun: false, call: 0, node: Trie::ROOT };
        loop {
            let run = || self.objects.executions(self, lane, plan, books, &mut at);
            match catch_unwind(AssertUnwindSafe(run)) {
                Ok(result) => return result,
                Err(payload) => {
                    let number = self.objects.panicked((lane, at.segment, at.call), &panics::message(&*payload));
                    at.node = books.tries[at.segment].step(at.node, number);
                    at.call += 1;
                }
            }
        }
    }

    /// Waits for the other lanes if the pace asks for it, and then as long as the plan says.
    #[inline]
    pub(super) fn start(
        &self,
        lane: usize,
        plan: &Plan,
        execution: usize,
        fixed: u32,
        random: &mut Stream,
    ) -> Result<(), GivenUp> {
        let Stride::Every(stride) = plan.pace.stride else { return Ok(()) };
        if !(execution as u32).is_multiple_of(stride) {
            return Ok(());
        }
        self.meeting.start(lane, plan.before + execution as u64 + 1)?;
        // Marsaglia's xorshift.
        clock::delay(fixed + random.below(u64::from(plan.random)) as u32);
        Ok(())
    }

    fn count(&self, range: std::ops::Range<usize>, stamped: bool, books: &mut Books) {
        let mut outcome = vec![0; self.tracks.len()];
        for execution in range.clone() {
            for (number, track) in outcome.iter_mut().zip(&self.tracks) {
                *number = track.results[execution].load(Ordering::Relaxed);
            }
            books.counts.add(&outcome);
        }
        if stamped {
            books.overlap.stamped += range.len() as u64;
            books.overlap.overlapping += range.filter(|&execution| self.overlapped(execution)).count() as u64;
        }
    }

    fn overlapped(&self, execution: usize) -> bool {
        let interval = |sequence: usize| {
            let track = &self.tracks[sequence];
            (track.begin[execution].load(Ordering::Relaxed), track.end[execution].load(Ordering::Relaxed))
        };
        self.layout.concurrent.iter().any(|&(one, other)| {
            let ((one_begin, one_end), (other_begin, other_end)) = (interval(one), interval(other));
            one_begin < other_end && other_begin < one_end
        })
    }

    /// No further batch, please.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn plan(&self) -> Arc<Plan> {
        lock(&self.plan).clone()
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        lock(&self.failure).clone()
    }

    /// What has been stamped so far. For the leader.
    pub(super) fn overlap(&self) -> Overlap {
        self.books.iter().fold(Overlap::default(), |sum, books| {
            let overlap = lock(books).overlap;
            Overlap { stamped: sum.stamped + overlap.stamped, overlapping: sum.overlapping + overlap.overlapping }
        })
    }

    /// The outcomes that are new since this was last asked. For the leader.
    pub(super) fn fresh(&self) -> Vec<Vec<Value>> {
        let fresh: Vec<Box<[u32]>> = self.books.iter().flat_map(|books| lock(books).counts.fresh()).collect();
        fresh.iter().map(|outcome| self.values(outcome)).collect()
    }

    /// Every outcome with its count. For the leader.
    pub(super) fn outcomes(&self) -> Vec<(Vec<Value>, u64)> {
        let count = |books: &Mutex<Books>| lock(books).counts.iter().collect::<Vec<_>>();
        let counted: Vec<(Box<[u32]>, u64)> = self.books.iter().flat_map(count).collect();
        counted.iter().map(|(outcome, count)| (self.values(outcome), *count)).collect()
    }

    /// The results of an outcome, in text order.
    fn values(&self, outcome: &[u32]) -> Vec<Value> {
        let length = self.layout.lanes.iter().flatten().map(|segment| segment.calls.len()).sum();
        let mut values = vec![Value::None; length];
        for (lane, segments) in self.layout.lanes.iter().enumerate() {
            let books = lock(&self.books[lane]);
            for (place, (segment, trie)) in segments.iter().zip(&books.tries).enumerate() {
                let combination = trie.combination(outcome[segment.sequence]);
                for (call, (index, &number)) in segment.calls.clone().zip(combination).enumerate() {
                    values[index] = self.objects.result((lane, place, call), number);
                }
            }
        }
        values
    }

    /// By lane and maker, how many ticks a lane usually begins later than lane 0 in the last batch, and how many a
    /// sequence takes. For the leader, after a stamped batch.
    pub(super) fn timing(&self, size: usize) -> Timing {
        let lanes = self.layout.lanes.len();
        let begin = |lane: usize, execution: usize| {
            let first = self.layout.lanes[lane][0].sequence;
            self.tracks[first].begin[execution].load(Ordering::Relaxed) as i64
        };
        let step = (size / 64).max(1);
        let sample = |owner: usize| self.part(size, owner).step_by(step);
        let later = |lane: usize, owner: usize| {
            median(sample(owner).map(|execution| begin(lane, execution).wrapping_sub(begin(0, execution))))
        };
        let taken = |track: &Track, execution: usize| {
            let (begin, end) = (&track.begin[execution], &track.end[execution]);
            end.load(Ordering::Relaxed).wrapping_sub(begin.load(Ordering::Relaxed)) as i64
        };
        let took =
            self.tracks.iter().map(|track| median((0..size).step_by(step).map(|execution| taken(track, execution))));
        let took: Vec<i64> = took.collect();
        Timing {
            later: (0..lanes).map(|lane| (0..lanes).map(|owner| later(lane, owner)).collect()).collect(),
            took: took.iter().sum::<i64>() / took.len().max(1) as i64,
        }
    }
}

/// The largest batch.
pub(super) const MAX_BATCH: usize = 4096;

/// Where a lane is in a batch.
pub(crate) struct At {
    pub(super) owner: usize,
    pub(super) index: usize,
    pub(super) execution: usize,
    pub(super) segment: usize,
    /// Whether the segment has begun.
    pub(super) begun: bool,
    pub(super) call: usize,
    pub(super) node: u32,
}

pub(super) struct Timing {
    pub(super) later: Vec<Vec<i64>>,
    pub(super) took: i64,
}

fn median(numbers: impl Iterator<Item = i64>) -> i64 {
    let mut numbers: Vec<i64> = numbers.collect();
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}

fn zeros<A: Default>(number: usize) -> Vec<A> {
    (0..number).map(|_| A::default()).collect()
}

pub(super) fn lock<V: ?Sized>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_threads_have_the_same_delays() {
        for seed in [0, 1, 42] {
            let beginning = |team: usize, lane: usize| {
                let mut random = delays(seed, team, lane);
                (0..8).map(|_| random.below(1_000)).collect::<Vec<u64>>()
            };
            let all: BTreeSet<Vec<u64>> = (0..4)
                .flat_map(|team| (0..8).map(move |lane| (team, lane)))
                .map(|(team, lane)| beginning(team, lane))
                .collect();
            assert_eq!(all.len(), 32, "seed {seed}");
        }
    }
}
