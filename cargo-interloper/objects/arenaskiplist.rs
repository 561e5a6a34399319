//! A skip list in an arena.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![list()]
}

fn list() -> Object {
    use ::arenaskiplist::{Arena, SkipList};
    Object::describe("arenaskiplist::SkipList", || SkipList::new(Arena::with_capacity(16 * 1024)))
        .core("insert", |list, (key, value): (i64, i64)| list.insert(&key.to_le_bytes(), &value.to_le_bytes()).is_ok())
        .core("get_value", |list, (key,): (i64,)| {
            let found = list.get_value(&key.to_le_bytes())?;
            found.try_into().ok().map(i64::from_le_bytes)
        })
        .method("contains_key", |list, (key,): (i64,)| list.contains_key(&key.to_le_bytes()))
        .method("len", |list, ()| list.len() as i64)
        .method("is_empty", |list, ()| list.is_empty())
        .build()
}
