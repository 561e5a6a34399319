//! A cell of any type, and a lock in shards.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![atomic_cell(), sharded_lock()]
}

fn atomic_cell() -> Object {
    use crossbeam_utils::atomic::AtomicCell;
    // Two words: no atomic of the machine holds them.
    Object::describe("crossbeam_utils::atomic::AtomicCell", || AtomicCell::new([0_i64; 2]))
        .core("store", |cell, (value,): (i64,)| cell.store([value; 2]))
        .core("load", |cell, ()| cell.load().to_vec())
        .method("swap", |cell, (value,): (i64,)| cell.swap([value; 2]).to_vec())
        .method("compare_exchange", |cell, (value,): (i64,)| cell.compare_exchange([0; 2], [value; 2]).is_ok())
        .build()
}

fn sharded_lock() -> Object {
    use crossbeam_utils::sync::ShardedLock;
    Object::describe("crossbeam_utils::sync::ShardedLock", || ShardedLock::new(0_i64))
        .method("add", |lock, (value,): (i64,)| {
            let mut guard = lock.write().expect("no panic");
            *guard += value;
            *guard
        })
        .method("read", |lock, ()| *lock.read().expect("no panic"))
        .build()
}
