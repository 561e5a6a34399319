//! Four bugs of asynchronous code, each with its fixed twin, as tests: `cargo test -p interloper-examples --test async`.
//!
//! Each test runs at most 200 executions. The wrong program must fail (`expect = "bug"`), and the fixed one must pass.
//!
//! | file | what is wrong |
//! |---|---|
//! | `lost_wake_up` | a future looks at a flag, and stores its waker after that |
//! | `cancel_unsafe` | a `select` in a loop drops a future that has taken half of a message |
//! | `first_in_first_out` | a test relies on the order in which tasks were spawned |
//! | `semaphore` | a task that is aborted does not return its permit |

mod cancel_unsafe;
mod channel;
mod first_in_first_out;
mod lost_wake_up;
mod semaphore;
