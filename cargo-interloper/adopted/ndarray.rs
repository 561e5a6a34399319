//! A write in place that may be a copy: the other owner of an array is believed to be gone.
//!
//! ```toml
//! ndarray = "0.17"
//! [package.metadata.interloper]
//! instrument = ["ndarray"]
//! ```

use std::sync::mpsc::channel;
use std::thread;

use ndarray::ArcArray1;

fn writes(waits: bool) {
    let mut array = ArcArray1::from(vec![1, 2, 3]);
    let (theirs, place) = (array.clone(), array.as_ptr());
    let (send, gone) = channel();
    let other = thread::spawn(move || {
        assert_eq!(theirs.sum(), 6);
        drop(theirs);
        send.send(()).unwrap();
    });
    if waits {
        gone.recv().unwrap();
    }
    array[0] = 7;
    // A message with addresses would be different in each execution.
    assert!(array.as_ptr() == place, "nobody else has it");
    other.join().unwrap();
}

pub fn planted() {
    writes(false);
}

pub fn correct() {
    writes(true);
}
