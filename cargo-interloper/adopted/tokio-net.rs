//! A message that is cut: a server takes what one read gives for the whole message.
//!
//! ```toml
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! [package.metadata.interloper]
//! instrument = ["tokio"]
//! ```

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

fn reads(whole: bool) {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"hello").await.unwrap();
            stream
        });
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut message = [0; 5];
        if whole {
            stream.read_exact(&mut message).await.unwrap();
        } else {
            assert!(stream.read(&mut message).await.unwrap() > 0);
        }
        assert_eq!(&message, b"hello");
        client.await.unwrap();
    });
}

pub fn planted() {
    reads(false);
}

pub fn correct() {
    reads(true);
}
