//! Which place in the order of stores an access to weak memory takes: a decision if there are several.

use std::sync::atomic::Ordering;

use interloper_std::runtime::{Action, Effect, TaskId};

use super::Kept;
use crate::decisions::{Decision, Question};
use crate::engine::core::Core;
use crate::engine::stale::{Again, Here};
use crate::engine::state::State;
use crate::freedoms::Freedom;
use crate::memory::{Kind, LocationId, Spot, Stored};
use crate::traces::Pick;

impl Kept {
    /// The places that an access may take, the newest first.
    pub(super) fn find_places(
        &mut self,
        task: TaskId,
        at: LocationId,
        effect: &Effect<'_>,
        (order, failure): (Ordering, Ordering),
    ) {
        let Kept { memory, places, .. } = self;
        match effect {
            Effect::Load => memory.places(task, at, Kind::Load, order, places),
            Effect::Store(_) => memory.places(task, at, Kind::Store, order, places),
            Effect::Update { change, .. } => {
                let mut fails = Vec::new();
                memory.places(task, at, Kind::Load, failure, &mut fails);
                fails.retain(|&spot| change(memory.stored(at, spot).value).is_none());
                memory.places(task, at, Kind::Update, order, places);
                places.retain(|&spot| change(memory.stored(at, spot).value).is_some());
                places.append(&mut fails);
                places.sort_unstable_by(|a, b| b.cmp(a));
            }
        }
    }
}

impl Core {
    /// The place of an access: a decision if there are several.
    #[inline]
    pub(super) fn place(&self, state: &mut State, kept: &mut Kept, here: Here, asks: impl FnOnce(&mut Kept)) -> Spot {
        let Here { task, at, .. } = here;
        let (newest, is_settled) = kept.memory.newest_spot(task, at);
        if is_settled {
            return newest;
        }
        asks(kept);
        if let Some(spot) = self.place_again(state, kept, here) {
            return spot;
        }
        if kept.places.len() < 2 || state.granted.count(Freedom::Memory) == 0 {
            return newest;
        }
        // As with other freedoms: where they are counted, each looks at what is left.
        let is_counted = state.granted.count(Freedom::Memory) < u32::MAX;
        let object = state.object_of(Freedom::Memory);
        if is_counted {
            self.touch(state, object, Action::Consult);
        }
        if state.free.count(Freedom::Memory) == 0 {
            kept.older_left = true;
            return newest;
        }
        let spot = self.ask_for_place(state, kept, at);
        if spot != newest {
            state.used.add(Freedom::Memory);
            if is_counted {
                state.free.take(Freedom::Memory);
                self.touch(state, object, Action::Affect);
            }
        }
        spot
    }

    /// A task that looks here again may be bound to what is newer, or see the same once more without a decision.
    #[inline]
    fn place_again(&self, state: &mut State, kept: &mut Kept, here: Here) -> Option<Spot> {
        let Kept { memory, stale, places, .. } = kept;
        let at = here.at;
        let position = |places: &[Spot], store| places.iter().position(|&spot| memory.stored(at, spot).origin == store);
        match stale.again(here) {
            Again::NewerThan(store) => places.truncate(position(places, store).unwrap_or(places.len())),
            _ if state.tasks[state.current].hints.has_left() => {
                return stale.last(here).and_then(|store| position(places, store)).map(|index| places[index]);
            }
            Again::Enough(store) => {
                state.withheld = true;
                places.truncate(position(places, store).unwrap_or(places.len()));
            }
            Again::Anything => {}
        }
        None
    }

    fn ask_for_place(&self, state: &mut State, kept: &mut Kept, at: LocationId) -> Spot {
        self.note_freedoms(state);
        let options = kept.places.len() as u32;
        let Kept { memory, places, steps, .. } = kept;
        let stored = |index: u32| {
            let Stored { origin, .. } = memory.stored(at, places[index as usize]);
            origin.map_or(0, |access| steps[access as usize])
        };
        let strategy = self.strategy.get().expect("a strategy chooses while a program runs");
        self.choosing.set(true);
        // SAFETY: as in `Core::ask`.
        let answer = unsafe { (*strategy).place(options, &stored) };
        assert!(answer < options, "the strategy chose the place {answer} out of {options}");
        self.choosing.set(false);
        if self.config.decisions {
            state.decisions.push(Decision::new(Question::Store, options, answer));
        }
        let spot = kept.places[answer as usize];
        if self.config.trace {
            // Which of the places are possible can depend on steps that do not depend on this one.
            let answer = kept.memory.stored(at, spot).distance as u32;
            state.picks.push(Pick { events: state.trace.len() as u32, answer });
        }
        spot
    }
}
