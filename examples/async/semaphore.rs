//! A task takes a permit, works, and returns the permit. If the task is aborted while it works, the permit is gone.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use interloper::spawn;
use interloper::sync::Mutex;
use interloper::tasks::yield_now;

#[derive(Default)]
struct Semaphore(Mutex<State>);

#[derive(Default)]
struct State {
    permits: u32,
    waiters: Vec<Waker>,
}

impl Semaphore {
    fn of(permits: u32) -> Arc<Semaphore> {
        Arc::new(Semaphore(Mutex::new(State { permits, waiters: Vec::new() })))
    }

    /// Takes a permit.
    async fn acquire(&self) {
        poll_fn(|context| {
            let mut state = self.0.lock().unwrap();
            if state.permits == 0 {
                state.waiters.push(context.waker().clone());
                return Poll::Pending;
            }
            state.permits -= 1;
            Poll::Ready(())
        })
        .await;
    }

    /// Returns a permit.
    fn release(&self) {
        let mut state = self.0.lock().unwrap();
        state.permits += 1;
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        waiters.into_iter().for_each(Waker::wake);
    }
}

async fn works_wrong(semaphore: Arc<Semaphore>) {
    semaphore.acquire().await;
    yield_now().await;
    semaphore.release();
}

async fn works_fixed(semaphore: Arc<Semaphore>) {
    struct Permit(Arc<Semaphore>);
    impl Drop for Permit {
        fn drop(&mut self) {
            self.0.release();
        }
    }
    semaphore.acquire().await;
    let _permit = Permit(semaphore);
    yield_now().await;
}

/// Aborts a task that works, and takes the permit.
async fn aborts<F: Future<Output = ()> + Send + 'static>(works: fn(Arc<Semaphore>) -> F) {
    let semaphore = Semaphore::of(1);
    let task = spawn(works(Arc::clone(&semaphore)));
    yield_now().await;
    task.abort();
    semaphore.acquire().await;
}

#[interloper::test(executions = 200, expect = "bug")]
async fn a_permit_is_lost() {
    aborts(works_wrong).await;
}

#[interloper::test(executions = 200)]
async fn no_permit_is_lost() {
    aborts(works_fixed).await;
}
