//! Maps and sets in locks.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use interloper_commutativity::models::{map, set, sorted_map, sorted_set};
use interloper_commutativity::{Datum, Invocation, MethodId, Model, ToValue, Value};

use super::StdCollection;
use crate::environment::{
    argument, domain, fixed, has_element, has_entry, map_model, maybe_later, next_after, next_element_after,
    pair_or_none, parse, set_model, sorted_map_model, sorted_set_model, unknown,
};
use crate::session::{DomainKind, Outcome, same};

/// What the two kinds of map have in common; the functions add what only one of them can do.
macro_rules! map_collection {
    ($map:ident<K, V $(, $hasher:ident)?>, [$($key:path),*], $model:ident, $reads:ident, $look_up:ident, $change:ident) => {
        impl<K: Datum $(+ $key)*, V: Datum $(, $hasher: BuildHasher)?> StdCollection for $map<K, V $(, $hasher)?> {
            fn model(&self) -> Arc<dyn Model> {
                $model()
            }

            fn state(&self) -> Value {
                Value::map(self.iter().map(|(key, value)| (key.to_value(), value.to_value())))
            }

            fn restore(&mut self, state: &Value) -> Result<(), Value> {
                let Value::Map(wanted) = state else { return Err(state.clone()) };
                // A value that can change through a shared reference may be shared: it is made anew.
                self.retain(|key, value| !V::INTERIOR && has_entry(wanted, &key.to_value(), &value.to_value()));
                if self.len() < wanted.len() {
                    for (key, value) in wanted.iter() {
                        let (key, value) = (parse::<K>(key)?, parse::<V>(value)?);
                        self.entry(key).or_insert(value);
                    }
                }
                Ok(())
            }

            fn reads(method: MethodId) -> bool {
                matches!(method, map::GET | map::CONTAINS_KEY | map::NEXT_AFTER | map::LEN | map::IS_EMPTY)
                    || $reads(method)
            }

            fn look_up(&self, call: &Invocation) -> Result<Outcome, Value> {
                match call.method {
                    map::GET => Ok(maybe_later(self.get(&argument::<K>(call, 0)?))),
                    map::CONTAINS_KEY => fixed(Value::Bool(self.contains_key(&argument::<K>(call, 0)?))),
                    map::LEN => fixed(self.len().to_value()),
                    map::IS_EMPTY => fixed(Value::Bool(self.is_empty())),
                    map::NEXT_AFTER => {
                        let next = next_after(call, self.iter().map(|(key, value)| (key.to_value(), value)))?;
                        Ok(pair_or_none(next.map(|(key, value)| (key, value.clone()))))
                    }
                    _ => $look_up(self, call),
                }
            }

            fn change(&mut self, call: &Invocation) -> Result<Outcome, Value> {
                let key = || argument::<K>(call, 0);
                let value = |index| argument::<V>(call, index);
                match call.method {
                    map::INSERT => Ok(maybe_later(self.insert(key()?, value(1)?).as_ref())),
                    map::INSERT_IF_ABSENT => {
                        let (key, value) = (key()?, value(1)?);
                        let existing = maybe_later(self.get(&key));
                        self.entry(key).or_insert(value);
                        Ok(existing)
                    }
                    map::REMOVE => Ok(maybe_later(self.remove(&key()?).as_ref())),
                    map::REPLACE => {
                        let (key, value) = (key()?, value(1)?);
                        Ok(maybe_later(self.get_mut(&key).map(|place| std::mem::replace(place, value)).as_ref()))
                    }
                    map::REPLACE_IF_EQUAL => {
                        let (key, old, new) = (key()?, value(1)?.to_value(), value(2)?);
                        let place = self.get_mut(&key).filter(|place| same(&place.to_value(), &old));
                        fixed(Value::Bool(place.map(|place| *place = new).is_some()))
                    }
                    map::REMOVE_IF_EQUAL => {
                        let (key, old) = (key()?, value(1)?.to_value());
                        let hit = self.get(&key).is_some_and(|place| same(&place.to_value(), &old));
                        if hit {
                            self.remove(&key);
                        }
                        fixed(Value::Bool(hit))
                    }
                    map::CLEAR => {
                        self.clear();
                        fixed(Value::Unit)
                    }
                    _ => $change(self, call),
                }
            }

            fn domain() -> DomainKind {
                domain::<K, V>()
            }
        }
    };
}

map_collection!(HashMap<K, V, S>, [Eq, Hash], map_model, no_more_reads, no_more_look_ups, no_more_changes);
map_collection!(BTreeMap<K, V>, [Ord], sorted_map_model, map_order_reads, look_up_in_map_order, change_map_in_order);

fn no_more_reads(_method: MethodId) -> bool {
    false
}

fn no_more_look_ups<C>(_collection: &C, _call: &Invocation) -> Result<Outcome, Value> {
    Err(unknown())
}

fn no_more_changes<C>(_collection: &mut C, _call: &Invocation) -> Result<Outcome, Value> {
    Err(unknown())
}

fn map_order_reads(method: MethodId) -> bool {
    matches!(method, sorted_map::FIRST | sorted_map::LAST | sorted_map::LOWER_BOUND | sorted_map::UPPER_BOUND)
}

fn look_up_in_map_order<K: Datum + Ord, V: Datum>(map: &BTreeMap<K, V>, call: &Invocation) -> Result<Outcome, Value> {
    let bound = || argument::<K>(call, 0);
    let found = match call.method {
        sorted_map::FIRST => map.first_key_value(),
        sorted_map::LAST => map.last_key_value(),
        sorted_map::LOWER_BOUND => map.range(bound()?..).next(),
        sorted_map::UPPER_BOUND => map.range(..=bound()?).next_back(),
        _ => return Err(unknown()),
    };
    Ok(pair_or_none(found.map(|(key, value)| (key.to_value(), value.clone()))))
}

fn change_map_in_order<K: Datum + Ord, V: Datum>(
    map: &mut BTreeMap<K, V>,
    call: &Invocation,
) -> Result<Outcome, Value> {
    let popped = match call.method {
        sorted_map::POP_FIRST => map.pop_first(),
        sorted_map::POP_LAST => map.pop_last(),
        _ => return Err(unknown()),
    };
    Ok(pair_or_none(popped.map(|(key, value)| (key.to_value(), value))))
}

/// What the two kinds of set have in common.
macro_rules! set_collection {
    ($set:ident<T $(, $hasher:ident)?>, [$($element:path),*], $model:ident, $reads:ident, $look_up:ident, $change:ident) => {
        impl<T: Datum $(+ $element)* $(, $hasher: BuildHasher)?> StdCollection for $set<T $(, $hasher)?> {
            fn model(&self) -> Arc<dyn Model> {
                $model()
            }

            fn state(&self) -> Value {
                Value::set(self.iter().map(ToValue::to_value))
            }

            fn restore(&mut self, state: &Value) -> Result<(), Value> {
                let Value::Set(wanted) = state else { return Err(state.clone()) };
                self.retain(|element| has_element(wanted, &element.to_value()));
                if self.len() < wanted.len() {
                    for element in wanted.iter() {
                        self.insert(parse(element)?);
                    }
                }
                Ok(())
            }

            fn reads(method: MethodId) -> bool {
                matches!(method, set::CONTAINS | set::NEXT_AFTER | set::LEN | set::IS_EMPTY) || $reads(method)
            }

            fn look_up(&self, call: &Invocation) -> Result<Outcome, Value> {
                match call.method {
                    set::CONTAINS => fixed(Value::Bool(self.contains(&argument::<T>(call, 0)?))),
                    set::LEN => fixed(self.len().to_value()),
                    set::IS_EMPTY => fixed(Value::Bool(self.is_empty())),
                    set::NEXT_AFTER => next_element_after(call, &mut self.iter().map(ToValue::to_value)),
                    _ => $look_up(self, call),
                }
            }

            fn change(&mut self, call: &Invocation) -> Result<Outcome, Value> {
                match call.method {
                    set::INSERT => fixed(Value::Bool(self.insert(argument::<T>(call, 0)?))),
                    set::REMOVE => fixed(Value::Bool(self.remove(&argument::<T>(call, 0)?))),
                    set::CLEAR => {
                        self.clear();
                        fixed(Value::Unit)
                    }
                    _ => $change(self, call),
                }
            }

            fn domain() -> DomainKind {
                domain::<T, T>()
            }
        }
    };
}

set_collection!(HashSet<T, S>, [Eq, Hash], set_model, no_more_reads, no_more_look_ups, no_more_changes);
set_collection!(BTreeSet<T>, [Ord], sorted_set_model, set_order_reads, look_up_in_set_order, change_set_in_order);

fn set_order_reads(method: MethodId) -> bool {
    matches!(method, sorted_set::FIRST | sorted_set::LAST | sorted_set::LOWER_BOUND | sorted_set::UPPER_BOUND)
}

fn look_up_in_set_order<T: Datum + Ord>(set: &BTreeSet<T>, call: &Invocation) -> Result<Outcome, Value> {
    let bound = || argument::<T>(call, 0);
    let found = match call.method {
        sorted_set::FIRST => set.first(),
        sorted_set::LAST => set.last(),
        sorted_set::LOWER_BOUND => set.range(bound()?..).next(),
        sorted_set::UPPER_BOUND => set.range(..=bound()?).next_back(),
        _ => return Err(unknown()),
    };
    Ok(maybe_later(found))
}

fn change_set_in_order<T: Datum + Ord>(set: &mut BTreeSet<T>, call: &Invocation) -> Result<Outcome, Value> {
    let popped = match call.method {
        sorted_set::POP_FIRST => set.pop_first(),
        sorted_set::POP_LAST => set.pop_last(),
        _ => return Err(unknown()),
    };
    Ok(maybe_later(popped.as_ref()))
}
