//! What reports say about futures.

use std::future::{pending, poll_fn};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use interloper::sync::atomic::AtomicU32;
use interloper::tasks::{Builder, cancellable, yield_now};
use interloper::{Checker, block_on, spawn};

use crate::support::found;

/// The text of what the default search finds.
#[track_caller]
fn text(program: impl Fn() + Sync) -> String {
    found(program).to_string()
}

/// A report breaks lines where its columns are full.
#[track_caller]
fn says(text: &str, expected: &[&str]) {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in expected {
        assert!(words.contains(line), "{line:?} is missing in\n{text}");
    }
}

#[test]
fn a_future_that_keeps_no_waker() {
    let text = text(|| {
        block_on(async {
            let lost = Builder::new().name("lost").spawn(pending::<()>());
            spawn(yield_now()).await.unwrap();
            lost.await.unwrap();
        });
    });
    says(
        &text,
        &[
            "deadlock",
            "lost (task 1) is never polled again: no waker left",
            "is never polled again",
            "spawned at interloper/tests/tasks/reports.rs:33:",
            "its last poll kept no waker, so nobody can wake lost (task 1)",
            "suspended at the await at interloper/tests/tasks/reports.rs:35:18",
            "a waker of main is left, but no task calls it",
        ],
    );
}

#[test]
fn a_waker_that_another_task_drops() {
    let text = text(|| {
        block_on(async {
            let kept = Arc::new(Mutex::new(None::<Waker>));
            let own = Arc::clone(&kept);
            let waits = spawn(poll_fn(move |context| {
                *own.lock().unwrap() = Some(context.waker().clone());
                Poll::<()>::Pending
            }));
            let flag = Arc::new(AtomicU32::new(0));
            let drops = spawn(async move {
                flag.store(1, SeqCst);
                drop(kept.lock().unwrap().take());
            });
            drops.await.unwrap();
            waits.await.unwrap();
        });
    });
    says(
        &text,
        &[
            "no waker of task 1 is left, so nobody can wake it: task 2 dropped the last one after the step at \
             interloper/tests/tasks/reports.rs:64:22",
            "suspended after the step at",
        ],
    );
}

#[test]
fn wakes_are_edges() {
    let text = text(|| {
        block_on(async {
            let wakes = spawn(yield_now());
            let other = spawn(yield_now());
            wakes.await.unwrap();
            other.await.unwrap();
            panic!("to be seen");
        });
    });
    says(&text, &["wakes main", "woken by task 1 at", "is suspended", "is polled", "to be seen"]);
    assert!(!text.contains("holds executor"), "{text}");
}

#[test]
fn a_cancelled_future_is_a_step() {
    let stock = || {
        block_on(async {
            let stock = AtomicU32::new(1);
            let other = spawn(yield_now());
            let _ = cancellable(async {
                stock.store(0, SeqCst);
                yield_now().await;
                stock.store(1, SeqCst);
            })
            .await;
            other.await.unwrap();
            assert_eq!(stock.load(SeqCst), 1);
        });
    };
    let report = Checker::new("program").executions(200).cancel(true).check(stock).unwrap();
    let text = report.to_string();
    says(&text, &["drops its future", "needs a future to be cancelled where it awaits something"]);
}
