//! Searches of programs of futures: replay, determinism, weak memory, and all cancellations.

use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::task::Poll;

use interloper::blocks::{Freedom, Freedoms, Grade, Memory, Schedule};
use interloper::sync::atomic::AtomicU32;
use interloper::tasks::{Executor, yield_now};
use interloper::{Checker, spawn};

use crate::support::workers;

/// Two tasks load, await something, and store.
fn two_add(executor: Executor) -> u32 {
    executor.block_on(async {
        let number = Arc::new(AtomicU32::new(0));
        let tasks = [(); 2].map(|()| {
            let number = Arc::clone(&number);
            spawn(async move {
                let before = number.load(SeqCst);
                yield_now().await;
                number.store(before + 1, SeqCst);
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
        number.load(SeqCst)
    })
}

#[test]
fn a_failure_replays() {
    for executor in [Executor::new(), workers(2)] {
        let program = move || assert_eq!(two_add(executor), 2);
        let checker = Checker::new("program").executions(200);
        let found = checker.check(program).unwrap().bug.unwrap();
        for decisions in [&found.decisions, &found.smallest] {
            let again = checker.replay(decisions, program).unwrap().bug.unwrap();
            assert_eq!((again.finding, &again.decisions), (found.finding.clone(), decisions));
        }
    }
}

#[test]
fn the_report_does_not_depend_on_the_number_of_jobs() {
    for executor in [Executor::new(), workers(2)] {
        let report = |jobs: usize| {
            let checker = Checker::new("program").executions(600).jobs(NonZeroUsize::new(jobs).unwrap());
            let checker = checker.cancel(true).check_determinism().settings(|settings| settings.keep_going = true);
            checker.check(move || two_add(executor)).unwrap().to_string()
        };
        assert_eq!(report(1), report(2));
    }
}

/// A task stores, and the program looks after awaiting the task, if `awaits`, or at once.
fn stores(executor: Executor, awaits: bool) {
    executor.block_on(async {
        let number = Arc::new(AtomicU32::new(0));
        let task = spawn({
            let number = Arc::clone(&number);
            async move { number.store(1, Relaxed) }
        });
        let other = spawn(yield_now());
        other.await.unwrap();
        if awaits {
            task.await.unwrap();
        } else {
            while !task.is_finished() {
                yield_now().await;
            }
        }
        assert_eq!(number.load(Relaxed), 1);
    });
}

#[test]
fn what_a_task_did_happens_before_the_end_of_its_await() {
    let weak = Checker::new("program").executions(500).memory(Memory::Weak);
    for executor in [Executor::new(), workers(2)] {
        for awaits in [true, false] {
            weak.check(move || stores(executor, awaits)).unwrap().assert_grade(Grade::Clean);
        }
    }
}

/// The twin: a flag with relaxed accesses orders nothing where polls overlap, and everything where they do not.
fn flags(executor: Executor) {
    executor.block_on(async {
        let (number, flag) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let task = spawn({
            let (number, flag) = (Arc::clone(&number), Arc::clone(&flag));
            async move {
                number.store(1, Relaxed);
                flag.store(1, Relaxed);
            }
        });
        let looks = spawn(async move { flag.load(Relaxed) == 0 || number.load(Relaxed) == 1 });
        assert!(looks.await.unwrap(), "the flag was set before the number");
        task.await.unwrap();
    });
}

#[test]
fn polls_of_one_thread_see_each_other() {
    let weak = Checker::new("program").executions(500).memory(Memory::Weak);
    weak.check(|| flags(Executor::new())).unwrap().assert_grade(Grade::Clean);
    weak.check(|| flags(workers(2))).unwrap().assert_grade(Grade::Bug);
}

/// A future that is pending `times` times, and wakes itself.
async fn is_pending(times: u32) {
    let mut left = times;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// The program awaits one task, which awaits something n times. No other task is ready, so the executions differ only in
/// where the task is cancelled: nowhere, or after one of its n unfinished polls.
#[test]
fn each_await_can_be_cancelled() {
    let executions = |times: u32, cancellations: u32| {
        let freedoms = Freedoms::NONE.with(Freedom::Cancellation, cancellations);
        let checker = Checker::new("program").schedule(Schedule::Exhaustive).freedoms(freedoms).allow_trivial();
        let report = checker.check(move || {
            interloper::block_on(async { spawn(is_pending(times)).await.is_ok() });
        });
        let report = report.unwrap();
        assert!(report.coverage.complete, "{report}");
        report.coverage.executions
    };
    assert_eq!([0, 1, 2, 3].map(|times| executions(times, 1)), [1, 2, 3, 4]);
    assert_eq!([0, 1, 2, 3].map(|times| executions(times, 0)), [1, 1, 1, 1]);
}
