//! A limiter of a rate.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![limiter()]
}

fn limiter() -> Object {
    use ::ratelimit::Ratelimiter;
    // The clock stands still, so nothing is refilled.
    Object::describe("ratelimit::Ratelimiter", || {
        Ratelimiter::builder(1).max_tokens(2).initial_available(2).build().expect("a limiter")
    })
    .core("try_wait", |limiter, ()| limiter.try_wait().is_ok())
    .core("available", |limiter, ()| limiter.available() as i64)
    .method("try_wait_n", |limiter, (number,): (i64,)| limiter.try_wait_n(number as u64 + 1).is_ok())
    .method("set_max_tokens", |limiter, (number,): (i64,)| limiter.set_max_tokens(number as u64))
    .method("set_rate", |limiter, (rate,): (i64,)| limiter.set_rate(rate as u64))
    .method("max_tokens", |limiter, ()| limiter.max_tokens() as i64)
    .build()
}
