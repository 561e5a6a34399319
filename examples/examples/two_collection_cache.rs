//! A cache out of two collections: the values, and the order in which they came.
//!
//! The struct is one subject with two collections, each of which the environment may use. The first version stores a
//! value and then notes its key: it takes two operations of the environment to see the one without the other. The second
//! keeps the order locked over both.
//!
//! `cargo run -p interloper-examples --example two_collection_cache` prints:
//!
//! ```text
//! ✗ store                                     not linearizable (2 environment operations, execution 1583)
//!
//!   start:         method under test: store(7, 70)                        environment            state
//!     values:
//!     {}, order:
//!     []
//!   ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
//!   1              values.insert_if_absent(7, 70) → none                                         values: {7: 70}, order: []
//!                    at examples/examples/two_collection_cache.rs:58:37
//!                    │ let new = match self.values.entry(key) {
//!   2                                                                     values.get(7) → 70     values: {7: 70}, order: []
//!   3                                                                     order.push_back(8) →   values: {7: 70}, order: [8]
//!                                                                           ()
//!   4              critical section on order                                                     values: {7: 70}, order: [8, 7]
//!                    at examples/examples/two_collection_cache.rs:66:24
//!                    │ self.order.lock().unwrap().push_back(key);
//!                  returned true
//!
//!   No sequential order explains it:
//!     store, values.get, order.push_back      values: {7: 70}, order: [7, 8] remains
//!     values.get, store, order.push_back      values.get returns none
//!     values.get, order.push_back, store      values.get returns none
//!
//!   replay: .replay("A0.I0.E0.E1.E8")
//!   open environment: 1 argument, 45 initial states, up to 2 environment operations out of 24; 1583 executions of 1583 histories, 4556 steps, stopped at the first violation
//!
//! ✓ store_fixed  linearizable
//!   open environment: 1 argument, 45 initial states, up to 2 environment operations out of 24; 38925 executions of 38925 histories, 154046 steps, complete
//! ```

use std::collections::VecDeque;
use std::num::NonZeroU32;

use interloper::collections::dashmap::Entry;
use interloper::collections::{DashMap, Mutex};
use interloper::{MethodUnderTest, subject};

#[derive(Default)]
struct Cache {
    values: DashMap<u64, u64>,
    order: Mutex<VecDeque<u64>>,
}

subject!(Cache { values, order });

impl Cache {
    /// Stores a value unless there is one; says whether it was stored.
    fn store(&self, key: u64, value: u64) -> bool {
        let new = match self.values.entry(key) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(value);
                true
            }
        };
        if new {
            self.order.lock().unwrap().push_back(key);
        }
        new
    }

    /// The same with the order locked all the time.
    fn store_fixed(&self, key: u64, value: u64) -> bool {
        let mut order = self.order.lock().unwrap();
        match self.values.entry(key) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(value);
                order.push_back(key);
                true
            }
        }
    }
}

/// Two operations of the environment are enough to tell; a third multiplies the runs by fifty.
const BOUND: NonZeroU32 = NonZeroU32::new(2).unwrap();

fn main() -> Result<(), interloper::Misuse> {
    let broken = MethodUnderTest::new("store", Cache::default, |cache: &Cache, (key, value)| cache.store(key, value));
    let fixed = MethodUnderTest::new("store_fixed", Cache::default, |cache: &Cache, (key, value)| {
        cache.store_fixed(key, value)
    });
    print!(
        "{}\n{}",
        broken.arguments([(7, 70)]).bound(BOUND).check()?,
        fixed.arguments([(7, 70)]).bound(BOUND).check()?
    );
    Ok(())
}
