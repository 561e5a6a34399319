//! Channels with and without a bound.

use interloper::objects::{Description, Object};

use flume::{Receiver, Sender};

/// All of them.
pub fn all() -> Vec<Object> {
    vec![bounded(), unbounded()]
}

fn bounded() -> Object {
    with_methods(Object::describe("flume::bounded", || flume::bounded(2)))
        .method("is_full", |(sender, _), ()| sender.is_full())
        .reads()
        .build()
}

fn unbounded() -> Object {
    with_methods(Object::describe("flume::unbounded", flume::unbounded)).build()
}

type Channel = (Sender<i64>, Receiver<i64>);

/// The methods that both have.
fn with_methods(described: Description<Channel>) -> Description<Channel> {
    described
        .core("try_send", |(sender, _), (value,): (i64,)| sender.try_send(value).is_ok())
        .core("try_recv", |(_, receiver), ()| receiver.try_recv().ok())
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .reads()
        .method("is_empty", |(_, receiver), ()| receiver.is_empty())
        .reads()
        .method("drain", |(_, receiver), ()| receiver.drain().collect::<Vec<i64>>())
        .method("try_iter", |(_, receiver), ()| receiver.try_iter().collect::<Vec<i64>>())
}
