//! What an operation does to the data behind its object, and which three accesses no serial order explains.
//!
//! The strategy that looks for violations and the judge that finds them share these words, so the strategy pauses a
//! task before exactly those accesses that the judge counts.

use interloper_std::runtime::{Action, Mode};

use crate::execution::Event;

/// How an operation accesses its object.
///
/// A lock stands for the data that it guards: taking the lock exclusively counts as reading and writing the data,
/// taking it shared or upgradable as reading them. For an atomic variable the operation itself says how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// Whether the result or the effect of the access depends on what was written before.
    pub reads: bool,
    /// Whether the access writes.
    pub writes: bool,
}

impl Access {
    /// r
    pub const READ: Access = Access { reads: true, writes: false };
    /// w
    pub const WRITE: Access = Access { reads: false, writes: true };
    /// Reads and writes at once.
    pub const BOTH: Access = Access { reads: true, writes: true };

    /// The access that an action makes if it succeeds. `None` for an action that accesses no data: giving a lock back,
    /// entering a block, spawning, waiting, waking.
    #[inline]
    pub const fn of(action: Action) -> Option<Access> {
        match action {
            Action::Read | Action::Inspect(..) | Action::Lock(Mode::Shared | Mode::Upgradable) => Some(Access::READ),
            Action::LockRecursive | Action::TryLock(Mode::Shared | Mode::Upgradable) => Some(Access::READ),
            Action::Write => Some(Access::WRITE),
            Action::ReadWrite | Action::Invoke(..) => Some(Access::BOTH),
            Action::Lock(Mode::Exclusive) | Action::TryLock(Mode::Exclusive) => Some(Access::BOTH),
            // The other holders have left: from now on only this task has the data. The conversion back admits others,
            // and is no access.
            Action::Convert(_, Mode::Exclusive) | Action::TryConvert(_, Mode::Exclusive) => Some(Access::BOTH),
            _ => None,
        }
    }

    /// The access that a step made: a failed attempt to take or to convert a lock makes no access, and a failed
    /// compare-exchange only reads.
    #[inline]
    pub const fn of_step(action: Action, only_read: bool) -> Option<Access> {
        match action {
            Action::TryLock(_) | Action::TryConvert(..) if only_read => None,
            _ if only_read => Some(Access::READ),
            _ => Access::of(action),
        }
    }

    /// The access that an event makes.
    #[inline]
    pub const fn of_event(event: &Event) -> Option<Access> {
        Access::of_step(event.operation.action, event.only_read)
    }

    /// Whether the order of the two accesses can matter.
    pub const fn conflicts(self, other: Access) -> bool {
        self.writes || other.writes
    }
}

/// Whether no serial order explains three accesses to one object: the first and the last by one block, the middle one
/// by another task.
///
/// With r for an access that reads and w for an access that writes; an access that does both counts as either:
///
/// | first | between | last | why neither order explains it |
/// |---|---|---|---|
/// | r | w | r | the block reads two different values |
/// | w | w | r | the block does not read what it wrote |
/// | w | r | w | the other task reads what the block had not finished |
/// | r | w | w | the block overwrites what it has not read: a lost update |
///
/// r·r·x and x·r·r have the same effect as the order in which the middle access comes first or last. w·w·w has the same
/// effect as the order in which the middle access comes first: nobody reads what it wrote.
///
/// Exclusive locks make all three accesses do both: this is the pattern of Algorithm 2 of the AtomFuzzer paper.
pub const fn unserialisable(first: Access, between: Access, last: Access) -> bool {
    (between.writes && last.reads)
        || (first.writes && between.reads && last.writes)
        || (first.reads && between.writes && last.writes)
}

#[cfg(test)]
mod tests {
    use interloper_std::runtime::{Extent, Key, Verb};

    use super::*;

    const ALL: [Access; 3] = [Access::READ, Access::WRITE, Access::BOTH];

    /// Runs accesses in the order of `order` on a variable. Each access writes its own number. Returns what each access
    /// has read, and the final value.
    fn run(accesses: [Access; 3], order: [usize; 3]) -> ([Option<usize>; 3], usize) {
        let (mut read, mut value) = ([None; 3], 3);
        for index in order {
            if accesses[index].reads {
                read[index] = Some(value);
            }
            if accesses[index].writes {
                value = index;
            }
        }
        (read, value)
    }

    #[test]
    fn as_by_running_both_serial_orders() {
        let mut rejected = 0;
        for first in ALL {
            for between in ALL {
                for last in ALL {
                    let accesses = [first, between, last];
                    let seen = run(accesses, [0, 1, 2]);
                    let explained = [[1, 0, 2], [0, 2, 1]].iter().any(|order| run(accesses, *order) == seen);
                    assert_eq!(unserialisable(first, between, last), !explained, "{accesses:?}");
                    rejected += u32::from(!explained);
                }
            }
        }
        // The middle access writes and the last one reads: 3 · 2 · 2. Further w·r·w: the first does w or both, the
        // middle one r or both, the last w; or r in the middle and both at the end: 2 · 2 + 2. Further r·w·w: w at the
        // end; r first and w or both in the middle, or both first and w in the middle: 3.
        // first and w in the middle: 3.
        assert_eq!(rejected, 12 + 6 + 3);
    }

    #[test]
    fn the_table() {
        use Access as A;
        let check = |first, between, last, expected| assert_eq!(unserialisable(first, between, last), expected);
        check(A::READ, A::WRITE, A::READ, true);
        check(A::WRITE, A::WRITE, A::READ, true);
        check(A::WRITE, A::READ, A::WRITE, true);
        check(A::READ, A::WRITE, A::WRITE, true);
        check(A::READ, A::READ, A::READ, false);
        check(A::READ, A::READ, A::WRITE, false);
        check(A::WRITE, A::READ, A::READ, false);
        check(A::WRITE, A::WRITE, A::WRITE, false);
        check(A::BOTH, A::BOTH, A::BOTH, true);
    }

    #[test]
    fn locks_stand_for_their_data() {
        use Mode::*;
        assert_eq!(Access::of(Action::Lock(Exclusive)), Some(Access::BOTH));
        assert_eq!(Access::of(Action::Lock(Shared)), Some(Access::READ));
        assert_eq!(Access::of(Action::Convert(Upgradable, Exclusive)), Some(Access::BOTH));
        assert_eq!(Access::of(Action::Convert(Exclusive, Shared)), None);
        assert_eq!(Access::of(Action::Unlock(Exclusive)), None);
        assert_eq!(Access::of(Action::BlockBegin(0)), None);
    }

    #[test]
    fn what_fails_does_less() {
        use Mode::*;
        let check = |action, succeeded, failed| {
            assert_eq!(Access::of_step(action, false), succeeded);
            assert_eq!(Access::of_step(action, true), failed);
        };
        check(Action::TryLock(Shared), Some(Access::READ), None);
        check(Action::TryLock(Exclusive), Some(Access::BOTH), None);
        check(Action::TryConvert(Upgradable, Exclusive), Some(Access::BOTH), None);
        check(Action::ReadWrite, Some(Access::BOTH), Some(Access::READ));
        check(Action::Invoke(Verb::Insert, Extent::Entry, Key::from_hash(7)), Some(Access::BOTH), Some(Access::READ));
    }
}
