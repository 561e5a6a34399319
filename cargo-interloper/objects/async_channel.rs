//! A channel with a bound.

use interloper::objects::Object;

use async_channel::{TryRecvError, TrySendError};

/// All of them.
pub fn all() -> Vec<Object> {
    vec![async_channel()]
}

fn async_channel() -> Object {
    Object::describe("async_channel::bounded", || ::async_channel::bounded::<i64>(2))
        .core("try_send", |(sender, _), (value,): (i64,)| match sender.try_send(value) {
            Ok(()) => "sent",
            Err(TrySendError::Full(_)) => "full",
            Err(TrySendError::Closed(_)) => "closed",
        })
        .core("try_recv", |(_, receiver), ()| {
            receiver.try_recv().map_err(|error| match error {
                TryRecvError::Empty => "empty",
                TryRecvError::Closed => "closed",
            })
        })
        .method("force_send", |(sender, _), (value,): (i64,)| sender.force_send(value).map_err(|_| "closed"))
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .reads()
        .method("is_empty", |(_, receiver), ()| receiver.is_empty())
        .reads()
        .method("is_full", |(sender, _), ()| sender.is_full())
        .reads()
        .method("close", |(sender, _), ()| sender.close())
        .method("is_closed", |(sender, _), ()| sender.is_closed())
        .reads()
        .build()
}
