//! A lost update over a sharded lock: a value is read under one lock and written under the next.
//!
//! ```toml
//! crossbeam = "0.8"
//! [package.metadata.interloper]
//! instrument = ["crossbeam"]
//! ```

use crossbeam::sync::ShardedLock;

fn two(add: fn(&ShardedLock<u32>)) {
    let number = ShardedLock::new(0);
    crossbeam::scope(|scope| {
        scope.spawn(|_| add(&number));
        add(&number);
    })
    .unwrap();
    assert_eq!(*number.read().unwrap(), 2);
}

pub fn planted() {
    two(|number| {
        let read = *number.read().unwrap();
        *number.write().unwrap() = read + 1;
    });
}

pub fn correct() {
    two(|number| *number.write().unwrap() += 1);
}
