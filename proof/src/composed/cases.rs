//! The cases of the suite once more, from the same files: here `interloper::collections` are the originals.

#[path = "../../../mut-suite/src/cases/caches.rs"]
mod caches;
#[path = "../../../mut-suite/src/cases/closed.rs"]
mod closed;
#[path = "../../../mut-suite/src/cases/counters.rs"]
mod counters;
#[path = "../../../mut-suite/src/cases/guarded.rs"]
mod guarded;
#[path = "../../../mut-suite/src/cases/keys.rs"]
mod keys;
#[path = "../../../mut-suite/src/cases/locks.rs"]
mod locks;
#[path = "../../../mut-suite/src/cases/memoization.rs"]
mod memoization;
#[path = "../../../mut-suite/src/cases/paper.rs"]
mod paper;
#[path = "../../../mut-suite/src/cases/programs.rs"]
mod programs;
#[path = "../../../mut-suite/src/cases/registries.rs"]
mod registries;
#[path = "../../../mut-suite/src/cases/sets.rs"]
mod sets;

use driver::{Datum, MethodUnderTest, Subject, ToValue};

use super::{Case, Check};

const EVERYDAY: &str = "everyday Rust";

/// All cases of these files, in the order of the suite.
pub fn all() -> Vec<Case> {
    let families = [
        paper::cases(),
        programs::cases(),
        memoization::cases(),
        counters::cases(),
        keys::cases(),
        sets::cases(),
        registries::cases(),
        caches::cases(),
        locks::cases(),
        guarded::cases(),
        closed::cases(),
    ];
    families.into_iter().flatten().collect()
}

fn boxed<S, A, R>(method: MethodUnderTest<S, A, R>) -> Box<dyn Check>
where
    S: Subject + 'static,
    A: Datum,
    R: ToValue + 'static,
{
    Box::new(method)
}

fn from_few_states<S: Subject, A: Datum, R: ToValue>(method: MethodUnderTest<S, A, R>) -> MethodUnderTest<S, A, R> {
    method.settings(|settings| settings.initial_size = 1)
}

fn briefly<S: Subject, A: Datum, R: ToValue>(method: MethodUnderTest<S, A, R>) -> MethodUnderTest<S, A, R> {
    method.settings(|settings| settings.bound = 2)
}
