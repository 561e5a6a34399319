//! A sum of products in one matrix: two threads add to it at once.
//!
//! ```toml
//! matrixmultiply = "0.3"
//! [package.metadata.interloper]
//! instrument = ["matrixmultiply"]
//! ```

use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::thread;

struct Sum(UnsafeCell<[f32; 4]>);

// SAFETY: the correct program changes the value under a lock only. The planted one does not, which is its bug.
unsafe impl Sync for Sum {}

fn add(sum: &Sum) {
    let (one, two) = ([1.0, 0.0, 0.0, 1.0_f32], [2.0_f32; 4]);
    // SAFETY: the matrices have two rows and two columns each.
    unsafe {
        matrixmultiply::sgemm(2, 2, 2, 1.0, one.as_ptr(), 2, 1, two.as_ptr(), 2, 1, 1.0, sum.0.get().cast(), 2, 1)
    };
}

fn two(locks: bool) {
    let (sum, lock) = (Sum(UnsafeCell::new([0.0; 4])), Mutex::new(()));
    let adds = || {
        let _lock = locks.then(|| lock.lock().unwrap());
        add(&sum);
    };
    thread::scope(|scope| {
        scope.spawn(adds);
        adds();
    });
    assert_eq!(sum.0.into_inner(), [4.0; 4]);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
