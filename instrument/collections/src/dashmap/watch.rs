//! What a guard with the write lock knows about its entry, so that it can report what happened to the entry.

use std::mem::ManuallyDrop;

use interloper_commutativity::Value;
use interloper_commutativity::models::map;

use crate::session::{LockId, Mode, Needs};
use crate::site::{Hold, Site};

/// An entry that a guard keeps locked for writing.
///
/// A guard that ends without a report was a `get`; every change is reported as one call of the map's model that has
/// exactly its effect.
#[derive(Debug)]
pub(super) struct Watch {
    site: Site,
    key: Value,
    /// The value in the map's abstract state, according to the reports so far.
    seen: Option<Value>,
    /// Whether nothing was reported yet.
    pending: bool,
    /// The lock that the guard keeps exclusively.
    lock: LockId,
}

impl Watch {
    /// A guard whose step is not reported yet.
    #[inline]
    pub(super) fn pending(site: Site, needs: Needs, key: Value, seen: Option<Value>) -> Watch {
        site.take(needs);
        Watch { site, key, seen, pending: true, lock: lock_of(needs) }
    }

    /// A guard whose step was already reported.
    #[inline]
    pub(super) fn reported(site: Site, needs: Needs, key: Value, seen: Option<Value>) -> Watch {
        site.take(needs);
        Watch { site, key, seen, pending: false, lock: lock_of(needs) }
    }

    /// The guard only read.
    #[inline]
    pub(super) fn looked(&mut self) {
        if std::mem::take(&mut self.pending) {
            self.site.after(map::GET, std::slice::from_ref(&self.key), &Value::option(self.seen.clone()));
        }
    }

    /// The entry's value, which may have been written to, is `new`.
    #[inline]
    pub(super) fn touched(&mut self, new: Value) {
        if self.seen.as_ref() != Some(&new) {
            self.inserted(new);
        }
    }

    /// `new` was put there.
    #[inline]
    pub(super) fn inserted(&mut self, new: Value) {
        let old = Value::option(self.seen.take());
        self.pending = false;
        self.site.after(map::INSERT, &[self.key.clone(), new.clone()], &old);
        self.seen = Some(new);
    }

    /// `new` was put where there was no value.
    #[inline]
    pub(super) fn filled(&mut self, new: Value) {
        self.pending = false;
        self.site.after(map::INSERT_IF_ABSENT, &[self.key.clone(), new.clone()], &Value::None);
        self.seen = Some(new);
    }

    /// The write lock became a read lock.
    pub(super) fn downgrade(mut self) -> Hold {
        self.looked();
        // This does what the drop would do.
        let mut watch = ManuallyDrop::new(self);
        drop((std::mem::take(&mut watch.key), watch.seen.take()));
        watch.site.downgrade(alone(watch.lock))
    }

    /// The entry was removed, whatever was written to it before.
    pub(super) fn removed(&mut self) {
        let old = Value::option(self.seen.take());
        self.pending = false;
        self.site.after(map::REMOVE, std::slice::from_ref(&self.key), &old);
    }
}

fn lock_of(needs: Needs) -> LockId {
    match needs {
        Needs::One(lock, Mode::Exclusive) => lock,
        _ => unreachable!("a guard that may write keeps one lock alone"),
    }
}

fn alone(lock: LockId) -> Needs {
    Needs::One(lock, Mode::Exclusive)
}

impl Drop for Watch {
    #[inline]
    fn drop(&mut self) {
        self.looked();
        self.site.give_back(alone(self.lock));
    }
}
