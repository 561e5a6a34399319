//! A pointer whose readers are protected by hazard pointers.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![atomic()]
}

fn atomic() -> Object {
    use ::hazptr::typenum::U0;
    use ::hazptr::{Atomic, Guard, Owned};
    use std::sync::atomic::Ordering::{AcqRel, Acquire};
    Object::describe("hazptr::Atomic", || Atomic::<i64, U0>::new(0_i64))
        .core("swap", |pointer, (value,): (i64,)| {
            let old = pointer.swap(Owned::<i64, U0>::new(value), AcqRel)?;
            let seen = *old;
            // SAFETY: It was taken out of the only place that has it.
            unsafe { old.retire() };
            Some(seen)
        })
        .core("load", |pointer, ()| pointer.load(Acquire, &mut Guard::new()).map(|seen| *seen))
        .build()
}
