//! Which places in the order of stores the search tries for an access to weak memory.
//!
//! A load that sleeps was explored with the stores that were there when it fell asleep. A later store wakes it, and from then on the
//! load may only read stores that were made since. The store can take several places. At some of them the sleeping load cannot read
//! it: the task of the load knows of a store that comes after such a place. If no later step wakes the load, an execution with such a
//! place ends with the load asleep and shows nothing new. So these places are left out.
//!
//! Which steps can wake the load is known once it was explored. Suppose that after stores at such places alone, some steps lead to a
//! step that wakes the load. The load could come before all of them and read the newest store: that store was there before, and a
//! load that reads the newest store restricts no access of another task. So one of the executions that begin with the load has the
//! waking step in a race with the load. This holds if the load was explored first in its state, where nothing else slept: then every
//! execution that begins with the load was explored below that state. It holds for loads alone, since a read-modify-write stores.

use std::ops::Range;
use std::sync::Arc;

use interloper_std::runtime::{Action, TaskId};

use super::names::{Nth, TaskName};
use super::progress::{Level, Stray};
use super::sleep::Sleeper;
use super::{Exhaustive, Pick, State};
use crate::strategy::Stores;

impl State {
    /// The branch of the current step was explored: the steps that can wake it, if these are all.
    pub(super) fn take_wakers(&mut self, level: Level) -> Option<Arc<[Nth]>> {
        let (racers, takes_newest) = (std::mem::take(&mut self.racers), std::mem::take(&mut self.takes_newest));
        let is_load = self.other_effects.first().is_some_and(|effect| effect.action == Action::Read);
        let is_whole = self.sleep.is_empty() && self.vain.is_empty() && !self.is_first;
        (is_load && is_whole && takes_newest && level.is_last()).then(|| racers.into_iter().collect())
    }
}

impl Exhaustive {
    /// The place that the access of the current step takes.
    pub(super) fn take_place(&mut self, options: u32, stores: &dyn Stores) -> u32 {
        let Some(last) = self.depth.checked_sub(1) else { return 0 };
        if self.picked == self.states[last].picks.len() {
            let places = self.places(last, options, stores);
            if places.is_empty() {
                self.stray = Some(Stray::Redundant);
                return 0;
            }
            let state = &mut self.states[last];
            let planned = state.planned.get(self.picked).copied().unwrap_or(0);
            state.picks.push(Pick::new(places, planned));
        }
        self.picked += 1;
        self.states[last].picks[self.picked - 1].answer().min(options - 1)
    }

    /// The places that show anything new.
    fn places(&self, last: usize, options: u32, stores: &dyn Stores) -> Vec<u32> {
        let state = &self.states[last];
        // An access that slept has been explored with the stores that were there when it fell asleep.
        let woken = state.sleep.iter().filter(|sleeper| sleeper.is_woken && sleeper.task == state.task);
        let since = woken.map(|sleeper| sleeper.since).max();
        let is_new = |place: u32| since.is_none_or(|since| stores.step(place) > since);
        let waiting = self.waiting(last, stores);
        let wakes = |place: u32| !waiting.iter().any(|&task| stores.is_passed(place, task));
        (0..options).filter(|&place| is_new(place) && wakes(place)).collect()
    }

    /// The tasks whose loads sleep, and sleep on unless they can read what the current step stores.
    fn waiting(&self, last: usize, stores: &dyn Stores) -> Vec<TaskId> {
        let state = &self.states[last];
        if state.sleep.iter().any(|sleeper| sleeper.is_inherited) {
            return Vec::new();
        }
        let waits = |sleeper: &&Sleeper| {
            let Some(wakers) = &sleeper.wakers else { return false };
            let is_over = |waker: &Nth| self.count(sleeper.since as usize..last + 1, waker.task) > waker.count;
            sleeper.is_woken_by(state.task, &state.effects)
                && stores.latest(sleeper.task) <= sleeper.since
                && wakers.iter().all(is_over)
        };
        state.sleep.iter().filter(waits).map(|sleeper| sleeper.task).collect()
    }

    /// How many steps from these states are of this task.
    fn count(&self, states: Range<usize>, task: TaskName) -> u32 {
        self.states[states].iter().filter(|state| self.tasks.name(state.task) == task).count() as u32
    }
}
