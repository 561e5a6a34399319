//! What an operation does to the data behind its object, and which three accesses no serial order explains.
//!
//! The strategy that looks for violations and the judge that finds them share these words, so that one pauses before what
//! the other counts.

use interloper_std::runtime::{Action, Mode};

use crate::execution::Event;

/// How an operation accesses its object.
///
/// A lock stands for the data that it guards: taking it exclusively counts as reading and writing them, taking it
/// shared or upgradable as reading them. For an atomic variable it is what the operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// Whether what it does or returns depends on what was written before.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
}

impl Access {
    /// r
    pub const READ: Access = Access { reads: true, writes: false };
    /// w
    pub const WRITE: Access = Access { reads: false, writes: true };
    /// Both at once.
    pub const BOTH: Access = Access { reads: true, writes: true };

    /// The access that an action is if it succeeds. `None` for what is not an access to data: giving a lock back, entering a
    /// block, spawning, waiting, waking.
    #[inline]
    pub const fn of(action: Action) -> Option<Access> {
        match action {
            Action::Read | Action::Inspect(..) | Action::Lock(Mode::Shared | Mode::Upgradable) => Some(Access::READ),
            Action::LockRecursive | Action::TryLock(Mode::Shared | Mode::Upgradable) => Some(Access::READ),
            Action::Write => Some(Access::WRITE),
            Action::ReadWrite | Action::Invoke(..) => Some(Access::BOTH),
            Action::Lock(Mode::Exclusive) | Action::TryLock(Mode::Exclusive) => Some(Access::BOTH),
            // The others that were there have left: the data are this task's alone from now on. The way back admits
            // others, and is not an access.
            Action::Convert(_, Mode::Exclusive) | Action::TryConvert(_, Mode::Exclusive) => Some(Access::BOTH),
            _ => None,
        }
    }

    /// The access that a step turned out to be: an attempt to take or to convert a lock that failed is none, and a
    /// compare-exchange that failed only reads.
    #[inline]
    pub const fn of_step(action: Action, only_read: bool) -> Option<Access> {
        match action {
            Action::TryLock(_) | Action::TryConvert(..) if only_read => None,
            _ if only_read => Some(Access::READ),
            _ => Access::of(action),
        }
    }

    /// The access that an event is.
    #[inline]
    pub const fn of_event(event: &Event) -> Option<Access> {
        Access::of_step(event.operation.action, event.only_read)
    }

    /// Whether the order of the two accesses can matter.
    pub const fn conflicts(self, other: Access) -> bool {
        self.writes || other.writes
    }
}

/// Whether no serial order explains three accesses to one object, of which the first and the last are of one block, and
/// the middle one is of another task.
///
/// With r and w for an access that reads or writes, and one that does both counting as either:
///
/// | first | between | last | why neither order explains it |
/// |---|---|---|---|
/// | r | w | r | the block reads two different values |
/// | w | w | r | the block does not read what it wrote |
/// | w | r | w | the other task reads what the block had not finished |
/// | r | w | w | the block overwrites what it has not read: a lost update |
///
/// r·r·x and x·r·r leave everything as in the order in which the middle one comes first or last. w·w·w is explained by
/// the order in which the middle one comes first: nobody reads what it wrote.
///
/// For locks that are taken exclusively all three do both: it is the pattern of Algorithm 2 of the AtomFuzzer paper.
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

    /// Runs accesses in the order of `order` on a variable. Each writes its own number; gives what each has read, and
    /// what is left.
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
        // Those with a middle one that writes and a last one that reads: 3 · 2 · 2. Those with w·r·w and none of these:
        // the first does w or both, the middle one r or both, the last w; or r in the middle and both at the end:
        // 2 · 2 + 2. Those with r·w·w and none of these: w at the end; r first and w or both in the middle, or both
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
