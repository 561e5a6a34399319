//! An order of messages that nobody promises: two streams are merged.
//!
//! ```toml
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! tokio-stream = "0.1"
//! [package.metadata.interloper]
//! instrument = ["tokio-stream", "tokio"]
//! ```

use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

fn merges(check: fn(Vec<u32>)) {
    Builder::new_current_thread().build().unwrap().block_on(async {
        let [one, other] = [1, 2].map(|number| {
            let (sender, receiver) = mpsc::channel(1);
            tokio::spawn(async move { sender.send(number).await.unwrap() });
            ReceiverStream::new(receiver)
        });
        check(one.merge(other).collect().await);
    });
}

pub fn planted() {
    merges(|got| assert_eq!(got, [1, 2]));
}

pub fn correct() {
    merges(|mut got| {
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}
