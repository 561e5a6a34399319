//! A semaphore.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![semaphore()]
}

fn semaphore() -> Object {
    use simple_semaphore::Semaphore;
    Object::describe("simple_semaphore::Semaphore", || Semaphore::new(1))
        .core("try_acquire", |permits, ()| permits.try_acquire().map(std::mem::forget).is_some())
        .core("release", |permits, ()| permits.release())
        .method("available_permits", |permits, ()| {
            #[allow(deprecated)]
            let available = permits.available_permits();
            available as i64
        })
        .build()
}
