//! An integration test is a crate of its own, with a line of its own.
#![cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

use std::sync::Arc;
use std::thread;

use tally::Tally;

#[test]
fn an_addition_can_be_lost() {
    let found = outcomes::of(|| {
        let tally = Arc::new(Tally::default());
        let same = tally.clone();
        let other = thread::spawn(move || edition_2018::add(&same));
        edition_2018::add(&tally);
        other.join().unwrap();
        tally.get()
    });
    assert_eq!(found.into_iter().collect::<Vec<u32>>(), [1, 2]);
}
