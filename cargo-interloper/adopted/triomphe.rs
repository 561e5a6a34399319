//! Check-then-act on a count of owners: who was alone is believed to be alone still.
//!
//! ```toml
//! triomphe = "0.1"
//! [package.metadata.interloper]
//! instrument = ["triomphe"]
//! ```

use std::sync::Mutex;
use std::thread;

use triomphe::Arc;

fn two(change: fn(&mut Arc<u32>, &Mutex<Option<Arc<u32>>>)) {
    let shared = Mutex::new(Some(Arc::new(1)));
    thread::scope(|scope| {
        scope.spawn(|| {
            let other = shared.lock().unwrap().clone();
            drop(other);
        });
        let mut own = shared.lock().unwrap().take().expect("it is there");
        change(&mut own, &shared);
        assert_eq!(*own, 2);
    });
}

pub fn planted() {
    two(|own, _| *Arc::get_mut(own).expect("it has one owner") = 2);
}

pub fn correct() {
    two(|own, _| *Arc::make_mut(own) = 2);
}
