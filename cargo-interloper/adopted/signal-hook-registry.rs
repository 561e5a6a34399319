//! Check-then-act: two threads see that an action is registered, and both expect to be the one that removes it.
//!
//! ```toml
//! libc = "0.2"
//! signal-hook-registry = "1"
//! [package.metadata.interloper]
//! instrument = ["signal-hook-registry"]
//! ```

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;

use signal_hook_registry::{register, unregister};

fn two(at_once: bool) {
    // SAFETY: the action does nothing.
    let id = unsafe { register(libc::SIGUSR1, || ()) }.unwrap();
    let (registered, removed) = (AtomicBool::new(true), AtomicU32::new(0));
    let stop = || {
        let ours = if at_once { registered.swap(false, SeqCst) } else { registered.load(SeqCst) };
        if ours {
            assert!(unregister(id), "it is registered");
            registered.store(false, SeqCst);
            removed.fetch_add(1, SeqCst);
        }
    };
    thread::scope(|scope| {
        scope.spawn(stop);
        stop();
    });
    assert_eq!(removed.into_inner(), 1);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
