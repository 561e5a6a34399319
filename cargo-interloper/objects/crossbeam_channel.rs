//! A channel with a bound.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![channel()]
}

fn channel() -> Object {
    use crossbeam_channel::bounded;
    Object::describe("crossbeam_channel::bounded", || bounded::<i64>(2))
        .core("try_send", |(sender, _), (value,): (i64,)| sender.try_send(value).is_ok())
        .core("try_recv", |(_, receiver), ()| receiver.try_recv().ok())
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .method("is_full", |(sender, _), ()| sender.is_full())
        .build()
}
