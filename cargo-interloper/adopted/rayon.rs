//! A lost update in a parallel iterator.
//!
//! ```toml
//! rayon = "1"
//! [package.metadata.interloper]
//! instrument = ["rayon"]
//! ```

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use rayon::prelude::*;

fn sum(add: fn(&AtomicU32, u32)) {
    let total = AtomicU32::new(0);
    (1..=3_u32).into_par_iter().for_each(|number| add(&total, number));
    assert_eq!(total.into_inner(), 6);
}

pub fn planted() {
    sum(|total, number| total.store(total.load(SeqCst) + number, SeqCst));
}

pub fn correct() {
    sum(|total, number| _ = total.fetch_add(number, SeqCst));
}
