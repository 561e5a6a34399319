//! A list that is believed to be sorted: names are made in order, and put into the list later.
//!
//! ```toml
//! uuid = { version = "1", features = ["v7"] }
//! [package.metadata.interloper]
//! instrument = ["uuid"]
//! ```

use std::sync::Mutex;
use std::thread;

use uuid::{ContextV7, Timestamp, Uuid};

fn two(at_once: bool) {
    let (context, list) = (Mutex::new(ContextV7::new()), Mutex::new(Vec::new()));
    let add = || {
        let name = || Uuid::new_v7(Timestamp::now(&context));
        if at_once {
            let mut list = list.lock().unwrap();
            list.push(name());
        } else {
            let name = name();
            list.lock().unwrap().push(name);
        }
    };
    thread::scope(|scope| {
        scope.spawn(add);
        add();
    });
    assert!(list.into_inner().unwrap().is_sorted());
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
