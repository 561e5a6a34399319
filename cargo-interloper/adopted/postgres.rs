//! A lost update in a database: two threads read a number and write the next one, in two statements. The server is a few lines that
//! speak its protocol.
//!
//! ```toml
//! postgres = "0.19"
//! [package.metadata.interloper]
//! instrument = ["postgres", "tokio"]
//! ```

use std::io::{Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread;

use postgres::{Client, NoTls, SimpleQueryMessage};

fn bytes(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut bytes = vec![0; u32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// `get` gives the number, `add` adds 1 to it, and anything else is what it becomes.
fn serve(listener: &TcpListener) -> Result<()> {
    let (mut number, (mut stream, _)) = (0, listener.accept()?);
    bytes(&mut stream)?;
    stream.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")?;
    let mut kind = [0];
    while stream.read(&mut kind)? == 1 && kind == *b"Q" {
        let statement = bytes(&mut stream)?;
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
        stream.write_all(&answer)?;
    }
    Ok(())
}

fn number(client: &mut Client) -> u32 {
    let rows = client.simple_query("get").unwrap();
    let number = |row: &SimpleQueryMessage| match row {
        SimpleQueryMessage::Row(row) => row.get(0).map(|number| number.parse().unwrap()),
        _ => None,
    };
    rows.iter().find_map(number).unwrap()
}

fn two(adds: bool) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("host=127.0.0.1 port={} user=me", listener.local_addr().unwrap().port());
    thread::scope(|scope| {
        scope.spawn(|| serve(&listener).unwrap());
        let client = Mutex::new(Client::connect(&place, NoTls).unwrap());
        let one = || {
            if adds {
                client.lock().unwrap().simple_query("add").unwrap();
            } else {
                let next = number(&mut client.lock().unwrap()) + 1;
                client.lock().unwrap().simple_query(&next.to_string()).unwrap();
            }
        };
        thread::scope(|scope| {
            scope.spawn(one);
            one();
        });
        assert_eq!(number(&mut client.lock().unwrap()), 2);
    });
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
