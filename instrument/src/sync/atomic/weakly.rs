//! Atomic operations where memory is weak: the runtime says what they find, and whether what they write is the newest value.

use std::sync::atomic::Ordering;

use crate::control::{self, Compact, Weakly};
use crate::runtime::{Accessed, Effect};

impl<A: Compact> Weakly<'_, A> {
    #[inline]
    pub(super) fn load(self, order: Ordering) -> A::Value {
        assert!(!matches!(order, Ordering::Release | Ordering::AcqRel), "there is no such thing as a release load");
        let Weakly { here, object, place, current } = self;
        if current.addresses().are_short() {
            return A::of_bits(current.runtime().load((object, place), A::bits(here.now()), order));
        }
        A::of_bits(self.access(Effect::Load, (order, order)).found)
    }

    #[inline]
    pub(super) fn store(self, value: A::Value, order: Ordering) {
        assert!(!matches!(order, Ordering::Acquire | Ordering::AcqRel), "there is no such thing as an acquire store");
        let Weakly { here, object, place, current } = self;
        if !current.addresses().are_short() {
            self.access(Effect::Store(A::bits(value)), (order, order));
        } else if current.runtime().store((object, place), (A::bits(here.now()), A::bits(value)), order) {
            here.put(value);
        }
    }

    /// Gives what was there.
    pub(super) fn change(self, order: Ordering, change: impl Fn(A::Value) -> A::Value) -> A::Value {
        let change = |bits| Some(A::bits(change(A::of_bits(bits))));
        let effect = Effect::Update { change: &change, compares: false, may_fail: false };
        let accessed = self.access(effect, (order, order));
        if accessed.newest == Some(accessed.found) {
            // Others may synchronise with it, but a loop that waits for another value goes on waiting.
            control::only_read();
        }
        A::of_bits(accessed.found)
    }

    pub(super) fn compare_exchange(
        self,
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
        let accessed = self.access(effect, (success, failure));
        let found = A::of_bits(accessed.found);
        if accessed.wrote { Ok(found) } else { Err(found) }
    }

    #[inline]
    fn access(self, effect: Effect<'_>, orders: (Ordering, Ordering)) -> Accessed {
        let Weakly { here, object, place, current } = self;
        let newest = A::bits(here.now());
        let start = std::ptr::from_ref(here).addr();
        let extent = start..start + size_of::<A>();
        let accessed = current.runtime().access((object, place), (extent, newest), effect, orders);
        if let Some(newest) = accessed.newest {
            here.put(A::of_bits(newest));
        }
        accessed
    }
}
