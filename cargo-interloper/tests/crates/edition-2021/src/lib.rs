//! Of the year 2021, with a dependency that has another name here.

#![cfg_attr(interloper, allow(unused_imports))]

#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

use queue::ArrayQueue;

/// Puts a value into an empty queue, but not atomically.
pub fn first(queue: &ArrayQueue<u32>, value: u32) {
    if queue.is_empty() {
        queue.push(value).unwrap();
    }
}

#[cfg(all(test, interloper))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    /// The queue is that of crossbeam-queue, whose steps are seen.
    #[test]
    fn two_can_be_first() {
        let found = outcomes::of(|| {
            let queue = Arc::new(ArrayQueue::new(2));
            let same = queue.clone();
            let other = thread::spawn(move || first(&same, 1));
            first(&queue, 2);
            other.join().unwrap();
            (queue.pop(), queue.pop())
        });
        let expected = [
            (Some(1), None),
            (Some(1), Some(2)),
            (Some(2), None),
            (Some(2), Some(1)),
        ];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }
}
