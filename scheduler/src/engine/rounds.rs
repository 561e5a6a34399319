//! Recognises a task that loops without an effect on others, whatever the form of the loop.
//!
//! A future that wakes itself, a swap that finds what it writes, a park whose token the task has given itself: such a
//! loop waits for another task, but each round writes something, so the loop does not look like a wait. Under a
//! strategy that prefers the task, no other task would ever go on. A task that makes many steps in a row while others
//! could go on is therefore *watched*. When its last [`ROUNDS`] rounds were the same (same actions, objects, places,
//! and the same values before each write), each round has left everything as it found it. No other task came between,
//! so the next round will be the same. The task then waits for a change that another task makes, as if it had yielded,
//! and goes on for one more round. When that round was in vain again and again, the task waits for more and more
//! changes: if it came between the steps of other looping tasks, the engine could not tell their loops from progress.
//!
//! The engine does not see what a lock protects, what a channel or a collection contains, or where a pointer leads. A
//! loop that writes there may make progress although its rounds look the same: the engine waits for [`UNSURE_STEPS`]
//! steps of it, and then holds the task back for as many.

use interloper_std::runtime::{Action, Mode, ObjectId, ObjectKind, Operation, Place};

/// A task makes this many steps in a row before the engine watches it.
pub(super) const UNWATCHED_STEPS: u64 = 64;

/// This many steps in a row are needed to recognise rounds that may have changed what the engine does not see.
pub(super) const UNSURE_STEPS: u64 = 1024;

/// The engine watches a task without rounds more and more rarely: it skips at most this many steps.
const MOST_UNWATCHED_STEPS: u64 = 4096;

/// After this many equal rounds a task is taken to wait.
const ROUNDS: u32 = 3;

/// The longest round that is recognised, in steps.
pub(super) const LONGEST: usize = 64;

/// A task waits for at most this many changes, as a power of two: others are recognised meanwhile.
const MOST_CHANGES: u32 = 9;

/// After this many watched steps without rounds, the engine stops watching the task.
const PATIENCE: usize = 256;

/// A step as the comparison with another round sees it.
#[derive(Clone, Copy)]
struct Seen {
    object: ObjectId,
    action: Action,
    place: Place,
    writes: Writes,
}

/// What a step writes, as far as the engine can tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writes {
    /// Only what the engine keeps itself.
    Nothing,
    /// A number replaced this one.
    Over(u64),
    /// Anything.
    Unknown,
}

/// Whether a watched task may make its next step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// It may.
    Taken,
    /// It waits for a change.
    Waits,
    /// It probably waits for a change.
    HeldBack,
}

/// The steps of a task, as long as it is watched.
#[derive(Default)]
pub(super) struct Rounds {
    is_watched: bool,
    /// How many steps of the task are skipped before it is watched again.
    unwatched: u64,
    /// A ring: step number n is at index n modulo the length of the ring.
    ring: Vec<Seen>,
    /// How many steps were compared.
    length: usize,
    /// The step that is being made.
    last: Option<Seen>,
    /// The length of a round, and how many steps in a row repeated the round before. 0: unknown.
    period: usize,
    same: u32,
    /// A step of the rounds wrote something unknown.
    unsure: bool,
    /// How many changes the task waits for; 0: it does not wait.
    waits: u32,
    /// How often in a row it has waited.
    waited: u32,
    /// For how many steps the task could not rest because it held locks.
    busy: usize,
    /// How many more steps the task makes before it waits again, if they repeat the round before.
    left: Option<usize>,
}

impl Seen {
    fn is_as(&self, other: &Seen) -> bool {
        self.object == other.object
            && std::ptr::eq(self.place, other.place)
            && self.action == other.action
            && self.writes == other.writes
    }
}

impl Rounds {
    pub(super) fn restart(&mut self) {
        self.forget();
        self.unwatched = UNWATCHED_STEPS;
    }

    fn forget(&mut self) {
        (self.is_watched, self.waits, self.waited, self.left, self.last) = (false, 0, 0, None, None);
        (self.length, self.period, self.same, self.unsure, self.busy) = (0, 0, 0, false, 0);
    }

    pub(super) fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// Whether the task waits for a change.
    pub(super) fn waits(&self) -> bool {
        self.waits > 0
    }

    /// Another task has changed something, or no other task can go on. Returns whether the task stops waiting.
    pub(super) fn goes_on(&mut self, changed: bool) -> bool {
        self.waits = if changed { self.waits - 1 } else { 0 };
        self.waits == 0
    }

    /// Whether the task is known to go round: what it writes changes nothing.
    pub(super) fn goes_round(&self) -> bool {
        self.left.is_some()
    }

    /// How many steps it may make before the engine looks at it.
    #[inline]
    pub(super) fn unwatched_steps(&self) -> u64 {
        if self.is_watched { 0 } else { self.unwatched }
    }

    /// Others have made steps: only a task that is known to go round is still watched.
    pub(super) fn interrupted(&mut self) {
        if self.is_watched && self.left.is_none() {
            self.forget();
        }
    }

    /// The last step overwrote this number.
    pub(super) fn saw(&mut self, number: u64) {
        if let Some(last) = &mut self.last
            && last.writes == Writes::Unknown
        {
            last.writes = Writes::Over(number);
        }
    }

    /// The last step wrote nothing.
    #[inline]
    pub(super) fn only_read(&mut self) {
        if let Some(last) = &mut self.last {
            last.writes = Writes::Nothing;
        }
    }

    /// The task does something that does not occur in a round.
    pub(super) fn does_something_new(&mut self) {
        if self.is_watched {
            self.forget();
        }
    }

    /// The task is about to make a step, after `in_a_row` others: decides what becomes of it. A task that `holds` locks
    /// blocks others, so it should rest in another part of its round.
    pub(super) fn next(&mut self, operation: Operation, kind: ObjectKind, in_a_row: u64, holds: bool) -> Turn {
        self.is_watched = true;
        let made = self.last.replace(seen(operation, kind));
        let is_as_before = made.is_none_or(|made| self.compare(made));
        if let Some(left) = self.left {
            match left {
                _ if !is_as_before => self.forget(),
                0 if self.rests(holds) => return self.wait(),
                0 => {}
                left => self.left = Some(left - 1),
            }
        } else if self.period > 0 && self.same >= ROUNDS * self.period as u32 {
            if (!self.unsure || in_a_row >= UNSURE_STEPS) && self.rests(holds) {
                self.unwatched = UNWATCHED_STEPS;
                if !self.unsure {
                    return self.wait();
                }
                self.forget();
                return Turn::HeldBack;
            }
        } else if self.length >= PATIENCE {
            self.give_up();
        }
        Turn::Taken
    }

    /// Whether the task may rest here, or has held locks for as long as a round takes.
    fn rests(&mut self, holds: bool) -> bool {
        self.busy = if holds { self.busy + 1 } else { 0 };
        !holds || self.busy > self.period
    }

    fn wait(&mut self) -> Turn {
        self.busy = 0;
        self.left = Some(self.period - 1);
        self.waits = 1 << self.waited.min(MOST_CHANGES);
        self.waited += 1;
        Turn::Waits
    }

    fn give_up(&mut self) {
        self.forget();
        self.unwatched = (2 * self.unwatched).min(MOST_UNWATCHED_STEPS);
    }

    /// Compares a step with the step one round before. Returns whether the two are the same.
    fn compare(&mut self, made: Seen) -> bool {
        if self.ring.is_empty() {
            self.ring.resize(2 * LONGEST, made);
        }
        let at = self.length;
        self.ring[at % (2 * LONGEST)] = made;
        self.length += 1;
        if self.period > 0 && self.before(at, self.period).is_some_and(|before| before.is_as(&made)) {
            self.same += 1;
            self.unsure |= made.writes == Writes::Unknown;
            return true;
        }
        // The shortest round that this step could belong to.
        let is_same = |period: &usize| self.before(at, *period).is_some_and(|before| before.is_as(&made));
        self.period = (1..=LONGEST).find(is_same).unwrap_or(0);
        (self.same, self.unsure) = (u32::from(self.period > 0), made.writes == Writes::Unknown);
        false
    }

    fn before(&self, at: usize, period: usize) -> Option<&Seen> {
        at.checked_sub(period).map(|before| &self.ring[before % (2 * LONGEST)])
    }
}

fn seen(Operation { object, action, location }: Operation, kind: ObjectKind) -> Seen {
    let is_exclusive = match action {
        Action::Lock(mode) | Action::Unlock(mode) | Action::TryLock(mode) => mode == Mode::Exclusive,
        Action::LockRecursive => false,
        _ => true,
    };
    let is_known = action.only_reads()
        || action.is_private()
        || matches!(kind, ObjectKind::Task | ObjectKind::Condvar)
        || !is_exclusive;
    let writes = if is_known { Writes::Nothing } else { Writes::Unknown };
    Seen { object, action, place: location, writes }
}
