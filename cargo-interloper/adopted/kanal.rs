//! An order of messages that nobody promises: two threads send to one channel without room.
//!
//! ```toml
//! kanal = "0.1"
//! [package.metadata.interloper]
//! instrument = ["kanal"]
//! ```

use std::thread;

fn two(check: fn(Vec<u32>)) {
    let (sender, receiver) = kanal::bounded(0);
    let both = [1, 2].map(|number| {
        let sender = sender.clone();
        thread::spawn(move || sender.send(number).unwrap())
    });
    drop(sender);
    check(receiver.collect());
    both.into_iter().for_each(|thread| thread.join().unwrap());
}

pub fn planted() {
    two(|got| assert_eq!(got, [1, 2]));
}

pub fn correct() {
    two(|mut got| {
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}
