//! A message that is cut: a server takes what one read gives for the whole message.
//!
//! ```toml
//! smol = "2"
//! [package.metadata.interloper]
//! instrument = ["smol"]
//! ```

use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::net::{TcpListener, TcpStream};

fn reads(whole: bool) {
    smol::block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = smol::spawn(async move {
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
        client.await;
    });
}

pub fn planted() {
    reads(false);
}

pub fn correct() {
    reads(true);
}
