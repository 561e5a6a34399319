//! A map in an array.

use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator, Global, Layout};
use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![leapfrog()]
}

fn leapfrog() -> Object {
    use leapfrog::LeapMap;
    use std::collections::hash_map::DefaultHasher;
    use std::hash::BuildHasherDefault;
    type Hasher = BuildHasherDefault<DefaultHasher>;
    // An insertion may read a key that nobody has written. So that each run reads the same, the memory has zeros in it.
    Object::describe("leapfrog::LeapMap", || LeapMap::<i64, i64, Hasher, _>::new_in(Zeroed))
        .core("insert", |map, (key, value): (i64, i64)| map.insert(key, value))
        .core("get", |map, (key,): (i64,)| map.get(&key).and_then(|mut found| found.value()))
        .core("remove", |map, (key,): (i64,)| map.remove(&key))
        .method("len", |map, ()| map.len() as i64)
        .build()
}

/// Gives memory that has zeros in it, and not what it was used for before.
#[derive(Clone, Copy)]
struct Zeroed;

// SAFETY: all memory is that of `Global`.
unsafe impl Allocator for Zeroed {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        Global.allocate_zeroed(layout)
    }

    unsafe fn deallocate(&self, pointer: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller has the pointer from `allocate`, which has it from `Global`.
        unsafe { Global.deallocate(pointer, layout) }
    }
}
