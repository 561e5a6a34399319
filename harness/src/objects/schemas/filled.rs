//! Schemas that begin with an object that has entries, for methods that are about all of it.
//!
//! A `clear` that goes from entry to entry is atomic beside one entry, and a random schema seldom has two entries, a `clear` beside calls
//! on both of them, and these in the order that shows it. A `len` that counts from place to place is wrong only where an entry goes and
//! another one comes.

use interloper_commutativity::Value;
use interloper_linearize::schema::Schema;

use super::alphabet::{Call, Literal};
use super::order::Order;
use super::{Harness, started};
use crate::object::{Generator, MethodId, Object};

/// A full object has so many entries.
const ENTRIES: u8 = 2;

/// Schemas of a method that is about all entries, so many at most. One or two calls fill the object. Then the method runs beside two
/// calls on different entries or, if it changes the object, beside itself. Those with two calls of the same method come first. None of
/// a method that is about one entry.
///
/// `alone` gives the results of a schema of one sequence, if it has any.
pub(crate) fn filled(
    object: &Object,
    method: MethodId,
    most: usize,
    alone: &dyn Fn(&Schema) -> Option<Vec<Value>>,
) -> Vec<Schema> {
    let mut schemas = Vec::new();
    if !is_about_all(object, method) {
        return schemas;
    }
    let seen = Seen { object, alone };
    let tested: Vec<Call> = Call::all(object, method, ENTRIES).into_iter().filter(has_every_entry).collect();
    let changes = !object.method(method).reads;
    let pairs: Vec<Option<[Call; 2]>> = std::iter::once(None).chain(pairs(object).into_iter().map(Some)).collect();
    for fill in seen.fills() {
        for (start, is_full) in [(&fill[..], true), (&fill[..1], false)] {
            // What a method changes in part is seen wherever much is there. What it sees in part, where something changes.
            let beside = pairs
                .iter()
                .filter(|pair| changes && is_full || pair.as_ref().is_some_and(|pair| seen.changes(start, pair)));
            for (beside, call) in beside.flat_map(|pair| tested.iter().map(move |call| (pair, call))) {
                if schemas.len() >= most {
                    return schemas;
                }
                let sequence = beside.as_ref().map_or_else(|| vec![call], |beside| beside.iter().collect());
                let sequences = vec![vec![call], sequence];
                let harness = Harness { object, tested: &[method], sequences, order: Order::none(2) };
                if harness.can_fail() {
                    let start = start.iter().map(|call| call.invocation(object)).collect();
                    schemas.push(started(&harness.schema(), start));
                }
            }
        }
    }
    schemas
}

/// Whether a method is about all entries of an object, or about several that it gets as a collection: none of its arguments names one.
fn is_about_all(object: &Object, method: MethodId) -> bool {
    !object.method(method).parameters.iter().any(|parameter| matches!(parameter, Generator::Atom(_)))
}

/// Whether the collections among the arguments of a call have all entries.
fn has_every_entry(call: &Call) -> bool {
    let has_every_entry = |literal: &Literal| match literal {
        Literal::Atom(_) | Literal::Choice(_) => true,
        Literal::List(atoms) | Literal::Set(atoms) => (0..ENTRIES).all(|entry| atoms.contains(&entry)),
        Literal::Map(entries) => entries.len() == usize::from(ENTRIES),
    };
    call.arguments.iter().all(has_every_entry)
}

/// What calls leave behind, as other calls see it.
struct Seen<'a> {
    object: &'a Object,
    alone: &'a dyn Fn(&Schema) -> Option<Vec<Value>>,
}

impl Seen<'_> {
    /// What each of the methods beside shows after these calls.
    fn after(&self, calls: &[Call]) -> Vec<Option<Vec<Value>>> {
        let shows = |method| {
            let all = calls.iter().cloned().chain(entries(self.object, method));
            let sequence = all.map(|call| call.invocation(self.object)).collect();
            let mut results = (self.alone)(&Schema::new(vec![sequence], vec![]).ok()?)?;
            Some(results.split_off(calls.len()))
        };
        self.object.beside().into_iter().map(shows).collect()
    }

    /// Calls of a method, one for each entry, that leave more behind than each of them alone.
    fn fills(&self) -> impl Iterator<Item = Vec<Call>> {
        let changing = self.object.before().into_iter().filter(|&method| !self.object.method(method).reads);
        changing.map(|method| entries(self.object, method)).filter(|calls| {
            let leaves_more = |all| calls.iter().all(|call| self.after(std::slice::from_ref(call)) != all);
            calls[0] != calls[1] && leaves_more(self.after(calls))
        })
    }

    /// Whether each of two calls changes what the calls before it have left behind.
    fn changes(&self, start: &[Call], pair: &[Call; 2]) -> bool {
        if pair.iter().any(|call| self.object.method(call.method).reads) {
            return false;
        }
        let [before, between, after] = [0, 1, 2].map(|calls| self.after(&[start, &pair[..calls]].concat()));
        before != between && between != after
    }
}

/// Two calls on different entries, in both orders: first those of the same method.
fn pairs(object: &Object) -> Vec<[Call; 2]> {
    let mut pairs = Vec::new();
    let methods = object.beside();
    for &one in &methods {
        for &other in &methods {
            let (first, second) = (entries(object, one), entries(object, other));
            let turned = [[&first[0], &second[1]], [&first[1], &second[0]]];
            pairs.extend(turned.map(|pair| (one != other, pair.map(Call::clone))));
        }
    }
    pairs.sort_by_key(|(mixed, _)| *mixed);
    let mut pairs: Vec<[Call; 2]> = pairs.into_iter().map(|(_, pair)| pair).collect();
    pairs.dedup();
    pairs
}

/// A call of a method for each of the entries. They are equal if its arguments name none.
fn entries(object: &Object, method: MethodId) -> Vec<Call> {
    let literal = |generator: &Generator, entry: u8| match generator {
        Generator::Atom(_) => Literal::Atom(entry),
        Generator::List(..) => Literal::List(vec![entry]),
        Generator::Set(..) => Literal::Set(vec![entry]),
        Generator::Map(..) => Literal::Map(vec![(entry, entry)]),
        Generator::Choice(_) => Literal::Choice(0),
    };
    let call = |entry| {
        let parameters = &object.method(method).parameters;
        Call { method, arguments: parameters.iter().map(|generator| literal(generator, entry)).collect() }
    };
    (0..ENTRIES).map(call).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use interloper_linearize::schema::Invocation;

    use super::*;
    use crate::testing::method;

    fn map() -> Object {
        Object::describe("map", || ())
            .core("put", |_, (_, _): (i64, i64)| ())
            .core("remove", |_, (_,): (i64,)| 0)
            .core("get", |_, (_,): (i64,)| 0)
            .reads()
            .method("clear", |_, ()| ())
            .method("size", |_, ()| 0)
            .reads()
            .method("putAll", |_, (_,): (BTreeMap<i64, i64>,)| ())
            .method("replace", |_, (_, _): (i64, i64)| 0)
            .build()
    }

    /// The core methods of the map on one thread.
    fn as_a_map(schema: &Schema) -> Option<Vec<Value>> {
        let mut map: BTreeMap<Value, Value> = BTreeMap::new();
        let mut call = |call: &Invocation| match (&*call.method, &call.arguments[..]) {
            ("put", [key, value]) => {
                map.insert(key.clone(), value.clone());
                Value::Unit
            }
            ("remove", [key]) => map.remove(key).unwrap_or(Value::None),
            ("get", [key]) => map.get(key).cloned().unwrap_or(Value::None),
            _ => panic!("{call:?}"),
        };
        Some(schema.invocations().map(&mut call).collect())
    }

    fn texts(object: &Object, name: &str) -> Vec<String> {
        filled(object, method(object, name), 100, &as_a_map).iter().map(Schema::to_string).collect()
    }

    #[test]
    fn only_what_leaves_two_entries_fills() {
        let object = map();
        let seen = Seen { object: &object, alone: &as_a_map };
        let text = |call: Call| call.invocation(&object).to_string();
        let texts: Vec<Vec<String>> = seen.fills().map(|calls| calls.into_iter().map(text).collect()).collect();
        // Not `remove`.
        assert_eq!(texts, [["put(0, 0)", "put(1, 1)"]]);
        // A register keeps one value.
        let register = Object::describe("register", || ())
            .core("write", |_, (_,): (i64,)| ())
            .core("read", |_, ()| 0)
            .reads()
            .method("take", |_, ()| 0)
            .build();
        let as_a_register = |schema: &Schema| {
            let mut last = Value::None;
            let mut call = |call: &Invocation| match &call.arguments[..] {
                [value] => {
                    last = value.clone();
                    Value::Unit
                }
                _ => last.clone(),
            };
            Some(schema.invocations().map(&mut call).collect())
        };
        assert!(filled(&register, method(&register, "take"), 100, &as_a_register).is_empty());
    }

    #[test]
    fn schemas_of_a_method_that_is_about_all_entries() {
        let object = map();
        let clear = texts(&object, "clear");
        let start = "[put(0, 0); put(1, 1)], [clear()],";
        let first = ["clear()", "put(0, 0); put(1, 1)", "put(1, 1); put(0, 0)", "remove(0); remove(1)"];
        for (schema, beside) in clear.iter().zip(first) {
            assert_eq!(*schema, format!("{start} [{beside}], {{0<1, 0<2}}"));
        }
        // `clear`; two orders for each of nine pairs of the three core methods; two of the pair of calls that change what one entry was.
        assert_eq!(clear.len(), 1 + 2 * 9 + 2);
        // Beside two entries both go; beside one, it goes and another one comes, in both orders.
        let size = [
            "[put(0, 0); put(1, 1)], [size()], [remove(0); remove(1)], {0<1, 0<2}",
            "[put(0, 0); put(1, 1)], [size()], [remove(1); remove(0)], {0<1, 0<2}",
            "[put(0, 0)], [size()], [put(1, 1); remove(0)], {0<1, 0<2}",
            "[put(0, 0)], [size()], [remove(0); put(1, 1)], {0<1, 0<2}",
        ];
        assert_eq!(texts(&object, "size"), size);
        // All maps of two entries over the values 0 and 1.
        let put_all = texts(&object, "putAll");
        assert_eq!(put_all.len(), 4 * (1 + 2 * 9 + 2));
        let few = filled(&object, method(&object, "putAll"), 5, &as_a_map);
        assert_eq!(few.iter().map(Schema::to_string).collect::<Vec<_>>(), put_all[..5]);
        assert!(texts(&object, "replace").is_empty(), "it is about one entry");
    }
}
