//! A ring for one writer and several readers.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![ring()]
}

fn ring() -> Object {
    use ::bondi::Bondi;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
    // The writer and the reader are used by one thread at a time. `read` waits for a value, so it is called only once the write of a
    // value has begun. More room than a program needs, since a writer that finds none waits, too.
    Object::describe("bondi::Bondi", || {
        let ring = Bondi::<i64>::new(8);
        let (writer, reader) = (ring.get_tx().expect("the writer"), ring.get_rx().expect("a reader"));
        (Mutex::new(writer), Mutex::new((reader, 0)), AtomicI64::new(0))
    })
    .method("write", |(writer, _, begun), (value,): (i64,)| {
        let writer = writer.lock().unwrap();
        begun.fetch_add(1, SeqCst);
        writer.write(value);
    })
    .method("read", |(_, reader, begun), ()| {
        let mut guard = reader.lock().unwrap();
        let (reader, read) = &mut *guard;
        (*read < begun.load(SeqCst)).then(|| {
            *read += 1;
            reader.read()
        })
    })
    .build()
}
