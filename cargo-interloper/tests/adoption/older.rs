//! Projects whose lock file keeps older versions, as those of many applications do.

use super::*;

/// A server and its client on one thread, and a condition.
const LIBRARY: &str = r#"
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub async fn echo(letters: &[u8]) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut letters = [0; 4];
                stream.read_exact(&mut letters).await.unwrap();
                stream.write_all(&letters).await.unwrap();
            });
        }
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(letters).await.unwrap();
    let mut answer = vec![0; letters.len()];
    stream.read_exact(&mut answer).await.unwrap();
    answer
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn letters_come_back() {
        assert_eq!(super::echo(b"echo").await, b"echo");
    }

    #[test]
    fn a_condition_is_awaited() {
        let (ready, told) = (parking_lot::Mutex::new(false), parking_lot::Condvar::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                *ready.lock() = true;
                told.notify_one();
            });
            told.wait_while(&mut ready.lock(), |ready| !*ready);
        });
    }
}
"#;

/// The tests pass with these versions of lock_api and tokio, and the parking_lot of that time.
fn passes_with(lock_api: &str, tokio: &str) {
    let project = Project::plain(
        "older",
        "0.1.0",
        &format!(
            "lock_api = \"={lock_api}\"\nparking_lot = \"=0.12.1\"\n\
             tokio = {{ version = \"={tokio}\", features = [\"io-util\", \"macros\", \"net\", \"parking_lot\", \"rt\"] }}\n"
        ),
    );
    project.put("src/lib.rs", LIBRARY);
    let ran = project.run(&["test", "--every-test"]).expect(0);
    ran.assert_passed(&["letters_come_back", "a_condition_is_awaited"]);
}

/// This tokio waits for events without a look at whether the future of `block_on` was woken, and has the length of one queue only with
/// `tokio_unstable`; this lock_api makes no guard of a lock that is held.
#[test]
fn older_versions_are_under_control() {
    passes_with("0.4.10", "1.32.0");
}

/// The lists of tasks of this tokio do not know the address of a task.
#[test]
fn much_older_versions_are_under_control() {
    passes_with("0.4.10", "1.19.2");
}
