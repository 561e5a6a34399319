//! Threads that sleep until another thread wakes them.

use interloper::ToValue;

use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicBool, AtomicI64, Ordering, fence};
use super::platform::{beside, thread};
use super::{Bug, CLASSIC, Expected, Family, Program};

use Ordering::{Acquire, Relaxed, Release, SeqCst};

const FILE: Family = Family::new(CLASSIC, include_str!("waiting.rs")).weak_memory();

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.showing("event-count").bad(
            "event-count-unfenced",
            "event-count-fenced",
            Bug::Deadlock,
            "Who makes the event looks for sleepers without a SeqCst fence after its store: it sees nobody asleep, and \
             the sleeper no event.",
            || event_count(false).to_value(),
        ),
        FILE.showing("event-count").good(
            "event-count-fenced",
            Expected::Clean,
            "Both make a SeqCst fence between their store and their look.",
            || event_count(true).to_value(),
        ),
        FILE.showing("parker").bad(
            "parker-relaxed",
            "parker-release",
            Bug::Panic("woken for nothing"),
            "A parker whose unpark swaps its state with Relaxed instead of Release: who finds the token does not find \
             what happened before.",
            || parker(Relaxed).to_value(),
        ),
        FILE.showing("parker").good(
            "parker-release",
            Expected::Clean,
            "The unpark swaps the state with Release.",
            || parker(Release).to_value(),
        ),
    ]
}

// case: event-count
/// One thread sleeps until there is an event; the other one makes it, and wakes who sleeps.
fn event_count(fenced: bool) {
    #[derive(Default)]
    struct Event {
        happened: AtomicBool,
        asleep: AtomicBool,
    }
    let event: Arc<Event> = Arc::default();
    let theirs = Arc::clone(&event);
    let sleeper = thread::spawn(move || {
        theirs.asleep.store(true, Relaxed);
        fence(SeqCst);
        while !theirs.happened.load(Acquire) {
            thread::park();
        }
    });
    event.happened.store(true, Release);
    if fenced {
        fence(SeqCst);
    }
    if event.asleep.load(Relaxed) {
        sleeper.thread().unpark();
    }
    sleeper.join().unwrap();
}
// end

// case: parker
/// One thread leaves a message and a token, the other one takes the message if the token is there.
fn parker(unparks: Ordering) {
    let unpark = move |(token, message): &(AtomicBool, AtomicI64)| {
        message.store(7, Relaxed);
        token.swap(true, unparks);
    };
    let try_park = |(token, message): &(AtomicBool, AtomicI64)| {
        if token.swap(false, Acquire) {
            assert!(message.load(Relaxed) == 7, "woken for nothing");
        }
    };
    beside(&Arc::default(), try_park, unpark);
}
// end
