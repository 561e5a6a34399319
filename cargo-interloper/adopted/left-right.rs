//! A value that is read before it is published.
//!
//! ```toml
//! left-right = "0.11"
//! [package.metadata.interloper]
//! instrument = ["left-right"]
//! ```

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use left_right::{Absorb, ReadHandle, WriteHandle};

struct Add(u32);

impl Absorb<Add> for u32 {
    fn absorb_first(&mut self, operation: &mut Add, _: &Self) {
        *self += operation.0;
    }
    fn sync_with(&mut self, first: &Self) {
        *self = *first;
    }
}

fn two(write: fn(&mut WriteHandle<u32, Add>, &AtomicBool)) {
    let (mut writer, reader): (WriteHandle<u32, Add>, ReadHandle<u32>) = left_right::new();
    let ready = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| write(&mut writer, &ready));
        if ready.load(SeqCst) {
            assert_eq!(*reader.enter().expect("the writer is there"), 2);
        }
    });
}

pub fn planted() {
    two(|writer, ready| {
        writer.append(Add(2));
        ready.store(true, SeqCst);
        writer.publish();
    });
}

pub fn correct() {
    two(|writer, ready| {
        writer.append(Add(2));
        writer.publish();
        ready.store(true, SeqCst);
    });
}
