//! The states that a search has met, numbered.
//!
//! A state can be as large as the history: a long queue, for example. So not all states are kept. Each state is known
//! by its origin, which is a call from an earlier state, and by a hash. When large states take too much memory, most of
//! them are dropped, and computed again from a state that was kept when the search needs them.

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{Spec, table_bytes, vector_bytes};

/// States up to this many bytes are always kept.
const SMALL: usize = 64;

pub(super) struct States<T> {
    /// The origin of each state: the earlier state and the call. The first state names itself.
    origins: Vec<(u32, u32)>,
    /// How many calls lead from the first state to each state.
    depths: Vec<u32>,
    /// Whether a state can be found again by its hash.
    findable: Vec<bool>,
    /// The kept states. The first one is always kept.
    kept: Vec<Option<T>>,
    /// The first state with each hash.
    by_hash: FxHashMap<u64, u32>,
    /// For a state that shares its hash with another one, the next state with this hash.
    same_hash: FxHashMap<u32, u32>,
    /// The states that are kept and not small, with their bytes, and their sum.
    large: Vec<(u32, usize)>,
    bytes: usize,
    /// How many bytes the large states may take.
    bound: usize,
    /// When states are dropped, those stay that a multiple of this many calls leads to.
    stride: u32,
}

impl<T: Clone + Eq + std::hash::Hash> States<T> {
    /// The states of a search that has met the first one.
    pub fn new<S: Spec<State = T>>(spec: &S, bound: usize) -> States<T> {
        let initial = spec.initial();
        let mut states = States {
            origins: vec![(0, 0)],
            depths: vec![0],
            findable: vec![true],
            kept: Vec::new(),
            by_hash: FxHashMap::default(),
            same_hash: FxHashMap::default(),
            large: Vec::new(),
            bytes: 0,
            bound,
            stride: 1,
        };
        states.by_hash.insert(hash(&initial), Self::INITIAL);
        states.kept.push(Some(initial));
        states
    }

    /// The number of the first state.
    pub const INITIAL: u32 = 0;

    pub fn set_bound(&mut self, bound: usize) {
        self.bound = bound;
    }

    /// A state that was met.
    pub fn get<S: Spec<State = T>>(&mut self, number: u32, spec: &mut S) -> &T {
        if self.kept[number as usize].is_none() {
            self.make_again(number, spec);
        }
        self.kept[number as usize].as_ref().expect("it was rebuilt")
    }

    /// The number of a state to which `call` leads from the state `from`.
    pub fn number<S: Spec<State = T>>(&mut self, state: T, from: u32, call: u32, spec: &mut S) -> u32 {
        let hash = hash(&state);
        let mut same = self.by_hash.get(&hash).copied();
        let mut last = None;
        while let Some(number) = same {
            if *self.get(number, spec) == state {
                return number;
            }
            last = Some(number);
            same = self.same_hash.get(&number).copied();
        }
        let number = self.add(state, from, call, spec);
        self.findable[number as usize] = true;
        match last {
            None => self.by_hash.insert(hash, number),
            Some(last) => self.same_hash.insert(last, number),
        };
        number
    }

    /// A new number for a state to which `call` leads from the state `from`, whether it was met before or not. A lookup
    /// will not find it.
    pub fn add<S: Spec<State = T>>(&mut self, state: T, from: u32, call: u32, spec: &S) -> u32 {
        let number = u32::try_from(self.origins.len()).ok().filter(|&number| number != u32::MAX);
        let number = number.expect("a search meets less than 2^32 - 1 states");
        self.origins.push((from, call));
        self.depths.push(self.depths[from as usize] + 1);
        self.findable.push(false);
        self.kept.push(None);
        self.keep(number, state, spec);
        number
    }

    /// Whether an equal state that is met later gets the same number.
    pub fn is_findable(&self, number: u32) -> bool {
        self.findable[number as usize]
    }

    fn make_again<S: Spec<State = T>>(&mut self, number: u32, spec: &mut S) {
        let mut missing = Vec::new();
        let mut from = number;
        while self.kept[from as usize].is_none() {
            missing.push(from);
            from = self.origins[from as usize].0;
        }
        let mut state = self.kept[from as usize].clone().expect("it is kept");
        // The states on the way are kept, too: a search that goes back from here will ask for them.
        while let Some(next) = missing.pop() {
            let (_, call) = self.origins[next as usize];
            state = spec.step(&state, call as usize).expect("the call was possible when the state was met");
            self.keep(next, state.clone(), spec);
        }
    }

    fn keep<S: Spec<State = T>>(&mut self, number: u32, state: T, spec: &S) {
        let bytes = spec.bytes(&state);
        self.kept[number as usize] = Some(state);
        if bytes > SMALL {
            self.large.push((number, bytes));
            self.bytes += bytes;
            while self.bytes > self.bound && self.large.len() > 1 {
                self.drop_all_but(number);
            }
        }
    }

    /// Drops states until half of the bound is free, except for the last one.
    fn drop_all_but(&mut self, last: u32) {
        let (kept, depths, stride) = (&mut self.kept, &self.depths, self.stride);
        let mut bytes = 0;
        self.large.retain(|&(number, size)| {
            let stays = number == last || depths[number as usize].is_multiple_of(stride);
            if stays {
                bytes += size;
            } else {
                kept[number as usize] = None;
            }
            stays
        });
        self.bytes = bytes;
        if bytes > self.bound / 2 {
            self.stride = self.stride.saturating_mul(2);
        }
    }

    /// How many bytes the states take, and will take when the tables grow next.
    pub fn memory(&self) -> usize {
        self.bytes
            + vector_bytes(&self.origins)
            + vector_bytes(&self.depths)
            + vector_bytes(&self.findable)
            + vector_bytes(&self.kept)
            + vector_bytes(&self.large)
            + table_bytes::<(u64, u32)>(self.by_hash.len(), self.by_hash.capacity())
            + table_bytes::<(u32, u32)>(self.same_hash.len(), self.same_hash.capacity())
    }
}

fn hash<T: std::hash::Hash>(state: &T) -> u64 {
    FxBuildHasher.hash_one(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists of numbers; call n appends n, except call 0, which takes the last one. On demand, all lists have the same
    /// hash.
    struct Lists {
        steps: usize,
    }

    #[derive(Clone, PartialEq, Eq, Debug)]
    struct List(Vec<usize>, bool);

    impl std::hash::Hash for List {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            if !self.1 {
                self.0.hash(state);
            }
        }
    }

    impl Spec for Lists {
        type State = List;
        fn initial(&self) -> List {
            List(Vec::new(), false)
        }
        fn step(&mut self, state: &List, call: usize) -> Option<List> {
            self.steps += 1;
            let mut state = state.clone();
            if call == 0 {
                state.0.pop()?;
            } else {
                state.0.push(call);
            }
            Some(state)
        }
        fn bytes(&self, state: &List) -> usize {
            100 + 8 * state.0.len()
        }
    }

    /// Up a long way and back again: each list that returns has its old number, and few lists are kept.
    #[test]
    fn dropped_states_are_found_again() {
        let length = 400;
        let all = (0..length).map(|length| 100 + 8 * length).sum::<usize>();
        for (bound, most) in [(usize::MAX, 2 * length), (all / 4, 4 * length), (all / 40, 40 * length), (0, usize::MAX)]
        {
            let mut spec = Lists { steps: 0 };
            let mut states = States::new(&spec, bound);
            let mut on_the_way = vec![0];
            for call in 1..=length {
                let from = on_the_way[call - 1];
                let next = states.get(from, &mut spec).clone();
                let next = spec.step(&next, call).expect("it appends");
                let bytes = spec.bytes(&next);
                on_the_way.push(states.number(next, from, call as u32, &mut spec));
                assert!(states.bytes <= bound.max(bytes), "{} bytes", states.bytes);
            }
            assert_eq!(on_the_way, (0..=length as u32).collect::<Vec<u32>>());
            for call in (1..=length).rev() {
                let from = on_the_way[call];
                assert_eq!(states.get(from, &mut spec).0.len(), call);
                let before = states.get(from, &mut spec).clone();
                let before = spec.step(&before, 0).expect("it is not empty");
                assert_eq!(states.number(before, from, 0, &mut spec), on_the_way[call - 1]);
            }
            assert!(spec.steps <= most, "{} steps with {bound} bytes", spec.steps);
        }
    }

    #[test]
    fn states_with_one_hash() {
        let mut spec = Lists { steps: 0 };
        let mut states = States::new(&spec, 0);
        let list = |items: &[usize]| List(items.to_vec(), true);
        for round in 0..2 {
            for call in 1..=3 {
                // The first list has its real hash; all others share another one.
                let number = states.number(list(&[call]), 0, call as u32, &mut Same(&mut spec));
                assert_eq!(number, call as u32, "round {round}");
            }
        }
    }

    /// Lists that all have the same hash.
    struct Same<'s>(&'s mut Lists);

    impl Spec for Same<'_> {
        type State = List;
        fn initial(&self) -> List {
            self.0.initial()
        }
        fn step(&mut self, state: &List, call: usize) -> Option<List> {
            self.0.step(state, call).map(|list| List(list.0, true))
        }
        fn bytes(&self, state: &List) -> usize {
            self.0.bytes(state)
        }
    }
}
