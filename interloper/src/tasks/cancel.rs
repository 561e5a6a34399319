//! Futures that may be cancelled.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::join::Joint;
use super::task::cancels;

/// Says that the program may drop this future where it awaits something, as a `select!` or a time-out does. In a check with
/// `cancel = true`, some executions do.
///
/// ```
/// use interloper::tasks::cancellable;
///
/// assert_eq!(interloper::block_on(cancellable(async { 7 })), Ok(7));
/// ```
pub fn cancellable<F: Future>(future: F) -> Cancellable<F> {
    Cancellable { future: Some(Box::pin(future)), cancelled: false, joint: Joint::new() }
}

/// The future of [`cancellable`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Cancellable<F> {
    /// None once it was dropped, or was ready.
    future: Option<Pin<Box<F>>>,
    cancelled: bool,
    /// Stands for the future in steps.
    joint: Joint<()>,
}

/// The future was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl<F: Future> Future for Cancellable<F> {
    type Output = Result<F::Output, Cancelled>;

    /// # Panics
    /// If it was ready already.
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.cancelled {
            self.joint.drops_future(Location::caller());
            self.future = None;
            return Poll::Ready(Err(Cancelled));
        }
        let future = self.future.as_mut().expect("it is polled until it is ready");
        match future.as_mut().poll(context) {
            Poll::Ready(output) => {
                self.future = None;
                Poll::Ready(Ok(output))
            }
            Poll::Pending => {
                if cancels() {
                    self.cancelled = true;
                    context.waker().wake_by_ref();
                }
                Poll::Pending
            }
        }
    }
}

impl<F> fmt::Debug for Cancellable<F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Cancellable").field("cancelled", &self.cancelled).finish_non_exhaustive()
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the future was cancelled")
    }
}

impl std::error::Error for Cancelled {}
