//! How many different traces some executions have shown.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use super::Fingerprint;

/// How many different traces some executions belong to, and how often each trace came. Among many traces the count
/// keeps those with the smallest fingerprints: this sample does not depend on the order of the executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    /// How often each of the kept traces came.
    kept: BTreeMap<Fingerprint, u64>,
    /// How many traces are kept at most.
    most: usize,
    /// There were more traces than are kept.
    more: bool,
}

/// How likely it is that a further random execution belongs to a trace that no execution has shown: I. J. Good, *The
/// population frequencies of species and the estimation of population parameters*, Biometrika 1953, with the idea that
/// he owes to A. Turing. The estimate is the share of the executions whose trace came once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// The number of executions.
    pub executions: u64,
    /// The number of executions whose trace came once.
    pub once: u64,
}

impl Unseen {
    /// The estimate, from 0 to 1. Without any execution it is 1.
    pub fn probability(self) -> f64 {
        if self.executions == 0 { 1.0 } else { self.once as f64 / self.executions as f64 }
    }

    /// The estimate in words; `noun` names what tells executions apart: `trace`.
    pub fn text(self, noun: &str) -> String {
        match self.once {
            0 => format!("every {noun} came more than once"),
            _ => format!("about {:.1} % of further executions would show a new {noun}", 100.0 * self.probability()),
        }
    }

    /// The estimate over several programs: for a further execution of one of them, each program drawn as often as it
    /// was.
    #[must_use]
    pub fn and(self, other: Unseen) -> Unseen {
        Unseen { executions: self.executions + other.executions, once: self.once + other.once }
    }
}

impl Traces {
    /// How many traces are kept and counted exactly.
    pub const MOST: usize = 1 << 16;

    /// A count without executions; it keeps at most `most` traces.
    pub fn keeping(most: usize) -> Traces {
        Traces { kept: BTreeMap::new(), most, more: false }
    }

    /// A count of these traces, each with how often it came; with `more`, there were more.
    pub fn of(kept: impl IntoIterator<Item = (Fingerprint, u64)>, more: bool) -> Traces {
        let mut traces = Traces { more, ..Traces::default() };
        kept.into_iter().for_each(|(fingerprint, times)| traces.add(fingerprint, times));
        traces
    }

    /// The kept traces, in their order, each with how often it came.
    pub fn kept(&self) -> impl Iterator<Item = (Fingerprint, u64)> {
        self.kept.iter().map(|(fingerprint, times)| (*fingerprint, *times))
    }

    /// Adds an execution.
    pub fn note(&mut self, fingerprint: Fingerprint) {
        self.add(fingerprint, 1);
    }

    /// Adds the executions of another count.
    pub fn merge(&mut self, other: &Traces) {
        self.more |= other.more;
        other.kept.iter().for_each(|(fingerprint, times)| self.add(*fingerprint, *times));
    }

    fn add(&mut self, fingerprint: Fingerprint, times: u64) {
        *self.kept.entry(fingerprint).or_insert(0) += times;
        if self.kept.len() > self.most {
            self.kept.pop_last();
            self.more = true;
        }
    }

    /// The number of different traces; if not [`Traces::is_exact`], there are more.
    pub fn number(&self) -> u64 {
        self.kept.len() as u64
    }

    /// Whether [`Traces::number`] is the number of all traces.
    pub fn is_exact(&self) -> bool {
        !self.more
    }

    /// The estimate about traces that were not seen, if each execution was drawn at random. Among many traces it relies
    /// on the kept ones.
    pub fn unseen(&self) -> Unseen {
        let once = self.kept.values().filter(|times| **times == 1).count() as u64;
        Unseen { executions: self.kept.values().sum(), once }
    }
}

impl Default for Traces {
    /// Keeps [`Traces::MOST`].
    fn default() -> Traces {
        Traces::keeping(Traces::MOST)
    }
}

/// Counts executions one by one, as [`Traces`] does, for a search whose executions take no longer than the counting.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// As many traces as are kept. The order does not matter there, so a lookup is cheap.
    counts: HashMap<Fingerprint, u64, BuildHasherDefault<AsItIs>>,
    /// What came before, once there were more traces.
    traces: Traces,
}

/// The result of a [`Tally`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// [`Traces::number`].
    pub number: u64,
    /// [`Traces::is_exact`].
    pub exact: bool,
    /// [`Traces::unseen`].
    pub unseen: Unseen,
}

impl Tally {
    /// A tally without executions; it keeps at most `most` traces.
    pub fn keeping(most: usize) -> Tally {
        Tally { traces: Traces::keeping(most), ..Tally::default() }
    }

    /// A tally of these traces, to which executions can be added.
    pub fn after(traces: Traces) -> Tally {
        Tally { traces, ..Tally::default() }
    }

    /// Adds an execution.
    #[inline]
    pub fn note(&mut self, fingerprint: Fingerprint) {
        *self.counts.entry(fingerprint).or_insert(0) += 1;
        if self.counts.len() > self.traces.most {
            self.settle();
        }
    }

    /// The count of all that were added.
    pub fn finish(mut self) -> Counted {
        if self.traces.kept.is_empty() {
            let once = self.counts.values().filter(|times| **times == 1).count() as u64;
            let unseen = Unseen { executions: self.counts.values().sum(), once };
            return Counted { number: self.counts.len() as u64, exact: true, unseen };
        }
        self.settle();
        Counted::from(&self.traces)
    }

    /// The traces of all that were added.
    pub fn into_traces(mut self) -> Traces {
        self.settle();
        self.traces
    }

    #[cold]
    fn settle(&mut self) {
        self.counts.drain().for_each(|(fingerprint, times)| self.traces.add(fingerprint, times));
    }
}

impl From<&Traces> for Counted {
    fn from(traces: &Traces) -> Counted {
        Counted { number: traces.number(), exact: traces.is_exact(), unseen: traces.unseen() }
    }
}

/// A fingerprint is a hash already.
#[derive(Clone, Copy, Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a fingerprint is one number")
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
