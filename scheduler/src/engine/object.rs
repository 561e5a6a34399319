//! A shared object, and how locks are held.

use interloper_std::runtime::{Mode, ObjectKind};

/// A shared object.
pub(super) struct Object {
    pub(super) kind: ObjectKind,
    pub(super) holders: Holders,
    /// How many tasks have a gate that concerns it.
    pub(super) contenders: i32,
    /// How many tasks wait in its queue.
    pub(super) waiters: i32,
}

/// How a lock is held: a bit for an exclusive holder, a bit for an upgradable one, and above them the number of shared
/// ones, so that each question is one comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Holders(u32);

const EXCLUSIVE: u32 = 1;
const UPGRADABLE: u32 = 2;
const SHARED: u32 = 4;

impl Object {
    pub(super) fn new(kind: ObjectKind) -> Object {
        Object { kind, holders: Holders::default(), contenders: 0, waiters: 0 }
    }
}

impl Holders {
    /// Whether a task may take the lock in this mode.
    #[inline(always)]
    pub(super) fn admit(self, mode: Mode) -> bool {
        let hindered_by = match mode {
            Mode::Shared => EXCLUSIVE,
            Mode::Upgradable => EXCLUSIVE | UPGRADABLE,
            Mode::Exclusive => u32::MAX,
        };
        self.0 & hindered_by == 0
    }

    /// Whether one holder may change its mode.
    pub(super) fn admit_change(self, from: Mode, to: Mode) -> bool {
        Holders(self.0 - unit(from)).admit(to)
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
