//! A hash table without locks.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![cht()]
}

fn cht() -> Object {
    Object::describe("cht::HashMap", ::cht::HashMap::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| map.insert(key, value))
        .core("get", |map, (key,): (i64,)| map.get(&key))
        .core("remove", |map, (key,): (i64,)| map.remove(&key))
        .method("len", |map, ()| map.len() as i64)
        .build()
}
