//! A `DashMap` as something that an adversary acts on: the original as it was published, and the wrapper around it.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use ::dashmap::mapref::entry::Entry;
use interloper_commutativity::models::map;
use interloper_commutativity::{Datum, Invocation, Model, ToValue, Value};

use super::{DashMap, Original, shard};
use crate::environment::{
    argument, as_it_was_published, as_its_original, change, domain, has_entry, map_model, maybe_later, next_after,
    pair_or_none, parse, unknown,
};
use crate::session::{DomainKind, Handle, Instrumented, LockId, Mode, Needs, Outcome, same};

/// The original as it was published. Its calls are heard where the crate is under control.
impl<K, V, S> Instrumented for Original<K, V, S>
where
    K: Datum + Eq + Hash,
    V: Datum,
    S: BuildHasher + Clone,
{
    as_it_was_published!(std::any::type_name::<Self>());

    /// Tries the locks that the call needs, without waiting.
    fn is_free(&self, call: &Invocation) -> bool {
        let free = |index: usize, mode| match mode {
            Mode::Shared => self.shards()[index].try_read().is_some(),
            Mode::Exclusive => self.shards()[index].try_write().is_some(),
        };
        match self.needs(call) {
            Needs::Nothing => true,
            Needs::One(LockId(shard), mode) => free(shard as usize, mode),
            Needs::All(mode) => (0..self.shards().len()).all(|shard| free(shard, mode)),
        }
    }

    fn model(&self) -> Arc<dyn Model> {
        map_model()
    }

    /// # Panics
    /// When a write guard into the map is alive.
    fn snapshot(&self) -> Value {
        read_shards(self, |_, _| panic!("no write guard into the map is alive when its state is read"))
    }

    fn snapshot_beside_guards(&self, known: &Value) -> Value {
        read_shards(self, |index, entries| {
            let Value::Map(known) = known else { return };
            let lies_here = |key: &Value| K::from_value(key).is_some_and(|key| self.determine_map(&key) == index);
            entries.extend(
                known.iter().filter(|(key, _)| lies_here(key)).map(|(key, value)| (key.clone(), value.clone())),
            );
        })
    }

    /// # Panics
    /// When a guard into the map is still alive.
    fn restore(&self, state: &Value) -> Result<(), Value> {
        let Value::Map(wanted) = state else { return Err(state.clone()) };
        let kept = keep_only(self, wanted);
        if kept == wanted.len() {
            return Ok(());
        }
        for (key, value) in wanted.iter() {
            let (key, value) = (parse::<K>(key)?, parse::<V>(value)?);
            if let Entry::Vacant(entry) = self.entry(key) {
                entry.insert(value);
            }
        }
        Ok(())
    }

    fn restore_from(&self, from: &Value, to: &Value) -> Result<(), Value> {
        let (Value::Map(present), Value::Map(wanted), false) = (from, to, V::INTERIOR) else {
            return self.restore(to);
        };
        let remove = &mut |key: &Value| parse::<K>(key).map(|key| drop(self.remove(&key)));
        let insert = &mut |key: &Value, value: &Value| {
            self.insert(parse::<K>(key)?, parse::<V>(value)?);
            Ok(())
        };
        change((present, wanted), remove, insert)
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        let map = self;
        let key = || argument::<K>(call, 0);
        let value = |index| argument::<V>(call, index);
        let fixed = |value| Ok(Outcome::fixed(value));
        match call.method {
            map::GET => Ok(maybe_later(map.get(&key()?).as_deref())),
            map::INSERT => Ok(maybe_later(map.insert(key()?, value(1)?).as_ref())),
            map::INSERT_IF_ABSENT => match map.entry(key()?) {
                Entry::Occupied(entry) => Ok(maybe_later(Some(entry.get()))),
                Entry::Vacant(entry) => {
                    entry.insert(value(1)?);
                    fixed(Value::None)
                }
            },
            map::REMOVE => Ok(maybe_later(map.remove(&key()?).as_ref().map(|(_, value)| value))),
            map::CONTAINS_KEY => fixed(Value::Bool(map.contains_key(&key()?))),
            map::REPLACE => {
                let new = value(1)?;
                let old = map.get_mut(&key()?).map(|mut place| std::mem::replace(&mut *place, new));
                Ok(maybe_later(old.as_ref()))
            }
            map::REPLACE_IF_EQUAL => {
                let new = value(2)?;
                let place = map.get_mut(&key()?).filter(|place| same(&place.to_value(), &call.arguments[1]));
                let hit = place.map(|mut place| *place = new).is_some();
                fixed(Value::Bool(hit))
            }
            map::REMOVE_IF_EQUAL => {
                let expected = value(1)?.to_value();
                fixed(Value::Bool(map.remove_if(&key()?, |_, value| same(&value.to_value(), &expected)).is_some()))
            }
            map::NEXT_AFTER => {
                let entries = map.iter().map(|entry| (entry.key().to_value(), entry.value().clone()));
                Ok(pair_or_none(next_after(call, entries)?))
            }
            map::LEN => fixed(map.len().to_value()),
            map::IS_EMPTY => fixed(Value::Bool(map.is_empty())),
            map::CLEAR => {
                map.clear();
                fixed(Value::Unit)
            }
            _ => Err(unknown()),
        }
    }

    fn needs(&self, call: &Invocation) -> Needs {
        let mode = match call.method {
            map::GET | map::CONTAINS_KEY | map::NEXT_AFTER | map::LEN | map::IS_EMPTY => Mode::Shared,
            _ => Mode::Exclusive,
        };
        match call.method {
            map::NEXT_AFTER | map::LEN | map::IS_EMPTY | map::CLEAR => Needs::All(mode),
            _ => argument::<K>(call, 0).map_or(Needs::All(mode), |key| shard(self.determine_map(&key), mode)),
        }
    }

    fn domain(&self) -> DomainKind {
        domain::<K, V>()
    }
}

as_its_original!([K: Datum + Eq + Hash, V: Datum, S: BuildHasher + Clone] DashMap<K, V, S>);

/// The forms of all entries. `locked` adds those of a shard that is locked for writing.
fn read_shards<K, V, S>(map: &Original<K, V, S>, locked: impl Fn(usize, &mut Vec<(Value, Value)>)) -> Value
where
    K: Datum + Eq + Hash,
    V: Datum,
    S: BuildHasher + Clone,
{
    let mut entries = Vec::new();
    for (index, shard) in map.shards().iter().enumerate() {
        let Some(table) = shard.try_read() else {
            locked(index, &mut entries);
            continue;
        };
        // SAFETY: the iterator does not outlive the lock.
        for bucket in unsafe { table.iter() } {
            // SAFETY: the bucket is full and the table is locked against writing.
            let (key, value) = unsafe { bucket.as_ref() };
            entries.push((key.to_value(), value.get().to_value()));
        }
    }
    Value::map(entries)
}

/// Removes all entries but those that `wanted` has, too. How many remain.
fn keep_only<K, V, S>(map: &Original<K, V, S>, wanted: &BTreeMap<Value, Value>) -> usize
where
    K: Datum + Eq + Hash,
    V: Datum,
    S: BuildHasher + Clone,
{
    let mut kept = 0;
    for shard in map.shards() {
        let mut table = shard.try_write().expect("a guard into the map outlived the execution it was made in");
        if table.is_empty() {
            continue;
        }
        // SAFETY: the iterator does not outlive the lock; erasing the bucket that it has just given is allowed.
        for bucket in unsafe { table.iter() } {
            // SAFETY: the bucket is full and the table is locked.
            let (key, value) = unsafe { bucket.as_ref() };
            // A value that can change through a shared reference may be in other hands: it is made anew.
            if !V::INTERIOR && has_entry(wanted, &key.to_value(), &value.get().to_value()) {
                kept += 1;
            } else {
                // SAFETY: the bucket is one of this table; the references to its content are not used again.
                unsafe { table.erase(bucket) };
            }
        }
    }
    kept
}
