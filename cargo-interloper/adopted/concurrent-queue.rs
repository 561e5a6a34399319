//! Check-then-act: two threads see one value in a queue, and both expect to pop it.
//!
//! ```toml
//! concurrent-queue = "2"
//! [package.metadata.interloper]
//! instrument = ["concurrent-queue"]
//! ```

use std::thread;

use concurrent_queue::ConcurrentQueue;

fn two(take: fn(&ConcurrentQueue<u32>) -> Option<u32>) {
    let queue = ConcurrentQueue::bounded(2);
    queue.push(7).unwrap();
    let taken = thread::scope(|scope| {
        let other = scope.spawn(|| take(&queue));
        [take(&queue), other.join().unwrap()]
    });
    assert_eq!(taken[0].xor(taken[1]), Some(7));
}

pub fn planted() {
    two(|queue| (!queue.is_empty()).then(|| queue.pop().expect("it is there")));
}

pub fn correct() {
    two(|queue| queue.pop().ok());
}
