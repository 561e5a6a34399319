//! A search that another process continues after each of its executions.

use interloper_scheduler::{Around, Strategy};

/// Before each execution, a new strategy goes on where the last one was.
pub struct Continued<S, F> {
    fresh: F,
    strategy: S,
}

impl<S: Strategy, F: Fn() -> S> Continued<S, F> {
    pub fn new(fresh: F) -> Continued<S, F> {
        Continued { strategy: fresh(), fresh }
    }

    pub fn strategy(&self) -> &S {
        &self.strategy
    }
}

impl<S: Strategy, F: Fn() -> S> Around for Continued<S, F> {
    type Inner = S;

    fn inner(&self) -> &S {
        &self.strategy
    }

    fn inner_mut(&mut self) -> &mut S {
        &mut self.strategy
    }

    fn around_begin(&mut self) -> bool {
        let saved = self.strategy.saved().expect("a strategy that can be continued");
        let mut next = (self.fresh)();
        assert!(next.restore(&saved), "{saved:?}");
        assert_eq!(next.saved(), Some(saved), "what was read is written again");
        self.strategy = next;
        self.strategy.begin()
    }
}
