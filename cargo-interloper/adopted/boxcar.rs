//! A vector that grows while it is counted: who has pushed expects its own index to be the last.
//!
//! ```toml
//! boxcar = "0.2"
//! [package.metadata.interloper]
//! instrument = ["boxcar"]
//! ```

use std::thread;

use boxcar::Vec;

fn two(push: fn(&Vec<u32>, u32) -> usize) {
    let values = Vec::new();
    let places = thread::scope(|scope| {
        let other = scope.spawn(|| push(&values, 1));
        [push(&values, 2), other.join().unwrap()]
    });
    assert_eq!([values[places[0]], values[places[1]]], [2, 1]);
}

pub fn planted() {
    two(|values, value| {
        values.push(value);
        values.count() - 1
    });
}

pub fn correct() {
    two(|values, value| values.push(value));
}
