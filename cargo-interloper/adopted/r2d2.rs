//! A pool that is exhausted: two threads each hold one connection and ask for a second one.
//!
//! ```toml
//! r2d2 = "0.8"
//! [package.metadata.interloper]
//! instrument = ["r2d2"]
//! ```

use std::convert::Infallible;
use std::thread;
use std::time::Duration;

use r2d2::{ManageConnection, Pool};

struct Numbers;

impl ManageConnection for Numbers {
    type Connection = u32;
    type Error = Infallible;
    fn connect(&self) -> Result<u32, Infallible> {
        Ok(1)
    }
    fn is_valid(&self, _: &mut u32) -> Result<(), Infallible> {
        Ok(())
    }
    fn has_broken(&self, _: &mut u32) -> bool {
        false
    }
}

fn two(work: fn(&Pool<Numbers>)) {
    let pool = Pool::builder().max_size(2).connection_timeout(Duration::from_secs(3600)).build_unchecked(Numbers);
    let theirs = pool.clone();
    let other = thread::spawn(move || work(&theirs));
    work(&pool);
    other.join().unwrap();
}

pub fn planted() {
    two(|pool| {
        let first = pool.get().unwrap();
        let second = pool.get().unwrap();
        assert_eq!(*first + *second, 2);
    });
}

pub fn correct() {
    two(|pool| {
        // Asks again if a wait ends early.
        let one = || loop {
            if let Ok(connection) = pool.get() {
                break connection;
            }
        };
        let first = *one();
        assert_eq!(first + *one(), 2);
    });
}
