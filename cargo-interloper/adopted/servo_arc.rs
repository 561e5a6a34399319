//! Check-then-act on a count of owners: who was alone is believed to be alone still.
//!
//! ```toml
//! servo_arc = "0.4"
//! [package.metadata.interloper]
//! instrument = ["servo_arc"]
//! ```

use std::sync::Mutex;
use std::thread;

use servo_arc::Arc;

fn changes(at_once: bool) {
    let shared = Mutex::new(Arc::new(1));
    thread::scope(|scope| {
        scope.spawn(|| {
            let own = Arc::clone(&shared.lock().unwrap());
            assert!(*own == 1 || *own == 2);
        });
        if at_once {
            *Arc::make_mut(&mut shared.lock().unwrap()) += 1;
        } else {
            let alone = shared.lock().unwrap().is_unique();
            if alone {
                *Arc::get_mut(&mut shared.lock().unwrap()).expect("nobody else has it") += 1;
            }
        }
    });
}

pub fn planted() {
    changes(false);
}

pub fn correct() {
    changes(true);
}
