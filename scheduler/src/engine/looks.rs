//! Whether tasks that look again and again, while nothing changes, still do something.
//!
//! A loop that reads one atomic a thousand times may wait for it in vain. It may as well work, and end: it asks between two items
//! whether it is to stop, or calls a function that is chosen at run time, such as memchr's. The engine sees no work, but it sees the
//! local state of each look (see `local.rs`): a loop that waits looks from the same state again, and one that works comes from new
//! ones, since what counts its items is on its stack. So tasks that look in vain are a livelock only once their looks bring nothing
//! new, or after a few times as many rounds: a loop that waits may count its looks.

use std::collections::HashSet;

use interloper_std::runtime::TaskId;
use rustc_hash::FxBuildHasher;

use super::state::State;

/// The local states of looks since something changed.
#[derive(Default)]
pub(super) struct Looks {
    /// They are followed.
    is_on: bool,
    /// Tasks whose looks are new each time go on up to the bound on the steps.
    pub(super) is_patient: bool,
    seen: HashSet<(TaskId, u64), FxBuildHasher>,
    /// The tasks that have looked since then. The first look of each does not count: before it, the engine has left on the stack of the
    /// task what it had there, and whether that is in the number depends on what the program leaves unset.
    looked: HashSet<TaskId, FxBuildHasher>,
    /// The round of the last look from a new state: see [`State::idle_rounds`].
    last_new: u32,
}

/// Tasks whose looks are new each time look for so many times as many rounds as others.
const PATIENCE: u32 = 8;

impl Looks {
    /// Something has changed.
    #[inline]
    pub(super) fn forget(&mut self) {
        if self.is_on {
            self.stop();
        }
    }

    #[cold]
    #[inline(never)]
    fn stop(&mut self) {
        self.is_on = false;
        self.seen.clear();
        self.looked.clear();
    }

    pub(super) fn are_followed(&self) -> bool {
        self.is_on
    }
}

impl State {
    /// The running task looks from this local state.
    pub(super) fn looks_from(&mut self, task: TaskId, number: u64) {
        let Looks { is_on, seen, looked, last_new, .. } = &mut self.looks;
        if *is_on && !looked.insert(task) && seen.insert((task, number)) {
            *last_new = self.idle_rounds;
        }
    }

    /// Whether all tasks that look in vain are to look once more, where `rounds` are enough for those whose looks bring nothing new.
    pub(super) fn may_look_again(&mut self, rounds: u32) -> bool {
        let vain = self.idle_rounds - self.pauses;
        if vain >= rounds / 2 && !self.looks.is_on {
            self.looks.is_on = true;
            self.looks.last_new = self.idle_rounds;
        }
        let brings_something = || {
            let old = self.idle_rounds - self.looks.last_new;
            old < (rounds / 4).max(1) && (self.looks.is_patient || vain / PATIENCE < rounds)
        };
        vain < rounds || brings_something()
    }
}
