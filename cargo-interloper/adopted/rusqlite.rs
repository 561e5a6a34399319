//! An interruption that is lost: it comes before the query begins, or after it has ended.
//!
//! ```toml
//! rusqlite = { version = "0.40", features = ["bundled", "functions"] }
//! [package.metadata.interloper]
//! instrument = ["rusqlite"]
//! ```

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::thread;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

const QUERY: &str = "SELECT tick() FROM (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)";

fn interrupted(waits: bool) {
    let connection = Connection::open_in_memory().unwrap();
    let handle = connection.get_interrupt_handle();
    let ((begins, begun), (ends, ended)) = (channel(), channel());
    let first = AtomicBool::new(true);
    let tick = move |_: &rusqlite::functions::Context<'_>| {
        if waits && first.swap(false, SeqCst) {
            begins.send(()).unwrap();
            ended.recv().unwrap();
        }
        thread::yield_now();
        Ok(1)
    };
    connection.create_scalar_function("tick", 0, FunctionFlags::SQLITE_UTF8, tick).unwrap();
    let other = thread::spawn(move || {
        if waits {
            begun.recv().unwrap();
        }
        handle.interrupt();
        let _ = ends.send(());
    });
    let mut statement = connection.prepare(QUERY).unwrap();
    let rows: rusqlite::Result<Vec<u32>> = statement.query_map([], |row| row.get(0)).unwrap().collect();
    other.join().unwrap();
    assert!(rows.is_err(), "the query was not interrupted");
}

pub fn planted() {
    interrupted(false);
}

pub fn correct() {
    interrupted(true);
}
