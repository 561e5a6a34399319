//! A channel with a bound.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![kanal()]
}

fn kanal() -> Object {
    Object::describe("kanal::bounded", || ::kanal::bounded::<i64>(2))
        .core("try_send", |(sender, _), (value,): (i64,)| match sender.try_send(value) {
            Ok(true) => "sent",
            Ok(false) => "full",
            Err(_) => "closed",
        })
        .core("try_recv", |(_, receiver), ()| receiver.try_recv().map_err(|_| "closed"))
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .reads()
        .method("is_empty", |(_, receiver), ()| receiver.is_empty())
        .reads()
        .method("is_full", |(sender, _), ()| sender.is_full())
        .reads()
        .method("drain_into", |(_, receiver), ()| {
            let mut all = Vec::new();
            receiver.drain_into(&mut all).map(|_| all).map_err(|_| "closed")
        })
        .method("close", |(sender, _), ()| sender.close().is_ok())
        .method("is_closed", |(sender, _), ()| sender.is_closed())
        .reads()
        .build()
}
