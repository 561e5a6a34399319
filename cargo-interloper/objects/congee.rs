//! A radix tree whose readers take no lock.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![tree()]
}

fn tree() -> Object {
    use ::congee::Congee;
    Object::describe("congee::Congee", Congee::<usize, usize>::default)
        .core("insert", |map, (key, value): (i64, i64)| {
            let old = map.insert(key as usize, value as usize, &map.pin()).expect("there is memory");
            old.map(|old| old as i64)
        })
        .core("get", |map, (key,): (i64,)| map.get(&(key as usize), &map.pin()).map(|found| found as i64))
        .core("remove", |map, (key,): (i64,)| map.remove(&(key as usize), &map.pin()).map(|old| old as i64))
        .method("compute_or_insert", |map, (key, value): (i64, i64)| {
            let set = |old: Option<usize>| old.map_or(value as usize, |old| old + 1);
            let old = map.compute_or_insert(key as usize, set, &map.pin()).expect("there is memory");
            old.map(|old| old as i64)
        })
        .method("compare_exchange", |map, (key, value): (i64, i64)| {
            map.compare_exchange(&(key as usize), &0, Some(value as usize), &map.pin()).is_ok()
        })
        .method("is_empty", |map, ()| map.is_empty(&map.pin()))
        .method("keys", |map, ()| map.keys().into_iter().map(|key| key as i64).collect::<Vec<i64>>())
        .build()
}
