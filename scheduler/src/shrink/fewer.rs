//! Executions with fewer stale accesses than a run that fails. They tell whether the failure needs all of its stale accesses.

use crate::decisions::Decisions;
use crate::freedoms::{Freedom, Freedoms};
use crate::strategies::{Exhaustive, Pct, Portfolio, Pos, RandomWalk};
use crate::strategy::{Around, Strategy};

/// So many executions are those of an exhaustive search.
const SYSTEMATIC: u64 = 500;

/// If these are not all there are, so many at random follow.
const RANDOM: u64 = 500;

/// First an exhaustive search: all executions without a stale access, then those with one, and so on. If that is too much, executions
/// at random. All have the other freedoms of the run that fails.
pub(crate) struct FewerStale {
    exhaustive: Exhaustive,
    random: Portfolio<'static>,
    is_systematic: bool,
    made: u64,
    /// How many stale accesses are too many.
    below: u32,
    /// The freedoms of the run that fails, as its first decision names them.
    which: u32,
}

impl FewerStale {
    /// `None` if the run that fails has no stale access.
    pub(crate) fn new(failing: &Decisions) -> Option<FewerStale> {
        let below = failing.stale();
        let random = Portfolio::new().with("", Pos::new(0)).with("", RandomWalk::new(0)).with("", Pct::new(0, 3));
        let exhaustive = Exhaustive::new().with_stale(0..below);
        let which = failing.freedoms();
        (below > 0).then_some(FewerStale { exhaustive, random, is_systematic: true, made: 0, below, which })
    }

    /// Whether the present execution is one of the exhaustive search, which comes to those with the fewest stale accesses first.
    pub(crate) fn is_systematic(&self) -> bool {
        self.is_systematic
    }
}

impl Around for FewerStale {
    type Inner = dyn Strategy;

    fn inner(&self) -> &(dyn Strategy + 'static) {
        if self.is_systematic { &self.exhaustive } else { &self.random }
    }

    fn inner_mut(&mut self) -> &mut (dyn Strategy + 'static) {
        if self.is_systematic { &mut self.exhaustive } else { &mut self.random }
    }

    fn around_begin(&mut self) -> bool {
        if self.is_systematic && (self.made == SYSTEMATIC || !self.exhaustive.begin()) {
            if self.exhaustive.exploration().complete {
                return false;
            }
            (self.is_systematic, self.made) = (false, 0);
        }
        self.made += 1;
        self.is_systematic || (self.made <= RANDOM && self.random.begin())
    }

    fn around_freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        let stale = if self.is_systematic { self.below - 1 } else { (self.made % u64::from(self.below)) as u32 };
        let freedoms = admitted.of_answer(self.which).with(Freedom::Memory, stale);
        self.inner_mut().freedoms(freedoms)
    }

    fn around_saved(&self) -> Option<Vec<u64>> {
        None
    }

    fn around_restore(&mut self, _: &[u64]) -> bool {
        false
    }
}
