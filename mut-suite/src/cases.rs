//! The cases, one file for each family.

mod caches;
mod closed;
mod counters;
mod futures;
mod guarded;
mod keys;
mod locks;
mod memoization;
mod paper;
mod programs;
mod queues;
mod registries;
mod sets;
mod sorted;
mod two_collections;

use interloper::{Check, Datum, MethodUnderTest, ToValue, collections::Subject};

use crate::Case;

/// The origin of patterns that many programs have.
const EVERYDAY: &str = "everyday Rust";

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    let families = [
        paper::cases(),
        futures::cases(),
        programs::cases(),
        memoization::cases(),
        counters::cases(),
        queues::cases(),
        keys::cases(),
        two_collections::cases(),
        sets::cases(),
        registries::cases(),
        caches::cases(),
        locks::cases(),
        sorted::cases(),
        guarded::cases(),
        closed::cases(),
        crate::published::cases(),
    ];
    families.into_iter().flatten().collect()
}

/// A method under test without its types.
pub(crate) fn boxed<S, A, R>(method: MethodUnderTest<S, A, R>) -> Box<dyn Check>
where
    S: Subject + 'static,
    A: Datum,
    R: ToValue + 'static,
{
    Box::new(method)
}

/// The method from the states within one operation: for a violation that takes two operations of the environment, all
/// runs with one operation come first, from every initial state.
pub(crate) fn from_few_states<S, A, R>(method: MethodUnderTest<S, A, R>) -> MethodUnderTest<S, A, R>
where
    S: Subject,
    A: Datum,
    R: ToValue,
{
    method.settings(|settings| settings.initial_size = 1)
}

/// The method against two operations of the environment instead of three.
///
/// A critical section conflicts with every operation on its collection, so there are hundreds of thousands of runs with
/// three. Two operations suffice: one on each side of a section, or one that is seen and one that is not.
pub(crate) fn briefly<S, A, R>(method: MethodUnderTest<S, A, R>) -> MethodUnderTest<S, A, R>
where
    S: Subject,
    A: Datum,
    R: ToValue,
{
    method.settings(|settings| settings.bound = 2)
}
