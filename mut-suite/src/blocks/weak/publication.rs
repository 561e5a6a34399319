//! Data that one thread writes, and a flag or a number that says so.

use interloper::ToValue;

use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering, fence};
use super::platform::{beside, thread};
use super::{Bug, CLASSIC, Expected, Family, Program};

use Ordering::{Acquire, Relaxed, Release, SeqCst};

const FILE: Family = Family::new(CLASSIC, include_str!("publication.rs")).weak_memory();
const BOEHM: Family = FILE.from("H.-J. Boehm, S. V. Adve, PLDI 2008");
const SEQUENCES: Family = FILE.from("H.-J. Boehm, O. Giroux, V. Vafeiades, P0982R1, 2018");
const IRIW: Family = FILE.from("H.-J. Boehm, S. V. Adve, PLDI 2008, IRIW");

pub(super) fn programs() -> Vec<Program> {
    vec![
        BOEHM.showing("publish").bad(
            "publish-relaxed-store",
            "publish",
            Bug::Panic("the mailbox is full, and there is no letter"),
            "Raises the flag with Relaxed instead of Release: the letter may arrive after the flag.",
            || publish(Relaxed, Acquire).to_value(),
        ),
        BOEHM.showing("publish").bad(
            "publish-relaxed-load",
            "publish",
            Bug::Panic("the mailbox is full, and there is no letter"),
            "Reads the flag with Relaxed instead of Acquire: the reader may have looked for the letter before.",
            || publish(Release, Relaxed).to_value(),
        ),
        BOEHM.good("publish", Expected::Clean, "Raises the flag with Release and reads it with Acquire.", || {
            publish(Release, Acquire).to_value()
        }),
        FILE.showing("release-fence").bad(
            "release-fence-after-store",
            "release-fence-before-store",
            Bug::Panic("the mailbox is full, and there is no letter"),
            "Makes the release fence after the store of the flag, where it orders nothing.",
            || release_fence(false).to_value(),
        ),
        FILE.showing("release-fence").good(
            "release-fence-before-store",
            Expected::Clean,
            "Makes the release fence between the letter and the flag.",
            || release_fence(true).to_value(),
        ),
        FILE.showing("broadcast").bad(
            "broadcast-unfenced",
            "broadcast-fenced",
            Bug::Panic("stopped without a reason"),
            "Two threads poll a flag with Relaxed, as is right while it is down, and read the reason when it is up: an \
             acquire fence is missing between the two.",
            || broadcast(false).to_value(),
        ),
        FILE.showing("broadcast").good(
            "broadcast-fenced",
            Expected::Clean,
            "Whoever finds the flag up makes an acquire fence, then reads the reason.",
            || broadcast(true).to_value(),
        ),
        FILE.showing("relay").bad(
            "relay-relaxed",
            "relay-release",
            Bug::Panic("the message was lost on its way"),
            "The thread in the middle acquires the message, and passes on the word of it with Relaxed: the last thread \
             knows nothing of the first.",
            || relay(Relaxed).to_value(),
        ),
        FILE.showing("relay").good(
            "relay-release",
            Expected::Clean,
            "The thread in the middle passes on the word with Release.",
            || relay(Release).to_value(),
        ),
        SEQUENCES.showing("progress").bad(
            "release-sequence-store",
            "release-sequence-fetch-add",
            Bug::Panic("the first part is done, and is not there"),
            "Reports the first part with Release, and the start of the next with a Relaxed store of the same number. Who \
             reads the later number does not synchronise with the earlier store: since C++20 a store of the same \
             thread does not continue its release sequence.",
            || progress(|number| number.store(2, Relaxed)).to_value(),
        ),
        SEQUENCES.showing("progress").good(
            "release-sequence-fetch-add",
            Expected::Clean,
            "Reports the next with fetch_add: a read-modify-write continues the release sequence, even with Relaxed.",
            || {
                let next = |number: &AtomicI64| {
                    number.fetch_add(1, Relaxed);
                };
                progress(next).to_value()
            },
        ),
        FILE.showing("statistics").bad(
            "statistics-relaxed",
            "statistics-release",
            Bug::Panic("more errors than requests"),
            "Counts a request, then its error, both with Relaxed: a report may see the error and not the request.",
            || statistics(Relaxed).to_value(),
        ),
        FILE.showing("statistics").good(
            "statistics-release",
            Expected::Clean,
            "Counts the error with Release. The report reads the errors first, with Acquire.",
            || statistics(Release).to_value(),
        ),
        IRIW.showing("observers").bad(
            "observers-acquire",
            "observers-seq-cst",
            Bug::Panic("each has seen another one first"),
            "Two threads set a flag each, and two look at both: with Release and Acquire the two may see the flags in \
             different orders.",
            || observers(Acquire).to_value(),
        ),
        IRIW.showing("observers").good(
            "observers-seq-cst",
            Expected::Clean,
            "All accesses to the flags are SeqCst, so there is one order of them.",
            || observers(SeqCst).to_value(),
        ),
    ]
}

/// A letter, and a flag that says that it is there.
#[derive(Default)]
struct Mailbox {
    letter: AtomicI64,
    full: AtomicBool,
}

// case: publish
/// One thread writes a letter, the other one reads it if there is one.
fn publish(raises: Ordering, looks: Ordering) {
    let send = move |mailbox: &Mailbox| {
        mailbox.letter.store(7, Relaxed);
        mailbox.full.store(true, raises);
    };
    let receive = move |mailbox: &Mailbox| {
        if mailbox.full.load(looks) {
            assert!(mailbox.letter.load(Relaxed) == 7, "the mailbox is full, and there is no letter");
        }
    };
    beside(&Arc::default(), send, receive);
}
// end

// case: release-fence
/// One thread writes a letter, the other one reads it if there is one; with fences.
fn release_fence(before: bool) {
    let send = move |mailbox: &Mailbox| {
        mailbox.letter.store(7, Relaxed);
        if before {
            fence(Release);
        }
        mailbox.full.store(true, Relaxed);
        if !before {
            fence(Release);
        }
    };
    let receive = |mailbox: &Mailbox| {
        if mailbox.full.load(Relaxed) {
            fence(Acquire);
            assert!(mailbox.letter.load(Relaxed) == 7, "the mailbox is full, and there is no letter");
        }
    };
    beside(&Arc::default(), send, receive);
}
// end

// case: broadcast
/// One thread tells two others to stop, and why.
fn broadcast(fenced: bool) {
    let poll = move |(stop, reason): &(AtomicBool, AtomicI64)| {
        if stop.load(Relaxed) {
            if fenced {
                fence(Acquire);
            }
            assert!(reason.load(Relaxed) != 0, "stopped without a reason");
        }
    };
    let shared: Arc<(AtomicBool, AtomicI64)> = Arc::default();
    let theirs = Arc::clone(&shared);
    let third = thread::spawn(move || poll(&theirs));
    let stop = |(stop, reason): &(AtomicBool, AtomicI64)| {
        reason.store(7, Relaxed);
        stop.store(true, Release);
    };
    beside(&shared, stop, poll);
    third.join().unwrap();
}
// end

// case: relay
/// A message goes from the first thread to the last, and the word of it by way of the second.
fn relay(passes_on: Ordering) {
    #[derive(Default)]
    struct Line {
        message: AtomicI64,
        sent: AtomicBool,
        passed_on: AtomicBool,
    }
    let line: Arc<Line> = Arc::default();
    let theirs = Arc::clone(&line);
    let last = thread::spawn(move || {
        if theirs.passed_on.load(Acquire) {
            assert!(theirs.message.load(Relaxed) == 7, "the message was lost on its way");
        }
    });
    let first = |line: &Line| {
        line.message.store(7, Relaxed);
        line.sent.store(true, Release);
    };
    let second = move |line: &Line| {
        if line.sent.load(Acquire) {
            line.passed_on.store(true, passes_on);
        }
    };
    beside(&line, first, second);
    last.join().unwrap();
}
// end

// case: progress
/// A number says how far a thread is: part 1 is done, and part 2 has begun.
fn progress(next: fn(&AtomicI64)) {
    let work = move |(number, part): &(AtomicI64, AtomicI64)| {
        part.store(7, Relaxed);
        number.store(1, Release);
        next(number);
    };
    let look = |(number, part): &(AtomicI64, AtomicI64)| {
        if number.load(Acquire) >= 1 {
            assert!(part.load(Relaxed) == 7, "the first part is done, and is not there");
        }
    };
    beside(&Arc::default(), work, look);
}
// end

// case: statistics
/// A request fails, while another thread reports.
fn statistics(counts_error: Ordering) {
    let serve = move |(requests, errors): &(AtomicUsize, AtomicUsize)| {
        requests.fetch_add(1, Relaxed);
        errors.fetch_add(1, counts_error);
    };
    let report = |(requests, errors): &(AtomicUsize, AtomicUsize)| {
        let errors = errors.load(Acquire);
        assert!(errors <= requests.load(Relaxed), "more errors than requests");
    };
    beside(&Arc::default(), serve, report);
}
// end

// case: observers
/// Two threads set a flag each; two look which was first.
fn observers(looks: Ordering) {
    let sets = if looks == Acquire { Release } else { looks };
    let flags: Arc<[AtomicBool; 2]> = Arc::default();
    let spawn_setter = |index: usize| {
        let flags = Arc::clone(&flags);
        thread::spawn(move || flags[index].store(true, sets))
    };
    let setters = [0, 1].map(spawn_setter);
    let sees_only =
        move |flags: &[AtomicBool; 2], first: usize| flags[first].load(looks) && !flags[1 - first].load(looks);
    let seen = beside(&flags, move |flags| sees_only(flags, 0), move |flags| sees_only(flags, 1));
    setters.into_iter().for_each(|setter| setter.join().unwrap());
    assert!(seen != (true, true), "each has seen another one first");
}
// end
