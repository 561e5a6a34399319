//! A lost update in a database: two tasks read a number and write the next one, in two statements. The server is a few lines that
//! speak its protocol.
//!
//! ```toml
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! tokio-postgres = "0.7"
//! [package.metadata.interloper]
//! instrument = ["tokio-postgres", "tokio"]
//! ```

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, Result};
use tokio::runtime::Builder;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

/// `get` gives the number, `add` adds 1 to it, and anything else is what it becomes.
async fn serve(mut stream: DuplexStream) -> Result<()> {
    let mut number = 0;
    let length = stream.read_u32().await?;
    stream.read_exact(&mut vec![0; length as usize - 4]).await?;
    stream.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").await?;
    while stream.read_u8().await? == b'Q' {
        let length = stream.read_u32().await?;
        let mut statement = vec![0; length as usize - 4];
        stream.read_exact(&mut statement).await?;
        let mut answer = Vec::new();
        match &statement[..statement.len() - 1] {
            b"get" => {
                answer.extend(b"T\0\0\0\x1a\0\x01n\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0");
                answer.extend(b"D\0\0\0\x0b\0\x01\0\0\0\x01");
                answer.push(b'0' + number);
            }
            b"add" => number += 1,
            new => number = new[0] - b'0',
        }
        answer.extend(b"C\0\0\0\x07OK\0Z\0\0\0\x05I");
        stream.write_all(&answer).await?;
    }
    Ok(())
}

async fn number(client: &Client) -> u32 {
    let rows = client.simple_query("get").await.unwrap();
    let number = |row: &SimpleQueryMessage| match row {
        SimpleQueryMessage::Row(row) => row.get(0).map(|number| number.parse().unwrap()),
        _ => None,
    };
    rows.iter().find_map(number).unwrap()
}

fn two(adds: bool) {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let (own, other) = tokio::io::duplex(1024);
        tokio::spawn(serve(other));
        let (client, connection) = Config::new().user("me").connect_raw(own, NoTls).await.unwrap();
        tokio::spawn(connection);
        let client = Arc::new(client);
        let one = move |client: Arc<Client>| async move {
            if adds {
                client.simple_query("add").await.unwrap();
            } else {
                let next = number(&client).await + 1;
                client.simple_query(&next.to_string()).await.unwrap();
            }
        };
        let tasks = [0, 1].map(|_| tokio::spawn(one(Arc::clone(&client))));
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(number(&client).await, 2);
    });
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
