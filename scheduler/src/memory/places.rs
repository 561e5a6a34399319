//! Places in the modification order of a location.

use super::Spot;
use crate::execution::Among;

/// The places that an access may take, the newest first. Mostly these are the newest ones without a gap, which are not listed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    newest: usize,
    count: usize,
    /// All of them, unless they have no gap.
    listed: Vec<Spot>,
}

impl Places {
    /// From the newest to the oldest one, without a gap.
    #[inline]
    pub(super) fn row(&mut self, newest: usize, oldest: usize) {
        (self.newest, self.count) = (newest, newest + 1 - oldest);
        self.listed.clear();
    }

    /// These, the newest first.
    pub(crate) fn list(&mut self, spots: impl IntoIterator<Item = Spot>) {
        self.listed.clear();
        self.listed.extend(spots);
        self.count = self.listed.len();
    }

    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The place with this index.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Spot {
        if self.listed.is_empty() { Spot(self.newest - index) } else { self.listed[index] }
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Spot> + '_ {
        (0..self.count).map(|index| self.get(index))
    }

    /// The places by how many stores come after each.
    #[inline]
    pub(crate) fn among(&self, distance: impl Fn(Spot) -> usize) -> Among {
        if self.listed.is_empty() {
            return Among::Newest(self.count as u32);
        }
        Among::These(self.listed[..self.count].iter().map(|&spot| distance(spot) as u32).collect())
    }

    /// Only the newest ones, at most so many.
    pub(crate) fn truncate(&mut self, most: usize) {
        self.count = self.count.min(most);
    }
}
