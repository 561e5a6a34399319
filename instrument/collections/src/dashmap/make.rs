//! How a map is made, and the parts of it outside its meaning.

use std::hash::{BuildHasher, Hash};

use super::{DashMap, Original, ReadOnlyView, TryReserveError};
use crate::RandomState;
use crate::session::{Handle, repeatable};
use crate::task::Kind;

/// How many shards a map of a controlled run has. The original's number depends on the machine.
const CONTROLLED_SHARDS: usize = 16;

impl<K: Eq + Hash, V> DashMap<K, V, RandomState> {
    /// An empty map.
    pub fn new() -> Self {
        Self::with_hasher(RandomState::new())
    }

    /// An empty map with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, RandomState::new())
    }

    /// An empty map with `shard_amount` shards.
    ///
    /// # Panics
    /// When `shard_amount` is not a power of two greater than 1.
    pub fn with_shard_amount(shard_amount: usize) -> Self {
        Self::with_hasher_and_shard_amount(RandomState::new(), shard_amount)
    }

    /// An empty map with room for `capacity` entries in `shard_amount` shards.
    ///
    /// # Panics
    /// When `shard_amount` is not a power of two greater than 1.
    pub fn with_capacity_and_shard_amount(capacity: usize, shard_amount: usize) -> Self {
        Self::with_capacity_and_hasher_and_shard_amount(capacity, RandomState::new(), shard_amount)
    }
}

impl<K: Eq + Hash, V, S: BuildHasher + Clone> DashMap<K, V, S> {
    /// An empty map with this hasher.
    pub fn with_hasher(hasher: S) -> Self {
        Self::with_capacity_and_hasher(0, hasher)
    }

    /// An empty map with room for `capacity` entries and this hasher.
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        if repeatable() {
            Self::with_capacity_and_hasher_and_shard_amount(capacity, hasher, CONTROLLED_SHARDS)
        } else {
            Self::wrap(Original::with_capacity_and_hasher(capacity, hasher))
        }
    }

    /// An empty map with this hasher and `shard_amount` shards.
    ///
    /// # Panics
    /// When `shard_amount` is not a power of two greater than 1.
    pub fn with_hasher_and_shard_amount(hasher: S, shard_amount: usize) -> Self {
        Self::with_capacity_and_hasher_and_shard_amount(0, hasher, shard_amount)
    }

    /// An empty map with room for `capacity` entries, this hasher and `shard_amount` shards.
    ///
    /// # Panics
    /// When `shard_amount` is not a power of two greater than 1.
    pub fn with_capacity_and_hasher_and_shard_amount(capacity: usize, hasher: S, shard_amount: usize) -> Self {
        Self::wrap(Original::with_capacity_and_hasher_and_shard_amount(capacity, hasher, shard_amount))
    }

    pub(super) fn wrap(inner: Original<K, V, S>) -> Self {
        let shards = inner.shards().len() as u32;
        DashMap { inner, handle: Handle::of(Kind::Map, shards) }
    }

    /// The map as a read-only view. No step: the map is owned.
    pub fn into_read_only(self) -> ReadOnlyView<K, V, S> {
        self.inner.into_read_only()
    }

    /// The map's hasher.
    pub fn hasher(&self) -> &S {
        self.inner.hasher()
    }

    /// The hash of `item` under the map's hasher.
    pub fn hash_usize<T: Hash>(&self, item: &T) -> usize {
        self.inner.hash_usize(item)
    }

    /// How many entries fit without a new allocation. No step: this is outside the map's meaning. In a controlled run a
    /// shard that is locked for writing counts as 0.
    pub fn capacity(&self) -> usize {
        if self.handle.reader_or_private().is_none() {
            return self.inner.capacity();
        }
        self.inner.shards().iter().filter_map(|shard| shard.try_read()).map(|table| table.capacity()).sum()
    }

    /// Releases unused memory. No step; in a controlled run nothing happens.
    pub fn shrink_to_fit(&self) {
        if self.handle.reader_or_private().is_none() {
            self.inner.shrink_to_fit();
        }
    }

    /// Makes room for `additional` more entries in each shard. No step: the map is borrowed exclusively.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.inner.try_reserve(additional)
    }
}
