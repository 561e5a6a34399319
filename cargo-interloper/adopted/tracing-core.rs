//! Check-then-act: two threads see that no dispatcher is set, and both expect to set it.
//!
//! ```toml
//! tracing-core = "0.1"
//! [package.metadata.interloper]
//! instrument = ["tracing-core"]
//! ```

use std::thread;

use tracing_core::dispatcher::{Dispatch, has_been_set, set_global_default};
use tracing_core::subscriber::NoSubscriber;

fn two(start: fn(Dispatch)) {
    let start = move || start(Dispatch::new(NoSubscriber::new()));
    let other = thread::spawn(start);
    start();
    other.join().unwrap();
    assert!(has_been_set());
}

pub fn planted() {
    two(|own| {
        if !has_been_set() {
            set_global_default(own).expect("nobody has set one");
        }
    });
}

pub fn correct() {
    // An error says that somebody else was first.
    two(|own| _ = set_global_default(own));
}
