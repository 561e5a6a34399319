//! Java's sets.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use interloper_commutativity::Value;

use super::queue::concatenated;
use super::{DataType, Family, Role, Shape, Signature, changes, count, elements, list, listing, reads, unresolved};

/// A set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Set {
    /// Whether it has the methods of a sorted set.
    pub sorted: bool,
}

const ANY: [Signature; 12] = [
    changes("add", &[Shape::Any]),
    changes("remove", &[Shape::Any]),
    changes("addAll", &[Shape::Elements]),
    changes("removeAll", &[Shape::Elements]),
    changes("retainAll", &[Shape::Elements]),
    changes("clear", &[]),
    reads("contains", &[Shape::Any]),
    reads("containsAll", &[Shape::Elements]),
    reads("size", &[]),
    reads("isEmpty", &[]),
    reads("toArray", &[]),
    reads("toString", &[]),
];

const NAVIGATION: [Signature; 11] = [
    changes("pollFirst", &[]),
    changes("pollLast", &[]),
    reads("first", &[]),
    reads("last", &[]),
    reads("ceiling", &[Shape::Any]),
    reads("floor", &[Shape::Any]),
    reads("higher", &[Shape::Any]),
    reads("lower", &[Shape::Any]),
    reads("headSet", &[Shape::Any]),
    reads("tailSet", &[Shape::Any]),
    reads("subSet", &[Shape::Any, Shape::Any]),
];

const SORTED: [Signature; 23] = concatenated(ANY, NAVIGATION);

impl DataType for Set {
    fn name(&self) -> &'static str {
        if self.sorted { "sorted-set" } else { "set" }
    }

    fn methods(&self) -> &'static [Signature] {
        if self.sorted { &SORTED } else { &ANY }
    }

    fn initial(&self) -> Value {
        Value::set([])
    }

    fn apply(&self, state: &mut Value, method: &str, arguments: &[Value]) -> Value {
        let Value::Set(items) = state else { panic!("{state} is no state of a set") };
        let result = look(items, method, arguments);
        result
            .or_else(|| change(items, method, arguments))
            .unwrap_or_else(|| unresolved(self.name(), method, arguments))
    }

    fn role(&self, method: &str, arguments: &[Value], result: Option<&Value>) -> Role {
        match (method, arguments, result) {
            ("add", [item], Some(Value::Bool(true))) => Role::Insert(item.clone()),
            ("remove", [item], Some(Value::Bool(true))) => Role::Remove(item.clone()),
            ("add", [item], Some(Value::Bool(false))) | ("contains", [item], Some(Value::Bool(true))) => {
                Role::Find(item.clone())
            }
            ("remove" | "contains", [item], Some(Value::Bool(false))) => Role::Miss(item.clone()),
            ("add" | "remove", [item], None) => Role::Unknown(item.clone()),
            (_, _, None) if self.methods().iter().any(|known| known.reads && known.name == method) => Role::Nothing,
            _ => Role::Other,
        }
    }

    fn part(&self, method: &str, arguments: &[Value]) -> Option<Value> {
        matches!(method, "add" | "remove" | "contains").then(|| arguments.first().cloned()).flatten()
    }

    fn family(&self) -> Option<Family> {
        Some(Family::Set)
    }
}

fn look(items: &BTreeSet<Value>, method: &str, arguments: &[Value]) -> Option<Value> {
    let all = |items: &mut dyn Iterator<Item = &Value>| Value::list(items.cloned());
    let result = match (method, arguments) {
        ("contains", [item]) => Value::Bool(items.contains(item)),
        ("containsAll", [others]) => Value::Bool(elements(others).into_iter().all(|item| items.contains(item))),
        ("size", []) => count(items.len()),
        ("isEmpty", []) => Value::Bool(items.is_empty()),
        ("toArray", []) => all(&mut items.iter()),
        ("toString", []) => listing(items),
        ("first", []) => items.first().cloned().unwrap_or_else(list::empty),
        ("last", []) => items.last().cloned().unwrap_or_else(list::empty),
        ("ceiling", [item]) => items.range(item..).next().cloned().unwrap_or_default(),
        ("floor", [item]) => items.range(..=item).next_back().cloned().unwrap_or_default(),
        ("higher", [item]) => above(items, item).next().cloned().unwrap_or_default(),
        ("lower", [item]) => items.range(..item).next_back().cloned().unwrap_or_default(),
        ("headSet", [end]) => all(&mut items.range(..end)),
        ("tailSet", [start]) => all(&mut items.range(start..)),
        ("subSet", [start, end]) if start > end => super::error("range"),
        ("subSet", [start, end]) => all(&mut items.range(start..end)),
        _ => return None,
    };
    Some(result)
}

fn above<'s>(items: &'s BTreeSet<Value>, item: &Value) -> impl Iterator<Item = &'s Value> {
    items.range((Bound::Excluded(item.clone()), Bound::Unbounded))
}

fn change(items: &mut Arc<BTreeSet<Value>>, method: &str, arguments: &[Value]) -> Option<Value> {
    let before = items.len();
    match (method, arguments) {
        ("add", [item]) if !items.contains(item) => {
            Arc::make_mut(items).insert(item.clone());
        }
        ("remove", [item]) if items.contains(item) => {
            Arc::make_mut(items).remove(item);
        }
        ("add" | "remove", [_]) => {}
        ("addAll", [others]) => Arc::make_mut(items).extend(elements(others).into_iter().cloned()),
        ("removeAll", [others]) => Arc::make_mut(items).retain(|item| !elements(others).contains(&item)),
        ("retainAll", [others]) => Arc::make_mut(items).retain(|item| elements(others).contains(&item)),
        ("clear", []) => {
            *items = Arc::default();
            return Some(Value::Unit);
        }
        ("pollFirst", []) => return Some(Arc::make_mut(items).pop_first().unwrap_or_default()),
        ("pollLast", []) => return Some(Arc::make_mut(items).pop_last().unwrap_or_default()),
        _ => return None,
    }
    Some(Value::Bool(items.len() != before))
}
