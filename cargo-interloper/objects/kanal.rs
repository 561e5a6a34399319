//! A channel with a bound.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![kanal()]
}

fn kanal() -> Object {
    Object::describe("kanal::bounded", || ::kanal::bounded::<i64>(2))
        .core("try_send", |(sender, _), (value,): (i64,)| sender.try_send(value) == Ok(true))
        .core("try_recv", |(_, receiver), ()| receiver.try_recv().ok().flatten())
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .build()
}
