//! Programs over parts of std that some mirrors of it lack: `OnceLock`, channels, scoped threads; and a lock of
//! parking_lot.

use interloper::ToValue;
use interloper::parking_lot::{RwLock, RwLockUpgradableReadGuard};

use super::platform::sync::atomic::{AtomicI64, Ordering::SeqCst};
use super::platform::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use super::platform::sync::{Arc, OnceLock};
use super::platform::{atomic, beside, thread};
use super::{Bug, CLASSIC, Expected, Family, Program};

const FILE: Family = Family::new(CLASSIC, include_str!("mirrored.rs"));

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.bad(
            "once-lock-set-if-none",
            "once-lock-get-or-init",
            Bug::Panic("the cell was empty a moment ago"),
            "Sets a cell that was empty a moment ago: the other thread has set it meanwhile.",
            || once_lock(set_if_none).to_value(),
        ),
        FILE.good(
            "once-lock-get-or-init",
            Expected::Error,
            "Asks the cell to see to it. It looks, locks out others, and looks again, as a double-checked \
             initialisation does: the other thread may set it between the two looks.",
            || once_lock(get_or_init).to_value(),
        ),
        FILE.bad(
            "increment-by-attribute",
            "increment-by-attribute-at-once",
            Bug::NotSerialisable,
            "A function marked as a block that counts in two steps, in scoped threads: one count is lost.",
            || scoped(increment).to_value(),
        ),
        FILE.good(
            "increment-by-attribute-at-once",
            Expected::Clean,
            "A function marked as a block that counts in one step.",
            || scoped(increment_at_once).to_value(),
        ),
        FILE.good(
            "upgrade-upgradable",
            Expected::Warning,
            "Looks under an upgradable read lock, and upgrades it to fill the cell. It takes the lock in two steps, \
             and no thread writes between them: a writer waits.",
            || upgrade_upgradable().to_value(),
        ),
        FILE.bad(
            "channel-sender-kept",
            "channel-sender-dropped",
            Bug::Deadlock,
            "Waits for a thread that receives until all senders are gone, and keeps a sender: a deadlock in every \
             schedule.",
            || receive_all(receive_with_a_sender).to_value(),
        ),
        FILE.trivial().good("channel-sender-dropped", Expected::Clean, "Drops its sender before it waits.", || {
            receive_all(receive_without_a_sender).to_value()
        }),
        FILE.bad(
            "channel-receiver-gone",
            "channel-send-may-fail",
            Bug::Panic("the receiver is gone"),
            "Sends two messages to a thread that receives one: it may be gone before the second, and may not.",
            || receiver_gone(send_both).to_value(),
        ),
        FILE.good("channel-send-may-fail", Expected::Clean, "Sends as long as a receiver exists.", || {
            receiver_gone(send_while_received).to_value()
        }),
        FILE.showing("rendezvous").bad(
            "rendezvous-both-send",
            "rendezvous-one-receives",
            Bug::Deadlock,
            "Two threads exchange messages over channels without room, and both send first: each waits for the other \
             to receive.",
            || rendezvous(true).to_value(),
        ),
        FILE.showing("rendezvous").good(
            "rendezvous-one-receives",
            Expected::Clean,
            "One sends first, the other one receives first.",
            || rendezvous(false).to_value(),
        ),
    ]
}

/// What two threads get that offer 1 and 2.
fn once_lock(get: fn(&OnceLock<i64>, offer: i64) -> i64) -> (i64, i64) {
    let cell = Arc::new(OnceLock::new());
    beside(&cell, |cell| get(cell, 1), move |cell| get(cell, 2))
}

// case: once-lock-set-if-none
/// Looks, then sets.
fn set_if_none(cell: &OnceLock<i64>, offer: i64) -> i64 {
    atomic("get_or_set", || {
        if let Some(value) = cell.get() {
            return *value;
        }
        assert!(cell.set(offer).is_ok(), "the cell was empty a moment ago");
        offer
    })
}
// end

// case: once-lock-get-or-init
/// Looks and sets in one operation.
fn get_or_init(cell: &OnceLock<i64>, offer: i64) -> i64 {
    atomic("get_or_set", || *cell.get_or_init(|| offer))
}
// end

/// Two scoped threads count; gives the count.
fn scoped(increment: fn(&AtomicI64)) -> i64 {
    let number = AtomicI64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| increment(&number));
        increment(&number);
    });
    number.into_inner()
}

// case: increment-by-attribute
/// Reads, then writes.
#[atomic]
fn increment(number: &AtomicI64) {
    let seen = number.load(SeqCst);
    number.store(seen + 1, SeqCst);
}
// end

// case: increment-by-attribute-at-once
/// Reads and writes.
#[atomic]
fn increment_at_once(number: &AtomicI64) {
    number.fetch_add(1, SeqCst);
}
// end

// case: upgrade-upgradable
/// Two threads want a value that is made when it is needed; gives what they got, and how many were made.
fn upgrade_upgradable() -> (i64, i64, i64) {
    fn get((value, made): &(RwLock<Option<i64>>, AtomicI64)) -> i64 {
        atomic("get", || {
            let found = value.upgradable_read();
            if let Some(value) = *found {
                return value;
            }
            let new = made.fetch_add(1, SeqCst) + 1;
            *RwLockUpgradableReadGuard::upgrade(found) = Some(new);
            new
        })
    }
    let cell = Arc::new((RwLock::new(None), AtomicI64::new(0)));
    let (own, other) = beside(&cell, get, get);
    (own, other, cell.1.load(SeqCst))
}
// end

/// Sends 7, then has everything received; gives the sum.
fn receive_all(receive: fn(Sender<i64>, Receiver<i64>) -> i64) -> i64 {
    let (sender, receiver) = channel();
    sender.send(7).unwrap();
    receive(sender, receiver)
}

// case: channel-sender-kept
/// The sender lives until the thread has ended.
fn receive_with_a_sender(_sender: Sender<i64>, receiver: Receiver<i64>) -> i64 {
    thread::spawn(move || receiver.iter().sum()).join().unwrap()
}
// end

// case: channel-sender-dropped
/// The sender is dropped first.
fn receive_without_a_sender(sender: Sender<i64>, receiver: Receiver<i64>) -> i64 {
    drop(sender);
    thread::spawn(move || receiver.iter().sum()).join().unwrap()
}
// end

/// Gives how many messages were sent, and the one that was received.
fn receiver_gone(send: fn(Sender<i64>) -> usize) -> (usize, Option<i64>) {
    let (sender, receiver) = channel();
    let receives = thread::spawn(move || receiver.recv().ok());
    (send(sender), receives.join().unwrap())
}

// case: channel-receiver-gone
/// Nobody is prepared for the end of the other thread.
fn send_both(sender: Sender<i64>) -> usize {
    for message in [1, 2] {
        assert!(sender.send(message).is_ok(), "the receiver is gone");
    }
    2
}
// end

// case: channel-send-may-fail
/// Stops when the other thread has ended.
fn send_while_received(sender: Sender<i64>) -> usize {
    [1, 2].into_iter().take_while(|message| sender.send(*message).is_ok()).count()
}
// end

// case: rendezvous
/// Two threads exchange 1 and 2; gives what they received.
fn rendezvous(both_send_first: bool) -> (i64, i64) {
    let (to_other, from_own) = sync_channel(0);
    let (to_own, from_other) = sync_channel(0);
    let other = thread::spawn(move || {
        if both_send_first {
            to_own.send(2).unwrap();
            return from_own.recv().unwrap();
        }
        let received = from_own.recv().unwrap();
        to_own.send(2).unwrap();
        received
    });
    to_other.send(1).unwrap();
    let received = from_other.recv().unwrap();
    (received, other.join().unwrap())
}
// end
