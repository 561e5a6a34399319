//! Each of two threads writes its flag, then reads the other's: only SeqCst keeps both from reading the old one.

use interloper::ToValue;

use super::platform::beside;
use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering, fence};
use super::{Bug, CLASSIC, Expected, Family, Program};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

const FILE: Family = Family::new(CLASSIC, include_str!("fences.rs")).weak_memory();
const DEKKER: Family = FILE.from("T. Dekker, in E. W. Dijkstra, EWD-123, 1965").showing("dekker");
const PETERSON: Family = FILE.from("G. L. Peterson, IPL 1981").showing("peterson");

const INSIDE: Bug = Bug::Panic("both are inside");

pub(super) fn programs() -> Vec<Program> {
    vec![
        DEKKER.bad(
            "dekker-acquire-release",
            "dekker-seq-cst",
            INSIDE,
            "Raises the own flag with Release and reads the other one with Acquire: both may be read before either is \
             raised.",
            || dekker(Release, Acquire).to_value(),
        ),
        DEKKER.good("dekker-seq-cst", Expected::Clean, "The accesses of the entry are SeqCst.", || {
            dekker(SeqCst, SeqCst).to_value()
        }),
        PETERSON.bad(
            "peterson-acquire-release",
            "peterson-seq-cst",
            INSIDE,
            "Peterson's algorithm with Release stores and Acquire loads.",
            || peterson(Release, Acquire).to_value(),
        ),
        PETERSON.good("peterson-seq-cst", Expected::Clean, "The accesses of the entry are SeqCst.", || {
            peterson(SeqCst, SeqCst).to_value()
        }),
        FILE.showing("reader-flag").bad(
            "reader-flag-acquire-release",
            "reader-flag-seq-cst",
            Bug::Panic("two halves of different values"),
            "A lock with a flag for each reader. The reader makes an AcqRel fence between its flag and the look at the \
             writer's: a fence that orders no store before a later load.",
            || reader_flag(AcqRel).to_value(),
        ),
        FILE.showing("reader-flag").good(
            "reader-flag-seq-cst",
            Expected::Clean,
            "The reader's fence is SeqCst.",
            || reader_flag(SeqCst).to_value(),
        ),
        FILE.showing("close").bad(
            "channel-close-acquire-release",
            "channel-close-seq-cst",
            Bug::Panic("nobody has freed the channel"),
            "Each end of a channel says that it is gone, and frees the channel if the other one is: with Release and \
             Acquire, neither may see that.",
            || close(Release, Acquire).to_value(),
        ),
        FILE.showing("close").good(
            "channel-close-seq-cst",
            Expected::Clean,
            "With SeqCst one end sees the other's flag. Both may; a third flag decides who frees.",
            || close(SeqCst, SeqCst).to_value(),
        ),
    ]
}

/// Counts those who are inside.
fn visit(inside: &AtomicI64) {
    assert!(inside.fetch_add(1, Relaxed) == 0, "both are inside");
    inside.fetch_sub(1, Relaxed);
}

// case: dekker
/// Two threads enter unless the other one wants to; nobody waits.
fn dekker(raises: Ordering, looks: Ordering) {
    let try_visit = move |own: &AtomicBool, other: &AtomicBool, inside: &AtomicI64| {
        own.store(true, raises);
        if !other.load(looks) {
            visit(inside);
        }
        own.store(false, Release);
    };
    let shared: Arc<(AtomicBool, AtomicBool, AtomicI64)> = Arc::default();
    beside(&shared, move |(a, b, inside)| try_visit(a, b, inside), move |(a, b, inside)| try_visit(b, a, inside));
}
// end

// case: peterson
/// Who wants to enter, and whose turn it is.
#[derive(Default)]
struct Peterson {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
    inside: AtomicI64,
}

/// Two threads enter unless the other one wants to, too, and it is its turn; nobody waits.
fn peterson(stores: Ordering, loads: Ordering) {
    let try_visit = move |lock: &Peterson, own: usize| {
        let other = 1 - own;
        lock.wants[own].store(true, stores);
        lock.turn.store(other, stores);
        if !lock.wants[other].load(loads) || lock.turn.load(loads) == own {
            visit(&lock.inside);
        }
        lock.wants[own].store(false, Release);
    };
    beside(&Arc::default(), move |lock| try_visit(lock, 0), move |lock| try_visit(lock, 1));
}
// end

// case: reader-flag
/// A value in two halves, with a flag for the reader and one for the writer; nobody waits.
#[derive(Default)]
struct Flagged {
    reads: AtomicBool,
    writes: AtomicBool,
    halves: [AtomicI64; 2],
}

/// One thread reads, the other one writes.
fn reader_flag(readers_fence: Ordering) {
    let read = move |lock: &Flagged| {
        lock.reads.store(true, Relaxed);
        fence(readers_fence);
        if !lock.writes.load(Acquire) {
            let [one, other] = [0, 1].map(|half: usize| lock.halves[half].load(Relaxed));
            assert!(one == other, "two halves of different values");
        }
        lock.reads.store(false, Release);
    };
    let write = |lock: &Flagged| {
        lock.writes.store(true, Relaxed);
        fence(SeqCst);
        if !lock.reads.load(Acquire) {
            lock.halves.iter().for_each(|half| half.store(7, Relaxed));
        }
        lock.writes.store(false, Release);
    };
    beside(&Arc::default(), read, write);
}
// end

// case: close
/// Which ends of a channel are gone, and whether it was freed.
#[derive(Default)]
struct Channel {
    gone: [AtomicBool; 2],
    freed: AtomicBool,
}

/// Both ends are dropped.
fn close(stores: Ordering, loads: Ordering) {
    let drop_end = move |channel: &Channel, own: usize| {
        channel.gone[own].store(true, stores);
        if channel.gone[1 - own].load(loads) {
            channel.freed.swap(true, AcqRel);
        }
    };
    let channel = Arc::default();
    beside(&channel, move |channel| drop_end(channel, 0), move |channel| drop_end(channel, 1));
    assert!(channel.freed.load(Relaxed), "nobody has freed the channel");
}
// end
