//! An allocator of numbers.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![allocator()]
}

fn allocator() -> Object {
    use ::intid_allocator::UniqueIdAllocatorAtomic;
    Object::describe("intid_allocator::UniqueIdAllocatorAtomic", UniqueIdAllocatorAtomic::<u32>::new)
        .core("try_alloc", |numbers, ()| numbers.try_alloc().ok().map(i64::from))
        .method("approx_max_used_id", |numbers, ()| numbers.approx_max_used_id().map(i64::from))
        .method("reset", |numbers, ()| numbers.reset())
        .build()
}
