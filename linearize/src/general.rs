//! The general search for a linearization.
//!
//! Wing and Gong's search (*Testing and verifying concurrent objects*, 1993) with Lowe's memory of what was tried
//! (*Testing for linearizability*, 2017): depth first, one call after the other is linearized, and a pair of the set
//! of calls linearized so far and the state they lead to is never explored twice.
//!
//! Such a set is small to write down. Let r be the first return, in the order of the history, of a call that is not
//! in the set: every call that returned before r is in it, and none that was invoked after r. What is left is a bit
//! for each call that is open at r, and calls that are never open together share a bit.
//!
//! States are numbered when they are met first, and what a call does from a state is looked up when it was asked before, so
//! that the search does not allocate but for what it meets for the first time.
//!
//! A complete call that is known to change no state comes next as soon as it can, and nothing else is tried then. Where
//! every call that could come next is about a known part of the object, only those about the part of the call that has to
//! return first are tried: a persistent set (Godefroid, *Partial-order methods*, 1996). So the parts of an object multiply
//! what is tried only while a call about all of the object is open.

mod mask;
mod search;
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

    /// Runs `call` alone from `state`: the state it leaves, or none when it cannot have returned what it returned in
    /// the history. The result of a pending call is not known, so it agrees with every result. A function: it may be asked
    /// once only.
    fn step(&mut self, state: &Self::State, call: usize) -> Option<Self::State>;

    /// What a call does, as a number below 2^32: calls with the same number do the same from every state. The search
    /// runs such calls once from each state; the index of the call is always right.
    fn operation(&self, call: usize) -> usize {
        call
    }

    /// Whether `call`, a complete one, leaves every state from which it can return what it did as it was. The search
    /// is faster when it knows; false is always right.
    fn is_read_only(&self, call: usize) -> bool {
        let _ = call;
        false
    }

    /// The part of the object that `call` is about. Two calls of different parts do not notice each other: in either
    /// order each can return what it did, and the state behind them is the same. The search is faster when it knows;
    /// none, for a call about all of the object, is always right.
    fn part(&self, call: usize) -> Option<u32> {
        let _ = call;
        None
    }

    /// Whether the history may end in `state`; a caller that has seen the final state says so here.
    fn accept(&self, state: &Self::State) -> bool {
        let _ = state;
        true
    }
}

/// How much a search may cost, and what is asked when.
#[derive(Clone, Copy, Default)]
pub enum Budget<'a> {
    /// It runs until it knows.
    #[default]
    Unlimited,
    /// It gives up after this many attempts to linearize a call next.
    StopAfter(u64),
    /// It gives up when the function says false; it is asked after every 1,024 attempts. A caller that has a
    /// clock brings it in here.
    While(&'a dyn Fn() -> bool),
}

/// What is known about a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is a linearization.
    Linearizable {
        /// The calls in the order of the linearization: all complete calls, and those pending ones that took effect.
        order: Vec<usize>,
    },
    /// There is none.
    NotLinearizable(Witness),
    /// The budget was used up.
    Unknown,
}

/// The argument that a history is not linearizable: how far one gets, and what cannot be placed then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The call that cannot be placed: the history is linearizable up to the event before this call's return, and
    /// not any further; a call that returns later may have taken effect before, with the result that it will return.
    /// None when all calls can be placed, but never so that the final state is accepted.
    pub stuck: Option<usize>,
    /// The longest linearizations up to there, in the order in which the search found them; at most
    /// [`Witness::LONGEST`] of them. Pending calls that change nothing are left out. Where calls have different parts
    /// ([`Spec::part`]) the longest ones are looked for when the verdict is known, and not much longer than that took.
    pub longest: Vec<Vec<usize>>,
}

impl Witness {
    /// How many linearizations a witness holds at most.
    pub const LONGEST: usize = 8;
}

/// Looks for a linearization of `history`: a sequence of all its complete calls and any of its pending calls, which
/// respects the real-time order, in which every call does what it did in the history, and which ends in a state that
/// is accepted.
pub fn check<S: Spec>(spec: &mut S, history: &History, budget: Budget<'_>) -> Verdict {
    let plan = search::Plan::new(history);
    // The width is fixed at compile time where it can be, so that no step of the search allocates.
    match plan.slots.div_ceil(64) {
        0 | 1 => search::Search::<S, [u64; 1]>::new(spec, &plan, budget).run(),
        2 => search::Search::<S, [u64; 2]>::new(spec, &plan, budget).run(),
        3 | 4 => search::Search::<S, [u64; 4]>::new(spec, &plan, budget).run(),
        5..=8 => search::Search::<S, [u64; 8]>::new(spec, &plan, budget).run(),
        9..=16 => search::Search::<S, [u64; 16]>::new(spec, &plan, budget).run(),
        _ => search::Search::<S, Vec<u64>>::new(spec, &plan, budget).run(),
    }
}
