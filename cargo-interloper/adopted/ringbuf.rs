//! Check-then-act on the wrong side: the consumer expects two values after it has seen one.
//!
//! ```toml
//! ringbuf = "0.4"
//! [package.metadata.interloper]
//! instrument = ["ringbuf"]
//! ```

use std::thread;

use ringbuf::HeapRb;
use ringbuf::traits::{Consumer, Observer, Producer, Split};

fn two(seen: usize) {
    let (mut producer, mut consumer) = HeapRb::<u32>::new(2).split();
    let other = thread::spawn(move || (1..=2).for_each(|number| producer.try_push(number).unwrap()));
    if consumer.occupied_len() >= seen {
        assert_eq!([consumer.try_pop(), consumer.try_pop()], [Some(1), Some(2)]);
    }
    other.join().unwrap();
}

pub fn planted() {
    two(1);
}

pub fn correct() {
    two(2);
}
