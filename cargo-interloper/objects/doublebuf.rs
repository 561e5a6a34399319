//! Two buffers that are swapped.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![double_buf()]
}

fn double_buf() -> Object {
    use ::doublebuf::DoubleBuf;
    use std::sync::Mutex;
    // Each accessor in a lock: one that is active refuses a second access, as documented.
    Object::describe("doublebuf::DoubleBuf", || {
        let buffers: &'static DoubleBuf<i64> = Box::leak(Box::new(DoubleBuf::from_values(0, 0)));
        let (back, front) = buffers.init();
        (Mutex::new(back), Mutex::new(front))
    })
    .method("write", |(back, _), (value,): (i64,)| *back.lock().unwrap().write() = value)
    .method("read", |(_, front), ()| *front.lock().unwrap().read())
    .build()
}
