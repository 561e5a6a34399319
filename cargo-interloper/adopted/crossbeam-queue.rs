//! Check-then-act: a queue with one free place is not full, and two threads push.
//!
//! ```toml
//! crossbeam-queue = "0.3"
//! [package.metadata.interloper]
//! instrument = ["crossbeam-queue"]
//! ```

use std::thread;

use crossbeam_queue::ArrayQueue;

fn two(push: fn(&ArrayQueue<u32>, u32) -> bool) {
    let queue = ArrayQueue::new(1);
    let pushed = thread::scope(|scope| {
        let other = scope.spawn(|| push(&queue, 1));
        [push(&queue, 2), other.join().unwrap()]
    });
    assert_eq!(pushed.iter().filter(|one| **one).count(), queue.len());
}

pub fn planted() {
    two(|queue, value| {
        let free = !queue.is_full();
        if free {
            queue.push(value).expect("it was not full");
        }
        free
    });
}

pub fn correct() {
    two(|queue, value| queue.push(value).is_ok());
}
