//! Check-then-act: a service with one place says to two callers that it is ready, and both call.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! tower-service = "0.3"
//! [package.metadata.interloper]
//! instrument = ["tower-service", "futures"]
//! ```

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::thread;

use futures::executor::block_on;
use tower_service::Service;

#[derive(Clone, Default)]
struct Place {
    taken: Arc<AtomicBool>,
    calls: Arc<AtomicU32>,
    reserves: bool,
}

impl Service<()> for Place {
    type Response = ();
    type Error = Infallible;
    type Future = Ready<Result<(), Infallible>>;
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        let taken = if self.reserves { self.taken.swap(true, SeqCst) } else { self.taken.load(SeqCst) };
        if taken { Poll::Pending } else { Poll::Ready(Ok(())) }
    }
    fn call(&mut self, (): ()) -> Self::Future {
        self.taken.store(true, SeqCst);
        self.calls.fetch_add(1, SeqCst);
        ready(Ok(()))
    }
}

fn two(reserves: bool) {
    let place = Place { reserves, ..Place::default() };
    let calls = |mut own: Place| {
        block_on(async {
            if std::future::poll_fn(|context| Poll::Ready(own.poll_ready(context).is_ready())).await {
                own.call(()).await.unwrap();
            }
        });
    };
    let own = place.clone();
    let other = thread::spawn(move || calls(own));
    calls(place.clone());
    other.join().unwrap();
    assert_eq!(place.calls.load(SeqCst), 1);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
