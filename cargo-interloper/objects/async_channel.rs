//! A channel with a bound.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![async_channel()]
}

fn async_channel() -> Object {
    Object::describe("async_channel::bounded", || ::async_channel::bounded::<i64>(2))
        .core("try_send", |(sender, _), (value,): (i64,)| sender.try_send(value).is_ok())
        .core("try_recv", |(_, receiver), ()| receiver.try_recv().ok())
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .method("is_full", |(sender, _), ()| sender.is_full())
        .method("close", |(sender, _), ()| sender.close())
        .build()
}
