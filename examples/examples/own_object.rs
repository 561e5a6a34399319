//! A concurrent object of your own: an inbox whose length is counted beside the lock, and one that asks under the lock.
//!
//! `cargo run -p interloper-examples --example own_object` prints:
//!
//! ```text
//! ✗ Inbox.len                                 not atomic (execution 2 of { take(); len() } || { put(0) })
//!
//!   start: a new   sequence 1                                   sequence 2
//!     object
//!   ──────────────────────────────────────────────────────────────────────────────────────────────────────
//!                                                               called put(0)
//!   1                                                           locks mutex 1
//!                                                                 at examples/examples/own_object.rs:71:22
//!                                                                 │ self.letters.lock().unwrap().push_bac…
//!   2                                                           unlocks mutex 1
//!                                                                 at examples/examples/own_object.rs:71:22
//!                  called take()
//!   3              locks mutex 1
//!                    at examples/examples/own_object.rs:77:35
//!                    │ let letter = self.letters.lock().unwr…
//!   4              unlocks mutex 1
//!                    at examples/examples/own_object.rs:77:35
//!   5              updates atomic 1
//!                    at examples/examples/own_object.rs:78:20
//!                    │ self.count.fetch_sub(1, SeqCst);
//!                  returned 0
//!                  called len()
//!   6              reads atomic 1
//!                    at examples/examples/own_object.rs:85:20
//!                    │ self.count.load(SeqCst)
//!                  returned -1
//!   7                                                           updates atomic 1
//!                                                                 at examples/examples/own_object.rs:72:20
//!                                                                 │ self.count.fetch_add(1, SeqCst);
//!                                                               returned ()
//!
//!   No sequential order explains it:
//!     take(), len(), put(0)      take() returns none
//!     take(), put(0), len()      take() returns none
//!     put(0), take(), len()      len() returns 0
//!   visibility: none (0 programs are in keeping with it)
//!
//! ✓ len_fixed: no violation in 330 programs
//!   visibility: complete (330 programs are in keeping with it)
//!
//! ```

use std::collections::VecDeque;

use interloper::objects::derive::Derivation;
use interloper::objects::hunt::Campaign;
use interloper::objects::{Level, Next, Role, explain};
use interloper::sync::Mutex;
use interloper::sync::atomic::{AtomicI64, Ordering::SeqCst};

/// `interloper::sync` is std's outside a check: a program uses the type as it is.
struct Inbox {
    letters: Mutex<VecDeque<i64>>,
    count: AtomicI64,
}

#[interloper::object]
impl Inbox {
    #[constructor]
    fn new() -> Inbox {
        Inbox { letters: Mutex::new(VecDeque::new()), count: AtomicI64::new(0) }
    }

    #[core]
    fn put(&self, letter: i64) {
        self.letters.lock().unwrap().push_back(letter);
        self.count.fetch_add(1, SeqCst);
    }

    #[core]
    fn take(&self) -> Option<i64> {
        let letter = self.letters.lock().unwrap().pop_front()?;
        self.count.fetch_sub(1, SeqCst);
        Some(letter)
    }

    /// Somebody may have put a letter in, and not have counted it yet.
    #[method(reads)]
    fn len(&self) -> i64 {
        self.count.load(SeqCst)
    }

    #[method(name = "len_fixed", reads)]
    fn len_under_the_lock(&self) -> usize {
        self.letters.lock().unwrap().len()
    }
}

fn main() {
    let inbox = Inbox::object();
    // Every interleaving of small programs, the smallest first: 500 by rank, and 200 at random.
    let campaign = Campaign::systematic(&inbox, 42);
    let few = |stage: Option<(_, u64)>, most: u64| stage.map(|(bounds, _)| (bounds, most));
    let by_rank = few(campaign.by_rank.clone(), 500);
    let campaign = Campaign { by_rank, random: few(campaign.random.clone(), 200), ..campaign };
    for method in inbox.with_role(Role::UnderTest) {
        let label = inbox.label(method);
        let searched = campaign.method(method, &mut |_| Next::Continue);
        match searched.found() {
            Some(found) => print!("{}", explain(&inbox, &label, inbox.visibility(), found)),
            None => println!("✓ {label}: no violation in {} programs", searched.hunted.schemas),
        }
        let derived = Derivation::new(campaign.clone()).method(method, &[], &mut |_| ());
        let (level, schemas) = (derived.level.map_or("none", Level::name), derived.supporting);
        println!("  visibility: {level} ({schemas} programs are in keeping with it)\n");
    }
}
