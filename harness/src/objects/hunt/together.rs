//! The search of pairs of methods that showed no violation beside core methods alone.
//!
//! Each method of such a pair may be atomic beside all core methods, and not beside the other one: `len` of a bounded queue that is full,
//! beside `force_push`, which makes room first.

use std::collections::BTreeSet;
use std::time::Duration;

use interloper_scheduler::Deadline;

use super::{Campaign, Ended, Hunted, Progress, Searched, Visits, passes};
use crate::object::{MethodId, Object, Role};
use crate::schemas::{Bounds, Pool};
use crate::stress::Next;

/// So many passes run the schemas of a pair: those of random schedules, and of all interleavings if these are few. An exhaustive search
/// of each schema of each pair would take longer than the searches of the methods.
const PASSES: usize = 2;

/// What came of the pairs of some methods.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// The pairs that ran, in the order in which they ran.
    pub ran: Vec<Pair>,
    /// The pairs that did not run.
    pub left: Vec<[MethodId; 2]>,
    /// Why they did not run. Without a reason, `left` is empty.
    pub rest: Option<Rest>,
    /// The methods that are not atomic and that no schema of a pair calls: [`Object::left_out`].
    pub without: BTreeSet<MethodId>,
}

/// What came of one pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The two methods, in the order of the object.
    pub methods: [MethodId; 2],
    /// The search. If it found something, [`Searched::blamed`] says whether it takes both methods.
    pub searched: Searched,
}

/// Why pairs did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// The time was up.
    OutOfTime,
    /// Core methods are not atomic, so nobody could say who is to blame.
    OfCore,
}

impl Together {
    /// No pair of these methods runs.
    pub fn none(object: &Object, methods: &[MethodId], rest: Rest) -> Together {
        Together { ran: Vec::new(), left: pairs(object, methods), rest: Some(rest), without: object.left_out().clone() }
    }

    /// How many schemas and executions the pairs had.
    pub fn counts(&self) -> (u64, u64) {
        let hunted = || self.ran.iter().map(|pair| &pair.searched.hunted);
        (hunted().map(|hunted| hunted.schemas).sum(), hunted().map(|hunted| hunted.executions).sum())
    }

    /// The pairs of which no call of the one overlapped a call of the other, although nothing was found: nothing is known of them.
    pub fn never_overlapped(&self) -> impl Iterator<Item = [MethodId; 2]> {
        let apart = |pair: &&Pair| {
            let [one, other] = pair.methods;
            pair.searched.found().is_none() && !pair.searched.hunted.coverage.pairs.contains(&(one, other))
        };
        self.ran.iter().filter(apart).map(|pair| pair.methods)
    }
}

impl Pair {
    /// Whether it found something that takes both methods.
    pub fn is_to_blame(&self) -> bool {
        self.searched.found().is_some() && !self.searched.of_core && self.searched.blamed.len() == self.methods.len()
    }
}

impl Campaign {
    /// Searches all pairs of these methods of which a schema can fail: methods under test that showed no violation beside core methods
    /// alone. In a schema of a pair, the two methods run on different threads, with core methods beside them.
    ///
    /// All pairs together have half as many schemas and half as much time as the searches of the methods may have, in equal shares. A
    /// share is small, so a pair whose schemas have few or short executions has more of them. A method that turns out to show a
    /// violation without the other one is in no further pair.
    ///
    /// A campaign without passes has no pairs, nor has an object without core methods, whose methods are searched beside each other
    /// anyway.
    pub fn together(
        &self,
        methods: &[MethodId],
        visits: &mut Visits,
        watch: &mut dyn FnMut(&Progress<'_>) -> Next,
    ) -> Together {
        let without = self.object.left_out().clone();
        let mut together = Together { ran: Vec::new(), left: Vec::new(), rest: None, without };
        if self.passes.is_empty() || self.object.with_role(Role::Core).next().is_none() {
            return together;
        }
        let passes = self.passes.iter().take(PASSES).cloned().collect();
        let campaign = Campaign { passes, goes_on_while_cheap: true, ..self.clone() };
        let schemas = self.most().div_ceil((methods.len() as u64).saturating_sub(1).max(1));
        let deadline = Deadline::of(self.time.map(|time| time.saturating_mul(methods.len() as u32) / 2));
        let all = pairs(&self.object, methods);
        let mut atomic: BTreeSet<MethodId> = methods.iter().copied().collect();
        for (number, &methods) in all.iter().enumerate() {
            if !methods.iter().all(|method| atomic.contains(method)) {
                continue;
            }
            if together.rest == Some(Rest::OfCore) {
                together.left.push(methods);
                continue;
            }
            let share = deadline.left().map(|left| left / (all.len() - number) as u32);
            let (before, done) = together.counts();
            let mut watch = |progress: &Progress<'_>| {
                let (schemas, executions) = (before + progress.schemas, done + progress.executions);
                watch(&Progress { schemas, executions, ..*progress })
            };
            let hunted = campaign.pair(methods, schemas, visits, Deadline::of(share), &mut watch);
            match hunted.end {
                Ended::OutOfTime if hunted.schemas == 0 => {
                    together.rest = Some(Rest::OutOfTime);
                    together.left.push(methods);
                    continue;
                }
                // None of its schemas can fail.
                _ if hunted.schemas == 0 => continue,
                _ => {}
            }
            // A finding is worth more than its share, but not all the time of the pairs after it.
            let most = deadline.left().zip(share).map(|(left, share)| (share * 2).min(left / 2));
            let settling = Deadline::of(most.map(|most| most.max(Duration::from_millis(1))));
            let searched = self.settled(&methods, hunted, settling, &mut watch);
            if searched.of_core {
                together.rest = Some(Rest::OfCore);
            } else if let [alone] = Vec::from_iter(&searched.blamed)[..] {
                atomic.remove(alone);
            }
            together.ran.push(Pair { methods, searched });
        }
        together
    }

    /// Searches a pair with so many schemas.
    fn pair(
        &self,
        methods: [MethodId; 2],
        schemas: u64,
        visits: &mut Visits,
        deadline: Deadline,
        watch: &mut dyn FnMut(&Progress<'_>) -> Next,
    ) -> Hunted {
        let bounds = Bounds { invocations: 2..=4, start: 0..=3, ..Bounds::default() };
        let number = number(&self.object, methods);
        let seed = self.seed.wrapping_add(number as u64);
        let stages = vec![self.smallest_first(bounds, seed, Pool::Pair(methods), schemas)];
        // The numbers of methods come before those of pairs.
        let named = MethodId(self.object.methods().len() + number);
        passes::Search::new(self, (named, stages), visits, deadline, watch).run()
    }

    /// The most schemas of a method, unless they are cheap.
    fn most(&self) -> u64 {
        [&self.by_rank, &self.random, &self.repeated, &self.started].into_iter().flatten().map(|(_, most)| most).sum()
    }
}

impl Hunted {
    /// All of these searches as one, which ends as the last of them, or out of time if one of them did.
    pub fn of_all<'h>(all: impl IntoIterator<Item = &'h Hunted>) -> Hunted {
        let mut sum = Hunted::nothing();
        let mut out_of_time = false;
        for hunted in all {
            out_of_time |= hunted.end == Ended::OutOfTime;
            sum.extend(hunted.clone());
        }
        Hunted { end: if out_of_time { Ended::OutOfTime } else { sum.end }, ..sum }
    }
}

/// The pairs of methods. Those of which neither method changes the object come last: there is less that can go wrong.
fn pairs(object: &Object, methods: &[MethodId]) -> Vec<[MethodId; 2]> {
    let methods: Vec<MethodId> = methods.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let with = |(index, &one): (usize, &MethodId)| -> Vec<[MethodId; 2]> {
        methods[index + 1..].iter().map(|&other| [one, other]).collect()
    };
    let mut pairs: Vec<[MethodId; 2]> = methods.iter().enumerate().flat_map(with).collect();
    pairs.sort_by_key(|pair| pair.iter().all(|&method| object.method(method).reads));
    pairs
}

/// The number of a pair among all pairs of methods of the object, whichever of them are searched.
fn number(object: &Object, [one, other]: [MethodId; 2]) -> usize {
    one.0 * object.methods().len() + other.0
}

#[cfg(test)]
mod tests;
