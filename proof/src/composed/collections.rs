//! The originals, under the names that the suite knows their wrappers by.

use std::hash::Hash;
use std::ops::Deref;

pub use ::dashmap::DashMap;
pub use crossbeam::queue::{ArrayQueue, SegQueue};
use interloper_commutativity::{Datum, Value};
pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
pub use std::sync::{Mutex, RwLock};

use super::method::{Collection, Real};

/// A number that the wrapper knows for a counter.
#[derive(Default)]
pub struct AtomicI64(std::sync::atomic::AtomicI64);

impl AtomicI64 {
    pub fn counter(value: i64) -> AtomicI64 {
        AtomicI64(std::sync::atomic::AtomicI64::new(value))
    }
}

impl Deref for AtomicI64 {
    type Target = std::sync::atomic::AtomicI64;

    fn deref(&self) -> &std::sync::atomic::AtomicI64 {
        &self.0
    }
}

/// The entries of a map.
pub mod dashmap {
    pub use ::dashmap::Entry;
}

impl<K, V> Real for DashMap<K, V>
where
    K: Datum + Eq + Hash + Send + Sync,
    V: Datum + Send + Sync,
{
    fn collection() -> Option<Collection<Self>> {
        Some(Collection {
            is_key: |value| K::from_value(value).is_some(),
            is_value: |value| V::from_value(value).is_some(),
            fresh_key: K::fresh,
            fresh_value: V::fresh,
            get: |map, key| option(map.get(&read::<K>(key)).map(|found| found.to_value())),
            insert: |map, key, value| option(map.insert(read::<K>(key), read::<V>(value)).map(|old| old.to_value())),
            insert_if_absent: |map, key, value| match map.entry(read::<K>(key)) {
                ::dashmap::Entry::Occupied(there) => option(Some(there.get().to_value())),
                ::dashmap::Entry::Vacant(place) => {
                    place.insert(read::<V>(value));
                    Value::None
                }
            },
            remove: |map, key| option(map.remove(&read::<K>(key)).map(|(_, old)| old.to_value())),
            entries: |map| map.iter().map(|entry| (entry.key().to_value(), entry.value().to_value())).collect(),
        })
    }
}

fn option(value: Option<Value>) -> Value {
    Value::option(value)
}

fn read<T: Datum>(value: &Value) -> T {
    T::from_value(value).expect("it is the plain form of one")
}

// Not looked at here.
impl<T: Send + 'static> Real for Mutex<T> {}
impl<T: Send + Sync + 'static> Real for RwLock<T> {}
impl<T: Send + 'static> Real for SegQueue<T> {}
impl<T: Send + 'static> Real for ArrayQueue<T> {}
impl Real for AtomicBool {}
impl Real for AtomicI64 {}
impl Real for AtomicU64 {}
impl Real for AtomicUsize {}
impl<S: Real, T: Real> Real for (S, T) {}
