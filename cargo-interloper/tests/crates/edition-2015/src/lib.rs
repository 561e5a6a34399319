//! Of the year 2015: paths begin at the root of the crate, where the compiler has declared `std` already. This
//! crate has no line of its own, and stands in the list of those to put under control.

extern crate crossbeam_utils;
#[macro_use]
extern crate lazy_static;
#[cfg(all(test, interloper))]
extern crate outcomes;

use crossbeam_utils::atomic::AtomicCell;
use std::sync::atomic::{AtomicUsize, Ordering};

lazy_static! {
    static ref TOTAL: AtomicUsize = AtomicUsize::new(0);
}

/// Counts, but not atomically.
pub fn add() -> usize {
    let seen = TOTAL.load(Ordering::SeqCst);
    TOTAL.store(seen + 1, Ordering::SeqCst);
    ::std::thread::yield_now();
    TOTAL.load(Ordering::SeqCst)
}

/// Counts in a cell, but not atomically.
pub fn add_to(cell: &AtomicCell<usize>) {
    let seen = cell.load();
    cell.store(seen + 1);
}

#[cfg(all(test, interloper))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    /// A static starts fresh in each execution, and an addition is lost in some.
    #[test]
    fn an_addition_can_be_lost() {
        let found = ::outcomes::of(|| {
            let other = thread::spawn(add);
            add();
            other.join().unwrap();
            TOTAL.load(Ordering::SeqCst)
        });
        assert_eq!(found.into_iter().collect::<Vec<usize>>(), [1, 2]);
    }

    /// The cell is that of crossbeam-utils 0.7, whose steps are seen.
    #[test]
    fn an_addition_to_a_cell_can_be_lost() {
        let found = ::outcomes::of(|| {
            let cell = Arc::new(AtomicCell::new(0));
            let same = cell.clone();
            let other = thread::spawn(move || add_to(&same));
            add_to(&cell);
            other.join().unwrap();
            cell.load()
        });
        assert_eq!(found.into_iter().collect::<Vec<usize>>(), [1, 2]);
    }
}
