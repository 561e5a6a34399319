//! Check-then-act: a value that is there is expected to be there still, and another thread takes it.
//!
//! ```toml
//! sharded-slab = "0.1"
//! [package.metadata.interloper]
//! instrument = ["sharded-slab"]
//! ```

use std::thread;

use sharded_slab::Slab;

fn two(take: fn(&Slab<u32>, usize) -> Option<u32>) {
    let slab = Slab::new();
    let key = slab.insert(7).unwrap();
    let taken = thread::scope(|scope| {
        let other = scope.spawn(|| take(&slab, key));
        [take(&slab, key), other.join().unwrap()]
    });
    assert_eq!(taken[0].xor(taken[1]), Some(7));
}

pub fn planted() {
    two(|slab, key| slab.contains(key).then(|| slab.take(key).expect("it is there")));
}

pub fn correct() {
    two(|slab, key| slab.take(key));
}
