//! Stores that the compiler gives no line.

use std::sync::Once;

use super::*;

/// The compiler gives the stores that fill an array no line, and a closure is inlined into code of std or of the mirror: the stores are
/// those of the program nevertheless.
#[test]
fn a_fill_of_an_array_needs_an_order() {
    struct Row(UnsafeCell<[u64; 2]>);
    // SAFETY: what the program leaves out is what this test is about.
    unsafe impl Sync for Row {}
    impl Row {
        fn fill(&self, value: u64) {
            // SAFETY: nobody else uses it, or that is the bug.
            unsafe { *self.0.get() = [value; 2] };
        }
    }
    fn program(under_the_lock: bool, fill: fn(Arc<(Row, Mutex<()>)>, bool)) {
        let both = Arc::new((Row(UnsafeCell::new([0; 2])), Mutex::new(())));
        let other = thread::spawn({
            let both = both.clone();
            move || fill(both, under_the_lock)
        });
        let held = under_the_lock.then(|| both.1.lock().unwrap());
        // SAFETY: as above.
        let row = unsafe { *both.0.0.get() };
        drop(held);
        other.join().unwrap();
        assert!(row[0] <= 1);
    }
    let by_spawn: fn(_, _) = |both: Arc<(Row, Mutex<()>)>, locks: bool| {
        let inner = thread::spawn(move || {
            let held = locks.then(|| both.1.lock().unwrap());
            both.0.fill(1);
            drop(held);
        });
        inner.join().unwrap();
    };
    let by_scope: fn(_, _) = |both: Arc<(Row, Mutex<()>)>, locks: bool| {
        thread::scope(|scope| {
            scope.spawn(|| {
                let held = locks.then(|| both.1.lock().unwrap());
                both.0.fill(1);
                drop(held);
            });
        });
    };
    let by_once: fn(_, _) = |both: Arc<(Row, Mutex<()>)>, locks: bool| {
        Once::new().call_once(|| {
            let held = locks.then(|| both.1.lock().unwrap());
            both.0.fill(1);
            drop(held);
        });
    };
    for fill in [by_spawn, by_scope, by_once] {
        assert_eq!(found(|| program(false, fill)), Some("data-race"));
        is_clean(|| program(true, fill));
    }
}
