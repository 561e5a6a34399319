//! A filter.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![bloom()]
}

fn bloom() -> Object {
    use ::concurrent_bloom::bloom::Bloom;
    // Large enough for two values to share no bit, with few bits for each.
    Object::describe("concurrent_bloom_rs::Bloom", || Bloom::<String>::new(4096, 0.25))
        .core("insert", |filter, (value,): (i64,)| filter.insert(&value.to_string()))
        .core("contains", |filter, (value,): (i64,)| filter.contains(&value.to_string()))
        .method("reset", |filter, ()| filter.reset())
        .method("num_bits_set", |filter, ()| filter.num_bits_set() as i64)
        .build()
}
