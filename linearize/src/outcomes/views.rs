//! What relaxed invocations may have seen so far.

use rustc_hash::FxHashMap;

use super::diagram::ResultId;
use crate::program::{Program, Set};

/// One way to have chosen, so far, what a relaxed invocation i sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct View {
    /// The state after what it sees.
    pub state: u32,
    /// Later invocations that it must not see: it has skipped something that it would have to see with them.
    forbidden: Set,
    /// Later invocations that must not be linearized before it, for the same reason.
    ahead: Set,
}

/// Relaxed invocations whose visibilities constrain each other, ascending.
pub(super) type Group = Vec<usize>;

/// The number of a set of ways to choose for all invocations of a group that have not come yet.
pub(super) type Views = u32;

/// No invocation of the group is left.
pub(super) const SETTLED: Views = Views::MAX;

/// The groups of a program.
pub(super) fn groups(program: &Program) -> Vec<Group> {
    let relaxed: Vec<usize> = (0..program.len()).filter(|&index| !program.is_complete(index)).collect();
    // What i may choose depends on what j has chosen.
    let depends = |i: usize, j: usize| {
        let required = &program.required[i];
        let is_past = program.before[i] & 1 << j != 0;
        let is_future = program.before[j] & 1 << i != 0;
        (is_past && required.seen_by_past != 0)
            || (!is_future && (required.seen_by_seen != 0 || required.seen_by_earlier != 0))
    };
    let mut groups: Vec<Group> = Vec::new();
    for &one in &relaxed {
        let is_linked = |group: &Group| group.iter().any(|&other| depends(one, other) || depends(other, one));
        let (linked, rest): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(is_linked);
        groups = rest;
        let mut joined: Group = linked.into_iter().flatten().chain([one]).collect();
        joined.sort_unstable();
        groups.push(joined);
    }
    groups.sort();
    groups
}

/// The state and the result after an invocation from a state.
pub(super) trait Transitions {
    fn apply(&mut self, state: u32, invocation: usize) -> (u32, ResultId);
}

/// For each result of an invocation, what a group may then have seen.
pub(super) type Steps = Vec<(ResultId, Views)>;

/// All sets of views, numbered.
#[derive(Default)]
pub(super) struct AllViews {
    /// The views of one way to choose are next to each other.
    sets: Vec<Box<[View]>>,
    numbers: FxHashMap<Box<[View]>, Views>,
    /// By the first of the group, what it has seen, what is linearized next, and after what.
    steps: FxHashMap<(u8, Views, u8, Set), Steps>,
    /// How many choices were looked at.
    choices: usize,
    /// How many views there are in all sets.
    kept: usize,
}

/// This many choices take about as long as one configuration.
const CHOICES: usize = 64;

/// This many views take about as much memory as one configuration.
const KEPT: usize = 8;

impl AllViews {
    /// What was spent so far, in configurations.
    pub fn work(&self) -> usize {
        self.choices / CHOICES + self.kept / KEPT
    }

    /// Nothing was linearized: each of the group sees the initial state.
    pub fn initial(&mut self, group: &Group, state: u32) -> Views {
        self.number(vec![View { state, forbidden: 0, ahead: 0 }; group.len()])
    }

    fn number(&mut self, views: Vec<View>) -> Views {
        let views = views.into_boxed_slice();
        if let Some(&known) = self.numbers.get(&views) {
            return known;
        }
        let number = Views::try_from(self.sets.len()).expect("less than 2^32 sets of views");
        self.kept += views.len();
        self.sets.push(views.clone());
        self.numbers.insert(views, number);
        number
    }

    /// Linearizes `next` after `done`. If `next` belongs to the group: for each result that `next` can have, what the
    /// others may then have seen. Otherwise: what the whole group may then have seen, with a result that means nothing.
    /// Empty when there is no way to choose. `None` when that takes more work in total than `bound`.
    pub fn step(
        &mut self,
        program: &Program,
        transitions: &mut impl Transitions,
        (group, views): (&Group, Views),
        (next, done): (usize, Set),
        bound: usize,
    ) -> Option<Steps> {
        if views == SETTLED {
            return Some(vec![(0, SETTLED)]);
        }
        let key = (group[0] as u8, views, next as u8, done);
        if let Some(known) = self.steps.get(&key) {
            return Some(known.clone());
        }
        let waiting: Vec<usize> = group.iter().copied().filter(|&index| done & 1 << index == 0).collect();
        let step = Step { program, next, done, place: waiting.iter().position(|&index| index == next), waiting };
        let ways = self.sets[views as usize].len().checked_shl(step.waiting.len() as u32);
        self.choices = self.choices.saturating_add(ways.unwrap_or(usize::MAX));
        if self.work() > bound {
            return None;
        }
        let by_result = step.take(&self.sets[views as usize], transitions);
        let width = step.waiting.len() - usize::from(step.place.is_some());
        let mut found = Vec::with_capacity(by_result.len());
        for (result, views) in by_result {
            found.push((result, if width == 0 { SETTLED } else { self.number(sorted(views, width)) }));
        }
        self.steps.insert(key, found.clone());
        Some(found)
    }
}

/// The same ways to choose, each once and in order.
fn sorted(views: Vec<View>, width: usize) -> Vec<View> {
    if width == 1 {
        let mut views = views;
        views.sort_unstable();
        views.dedup();
        return views;
    }
    let mut choices: Vec<&[View]> = views.chunks(width).collect();
    choices.sort_unstable();
    choices.dedup();
    choices.concat()
}

/// One invocation being linearized.
struct Step<'p> {
    program: &'p Program,
    next: usize,
    /// What was linearized before.
    done: Set,
    /// The invocations of the group that were not linearized before.
    waiting: Vec<usize>,
    /// The place of `next` among these.
    place: Option<usize>,
}

impl Step<'_> {
    /// All ways to choose, by the result of `next`; ascending by result.
    fn take(&self, views: &[View], transitions: &mut impl Transitions) -> Vec<(ResultId, Vec<View>)> {
        let mut by_result: Vec<(ResultId, Vec<View>)> = Vec::new();
        for choice in views.chunks(self.waiting.len()) {
            let result = self.place.map_or(0, |place| transitions.apply(choice[place].state, self.next).1);
            let index = match by_result.binary_search_by_key(&result, |found| found.0) {
                Ok(index) => index,
                Err(index) => {
                    by_result.insert(index, (result, Vec::new()));
                    index
                }
            };
            for sees in 0..1u64 << self.waiting.len() {
                // `next` itself has no choice.
                if self.place.is_none_or(|place| sees & 1 << place == 0) {
                    self.choose(choice, sees, transitions, &mut by_result[index].1);
                }
            }
        }
        // When no invocation is left that could choose, there are no views, and one way to choose.
        if self.place.is_none() || self.waiting.len() > 1 {
            by_result.retain(|(_, views)| !views.is_empty());
        }
        by_result
    }

    /// Adds the choice in which the invocations at the places `sees` see `next`, if they may and no other invocation
    /// must.
    fn choose(&self, choice: &[View], sees: Set, transitions: &mut impl Transitions, found: &mut Vec<View>) {
        let start = found.len();
        for (place, (&i, view)) in self.waiting.iter().zip(choice).enumerate() {
            if self.place == Some(place) {
                continue;
            }
            let chosen =
                if sees & 1 << place != 0 { self.seen(i, view, transitions) } else { self.skipped(i, view, sees) };
            match chosen {
                Some(view) => found.push(view),
                None => return found.truncate(start),
            }
        }
    }

    /// i sees `next`.
    fn seen(&self, i: usize, view: &View, transitions: &mut impl Transitions) -> Option<View> {
        let next = 1 << self.next;
        if (view.forbidden | view.ahead) & next != 0 {
            return None;
        }
        let relevant = self.relevant(i);
        let state = transitions.apply(view.state, self.next).0;
        Some(View { state, forbidden: view.forbidden & relevant, ahead: view.ahead & relevant })
    }

    /// i does not see `next`, and the invocations of the group at the places `sees` do.
    fn skipped(&self, i: usize, view: &View, sees: Set) -> Option<View> {
        let (program, next) = (self.program, 1 << self.next);
        let required = &program.required[i];
        let past = program.before[i];
        let seen_by = self.seen_by(i, sees);
        let must_see = (required.past & past) | required.complete;
        let must_see_with_past = required.seen_by_past & next != 0 && (seen_by | next) & past != 0;
        if view.ahead & next != 0 || must_see & next != 0 || must_see_with_past {
            return None;
        }
        let mut forbidden = view.forbidden;
        if required.past_of_seen & next != 0 {
            forbidden |= (0..program.len()).filter(|&y| program.before[y] & next != 0).fold(0, |set, y| set | 1 << y);
        }
        if required.seen_by_seen & next != 0 {
            forbidden |= seen_by;
        }
        if required.earlier_than_seen & next != 0 {
            forbidden = Set::MAX;
        }
        let ahead = view.ahead | if required.seen_by_earlier & next != 0 { seen_by } else { 0 };
        let relevant = self.relevant(i);
        let (forbidden, ahead) = (forbidden & relevant, ahead & relevant);
        // It would have to see or to follow one of these later.
        let is_dead = (forbidden & (must_see | (required.seen_by_past & past)) & past) | (ahead & past) != 0;
        (!is_dead).then_some(View { state: view.state, forbidden, ahead })
    }

    /// The later invocations, other than i, that see `next`: complete ones, and those of the group that choose to.
    fn seen_by(&self, i: usize, sees: Set) -> Set {
        let later = self.program.all() & !self.done & !(1 << self.next) & !(1 << i);
        let complete = |&y: &usize| later & 1 << y != 0 && self.program.is_complete(y);
        let complete = (0..self.program.len()).filter(complete).fold(0, |set, y| set | 1 << y);
        let chosen = self.waiting.iter().enumerate().filter(|(place, _)| sees & 1 << place != 0);
        chosen.fold(complete, |set, (_, &y)| set | 1 << y) & later
    }

    /// The later invocations that can be linearized before i.
    fn relevant(&self, i: usize) -> Set {
        let follows = |&y: &usize| self.program.before[y] & 1 << i != 0;
        let following = (0..self.program.len()).filter(follows).fold(0, |set, y| set | 1 << y);
        self.program.all() & !self.done & !(1 << self.next) & !(1 << i) & !following
    }
}
