//! What a method under test can tell apart.
//!
//! A collection that no run uses, and no run of the method alone, is outside the *cone of influence* of the method. A run in which the
//! environment acts on such a collection goes as the same run without those operations: the method does the same and returns the
//! same, and so does the method alone wherever it is put among the operations. So a sequential order explains one run if and only if
//! one explains the other, and a run from a state that differs in such a collection is explained if and only if the run from the other
//! state is. The search makes the runs with operations inside the cone only. What the method has used alone, before the search, is
//! taken for the cone; if any run uses more, the search begins again without a cone.
//!
//! The name is that of the reduction in model checking: E. Clarke, O. Grumberg and D. Peled, Model Checking, 1999.

use interloper_collections::session::PartId;
use interloper_commutativity::Value;

use super::adversary::Adversary;
use super::method::{Search, Settings};
use super::outcome::Coverage;
use super::run::{PartSet, Rules};
use super::runner::Runner;
use super::world::{CallSet, StateId};

/// A part of a search that stands for all of it.
pub(crate) struct Cone {
    /// The collections that the method uses, as far as is known.
    pub parts: PartSet,
    /// The operations of the environment on them.
    pub letters: CallSet,
    /// Of the initial states that differ in no other collections, the first.
    pub initial: Vec<StateId>,
    /// The names of the other collections.
    outside: Vec<String>,
}

impl Cone {
    /// The cone of the method, if some collection is outside it. The slow twin of the search has none, nor have runs at random, which
    /// stand for no others. A collection of which not every use is heard is never outside.
    pub fn of(runner: &Runner<'_>, settings: &Settings, initial: &[StateId]) -> Option<Cone> {
        let places = runner.places.as_ref()?;
        let is_reduced = matches!(settings.adversary, Adversary::Preceding | Adversary::Nearest)
            && matches!(settings.search, Search::Exhaustive);
        if !is_reduced || runner.parts.len() > PartSet::BITS as usize {
            return None;
        }
        let numbered = || (0..).zip(runner.parts);
        let unheard = numbered().filter(|(_, part)| !part.is_always_heard());
        let parts = unheard.fold(places.used_alone(), |set, (number, _)| set | 1 << number);
        let outside: Vec<u32> =
            numbered().map(|(number, _)| number).filter(|number| parts >> number & 1 == 0).collect();
        if outside.is_empty() || places.any_used_outside(parts) {
            return None;
        }
        let world = &runner.world;
        let inside = numbered().map(|(number, _)| number).filter(|number| !outside.contains(number));
        let letters = inside.fold(0, |set, number| set | world.letters_of(PartId(number)));
        let seen = |state: StateId| -> Vec<&Value> {
            (0..)
                .zip(world.values(state))
                .filter(|(number, _)| !outside.contains(number))
                .map(|(_, value)| value)
                .collect()
        };
        let is_first = |at: usize| initial[..at].iter().all(|earlier| seen(*earlier) != seen(initial[at]));
        Some(Cone {
            parts,
            letters,
            initial: (0..initial.len()).filter(|at| is_first(*at)).map(|at| initial[at]).collect(),
            outside: outside.iter().map(|number| runner.part_name(*number as usize)).collect(),
        })
    }

    /// What a search covers that has these rules.
    pub fn covers(&self, coverage: Coverage, rules: &Rules) -> Coverage {
        Coverage {
            initial_states: self.initial.len(),
            alphabet: rules.allowed.count_ones() as usize,
            unused: self.outside.clone(),
            ..coverage
        }
    }
}
