//! Deadlocks and lost wake-ups, each with a twin that comes to its end.

mod shared;

use std::sync::Arc;

use interloper_parking_lot::{Condvar, Mutex};
use interloper_std::thread;

use shared::check;

#[test]
fn one_notification_for_two_waiters() {
    check(|one| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let children = [(); 2].map(|()| {
            let pair = Arc::clone(&pair);
            thread::spawn(move || pair.1.wait_while(&mut pair.0.lock(), |ready| !*ready))
        });
        *pair.0.lock() = true;
        if one {
            pair.1.notify_one();
        } else {
            pair.1.notify_all();
        }
        children.into_iter().for_each(|child| child.join().unwrap());
    });
}
