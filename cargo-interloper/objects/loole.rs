//! A channel with a bound.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![loole()]
}

fn loole() -> Object {
    Object::describe("loole::bounded", || ::loole::bounded::<i64>(2))
        .core("try_send", |(sender, _), (value,): (i64,)| sender.try_send(value).is_ok())
        .core("try_recv", |(_, receiver), ()| receiver.try_recv().ok())
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .reads()
        .method("is_empty", |(_, receiver), ()| receiver.is_empty())
        .reads()
        .method("is_full", |(sender, _), ()| sender.is_full())
        .reads()
        .build()
}
