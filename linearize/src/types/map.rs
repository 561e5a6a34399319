//! Java's maps.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use interloper_commutativity::Value;

use super::queue::concatenated;
use super::{DataType, Role, Shape, Signature, changes, count, java, list, reads, unresolved};

/// A map. As in `ConcurrentHashMap`, `contains` is about values. Parts of a sorted map are lists of entries.
#[derive(Clone, Copy, Debug, Default)]
pub struct Map {
    /// Whether it has the methods of a sorted map.
    pub sorted: bool,
}

const ANY: [Signature; 21] = [
    changes("put", &[Shape::Key, Shape::Any]),
    changes("putIfAbsent", &[Shape::Key, Shape::Any]),
    changes("putAll", &[Shape::Entries]),
    changes("replace", &[Shape::Key, Shape::Any]),
    changes("replace", &[Shape::Key, Shape::Any, Shape::Any]),
    changes("remove", &[Shape::Key]),
    changes("remove", &[Shape::Key, Shape::Any]),
    changes("clear", &[]),
    reads("get", &[Shape::Key]),
    reads("containsKey", &[Shape::Key]),
    reads("contains", &[Shape::Any]),
    reads("containsValue", &[Shape::Any]),
    reads("size", &[]),
    reads("mappingCount", &[]),
    reads("isEmpty", &[]),
    reads("keys", &[]),
    reads("keySet", &[]),
    reads("values", &[]),
    reads("elements", &[]),
    reads("entrySet", &[]),
    reads("toString", &[]),
];

const NAVIGATION: [Signature; 11] = [
    changes("pollFirstEntry", &[]),
    changes("pollLastEntry", &[]),
    reads("firstKey", &[]),
    reads("lastKey", &[]),
    reads("ceilingKey", &[Shape::Key]),
    reads("floorKey", &[Shape::Key]),
    reads("higherKey", &[Shape::Key]),
    reads("lowerKey", &[Shape::Key]),
    reads("headMap", &[Shape::Key]),
    reads("tailMap", &[Shape::Key]),
    reads("subMap", &[Shape::Key, Shape::Key]),
];

const SORTED: [Signature; 32] = concatenated(ANY, NAVIGATION);

impl DataType for Map {
    fn name(&self) -> &'static str {
        if self.sorted { "sorted-map" } else { "map" }
    }

    fn methods(&self) -> &'static [Signature] {
        if self.sorted { &SORTED } else { &ANY }
    }

    fn initial(&self) -> Value {
        Value::map([])
    }

    fn apply(&self, state: &mut Value, method: &str, arguments: &[Value]) -> Value {
        let Value::Map(entries) = state else { panic!("{state} is no state of a map") };
        let result = look(entries, method, arguments).or_else(|| navigate(entries, method, arguments));
        result
            .or_else(|| change(entries, method, arguments))
            .unwrap_or_else(|| unresolved(self.name(), method, arguments))
    }

    fn role(&self, method: &str, _: &[Value], result: Option<&Value>) -> Role {
        let reads = || self.methods().iter().any(|known| known.reads && known.name == method);
        if result.is_none() && reads() { Role::Nothing } else { Role::Other }
    }

    fn part(&self, method: &str, arguments: &[Value]) -> Option<Value> {
        let by_key = matches!(method, "put" | "putIfAbsent" | "replace" | "remove" | "get" | "containsKey");
        by_key.then(|| arguments.first().cloned()).flatten()
    }
}

fn look(entries: &BTreeMap<Value, Value>, method: &str, arguments: &[Value]) -> Option<Value> {
    let result = match (method, arguments) {
        ("get", [key]) => entries.get(key).cloned().unwrap_or_default(),
        ("containsKey", [key]) => Value::Bool(entries.contains_key(key)),
        ("contains" | "containsValue", [value]) => Value::Bool(entries.values().any(|other| other == value)),
        ("size" | "mappingCount", []) => count(entries.len()),
        ("isEmpty", []) => Value::Bool(entries.is_empty()),
        ("keys" | "keySet", []) => Value::list(entries.keys().cloned()),
        ("values" | "elements", []) => Value::list(entries.values().cloned()),
        ("entrySet", []) => Value::list(entries.iter().map(entry)),
        ("toString", []) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}={}", java(key), java(value))).collect();
            Value::text(format!("{{{}}}", entries.join(", ")))
        }
        _ => return None,
    };
    Some(result)
}

fn navigate(entries: &BTreeMap<Value, Value>, method: &str, arguments: &[Value]) -> Option<Value> {
    fn part<'m>(entries: impl Iterator<Item = (&'m Value, &'m Value)>) -> Value {
        Value::list(entries.map(entry))
    }
    fn key(found: Option<(&Value, &Value)>) -> Value {
        found.map(|(key, _)| key.clone()).unwrap_or_default()
    }
    let result = match (method, arguments) {
        ("firstKey", []) => entries.keys().next().cloned().unwrap_or_else(list::empty),
        ("lastKey", []) => entries.keys().next_back().cloned().unwrap_or_else(list::empty),
        ("ceilingKey", [from]) => key(entries.range(from..).next()),
        ("floorKey", [to]) => key(entries.range(..=to).next_back()),
        ("higherKey", [from]) => key(entries.range((Bound::Excluded(from), Bound::Unbounded)).next()),
        ("lowerKey", [to]) => key(entries.range(..to).next_back()),
        ("headMap", [end]) => part(entries.range(..end)),
        ("tailMap", [start]) => part(entries.range(start..)),
        ("subMap", [start, end]) if start > end => super::error("range"),
        ("subMap", [start, end]) => part(entries.range(start..end)),
        _ => return None,
    };
    Some(result)
}

fn change(entries: &mut Arc<BTreeMap<Value, Value>>, method: &str, arguments: &[Value]) -> Option<Value> {
    let put = |entries: &mut Arc<BTreeMap<Value, Value>>, key: &Value, value: &Value| {
        Arc::make_mut(entries).insert(key.clone(), value.clone()).unwrap_or_default()
    };
    let result = match (method, arguments) {
        ("put", [key, value]) => put(entries, key, value),
        ("putIfAbsent", [key, value]) => match entries.get(key) {
            Some(there) => there.clone(),
            None => put(entries, key, value),
        },
        ("putAll", [Value::Map(others)]) => {
            others.iter().for_each(|(key, value)| drop(put(entries, key, value)));
            Value::Unit
        }
        ("replace", [key, value]) if entries.contains_key(key) => put(entries, key, value),
        ("replace", [_, _]) => Value::None,
        ("replace", [key, old, new]) => {
            let agrees = entries.get(key) == Some(old);
            if agrees {
                put(entries, key, new);
            }
            Value::Bool(agrees)
        }
        ("remove", [key]) if entries.contains_key(key) => Arc::make_mut(entries).remove(key).unwrap_or_default(),
        ("remove", [_]) => Value::None,
        ("remove", [key, old]) => {
            let agrees = entries.get(key) == Some(old);
            if agrees {
                Arc::make_mut(entries).remove(key);
            }
            Value::Bool(agrees)
        }
        ("clear", []) => {
            *entries = Arc::default();
            Value::Unit
        }
        ("pollFirstEntry", []) => polled(Arc::make_mut(entries).pop_first()),
        ("pollLastEntry", []) => polled(Arc::make_mut(entries).pop_last()),
        _ => return None,
    };
    Some(result)
}

fn polled(entry: Option<(Value, Value)>) -> Value {
    entry.map(|(key, value)| Value::tuple([key, value])).unwrap_or_default()
}

fn entry((key, value): (&Value, &Value)) -> Value {
    Value::tuple([key.clone(), value.clone()])
}
