//! Queues in rings.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![ncq(), scq()]
}

fn ncq() -> Object {
    use ::nolock::queues::mpmc::bounded::ncq;
    Object::describe("nolock::queues::mpmc::bounded::ncq", || ncq::queue::<i64>(2))
        .method("try_enqueue", |(_, sender), (value,): (i64,)| sender.try_enqueue(value).is_ok())
        .method("try_dequeue", |(receiver, _), ()| receiver.try_dequeue().ok())
        .build()
}

fn scq() -> Object {
    use ::nolock::queues::mpmc::bounded::scq;
    Object::describe("nolock::queues::mpmc::bounded::scq", || scq::queue::<i64>(2))
        .method("try_enqueue", |(_, sender), (value,): (i64,)| sender.try_enqueue(value).is_ok())
        .method("try_dequeue", |(receiver, _), ()| receiver.try_dequeue().ok())
        .build()
}
