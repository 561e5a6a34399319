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
    /// In the order in which they were met.
    met: Vec<Met>,
    /// Which of them has a key, in the order of keys. Code that several crates instantiate has a key in each, for one site.
    keys: Vec<(Key, usize)>,
    /// The number of the execution.
    execution: u64,
}

#[derive(Debug)]
struct Met {
    key: Key,
    place: Place,
    /// The ordering in force.
    to: Ordering,
    times: u64,
    executions: u64,
    /// The last execution with an access.
    last: u64,
}

/// The address of a place, since comparing its text would take long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    address: usize,
    argument: Argument,
    order: Rank,
}

/// The orderings in force for an access, and its sites.
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
        Sites { active: orderings != Orderings::default(), orderings, ..Sites::default() }
    }

    /// An execution begins.
    pub(crate) fn begin(&mut self) {
        self.execution += 1;
    }

    /// Whether orderings are counted or changed. Otherwise those of the source are in force.
    pub(crate) fn is_active(&self) -> bool {
        self.active
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
        let site = self.find(place, Argument::Fence, order);
        self.met[site].count(self.execution);
        self.met[site].to
    }

    /// The access was made.
    #[inline]
    pub(crate) fn count(&mut self, taken: Taken, failed: bool) {
        if let Some((first, failure)) = taken.sites {
            self.met[if failed { failure } else { first }].count(self.execution);
        }
    }

    /// How often each site was executed since the last call, in the order of places.
    pub(crate) fn take(&mut self) -> Vec<Executed> {
        let mut all = Vec::new();
        if self.orderings.counted {
            add(&mut all, self.met.iter_mut().map(Met::take));
        }
        all
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, place: Place, effect: &Effect<'_>, (order, failure): (Ordering, Ordering)) -> Taken {
        let first = self.find(place, argument(effect), order);
        let second = match effect {
            Effect::Update { compares: true, .. } => self.find(place, Argument::Load, failure),
            _ => first,
        };
        Taken { order: self.met[first].to, failure: self.met[second].to, sites: Some((first, second)) }
    }

    fn find(&mut self, place: Place, argument: Argument, order: Ordering) -> usize {
        let key = Key { address: std::ptr::from_ref(place).addr(), argument, order: Rank::of(order) };
        match self.keys.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => self.keys[at].1,
            Err(at) => {
                let site = self.meet(place, key);
                self.keys.insert(at, (key, site));
                site
            }
        }
    }

    /// The site of a key that is new.
    fn meet(&mut self, place: Place, key: Key) -> usize {
        let same = |met: &Met| (met.key.argument, met.key.order) == (key.argument, key.order) && met.place == place;
        self.met.iter().position(same).unwrap_or_else(|| {
            let changed = self.orderings.changed.as_ref().filter(|change| is_at(change, place, key));
            let to = changed.map_or(key.order.ordering(), Change::to);
            self.met.push(Met { key, place, to, times: 0, executions: 0, last: 0 });
            self.met.len() - 1
        })
    }
}

impl Met {
    fn count(&mut self, execution: u64) {
        self.times += 1;
        self.executions += u64::from(self.last != execution);
        self.last = execution;
    }

    fn take(&mut self) -> Executed {
        let Key { argument, order, .. } = self.key;
        let site = Site { place: SourcePlace::from(self.place), argument, order };
        let (times, executions) = (std::mem::take(&mut self.times), std::mem::take(&mut self.executions));
        Executed { site, times, executions }
    }
}

fn is_at(change: &Change, place: Place, key: Key) -> bool {
    let Site { place: wanted, argument, order } = &change.site;
    (*argument, *order) == (key.argument, key.order)
        && (wanted.line, wanted.column) == (place.line(), place.column())
        && wanted.file == place.file()
}
