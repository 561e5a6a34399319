//! The events of a history, numbered densely.

use crate::history::History;

/// The events of a history, numbered 0, 1, 2, … in their order. Gap g comes after event g.
pub(super) struct Events {
    /// For each call, the number of its invocation and of its return; [`Events::never`] for a pending one.
    pub calls: Vec<(u32, u32)>,
    /// The complete calls in the order of their returns.
    pub returns: Vec<usize>,
    /// How many events there are.
    pub count: u32,
}

/// The part of a history with the events of smaller numbers. A call that returns later is pending in it, although its
/// result is known.
#[derive(Clone, Copy)]
pub(super) struct Cut(pub u32);

impl Events {
    pub fn new(history: &History) -> Events {
        let number = |index: usize| u32::try_from(index).expect("a history has less than 2^32 events");
        let order = history.events();
        let count = number(order.len());
        let calls = vec![(0, count + 1); history.calls().len()];
        let mut events = Events { calls, returns: Vec::with_capacity(order.len() / 2), count };
        for (index, event) in order.into_iter().enumerate() {
            if event.is_return() {
                events.calls[event.call()].1 = number(index);
                events.returns.push(event.call());
            } else {
                events.calls[event.call()].0 = number(index);
            }
        }
        events
    }

    /// The number that stands for the return of a call that does not return: larger than [`Events::end`].
    pub fn never(&self) -> u32 {
        self.count + 1
    }

    /// The number of the gap after all events, plus one: where the values that remain in a collection leave it.
    pub fn end(&self) -> u32 {
        self.count
    }

    pub fn whole(&self) -> Cut {
        Cut(self.count)
    }

    /// The part that ends with the n-th return.
    pub fn after_returns(&self, n: usize) -> Cut {
        Cut(n.checked_sub(1).map_or(0, |last| self.calls[self.returns[last]].1 + 1))
    }

    /// The part that ends right before the n-th return, counted from 1.
    pub fn before_return(&self, n: usize) -> Cut {
        Cut(self.calls[self.returns[n - 1]].1)
    }

    /// The interval of `call` within a part; `None` when the call starts later.
    pub fn within(&self, call: usize, cut: Cut) -> Option<(u32, u32)> {
        let (invoked, returned) = self.calls[call];
        (invoked < cut.0).then_some((invoked, if returned < cut.0 { returned } else { self.never() }))
    }
}

/// An order for calls that each have a gap: by gap, and within a gap by the place in the list. Each part is such a list
/// with gaps that never decrease.
pub(super) fn merge(parts: impl IntoIterator<Item = Vec<(u32, usize)>>) -> Vec<usize> {
    let mut all: Vec<(u32, usize)> = parts.into_iter().flatten().collect();
    all.sort_by_key(|&(gap, _)| gap);
    all.into_iter().map(|(_, call)| call).collect()
}

/// Gives each call of a list the first gap that its invocation and the calls before it allow.
pub(super) fn earliest(events: &Events, order: &[usize]) -> Vec<(u32, usize)> {
    let mut gap = 0;
    order
        .iter()
        .map(|&call| {
            gap = gap.max(events.calls[call].0);
            (gap, call)
        })
        .collect()
}
