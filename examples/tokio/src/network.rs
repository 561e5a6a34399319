//! Two bugs of programs with sockets, each with its fixed twin. Sockets, and the event loop that waits for them, are under
//! control: connections are made inside the program, in any order, and a read may give fewer bytes than were written.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

fn with_network() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A server that takes what one read gives for a whole message.
fn message(reads_all: bool) {
    with_network().block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut message = [0; 5];
            if reads_all {
                stream.read_exact(&mut message).await.unwrap();
            } else {
                let _ = stream.read(&mut message).await.unwrap();
            }
            message
        });
        TcpStream::connect(address).await.unwrap().write_all(b"hello").await.unwrap();
        assert_eq!(server.await.unwrap(), *b"hello");
    });
}

#[interloper::test(executions = 200, expect = "bug")]
fn a_message_is_cut() {
    message(false);
}

#[interloper::test(executions = 200)]
fn a_message_is_whole() {
    message(true);
}

/// A client that connects as soon as the server has been spawned, which may not listen yet.
fn connects(waits: bool) {
    let workers = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    workers.block_on(async {
        const ADDRESS: &str = "127.0.0.1:4000";
        let (listens, listening) = tokio::sync::oneshot::channel();
        let server = tokio::spawn(async move {
            let listener = TcpListener::bind(ADDRESS).await.unwrap();
            let _ = listens.send(());
            listener.accept().await.unwrap();
        });
        if waits {
            listening.await.unwrap();
        }
        TcpStream::connect(ADDRESS).await.unwrap();
        server.await.unwrap();
    });
}

#[interloper::test(executions = 200, expect = "bug")]
fn a_client_comes_too_early() {
    connects(false);
}

#[interloper::test(executions = 200)]
fn a_client_waits_for_its_server() {
    connects(true);
}
