//! A slab with a shard for each thread.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![sharded_slab()]
}

fn sharded_slab() -> Object {
    use sharded_slab::Slab;
    // Keys depend on the thread that inserts, so the calls are about two values that are there from the beginning.
    Object::describe("sharded_slab::Slab", || {
        let slab = Slab::<i64>::new();
        let keys = [0, 1].map(|value| slab.insert(value).expect("there is room"));
        (slab, keys)
    })
    .core("get", |(slab, keys), (index,): (i64,)| slab.get(keys[index as usize % 2]).map(|found| *found))
    .reads()
    .core("take", |(slab, keys), (index,): (i64,)| slab.take(keys[index as usize % 2]))
    .method("remove", |(slab, keys), (index,): (i64,)| slab.remove(keys[index as usize % 2]))
    .method("contains", |(slab, keys), (index,): (i64,)| slab.contains(keys[index as usize % 2]))
    .reads()
    .build()
}
