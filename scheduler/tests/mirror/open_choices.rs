//! Who is served where std leaves it open: which thread leads at a barrier, which sender a channel without a buffer serves.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use interloper_scheduler::strategies::Exhaustive;
use interloper_scheduler::{Config, Engine, Executions, Unlock};
use interloper_std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use interloper_std::sync::{Arc, Barrier, mpsc};
use interloper_std::thread;

/// How often an exhaustive search sees each outcome of a program.
#[track_caller]
fn outcomes<T: Ord>(program: impl Fn() -> T) -> BTreeMap<T, u32> {
    let seen = RefCell::new(BTreeMap::new());
    let mut engine = Engine::new(Config { unlock: Unlock::Part, ..Config::default() });
    let mut search = Exhaustive::new();
    let run = || *seen.borrow_mut().entry(program()).or_insert(0) += 1;
    engine.explore(&mut search, Executions::AtMost(10_000), run, |_, execution| {
        assert!(execution.end.is_finished(), "{execution:?}");
        ControlFlow::<()>::Continue(())
    });
    assert!(search.exploration().complete, "{:?}", search.exploration());
    assert_eq!(search.exploration().redundant, 0, "{:?}", search.exploration());
    seen.into_inner()
}

/// Main and a child meet at a barrier. They arrive in one of two orders: two traces.
fn meet(asks: bool) -> bool {
    let barrier = Arc::new(Barrier::new(2));
    let theirs = barrier.clone();
    let child = thread::spawn(move || {
        let result = theirs.wait();
        asks && result.is_leader()
    });
    let result = barrier.wait();
    let leads = asks && result.is_leader();
    assert!(child.join().unwrap() != leads || !asks);
    leads
}

#[test]
fn an_arbitrary_thread_leads_at_a_barrier() {
    // After either order of arrival, either may lead.
    let seen = outcomes(|| meet(true));
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [false, true]);
    assert_eq!(seen[&false], seen[&true], "{seen:?}");
    // Nobody asks: there is nothing to decide, and half of the executions do.
    let unasked = outcomes(|| meet(false));
    assert_eq!(2 * unasked[&false], seen[&false] + seen[&true], "{unasked:?} {seen:?}");
}

/// The child is known to wait at the barrier when main comes, and may lead all the same: the last one need not.
#[test]
fn the_last_one_at_a_barrier_need_not_lead() {
    // With one thread there is no choice.
    assert_eq!(outcomes(|| Barrier::new(1).wait().is_leader()), BTreeMap::from([(true, 1)]));
    let order = |asked_again: bool| {
        outcomes(move || {
            let (barrier, came_first) = (Arc::new(Barrier::new(2)), Arc::new(AtomicBool::new(true)));
            let theirs = (barrier.clone(), came_first.clone());
            let child = thread::spawn(move || {
                let came_first = theirs.1.swap(false, SeqCst);
                (came_first, theirs.0.wait().is_leader())
            });
            let came_first = came_first.swap(false, SeqCst);
            let mine = barrier.wait();
            let leads = mine.is_leader();
            assert!(!asked_again || mine.is_leader() == leads, "it is decided once");
            assert_ne!(child.join().unwrap(), (came_first, leads));
            (came_first, leads)
        })
    };
    let seen = order(false);
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert_eq!(order(true), seen);
}

/// Two children send 1 and 2 over a channel without a buffer. Main receives when both wait, or does not wait for that.
#[test]
fn either_sender_is_served() {
    let program = |first_goes_first: bool| {
        move || {
            let (sender, receiver) = mpsc::sync_channel(0);
            let (started, starts) = mpsc::channel::<()>();
            let other = sender.clone();
            let one = thread::spawn(move || {
                if first_goes_first {
                    drop(started);
                }
                sender.send(1).unwrap();
            });
            let two = thread::spawn(move || {
                if first_goes_first {
                    assert!(starts.recv().is_err());
                }
                other.send(2).unwrap();
            });
            let got = [receiver.recv().unwrap(), receiver.recv().unwrap()];
            one.join().unwrap();
            two.join().unwrap();
            got
        }
    };
    assert_eq!(outcomes(program(false)).into_keys().collect::<Vec<_>>(), [[1, 2], [2, 1]]);
    assert_eq!(outcomes(program(true)).into_keys().collect::<Vec<_>>(), [[1, 2], [2, 1]]);
}
