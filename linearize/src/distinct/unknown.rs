//! Pending removals whose result is unknown.
//!
//! Such a removal has taken one of the remaining values, or nothing. Once the value is chosen, the history needs no
//! search; and since the removal of a value may also not have taken effect, choosing a value for one more removal rules
//! nothing out. So the values are tried: while the history fails at some return, one more removal that was invoked
//! before that return gets one more value that was there before it. A linearizable history has a choice of values under
//! which it is linearizable. If the choice so far is a part of that choice, the rest of it contains such a pair:
//! otherwise the part of the history up to the return would stay as it is. A value whose insertion is pending at the
//! return need not be chosen: neither of its calls is needed there. A value that is seen to be removed later may be
//! chosen, since the choice matters for how far a linearization gets.
//!
//! The choice that gets furthest is followed first. The number of attempts is bounded; beyond the bound, this method
//! does not apply.

use std::collections::BTreeSet;

use super::calls::{CollectionCall, NotApplicable, ValueId};
use crate::general::{Verdict, Witness};
use crate::history::History;

/// How many calls all attempts together look at.
const WORK: usize = 1_000_000;

/// Judges a history with unknown results of pending removals. `judge` takes these removals to remove nothing.
pub(super) fn judge(
    history: &History,
    calls: &[CollectionCall],
    judge: impl Fn(&[CollectionCall]) -> Result<Verdict, NotApplicable>,
) -> Result<Verdict, NotApplicable> {
    let mut tries = Tries { history, judge, work: 0, seen: BTreeSet::new(), furthest: None };
    let verdict = tries.verdict(calls)?;
    if let Some(order) = tries.explore(calls.to_vec(), verdict, Vec::new())? {
        return Ok(Verdict::Linearizable { order });
    }
    let (_, witness) = tries.furthest.expect("a history that fails, fails somewhere");
    Ok(Verdict::NotLinearizable(witness))
}

struct Tries<'h, J> {
    history: &'h History,
    judge: J,
    work: usize,
    /// The choices so far: removals with their values, ascending.
    seen: BTreeSet<Vec<(usize, ValueId)>>,
    /// The witness that gets furthest, and the position of the failing return.
    furthest: Option<(usize, Witness)>,
}

impl<J: Fn(&[CollectionCall]) -> Result<Verdict, NotApplicable>> Tries<'_, J> {
    fn verdict(&mut self, calls: &[CollectionCall]) -> Result<Verdict, NotApplicable> {
        self.work += calls.len();
        if self.work > WORK.max(2 * calls.len()) {
            return Err(NotApplicable);
        }
        (self.judge)(calls)
    }

    /// A linearization under this choice or a larger one.
    fn explore(
        &mut self,
        calls: Vec<CollectionCall>,
        verdict: Verdict,
        chosen: Vec<(usize, ValueId)>,
    ) -> Result<Option<Vec<usize>>, NotApplicable> {
        let witness = match verdict {
            Verdict::Linearizable { order } => return Ok(Some(order)),
            Verdict::NotLinearizable(witness) => witness,
            Verdict::Unknown(_) => return Err(NotApplicable),
        };
        let fails = self.returned(witness.stuck.expect("a call is stuck"));
        if self.furthest.as_ref().is_none_or(|&(furthest, _)| fails > furthest) {
            self.furthest = Some((fails, witness));
        }
        let mut next = Vec::new();
        for (removal, value) in self.pairs(&calls, fails) {
            let mut larger = chosen.clone();
            larger.push((removal, value));
            larger.sort_unstable();
            if !self.seen.insert(larger.clone()) {
                continue;
            }
            let mut calls = calls.clone();
            calls[removal] = CollectionCall::Remove(value);
            let verdict = self.verdict(&calls)?;
            let reached = match &verdict {
                Verdict::NotLinearizable(Witness { stuck: Some(stuck), .. }) => self.returned(*stuck),
                _ => usize::MAX,
            };
            next.push((reached, calls, verdict, larger));
        }
        next.sort_by_key(|&(reached, ..)| std::cmp::Reverse(reached));
        for (_, calls, verdict, chosen) in next {
            if let Some(order) = self.explore(calls, verdict, chosen)? {
                return Ok(Some(order));
            }
        }
        Ok(None)
    }

    fn returned(&self, call: usize) -> usize {
        self.history.calls()[call].returned.expect("a call that is stuck is complete")
    }

    /// The unknown removals that were invoked before a position, with the values whose insertion returned before it and
    /// whose removal, if there is one, returns later.
    fn pairs(&self, calls: &[CollectionCall], position: usize) -> Vec<(usize, ValueId)> {
        let timed = || calls.iter().zip(self.history.calls());
        let removed: BTreeSet<ValueId> = timed()
            .filter_map(|(call, interval)| match call {
                CollectionCall::Remove(value) if interval.returned.is_some_and(|at| at <= position) => Some(*value),
                _ => None,
            })
            .collect();
        let (mut removals, mut values) = (Vec::new(), Vec::new());
        for (index, (call, interval)) in timed().enumerate() {
            match call {
                CollectionCall::UnknownRemoval if interval.invoked < position => removals.push(index),
                CollectionCall::Insert(value)
                    if interval.returned.is_some_and(|returned| returned < position) && !removed.contains(value) =>
                {
                    values.push(*value);
                }
                _ => {}
            }
        }
        removals.iter().flat_map(|&removal| values.iter().map(move |&value| (removal, value))).collect()
    }
}
