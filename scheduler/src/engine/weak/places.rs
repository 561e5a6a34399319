//! Which place in the order of stores an access to weak memory takes: a decision if there are several.

use std::sync::atomic::Ordering;

use interloper_std::runtime::{Action, Effect, TaskId};

use super::Kept;
use crate::decisions::{Decision, Question};
use crate::engine::core::Core;
use crate::engine::stale::{Again, Here};
use crate::engine::state::State;
use crate::freedoms::Freedom;
use crate::memory::{Kind, LocationId, Memory, Places, Spot};
use crate::strategy::Stores;
use crate::traces::Pick;

impl Kept {
    /// The places that an access may take, the newest first.
    #[inline(always)]
    fn find_places(
        &mut self,
        task: TaskId,
        at: LocationId,
        effect: &Effect<'_>,
        (order, failure): (Ordering, Ordering),
    ) {
        match effect {
            Effect::Load => self.memory.places(task, at, Kind::Load, order, &mut self.places),
            Effect::Store(_) => self.memory.places(task, at, Kind::Store, order, &mut self.places),
            Effect::Update { change, .. } => self.find_places_of_update((task, at), change, (order, failure)),
        }
    }

    /// Leaves out the places before a store that every task sees, since it was made up to this step.
    #[cold]
    fn leave_out_hidden(&mut self, at: LocationId, settled: u64) {
        let Kept { memory, places, .. } = self;
        let oldest = memory.newest_of(at, settled);
        let hidden = places.iter().position(|spot| spot < oldest);
        places.truncate(hidden.unwrap_or(places.len()));
    }

    // Out of the way of the usual case.
    #[inline(never)]
    fn find_places_of_update(
        &mut self,
        (task, at): (TaskId, LocationId),
        change: &dyn Fn(u64) -> Option<u64>,
        (order, failure): (Ordering, Ordering),
    ) {
        let Kept { memory, places, .. } = self;
        let changes = |spot: &Spot| change(memory.stored(at, *spot).value).is_some();
        memory.places(task, at, Kind::Load, failure, places);
        let mut possible: Vec<Spot> = places.iter().filter(|spot| !changes(spot)).collect();
        memory.places(task, at, Kind::Update, order, places);
        possible.extend(places.iter().filter(changes));
        possible.sort_unstable_by(|a, b| b.cmp(a));
        places.list(possible);
    }
}

impl Core {
    /// The place of an access by a task that does not know the newest store: a decision if there are several. `None` for the newest one.
    #[inline(never)]
    pub(super) fn place(
        &self,
        state: &mut State,
        kept: &mut Kept,
        here: Here,
        effect: &Effect<'_>,
        orders: (Ordering, Ordering),
    ) -> Option<Spot> {
        if state.granted.count(Freedom::Memory) == 0 {
            return None;
        }
        let Here { task, at, .. } = here;
        kept.find_places(task, at, effect, orders);
        if state.settled > 0 {
            kept.leave_out_hidden(at, state.settled);
        }
        if let Some(spot) = self.place_again(state, kept, here) {
            return Some(spot);
        }
        if kept.places.len() < 2 {
            return None;
        }
        // As with other freedoms: where they are counted, each looks at what is left.
        let is_counted = state.granted.count(Freedom::Memory) < u32::MAX;
        let object = state.object_of(Freedom::Memory);
        if is_counted {
            self.touch(state, object, Action::Consult);
        }
        if state.free.count(Freedom::Memory) == 0 {
            kept.older_left = true;
            return None;
        }
        let (spot, is_newest) = self.ask_for_place(state, kept, at);
        if !is_newest {
            state.used.add(Freedom::Memory);
            if is_counted {
                state.free.take(Freedom::Memory);
                self.touch(state, object, Action::Affect);
            }
        }
        Some(spot)
    }

    /// A task that looks here again may be bound to what is newer, or see the same once more without a decision.
    #[inline(always)]
    fn place_again(&self, state: &mut State, kept: &mut Kept, here: Here) -> Option<Spot> {
        let Kept { memory, stale, places, .. } = kept;
        let at = here.at;
        let is = |spot: Spot, store| memory.stored(at, spot).origin.map(|origin| origin.access) == store;
        let position = |places: &Places, store| places.iter().position(|spot| is(spot, store));
        match stale.again(here) {
            Again::NewerThan(store) => places.truncate(position(places, store).unwrap_or(places.len())),
            _ if state.tasks[state.current].hints.has_left() => {
                let index = stale.last(here).and_then(|store| position(places, store));
                return index.map(|index| places.get(index));
            }
            Again::Enough(store) => {
                state.withheld = true;
                places.truncate(position(places, store).unwrap_or(places.len()));
            }
            Again::Anything => {}
        }
        None
    }

    #[inline(always)]
    fn ask_for_place(&self, state: &mut State, kept: &mut Kept, at: LocationId) -> (Spot, bool) {
        self.note_freedoms(state);
        let options = kept.places.len() as u32;
        let Kept { memory, places, .. } = kept;
        let stores = AtPlaces { memory, places, at };
        let answer = self.consult(|strategy| {
            let answer = strategy.place(options, &stores);
            assert!(answer < options, "the strategy chose the place {answer} out of {options}");
            answer
        });
        if self.config.decisions {
            state.decisions.push(Decision::new(Question::Store, options, answer));
        }
        let spot = kept.places.get(answer as usize);
        let distance = kept.memory.distance(at, spot);
        if self.config.trace {
            // Which of the places are possible can depend on steps that do not depend on this one.
            state.picks.push(Pick { events: state.trace.len() as u32, answer: distance as u32 });
        }
        (spot, distance == 0)
    }
}

/// What a strategy may ask about the places of an access.
struct AtPlaces<'a> {
    memory: &'a Memory,
    places: &'a Places,
    at: LocationId,
}

impl Stores for AtPlaces<'_> {
    fn step(&self, index: u32) -> u64 {
        self.memory.stored(self.at, self.places.get(index as usize)).step()
    }

    fn latest(&self, task: TaskId) -> u64 {
        self.memory.read_by(task, self.at).map(|stored| stored.step()).max().unwrap_or(0)
    }

    fn is_passed(&self, index: u32, task: TaskId) -> bool {
        self.memory.is_passed(task, self.at, self.places.get(index as usize))
    }
}
