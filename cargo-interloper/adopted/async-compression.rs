//! A message that is cut: what one read of a decoder gives is taken for the whole message.
//!
//! ```toml
//! async-compression = { version = "0.4", features = ["deflate", "tokio"] }
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! [package.metadata.interloper]
//! instrument = ["async-compression", "tokio"]
//! ```

use async_compression::tokio::bufread::DeflateDecoder;
use async_compression::tokio::write::DeflateEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::runtime::Builder;

fn reads(whole: bool) {
    Builder::new_current_thread().build().unwrap().block_on(async {
        let (own, other) = tokio::io::duplex(1024);
        let writes = tokio::spawn(async move {
            let mut encoder = DeflateEncoder::new(other);
            for part in [b"hello, ", b"reader!"] {
                encoder.write_all(part).await.unwrap();
                encoder.flush().await.unwrap();
                // Others may run.
                tokio::spawn(async {}).await.unwrap();
            }
            encoder.shutdown().await.unwrap();
        });
        let (mut decoder, mut message) = (DeflateDecoder::new(BufReader::new(own)), Vec::new());
        if whole {
            decoder.read_to_end(&mut message).await.unwrap();
        } else {
            decoder.read_buf(&mut message).await.unwrap();
        }
        writes.await.unwrap();
        assert_eq!(message, b"hello, reader!");
    });
}

pub fn planted() {
    reads(false);
}

pub fn correct() {
    reads(true);
}
