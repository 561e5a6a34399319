//! From configuration to configuration.

use std::hash::Hash;

use interloper_commutativity::Value;
use rustc_hash::FxHashMap;

use super::Outcomes;
use super::diagram::{Diagrams, Node, ResultId};
use super::views::{AllViews, Group, Transitions, Views, groups};
use crate::program::{Behaviour, Program, Set, TooLarge};

pub(super) fn outcomes<B: Behaviour>(behaviour: &mut B, program: &Program, bound: usize) -> Result<Outcomes, TooLarge> {
    // What can come early is asked early, since the diagrams of the rest are extended there.
    let mut order: Vec<usize> = (0..program.len()).collect();
    order.sort_by_key(|&index| program.before[index].count_ones());
    let objects =
        Objects { behaviour, states: Numbers::default(), results: Numbers::default(), known: FxHashMap::default() };
    let mut explorer = Explorer {
        program,
        groups: groups(program),
        objects,
        views: AllViews::default(),
        diagrams: Diagrams::new(order),
        known: FxHashMap::default(),
        bound,
    };
    let initial = explorer.objects.behaviour.initial();
    let state = explorer.objects.states.number(initial);
    let views = explorer.groups.iter().map(|group| explorer.views.initial(group, state)).collect();
    let set = explorer.rest(Configuration { done: 0, state, views })?;
    let Numbers { values, numbers } = explorer.objects.results;
    Ok(Outcomes {
        diagrams: explorer.diagrams,
        set,
        results: values,
        numbers,
        invocations: program.len(),
        configurations: explorer.known.len(),
    })
}

/// All that the rest of a linearization depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Configuration {
    /// What was linearized.
    done: Set,
    /// The state after it, or 0 when no complete invocation follows.
    state: u32,
    /// For each group what its invocations may have seen.
    views: Box<[Views]>,
}

struct Explorer<'p, B: Behaviour> {
    program: &'p Program,
    groups: Vec<Group>,
    objects: Objects<'p, B>,
    views: AllViews,
    diagrams: Diagrams,
    /// For each configuration, the outcomes of the invocations that are not done.
    known: FxHashMap<Configuration, Node>,
    bound: usize,
}

impl<B: Behaviour> Explorer<'_, B> {
    /// The outcomes of what is not done.
    fn rest(&mut self, configuration: Configuration) -> Result<Node, TooLarge> {
        if configuration.done == self.program.all() {
            return Ok(Node::END);
        }
        if let Some(&known) = self.known.get(&configuration) {
            return Ok(known);
        }
        if self.known.len() + self.views.work() + self.diagrams.len() > self.bound {
            return Err(TooLarge::Configurations(self.bound));
        }
        let program = self.program;
        let mut all = Node::NOTHING;
        for next in program.enabled(configuration.done) {
            let branches = self.linearize(&configuration, next).ok_or(TooLarge::Configurations(self.bound))?;
            for (result, after) in branches {
                let rest = self.rest(after)?;
                let given = self.diagrams.given(next, result, rest);
                all = self.diagrams.union(all, given);
            }
        }
        self.known.insert(configuration, all);
        Ok(all)
    }

    /// For each result that `next` can have when it is linearized next, the configuration after it. `None` when the
    /// bound is reached.
    fn linearize(&mut self, from: &Configuration, next: usize) -> Option<Vec<(ResultId, Configuration)>> {
        let done = from.done | 1 << next;
        let (state, result) = self.objects.apply(from.state, next);
        let is_needed = (0..self.program.len()).any(|index| done & 1 << index == 0 && self.program.is_complete(index));
        let state = if is_needed { state } else { 0 };
        let mut branches = vec![(result, Configuration { done, state, views: from.views.clone() })];
        for (index, group) in self.groups.iter().enumerate() {
            let (views, place) = ((group, from.views[index]), (next, from.done));
            let steps = self.views.step(self.program, &mut self.objects, views, place, self.bound)?;
            let is_own = group.contains(&next);
            let with = |(result, branch): (ResultId, Configuration)| {
                steps.iter().map(move |&(own, views)| {
                    let mut branch = branch.clone();
                    branch.views[index] = views;
                    (if is_own { own } else { result }, branch)
                })
            };
            branches = branches.into_iter().flat_map(with).collect();
        }
        Some(branches)
    }
}

/// The states of objects and results of invocations, numbered.
struct Objects<'b, B: Behaviour> {
    behaviour: &'b mut B,
    states: Numbers<B::State>,
    results: Numbers<Value>,
    known: FxHashMap<(u32, u8), (u32, ResultId)>,
}

impl<B: Behaviour> Transitions for Objects<'_, B> {
    fn apply(&mut self, state: u32, invocation: usize) -> (u32, ResultId) {
        let key = (state, invocation as u8);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let (after, result) = self.behaviour.apply(&self.states.values[state as usize], invocation);
        let found = (self.states.number(after), self.results.number(result));
        self.known.insert(key, found);
        found
    }
}

/// Values in the order in which they were met.
struct Numbers<T> {
    values: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Numbers { values: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Numbers<T> {
    fn number(&mut self, value: T) -> u32 {
        if let Some(&known) = self.numbers.get(&value) {
            return known;
        }
        let number = u32::try_from(self.values.len()).expect("less than 2^32 values");
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }
}
