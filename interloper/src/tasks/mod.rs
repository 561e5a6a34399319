//! Asynchronous programs: an executor on which each ready task is a choice of the scheduler.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
//!
//! use interloper::Checker;
//!
//! let report = Checker::new("both_orders").check(|| {
//!     interloper::block_on(async {
//!         let last = Arc::new(AtomicU32::new(0));
//!         let store = |number: u32| {
//!             let last = Arc::clone(&last);
//!             interloper::spawn(async move { last.store(number, Relaxed) })
//!         };
//!         let (first, second) = (store(1), store(2));
//!         first.await.unwrap();
//!         second.await.unwrap();
//!         assert_eq!(last.load(Relaxed), 2, "spawned last, so it runs last");
//!     })
//! })?;
//! // No executor promises that.
//! assert!(report.bug.is_some());
//! # Ok::<(), interloper::blocks::Misuse>(())
//! ```
//!
//! Each spawned future is a task of the engine. A task that is ready, because it was spawned or its waker was called, is
//! enabled, and the strategy chooses whose poll is next. So strategies, replay, shrinking and the exhaustive search are those
//! of programs with threads.
//!
//! - [`Flavor::CurrentThread`]: nothing else of the executor runs during a poll. Between two awaits a task is alone, also with
//!   state that is not under control.
//! - [`Flavor::MultiThread`]: polls of different tasks overlap, as many as there are workers. The future given to
//!   [`block_on`] needs no worker.
//!
//! When the future given to [`block_on`] is ready, the remaining tasks are dropped where they are suspended, as tokio does.
//! Outside of a controlled execution each task is a thread of std; that serves tests, not services.
//!
//! # Limits
//!
//! - A waker that is called by a thread outside control wakes nobody.
//! - Where a task is suspended is known exactly for the futures of this module. For others, the report names the last step
//!   of the poll.

mod cancel;
mod executor;
mod join;
pub(crate) mod known;
mod task;
mod time;
mod turns;
mod waking;

pub(crate) use join::JOINT;
pub(crate) use turns::WORKERS;

pub use cancel::{Cancellable, Cancelled, cancellable};
pub use executor::{Executor, Flavor, block_on};
pub use join::{AbortHandle, JoinError, JoinHandle};
pub use task::{Builder, YieldNow, spawn, yield_now};
pub use time::{Elapsed, Sleep, Timeout, sleep, timeout};
