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
    use std::sync::Mutex;
    // What gives a value back is the drop of its guard, so two guards are there from the beginning.
    Object::describe("opool::Pool", || {
        let pool = Pool::<Values, i64>::new(2, Values).to_rc();
        let guards = [0, 1].map(|value| {
            let mut guard = pool.clone().get_rc();
            *guard = value;
            Mutex::new(Some(guard))
        });
        (pool, guards)
    })
    .core("give_back", |(_, guards), (index,): (i64,)| {
        // Under the lock, so that a second call for the guard comes after the first.
        let mut slot = guards[index as usize % 2].lock().expect("no panic");
        let guard = slot.take();
        guard.map(drop).is_some()
    })
    .core("try_get", |(pool, _), ()| pool.try_get().map(|one| one.into_inner()))
    .method("get", |(pool, _), ()| pool.get().into_inner())
    .method("len", |(pool, _), ()| pool.len() as i64)
    .build()
}
