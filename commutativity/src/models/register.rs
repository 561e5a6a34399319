//! A register: an atomic, a cell. A register of integers can also be counted with.

use super::methods::specification;
use crate::Condition::{self, Always, Integer, Never};
use crate::Term::{self, Content};
use crate::{Invocation, MethodId, Side, Value};

methods! {
    from 0;
    /// `load()`: the content.
    LOAD = load(), environment;
    /// `store(v)`: makes `v` the content.
    STORE = store(v: Value), environment;
    /// `swap(v)`: makes `v` the content and gives the one before.
    SWAP = swap(v: Value);
    /// `compare_exchange(old, new)`: `Ok(old)` when `old` was the content, which is `new` now; otherwise `Err` with the
    /// content.
    COMPARE_EXCHANGE = compare_exchange(old: Value, new: Value), environment;
    /// `fetch_add(n)`: adds `n`, modulo 2^64, and gives the content before. This and the next three methods give `type` and change
    /// nothing when the content or the argument is not a [`Value::Int`].
    FETCH_ADD = fetch_add(n: Amount);
    /// `fetch_sub(n)`: subtracts `n`, modulo 2^64, and gives the content before.
    FETCH_SUB = fetch_sub(n: Amount);
    /// `fetch_max(n)`: makes the larger of the content and `n` the content and gives the one before.
    FETCH_MAX = fetch_max(n: Amount);
    /// `fetch_min(n)`: makes the smaller of the content and `n` the content and gives the one before.
    FETCH_MIN = fetch_min(n: Amount);
    /// `modify()`: applies an unknown injective function to the content and gives the one before.
    MODIFY = modify();
}

/// A register; its state is its content.
///
/// # Limits
/// Arithmetic is that of `i64` and wraps around as its does, whatever the width of the real register.
#[derive(Clone, Debug)]
pub struct RegisterModel {
    /// The content of a fresh register.
    pub initial: Value,
}

model! {
    RegisterModel = "register", initially |register| register.initial.clone();
    methods: ENTRIES.iter().copied();
    table: specification("register", ENTRIES.iter().copied(), None, |row, column| conflict(Integer, row, column))
        .note("The amount n is an integer.");
    run: (content, call) => run(content, call);
}

/// The condition of a cell; `integer` tells whether a content is one, as far as that is not known.
///
/// A method that is no `store` gives the content before in one form or another, and so notices every write of the
/// other. A `store` of what is there is no write, and commutes with what does not write.
pub(super) fn conflict(integer: fn(Term) -> Condition, row: MethodId, column: MethodId) -> Condition {
    let counts = |method| matches!(method, FETCH_ADD | FETCH_SUB | FETCH_MAX | FETCH_MIN);
    let (row_writes, column_writes) = (writes(row, Side::Row), writes(column, Side::Column));
    match (row, column) {
        (STORE, STORE) => Side::Row.argument(0).is_not(Side::Column.argument(0)),
        // What counts does nothing and gives `type` while the content is no integer: only one that arrives is noticed.
        _ if counts(row) && counts(column) => integer(Content) & (row_writes | column_writes),
        _ if counts(row) => {
            (integer(Content) & (row_writes | column_writes))
                | (!integer(Content) & arrives(integer, column, Side::Column))
        }
        _ if counts(column) => {
            (integer(Content) & (row_writes | column_writes)) | (!integer(Content) & arrives(integer, row, Side::Row))
        }
        _ => row_writes | column_writes,
    }
}

/// When a call leaves another content than it found, which is an integer if the method counts.
fn writes(method: MethodId, side: Side) -> Condition {
    let argument = |index| side.argument(index);
    match method {
        STORE | SWAP => Content.is_not(argument(0)),
        COMPARE_EXCHANGE => Content.is(argument(0)) & argument(0).is_not(argument(1)),
        FETCH_ADD | FETCH_SUB => argument(0).is_not(Term::integer(0)),
        FETCH_MAX => Content.below(argument(0)),
        FETCH_MIN => argument(0).below(Content),
        MODIFY => Always,
        _ => Never,
    }
}

/// When a call that does not count makes the content an integer, which it was not.
fn arrives(integer: fn(Term) -> Condition, method: MethodId, side: Side) -> Condition {
    match method {
        STORE | SWAP => integer(side.argument(0)),
        COMPARE_EXCHANGE => Content.is(side.argument(0)) & integer(side.argument(1)),
        _ => Never,
    }
}

/// Runs a call of a method of [`ENTRIES`]; nothing when there is no such method, or not with so many arguments.
pub(super) fn run(content: &mut Value, call: &Invocation) -> Option<Value> {
    let result = match (call.method, call.arguments.as_slice()) {
        (LOAD, []) => content.clone(),
        (STORE, [new]) => {
            *content = new.clone();
            Value::Unit
        }
        (SWAP, [new]) => std::mem::replace(content, new.clone()),
        (COMPARE_EXCHANGE, [old, new]) => {
            if content == old {
                Value::variant("Ok", [std::mem::replace(content, new.clone())])
            } else {
                Value::variant("Err", [content.clone()])
            }
        }
        (FETCH_ADD, [amount]) => fetch(content, amount, i64::wrapping_add),
        (FETCH_SUB, [amount]) => fetch(content, amount, i64::wrapping_sub),
        (FETCH_MAX, [amount]) => fetch(content, amount, i64::max),
        (FETCH_MIN, [amount]) => fetch(content, amount, i64::min),
        (MODIFY, []) => {
            let old = content.clone();
            *content = old.clone().modified();
            old
        }
        _ => return None,
    };
    Some(result)
}

fn fetch(content: &mut Value, amount: &Value, operation: impl FnOnce(i64, i64) -> i64) -> Value {
    match (&*content, amount) {
        (&Value::Int(old), &Value::Int(amount)) => {
            *content = Value::Int(operation(old, amount));
            Value::Int(old)
        }
        _ => Value::variant("type", []),
    }
}
