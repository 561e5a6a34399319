//! A limiter of a rate.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![limiter()]
}

fn limiter() -> Object {
    use ::rate_limit::SyncLimiter;
    use std::time::Duration;
    Object::describe("rate_limit::SyncLimiter", || SyncLimiter::new(2, 2, Duration::from_secs(1)))
        .method("consume", |limiter, (tokens,): (i64,)| limiter.consume(tokens as u64 + 1).ok().map(|left| left as i64))
        .method("take", |limiter, ()| limiter.take() as i64)
        .build()
}
