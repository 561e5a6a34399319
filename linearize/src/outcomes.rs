//! The admitted outcomes of a program, exactly.
//!
//! An outcome is what each invocation returns. It is admitted when some linearization with some visibility gives it
//! (*Weak-consistency specification via visibility relaxation*, section 3, Figure 7). [`crate::enumerate`] tries them
//! one by one; this module tries those that cannot be told apart only once.
//!
//! Invocations are linearized one after the other. What matters for the rest is only
//!
//! - which have been linearized,
//! - the state after all of them, which is what complete invocations see,
//! - and, for each relaxed invocation that has not come yet, every state that a visibility chosen so far can lead to.
//!   Whether it sees the next invocation is decided when that one is linearized; both choices are followed side by
//!   side, as a set of states. Where predicates constrain later choices by earlier ones, a state carries what must not
//!   be seen any more.
//!
//! This is a *configuration*. The outcomes of the rest are computed once for each configuration, as a decision diagram.
//! So the cost depends on the number of configurations and on the shape of the diagrams, but not on the number of
//! linearizations, visibilities or outcomes.

mod diagram;
mod explore;
#[cfg(test)]
mod table_2;
#[cfg(test)]
mod tests;
mod views;

use std::borrow::Borrow;

use interloper_commutativity::Value;
use rustc_hash::FxHashMap;

use crate::program::{Behaviour, Program, Set, TooLarge};
use diagram::{Diagrams, Node};

/// The default bound on configurations: some seconds, and less than 300 MB.
pub const DEFAULT_BOUND: usize = 1_000_000;

/// The admitted outcomes of a program.
pub struct Outcomes {
    diagrams: Diagrams,
    set: Node,
    results: Vec<Value>,
    numbers: FxHashMap<Value, u32>,
    invocations: usize,
    configurations: usize,
}

/// Computes the admitted outcomes of a program.
///
/// # Errors
/// When there are more configurations and nodes of diagrams than the bound; 64 choices of what an invocation sees, and 8
/// of which the consequences are kept, count as one.
pub fn outcomes<B: Behaviour>(behaviour: &mut B, program: &Program, bound: usize) -> Result<Outcomes, TooLarge> {
    explore::outcomes(behaviour, program, bound)
}

impl Outcomes {
    /// The number of outcomes; `None` for 2^128 or more.
    pub fn count(&self) -> Option<u128> {
        self.diagrams.count(self.set)
    }

    /// Whether an outcome, the results in text order, is admitted.
    pub fn contains<V: Borrow<Value>>(&self, outcome: &[V]) -> bool {
        let number = |invocation: usize| self.numbers.get(outcome.get(invocation)?.borrow()).copied();
        outcome.len() == self.invocations && self.diagrams.contains(self.set, number)
    }

    /// Calls `each` with every outcome, in lexicographic order of the results in text order, until it says no.
    pub fn each(&mut self, mut each: impl FnMut(&[&Value]) -> bool) {
        let mut order: Vec<u32> = (0..self.results.len() as u32).collect();
        order.sort_by_key(|&number| &self.results[number as usize]);
        let mut ranks = vec![0; order.len()];
        for (rank, &number) in (0u32..).zip(&order) {
            ranks[number as usize] = rank;
        }
        let results = &self.results;
        self.diagrams.each(self.set, &ranks, &mut |outcome| {
            let outcome: Vec<&Value> = outcome.iter().map(|&number| &results[number as usize]).collect();
            each(&outcome)
        });
    }

    /// All outcomes, in lexicographic order of the results in text order. There may be very many of them.
    pub fn sorted(&mut self) -> Vec<Vec<Value>> {
        let mut all = Vec::new();
        self.each(|outcome| {
            all.push(outcome.iter().map(|&value| value.clone()).collect());
            true
        });
        all
    }

    /// How many configurations were explored.
    pub fn configurations(&self) -> usize {
        self.configurations
    }
}

/// The number of linearizations of the happens-before order; `None` for 2^128 or more.
///
/// # Errors
/// When there are more sets of invocations that can come first than the bound.
pub fn linearizations(program: &Program, bound: usize) -> Result<Option<u128>, TooLarge> {
    fn count(
        program: &Program,
        done: Set,
        known: &mut FxHashMap<Set, Option<u128>>,
        bound: usize,
    ) -> Result<Option<u128>, TooLarge> {
        if done == program.all() {
            return Ok(Some(1));
        }
        if let Some(&known) = known.get(&done) {
            return Ok(known);
        }
        let mut sum = Some(0u128);
        for next in program.enabled(done) {
            let rest = count(program, done | 1 << next, known, bound)?;
            sum = sum.zip(rest).and_then(|(sum, rest)| sum.checked_add(rest));
        }
        if known.len() >= bound {
            return Err(TooLarge::Configurations(bound));
        }
        known.insert(done, sum);
        Ok(sum)
    }
    count(program, 0, &mut FxHashMap::default(), bound)
}
