//! A lost update in a server: two connections count their requests in two steps.
//!
//! ```toml
//! http-body-util = "0.1"
//! hyper = { version = "1", features = ["client", "http1", "server"] }
//! hyper-util = { version = "0.1", features = ["tokio"] }
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! [package.metadata.interloper]
//! instrument = ["hyper", "hyper-util", "tokio"]
//! ```

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, client, server};
use hyper_util::rt::TokioIo;
use tokio::runtime::Builder;

async fn counts(number: Arc<AtomicU32>, at_once: bool) -> Result<Response<Empty<Bytes>>, Infallible> {
    if at_once {
        number.fetch_add(1, SeqCst);
    } else {
        let read = number.load(SeqCst);
        tokio::task::yield_now().await;
        number.store(read + 1, SeqCst);
    }
    Ok(Response::new(Empty::new()))
}

/// A connection with one request.
async fn asks(number: Arc<AtomicU32>, at_once: bool) {
    let (own, other) = tokio::io::duplex(1024);
    let service = service_fn(move |_: Request<Incoming>| counts(Arc::clone(&number), at_once));
    let serves = tokio::spawn(server::conn::http1::Builder::new().serve_connection(TokioIo::new(other), service));
    let (mut sender, connection) = client::conn::http1::handshake(TokioIo::new(own)).await.unwrap();
    let drives = tokio::spawn(connection);
    let response = sender.send_request(Request::new(Empty::<Bytes>::new())).await.unwrap();
    assert!(response.status().is_success());
    drop((response, sender));
    drives.await.unwrap().unwrap();
    serves.await.unwrap().unwrap();
}

fn two_requests(at_once: bool) {
    Builder::new_current_thread().build().unwrap().block_on(async {
        let number = Arc::new(AtomicU32::new(0));
        tokio::join!(asks(Arc::clone(&number), at_once), asks(Arc::clone(&number), at_once));
        assert_eq!(number.load(SeqCst), 2);
    });
}

pub fn planted() {
    two_requests(false);
}

pub fn correct() {
    two_requests(true);
}
