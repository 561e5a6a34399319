//! Several strategies that take turns, more often where that pays.

use super::rff::Behaviours;
use crate::saved::{Times, whole, words};
use crate::strategy::{Around, Novelty, Strategy};
use crate::{Event, Execution};

/// Splits a budget: each execution is that of one strategy, until no strategy has an execution left.
///
/// Each strategy has one execution first, and a strategy that learns has sixteen. After that the shares follow what an
/// execution of the strategy shows that no execution of any of them has shown before: a pair of a write and a read that
/// sees it, or at least a new set of such pairs. The choice is that of UCB1 (P. Auer, N. Cesa-Bianchi and P. Fischer, *Finite-time analysis of the multiarmed
/// bandit problem*, Machine Learning 2002), a function of what was seen: the same executions come again with the same
/// seeds. Where nothing is new any more, the shares become equal after some thousand executions. A strategy without a subject ([`Strategy::is_idle`]) gives most of its share away.
#[derive(Default)]
pub struct Portfolio<'a> {
    members: Vec<Member<'a>>,
    turn: usize,
    executions: u64,
    /// Of the executions, unless a member compares them for itself.
    behaviours: Behaviours,
}

struct Member<'a> {
    name: &'static str,
    strategy: Box<dyn Strategy + 'a>,
    exhausted: bool,
    executions: u64,
    /// The sum of what its executions were worth, each between 0 and 1.
    worth: f64,
}

/// How much trying weighs beside what has paid.
const TRYING: f64 = 0.25;
/// What a new set of known pairs is worth; a new pair is worth 1. In a large program nearly every set is new.
const NEW_SET: f64 = 0.1;
/// Of a strategy that learns ([`Strategy::is_sample`] says no), so many executions count as one: what its first executions were worth
/// says little about its later ones. Chosen by the programs of the literature, on other seeds than those of docs/PEERS.md.
const LEARNING: f64 = 16.0;
/// After so many executions, a strategy that learns has learnt: each further one counts.
const LEARNT: f64 = 1024.0;
/// An idle member has one of so many executions: its subject may still appear.
const IDLE_EVERY: u64 = 64;

impl<'a> Portfolio<'a> {
    /// A portfolio without strategies.
    pub fn new() -> Portfolio<'a> {
        Portfolio::default()
    }

    /// Adds a strategy.
    pub fn with(mut self, name: &'static str, strategy: impl Strategy + 'a) -> Portfolio<'a> {
        let strategy = Box::new(strategy);
        self.members.push(Member { name, strategy, exhausted: false, executions: 0, worth: 0.0 });
        self
    }

    /// The strategy of the current or last execution.
    pub fn name(&self) -> Option<&'static str> {
        self.members.get(self.turn).map(|member| member.name)
    }

    /// The member that runs the next execution, if one has any left.
    fn next(&self) -> Option<usize> {
        let left = || self.members.iter().enumerate().filter(|(_, member)| !member.exhausted);
        let best = |members: &mut dyn Iterator<Item = (usize, &Member<'a>)>| {
            let value = |member: &Member<'_>| member.value(self.executions);
            // Of equals, the first.
            members
                .reduce(|best, other| if value(other.1) > value(best.1) { other } else { best })
                .map(|(index, _)| index)
        };
        let wants = |member: &Member<'_>| {
            member.executions == 0 || !member.strategy.is_idle() || self.executions >= IDLE_EVERY * member.executions
        };
        best(&mut left().filter(|(_, member)| wants(member))).or_else(|| best(&mut left()))
    }
}

impl Member<'_> {
    /// The upper bound on what its next execution is worth, after so many executions of all.
    fn value(&self, all: u64) -> f64 {
        let own = self.executions as f64;
        let tried = match self.strategy.is_sample() {
            true => own,
            false => own.min(LEARNT) / LEARNING + (own - LEARNT).max(0.0),
        };
        if tried < 1.0 {
            return f64::INFINITY;
        }
        self.worth / own + TRYING * (2.0 * (all as f64).ln() / tried).sqrt()
    }
}

impl<'a> Around for Portfolio<'a> {
    type Inner = dyn Strategy + 'a;

    /// # Panics
    /// When there is no strategy: then there is no execution either.
    fn inner(&self) -> &(dyn Strategy + 'a) {
        &*self.members[self.turn].strategy
    }

    fn inner_mut(&mut self) -> &mut (dyn Strategy + 'a) {
        &mut *self.members[self.turn].strategy
    }

    fn around_begin(&mut self) -> bool {
        while let Some(next) = self.next() {
            self.turn = next;
            let member = &mut self.members[next];
            if member.strategy.begin() {
                member.executions += 1;
                self.executions += 1;
                return true;
            }
            member.exhausted = true;
        }
        false
    }

    fn around_end(&mut self, execution: &Execution, trace: &[Event]) {
        for (index, member) in self.members.iter_mut().enumerate() {
            match index == self.turn {
                true => member.strategy.end(execution, trace),
                false => member.strategy.watch(trace),
            }
        }
        let said = self.members.iter().find_map(|member| member.strategy.novelty());
        self.members[self.turn].worth += match said.unwrap_or_else(|| self.behaviours.note(trace)) {
            Novelty::Pair => 1.0,
            Novelty::Set => NEW_SET,
            Novelty::Nothing => 0.0,
        };
    }

    fn around_saved(&self) -> Option<Vec<u64>> {
        let members: Option<Vec<_>> = self.members.iter().map(Member::saved).collect();
        words(&(self.turn, Times(self.executions), self.behaviours.clone(), members?))
    }

    fn around_restore(&mut self, saved: &[u64]) -> bool {
        let Some((turn, Times(executions), behaviours, members)) = whole::<(_, _, _, Vec<Saved>)>(saved) else {
            return false;
        };
        (self.turn, self.executions, self.behaviours) = (turn, executions, behaviours);
        turn < self.members.len()
            && members.len() == self.members.len()
            && self.members.iter_mut().zip(&members).all(|(member, saved)| member.restore(saved))
    }
}

/// What a member has shown, and what its strategy keeps.
type Saved = (bool, Times, u64, Vec<u64>);

impl Member<'_> {
    fn saved(&self) -> Option<Saved> {
        Some((self.exhausted, Times(self.executions), self.worth.to_bits(), self.strategy.saved()?))
    }

    fn restore(&mut self, (exhausted, Times(executions), worth, strategy): &Saved) -> bool {
        (self.exhausted, self.executions, self.worth) = (*exhausted, *executions, f64::from_bits(*worth));
        (0.0..=*executions as f64).contains(&self.worth) && self.strategy.restore(strategy)
    }
}
