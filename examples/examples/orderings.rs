//! From a finding of weak memory to its fix, and to orderings that are no stronger than they need to be.
//!
//! A mailbox raises its flag with `Relaxed`, so the letter may arrive after the flag. `orderings` runs the program with a
//! stronger ordering at one place after the other, and says which one removes the finding. With that ordering, it weakens one
//! ordering at a time, and says what each is for.
//!
//! `cargo run -p interloper-examples --example orderings` prints:
//!
//! ```text
//! mailbox has a finding as it is, so no ordering was weakened
//!
//! panic: full, and no letter
//!     see it: .replay(&"F2097152.T0.T0.T0.T0.T0.S0.T0.S1.T0.T0".parse()?, program)
//!     Release instead of Relaxed removes it: the store at examples/examples/orderings.rs:54:19 (880 executions)
//!
//! the orderings of mailbox: 3 sites, 1,000 executions as it is
//!
//! place                                  operation   ordering   instead   outcome
//! ──────────────────────────────────────────────────────────────────────────────────────────────────────────
//! examples/examples/orderings.rs:54:19   store       Release    Relaxed   killed: panic: full, and no letter
//! examples/examples/orderings.rs:58:20   update      SeqCst     AcqRel    survived 880 executions
//!                                                               Acquire   survived 880 executions
//!                                                               Release   survived 880 executions
//!                                                               Relaxed   survived 880 executions
//! examples/examples/orderings.rs:59:19   load        Acquire    Relaxed   killed: panic: full, and no letter
//!
//! examples/examples/orderings.rs:54:19: Release is needed
//!     see it with Relaxed: .ordering("examples/examples/orderings.rs:54:19 store Release Relaxed".parse()?).replay(&"F2097152.T0.T0.T0.T0.T0.S0.T0.S1.T0.T0".parse()?, program)
//! examples/examples/orderings.rs:58:20: Relaxed is enough: SeqCst is stronger than these tests can justify, or the tests are too weak
//! examples/examples/orderings.rs:59:19: Acquire is needed
//!     see it with Relaxed: .ordering("examples/examples/orderings.rs:59:19 load Acquire Relaxed".parse()?).replay(&"F2097152.T0.T0.T0.T0.T0.S0.T0.S1.T0.T0".parse()?, program)
//!
//! 2 needed, 1 stronger than these tests can justify, 0 unclear, 0 not reached
//!
//! ```

use interloper::Checker;
use interloper::sync::Arc;
use interloper::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use interloper::sync::atomic::{AtomicBool, AtomicU32};
use interloper::thread;

/// A letter, a flag that says that it is there, and how often somebody has looked.
#[derive(Default)]
struct Mailbox {
    letter: AtomicU32,
    full: AtomicBool,
    looks: AtomicU32,
}

impl Mailbox {
    fn send(&self, letter: u32, raises: Ordering) {
        self.letter.store(letter, Relaxed);
        self.full.store(true, raises);
    }

    fn receive(&self) -> Option<u32> {
        self.looks.fetch_add(1, SeqCst);
        self.full.load(Acquire).then(|| self.letter.load(Relaxed))
    }
}

/// One thread sends a letter, and two look for it.
fn program(raises: Ordering) {
    let mailbox = Arc::new(Mailbox::default());
    let look = |mailbox: Arc<Mailbox>| move || assert!(mailbox.receive() != Some(0), "full, and no letter");
    let readers = [(); 2].map(|()| thread::spawn(look(Arc::clone(&mailbox))));
    mailbox.send(7, raises);
    readers.into_iter().for_each(|reader| reader.join().expect("a reader"));
    assert_eq!(mailbox.looks.load(Relaxed), 2);
}

fn main() -> Result<(), interloper::blocks::Misuse> {
    let checker = || Checker::new("mailbox").executions(1_000);
    println!("{}", checker().orderings(|| program(Relaxed))?);
    println!("{}", checker().orderings(|| program(Release))?);
    Ok(())
}
