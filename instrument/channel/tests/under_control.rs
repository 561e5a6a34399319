//! Who waits for ever, and who does not; and what a selection may take.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use interloper_channel::{after, bounded, never, select, unbounded};
use interloper_std::thread;

use schedules::{check, exhaust};

#[path = "../../tests/schedules/mod.rs"]
mod schedules;

#[test]
fn a_sender_that_is_kept_keeps_the_receiver_waiting() {
    check(|keeps| {
        let (sender, receiver) = unbounded::<u8>();
        let kept = keeps.then(|| sender.clone());
        let child = thread::spawn(move || receiver.iter().count());
        sender.send(1).unwrap();
        drop(sender);
        assert_eq!(child.join().unwrap(), 1);
        drop(kept);
    });
}

/// Two that send first and receive then: with room for a message each can go on.
#[test]
fn two_that_send_to_each_other() {
    check(|without_room| {
        let room = usize::from(!without_room);
        let ((to, from), (back, answer)) = (bounded(room), bounded(room));
        let child = thread::spawn(move || {
            back.send(1).unwrap();
            from.recv().unwrap()
        });
        to.send(2).unwrap();
        assert_eq!((answer.recv(), child.join().unwrap()), (Ok(1), 2));
    });
}

#[test]
fn a_selection_waits_for_what_does_not_come() {
    check(|in_vain| {
        let (sender, receiver) = bounded::<u8>(0);
        let nothing = never::<u8>();
        let child = thread::spawn(move || {
            if !in_vain {
                sender.send(1).unwrap();
            } else {
                let _ = sender.try_send(1);
                sender.send(2).unwrap();
            }
        });
        select! {
            recv(receiver) -> message => assert!(message.is_ok()),
            recv(nothing) -> _ => unreachable!(),
        }
        child.join().unwrap();
        assert!(receiver.recv().is_err());
    });
}

#[test]
fn all_who_wait_learn_that_nobody_sends() {
    let (deadlocks, finished) = exhaust(|| {
        let (sender, receiver) = bounded::<u8>(0);
        let other = receiver.clone();
        let child = thread::spawn(move || select! { recv(other) -> message => message.is_err() });
        drop(sender);
        assert!(receiver.recv().is_err() && child.join().unwrap());
    });
    assert!(deadlocks == 0 && finished > 0);
}

/// With both ready the run chooses; with one of them the selection takes that.
#[test]
fn a_selection_may_take_either() {
    let seen = RefCell::new(BTreeSet::new());
    let (deadlocks, _) = exhaust(|| {
        let ((one, first), (two, second)) = (bounded(1), bounded(1));
        let child = thread::spawn(move || one.send(1).unwrap());
        two.send(2).unwrap();
        let taken = select! {
            recv(first) -> message => message.unwrap(),
            recv(second) -> message => message.unwrap(),
        };
        child.join().unwrap();
        seen.borrow_mut().insert((taken, first.len(), second.len()));
    });
    assert_eq!(deadlocks, 0);
    assert_eq!(seen.into_inner(), BTreeSet::from([(1, 0, 1), (2, 1, 0)]));
}

/// Two that only try do not meet; one that tries meets one that waits.
#[test]
fn who_meets_whom() {
    let program = |waits: bool, seen: &RefCell<BTreeSet<(bool, bool)>>| {
        let (sender, receiver) = bounded::<u8>(0);
        let child = thread::spawn(move || {
            if waits {
                select! {
                    recv(receiver) -> message => message.is_ok(),
                    default(Duration::from_secs(1)) => false,
                }
            } else {
                select! {
                    recv(receiver) -> message => message.is_ok(),
                    default => false,
                }
            }
        });
        let sent = sender.try_send(1).is_ok();
        let tried = select! {
            send(sender, 2) -> sent => sent.is_ok(),
            default => false,
        };
        let received = child.join().unwrap();
        assert_eq!(received, sent || tried);
        seen.borrow_mut().insert((sent, tried));
    };
    let (both_try, one_waits) = (RefCell::default(), RefCell::default());
    assert_eq!(exhaust(|| program(true, &one_waits)).0, 0);
    assert_eq!(one_waits.into_inner(), BTreeSet::from([(false, false), (false, true), (true, false)]));
    assert_eq!(exhaust(|| program(false, &both_try)).0, 0);
    assert_eq!(both_try.into_inner(), BTreeSet::from([(false, false)]));
}

/// What a selection has taken nobody else takes, and room that it was promised nobody else uses.
#[test]
fn promises_are_kept() {
    let (deadlocks, finished) = exhaust(|| {
        let (sender, receiver) = bounded(1);
        let other = sender.clone();
        let child = thread::spawn(move || select! { send(other, 1) -> sent => sent.is_ok(), default => false });
        let own = select! { send(sender, 2) -> sent => sent.is_ok(), default => false };
        let both = u32::from(child.join().unwrap()) + u32::from(own);
        assert_eq!((both, receiver.len()), (1, 1));
    });
    assert!(deadlocks == 0 && finished > 0);
}

#[test]
fn the_clock_passes_when_nothing_else_can() {
    let long = Duration::from_secs(1_000_000);
    let (deadlocks, finished) = exhaust(|| {
        let (sender, receiver) = bounded::<u8>(0);
        let child = thread::spawn(move || sender.send(1).is_ok());
        let met = select! {
            recv(receiver) -> message => message.is_ok(),
            recv(after(long)) -> _ => false,
        };
        assert!(met && child.join().unwrap());
        let nothing = never::<u8>();
        select! {
            recv(nothing) -> _ => unreachable!(),
            recv(after(long)) -> instant => assert!(instant.is_ok()),
        }
    });
    assert!(deadlocks == 0 && finished > 0);
}
