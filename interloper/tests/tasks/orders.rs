//! In which orders tasks are polled.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interloper::Checker;
use interloper::blocks::{Misuse, Unexplored};
use interloper::sync::atomic::AtomicU32;
use interloper::tasks::{Executor, sleep, yield_now};

use crate::support::{all, all_pass, finding, passes, workers};

/// Which orders of some tasks, which the program awaits in the order of spawning, the search has seen.
fn orders(tasks: u32) -> (u64, BTreeSet<Vec<u32>>) {
    let seen = Mutex::new(BTreeSet::new());
    let executions = all_pass(|| {
        // Not under control: between awaits a task is alone.
        let order = Arc::new(Mutex::new(Vec::new()));
        interloper::block_on(async {
            let spawn = |number: u32| {
                let order = Arc::clone(&order);
                interloper::spawn(async move { order.lock().unwrap().push(number) })
            };
            for handle in (0..tasks).map(spawn).collect::<Vec<_>>() {
                handle.await.unwrap();
            }
        });
        seen.lock().unwrap().insert(order.lock().unwrap().clone());
    });
    (executions, seen.into_inner().unwrap())
}

/// The first poll of main spawns the tasks and awaits a. Then a and b are ready:
///
/// - a wakes main, so b and main are ready: b, main, or main (which awaits b), b, main;
/// - b wakes nobody: a, main.
#[test]
fn two_ready_tasks_have_three_executions() {
    assert_eq!(orders(2), (3, BTreeSet::from([vec![0, 1], vec![1, 0]])));
}

/// Let W(k, R) be the executions where main awaits k and the tasks R have not run, and M(R) those where main is ready.
///
/// - W(k, R) is the sum over r in R: M(R - k) for r = k, W(k, R - r) for the others. M({}) is 1.
/// - M(R) is W(first of R, R), where main runs, plus the sum over r in R of M(R - r).
///
/// For one task W is 1 and M is 2. For two tasks W is M(one) + W(one) = 3 if main awaits one of them, and M is
/// 3 + 2 · 2 = 7. For three, W = M(two) + 2 · W(two) = 7 + 2 · 3 = 13.
#[test]
fn three_ready_tasks_have_thirteen_executions() {
    let (executions, orders) = orders(3);
    // Each of the 3! orders is seen.
    assert_eq!((executions, orders.len()), (13, 6));
}

/// Loads and stores with an await between them, if `awaits`, or without one.
async fn adds(number: Arc<AtomicU32>, awaits: bool) {
    let before = number.load(SeqCst);
    if awaits {
        yield_now().await;
    }
    number.store(before + 1, SeqCst);
}

fn two_add(executor: Executor, awaits: bool) -> u32 {
    executor.block_on(async {
        let number = Arc::new(AtomicU32::new(0));
        let tasks = [(); 2].map(|()| interloper::spawn(adds(Arc::clone(&number), awaits)));
        for task in tasks {
            task.await.unwrap();
        }
        number.load(SeqCst)
    })
}

#[test]
fn a_poll_is_alone_on_one_thread() {
    let executions = all_pass(|| assert_eq!(two_add(Executor::new(), false), 2));
    // The orders of polls alone: the tasks do the same between their awaits.
    assert_eq!(executions, 3);
    let lost = || assert_eq!(two_add(Executor::new(), true), 2);
    assert!(finding(lost).to_string().starts_with("panic"), "an await between the two accesses loses an update");
}

#[test]
fn polls_overlap_on_several_threads() {
    let lost = || assert_eq!(two_add(workers(2), false), 2);
    assert!(finding(lost).to_string().starts_with("panic"));
    // One worker polls one task at a time.
    passes(|| assert_eq!(two_add(workers(1), false), 2));
    let once = |awaits| all(move || assert_eq!(two_add(workers(1), awaits), 2));
    assert_eq!((once(false).coverage.bugs, once(false).coverage.complete), (0, true));
    assert!(once(true).coverage.bugs > 0);
}

#[track_caller]
fn unexplored(program: impl Fn() + Sync, expected: &Unexplored) {
    let Err(misuse) = Checker::new("program").executions(50).check(&program) else { panic!("it passes: {expected:?}") };
    assert_eq!(misuse, Misuse::Unexplored(expected.clone()));
}

#[test]
fn tasks_that_are_never_ready_together_explore_nothing() {
    unexplored(|| interloper::block_on(async {}), &Unexplored::OneTask);
    let in_turn = || {
        interloper::block_on(async {
            for _ in 0..2 {
                interloper::spawn(yield_now()).await.unwrap();
            }
        });
    };
    unexplored(in_turn, &Unexplored::NoChoice { tasks: 3 });
    // The twin: two tasks are ready at once.
    let together = || {
        interloper::block_on(async {
            let tasks = [(); 2].map(|()| interloper::spawn(yield_now()));
            for task in tasks {
                task.await.unwrap();
            }
        });
    };
    passes(together);
    // Their polls overlap, but they share nothing.
    unexplored(
        || {
            workers(2).block_on(async {
                let tasks = [(); 2].map(|()| interloper::spawn(async { AtomicU32::new(0).store(1, SeqCst) }));
                for task in tasks {
                    task.await.unwrap();
                }
            });
        },
        &Unexplored::NothingShared { tasks: 3 },
    );
}

#[test]
fn a_task_that_yields_until_another_acts_goes_on() {
    for executor in [Executor::new(), workers(1), workers(2)] {
        passes(move || {
            executor.block_on(async {
                let flag = Arc::new(AtomicU32::new(0));
                let waits = interloper::spawn({
                    let flag = Arc::clone(&flag);
                    async move {
                        while flag.load(SeqCst) == 0 {
                            yield_now().await;
                        }
                    }
                });
                let sets = interloper::spawn(async move { flag.store(1, SeqCst) });
                waits.await.unwrap();
                sets.await.unwrap();
            });
        });
    }
}

#[test]
fn a_task_that_yields_until_a_sleep_ends_goes_on() {
    for executor in [Executor::new(), workers(2)] {
        passes(move || {
            executor.block_on(async {
                let flag = Arc::new(AtomicU32::new(0));
                let sets = interloper::spawn({
                    let flag = Arc::clone(&flag);
                    async move {
                        sleep(Duration::from_secs(60)).await;
                        flag.store(1, SeqCst);
                    }
                });
                while flag.load(SeqCst) == 0 {
                    yield_now().await;
                }
                sets.await.unwrap();
            });
        });
    }
}
