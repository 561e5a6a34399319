//! A shared object, and how locks are held.

use interloper_std::runtime::{Mode, ObjectKind};

/// A shared object.
pub(super) struct Object {
    pub(super) kind: ObjectKind,
    pub(super) exclusive: bool,
    pub(super) upgradable: bool,
    pub(super) shared: u32,
    /// How many tasks have a gate that concerns it.
    pub(super) contenders: i32,
    /// How many tasks wait in its queue.
    pub(super) waiters: i32,
}

impl Object {
    /// Whether a task may take the lock in this mode.
    #[inline]
    pub(super) fn is_free(&self, mode: Mode) -> bool {
        !self.exclusive
            && match mode {
                Mode::Shared => true,
                Mode::Upgradable => !self.upgradable,
                Mode::Exclusive => !self.upgradable && self.shared == 0,
            }
    }

    /// Whether one holder may change its mode.
    pub(super) fn admits(&self, from: Mode, to: Mode) -> bool {
        let others = Object {
            kind: self.kind,
            exclusive: self.exclusive && from != Mode::Exclusive,
            upgradable: self.upgradable && from != Mode::Upgradable,
            shared: self.shared - u32::from(from == Mode::Shared),
            contenders: 0,
            waiters: 0,
        };
        others.is_free(to)
    }

    #[inline]
    pub(super) fn add(&mut self, mode: Mode) {
        match mode {
            Mode::Shared => self.shared += 1,
            Mode::Upgradable => self.upgradable = true,
            Mode::Exclusive => self.exclusive = true,
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, mode: Mode) {
        match mode {
            Mode::Shared => self.shared -= 1,
            Mode::Upgradable => self.upgradable = false,
            Mode::Exclusive => self.exclusive = false,
        }
    }
}
