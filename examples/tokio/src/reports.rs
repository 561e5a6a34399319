//! What reports say of tasks: each has a column, and a task that is never polled again is named, with who could have woken it.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::Arc;

use interloper::Checker;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::yield_now;

fn workers() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).build().unwrap()
}

/// The report on what the default search finds, with single spaces.
fn found(program: impl Fn() + Sync) -> String {
    let report = Checker::new("program").executions(200).check(program).unwrap();
    assert!(report.bug.is_some(), "{report}");
    report.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn says(text: &str, expected: &[&str]) {
    for words in expected {
        assert!(text.contains(words), "{words:?} is missing in\n{text}");
    }
}

type Shared = Arc<(AtomicBool, Notify)>;

async fn waits(shared: Shared) {
    if !shared.0.load(SeqCst) {
        shared.1.notified().await; // the await
    }
}

async fn sets(shared: Shared) {
    shared.0.store(true, SeqCst);
    shared.1.notify_waiters(); // the call
}

/// Where this file has this text, as reports have it.
fn at(text: &str) -> String {
    let source = include_str!("reports.rs");
    let line = source.lines().position(|line| line.contains(text)).expect("it is there");
    format!("src/reports.rs:{}:", line + 1)
}

#[test]
fn a_lost_wake_up_is_named() {
    let text = found(|| {
        workers().block_on(async {
            let shared = Shared::default();
            let waits = tokio::spawn(waits(Arc::clone(&shared))); // the first
            let sets = tokio::spawn(sets(shared));
            sets.await.unwrap();
            waits.await.unwrap();
        });
    });
    says(&text, &["deadlock", "task 1", "are never polled again: nobody calls their wakers", "spawns task 1", "woken by task 2"]);
    says(&text, &["is never polled again", "a waker of task 1 is left, but no task calls it"]);
    says(&text, &[&format!("spawned at {}", at("// the first"))]);
    says(&text, &[&format!("suspended at the await at {}", at("// the await"))]);
    let missed = format!("task 2 changed what task 1 waits for at {}", at("// the call"));
    says(&text, &[&missed, "before task 1 began to wait"]);
}

#[test]
fn a_task_that_keeps_no_waker_is_named() {
    let text = found(|| {
        workers().block_on(async {
            let lost = tokio::spawn(pending::<()>());
            tokio::spawn(yield_now()).await.unwrap();
            lost.await.unwrap();
        });
    });
    says(&text, &["task 1 is never polled again: no waker left"]);
    says(&text, &["its last poll kept no waker, so nobody can wake task 1"]);
}

#[test]
fn a_cancelled_future_is_a_row() {
    let text = found(|| {
        Builder::new_current_thread().build().unwrap().block_on(async {
            let worked = Arc::new(AtomicBool::new(false));
            let own = Arc::clone(&worked);
            let task = tokio::spawn(async move {
                own.store(true, SeqCst);
                yield_now().await; // cancelled here
                own.store(false, SeqCst);
            });
            yield_now().await;
            task.abort();
            let _ = task.await;
            assert!(!worked.load(SeqCst), "it stopped half-way");
        });
    });
    says(&text, &["it stopped half-way", "is cancelled", "wakes task 1", "woken by main"]);
    says(&text, &[&format!("its future is dropped at the await at {}", at("// cancelled here"))]);
}
