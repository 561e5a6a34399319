//! Check-then-act: a thief that sees a task in a queue expects to steal it.
//!
//! ```toml
//! crossbeam-deque = "0.8"
//! [package.metadata.interloper]
//! instrument = ["crossbeam-deque"]
//! ```

use std::thread;

use crossbeam_deque::{Steal, Stealer, Worker};

fn taken(stealer: &Stealer<u32>) -> Option<u32> {
    loop {
        match stealer.steal() {
            Steal::Success(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}

fn steals(steal: fn(&Stealer<u32>) -> Option<u32>) {
    let worker = Worker::new_lifo();
    worker.push(7);
    let stealer = worker.stealer();
    let thief = thread::spawn(move || steal(&stealer));
    let own = worker.pop();
    assert_eq!(own.xor(thief.join().unwrap()), Some(7));
}

pub fn planted() {
    steals(|stealer| (!stealer.is_empty()).then(|| taken(stealer).expect("it is there")));
}

pub fn correct() {
    steals(taken);
}
