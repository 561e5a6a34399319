//! The sites that an engine has met.

use std::sync::atomic::Ordering;

use interloper_std::runtime::{Effect, Place};

use super::{Argument, Change, Executed, Orderings, Rank, Site, add, argument};
use crate::execution::SourcePlace;

/// The sites that an engine has met. Only a site that it meets for the first time takes memory.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    orderings: Orderings,
    /// Whether there is anything to do.
    active: bool,
    /// By their keys.
    met: Vec<Met>,
}

#[derive(Debug)]
struct Met {
    key: Key,
    place: Place,
    /// The ordering in force.
    to: Ordering,
    times: u64,
}

/// The address of a place, since comparing its text would take long. A place may have several addresses: code that several
/// crates instantiate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    address: usize,
    argument: Argument,
    order: Rank,
}

/// The orderings in force for an access, and where its sites are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// Of the access, or of one that succeeds.
    pub(crate) order: Ordering,
    /// Of a compare-exchange that fails.
    pub(crate) failure: Ordering,
    sites: Option<(usize, usize)>,
}

impl Sites {
    pub(crate) fn new(orderings: Orderings) -> Sites {
        Sites { active: orderings != Orderings::default(), orderings, met: Vec::new() }
    }

    /// The orderings in force for an access.
    #[inline]
    pub(crate) fn access(&mut self, place: Place, effect: &Effect<'_>, orders: (Ordering, Ordering)) -> Taken {
        if !self.active {
            return Taken { order: orders.0, failure: orders.1, sites: None };
        }
        self.look_up(place, effect, orders)
    }

    /// The ordering in force for a fence. A `Relaxed` one is no fence.
    pub(crate) fn fence(&mut self, place: Place, order: Ordering) -> Ordering {
        if !self.active {
            return order;
        }
        let at = self.find(place, Argument::Fence, order);
        self.met[at].times += 1;
        self.met[at].to
    }

    /// The access was made.
    #[inline]
    pub(crate) fn count(&mut self, taken: Taken, failed: bool) {
        if let Some((first, failure)) = taken.sites {
            self.met[if failed { failure } else { first }].times += 1;
        }
    }

    /// How often each site was executed since the last call, in the order of places.
    pub(crate) fn take(&mut self) -> Vec<Executed> {
        if !self.orderings.counted {
            return Vec::new();
        }
        let mut all = Vec::new();
        add(&mut all, self.met.iter_mut().map(Met::take));
        all
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, place: Place, effect: &Effect<'_>, (order, failure): (Ordering, Ordering)) -> Taken {
        let first = self.key(place, argument(effect), order);
        let Effect::Update { compares: true, .. } = effect else {
            let at = self.find_key(place, first);
            let to = self.met[at].to;
            return Taken { order: to, failure: to, sites: Some((at, at)) };
        };
        let second = self.key(place, Argument::Load, failure);
        // The second may be inserted before the first.
        self.find_key(place, first);
        let failure = self.find_key(place, second);
        let at = self.find_key(place, first);
        Taken { order: self.met[at].to, failure: self.met[failure].to, sites: Some((at, failure)) }
    }

    fn key(&self, place: Place, argument: Argument, order: Ordering) -> Key {
        Key { address: std::ptr::from_ref(place).addr(), argument, order: Rank::of(order) }
    }

    fn find(&mut self, place: Place, argument: Argument, order: Ordering) -> usize {
        self.find_key(place, self.key(place, argument, order))
    }

    fn find_key(&mut self, place: Place, key: Key) -> usize {
        match self.met.binary_search_by_key(&key, |met| met.key) {
            Ok(at) => at,
            Err(at) => {
                let changed = self.orderings.changed.as_ref().filter(|change| is_at(change, place, key));
                let to = changed.map_or(key.order.ordering(), Change::to);
                self.met.insert(at, Met { key, place, to, times: 0 });
                at
            }
        }
    }
}

impl Met {
    fn take(&mut self) -> Executed {
        let Key { argument, order, .. } = self.key;
        let site = Site { place: SourcePlace::from(self.place), argument, order };
        Executed { site, times: std::mem::take(&mut self.times) }
    }
}

fn is_at(change: &Change, place: Place, key: Key) -> bool {
    let Site { place: wanted, argument, order } = &change.site;
    (*argument, *order) == (key.argument, key.order)
        && (wanted.line, wanted.column) == (place.line(), place.column())
        && wanted.file == place.file()
}
