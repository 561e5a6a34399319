//! Runs something for each case, on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use interloper_suite::{Case, cases};

/// Calls `test` with every case. All are tried, also when some fail.
///
/// # Panics
/// With the number of cases that failed; each has said why by then.
pub fn for_each_case(test: impl Fn(&Case) + Sync) {
    let cases = cases();
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(case)));
            failed.fetch_add(usize::from(tried.is_err()), Ordering::Relaxed);
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    assert_eq!(failed.into_inner(), 0, "cases failed");
}
