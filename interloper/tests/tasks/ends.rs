//! How tasks end: with a result, a panic, an abort, or never.

use std::future::{pending, poll_fn};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use interloper::blocks::{Finding, Freedom, Freedoms, Grade};
use interloper::panic::catch_unwind;
use interloper::sync::atomic::AtomicU32;
use interloper::sync::mpsc;
use interloper::tasks::{Executor, sleep, timeout, yield_now};
use interloper::time::Instant;
use interloper::{Checker, block_on, spawn};

use crate::support::{finding, found, passes, workers};

/// Runs something beside another task that is ready, so that there is a choice.
fn beside<T>(own: impl Future<Output = T>) -> T {
    block_on(async {
        let other = spawn(yield_now());
        let output = own.await;
        other.await.unwrap();
        output
    })
}

#[test]
fn a_panic_is_told_by_the_handle() {
    passes(|| {
        beside(async {
            let task = spawn(async { panic!("no luck") });
            let error = task.await.map(|(): ()| ()).unwrap_err();
            assert!(error.is_panic() && !error.is_cancelled());
            assert_eq!(error.to_string(), "the task panicked: no luck");
            assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "no luck");
        });
    });
}

#[test]
fn a_panic_that_no_handle_tells_is_a_bug() {
    let unheard = || {
        beside(async {
            drop(spawn(async { panic!("no luck") }));
            yield_now().await;
        });
    };
    let Finding::Panic { message, .. } = finding(unheard) else { panic!("a panic") };
    assert_eq!(message, "no luck");
}

#[test]
fn a_task_goes_on_without_its_handle() {
    passes(|| {
        let ran = Arc::new(AtomicU32::new(0));
        let own = Arc::clone(&ran);
        beside(async {
            drop(spawn(async move { own.store(1, SeqCst) }));
            while ran.load(SeqCst) == 0 {
                yield_now().await;
            }
        });
    });
}

/// Says when it is dropped.
struct Dropped(Arc<AtomicU32>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn an_aborted_task_drops_its_future() {
    passes(|| {
        let drops = Arc::new(AtomicU32::new(0));
        let own = Dropped(Arc::clone(&drops));
        beside(async {
            let task = spawn(async move {
                let _own = own;
                pending::<()>().await;
            });
            let handle = task.abort_handle();
            yield_now().await;
            assert!(!handle.is_finished());
            handle.abort();
            let error = task.await.unwrap_err();
            assert!(error.is_cancelled() && handle.is_finished());
            assert_eq!(error.to_string(), "the task was cancelled");
            assert_eq!(drops.load(SeqCst), 1);
        });
    });
}

#[test]
fn an_abort_that_comes_too_late_changes_nothing() {
    passes(|| {
        beside(async {
            let task = spawn(async { 7 });
            while !task.is_finished() {
                yield_now().await;
            }
            task.abort();
            assert_eq!(task.await.unwrap(), 7);
        });
    });
}

#[test]
fn tasks_that_are_left_are_dropped_at_the_end() {
    for executor in [Executor::new(), workers(2)] {
        passes(move || {
            let drops = Arc::new(AtomicU32::new(0));
            executor.block_on(async {
                for _ in 0..2 {
                    let own = Dropped(Arc::clone(&drops));
                    let task = async move {
                        let _own = own;
                        pending::<()>().await;
                    };
                    drop(spawn(task));
                }
                yield_now().await;
            });
            assert_eq!(drops.load(SeqCst), 2);
        });
    }
}

#[test]
fn calls_that_need_an_executor_say_so() {
    let says = |program: fn()| {
        let Finding::Panic { message, .. } = finding(program) else { panic!("a panic") };
        message
    };
    assert_eq!(
        says(|| beside(async { block_on(async {}) })),
        "block_on was called inside a task, which would block its executor: await the future instead"
    );
    assert_eq!(
        says(|| beside(async { interloper::thread::spawn(|| drop(spawn(async {}))).join().unwrap() })),
        "spawn was called outside of an executor: call it in a future that block_on runs"
    );
}

/// One task waits for a message inside its poll; the other one sends it. With one poll at a time it never comes.
fn blocks_in_poll(executor: Executor) {
    executor.block_on(async {
        let (sender, receiver) = mpsc::channel();
        let receives = spawn(async move { receiver.recv().unwrap() });
        let sends = spawn(async move { sender.send(7).unwrap() });
        assert_eq!(receives.await.unwrap(), 7);
        sends.await.unwrap();
    });
}

#[test]
fn a_future_that_blocks_its_executor_is_a_deadlock() {
    assert!(matches!(finding(|| blocks_in_poll(Executor::new())), Finding::Deadlock));
    assert!(matches!(finding(|| blocks_in_poll(workers(1))), Finding::Deadlock));
    passes(|| blocks_in_poll(workers(2)));
}

/// Waits until a flag is set. The waker is stored before or after the look at the flag.
fn waits_for_flag(looks_again: bool) -> impl Fn() + Sync {
    move || {
        workers(2).block_on(async {
            let flag = Arc::new(AtomicU32::new(0));
            let waker = Arc::new(interloper::sync::Mutex::new(None::<Waker>));
            let sets = spawn({
                let (flag, waker) = (Arc::clone(&flag), Arc::clone(&waker));
                async move {
                    flag.store(1, SeqCst);
                    let waker = waker.lock().unwrap().take();
                    waker.into_iter().for_each(Waker::wake);
                }
            });
            let waits = spawn(poll_fn(move |context| {
                if flag.load(SeqCst) == 1 {
                    return Poll::Ready(());
                }
                *waker.lock().unwrap() = Some(context.waker().clone());
                if looks_again && flag.load(SeqCst) == 1 { Poll::Ready(()) } else { Poll::Pending }
            }));
            sets.await.unwrap();
            waits.await.unwrap();
        });
    }
}

#[test]
fn a_lost_wake_up_is_a_deadlock() {
    assert!(matches!(finding(waits_for_flag(false)), Finding::Deadlock));
    passes(waits_for_flag(true));
}

#[test]
fn calls_of_a_waker_between_two_polls_count_as_one() {
    let polls = |calls: usize| {
        let seen = Mutex::new(Vec::new());
        passes(|| {
            let polls = Arc::new(Mutex::new(0));
            let own = Arc::clone(&polls);
            beside(async move {
                let waker = Arc::new(Mutex::new(None::<Waker>));
                let theirs = Arc::clone(&waker);
                let waits = spawn(poll_fn(move |context| {
                    *own.lock().unwrap() += 1;
                    let earlier = theirs.lock().unwrap().replace(context.waker().clone());
                    if earlier.is_some() { Poll::Ready(()) } else { Poll::Pending }
                }));
                // The first poll has run when the waker is there.
                while waker.lock().unwrap().is_none() {
                    yield_now().await;
                }
                for _ in 0..calls {
                    waker.lock().unwrap().clone().unwrap().wake();
                }
                waits.await.unwrap();
            });
            seen.lock().unwrap().push(*polls.lock().unwrap());
        });
        seen.into_inner().unwrap()
    };
    assert!(polls(1).into_iter().all(|polls| polls == 2));
    assert!(polls(2).into_iter().all(|polls| polls == 2));
}

/// Two tasks sleep, and the longer sleep begins first.
fn two_sleep() {
    let order = Arc::new(Mutex::new(Vec::new()));
    block_on(async {
        let sleeps = |millis: u64| {
            let order = Arc::clone(&order);
            spawn(async move {
                sleep(Duration::from_millis(millis)).await;
                order.lock().unwrap().push(millis);
            })
        };
        for task in [sleeps(20), sleeps(10)] {
            task.await.unwrap();
        }
    });
    assert_eq!(*order.lock().unwrap(), [10, 20]);
}

#[test]
fn the_clock_passes_when_no_task_is_ready() {
    let ordinary = Checker::new("program").executions(200).freedoms(Freedoms::NONE);
    ordinary.check(two_sleep).unwrap().assert_grade(Grade::Clean);
    // Nothing promises that a sleep of 10 ms ends before one of 20 ms.
    assert_eq!(found(two_sleep).bug.unwrap().departures, Freedoms::NONE.with(Freedom::Time, 1));
}

/// A task that yields is ready: it goes on before the clock moves. A loop that yields for ever waits for the clock.
#[test]
fn who_yields_is_ready_before_a_sleep_ends() {
    let over_in_time = |rounds: u32| {
        move || {
            beside(async {
                let (over, stops) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
                let task = spawn({
                    let (over, stops) = (Arc::clone(&over), Arc::clone(&stops));
                    async move {
                        for _ in 0..rounds {
                            yield_now().await;
                            if stops.load(SeqCst) == 1 {
                                break;
                            }
                        }
                        over.store(1, SeqCst);
                    }
                });
                sleep(Duration::from_secs(1)).await;
                assert_eq!(over.load(SeqCst), u32::from(rounds < u32::MAX));
                stops.store(1, SeqCst);
                task.await.unwrap();
            });
        }
    };
    let ordinary = Checker::new("program").executions(100).freedoms(Freedoms::NONE);
    for rounds in [30, u32::MAX] {
        ordinary.check(over_in_time(rounds)).unwrap().assert_grade(Grade::Clean);
    }
}

#[test]
fn a_time_out_ends_a_wait() {
    passes(|| {
        beside(async {
            assert!(timeout(Duration::from_secs(3600), pending::<()>()).await.is_err());
            assert_eq!(timeout(Duration::from_secs(1), async { 7 }).await, Ok(7));
        });
    });
}

#[test]
fn a_time_out_may_come_early_or_late() {
    // The task needs no time, but nothing promises that it runs before the time-out.
    let report = found(|| {
        block_on(async {
            let task = spawn(yield_now());
            assert!(timeout(Duration::from_millis(1), task).await.is_ok());
        });
    });
    assert_eq!(report.bug.unwrap().departures, Freedoms::NONE.with(Freedom::Time, 1));
}

/// A task that looks at the clock again and again makes it pass. A time-out that is polled again and again does not look.
#[test]
fn a_time_out_that_is_not_reached_lets_no_time_pass() {
    let ordinary = Checker::new("program").executions(100).freedoms(Freedoms::NONE);
    let program = || {
        beside(async {
            let start = Instant::now();
            let all = async {
                for number in 0..40 {
                    assert_eq!(spawn(async move { number }).await.unwrap(), number);
                }
            };
            assert_eq!(timeout(Duration::from_secs(3600), all).await, Ok(()));
            assert_eq!(start.elapsed(), Duration::ZERO);
        });
    };
    ordinary.check(program).unwrap().assert_grade(Grade::Clean);
}

#[test]
fn a_panic_of_the_program_drops_the_tasks() {
    let drops = Mutex::new(Vec::new());
    let program = || {
        let dropped = Arc::new(AtomicU32::new(0));
        let own = Dropped(Arc::clone(&dropped));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            beside(async move {
                drop(spawn(async move {
                    let _own = own;
                    pending::<()>().await;
                }));
                yield_now().await;
                panic!("no luck");
            });
        }));
        assert!(caught.is_err());
        drops.lock().unwrap().push(dropped.load(SeqCst));
    };
    passes(program);
    assert!(drops.into_inner().unwrap().into_iter().all(|drops| drops == 1));
}
