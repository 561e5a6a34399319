//! An arena of slots.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![arena()]
}

fn arena() -> Object {
    use ::arena_alligator::FixedArena;
    use std::num::NonZeroUsize;
    use std::sync::Mutex;
    // Three slots. Two are taken, and a call gives one of them back.
    Object::describe("arena_alligator::FixedArena", || {
        let [three, eight] = [3, 8].map(|number| NonZeroUsize::new(number).expect("not 0"));
        let arena = FixedArena::with_slot_capacity(three, eight).build().expect("an arena");
        let taken = [(); 2].map(|()| Mutex::new(arena.allocate().ok()));
        (arena, taken)
    })
    .core("allocate", |(arena, _), ()| arena.allocate().map(std::mem::forget).is_ok())
    .core("free", |(_, taken), (index,): (i64,)| {
        let mut place = taken[index as usize % 2].lock().unwrap();
        let taken = place.take();
        let is_taken = taken.is_some();
        drop(taken);
        is_taken
    })
    .method("metrics", |(arena, _), ()| {
        let seen = arena.metrics();
        vec![seen.allocations_ok as i64, seen.allocations_failed as i64, seen.frees as i64]
    })
    .build()
}
