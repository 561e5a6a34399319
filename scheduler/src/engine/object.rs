//! A shared object, and how locks are held.

use interloper_std::runtime::{Mode, ObjectKind};

/// A shared object.
pub(super) struct Object {
    pub(super) kind: ObjectKind,
    pub(super) holders: Holders,
    /// How many tasks have a gate on this object.
    pub(super) contenders: i32,
    /// How many tasks wait in its queue.
    pub(super) waiters: i32,
    /// How many writers have begun to wait for it, besides an upgradable holder.
    writers: u32,
}

/// How a lock is held: a bit for an exclusive holder, a bit for an upgradable one, a bit for waiting writers, a bit for an upgradable
/// holder that waits to be exclusive, and above them the number of shared holders, so that each question is one comparison.
///
/// Writers that wait keep readers out, as in parking_lot: not while there is an upgradable holder for which they wait, since the writer
/// that is next excludes readers only once no other can become exclusive before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Holders(u32);

const EXCLUSIVE: u32 = 1;
const UPGRADABLE: u32 = 2;
const WRITERS: u32 = 4;
const UPGRADES: u32 = 8;
const SHARED: u32 = 16;
/// What waits, but does not hold the lock.
const WAITING: u32 = WRITERS | UPGRADES;

impl Object {
    pub(super) fn new(kind: ObjectKind) -> Object {
        Object { kind, holders: Holders::default(), contenders: 0, waiters: 0, writers: 0 }
    }

    /// A writer begins to wait. It may be the upgradable holder.
    pub(super) fn begin_writer(&mut self, upgrades: bool) {
        if upgrades {
            self.holders.0 |= UPGRADES;
        } else {
            self.writers += 1;
            self.holders.0 |= WRITERS;
        }
    }

    /// A writer that waited has the lock: the upgradable holder, if that waited.
    pub(super) fn end_writer(&mut self) {
        if self.holders.0 & UPGRADES != 0 {
            self.holders.0 &= !UPGRADES;
            return;
        }
        self.writers -= 1;
        if self.writers == 0 {
            self.holders.0 &= !WRITERS;
        }
    }
}

impl Holders {
    /// Whether a task may take the lock in this mode.
    #[inline(always)]
    pub(super) fn admit(self, mode: Mode) -> bool {
        match mode {
            Mode::Shared => match self.0 & (EXCLUSIVE | WAITING) {
                0 => true,
                WRITERS => self.0 & UPGRADABLE != 0,
                _ => false,
            },
            Mode::Upgradable => self.0 & (EXCLUSIVE | UPGRADABLE | WAITING) == 0,
            Mode::Exclusive => self.0 & !WAITING == 0,
        }
    }

    /// Whether the holders admit another holder in this mode, whatever tasks wait.
    #[inline(always)]
    pub(super) fn admit_beside(self, mode: Mode) -> bool {
        Holders(self.0 & !WAITING).admit(mode)
    }

    /// Whether one holder may change its mode.
    pub(super) fn admit_change(self, from: Mode, to: Mode) -> bool {
        self.without(from).admit_beside(to)
    }

    /// The holders without one in this mode.
    pub(super) fn without(self, mode: Mode) -> Holders {
        Holders(self.0 - unit(mode))
    }

    /// Whether somebody holds the lock.
    pub(super) fn any(self) -> bool {
        self.0 & !WAITING != 0
    }

    #[inline(always)]
    pub(super) fn add(&mut self, mode: Mode) {
        self.0 += unit(mode);
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, mode: Mode) {
        self.0 -= unit(mode);
    }
}

#[inline(always)]
fn unit(mode: Mode) -> u32 {
    match mode {
        Mode::Shared => SHARED,
        Mode::Upgradable => UPGRADABLE,
        Mode::Exclusive => EXCLUSIVE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Mode; 3] = [Mode::Shared, Mode::Upgradable, Mode::Exclusive];

    #[test]
    fn holders_admit_each_other_as_their_modes_do() {
        for first in MODES {
            let mut holders = Holders::default();
            assert!(MODES.into_iter().all(|mode| holders.admit(mode)));
            holders.add(first);
            for second in MODES {
                assert_eq!(holders.admit(second), first.admits(second), "{first:?} {second:?}");
            }
            holders.remove(first);
            assert_eq!(holders, Holders::default());
        }
    }

    #[test]
    fn a_writer_that_waits_keeps_readers_out() {
        let mut lock = Object::new(ObjectKind::RwLock);
        lock.holders.add(Mode::Shared);
        lock.begin_writer(false);
        lock.begin_writer(false);
        lock.end_writer();
        assert!(MODES.into_iter().all(|mode| !lock.holders.admit(mode)));
        assert_eq!(MODES.map(|mode| lock.holders.admit_beside(mode)), [true, true, false]);
        lock.holders.remove(Mode::Shared);
        assert_eq!(MODES.map(|mode| lock.holders.admit(mode)), [false, false, true]);
        // The holder itself may let readers in beside it.
        lock.holders.add(Mode::Exclusive);
        assert!(lock.holders.admit_change(Mode::Exclusive, Mode::Shared));
        lock.end_writer();
        lock.holders.remove(Mode::Exclusive);
        assert!(MODES.into_iter().all(|mode| lock.holders.admit(mode)));
    }

    /// It is not yet certain to be the next one that excludes readers, unless it is the holder itself.
    #[test]
    fn a_writer_that_waits_for_an_upgradable_holder_lets_readers_in() {
        let mut lock = Object::new(ObjectKind::RwLock);
        lock.holders.add(Mode::Upgradable);
        lock.begin_writer(false);
        assert_eq!(MODES.map(|mode| lock.holders.admit(mode)), [true, false, false]);
        lock.begin_writer(true);
        assert!(MODES.into_iter().all(|mode| !lock.holders.admit(mode)));
        lock.holders.remove(Mode::Upgradable);
        lock.holders.add(Mode::Exclusive);
        lock.end_writer();
        lock.holders.remove(Mode::Exclusive);
        assert_eq!(MODES.map(|mode| lock.holders.admit(mode)), [false, false, true], "the other writer waits");
        lock.end_writer();
        assert_eq!(lock.holders, Holders::default());
    }

    #[test]
    fn a_change_is_admitted_by_the_others() {
        for from in MODES {
            for to in MODES {
                let mut holders = Holders::default();
                holders.add(from);
                assert!(holders.admit_change(from, to), "nobody else: {from:?} {to:?}");
                if from.admits(Mode::Shared) {
                    holders.add(Mode::Shared);
                    assert_eq!(holders.admit_change(from, to), Mode::Shared.admits(to), "{from:?} {to:?}");
                }
            }
        }
    }
}
