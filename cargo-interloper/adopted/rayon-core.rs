//! Jobs that block their workers: each waits for a job that no worker is left to run.
//!
//! ```toml
//! rayon-core = "1"
//! [package.metadata.interloper]
//! instrument = ["rayon-core"]
//! ```

use std::sync::mpsc::channel;

use rayon_core::ThreadPoolBuilder;

/// A job with a part that another worker is to run.
fn with_part(blocks: bool) {
    if blocks {
        let (send, receive) = channel();
        rayon_core::spawn(move || send.send(7).unwrap());
        assert_eq!(receive.recv(), Ok(7));
    } else {
        assert_eq!(rayon_core::join(|| 7, || 7), (7, 7));
    }
}

fn two(blocks: bool) {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.scope(|scope| {
        scope.spawn(move |_| with_part(blocks));
        scope.spawn(move |_| with_part(blocks));
    });
}

pub fn planted() {
    two(true);
}

pub fn correct() {
    two(false);
}
