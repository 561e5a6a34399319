//! The words that the sorted map and the sorted set use for the same things.

use interloper_commutativity::models::{sorted_map, sorted_set};
use interloper_commutativity::{MethodId, ToValue, Value};

use crate::session::Handle;
use crate::task::Kind;

/// The methods of the abstract type.
pub struct Words {
    pub get: MethodId,
    pub contains: MethodId,
    pub insert: MethodId,
    pub insert_if_absent: MethodId,
    pub remove: MethodId,
    pub next_after: MethodId,
    pub first: MethodId,
    pub last: MethodId,
    pub pop_first: MethodId,
    pub pop_last: MethodId,
    pub lower_bound: MethodId,
    pub upper_bound: MethodId,
    pub len: MethodId,
    pub is_empty: MethodId,
}

/// What a list is to its user: a map or a set.
pub trait Role: 'static {
    const NAME: &'static str;

    /// The handle of a new list.
    fn handle() -> Handle;
}

/// How an abstract type speaks of entries with values of type `V`.
pub trait Vocabulary<V>: Role {
    const WORDS: Words;

    /// An entry as the result of a method that finds one.
    fn entry(key: Value, value: &V) -> Value;

    /// The result of `get` and `remove`, by the value that was there.
    fn found(value: Option<&V>) -> Value;

    /// The result of `insert` and `insert_if_absent`, by the value that was there.
    fn before(value: Option<&V>) -> Value;

    /// The arguments of `insert` and `insert_if_absent`, and how many of them count.
    fn arguments(key: Value, value: &V) -> ([Value; 2], usize);
}

/// The role of a map.
pub struct Pairs;

impl Role for Pairs {
    const NAME: &'static str = "SkipMap";

    fn handle() -> Handle {
        Handle::of(Kind::SortedMap, 0)
    }
}

impl<V: ToValue> Vocabulary<V> for Pairs {
    const WORDS: Words = Words {
        get: sorted_map::GET,
        contains: sorted_map::CONTAINS_KEY,
        insert: sorted_map::INSERT,
        insert_if_absent: sorted_map::INSERT_IF_ABSENT,
        remove: sorted_map::REMOVE,
        next_after: sorted_map::NEXT_AFTER,
        first: sorted_map::FIRST,
        last: sorted_map::LAST,
        pop_first: sorted_map::POP_FIRST,
        pop_last: sorted_map::POP_LAST,
        lower_bound: sorted_map::LOWER_BOUND,
        upper_bound: sorted_map::UPPER_BOUND,
        len: sorted_map::LEN,
        is_empty: sorted_map::IS_EMPTY,
    };

    fn entry(key: Value, value: &V) -> Value {
        Value::tuple([key, value.to_value()])
    }

    fn found(value: Option<&V>) -> Value {
        Value::option(value.map(ToValue::to_value))
    }

    fn before(value: Option<&V>) -> Value {
        Self::found(value)
    }

    fn arguments(key: Value, value: &V) -> ([Value; 2], usize) {
        ([key, value.to_value()], 2)
    }
}

/// The role of a set.
pub struct Elements;

impl Role for Elements {
    const NAME: &'static str = "SkipSet";

    fn handle() -> Handle {
        Handle::of(Kind::SortedSet, 0)
    }
}

impl Vocabulary<()> for Elements {
    const WORDS: Words = Words {
        get: sorted_set::CONTAINS,
        contains: sorted_set::CONTAINS,
        insert: sorted_set::INSERT,
        insert_if_absent: sorted_set::INSERT,
        remove: sorted_set::REMOVE,
        next_after: sorted_set::NEXT_AFTER,
        first: sorted_set::FIRST,
        last: sorted_set::LAST,
        pop_first: sorted_set::POP_FIRST,
        pop_last: sorted_set::POP_LAST,
        lower_bound: sorted_set::LOWER_BOUND,
        upper_bound: sorted_set::UPPER_BOUND,
        len: sorted_set::LEN,
        is_empty: sorted_set::IS_EMPTY,
    };

    fn entry(key: Value, _value: &()) -> Value {
        Value::option(Some(key))
    }

    fn found(value: Option<&()>) -> Value {
        Value::Bool(value.is_some())
    }

    fn before(value: Option<&()>) -> Value {
        Value::Bool(value.is_none())
    }

    fn arguments(key: Value, _value: &()) -> ([Value; 2], usize) {
        ([key, Value::None], 1)
    }
}
