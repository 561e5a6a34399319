//! The happens-before orders that synchronization can impose on a program.
//!
//! A program is a program order with a *set* of happens-before orders (*Weak-consistency specification via visibility
//! relaxation*, section 3): besides the order of each thread, its locks and volatile variables impose an order that
//! depends on the execution. Running the synchronization alone, in every interleaving, finds the possible orders
//! (Example 3.1).

use std::collections::{BTreeMap, BTreeSet};

/// What a thread does. Invocations are numbered in text order: thread by thread, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Invokes something.
    Invoke,
    /// Writes a volatile variable.
    Write(usize),
    /// Reads a volatile variable: the last write to it, and what the writer has done before, happens before.
    Read(usize),
    /// Acquires a lock: its last release, and what happened before that release, happens before.
    Lock(usize),
    /// Releases a lock.
    Unlock(usize),
}

/// A happens-before order: for each invocation those that happen before it, ascending.
pub type Order = Vec<Vec<usize>>;

/// Every happens-before order that an execution of the threads can have, sorted. Each order contains the program order.
/// Executions that do not end, because a lock is never released, do not count.
pub fn orders(threads: &[Vec<Action>]) -> Vec<Order> {
    let mut starts = Vec::with_capacity(threads.len());
    let mut count = 0;
    for thread in threads {
        starts.push(count);
        count += thread.iter().filter(|action| **action == Action::Invoke).count();
    }
    let mut search = Search { threads, starts, found: BTreeSet::new(), seen: BTreeSet::new() };
    search.run(State {
        at: vec![0; threads.len()],
        known: vec![BTreeSet::new(); threads.len()],
        written: BTreeMap::new(),
        released: BTreeMap::new(),
        held: BTreeSet::new(),
        order: vec![Vec::new(); count],
    });
    search.found.into_iter().collect()
}

/// Invocations that happen before what comes next somewhere.
type Past = BTreeSet<usize>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    /// For each thread how many of its actions it has done.
    at: Vec<usize>,
    /// For each thread what happens before its next action.
    known: Vec<Past>,
    /// For each volatile variable what happened before its last write.
    written: BTreeMap<usize, Past>,
    /// For each lock what happened before its last release.
    released: BTreeMap<usize, Past>,
    /// The locks that are held.
    held: BTreeSet<usize>,
    order: Order,
}

struct Search<'t> {
    threads: &'t [Vec<Action>],
    /// For each thread the number of its first invocation.
    starts: Vec<usize>,
    found: BTreeSet<Order>,
    seen: BTreeSet<State>,
}

impl Search<'_> {
    fn run(&mut self, state: State) {
        if self.seen.contains(&state) {
            return;
        }
        self.seen.insert(state.clone());
        if state.at.iter().zip(self.threads).all(|(at, thread)| *at == thread.len()) {
            self.found.insert(state.order);
            return;
        }
        for thread in 0..self.threads.len() {
            if let Some(next) = self.step(&state, thread) {
                self.run(next);
            }
        }
    }

    /// The state after the next action of a thread, if it has one and is not blocked.
    fn step(&self, state: &State, thread: usize) -> Option<State> {
        let at = state.at[thread];
        let action = *self.threads[thread].get(at)?;
        let mut next = state.clone();
        next.at[thread] += 1;
        let known = &mut next.known[thread];
        match action {
            Action::Invoke => {
                let earlier = self.threads[thread][..at].iter().filter(|action| **action == Action::Invoke).count();
                let invocation = self.starts[thread] + earlier;
                next.order[invocation] = known.iter().copied().collect();
                known.insert(invocation);
            }
            Action::Write(variable) => drop(next.written.insert(variable, known.clone())),
            Action::Read(variable) => known.extend(state.written.get(&variable).into_iter().flatten()),
            Action::Lock(lock) if !next.held.insert(lock) => return None,
            Action::Lock(lock) => known.extend(state.released.get(&lock).into_iter().flatten()),
            Action::Unlock(lock) => {
                next.held.remove(&lock);
                next.released.insert(lock, known.clone());
            }
        }
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::Action::{Invoke, Lock, Read, Unlock, Write};
    use super::*;

    /// Figure 5 and Example 3.1; invocations 1, 2 and 3 are numbers 0, 1 and 2 here.
    #[test]
    fn example_3_1() {
        let volatile = [vec![Invoke, Write(0)], vec![Read(0), Invoke, Read(0), Invoke]];
        let hb_1: Order = vec![vec![], vec![0], vec![0, 1]];
        let hb_2: Order = vec![vec![], vec![], vec![0, 1]];
        let hb_3: Order = vec![vec![], vec![], vec![1]];
        assert_eq!(orders(&volatile), [hb_2, hb_3, hb_1.clone()]);

        let locks = [vec![Lock(0), Invoke, Unlock(0)], vec![Lock(0), Invoke, Unlock(0), Invoke]];
        let hb_5: Order = vec![vec![1], vec![], vec![1]];
        assert_eq!(orders(&locks), [hb_1, hb_5]);
    }

    #[test]
    fn without_synchronization_there_is_the_program_order() {
        assert_eq!(orders(&[vec![Invoke, Invoke], vec![Invoke]]), [vec![vec![], vec![0], vec![]]]);
        assert_eq!(orders(&[]), [Order::new()]);
    }

    #[test]
    fn what_a_writer_has_read_is_passed_on() {
        let chain = [vec![Invoke, Write(0)], vec![Read(0), Write(1)], vec![Read(1), Invoke]];
        assert_eq!(orders(&chain), [vec![vec![], vec![]], vec![vec![], vec![0]]]);
    }

    #[test]
    fn executions_that_are_stuck_do_not_count() {
        // The second thread waits for ever.
        assert_eq!(orders(&[vec![Lock(0), Invoke], vec![Lock(0), Invoke]]), Vec::<Order>::new());
        // Two locks in opposite orders: the executions that end have one critical section before the other.
        let opposite = |first, second| vec![Lock(first), Lock(second), Invoke, Unlock(second), Unlock(first)];
        assert_eq!(orders(&[opposite(0, 1), opposite(1, 0)]), [vec![vec![], vec![0]], vec![vec![1], vec![]]]);
    }
}
