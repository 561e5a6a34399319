//! An interner.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![interner()]
}

fn interner() -> Object {
    use ::str_intern::sync::Interner;
    Object::describe("str_intern::sync::Interner", Interner::new)
        .core("intern", |interner, (value,): (i64,)| interner.intern(value.to_string()).parse::<i64>().ok())
        .core("contains", |interner, (value,): (i64,)| interner.contains(value.to_string()))
        .method("get", |interner, (value,): (i64,)| interner.get(value.to_string()).is_some())
        .method("clear", |interner, ()| interner.clear())
        .build()
}
