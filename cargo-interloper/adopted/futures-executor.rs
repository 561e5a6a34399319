//! A pool that is believed to be done: it is stalled, since another thread has not answered yet.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! futures-executor = "0.3"
//! [package.metadata.interloper]
//! instrument = ["futures-executor", "futures"]
//! ```

use std::cell::Cell;
use std::rc::Rc;
use std::thread;

use futures::channel::oneshot;
use futures::task::LocalSpawnExt;
use futures_executor::LocalPool;

fn answered(waits: bool) {
    let (mut pool, answer) = (LocalPool::new(), Rc::new(Cell::new(0)));
    let (send, receive) = oneshot::channel();
    let other = thread::spawn(move || _ = send.send(7));
    let own = Rc::clone(&answer);
    pool.spawner().spawn_local(async move { own.set(receive.await.unwrap()) }).unwrap();
    if waits {
        pool.run();
    } else {
        pool.run_until_stalled();
    }
    assert_eq!(answer.get(), 7);
    other.join().unwrap();
}

pub fn planted() {
    answered(false);
}

pub fn correct() {
    answered(true);
}
