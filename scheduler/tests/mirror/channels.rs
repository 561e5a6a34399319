//! Channels: who waits for ever, and who does not.

use std::cell::RefCell;
use std::collections::BTreeSet;

use interloper_std::sync::mpsc::{TryRecvError, TrySendError, channel, sync_channel};
use interloper_std::thread;

use crate::common::*;

#[test]
fn two_senders_arrive_in_either_order() {
    let orders = RefCell::new(BTreeSet::new());
    let ends = exhaust(|| {
        let (sender, receiver) = channel();
        let other = sender.clone();
        let child = thread::spawn(move || other.send(1).unwrap());
        sender.send(2).unwrap();
        orders.borrow_mut().insert([receiver.recv().unwrap(), receiver.recv().unwrap()]);
        child.join().unwrap();
    });
    assert!(all_finished(&ends));
    assert_eq!(orders.into_inner(), BTreeSet::from([[1, 2], [2, 1]]));
}

#[test]
fn a_receiver_waits_for_a_sender_that_is_never_dropped() {
    fn program(drops: bool) {
        let (sender, receiver) = channel::<u8>();
        let child = thread::spawn(move || receiver.recv().is_err());
        if drops {
            drop(sender);
            assert!(child.join().unwrap());
        } else {
            child.join().unwrap();
        }
    }
    let ends = exhaust(|| program(false));
    assert_eq!(deadlocks(&ends), ends.len());
    assert!(all_finished(&exhaust(|| program(true))));
}

#[test]
fn a_full_channel_that_nobody_reads_is_a_deadlock() {
    fn program(bound: usize) {
        let (sender, receiver) = sync_channel(bound);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
    }
    for bound in 0..2 {
        assert_eq!(deadlocks(&exhaust(|| program(bound))), 1);
    }
    assert!(all_finished(&exhaust(|| program(2))));
}

/// Whichever comes first, the sender or the receiver, they meet; trying to send succeeds only if the receiver waits.
#[test]
fn two_who_meet() {
    let seen = RefCell::new(BTreeSet::new());
    let ends = exhaust(|| {
        let (sender, receiver) = sync_channel(0);
        let child = thread::spawn(move || receiver.recv().ok());
        let tried = match sender.try_send(1) {
            Ok(()) => true,
            Err(TrySendError::Full(message)) => {
                sender.send(message).unwrap();
                false
            }
            Err(TrySendError::Disconnected(_)) => unreachable!(),
        };
        assert_eq!(child.join().unwrap(), Some(1));
        seen.borrow_mut().insert(tried);
    });
    assert!(all_finished(&ends));
    assert_eq!(seen.into_inner(), BTreeSet::from([false, true]));
}

#[test]
fn a_sender_has_met_the_receiver_when_it_goes_on() {
    let ends = exhaust(|| {
        let (sender, receiver) = sync_channel(0);
        let (done, is_done) = channel();
        let child = thread::spawn(move || {
            sender.send(1).unwrap();
            done.send(()).unwrap();
        });
        assert_eq!(is_done.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(is_done.recv(), Ok(()));
        child.join().unwrap();
    });
    assert!(all_finished(&ends));
}

/// The last of two senders says that no message will come, whichever it is.
#[test]
fn the_last_sender_disconnects() {
    let seen = RefCell::new(BTreeSet::new());
    let ends = exhaust(|| {
        let (sender, receiver) = channel::<u8>();
        let other = sender.clone();
        let child = thread::spawn(move || drop(other));
        drop(sender);
        seen.borrow_mut().insert(receiver.try_recv() == Err(TryRecvError::Disconnected));
        child.join().unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    });
    assert!(all_finished(&ends));
    assert_eq!(seen.into_inner(), BTreeSet::from([false, true]));
}
