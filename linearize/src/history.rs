//! Concurrent histories: calls with the positions of their two events.

use std::fmt;

/// A concurrent history: for each call, when it was invoked and when it returned. The specification knows what was
/// called and returned; here a call is its index.
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
    /// Where it returned. `None`: the call is pending, so it may have taken effect at any time after its invocation, or
    /// not at all.
    pub returned: Option<usize>,
}

/// One of the two events of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event(usize);

impl Event {
    fn invocation(call: usize) -> Event {
        Event(2 * call)
    }

    fn response(call: usize) -> Event {
        Event(2 * call + 1)
    }

    /// The index of the call.
    pub fn call(self) -> usize {
        self.0 / 2
    }

    /// Whether it is the return of the call; otherwise it is the invocation.
    pub fn is_return(self) -> bool {
        self.0 % 2 == 1
    }

    fn position(self, calls: &[Interval]) -> usize {
        let interval = calls[self.call()];
        interval.returned.filter(|_| self.is_return()).unwrap_or(interval.invoked)
    }
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
        let is_backward = |interval: &Interval| interval.returned.is_some_and(|returned| returned < interval.invoked);
        if let Some(call) = calls.iter().position(is_backward) {
            return Err(Malformed::ReturnsBeforeInvocation { call });
        }
        let events = in_order(&calls);
        let position = |event: Event| event.position(&calls);
        match events.windows(2).find(|pair| position(pair[0]) == position(pair[1])) {
            Some(pair) => Err(Malformed::SamePosition { call: pair[1].call(), position: position(pair[1]) }),
            None => Ok(History { end: end(&calls), calls }),
        }
    }

    /// The part of this history with some of its calls, in the order of `calls`; each call keeps its positions.
    ///
    /// # Panics
    /// When the call does not exist.
    pub fn part(&self, calls: &[usize]) -> History {
        History { calls: calls.iter().map(|&call| self.calls[call]).collect(), end: self.end }
    }

    /// The events in their order.
    pub fn events(&self) -> Vec<Event> {
        in_order(&self.calls)
    }

    /// Appends an invocation and returns the index of its call.
    pub fn invoke(&mut self) -> usize {
        self.calls.push(Interval { invoked: self.end, returned: None });
        self.end += 1;
        self.calls.len() - 1
    }

    /// Appends the return of `call`.
    ///
    /// # Panics
    /// When the call does not exist or has returned.
    pub fn complete(&mut self, call: usize) {
        let interval = &mut self.calls[call];
        assert!(interval.returned.is_none(), "call {call} has returned already");
        interval.returned = Some(self.end);
        self.end += 1;
    }

    /// Appends a call that no other call overlaps from here on: its invocation and at once its return.
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

/// The position after all events.
fn end(calls: &[Interval]) -> usize {
    let last = calls.iter().map(|interval| interval.returned.unwrap_or(interval.invoked)).max();
    last.map_or(0, |last| last.saturating_add(1))
}

/// The events of some calls by position, then by call.
fn in_order(calls: &[Interval]) -> Vec<Event> {
    placed(calls).unwrap_or_else(|| {
        let mut events: Vec<Event> = events_of(calls).collect();
        events.sort_unstable_by_key(|&event| (event.position(calls), event));
        events
    })
}

fn events_of(calls: &[Interval]) -> impl Iterator<Item = Event> {
    calls.iter().enumerate().flat_map(|(call, interval)| {
        [Some(Event::invocation(call)), interval.returned.map(|_| Event::response(call))].into_iter().flatten()
    })
}

/// The same without sorting: each event gets a place of its own, if the positions are dense enough and all different.
fn placed(calls: &[Interval]) -> Option<Vec<Event>> {
    const FREE: Event = Event(usize::MAX);
    let end = end(calls);
    if end / 8 > calls.len() {
        return None;
    }
    let mut places = vec![FREE; end];
    for event in events_of(calls) {
        if std::mem::replace(&mut places[event.position(calls)], event) != FREE {
            return None;
        }
    }
    places.retain(|&event| event != FREE);
    Some(places)
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
    fn events_in_order() {
        let (invoked, returned) = (Event::invocation, Event::response);
        // Dense, and then so far apart that they have to be sorted.
        for factor in [1, 1000] {
            let calls = vec![interval(3 * factor, 4 * factor), interval(0, 5 * factor), interval(factor, None)];
            let history = History::from_intervals(calls).expect("a history");
            assert_eq!(history.events(), [invoked(1), invoked(2), invoked(0), returned(0), returned(1)]);
            assert_eq!(history.part(&[2, 0]).events(), [invoked(0), invoked(1), returned(1)]);
        }
        assert_eq!(History::new().events(), []);
        let far = History::from_intervals(vec![interval(usize::MAX, None)]).expect("a history");
        assert_eq!(far.events(), [invoked(0)]);
        assert!(!invoked(3).is_return() && returned(3).is_return());
        assert_eq!((invoked(3).call(), returned(3).call()), (3, 3));
    }

    #[test]
    #[should_panic(expected = "call 0 has returned already")]
    fn a_call_returns_once() {
        let mut history = History::new();
        let call = history.atomic();
        history.complete(call);
    }
}
