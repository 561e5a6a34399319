//! A message that is missed: a reader joins after the first broadcast.
//!
//! ```toml
//! bus = "2"
//! [package.metadata.interloper]
//! instrument = ["bus"]
//! ```

use std::sync::{Arc, Mutex};
use std::thread;

use bus::Bus;

fn joins(before: bool) {
    let mut bus = Bus::new(2);
    let mut reader = before.then(|| bus.add_rx());
    let bus = Arc::new(Mutex::new(bus));
    let own = Arc::clone(&bus);
    let sends = thread::spawn(move || (1..=2).for_each(|number| own.lock().unwrap().broadcast(number)));
    let mut reader = reader.take().unwrap_or_else(|| bus.lock().unwrap().add_rx());
    drop(bus);
    sends.join().unwrap();
    assert_eq!(reader.iter().collect::<Vec<u32>>(), [1, 2]);
}

pub fn planted() {
    joins(false);
}

pub fn correct() {
    joins(true);
}
