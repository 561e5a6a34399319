//! `#[interloper::test]` on async functions.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use interloper::spawn;
use interloper::sync::atomic::AtomicU32;
use interloper::tasks::{cancellable, yield_now};

/// Two tasks load and store; they await something in between if `awaits`.
async fn two_add(awaits: bool) -> u32 {
    let number = Arc::new(AtomicU32::new(0));
    let add = || {
        let number = Arc::clone(&number);
        spawn(async move {
            let before = number.load(SeqCst);
            if awaits {
                yield_now().await;
            }
            number.store(before + 1, SeqCst);
        })
    };
    for task in [add(), add()] {
        task.await.unwrap();
    }
    number.load(SeqCst)
}

#[interloper::test(executions = 200)]
async fn polls_are_alone_by_default() {
    assert_eq!(two_add(false).await, 2);
}

#[interloper::test(executions = 200, expect = "bug")]
async fn an_await_lets_others_in() {
    assert_eq!(two_add(true).await, 2);
}

#[interloper::test(flavor = "current_thread", strategy = "exhaustive", executions = 3)]
async fn the_flavor_can_be_named() -> u32 {
    two_add(false).await
}

#[interloper::test(flavor = "multi_thread", executions = 200, expect = "bug")]
async fn polls_overlap() {
    assert_eq!(two_add(false).await, 2);
}

#[interloper::test(flavor = "multi_thread", worker_threads = 1, executions = 200)]
async fn one_worker_polls_one_task() {
    assert_eq!(two_add(false).await, 2);
}

/// Takes one from a stock, and gives it back after an await.
async fn borrows(stock: &AtomicU32) {
    stock.fetch_sub(1, SeqCst);
    yield_now().await;
    stock.fetch_add(1, SeqCst);
}

/// As [`borrows`], but a destructor gives it back.
async fn borrows_safely(stock: &AtomicU32) {
    struct GivesBack<'a>(&'a AtomicU32);
    impl Drop for GivesBack<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    stock.fetch_sub(1, SeqCst);
    let _gives_back = GivesBack(stock);
    yield_now().await;
}

/// What is left of a stock of 1 after a task that may be cancelled.
async fn left(safely: bool) -> u32 {
    let stock = Arc::new(AtomicU32::new(1));
    let own = Arc::clone(&stock);
    let task = spawn(async move { if safely { borrows_safely(&own).await } else { borrows(&own).await } });
    let other = spawn(yield_now());
    let _ = other.await;
    let _ = task.await;
    stock.load(SeqCst)
}

#[interloper::test(executions = 200, cancel = true, expect = "bug")]
async fn a_spawned_future_is_cancelled() {
    assert_eq!(left(false).await, 1);
}

#[interloper::test(executions = 200, cancel = true)]
async fn a_future_that_cleans_up_may_be_cancelled() {
    assert_eq!(left(true).await, 1);
}

#[interloper::test(executions = 200)]
async fn nothing_is_cancelled_by_default() {
    assert_eq!(left(false).await, 1);
}

/// As [`left`], for a future inside the task.
async fn left_inside(safely: bool) -> u32 {
    let stock = AtomicU32::new(1);
    let other = spawn(yield_now());
    let borrowed = async { if safely { borrows_safely(&stock).await } else { borrows(&stock).await } };
    let _ = cancellable(borrowed).await;
    let _ = other.await;
    stock.load(SeqCst)
}

#[interloper::test(executions = 200, cancel = true, expect = "bug")]
async fn a_future_inside_a_task_is_cancelled() {
    assert_eq!(left_inside(false).await, 1);
}

#[interloper::test(executions = 200, cancel = true)]
async fn a_future_inside_a_task_may_be_cancelled() {
    assert_eq!(left_inside(true).await, 1);
}

#[interloper::test(executions = 200)]
async fn nothing_inside_a_task_is_cancelled_by_default() {
    assert_eq!(left_inside(false).await, 1);
}

/// Nobody can abort the task that borrows.
#[interloper::test(executions = 200, cancel = true)]
async fn a_task_without_a_handle_is_not_cancelled() {
    let stock = Arc::new(AtomicU32::new(1));
    let done = Arc::new(AtomicU32::new(0));
    drop(spawn({
        let (stock, done) = (Arc::clone(&stock), Arc::clone(&done));
        async move {
            borrows(&stock).await;
            done.store(1, SeqCst);
        }
    }));
    let _ = spawn(yield_now()).await;
    while done.load(SeqCst) == 0 {
        yield_now().await;
    }
    assert_eq!(stock.load(SeqCst), 1);
}
