//! Sleeping and time-outs, on the virtual clock under control.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use interloper_std::runtime;

use super::known;
use super::task::Task;
use super::waking::Wakers;

/// The time since the start of the execution or, outside of one, since the first call.
pub(super) fn now() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    runtime::with(|current| current.runtime().now()).unwrap_or_else(|| START.elapsed())
}

/// Waits for this time. Under control the virtual clock passes when no task is ready.
pub fn sleep(duration: Duration) -> Sleep {
    Sleep { duration, timer: None }
}

/// The future of [`sleep`]. The time begins with the first poll.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Sleep {
    duration: Duration,
    timer: Option<Arc<Timer>>,
}

impl Future for Sleep {
    type Output = ();

    /// # Panics
    /// Outside of a task: see [`block_on`](super::block_on).
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(task) = Task::current() else {
            panic!("sleep was polled outside of an executor: await it in a future that block_on runs");
        };
        let duration = self.duration;
        // Later polls do not look at the clock: a task that looks again and again makes it pass.
        let timer = self.timer.get_or_insert_with(|| Arc::new(Timer::after(duration)));
        if timer.is_over.load(Relaxed) {
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        let earlier = timer.waker().replace(waker);
        drop(earlier);
        task.timers.add(timer);
        known::awaits(Location::caller());
        Poll::Pending
    }
}

/// Runs a future for at most this time.
pub fn timeout<F: Future>(duration: Duration, future: F) -> Timeout<F> {
    Timeout { future: Box::pin(future), sleep: sleep(duration) }
}

/// The future of [`timeout`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Timeout<F> {
    future: Pin<Box<F>>,
    sleep: Sleep,
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(output) = self.future.as_mut().poll(context) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut self.sleep).poll(context).map(|()| Err(Elapsed(())))
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Timeout").field("sleep", &self.sleep).finish_non_exhaustive()
    }
}

/// The time of a [`timeout`] is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the time is over")
    }
}

impl std::error::Error for Elapsed {}

#[derive(Debug)]
struct Timer {
    /// As [`now`]. None for a time that the clock cannot represent, and that never comes.
    deadline: Option<Duration>,
    is_over: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Timer {
    fn after(duration: Duration) -> Timer {
        let deadline = now().checked_add(duration);
        Timer { deadline, is_over: AtomicBool::new(duration.is_zero()), waker: Mutex::default() }
    }

    fn is_due(&self, now: Duration) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    fn waker(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sleeps that a task has polled and not dropped.
#[derive(Default)]
pub(super) struct Timers(Mutex<Vec<Weak<Timer>>>);

impl Timers {
    fn add(&self, timer: &Arc<Timer>) {
        let mut timers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !timers.iter().any(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(timer))) {
            timers.push(Arc::downgrade(timer));
        }
    }

    fn left(&self) -> Vec<Arc<Timer>> {
        let mut timers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        timers.retain(|timer| timer.strong_count() > 0);
        timers.iter().filter_map(Weak::upgrade).filter(|timer| timer.waker().is_some()).collect()
    }

    /// When the first one ends.
    pub(super) fn first(&self) -> Option<Duration> {
        self.left().iter().filter_map(|timer| timer.deadline).min()
    }

    /// Whether one ends at this time or before.
    pub(super) fn are_due(&self, now: Duration) -> bool {
        self.left().iter().any(|timer| timer.is_due(now))
    }

    /// Calls the wakers of those that end at this time or before, apart from the task's own, which is about to be polled.
    pub(super) fn fire(&self, now: Duration, own: &Wakers) {
        for timer in self.left().iter().filter(|timer| timer.is_due(now)) {
            timer.is_over.store(true, Relaxed);
            let waker = timer.waker().take();
            if let Some(waker) = waker.filter(|waker| !own.is_own(waker)) {
                waker.wake();
            }
        }
    }
}
