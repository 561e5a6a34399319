//! Check-then-act: two threads see that a bit is free in a map of seats, and both take the seat.
//!
//! ```toml
//! bitvec = "1"
//! [package.metadata.interloper]
//! instrument = ["bitvec"]
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::SeqCst};
use std::thread;

use bitvec::prelude::{BitSlice, Lsb0, bitarr};

type Seats = BitSlice<AtomicU8, Lsb0>;

fn take(seats: &Seats) -> bool {
    let free = !seats[3];
    if free {
        seats.set_aliased(3, true);
    }
    free
}

fn two(at_once: bool) {
    let seats = bitarr![AtomicU8, Lsb0; 0; 8];
    let (seats, taken, turn) = (&*seats, AtomicU32::new(0), Mutex::new(()));
    let visit = || {
        let _turn = at_once.then(|| turn.lock().unwrap());
        taken.fetch_add(take(seats).into(), SeqCst);
    };
    thread::scope(|scope| {
        scope.spawn(visit);
        visit();
    });
    assert_eq!(taken.into_inner(), 1, "one seat");
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
