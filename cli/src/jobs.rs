//! Independent jobs on several threads, with their results in the order of the jobs.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::failure::Failure;
use crate::internal::guard;

/// Runs `work` on every item, on at most `jobs` threads, and gives the results in the order of the items.
///
/// `done` is called on this thread as each job ends, in the order of the ends.
pub fn run<T: Sync, R: Send>(
    jobs: NonZeroUsize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut done: impl FnMut(&T),
) -> Result<Vec<R>, Failure> {
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.get().min(items.len()) {
            let sender = sender.clone();
            let (next, work) = (&next, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { return };
                    // The receiver goes away when a job has failed: no further one is worth beginning.
                    if sender.send((index, guard(|| work(item)))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (index, result) in receiver {
            results[index] = Some(result?);
            done(&items[index]);
        }
        Ok(())
    })?;
    Ok(results.into_iter().map(|result| result.expect("every job sent its result")).collect())
}

/// As many jobs as there are processors.
pub fn default_jobs() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    fn jobs(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).expect("not zero")
    }

    #[test]
    fn results_are_in_order_for_any_number_of_jobs() {
        let items: Vec<u32> = (0..50).collect();
        let expected: Vec<u32> = items.iter().map(|item| item * 2).collect();
        for number in [1, 2, 7, 100] {
            let mut ended = Vec::new();
            let results = run(jobs(number), &items, |item| item * 2, |item| ended.push(*item));
            assert_eq!(results, Ok(expected.clone()));
            ended.sort_unstable();
            assert_eq!(ended, items, "each is reported once");
        }
        assert_eq!(run(jobs(3), &[] as &[u32], |item| *item, |_| ()), Ok(Vec::new()));
    }

    #[test]
    fn jobs_run_at_the_same_time() {
        // Two jobs that wait for each other end only when both run at once.
        let barrier = Barrier::new(2);
        let results = run(jobs(2), &[1, 2], |item| (barrier.wait(), *item).1, |_| ());
        assert_eq!(results, Ok(vec![1, 2]));
    }

    #[test]
    fn a_panicking_job_is_an_internal_failure() {
        let results = run(jobs(2), &[1, 2, 3], |item| assert_ne!(*item, 2, "two"), |_| ());
        let Err(Failure::Internal(message)) = results else { panic!("{results:?}") };
        assert!(message.contains("two"), "{message}");
    }
}
