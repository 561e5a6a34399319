//! How far the search of one program has come, as data: another process goes on from there, and comes to the same end.

use std::collections::BTreeMap;
use std::time::Duration;

use interloper_commutativity::Value;
use interloper_scheduler::{Fingerprint, Freedoms, Traces};
use serde::{Deserialize, Serialize};

use super::{Explored, Limits, Trace, Unlock, replay};
use crate::kept::{Kept, kept, values};
use crate::next::Next;
use crate::object::Program;
use crate::stress::{Observed, Overlap};

/// The executions of a program so far, and where its strategy is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partial {
    /// Whether giving a lock back is a step, as in the second search of a program.
    unlock_is_a_step: bool,
    /// Whether a task tried to take a lock.
    tried: bool,
    executions: u64,
    steps: u64,
    plain: u64,
    plain_steps: u64,
    /// Whether an execution made a hasher with a seed.
    #[serde(default)]
    hashed: bool,
    /// The most accesses of an execution that ran as `SeqCst` with a weaker ordering.
    #[serde(default)]
    as_seq_cst: u32,
    cut: u64,
    instrumented: bool,
    overlapped: Vec<(usize, usize)>,
    outcomes: Vec<(Vec<Kept>, u64)>,
    /// The decisions of the first execution that was cut.
    first_cut: Option<String>,
    traces: Counts,
    /// `None` if these are the traces.
    sample: Option<Counts>,
    /// What the strategy keeps.
    strategy: Vec<u64>,
    /// Of a run on real threads: how long it has taken, in nanoseconds, and in how many executions sequences overlapped.
    on_threads: Option<(u64, Overlap)>,
}

/// Traces with how often each came, and whether there were more.
type Counts = (Vec<(u64, u64)>, bool);

/// Keeps the search of one program, and knows what an earlier process has kept.
pub trait Resume {
    /// Whether anything is kept.
    fn keeps(&self) -> bool {
        true
    }

    /// What an earlier process has kept of this search.
    fn earlier(&mut self) -> Option<Partial>;

    /// Whether the search is to be kept now. Asked after each execution.
    fn is_due(&mut self) -> bool;

    /// Keeps the search. `None` if its strategy cannot be kept, or not as it is now: an earlier moment is as good to go on from, and only
    /// further back.
    fn keep(&mut self, partial: Option<Partial>);
}

/// Keeps nothing.
pub struct Anew;

impl Resume for Anew {
    fn keeps(&self) -> bool {
        false
    }

    fn earlier(&mut self) -> Option<Partial> {
        None
    }

    fn is_due(&mut self) -> bool {
        false
    }

    fn keep(&mut self, _: Option<Partial>) {}
}

/// What a search has shown when it begins, or goes on.
#[derive(Default)]
pub(super) struct Begun {
    pub(super) seen: Explored,
    pub(super) tried: bool,
}

impl Partial {
    /// The search so far.
    pub(super) fn of(seen: &Explored, tried: bool, unlock: Unlock, strategy: Vec<u64>) -> Partial {
        let outcomes = seen.outcomes.iter().map(|(outcome, count)| (kept(outcome), *count));
        Partial {
            unlock_is_a_step: unlock == Unlock::Step,
            tried,
            executions: seen.executions,
            steps: seen.steps,
            plain: seen.plain,
            plain_steps: seen.plain_steps,
            hashed: seen.hashed,
            as_seq_cst: seen.as_seq_cst,
            cut: seen.cut,
            instrumented: seen.instrumented,
            overlapped: seen.overlapped.iter().copied().collect(),
            outcomes: outcomes.collect(),
            first_cut: seen.first_cut.as_ref().map(|cut| format!("{:#}", cut.decisions())),
            traces: counts(&seen.traces),
            sample: (seen.sample != seen.traces).then(|| counts(&seen.sample)),
            strategy,
            on_threads: None,
        }
    }

    /// A run on real threads so far.
    pub(crate) fn on_threads(observed: &Observed) -> Partial {
        let outcomes = observed.outcomes.iter().map(|(outcome, count)| (kept(outcome), *count));
        let took = u64::try_from(observed.took.as_nanos()).unwrap_or(u64::MAX);
        Partial {
            executions: observed.executions,
            outcomes: outcomes.collect(),
            on_threads: Some((took, observed.overlap)),
            ..Partial::default()
        }
    }

    /// What the run on real threads has shown, how long it has taken, and what overlapped. `None` if that is not what this program
    /// shows.
    pub(crate) fn observed(
        &self,
        program: &Program,
        look: &mut dyn FnMut(&[Value]) -> Next,
    ) -> Option<(BTreeMap<Vec<Value>, u64>, Duration, Overlap)> {
        let (took, overlap) = self.on_threads?;
        let outcomes = self.outcomes(program, look)?;
        let counted = outcomes.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
        (counted == Some(self.executions))
            .then(|| (outcomes.into_iter().collect(), Duration::from_nanos(took), overlap))
    }

    /// The outcomes, each of which `look` sees again. `None` if they are not those of this program.
    fn outcomes(&self, program: &Program, look: &mut dyn FnMut(&[Value]) -> Next) -> Option<Vec<(Vec<Value>, u64)>> {
        let outcomes: Vec<(Vec<Value>, u64)> =
            self.outcomes.iter().map(|(outcome, count)| (values(outcome), *count)).collect();
        let calls = program.calls().len();
        let mut fits = |outcome: &[Value]| outcome.len() == calls && look(outcome) == Next::Continue;
        outcomes.iter().all(|(outcome, _)| fits(outcome)).then_some(outcomes)
    }

    /// How many executions there were.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// Whether it is the first or the second search of its program.
    pub(super) fn unlock(&self) -> Unlock {
        if self.unlock_is_a_step { Unlock::Step } else { Unlock::Part }
    }

    /// What the strategy keeps.
    pub(super) fn strategy(&self) -> &[u64] {
        &self.strategy
    }

    /// What the search has shown. `look` sees each outcome again. `None` if that is not what this program shows.
    pub(super) fn begun(
        &self,
        program: &Program,
        limits: Limits,
        look: &mut dyn FnMut(&[Value]) -> Next,
    ) -> Option<Begun> {
        if self.on_threads.is_some() {
            return None;
        }
        let outcomes = self.outcomes(program, look)?;
        let calls = program.calls().len();
        let pairs = |&(one, other): &(usize, usize)| one < calls && other < calls;
        let first_cut = match &self.first_cut {
            Some(decisions) => {
                let unbounded = Limits { freedoms: Freedoms::UNBOUNDED, ..limits };
                let trace = replay(program, unbounded, &decisions.parse().ok()?)?;
                Some(Box::new(Trace { limits, ..trace }))
            }
            None => None,
        };
        let traces = traces(&self.traces);
        let seen = Explored {
            outcomes: outcomes.into_iter().collect(),
            executions: self.executions,
            cut: self.cut,
            first_cut,
            steps: self.steps,
            plain: self.plain,
            plain_steps: self.plain_steps,
            hashed: self.hashed,
            as_seq_cst: self.as_seq_cst,
            sample: self.sample.as_ref().map_or_else(|| traces.clone(), self::traces),
            traces,
            instrumented: self.instrumented,
            overlapped: self.overlapped.iter().filter(|pair| pairs(pair)).copied().collect(),
            ..Explored::default()
        };
        Some(Begun { seen, tried: self.tried })
    }
}

/// More numbers of a strategy take longer to write than is worth it. As JSON they have about 170 MB.
const MOST_WORDS: usize = 1 << 23;

/// The numbers of a strategy, unless they are too many to be kept.
pub(super) fn fits(strategy: Vec<u64>) -> Option<Vec<u64>> {
    (strategy.len() <= MOST_WORDS).then_some(strategy)
}

fn counts(traces: &Traces) -> Counts {
    (traces.kept().map(|(Fingerprint(trace), times)| (trace, times)).collect(), !traces.is_exact())
}

fn traces((kept, more): &Counts) -> Traces {
    Traces::of(kept.iter().map(|(trace, times)| (Fingerprint(*trace), *times)), *more)
}

#[cfg(test)]
mod tests;
