//! A lost update by the trait of shared values: a value is read and written in two steps.
//!
//! ```toml
//! radium = "1"
//! [package.metadata.interloper]
//! instrument = ["radium"]
//! ```

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use radium::Radium;

fn two(add: fn(&AtomicU32)) {
    let number = <AtomicU32 as Radium>::new(0);
    thread::scope(|scope| {
        scope.spawn(|| add(&number));
        add(&number);
    });
    assert_eq!(Radium::into_inner(number), 2);
}

pub fn planted() {
    two(|number| Radium::store(number, Radium::load(number, SeqCst) + 1, SeqCst));
}

pub fn correct() {
    two(|number| _ = Radium::fetch_add(number, 1, SeqCst));
}
