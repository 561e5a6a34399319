//! A lock whose readers look again.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![seq_lock()]
}

fn seq_lock() -> Object {
    use ::seqlock::SeqLock;
    Object::describe("seqlock::SeqLock", || SeqLock::new([0_i64; 2]))
        .core("lock_write", |lock, (value,): (i64,)| *lock.lock_write() = [value; 2])
        .core("read", |lock, ()| lock.read().to_vec())
        .method("add", |lock, (value,): (i64,)| {
            let mut guard = lock.lock_write();
            guard.iter_mut().for_each(|one| *one += value);
            guard.to_vec()
        })
        .build()
}
