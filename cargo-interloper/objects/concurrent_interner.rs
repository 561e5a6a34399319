//! An interner with a member for each thread.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![interner()]
}

fn interner() -> Object {
    use ::concurrent_interner::ConcurrentInterner;
    use std::hash::RandomState;
    use std::num::NonZeroU8;
    // Which number a new string gets depends on the member, so the calls are about two strings that are there from the beginning.
    Object::describe("concurrent_interner::ConcurrentInterner", || {
        let interner = ConcurrentInterner::new(NonZeroU8::new(2).expect("not 0"), RandomState::new());
        let mut member = interner.get_member();
        let known = ["0", "1"].map(|string| member.intern(string));
        drop(member);
        (interner, known)
    })
    .method("intern", |(interner, known), (index,): (i64,)| {
        let index = index as usize % 2;
        interner.get_member().intern(["0", "1"][index]) == known[index]
    })
    .method("get_string", |(interner, known), (index,): (i64,)| {
        interner.get_string(known[index as usize % 2]).parse::<i64>().ok()
    })
    .build()
}
