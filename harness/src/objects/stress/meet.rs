//! Threads that wait for each other, spinning.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// A value on cache lines of its own. Processors fetch lines in pairs, hence 128 bytes.
#[repr(align(128))]
pub(super) struct Padded<V>(pub(super) V);

impl<V> std::ops::Deref for Padded<V> {
    type Target = V;
    fn deref(&self) -> &V {
        &self.0
    }
}

/// How a thread passes the time until another one has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spin {
    /// Spins, and sleeps briefly if spinning takes long: then the other thread has lost its core to another process,
    /// and a thread that has slept gets a core back at once. [`Spin::Yield`] if there are fewer cores than threads.
    Auto,
    /// It only spins.
    Busy,
    /// It soon lets other threads use its core.
    Yield,
}

/// So many rounds are some 200 microseconds: more than a batch of objects takes to make.
const SPINS: u32 = 1 << 13;
const SPINS_BEFORE_YIELD: u32 = 1 << 6;
const SLEEP: Duration = Duration::from_micros(50);

/// The run was given up, since a thread may never arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenUp;

/// What the threads of a team tell each other as they go.
pub(super) struct Meeting {
    lanes: Vec<Padded<Progress>>,
    generation: Padded<AtomicU32>,
    arrived: Padded<AtomicU32>,
    given_up: Padded<AtomicBool>,
    spin: Spin,
}

/// How far one lane is. Only its own thread writes here.
struct Progress {
    /// How many executions it has come to.
    started: AtomicU64,
    /// How many segments it has been through.
    done: AtomicU64,
    /// How many objects it has created and dropped.
    objects: AtomicU64,
    /// What it is doing: a [`Place`] as a number.
    place: AtomicU32,
}

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It waits for another, or keeps its books.
    Between,
    /// It creates an object.
    Constructor,
    /// It drops an object.
    Drop,
    /// It is in the call with this index in text order.
    Call(u32),
}

impl Meeting {
    pub(super) fn new(lanes: usize, spin: Spin) -> Meeting {
        let progress = || Progress {
            started: AtomicU64::new(0),
            done: AtomicU64::new(0),
            objects: AtomicU64::new(0),
            place: AtomicU32::new(u32::MAX),
        };
        Meeting {
            lanes: (0..lanes).map(|_| Padded(progress())).collect(),
            generation: Padded(AtomicU32::new(0)),
            arrived: Padded(AtomicU32::new(0)),
            given_up: Padded(AtomicBool::new(false)),
            spin,
        }
    }

    /// Waits for all lanes. Lane 0 runs `meanwhile` while the other lanes wait.
    pub(super) fn all(&self, lane: usize, meanwhile: impl FnOnce()) -> Result<(), GivenUp> {
        let others = self.lanes.len() as u32 - 1;
        if lane == 0 {
            self.until(|| self.arrived.load(Ordering::Acquire) == others)?;
            meanwhile();
            self.arrived.store(0, Ordering::Relaxed);
            // Releases what was done meanwhile, and, through the acquire above, what the others had done.
            self.generation.fetch_add(1, Ordering::Release);
        } else {
            // The generation cannot change before this lane has arrived.
            let generation = self.generation.load(Ordering::Relaxed);
            self.arrived.fetch_add(1, Ordering::Release);
            self.until(|| self.generation.load(Ordering::Acquire) != generation)?;
        }
        Ok(())
    }

    /// Waits until all lanes have come to this execution.
    #[inline]
    pub(super) fn start(&self, lane: usize, execution: u64) -> Result<(), GivenUp> {
        self.lanes[lane].started.store(execution, Ordering::Release);
        for (other, progress) in self.lanes.iter().enumerate() {
            if other != lane {
                self.until(|| progress.started.load(Ordering::Acquire) >= execution)?;
            }
        }
        Ok(())
    }

    /// Announces how many segments the lane has finished. What it did there happens before what follows
    /// [`Meeting::after`] in another lane.
    #[inline]
    pub(super) fn done(&self, lane: usize, segments: u64) {
        self.lanes[lane].done.store(segments, Ordering::Release);
    }

    /// Waits until another lane has finished this many segments.
    #[inline]
    pub(super) fn after(&self, other: usize, segments: u64) -> Result<(), GivenUp> {
        self.until(|| self.lanes[other].done.load(Ordering::Acquire) >= segments)
    }

    #[inline]
    fn until(&self, come: impl Fn() -> bool) -> Result<(), GivenUp> {
        let mut rounds = 0_u32;
        while !come() {
            rounds = rounds.saturating_add(1);
            match self.spin {
                Spin::Yield if rounds > SPINS_BEFORE_YIELD => std::thread::yield_now(),
                Spin::Auto if rounds > SPINS => std::thread::sleep(SLEEP),
                _ => std::hint::spin_loop(),
            }
            if rounds > SPINS_BEFORE_YIELD && self.given_up.load(Ordering::Relaxed) {
                return Err(GivenUp);
            }
        }
        Ok(())
    }

    /// Announces how many objects the lane has made and dropped.
    #[inline]
    pub(super) fn objects(&self, lane: usize, objects: u64) {
        self.lanes[lane].objects.store(objects, Ordering::Relaxed);
    }

    /// Says what the lane is doing.
    #[inline]
    pub(super) fn is_at(&self, lane: usize, place: Place) {
        let number = match place {
            Place::Between => u32::MAX,
            Place::Constructor => u32::MAX - 1,
            Place::Drop => u32::MAX - 2,
            Place::Call(index) => index,
        };
        self.lanes[lane].place.store(number, Ordering::Relaxed);
    }

    /// What each lane is doing.
    pub(super) fn places(&self) -> Vec<Place> {
        let place = |progress: &Padded<Progress>| match progress.place.load(Ordering::Relaxed) {
            number if number == u32::MAX => Place::Between,
            number if number == u32::MAX - 1 => Place::Constructor,
            number if number == u32::MAX - 2 => Place::Drop,
            index => Place::Call(index),
        };
        self.lanes.iter().map(place).collect()
    }

    /// A number that changes as long as somebody gets on.
    pub(super) fn pulse(&self) -> u64 {
        let of = |progress: &Padded<Progress>| {
            let counts = [&progress.started, &progress.done, &progress.objects];
            let place = u64::from(progress.place.load(Ordering::Relaxed));
            counts.iter().map(|count| count.load(Ordering::Relaxed)).fold(place, u64::wrapping_add)
        };
        let lanes = self.lanes.iter().map(of).fold(0, u64::wrapping_add);
        lanes.wrapping_add(u64::from(self.generation.load(Ordering::Relaxed)))
    }

    /// Ends the waiting of all lanes.
    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}
