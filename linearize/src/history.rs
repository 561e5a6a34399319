//! Concurrent histories: calls with the positions of their two events.

use std::fmt;

/// A concurrent history: for each call, when it was invoked and when it returned. What was called and what it
/// returned is the business of the specification that the history is checked against; here a call is its index.
///
/// **Invariant:** every position is used by one event only, and a call returns after it was invoked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    calls: Vec<Interval>,
    /// The next free position.
    end: usize,
}

/// The positions of a call's events in the sequence of all events of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// Where it was invoked.
    pub invoked: usize,
    /// Where it returned. None: it is pending, so it may have taken effect at any time after its invocation, or not
    /// at all.
    pub returned: Option<usize>,
}

/// Why intervals are no history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The call returns before it was invoked.
    ReturnsBeforeInvocation {
        /// The index of the call.
        call: usize,
    },
    /// Two events have the same position.
    SamePosition {
        /// The index of the call with the later index.
        call: usize,
        /// The position.
        position: usize,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::ReturnsBeforeInvocation { call } => write!(out, "call {call} returns before it is invoked"),
            Malformed::SamePosition { call, position } => {
                write!(out, "call {call} has an event at position {position}, where there is another event already")
            }
        }
    }
}

impl std::error::Error for Malformed {}

impl History {
    /// A history without events.
    pub fn new() -> History {
        History::default()
    }

    /// A history from intervals; only the order of the positions matters.
    ///
    /// # Errors
    /// When a call returns before its invocation, or two events have the same position.
    pub fn from_intervals(calls: Vec<Interval>) -> Result<History, Malformed> {
        let mut events = Vec::with_capacity(2 * calls.len());
        for (call, interval) in calls.iter().enumerate() {
            if interval.returned.is_some_and(|returned| returned < interval.invoked) {
                return Err(Malformed::ReturnsBeforeInvocation { call });
            }
            events.push((interval.invoked, call));
            events.extend(interval.returned.map(|returned| (returned, call)));
        }
        events.sort_unstable();
        match events.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(Malformed::SamePosition { call: pair[1].1, position: pair[1].0 }),
            None => Ok(History { calls, end: events.last().map_or(0, |last| last.0 + 1) }),
        }
    }

    /// Appends an invocation and gives the index of its call.
    pub fn invoke(&mut self) -> usize {
        self.calls.push(Interval { invoked: self.end, returned: None });
        self.end += 1;
        self.calls.len() - 1
    }

    /// Appends the return of `call`.
    ///
    /// # Panics
    /// When there is no such call or it has returned.
    pub fn complete(&mut self, call: usize) {
        let interval = &mut self.calls[call];
        assert!(interval.returned.is_none(), "call {call} has returned already");
        interval.returned = Some(self.end);
        self.end += 1;
    }

    /// Appends a call that no other call overlaps from here on, that is its invocation and at once its return.
    pub fn atomic(&mut self) -> usize {
        let call = self.invoke();
        self.complete(call);
        call
    }

    /// The calls; the index of a call is its index in this slice.
    pub fn calls(&self) -> &[Interval] {
        &self.calls
    }

    /// Whether `first` returned before `second` was invoked: the real-time order, `<_h` in COLT, section 3.1.
    pub fn precedes(&self, first: usize, second: usize) -> bool {
        self.calls[first].returned.is_some_and(|returned| returned < self.calls[second].invoked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(invoked: usize, returned: impl Into<Option<usize>>) -> Interval {
        Interval { invoked, returned: returned.into() }
    }

    #[test]
    fn events_are_appended_in_order() {
        let mut history = History::new();
        let first = history.invoke();
        let second = history.atomic();
        history.complete(first);
        let third = history.invoke();
        assert_eq!(history.calls(), [interval(0, 3), interval(1, 2), interval(4, None)]);
        assert!(history.precedes(first, third) && history.precedes(second, third));
        assert!(!history.precedes(second, first) && !history.precedes(third, first));
        assert_eq!(History::from_intervals(history.calls().to_vec()), Ok(history));
    }

    #[test]
    fn intervals_that_are_no_history_are_refused() {
        let check = |calls: &[Interval], expected| assert_eq!(History::from_intervals(calls.to_vec()), Err(expected));
        check(&[interval(0, 1), interval(3, 2)], Malformed::ReturnsBeforeInvocation { call: 1 });
        check(&[interval(0, 2), interval(2, 3)], Malformed::SamePosition { call: 1, position: 2 });
        check(&[interval(1, 1)], Malformed::SamePosition { call: 0, position: 1 });
    }

    #[test]
    #[should_panic(expected = "call 0 has returned already")]
    fn a_call_returns_once() {
        let mut history = History::new();
        let call = history.atomic();
        history.complete(call);
    }
}
