//! Operations of published crates, in words of our own.
//!
//! docs/COMPOSED.md lists the composed operations of 167 published packages. Each operation here keeps the calls of one
//! of them on its collections, their order, and what they decide; names, types and everything else are ours. Its twin
//! differs in what makes it atomic, or in what an atomic one needs. The comment of each case names the original and
//! says why its verdict is what it is.
//!
//! Four originals were read in the sources and are not in the list: punch-kernel's `track_request` (its flag is a
//! channel), metrics-util's `get_or_create_counter` and `with_increment` (a reference from an unchecked index, and a
//! closure), and saorsa-core's `try_acquire` (locks around plain numbers).
//!
//! # Limits
//! A verdict is about the composition, not about the crate: where its callers, its documentation or a lock around it
//! make a violation harmless, the comment says so. What the original does beside its collections (clocks, sockets, logs)
//! is left out.

mod breakers;
mod limits;
mod metrics;
mod pools;
mod stores;

use interloper::collections::{AtomicU64, Mutex, Subject};
use interloper::{Datum, MethodUnderTest, ToValue, Value};

use crate::Case;

/// All operations, each beside its twin.
pub(crate) fn cases() -> Vec<Case> {
    let families = [pools::cases(), limits::cases(), breakers::cases(), metrics::cases(), stores::cases()];
    families.into_iter().flatten().collect()
}

/// A method under test that returns plain forms: methods with the same subject and argument share the code that checks
/// them, whatever they return.
#[track_caller]
fn method<S, A, R>(
    name: &'static str,
    make: impl Fn() -> S + 'static,
    method: impl Fn(&S, A) -> R + 'static,
) -> MethodUnderTest<S, A, Value>
where
    S: Subject,
    A: Datum,
    R: ToValue,
{
    MethodUnderTest::new(name, make, plain(method))
}

/// A method that returns the plain form of its result.
fn plain<S, A, R: ToValue>(method: impl Fn(&S, A) -> R + 'static) -> impl Fn(&S, A) -> Value + 'static {
    move |subject: &S, argument: A| method(subject, argument).to_value()
}

/// Two numbers that change one after the other.
type TwoAtomics = (AtomicU64, AtomicU64);

fn two_atomics() -> TwoAtomics {
    Default::default()
}

/// Two numbers that can be locked together.
type TwoNumbers = (Mutex<u64>, Mutex<u64>);

fn two_numbers() -> TwoNumbers {
    Default::default()
}
