//! Reference counts, and counts of those who have not arrived yet.

use interloper::ToValue;

use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicI64, AtomicUsize, Ordering, fence};
use super::platform::{beside, thread};
use super::{Bug, CLASSIC, Expected, Family, Program};

use Ordering::{AcqRel, Acquire, Relaxed, Release};

const FILE: Family = Family::new(CLASSIC, include_str!("counts.rs")).weak_memory();
const ARC: Family = FILE.from("std::sync::Arc");
const REPLACED: Family = FILE.from("miri#5323");

pub(super) fn programs() -> Vec<Program> {
    vec![
        ARC.showing("arc-drop").bad(
            "arc-drop-unfenced",
            "arc-drop-fenced",
            Bug::Panic("dropped while in use"),
            "The last one to drop makes no acquire fence: it drops the value while the other thread's use is still on \
             its way.",
            || arc_drop(Release, false).to_value(),
        ),
        ARC.showing("arc-drop").bad(
            "arc-drop-relaxed",
            "arc-drop-fenced",
            Bug::Panic("dropped while in use"),
            "Counts down with Relaxed instead of Release: the fence of the last one has nothing to acquire.",
            || arc_drop(Relaxed, true).to_value(),
        ),
        ARC.showing("arc-drop").good(
            "arc-drop-fenced",
            Expected::Clean,
            "Counts down with Release; the last one makes an acquire fence and drops.",
            || arc_drop(Release, true).to_value(),
        ),
        ARC.showing("arc-get-mut").bad(
            "arc-get-mut-relaxed",
            "arc-get-mut-acquire",
            Bug::Panic("changed while in use"),
            "Asks with Relaxed whether it is the only owner, and changes the value, which the former owner still uses.",
            || arc_get_mut(Relaxed).to_value(),
        ),
        ARC.showing("arc-get-mut").good(
            "arc-get-mut-acquire",
            Expected::Clean,
            "Asks with Acquire whether it is the only owner.",
            || arc_get_mut(Acquire).to_value(),
        ),
        REPLACED.showing("atomic-arc").bad(
            "atomic-arc-increment",
            "atomic-arc-increment-if-alive",
            Bug::Panic("counts up what was freed"),
            "A pointer to a counted value is replaced while a reader has read it and not yet counted: the value is freed \
             in between. It takes no weak memory.",
            || atomic_arc(false).to_value(),
        ),
        REPLACED.showing("atomic-arc").good(
            "atomic-arc-increment-if-alive",
            Expected::Clean,
            "Counts up unless the count is 0. The memory of a count is kept, as in an arena.",
            || atomic_arc(true).to_value(),
        ),
        FILE.showing("latch").bad(
            "latch-relaxed",
            "latch-release",
            Bug::Panic("open before all is done"),
            "Two threads count down a latch with Relaxed instead of Release: who finds it open finds a result missing.",
            || latch(Relaxed).to_value(),
        ),
        FILE.showing("latch").good("latch-release", Expected::Clean, "The threads count down with Release.", || {
            latch(Release).to_value()
        }),
    ]
}

// case: arc-drop
/// Two owners use a value, each its own field, and drop it.
fn arc_drop(counts_down: Ordering, fenced: bool) {
    struct Inner {
        count: AtomicUsize,
        uses: [AtomicI64; 2],
    }
    let use_and_drop = move |inner: &Inner, own: usize| {
        inner.uses[own].store(1, Relaxed);
        if inner.count.fetch_sub(1, counts_down) == 1 {
            if fenced {
                fence(Acquire);
            }
            assert!(inner.uses.iter().all(|used| used.load(Relaxed) == 1), "dropped while in use");
        }
    };
    let inner = Arc::new(Inner { count: AtomicUsize::new(2), uses: Default::default() });
    beside(&inner, move |inner| use_and_drop(inner, 0), move |inner| use_and_drop(inner, 1));
}
// end

// case: arc-get-mut
/// One owner uses a value and drops its reference; the other one changes it if it is the only owner.
fn arc_get_mut(asks: Ordering) {
    let shared = Arc::new((AtomicUsize::new(2), AtomicI64::new(0)));
    let use_and_drop = |(count, used): &(AtomicUsize, AtomicI64)| {
        used.store(1, Relaxed);
        count.fetch_sub(1, Release);
    };
    let get_mut = move |(count, used): &(AtomicUsize, AtomicI64)| {
        if count.load(asks) == 1 {
            assert!(used.load(Relaxed) == 1, "changed while in use");
        }
    };
    beside(&shared, get_mut, use_and_drop);
}
// end

// case: atomic-arc
/// An Arc that can be replaced: the index of the present value, and the counts of two values.
fn atomic_arc(if_alive: bool) {
    let shared = Arc::new((AtomicUsize::new(0), [1, 1].map(AtomicUsize::new)));
    let load = move |(present, counts): &(AtomicUsize, [AtomicUsize; 2])| {
        let count = &counts[present.load(Acquire)];
        if if_alive {
            let _ = count.fetch_update(Relaxed, Relaxed, |count| (count > 0).then_some(count + 1));
        } else {
            assert!(count.fetch_add(1, Relaxed) > 0, "counts up what was freed");
        }
    };
    let replace = |(present, counts): &(AtomicUsize, [AtomicUsize; 2])| {
        let old = present.swap(1, AcqRel);
        counts[old].fetch_sub(1, AcqRel);
    };
    beside(&shared, load, replace);
}
// end

// case: latch
/// Two threads leave a result each and count down; a third looks whether both have.
fn latch(counts_down: Ordering) {
    struct Latch {
        missing: AtomicUsize,
        results: [AtomicI64; 2],
    }
    let latch = Arc::new(Latch { missing: AtomicUsize::new(2), results: Default::default() });
    let work = move |latch: &Latch, own: usize| {
        latch.results[own].store(7, Relaxed);
        latch.missing.fetch_sub(1, counts_down);
    };
    let theirs = Arc::clone(&latch);
    let second = thread::spawn(move || work(&theirs, 1));
    let look = |latch: &Latch| {
        if latch.missing.load(Acquire) == 0 {
            assert!(latch.results.iter().all(|result| result.load(Relaxed) == 7), "open before all is done");
        }
    };
    beside(&latch, look, move |latch| work(latch, 0));
    second.join().unwrap();
}
// end
