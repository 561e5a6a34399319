//! The executor outside of a controlled execution.

use std::future::pending;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interloper::tasks::{Builder, Executor, sleep, timeout, yield_now};
use interloper::{block_on, spawn};

use crate::support::workers;

struct Dropped(Arc<AtomicU32>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn tasks_run_and_are_joined() {
    for executor in [Executor::new(), workers(1), workers(2)] {
        let sum = executor.block_on(async {
            let tasks = [1, 2, 3].map(|number| {
                Builder::new().name("adds").spawn(async move {
                    yield_now().await;
                    number
                })
            });
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 6);
    }
}

#[test]
fn one_poll_at_a_time() {
    let number = Arc::new(Mutex::new(0));
    block_on(async {
        let add = || {
            let number = Arc::clone(&number);
            spawn(async move {
                for _ in 0..100 {
                    // Not for a moment longer than a poll of another task may take.
                    *number.try_lock().expect("no other task is polled") += 1;
                    yield_now().await;
                }
            })
        };
        for task in [add(), add(), add()] {
            task.await.unwrap();
        }
    });
    assert_eq!(*number.lock().unwrap(), 300);
}

#[test]
fn what_is_left_is_dropped() {
    let drops = Arc::new(AtomicU32::new(0));
    block_on(async {
        let own = Dropped(Arc::clone(&drops));
        drop(spawn(async move {
            let _own = own;
            pending::<()>().await;
        }));
        let own = Dropped(Arc::clone(&drops));
        let task = spawn(async move {
            let _own = own;
            pending::<()>().await;
        });
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    });
    assert_eq!(drops.load(SeqCst), 2);
}

#[test]
fn a_panic_is_told() {
    block_on(async {
        let error = spawn(async { panic!("no luck") }).await.map(|(): ()| ()).unwrap_err();
        assert_eq!(error.to_string(), "the task panicked: no luck");
    });
}

#[test]
fn time_is_real() {
    block_on(async {
        sleep(Duration::from_millis(1)).await;
        assert!(timeout(Duration::from_millis(1), pending::<()>()).await.is_err());
        assert_eq!(timeout(Duration::from_secs(60), async { 7 }).await, Ok(7));
    });
}
