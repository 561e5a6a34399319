//! A semaphore.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![semaphore()]
}

fn semaphore() -> Object {
    use maitake_sync::Semaphore;
    Object::describe("maitake_sync::Semaphore", || Semaphore::new(1))
        .core("try_acquire", |permits, ()| permits.try_acquire(1).map(|one| one.forget()).is_ok())
        .core("add_permits", |permits, ()| permits.add_permits(1))
        .method("available_permits", |permits, ()| permits.available_permits() as i64)
        .build()
}
