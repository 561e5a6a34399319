//! A lock whose readers look again.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![seq_lock()]
}

fn seq_lock() -> Object {
    use ::seql::MutexSeqLock;
    Object::describe("seql::MutexSeqLock", || MutexSeqLock::new([0_i64; 2]))
        .core("write", |lock, (value,): (i64,)| lock.write([value; 2]))
        .core("read", |lock, ()| lock.read().to_vec())
        .method("write_version", |lock, (value,): (i64,)| lock.write_version([value; 2]) as i64)
        .method("read_version", |lock, ()| {
            let (version, value) = lock.read_version();
            [&[version as i64], &value[..]].concat()
        })
        .build()
}
