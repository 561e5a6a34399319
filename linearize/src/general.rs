//! The general search for a linearization.
//!
//! Wing and Gong's search (*Testing and verifying concurrent objects*, 1993) with Lowe's memory of earlier attempts
//! (*Testing for linearizability*, 2017): depth first, the search linearizes one call after the other, and never
//! explores a pair of the set of calls linearized so far and their state twice.
//!
//! Such a set is small to write down. Let r be the first return, in the order of the history, of a call outside the
//! set: every call that returned before r is in the set, and no call that was invoked after r. What is left is a bit
//! for each call that is open at r, and calls that are never open together share a bit.
//!
//! States are numbered when the search first meets them, and what a call does from a state is stored, so that the
//! search allocates only for what it meets for the first time. Large states are not all kept (`states.rs`), so that the
//! memory grows with the number of nodes and not with the size of states. The rest is bounded: a search that would
//! exceed its memory ends with [`Bound::Memory`].
//!
//! A [`Search`] is a value; its caller says how many attempts to make next. The caller can therefore look at a clock between
//! attempts, or run several searches in turns.
//!
//! A complete call that is known to change no state comes next as soon as it can, and the search then tries nothing
//! else. Where every call that could come next is about a known part of the object, the search tries only the calls
//! about the part of the call that has to return first: a persistent set (Godefroid, *Partial-order methods*, 1996). So
//! the parts of an object multiply the attempts only while a call about the whole object is open.

mod mask;
mod plan;
mod search;
mod states;
#[cfg(test)]
mod tests;

use std::hash::Hash;

use crate::history::History;

/// A sequential specification of the calls of one history.
pub trait Spec {
    /// An abstract state. The search keeps one copy of each state that it meets.
    type State: Clone + Eq + Hash;

    /// The state in which the history starts.
    fn initial(&self) -> Self::State;

    /// Runs `call` alone from `state`: returns the state that it leaves, or `None` when the call cannot have returned its
    /// result in the history. The result of a pending call is unknown, so it agrees with every result. This is a function:
    /// the search may ask once or several times.
    fn step(&mut self, state: &Self::State, call: usize) -> Option<Self::State>;

    /// What a call does, as a number below 2^32: calls with the same number do the same from every state. The search
    /// runs such calls once from each state; the index of the call is always right.
    fn operation(&self, call: usize) -> usize {
        call
    }

    /// Whether `call`, a complete one, leaves each state unchanged from which it can return what it returned. The
    /// search is faster when it knows; false is always right.
    fn is_read_only(&self, call: usize) -> bool {
        let _ = call;
        false
    }

    /// The part of the object that `call` is about. Two calls of different parts do not notice each other: in either
    /// order each can return what it returned, and the state after them is the same. The search is faster when it
    /// knows; `None`, for a call about the whole object, is always right.
    fn part(&self, call: usize) -> Option<u32> {
        let _ = call;
        None
    }

    /// About how many bytes of memory a state takes. If states have different sizes, this must be known: otherwise the
    /// search may exceed its memory.
    fn bytes(&self, state: &Self::State) -> usize {
        size_of_val(state)
    }

    /// Whether the history may end in `state`; a caller that has seen the final state says so here.
    fn accept(&self, state: &Self::State) -> bool {
        let _ = state;
        true
    }
}

impl<S: Spec> Spec for &mut S {
    type State = S::State;

    fn initial(&self) -> S::State {
        (**self).initial()
    }

    fn step(&mut self, state: &S::State, call: usize) -> Option<S::State> {
        (**self).step(state, call)
    }

    fn operation(&self, call: usize) -> usize {
        (**self).operation(call)
    }

    fn is_read_only(&self, call: usize) -> bool {
        (**self).is_read_only(call)
    }

    fn part(&self, call: usize) -> Option<u32> {
        (**self).part(call)
    }

    fn bytes(&self, state: &S::State) -> usize {
        (**self).bytes(state)
    }

    fn accept(&self, state: &S::State) -> bool {
        (**self).accept(state)
    }
}

/// The budget of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Budget {
    /// The search runs until it has a verdict.
    #[default]
    Unlimited,
    /// The search gives up after this many attempts to linearize a call next.
    StopAfter(u64),
}

impl Budget {
    pub(crate) fn attempts(self) -> u64 {
        match self {
            Budget::Unlimited => u64::MAX,
            Budget::StopAfter(attempts) => attempts,
        }
    }
}

/// What ran out before a verdict was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The attempts that the caller allowed.
    Attempts,
    /// The memory: [`Search::MEMORY`], or what [`Search::set_memory`] says.
    Memory,
}

/// The verdict about a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is a linearization.
    Linearizable {
        /// The calls in the order of the linearization: all complete calls, and those pending ones that took effect.
        order: Vec<usize>,
    },
    /// No linearization exists.
    NotLinearizable(Witness),
    /// The verdict is unknown.
    Unknown(Bound),
}

/// The argument that a history is not linearizable: how far a linearization gets, and which call then has no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The call without a place: the history is linearizable up to the event before this call's return, and no further;
    /// a call that returns later may have taken effect before, with the result that it will return. `None` when all
    /// calls have a place, but only with a final state that is not accepted.
    pub stuck: Option<usize>,
    /// The longest linearizations up to there, in the order in which the search found them; at most
    /// [`Witness::LONGEST`] of them. Pending calls that change nothing are left out. Where calls have different parts
    /// ([`Spec::part`]), the search looks for the longest ones once the verdict is known, and not much longer than the
    /// verdict took.
    pub longest: Vec<Vec<usize>>,
}

impl Witness {
    /// How many linearizations a witness holds at most.
    pub const LONGEST: usize = 8;
}

/// A search that can be interrupted and resumed.
pub struct Search<'s>(Box<dyn Resumable + 's>);

/// The progress of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress<T = Verdict> {
    /// The search needs more attempts.
    Going,
    /// The search has ended.
    Done(T),
}

/// A search, whatever its specification and however many calls overlap.
trait Resumable {
    fn advance(&mut self, attempts: u64) -> Progress;
    fn conclude(&mut self) -> Verdict;
    fn attempts(&self) -> u64;
    fn memory(&self) -> usize;
    fn set_memory(&mut self, memory: usize);
}

impl<'s> Search<'s> {
    /// How many bytes of memory a search may take by default: 1 GiB.
    pub const MEMORY: usize = 1 << 30;

    /// A search for a linearization of `history`, see [`check`].
    pub fn new<S: Spec + 's>(spec: S, history: &History) -> Search<'s> {
        let plan = plan::Plan::new(history);
        // The width is fixed at compile time where it can be, so that no step of the search allocates.
        Search(match plan.slots.div_ceil(64) {
            0 | 1 => Box::new(search::Search::<S, [u64; 1]>::new(spec, plan, Self::MEMORY)),
            2 => Box::new(search::Search::<S, [u64; 2]>::new(spec, plan, Self::MEMORY)),
            3 | 4 => Box::new(search::Search::<S, [u64; 4]>::new(spec, plan, Self::MEMORY)),
            5..=8 => Box::new(search::Search::<S, [u64; 8]>::new(spec, plan, Self::MEMORY)),
            9..=16 => Box::new(search::Search::<S, [u64; 16]>::new(spec, plan, Self::MEMORY)),
            _ => Box::new(search::Search::<S, Vec<u64>>::new(spec, plan, Self::MEMORY)),
        })
    }

    /// Continues for this many attempts to linearize a call next, or until there is a verdict. It stops between two
    /// linearized calls, so there may be a few attempts more; a call that runs from a large state counts as several.
    /// How often the search is interrupted does not change what it finds.
    pub fn advance(&mut self, attempts: u64) -> Progress {
        self.0.advance(attempts)
    }

    /// Ends the search with what is known so far: a violation, if the search was still looking for the longest
    /// linearizations, or else [`Bound::Attempts`].
    pub fn conclude(mut self) -> Verdict {
        self.0.conclude()
    }

    /// The number of attempts so far.
    pub fn attempts(&self) -> u64 {
        self.0.attempts()
    }

    /// About how many bytes of memory the search takes, or will take when its tables grow next.
    pub fn memory(&self) -> usize {
        self.0.memory()
    }

    /// Sets how many bytes of memory the search may take.
    pub fn set_memory(&mut self, bytes: usize) {
        self.0.set_memory(bytes);
    }
}

/// Looks for a linearization of `history`: a sequence of all its complete calls and any of its pending calls, which
/// respects the real-time order, in which every call does what it did in the history, and which ends in a state that
/// is accepted.
pub fn check<S: Spec>(spec: &mut S, history: &History, budget: Budget) -> Verdict {
    let mut search = Search::new(spec, history);
    match search.advance(budget.attempts()) {
        Progress::Done(verdict) => verdict,
        Progress::Going => search.conclude(),
    }
}

/// The bytes of a vector, and of its replacement once it is full.
fn vector_bytes<T>(vector: &Vec<T>) -> usize {
    let now = vector.capacity() * size_of::<T>();
    if vector.len() == vector.capacity() { 3 * now } else { now }
}

/// The bytes of a hash table with entries of type `T`, and of its replacement once it is full. An entry takes a byte
/// more, and an eighth of the places stays free.
fn table_bytes<T>(len: usize, capacity: usize) -> usize {
    let now = capacity / 7 * 8 * (size_of::<T>() + 1);
    if len == capacity { 3 * now } else { now }
}
