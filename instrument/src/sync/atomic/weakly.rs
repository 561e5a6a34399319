//! Atomic operations where memory is weak: the runtime says what they find, and whether what they write is the newest value.

use std::sync::atomic::Ordering;

use crate::control::{self, Compact};
use crate::runtime::{self, Accessed, Effect, ObjectId, Place};

pub(super) fn load<A: Compact>(here: &A, at: (ObjectId, Place), order: Ordering) -> A::Value {
    assert!(!matches!(order, Ordering::Release | Ordering::AcqRel), "there is no such thing as a release load");
    A::of_bits(access(here, at, Effect::Load, (order, order)).found)
}

pub(super) fn store<A: Compact>(here: &A, at: (ObjectId, Place), value: A::Value, order: Ordering) {
    assert!(!matches!(order, Ordering::Acquire | Ordering::AcqRel), "there is no such thing as an acquire store");
    access(here, at, Effect::Store(A::bits(value)), (order, order));
}

/// Gives what was there.
pub(super) fn change<A: Compact>(
    here: &A,
    at: (ObjectId, Place),
    order: Ordering,
    change: impl Fn(A::Value) -> A::Value,
) -> A::Value {
    let change = |bits| Some(A::bits(change(A::of_bits(bits))));
    let effect = Effect::Update { change: &change, compares: false, may_fail: false };
    let accessed = access(here, at, effect, (order, order));
    if accessed.newest == Some(accessed.found) {
        // Others may synchronise with it, but a loop that waits for another value goes on waiting.
        control::only_read();
    }
    A::of_bits(accessed.found)
}

pub(super) fn compare_exchange<A: Compact>(
    here: &A,
    at: (ObjectId, Place),
    (current, new): (A::Value, A::Value),
    (success, failure): (Ordering, Ordering),
    may_fail: bool,
) -> Result<A::Value, A::Value> {
    assert!(
        !matches!(failure, Ordering::Release | Ordering::AcqRel),
        "there is no such thing as a release or an acquire-release failure ordering"
    );
    let (current, new) = (A::bits(current), A::bits(new));
    let change = |bits| (bits == current).then_some(new);
    let effect = Effect::Update { change: &change, compares: true, may_fail };
    let accessed = access(here, at, effect, (success, failure));
    let found = A::of_bits(accessed.found);
    if accessed.wrote { Ok(found) } else { Err(found) }
}

fn access<A: Compact>(here: &A, at: (ObjectId, Place), effect: Effect<'_>, orders: (Ordering, Ordering)) -> Accessed {
    let newest = A::bits(here.now());
    let start = std::ptr::from_ref(here).addr();
    let extent = start..start + size_of::<A>();
    let accessed = runtime::with(|current| current.runtime().access(at, (extent, newest), effect, orders));
    let accessed = accessed.expect("memory is weak in a controlled run only");
    if let Some(newest) = accessed.newest {
        here.put(A::of_bits(newest));
    }
    accessed
}
