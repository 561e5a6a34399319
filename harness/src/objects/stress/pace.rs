//! How the threads of a team keep together, and the search for the pace at which most executions overlap.

use std::time::Duration;

/// How a team goes through its executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How many objects are created, run and dropped at a time.
    pub batch: u32,
    /// How many executions run between two points where the threads wait for each other.
    pub stride: Stride,
    /// After each such point, each thread starts after a random delay of at most this many hundredths of the time of a
    /// sequence.
    pub skew: u32,
}

/// When threads wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stride {
    /// Before each execution whose number in the batch is a multiple of this one, which is above 0.
    Every(u32),
    /// Between batches only.
    Batch,
}

impl Default for Pace {
    /// What does well on two cores with short sequences.
    fn default() -> Pace {
        Pace { batch: 128, stride: Stride::Every(1), skew: 100 }
    }
}

impl Pace {
    /// With fewer cores than threads, the threads cannot wait for each other at each execution.
    pub(super) fn crowded() -> Pace {
        Pace { batch: 128, stride: Stride::Batch, skew: 0 }
    }
}

/// Finds the pace with the most overlapping executions a second. It tunes one setting after the other: each time it
/// picks the best of a few values and keeps the other settings.
pub(super) struct Tuner {
    crowded: bool,
    stage: usize,
    /// The paces of this stage, and the measurements of the paces tried so far.
    candidates: Vec<Pace>,
    worth: Vec<f64>,
    /// What the batches of the trial under way were worth, the first one aside.
    trial: Vec<f64>,
    spent: Duration,
}

/// A trial lasts at least this long, and at least this many batches.
const TRIAL: (Duration, usize) = (Duration::from_micros(400), 6);

impl Tuner {
    pub(super) fn new(crowded: bool) -> Tuner {
        let start = if crowded { Pace::crowded() } else { Pace::default() };
        let mut tuner = Tuner {
            crowded,
            stage: 0,
            candidates: Vec::new(),
            worth: Vec::new(),
            trial: Vec::new(),
            spent: Duration::ZERO,
        };
        tuner.candidates = tuner.stage_candidates(start).unwrap_or_default();
        tuner
    }

    /// The pace to go at.
    pub(super) fn pace(&self) -> Pace {
        self.candidates[self.worth.len()]
    }

    /// Notes a batch at that pace: how many of its executions overlapped, and how long it took. True when the search has
    /// come to its end; [`Tuner::pace`] is what it found.
    pub(super) fn note(&mut self, overlapping: u64, took: Duration) -> bool {
        self.trial.push(overlapping as f64 / took.as_secs_f64().max(1e-9));
        self.spent += took;
        if self.spent < TRIAL.0 || self.trial.len() < TRIAL.1 {
            return false;
        }
        // The median, since a batch in which a thread lost its core is an outlier.
        let mut trial = self.trial.split_off(1);
        trial.sort_by(f64::total_cmp);
        self.worth.push(trial[trial.len() / 2]);
        self.trial.clear();
        self.spent = Duration::ZERO;
        if self.worth.len() < self.candidates.len() {
            return false;
        }
        let best = (0..self.worth.len()).max_by(|&one, &other| self.worth[one].total_cmp(&self.worth[other]));
        let best = self.candidates[best.unwrap_or(0)];
        self.worth.clear();
        self.stage += 1;
        match self.stage_candidates(best) {
            Some(candidates) => {
                self.candidates = candidates;
                false
            }
            None => {
                self.candidates = vec![best];
                true
            }
        }
    }

    fn stage_candidates(&self, pace: Pace) -> Option<Vec<Pace>> {
        let strides = [Stride::Every(1), Stride::Every(2), Stride::Every(4), Stride::Every(16), Stride::Batch];
        match self.stage {
            0 if self.crowded => Some(vec![pace]),
            0 => Some(strides.map(|stride| Pace { stride, ..pace }).to_vec()),
            1 => Some([32, 128, 512].map(|batch| Pace { batch, ..pace }).to_vec()),
            2 if pace.stride != Stride::Batch => Some([50, 100, 200].map(|skew| Pace { skew, ..pace }).to_vec()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes through the whole search where a batch at a pace is worth so much.
    fn found(crowded: bool, worth: impl Fn(Pace) -> u64) -> Pace {
        let mut tuner = Tuner::new(crowded);
        for _ in 0..10_000 {
            let worth = worth(tuner.pace());
            if tuner.note(worth, Duration::from_micros(100)) {
                return tuner.pace();
            }
        }
        panic!("the search has no end")
    }

    #[test]
    fn the_best_of_each_setting_is_found() {
        let worth = |pace: Pace| {
            let stride = if pace.stride == Stride::Every(4) { 100 } else { 10 };
            let batch = if pace.batch == 32 { 50 } else { 5 };
            stride + batch + u64::from(pace.skew == 200)
        };
        assert_eq!(found(false, worth), Pace { batch: 32, stride: Stride::Every(4), skew: 200 });
        assert_eq!(found(true, worth), Pace { batch: 32, stride: Stride::Batch, skew: 0 });
    }

    #[test]
    fn one_bad_batch_is_no_verdict() {
        let calls = std::cell::Cell::new(0);
        let worth = |pace: Pace| {
            calls.set(calls.get() + 1);
            if calls.get() % 6 == 2 { 0 } else { u64::from(pace.batch == 512) + 1 }
        };
        assert_eq!(found(false, worth).batch, 512);
    }
}
