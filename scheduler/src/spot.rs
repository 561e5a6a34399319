//! Places of the program as numbers that each process of it agrees on.

use std::collections::BTreeMap;

use interloper_std::runtime::Place;

use crate::decisions::mix;
use crate::saved::around;

/// A place of the program: the same number in each process of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Spot(pub(crate) u64);

impl Spot {
    pub(crate) fn of(place: Place) -> Spot {
        let file = place.file().bytes().fold(0, |file, byte| mix(file, byte.into()));
        Spot(mix(mix(file, place.line().into()), place.column().into()))
    }
}

around!(Spot);

/// The spots of places that were met before, by the address of the place. The compiler may put one place at several addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spots(BTreeMap<usize, Spot>);

impl Spots {
    pub(crate) fn of(&mut self, place: Place) -> Spot {
        *self.0.entry(std::ptr::from_ref(place).addr()).or_insert_with(|| Spot::of(place))
    }
}
