//! Parking and unparking, outside of a controlled run and, in all schedules, under control.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Mutex as RealMutex;

use interloper_scheduler::strategies::Exhaustive;
use interloper_scheduler::{Config, Engine, Executions, Freedom, Freedoms, Stopped};
use interloper_std::sync::Arc;
use interloper_std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use interloper_std::thread;
use interloper_std::time::{Duration, Instant};
use parking_lot_core::{
    DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, FilterOp, ParkResult, ParkToken, RequeueOp, SpinWait, UnparkToken,
};

use schedules::exhaust;

#[path = "../../tests/schedules/mod.rs"]
mod schedules;

/// Parks at `key` with a token, if `flag` is not set.
fn park_unless(flag: &AtomicBool, key: usize, token: usize) -> ParkResult {
    let validate = || !flag.load(Ordering::SeqCst);
    // SAFETY: the keys of a test are addresses of its own, and the functions call nothing of the crate.
    unsafe { parking_lot_core::park(key, validate, || (), |_, _| unreachable!(), ParkToken(token), None) }
}

fn unpark_one(key: usize, token: usize) -> usize {
    // SAFETY: as above.
    unsafe { parking_lot_core::unpark_one(key, |_| UnparkToken(token)) }.unparked_threads
}

fn address<T>(value: &T) -> usize {
    std::ptr::from_ref(value).addr()
}

/// Runs `program` as it is, and in all schedules: it always comes to its end.
#[track_caller]
fn check(program: impl Fn()) {
    program();
    let (deadlocks, finished) = exhaust(&program);
    assert!(deadlocks == 0 && finished > 0);
}

#[test]
fn no_wake_up_is_lost_if_the_flag_is_looked_at() {
    fn program(looks: bool) {
        let flag = Arc::new(AtomicBool::new(false));
        let child = thread::spawn({
            let flag = Arc::clone(&flag);
            let other = AtomicBool::new(false);
            move || park_unless(if looks { &flag } else { &other }, address(&*flag), 0)
        });
        flag.store(true, Ordering::SeqCst);
        unpark_one(address(&*flag), 7);
        let result = child.join().unwrap();
        assert!(matches!(result, ParkResult::Invalid | ParkResult::Unparked(UnparkToken(7))));
        assert_eq!(result.is_unparked(), result != ParkResult::Invalid);
    }
    check(|| program(true));
    let (deadlocks, finished) = exhaust(|| program(false));
    assert!(deadlocks > 0 && finished > 0);
}

#[test]
fn what_happens_before_the_sleep_may_unpark() {
    check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let key = address(&*flag);
        let child = thread::spawn({
            let flag = Arc::clone(&flag);
            move || {
                while !flag.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
                unpark_one(key, 1)
            }
        });
        // SAFETY: as above.
        let result = unsafe {
            let before_sleep = || flag.store(true, Ordering::SeqCst);
            parking_lot_core::park(key, || true, before_sleep, |_, _| (), DEFAULT_PARK_TOKEN, None)
        };
        assert_eq!(result, ParkResult::Unparked(UnparkToken(1)));
        assert_eq!(child.join().unwrap(), 1);
    });
}

#[test]
fn the_time_passes() {
    check(|| {
        let key = Box::new(0_u8);
        let mut last = None;
        let timeout = Some(Instant::now() + Duration::from_millis(2));
        let timed_out = |key, was_last| last = Some((key, was_last));
        // SAFETY: as above.
        let result =
            unsafe { parking_lot_core::park(address(&*key), || true, || (), timed_out, DEFAULT_PARK_TOKEN, timeout) };
        assert_eq!((result, last), (ParkResult::TimedOut, Some((address(&*key), true))));
        assert_eq!(unpark_one(address(&*key), 0), 0);
    });
}

/// Waits until `count` threads are in the queue of `key`.
fn await_parked(key: usize, count: usize) {
    loop {
        let mut parked = 0;
        let look = |_| {
            parked += 1;
            FilterOp::Skip
        };
        // SAFETY: as above.
        unsafe { parking_lot_core::unpark_filter(key, look, |_| DEFAULT_UNPARK_TOKEN) };
        if parked == count {
            return;
        }
        thread::yield_now();
    }
}

/// Two threads that park with the tokens 1 and 2, and what they are unparked with.
fn two_parked(key: usize, unpark: impl FnOnce()) -> [ParkResult; 2] {
    let children = [1, 2].map(|token| {
        let flag = AtomicBool::new(false);
        thread::spawn(move || park_unless(&flag, key, token))
    });
    await_parked(key, 2);
    unpark();
    children.map(|child| child.join().unwrap())
}

#[test]
fn threads_are_chosen_by_their_tokens() {
    check(|| {
        let place = Box::new(0_u8);
        let key = address(&*place);
        let results = two_parked(key, || {
            let choose = |token| if token == ParkToken(2) { FilterOp::Unpark } else { FilterOp::Skip };
            // SAFETY: as above.
            let result = unsafe { parking_lot_core::unpark_filter(key, choose, |_| UnparkToken(20)) };
            assert_eq!((result.unparked_threads, result.have_more_threads, result.be_fair), (1, true, false));
            // SAFETY: as above.
            let none = unsafe { parking_lot_core::unpark_filter(key, |_| FilterOp::Stop, |_| UnparkToken(5)) };
            assert_eq!((none.unparked_threads, none.have_more_threads), (0, true));
            // SAFETY: as above.
            assert_eq!(unsafe { parking_lot_core::unpark_all(key, UnparkToken(10)) }, 1);
        });
        assert_eq!(results, [10, 20].map(|token| ParkResult::Unparked(UnparkToken(token))));
    });
}

#[test]
fn threads_change_their_queue() {
    check(|| {
        let places = Box::new([0_u64; 2]);
        let (from, to) = (address(&places[0]), address(&places[1]));
        let results = two_parked(from, || {
            let validate = || RequeueOp::UnparkOneRequeueRest;
            // SAFETY: as above.
            let result = unsafe {
                parking_lot_core::unpark_requeue(from, to, validate, |operation, result| {
                    assert_eq!((operation, result.unparked_threads), (RequeueOp::UnparkOneRequeueRest, 1));
                    UnparkToken(1)
                })
            };
            assert_eq!((result.unparked_threads, result.requeued_threads, result.have_more_threads), (1, 1, false));
            assert_eq!((unpark_one(from, 0), unpark_one(to, 2), unpark_one(to, 0)), (0, 1, 0));
            // SAFETY: as above.
            let none =
                unsafe { parking_lot_core::unpark_requeue(from, to, || RequeueOp::Abort, |_, _| unreachable!()) };
            assert_eq!(none.unparked_threads, 0);
        });
        let [first, second] = results;
        assert_ne!(first, second);
        assert!(
            results.iter().all(|result| [1, 2].map(|token| ParkResult::Unparked(UnparkToken(token))).contains(result))
        );
    });
}

/// Of two that are parked the first comes out first, in either order of parking.
#[test]
fn the_first_is_unparked_first() {
    let orders = RefCell::new(BTreeSet::new());
    let (deadlocks, _) = exhaust(|| {
        let place = Box::new(0_u8);
        let order = Arc::new(RealMutex::new(Vec::new()));
        let key = address(&*place);
        let results = two_parked(key, || {
            let tokens = |token: ParkToken| {
                order.lock().unwrap().push(token.0);
                FilterOp::Skip
            };
            // SAFETY: as above.
            unsafe { parking_lot_core::unpark_filter(key, tokens, |_| DEFAULT_UNPARK_TOKEN) };
            assert_eq!(unpark_one(key, 1) + unpark_one(key, 2), 2);
        });
        let order = order.lock().unwrap().clone();
        assert_eq!(results[order[0] - 1], ParkResult::Unparked(UnparkToken(1)));
        orders.borrow_mut().insert(order);
    });
    assert_eq!(deadlocks, 0);
    assert_eq!(orders.into_inner(), BTreeSet::from([vec![1, 2], vec![2, 1]]));
}

/// What a thread that parks sees of a relaxed store before the unparking, where memory is weak: how the park ended, and the
/// value. `pauses` is what it does before it sleeps.
fn seen(unpark: impl Fn(usize), pauses: fn()) -> BTreeSet<(bool, usize)> {
    let seen = RefCell::new(BTreeSet::new());
    let program = || {
        let shared = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
        let key = address(&*shared);
        let child = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let validate = || !shared.1.load(Ordering::Relaxed);
                // SAFETY: as above.
                let result =
                    unsafe { parking_lot_core::park(key, validate, pauses, |_, _| (), DEFAULT_PARK_TOKEN, None) };
                (result.is_unparked(), shared.0.load(Ordering::Relaxed))
            }
        });
        shared.0.store(1, Ordering::Relaxed);
        shared.1.store(true, Ordering::Relaxed);
        unpark(key);
        seen.borrow_mut().insert(child.join().unwrap());
    };
    let freedoms = Freedoms::NONE.with(Freedom::Memory, u32::MAX);
    let mut engine = Engine::new(Config { freedoms, ..Config::default() });
    let explored = engine.explore(&mut Exhaustive::new(), Executions::AtMost(100_000), program, |_, execution| {
        if execution.end.is_finished() { ControlFlow::Continue(()) } else { ControlFlow::Break(execution) }
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    seen.into_inner()
}

/// Who is unparked sees what came before, by whichever function, also if it was unparked before it slept. Who has seen the flag
/// alone may see less: the flag is relaxed.
#[test]
fn the_unparking_happens_before_the_return_of_the_park() {
    let one = |key| _ = unpark_one(key, 0);
    // SAFETY: as above.
    let all = |key| _ = unsafe { parking_lot_core::unpark_all(key, DEFAULT_UNPARK_TOKEN) };
    let filtered = |key| {
        // SAFETY: as above.
        unsafe { parking_lot_core::unpark_filter(key, |_| FilterOp::Unpark, |_| DEFAULT_UNPARK_TOKEN) };
    };
    let requeued = |key| {
        let validate = || RequeueOp::UnparkOneRequeueRest;
        // SAFETY: as above.
        unsafe { parking_lot_core::unpark_requeue(key, key + 1, validate, |_, _| DEFAULT_UNPARK_TOKEN) };
    };
    let unparks: [&dyn Fn(usize); 4] = [&one, &all, &filtered, &requeued];
    let expected = BTreeSet::from([(true, 1), (false, 0), (false, 1)]);
    for unpark in unparks {
        assert_eq!(seen(unpark, || ()), expected);
        assert_eq!(seen(unpark, thread::yield_now), expected);
    }
}

#[test]
fn spinning_ends() {
    let rounds = || {
        let mut spin = SpinWait::new();
        let rounds = std::iter::from_fn(|| spin.spin().then_some(())).count();
        spin.reset();
        spin.spin_no_yield();
        rounds
    };
    assert_eq!(rounds(), 10);
    let counted = AtomicUsize::new(9);
    assert_eq!(exhaust(|| counted.store(rounds(), Ordering::Relaxed)), (0, 1));
    assert_eq!(counted.into_inner(), 0);
}
