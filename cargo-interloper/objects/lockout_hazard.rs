//! A pointer whose readers are protected by hazard pointers.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![pointer()]
}

fn pointer() -> Object {
    use ::lockout_hazard::{AtomicPtr, Domain};
    use std::sync::atomic::Ordering::SeqCst;
    Object::describe("lockout_hazard::AtomicPtr", || (Domain::new(), AtomicPtr::from_box(Box::new(0_i64))))
        .core("store", |(domain, pointer), (value,): (i64,)| {
            pointer.swap(Box::into_raw(Box::new(value)), SeqCst).retire(domain);
        })
        .core("protect", |(domain, pointer), ()| domain.protect(pointer).map(|guard| *guard))
        .method("store_and_collect", |(domain, pointer), (value,): (i64,)| {
            pointer.swap(Box::into_raw(Box::new(value)), SeqCst).retire(domain);
            domain.collect();
        })
        .build()
}
