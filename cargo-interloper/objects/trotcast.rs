//! A channel that gives each value to all receivers.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![channel()]
}

fn channel() -> Object {
    use ::trotcast::Channel;
    use std::sync::Mutex;
    // Room for one. There is a receiver from the beginning; others come and go.
    Object::describe("trotcast::Channel", || {
        let channel = Channel::<i64>::new(1);
        let receiver = Mutex::new(channel.spawn_rx());
        (channel, receiver)
    })
    .core("send", |(channel, _), (value,): (i64,)| channel.send(value).is_ok())
    .core("try_recv", |(_, receiver), ()| receiver.lock().unwrap().try_recv().ok())
    .method("spawn_rx", |(channel, _), ()| drop(channel.spawn_rx()))
    .method("closed", |(channel, _), ()| channel.closed())
    .build()
}
