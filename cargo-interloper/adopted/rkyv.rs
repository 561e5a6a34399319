//! A torn snapshot: two accounts are written out one after the other while a transfer runs.
//!
//! ```toml
//! rkyv = "0.8"
//! [package.metadata.interloper]
//! instrument = ["rkyv"]
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use rkyv::rancor::Error;
use rkyv::with::{AtomicLoad, Relaxed};
use rkyv::{Archive, Serialize, access, to_bytes};

#[derive(Archive, Serialize)]
struct Accounts {
    #[rkyv(with = AtomicLoad<Relaxed>)]
    first: AtomicU32,
    #[rkyv(with = AtomicLoad<Relaxed>)]
    second: AtomicU32,
}

fn snapshot(locks: bool) {
    let accounts = Accounts { first: AtomicU32::new(10), second: AtomicU32::new(0) };
    let lock = Mutex::new(());
    let bytes = thread::scope(|scope| {
        scope.spawn(|| {
            let _lock = locks.then(|| lock.lock().unwrap());
            accounts.first.fetch_sub(1, SeqCst);
            accounts.second.fetch_add(1, SeqCst);
        });
        let _lock = locks.then(|| lock.lock().unwrap());
        to_bytes::<Error>(&accounts).unwrap()
    });
    let read = access::<ArchivedAccounts, Error>(&bytes).unwrap();
    assert_eq!(read.first.to_native() + read.second.to_native(), 10);
}

pub fn planted() {
    snapshot(false);
}

pub fn correct() {
    snapshot(true);
}
