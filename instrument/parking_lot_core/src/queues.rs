//! The parked threads: plain data.

use std::collections::{BTreeMap, VecDeque};

use crate::words::{ParkToken, RequeueOp, UnparkResult};

/// The parked threads, by the key of their queue, in order. `W` identifies a thread.
pub(crate) struct Queues<W> {
    parked: BTreeMap<usize, VecDeque<(ParkToken, W)>>,
}

impl<W: Clone + PartialEq> Queues<W> {
    pub(crate) const fn new() -> Queues<W> {
        Queues { parked: BTreeMap::new() }
    }

    pub(crate) fn push(&mut self, key: usize, token: ParkToken, thread: W) {
        self.parked.entry(key).or_default().push_back((token, thread));
    }

    /// Removes the first thread.
    pub(crate) fn pop(&mut self, key: usize) -> (Option<W>, UnparkResult) {
        let Some(queue) = self.parked.get_mut(&key) else { return (None, UnparkResult::default()) };
        let first = queue.pop_front().map(|(_, thread)| thread);
        let result = UnparkResult::new(usize::from(first.is_some()), 0, first.is_some() && !queue.is_empty());
        self.clean(key);
        (first, result)
    }

    /// Removes all threads.
    pub(crate) fn take(&mut self, key: usize) -> Vec<W> {
        let queue = self.parked.remove(&key).unwrap_or_default();
        queue.into_iter().map(|(_, thread)| thread).collect()
    }

    /// The threads and their tokens.
    pub(crate) fn list(&self, key: usize) -> Vec<(ParkToken, W)> {
        self.parked.get(&key).into_iter().flatten().cloned().collect()
    }

    /// Removes a thread, wherever it is; returns the key of its queue and whether the queue is now empty.
    pub(crate) fn remove(&mut self, thread: &W) -> Option<(usize, bool)> {
        let mut queues = self.parked.iter_mut();
        let (key, position) = queues.find_map(|(&key, queue)| {
            let position = queue.iter().position(|(_, other)| other == thread)?;
            queue.remove(position);
            Some((key, queue.is_empty()))
        })?;
        self.clean(key);
        Some((key, position))
    }

    /// Takes threads out of the queue `from` as `operation` says; returns the thread to unpark.
    pub(crate) fn requeue(&mut self, from: usize, to: usize, operation: RequeueOp) -> (Option<W>, UnparkResult) {
        let unparks = matches!(operation, RequeueOp::UnparkOne | RequeueOp::UnparkOneRequeueRest);
        let count = match operation {
            RequeueOp::Abort => return (None, UnparkResult::default()),
            RequeueOp::UnparkOne | RequeueOp::RequeueOne => 1,
            RequeueOp::UnparkOneRequeueRest | RequeueOp::RequeueAll => usize::MAX,
        };
        let mut taken = self.parked.remove(&from).unwrap_or_default();
        let rest = taken.split_off(count.min(taken.len()));
        let more = !taken.is_empty() && !rest.is_empty();
        self.parked.insert(from, rest);
        let first = if unparks { taken.pop_front() } else { None };
        let result = UnparkResult::new(usize::from(first.is_some()), taken.len(), more);
        self.parked.entry(to).or_default().append(&mut taken);
        self.clean(from);
        self.clean(to);
        (first.map(|(_, thread)| thread), result)
    }

    fn clean(&mut self, key: usize) {
        if self.parked.get(&key).is_some_and(VecDeque::is_empty) {
            self.parked.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads 0, 1, 2 are parked at key 1, thread 9 at key 2.
    fn queues() -> Queues<u8> {
        let mut queues = Queues::new();
        for thread in 0..3 {
            queues.push(1, ParkToken(usize::from(thread)), thread);
        }
        queues.push(2, ParkToken(9), 9);
        queues
    }

    fn threads(queues: &Queues<u8>, key: usize) -> Vec<u8> {
        queues.list(key).into_iter().map(|(_, thread)| thread).collect()
    }

    #[test]
    fn the_first_comes_out_first() {
        let mut queues = queues();
        assert_eq!(queues.pop(1), (Some(0), UnparkResult::new(1, 0, true)));
        assert_eq!(queues.pop(1), (Some(1), UnparkResult::new(1, 0, true)));
        assert_eq!(queues.pop(1), (Some(2), UnparkResult::new(1, 0, false)));
        assert_eq!(queues.pop(1), (None, UnparkResult::default()));
        assert_eq!((queues.take(2), queues.take(2)), (vec![9], vec![]));
        assert!(queues.parked.is_empty());
    }

    #[test]
    fn a_thread_is_taken_out_wherever_it_is() {
        let mut queues = queues();
        assert_eq!((queues.remove(&9), queues.remove(&9)), (Some((2, true)), None));
        assert_eq!(queues.remove(&1), Some((1, false)));
        assert_eq!(threads(&queues, 1), [0, 2]);
        assert_eq!(queues.list(1)[1].0, ParkToken(2));
    }

    #[test]
    fn threads_change_their_queue() {
        let check = |operation, unparked, result, from: &[u8], to: &[u8]| {
            let mut queues = queues();
            assert_eq!(queues.requeue(1, 2, operation), (unparked, result), "{operation:?}");
            assert_eq!((threads(&queues, 1), threads(&queues, 2)), (from.to_vec(), to.to_vec()), "{operation:?}");
        };
        check(RequeueOp::Abort, None, UnparkResult::default(), &[0, 1, 2], &[9]);
        check(RequeueOp::UnparkOne, Some(0), UnparkResult::new(1, 0, true), &[1, 2], &[9]);
        check(RequeueOp::RequeueOne, None, UnparkResult::new(0, 1, true), &[1, 2], &[9, 0]);
        check(RequeueOp::RequeueAll, None, UnparkResult::new(0, 3, false), &[], &[9, 0, 1, 2]);
        check(RequeueOp::UnparkOneRequeueRest, Some(0), UnparkResult::new(1, 2, false), &[], &[9, 1, 2]);
    }

    #[test]
    fn nobody_to_requeue() {
        let mut queues = queues();
        assert_eq!(queues.requeue(7, 2, RequeueOp::UnparkOneRequeueRest), (None, UnparkResult::default()));
        assert_eq!(queues.requeue(2, 2, RequeueOp::RequeueAll), (None, UnparkResult::new(0, 1, false)));
        assert_eq!(threads(&queues, 2), [9]);
    }
}
