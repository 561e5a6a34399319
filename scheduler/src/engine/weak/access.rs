//! An access to weak memory.

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::atomic::Ordering;

use interloper_std::runtime::{Accessed, Effect, ObjectId, Place, TaskId};

use crate::engine::core::Core;
use crate::engine::progress::Spin;
use crate::engine::stale::Here;
use crate::execution::Older;
use crate::freedoms::Freedom;
use crate::memory::{LocationId, Origin, Stored};
use crate::plain::{Doing, Now};

impl Core {
    /// A load or a store in a usual execution: nothing looks at plain memory, and orderings are neither counted nor changed.
    /// Inlined where it is known which of the two it is, so that the compiler leaves out what the other one does.
    #[inline(always)]
    pub(super) fn usual_access(
        &self,
        at: (ObjectId, Place),
        newest: u64,
        effect: Effect<'_>,
        order: Ordering,
    ) -> Accessed {
        self.access_as::<true>(at, (0..0, newest), effect, (order, order))
    }

    /// Any access in any execution.
    pub(super) fn access(
        &self,
        at: (ObjectId, Place),
        newest: (Range<usize>, u64),
        effect: Effect<'_>,
        orders: (Ordering, Ordering),
    ) -> Accessed {
        self.access_as::<false>(at, newest, effect, orders)
    }

    /// `USUAL`: the execution is usual.
    #[inline(always)]
    fn access_as<const USUAL: bool>(
        &self,
        (object, place): (ObjectId, Place),
        (extent, newest): (Range<usize>, u64),
        effect: Effect<'_>,
        orders: (Ordering, Ordering),
    ) -> Accessed {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        if state.aborting || self.choosing.get() {
            return effect.on_newest(newest);
        }
        let mut kept = self.kept.borrow_mut();
        let kept = &mut *kept;
        let task = TaskId(state.current as u32);
        let at = LocationId(object.index() as u32);
        let here = Here { task, at, place };
        let taken = (!USUAL).then(|| kept.sites.access(place, &effect, orders));
        let (order, failure) = taken.map_or(orders, |taken| (taken.order, taken.failure));
        let (newest, is_settled) = kept.memory.newest(task, at, newest);
        let chosen = if is_settled { None } else { self.place(state, kept, here, &effect, (order, failure)) };
        let stored = chosen.map_or(newest, |spot| kept.memory.stored(at, spot));
        let Stored { spot, value: found, origin, distance } = stored;
        // The event of the present step: nearly always the last one.
        let event = match &state.trace[..] {
            [.., last] if !last.continues => state.trace.len() as u32 - 1,
            trace => trace.iter().rposition(|event| !event.continues).unwrap_or(0) as u32,
        };
        let is_newest = distance == 0;
        let written = match &effect {
            Effect::Load => None,
            Effect::Store(value) => Some(*value),
            Effect::Update { change, may_fail, .. } => {
                change(found).filter(|_| !(*may_fail && self.departs(state, Freedom::Weak)))
            }
        };
        if let Some(taken) = taken {
            kept.sites.count(taken, written.is_none());
        }
        if !USUAL && self.config.plain.is_some() {
            let doing = if written.is_some() { Doing::AtomicWrite } else { Doing::AtomicRead };
            let now = Now { task, event: state.trace.len() as u32 };
            if kept.plain.access_atomic(&kept.memory, now, extent, doing, &self.stack()) {
                state.limit = 0;
            }
        }
        let of = origin.map(|origin| origin.event);
        kept.accesses.push((event, of));
        let access = NonZeroU32::new(kept.accesses.len() as u32).expect("there is one at least");
        let own = Origin { access, event, step: state.steps as u32 };
        if !is_newest || !kept.stale.is_empty() {
            let running = &mut state.tasks[state.current];
            if !matches!(effect, Effect::Store(_)) {
                let of_stale = (!is_newest).then_some(origin.map(|origin| origin.access));
                let is_same_look = running.hints.has_left() && kept.stale.last(here) == of_stale;
                if !is_same_look && kept.stale.looks(here, of_stale) {
                    // It has not looked since the change that it does not see.
                    state.vain = 0;
                }
            }
            if !is_newest {
                let among = kept.places.among(|spot| kept.memory.distance(at, spot));
                kept.older.push(Older { event, of, stores: written.is_some(), among });
                // A stale access is a choice of its own, so this is not one more round of a loop that waits.
                running.spin = Spin::default();
                running.rounds.does_something_new();
            }
        }
        match (&effect, written) {
            (Effect::Store(_), Some(value)) if USUAL => kept.memory.store(task, at, order, spot, (value, own)),
            (Effect::Store(_), Some(value)) => kept.memory.store_out_of_line(task, at, order, spot, (value, own)),
            (_, Some(value)) => kept.memory.update(task, at, order, spot, (value, own)),
            (Effect::Load, None) => kept.memory.load(task, at, order, spot),
            (_, None) => kept.memory.load(task, at, failure, spot),
        }
        Accessed { found, wrote: written.is_some(), newest: written.filter(|_| is_newest) }
    }
}
