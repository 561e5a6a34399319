//! Check-then-act on the wrong side: the consumer expects two values after it has seen one.
//!
//! ```toml
//! rtrb = "0.3"
//! [package.metadata.interloper]
//! instrument = ["rtrb"]
//! ```

use std::thread;

use rtrb::{Consumer, RingBuffer};

fn two(take: fn(&mut Consumer<u32>) -> Option<[u32; 2]>) {
    let (mut producer, mut consumer) = RingBuffer::new(2);
    let other = thread::spawn(move || (1..=2).for_each(|number| producer.push(number).unwrap()));
    if let Some(pair) = take(&mut consumer) {
        assert_eq!(pair, [1, 2]);
    }
    other.join().unwrap();
}

pub fn planted() {
    two(|consumer| (!consumer.is_empty()).then(|| [(); 2].map(|()| consumer.pop().expect("both are there"))));
}

pub fn correct() {
    two(|consumer| (consumer.slots() == 2).then(|| [(); 2].map(|()| consumer.pop().expect("both are there"))));
}
