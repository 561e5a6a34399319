//! A value from a pool that is believed to be the one that was put there: another thread had it in between.
//!
//! ```toml
//! regex-automata = "0.4"
//! [package.metadata.interloper]
//! instrument = ["regex-automata"]
//! ```

use std::thread;

use regex_automata::util::pool::Pool;

fn two(keeps: bool) {
    let pool = Pool::with_capacity(1, || 0);
    // The first thread that asks has a place of its own.
    let _first = pool.get();
    let twice = |own| {
        let mut value = pool.get();
        *value = own;
        if !keeps {
            drop(value);
            value = pool.get();
        }
        assert_eq!(*value, own);
    };
    thread::scope(|scope| {
        scope.spawn(|| twice(1));
        scope.spawn(|| twice(2));
    });
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
