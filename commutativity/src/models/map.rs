//! A map: `DashMap`, `HashMap`.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::keyed::{self, Footprint, Whole};
use super::methods::specification;
use crate::Condition::{self, Always, Never};
use crate::{Invocation, MethodId, Scan, Side, Value};

methods! {
    from 0;
    /// `get(k)`: the value at `k`, or `none`.
    GET = get(k: Key), environment;
    /// `insert(k, v)`: the value before, or `none`.
    INSERT = insert(k: Key, v: Value), environment;
    /// `insert_if_absent(k, v)`: the value that is there, or `none` when there was none and `v` was inserted
    /// (`putIfAbsent` of the paper).
    INSERT_IF_ABSENT = insert_if_absent(k: Key, v: Value), environment;
    /// `remove(k)`: the value removed, or `none`.
    REMOVE = remove(k: Key), environment;
    /// `contains_key(k)`: a Boolean.
    CONTAINS_KEY = contains_key(k: Key);
    /// `replace(k, v)`: the value before, or `none` when there was none and nothing happened.
    REPLACE = replace(k: Key, v: Value);
    /// `replace_if_equal(k, old, new)`: whether `old` was there and is now `new`.
    REPLACE_IF_EQUAL = replace_if_equal(k: Key, old: Value, new: Value);
    /// `remove_if_equal(k, v)`: whether `v` was there and is now removed.
    REMOVE_IF_EQUAL = remove_if_equal(k: Key, v: Value);
    /// `modify(k)`: applies an unknown injective function to the value at `k`, if any; the value before, or `none`.
    MODIFY = modify(k: Key);
    /// `next_after(c)`: the entry with the smallest key greater than `c`, as a pair, or `none`: a step of an iteration.
    /// The cursor `none` stands before all keys.
    NEXT_AFTER = next_after(c: Cursor);
    /// `len()`: how many entries there are.
    LEN = len();
    /// `is_empty()`: a Boolean.
    IS_EMPTY = is_empty();
    /// `clear()`: removes every entry.
    CLEAR = clear();
}

/// A map from keys to values; its state is a [`Value::Map`].
#[derive(Clone, Copy, Debug, Default)]
pub struct MapModel;

model! {
    MapModel = "map", initially |_| Value::map([]);
    methods: ENTRIES.iter().copied();
    table: specification("map", ENTRIES.iter().copied(), Some("k"), |row, column| {
        keyed::conflict((row, column), whole, footprint, same_key)
    });
    run: (Value::Map(entries), call) => run(entries, call);
}

/// The methods on the whole map.
pub(super) fn whole(method: MethodId, side: Side) -> Option<Whole> {
    match method {
        NEXT_AFTER => Some(Whole::Read(Scan::After(Box::new(side.argument(0))))),
        LEN => Some(Whole::Len),
        IS_EMPTY => Some(Whole::IsEmpty),
        CLEAR => Some(Whole::Clear),
        _ => None,
    }
}

/// What a method on one key does to the entry there.
pub(super) fn footprint(method: MethodId, side: Side) -> Footprint {
    let here = || side.argument(0).value();
    let (absent, present) = (here().is_absent(), here().is_present());
    let (second, third) = (side.argument(1), side.argument(2));
    let reads = Footprint { adds: Never, removes: Never, writes: Never, notices: here().is_present() };
    match method {
        INSERT => Footprint { adds: absent, removes: Never, writes: here().is_not(second), notices: Always },
        INSERT_IF_ABSENT => Footprint { adds: absent.clone(), removes: Never, writes: absent, notices: Always },
        REMOVE => Footprint { removes: present.clone(), writes: present, ..reads },
        REPLACE => Footprint { writes: present & here().is_not(second), ..reads },
        REPLACE_IF_EQUAL => {
            let hit = here().is(second.clone());
            Footprint { writes: hit.clone() & second.is_not(third), notices: hit, ..reads }
        }
        REMOVE_IF_EQUAL => {
            let hit = here().is(second);
            Footprint { removes: hit.clone(), writes: hit.clone(), notices: hit, ..reads }
        }
        MODIFY => Footprint { writes: present, ..reads },
        _ => reads,
    }
}

/// When two methods do not commute on the same key: the part of the table that the paper shows, and more of it.
pub(super) fn same_key(row: MethodId, column: MethodId) -> Condition {
    let here = || Side::Row.argument(0).value();
    let (absent, present) = (here().is_absent(), here().is_present());
    let row_argument = |index| Side::Row.argument(index);
    let column_argument = |index| Side::Column.argument(index);
    // The value arguments; `old` and `new` where there are two.
    let (v1, old1, new1) = (|| row_argument(1), || row_argument(1), || row_argument(2));
    let (v2, old2, new2) = (|| column_argument(1), || column_argument(1), || column_argument(2));
    // A write of `v1` and `replace_if_equal(old2, new2)` on an entry that is there.
    let overwrite = || here().is(old2()).either(v1().is(old2())) | (v1().is(old2()) & old2().is_not(new2()));

    match (row, column) {
        (GET, writer) => footprint(writer, Side::Column).writes,
        (CONTAINS_KEY, writer) => footprint(writer, Side::Column).moves(),
        (writer, CONTAINS_KEY) => footprint(writer, Side::Row).moves(),

        (INSERT, INSERT) => here().is_not(v1()) | v1().is_not(v2()),
        (INSERT, INSERT_IF_ABSENT) => here().is_not(v1()),
        (INSERT, REMOVE) => Always,
        (INSERT, REPLACE) => here().is_not(v1()) | v1().is_not(v2()),
        (INSERT, REPLACE_IF_EQUAL) => overwrite(),
        (INSERT, REMOVE_IF_EQUAL) => v1().is(v2()) | here().is(v2()),
        (INSERT, MODIFY) => Always,

        (INSERT_IF_ABSENT, INSERT_IF_ABSENT) => absent,
        (INSERT_IF_ABSENT, REMOVE) => Always,
        (INSERT_IF_ABSENT, REPLACE) => here().is_not(v2()),
        (INSERT_IF_ABSENT, REPLACE_IF_EQUAL) => {
            (absent & v1().is(old2())) | (here().is(old2()) & old2().is_not(new2()))
        }
        (INSERT_IF_ABSENT, REMOVE_IF_EQUAL) => (absent & v1().is(v2())) | here().is(v2()),
        (INSERT_IF_ABSENT, MODIFY) => Always,

        (REMOVE, REMOVE | REPLACE | MODIFY) => present,
        (REMOVE, REPLACE_IF_EQUAL) => here().is(old2()),
        (REMOVE, REMOVE_IF_EQUAL) => here().is(v2()),

        (REPLACE, REPLACE) => present & (here().is_not(v1()) | v1().is_not(v2())),
        (REPLACE, REPLACE_IF_EQUAL) => present & overwrite(),
        (REPLACE, REMOVE_IF_EQUAL) => present & (v1().is(v2()) | here().is(v2())),
        (REPLACE, MODIFY) => present,

        (REPLACE_IF_EQUAL, REPLACE_IF_EQUAL) => {
            let same = || old1().is(old2());
            (here().is(old1()) & new1().is(old2()).either(same()))
                | (here().is(old2()) & new2().is(old1()).either(same()))
        }
        (REPLACE_IF_EQUAL, REMOVE_IF_EQUAL) => here().is(old1()) & (old1().is(v2()) | new1().is(v2())),
        (REPLACE_IF_EQUAL, MODIFY) => here().is(old1()) | here().modified().is(old1()),

        (REMOVE_IF_EQUAL, REMOVE_IF_EQUAL) => here().is(v1()) & v1().is(v2()),
        (REMOVE_IF_EQUAL, MODIFY) => here().is(v1()) | here().modified().is(v1()),

        (MODIFY, MODIFY) => present,
        _ => unreachable!("rows come before columns, and whole containers elsewhere"),
    }
}

/// Runs a call of a method of [`ENTRIES`]; nothing when there is no such method, or not with so many arguments.
pub(super) fn run(entries: &mut Arc<BTreeMap<Value, Value>>, call: &Invocation) -> Option<Value> {
    let result = match (call.method, call.arguments.as_slice()) {
        (GET, [key]) => Value::option(entries.get(key).cloned()),
        (INSERT, [key, value]) => Value::option(Arc::make_mut(entries).insert(key.clone(), value.clone())),
        (INSERT_IF_ABSENT, [key, value]) => match entries.get(key) {
            Some(existing) => Value::option(Some(existing.clone())),
            None => {
                Arc::make_mut(entries).insert(key.clone(), value.clone());
                Value::None
            }
        },
        (REMOVE, [key]) => match entries.contains_key(key) {
            true => Value::option(Arc::make_mut(entries).remove(key)),
            false => Value::None,
        },
        (CONTAINS_KEY, [key]) => Value::Bool(entries.contains_key(key)),
        (REPLACE, [key, value]) => Value::option(change(entries, key, |_| value.clone())),
        (REPLACE_IF_EQUAL, [key, old, new]) => {
            let hit = entries.get(key) == Some(old);
            if hit {
                Arc::make_mut(entries).insert(key.clone(), new.clone());
            }
            Value::Bool(hit)
        }
        (REMOVE_IF_EQUAL, [key, value]) => {
            let hit = entries.get(key) == Some(value);
            if hit {
                Arc::make_mut(entries).remove(key);
            }
            Value::Bool(hit)
        }
        (MODIFY, [key]) => Value::option(change(entries, key, Value::modified)),
        (NEXT_AFTER, [cursor]) => entry(entries.range((after(cursor), Bound::Unbounded)).next()),
        (LEN, []) => Value::Int(entries.len() as i64),
        (IS_EMPTY, []) => Value::Bool(entries.is_empty()),
        (CLEAR, []) => {
            if !entries.is_empty() {
                *entries = Arc::default();
            }
            Value::Unit
        }
        _ => return None,
    };
    Some(result)
}

/// Puts `new` of the value at `key` there, if there is one; the value before.
fn change(entries: &mut Arc<BTreeMap<Value, Value>>, key: &Value, new: impl FnOnce(Value) -> Value) -> Option<Value> {
    let old = entries.get(key)?.clone();
    Arc::make_mut(entries).insert(key.clone(), new(old.clone()));
    Some(old)
}

/// An entry as a pair, or `none`.
pub(super) fn entry(found: Option<(&Value, &Value)>) -> Value {
    found.map_or(Value::None, |(key, value)| Value::tuple([key.clone(), value.clone()]))
}

/// The lower bound of the keys that come after `cursor`.
pub(super) fn after(cursor: &Value) -> Bound<&Value> {
    cursor.content().map_or(Bound::Unbounded, Bound::Excluded)
}
