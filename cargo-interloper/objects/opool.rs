//! A pool of values.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![pool()]
}

/// Makes values.
struct Values;

impl ::opool::PoolAllocator<i64> for Values {
    fn allocate(&self) -> i64 {
        7
    }
}

fn pool() -> Object {
    use ::opool::Pool;
    Object::describe("opool::Pool", || Pool::<Values, i64>::new(1, Values))
        .core("try_get", |pool, ()| pool.try_get().map(|one| one.into_inner()))
        .core("give_back", |pool, (value,): (i64,)| *pool.get() = value)
        .method("get", |pool, ()| pool.get().into_inner())
        .method("len", |pool, ()| pool.len() as i64)
        .build()
}
