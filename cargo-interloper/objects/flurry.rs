//! A map after that of Java.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![flurry()]
}

fn flurry() -> Object {
    use ::flurry::HashMap;
    Object::describe("flurry::HashMap", HashMap::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| map.pin().insert(key, value).copied())
        .core("get", |map, (key,): (i64,)| map.pin().get(&key).copied())
        .core("remove", |map, (key,): (i64,)| map.pin().remove(&key).copied())
        .method("contains_key", |map, (key,): (i64,)| map.pin().contains_key(&key))
        .method("len", |map, ()| map.pin().len() as i64)
        .method("clear", |map, ()| map.pin().clear())
        .build()
}
