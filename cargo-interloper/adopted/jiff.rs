//! Names that are not unique: two threads take the time as a name.
//!
//! ```toml
//! jiff = "0.2"
//! [package.metadata.interloper]
//! instrument = ["jiff"]
//! ```

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use jiff::Timestamp;

static NUMBER: AtomicU32 = AtomicU32::new(0);

fn two(counts: bool) {
    let name = || {
        let number = if counts { NUMBER.fetch_add(1, SeqCst) } else { 0 };
        let time = Timestamp::now().in_tz("Europe/Berlin").unwrap();
        (time.timestamp(), number)
    };
    let (ours, theirs) = thread::scope(|scope| {
        let other = scope.spawn(name);
        (name(), other.join().unwrap())
    });
    assert_ne!(ours, theirs);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
