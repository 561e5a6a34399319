//! What each ordering of a program is for: counts the accesses of each ordering, and changes an ordering at run time.
//!
//! An atomic operation or a fence knows its place in the source, so the engine can treat it as if the source had another
//! ordering there. Nothing is compiled again. This is mutation testing (R. A. DeMillo, R. J. Lipton and F. G. Sayward,
//! *Hints on Test Data Selection*, Computer 1978) of memory orderings.
//!
//! # Limits
//!
//! - Orderings matter only where memory is weak, and for data races on plain memory. Another execution counts and changes
//!   nothing.
//! - Operations that one use of a macro expands to have the place of that use. Those with the same [`Argument`] and the same
//!   ordering are one [`Site`] and change together.

mod sites;
mod text;

use std::sync::atomic::Ordering;

use interloper_std::runtime::Effect;

use crate::execution::SourcePlace;

pub(crate) use sites::Sites;
pub use text::{ChangeError, SiteError};

/// Which argument of which operation an ordering is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Argument {
    /// That of a load; that of a compare-exchange which fails; the second of `fetch_update`, which is both.
    Load,
    /// That of a store.
    Store,
    /// That of a read-modify-write, or of a compare-exchange which succeeds.
    Update,
    /// That of a fence.
    Fence,
}

/// A place of the source with an ordering.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The place of the call.
    pub place: SourcePlace,
    /// Which argument of the call it is.
    pub argument: Argument,
    /// The ordering in the source.
    order: Rank,
}

/// An ordering that is changed at run time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change {
    /// Where.
    pub site: Site,
    /// The ordering that takes its place.
    to: Rank,
}

/// What an engine does with the orderings of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orderings {
    /// Whether the accesses of each site are counted.
    pub counted: bool,
    /// The ordering that is changed.
    pub changed: Option<Change>,
}

/// How often a site was executed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Executed {
    /// The site.
    pub site: Site,
    /// The number of its accesses where orderings matter: 0 for the failure of a compare-exchange that never failed, for
    /// example.
    pub times: u64,
    /// The number of executions with such an access.
    pub executions: u64,
}

/// An ordering, in the order of the variants of [`Ordering`] in std's documentation. std's own type has no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Rank {
    Relaxed,
    Release,
    Acquire,
    AcqRel,
    SeqCst,
}

impl Argument {
    /// All arguments.
    pub const ALL: [Argument; 4] = [Argument::Load, Argument::Store, Argument::Update, Argument::Fence];

    /// The name of the argument in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Argument::Load => "load",
            Argument::Store => "store",
            Argument::Update => "update",
            Argument::Fence => "fence",
        }
    }

    /// Whether the argument can be this ordering. A fence that is `Relaxed` is no fence.
    pub fn admits(self, order: Ordering) -> bool {
        match self {
            Argument::Load => !matches!(order, Ordering::Release | Ordering::AcqRel),
            Argument::Store => !matches!(order, Ordering::Acquire | Ordering::AcqRel),
            Argument::Update | Argument::Fence => true,
        }
    }

    /// The orderings that are one level weaker.
    pub fn weaker(self, order: Ordering) -> Vec<Ordering> {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        match (order, self) {
            (SeqCst, Argument::Load) => vec![Acquire],
            (SeqCst, Argument::Store) => vec![Release],
            (SeqCst, _) => vec![AcqRel],
            (AcqRel, _) => vec![Acquire, Release],
            (Acquire | Release, _) => vec![Relaxed],
            _ => Vec::new(),
        }
    }

    /// The orderings that are one level stronger.
    pub fn stronger(self, order: Ordering) -> Vec<Ordering> {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let all = [Relaxed, Acquire, Release, AcqRel, SeqCst].into_iter().filter(|&other| self.admits(other));
        all.filter(|&other| self.weaker(other).contains(&order)).collect()
    }
}

impl Site {
    /// A site. `None` when the argument cannot be this ordering.
    pub fn new(place: SourcePlace, argument: Argument, order: Ordering) -> Option<Site> {
        argument.admits(order).then(|| Site { place, argument, order: Rank::of(order) })
    }

    /// The ordering in the source.
    pub fn order(&self) -> Ordering {
        self.order.ordering()
    }

    /// Whether the ordering can be weakened. A `Relaxed` one cannot.
    pub fn is_strong(&self) -> bool {
        self.order > Rank::Relaxed
    }
}

impl Change {
    /// A change. `None` when the site cannot have this ordering, or has it already.
    pub fn new(site: Site, to: Ordering) -> Option<Change> {
        (site.argument.admits(to) && site.order() != to).then(|| Change { site, to: Rank::of(to) })
    }

    /// The ordering that takes the place of the one in the source.
    pub fn to(&self) -> Ordering {
        self.to.ordering()
    }
}

impl Orderings {
    /// Counts the accesses of each site, and changes nothing.
    pub const COUNTED: Orderings = Orderings { counted: true, changed: None };

    /// Counts the accesses of each site, and changes one ordering.
    pub fn changed(change: Change) -> Orderings {
        Orderings { counted: true, changed: Some(change) }
    }
}

/// Adds counts to others. Both are in the order of places, and stay so.
pub fn add(counts: &mut Vec<Executed>, others: impl IntoIterator<Item = Executed>) {
    for other in others {
        match counts.binary_search_by(|known| known.site.cmp(&other.site)) {
            Ok(at) => {
                counts[at].times += other.times;
                counts[at].executions += other.executions;
            }
            Err(at) => counts.insert(at, other),
        }
    }
}

impl Rank {
    const ALL: [Rank; 5] = [Rank::Relaxed, Rank::Release, Rank::Acquire, Rank::AcqRel, Rank::SeqCst];

    fn of(order: Ordering) -> Rank {
        match order {
            Ordering::Relaxed => Rank::Relaxed,
            Ordering::Release => Rank::Release,
            Ordering::Acquire => Rank::Acquire,
            Ordering::AcqRel => Rank::AcqRel,
            // std may get more of them, which would have to be at least as strong to be safe.
            _ => Rank::SeqCst,
        }
    }

    const fn ordering(self) -> Ordering {
        match self {
            Rank::Relaxed => Ordering::Relaxed,
            Rank::Release => Ordering::Release,
            Rank::Acquire => Ordering::Acquire,
            Rank::AcqRel => Ordering::AcqRel,
            Rank::SeqCst => Ordering::SeqCst,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Rank::Relaxed => "Relaxed",
            Rank::Release => "Release",
            Rank::Acquire => "Acquire",
            Rank::AcqRel => "AcqRel",
            Rank::SeqCst => "SeqCst",
        }
    }
}

/// The argument that an access has first. That of a compare-exchange which fails is an [`Argument::Load`].
pub(crate) fn argument(effect: &Effect<'_>) -> Argument {
    match effect {
        Effect::Load => Argument::Load,
        Effect::Store(_) => Argument::Store,
        Effect::Update { .. } => Argument::Update,
    }
}

#[cfg(test)]
mod tests;
