//! Identities that are not unique: two requests are numbered by a counter that is read and written in two steps.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! http = "1"
//! tower = { version = "0.5", features = ["limit", "util"] }
//! tower-http = { version = "0.6", features = ["request-id"] }
//! [package.metadata.interloper]
//! instrument = ["tower-http", "tower", "futures"]
//! ```

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use futures::executor::block_on;
use http::{Request, Response};
use tower::{Layer, ServiceExt, service_fn};
use tower_http::request_id::{MakeRequestId, RequestId, SetRequestIdLayer};

#[derive(Clone, Default)]
struct Counts {
    next: Arc<AtomicU32>,
    at_once: bool,
}

impl MakeRequestId for Counts {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        let number = if self.at_once {
            self.next.fetch_add(1, SeqCst)
        } else {
            let read = self.next.load(SeqCst);
            self.next.store(read + 1, SeqCst);
            read
        };
        Some(RequestId::new(number.into()))
    }
}

fn two(at_once: bool) {
    let layer = SetRequestIdLayer::x_request_id(Counts { at_once, ..Counts::default() });
    let service = layer.layer(service_fn(|request: Request<()>| async move {
        Ok::<_, Infallible>(Response::new(request.extensions().get::<RequestId>().unwrap().header_value().clone()))
    }));
    let theirs = service.clone();
    let other = thread::spawn(move || block_on(theirs.oneshot(Request::new(()))).unwrap());
    let ours = block_on(service.oneshot(Request::new(()))).unwrap();
    assert_ne!(ours.body(), other.join().unwrap().body());
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
