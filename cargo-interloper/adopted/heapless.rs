//! An order of messages that nobody promises: who has put a value into a queue expects to take it out again.
//!
//! ```toml
//! heapless = "0.9"
//! [package.metadata.interloper]
//! instrument = ["heapless"]
//! ```

use std::thread;

use heapless::mpmc::Queue;

fn two(takes_own: bool) {
    #[allow(deprecated, reason = "the version of the table deprecates the queue, and it is what programs have")]
    let queue = Queue::<u32, 4>::new();
    let put = |own| {
        queue.enqueue(own).unwrap();
        if takes_own {
            assert_eq!(queue.dequeue(), Some(own));
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| put(1));
        put(2);
    });
    let rest: u32 = std::iter::from_fn(|| queue.dequeue()).sum();
    assert!(takes_own || rest == 3, "{rest}");
}

pub fn planted() {
    two(true);
}

pub fn correct() {
    two(false);
}
