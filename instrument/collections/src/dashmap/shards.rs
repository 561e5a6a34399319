//! The shards of the original map, and their locks.

use std::hash::{BuildHasher, Hash};

use interloper_commutativity::{MethodId, Value};

use crate::session::{LockId, Mode, Needs};
use crate::site::Site;

pub(super) type Original<K, V, S> = ::dashmap::DashMap<K, V, S>;

/// Announces a step on a map and waits until its locks are free.
#[inline]
pub(super) fn begin<K, V, S>(map: &Original<K, V, S>, site: Site, method: MethodId, arguments: &[Value], needs: Needs)
where
    K: Eq + Hash,
    S: BuildHasher + Clone,
{
    if site.is_private() {
        site.wait_until(|| match needs {
            Needs::Nothing => true,
            Needs::One(LockId(index), Mode::Shared) => !map.shards()[index as usize].is_locked_exclusive(),
            Needs::One(LockId(index), Mode::Exclusive) => !map.shards()[index as usize].is_locked(),
            Needs::All(_) => unreachable!("no method needs all locks at once"),
        });
    } else {
        site.before(method, arguments, needs);
    }
}

/// The lock of the shard with this index.
#[inline]
pub(super) fn shard(index: usize, mode: Mode) -> Needs {
    Needs::One(LockId(index as u32), mode)
}
