//! A pointer whose old values are freed when nobody looks at them.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![epoch()]
}

fn epoch() -> Object {
    use crossbeam_epoch::{Atomic, Owned, pin};
    use std::sync::atomic::Ordering::SeqCst;
    Object::describe("crossbeam_epoch::Atomic", || Atomic::new(0_i64))
        .core("swap", |cell, (value,): (i64,)| {
            let guard = pin();
            let old = cell.swap(Owned::new(value), SeqCst, &guard);
            // SAFETY: nothing else gives the value back, and it lives as long as somebody may look at it.
            unsafe {
                guard.defer_destroy(old);
                *old.deref()
            }
        })
        .core("load", |cell, ()| {
            let guard = pin();
            // SAFETY: what is loaded while pinned is not destroyed.
            unsafe { *cell.load(SeqCst, &guard).deref() }
        })
        .build()
}
