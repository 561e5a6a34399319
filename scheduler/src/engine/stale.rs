//! Loops that look at a stale store: how long they may.
//!
//! C++20 lets a load see a stale store for as long as nothing orders it after a newer one, and says that stores become visible to
//! loads "within a reasonable amount of time" ([atomics.order], paragraph 12), as std does by reference. A loop that waits for a
//! store would otherwise go round for ever although the store is there: a correct spin lock would be a livelock, and an exhaustive
//! search would try one stale look, then two, and so on without an end. So:
//!
//! - A task that yields or spins and waits there for a change sees something newer the next time: what it waits for is there.
//! - If the hint lets it go on unchanged ([`Freedom::Hints`]), it may see the stale store again. After the rounds that the freedom
//!   grants, the stale store is seen without a decision, until it is clear that the loop waits: see `hints.rs`.
//! - A loop without hints sees the same stale store [`MOST_LOOKS`] times from one place.
//!
//! These depend on the steps of the task alone, and not on when others make theirs. One more depends on the clock: tests order
//! threads by sleeps, and on no machine does a store stay invisible for the length of a sleep.
//!
//! - When the clock moves on because no task can go on before, every task sees all that was stored until then (`State::settled`). What
//!   happens before what stays as it was, so a data race between threads that only a sleep orders stays one.
//!
//! - Before that, tasks that yield or spin look again, a number of times (`State::waits_for_clock`), and as often once more after a look at a
//!   stale store: on a machine they see the newest one long before a sleep ends.
//!
//! All steps of that moment come before the clock moves, in whatever order they were made. So an exhaustive search has nothing to
//! reverse there. A sleep that ends early ([`Freedom::Time`]) shows nothing to anybody.
//!
//! [`Freedom::Hints`]: crate::freedoms::Freedom::Hints
//! [`Freedom::Time`]: crate::freedoms::Freedom::Time

use std::num::NonZeroU32;

use interloper_std::runtime::{Place, TaskId};

use crate::memory::LocationId;

/// A task sees a stale store at most this often from one place, if it gives no hint.
const MOST_LOOKS: u32 = 8;

/// The last looks of tasks at stale stores.
#[derive(Default)]
pub(super) struct StaleLooks(Vec<Look>);

/// Which task looks, at which location, and from where.
#[derive(Clone, Copy)]
pub(super) struct Here {
    pub(super) task: TaskId,
    pub(super) at: LocationId,
    pub(super) place: Place,
}

struct Look {
    here: Here,
    /// The store that was seen, by the number of its access; `None` is what was there at first.
    store: Option<NonZeroU32>,
    looks: u32,
    /// The task has waited for a change since.
    waited: bool,
}

/// What a task may see when it looks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// What the memory admits.
    Anything,
    /// What is newer than this store, since the task has waited for a change.
    NewerThan(Option<NonZeroU32>),
    /// What is newer than this store, since the task has looked often enough.
    Enough(Option<NonZeroU32>),
}

impl Here {
    #[inline]
    fn is(self, other: Here) -> bool {
        self.task == other.task && self.at == other.at && std::ptr::eq(self.place, other.place)
    }
}

impl StaleLooks {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    #[inline]
    fn position(&self, here: Here) -> Option<usize> {
        self.0.iter().position(|look| look.here.is(here))
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The task waits for a change.
    pub(super) fn waits(&mut self, task: TaskId) {
        self.0.iter_mut().filter(|look| look.here.task == task).for_each(|look| look.waited = true);
    }

    /// What a task may see that looks here.
    #[inline]
    pub(super) fn again(&self, here: Here) -> Again {
        match self.0.iter().find(|look| look.here.is(here)) {
            None => Again::Anything,
            Some(look) if look.waited => Again::NewerThan(look.store),
            Some(look) if look.looks >= MOST_LOOKS => Again::Enough(look.store),
            Some(_) => Again::Anything,
        }
    }

    /// The stale store that the task saw when it looked here last.
    pub(super) fn last(&self, here: Here) -> Option<Option<NonZeroU32>> {
        self.position(here).map(|index| self.0[index].store)
    }

    /// The task looks here and sees a stale store, or with `None` the newest one. Returns whether it sees a stale store that it did not see
    /// when it looked here last.
    pub(super) fn looks(&mut self, here: Here, stale: Option<Option<NonZeroU32>>) -> bool {
        match (self.position(here), stale) {
            (None, None) => false,
            (Some(index), None) => {
                self.0.swap_remove(index);
                false
            }
            (Some(index), Some(store)) if self.0[index].store == store => {
                self.0[index].looks += 1;
                false
            }
            (index, Some(store)) => {
                let look = Look { here, store, looks: 1, waited: false };
                match index {
                    Some(index) => self.0[index] = look,
                    None => self.0.push(look),
                }
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;

    #[test]
    fn a_stale_store_is_seen_until_the_task_waits_or_has_looked_often_enough() {
        let mut looks = StaleLooks::default();
        let (at, other) = (LocationId(0), LocationId(1));
        let [three, five] = [3, 5].map(NonZeroU32::new);
        let here = Here { task: TaskId::MAIN, at, place: Location::caller() };
        let elsewhere = Here { at: other, ..here };
        assert_eq!((looks.again(here), looks.last(here)), (Again::Anything, None));
        assert!(looks.looks(here, Some(three)));
        assert_eq!((looks.again(here), looks.last(here)), (Again::Anything, Some(three)));
        looks.waits(TaskId(1));
        assert_eq!(looks.again(here), Again::Anything, "another task has waited");
        looks.waits(TaskId::MAIN);
        assert_eq!((looks.again(here), looks.again(elsewhere)), (Again::NewerThan(three), Again::Anything));
        assert!(looks.looks(here, Some(five)));
        assert_eq!(looks.again(here), Again::Anything, "another store");
        (1..MOST_LOOKS).for_each(|_| assert!(!looks.looks(here, Some(five)), "the same store"));
        assert_eq!(looks.again(here), Again::Enough(five));
        assert!(!looks.looks(here, None));
        assert_eq!((looks.again(here), looks.last(here)), (Again::Anything, None));
    }
}
