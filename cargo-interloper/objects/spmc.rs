//! A channel for one sender.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![channel()]
}

fn channel() -> Object {
    use std::sync::Mutex;
    Object::describe("spmc::channel", || {
        let (sender, receiver) = ::spmc::channel::<i64>();
        (Mutex::new(sender), receiver)
    })
    .core("send", |(sender, _), (value,): (i64,)| sender.lock().unwrap().send(value).is_ok())
    .core("try_recv", |(_, receiver), ()| receiver.try_recv().ok())
    .build()
}
