//! A lost update in a server: two streams of one connection count their requests in two steps.
//!
//! ```toml
//! bytes = "1"
//! h2 = "0.4"
//! http = "1"
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! [package.metadata.interloper]
//! instrument = ["h2", "tokio"]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use h2::server::SendResponse;
use h2::{client, server};
use http::{Request, Response};
use tokio::io::DuplexStream;
use tokio::runtime::Builder;

async fn counts(mut respond: SendResponse<bytes::Bytes>, number: Arc<AtomicU32>, at_once: bool) {
    if at_once {
        number.fetch_add(1, SeqCst);
    } else {
        let read = number.load(SeqCst);
        tokio::task::yield_now().await;
        number.store(read + 1, SeqCst);
    }
    respond.send_response(Response::new(()), true).unwrap();
}

async fn serves(io: DuplexStream, number: Arc<AtomicU32>, at_once: bool) {
    let mut connection = server::handshake(io).await.unwrap();
    while let Some(request) = connection.accept().await {
        let (_, respond) = request.unwrap();
        tokio::spawn(counts(respond, Arc::clone(&number), at_once));
    }
}

fn two_requests(at_once: bool) {
    Builder::new_current_thread().build().unwrap().block_on(async {
        let ((own, other), number) = (tokio::io::duplex(4096), Arc::new(AtomicU32::new(0)));
        let server = tokio::spawn(serves(other, Arc::clone(&number), at_once));
        let (sender, connection) = client::handshake(own).await.unwrap();
        let drives = tokio::spawn(connection);
        let mut sender = sender.ready().await.unwrap();
        let mut ask = || sender.send_request(Request::get("http://one/").body(()).unwrap(), true).unwrap().0;
        let (first, second) = (ask(), ask());
        first.await.unwrap();
        second.await.unwrap();
        assert_eq!(number.load(SeqCst), 2);
        drop(sender);
        drives.await.unwrap().unwrap();
        server.await.unwrap();
    });
}

pub fn planted() {
    two_requests(false);
}

pub fn correct() {
    two_requests(true);
}
