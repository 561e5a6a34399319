//! A filter.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![filter()]
}

fn filter() -> Object {
    use ::quickbloom::AtomicBloomFilter;
    // Large enough for two values to share no bit.
    Object::describe("quickbloom::AtomicBloomFilter", || AtomicBloomFilter::new(64, 2))
        .core("insert", |filter, (value,): (i64,)| filter.insert(&value))
        .core("contains", |filter, (value,): (i64,)| filter.contains(&value))
        .method("fill_ratio", |filter, ()| (filter.fill_ratio() * 64.0) as i64)
        .build()
}
