//! A channel with a bound.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![flume()]
}

fn flume() -> Object {
    Object::describe("flume::bounded", || flume::bounded::<i64>(2))
        .core("try_send", |(sender, _), (value,): (i64,)| sender.try_send(value).is_ok())
        .core("try_recv", |(_, receiver), ()| receiver.try_recv().ok())
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .method("drain", |(_, receiver), ()| receiver.drain().collect::<Vec<i64>>())
        .build()
}
