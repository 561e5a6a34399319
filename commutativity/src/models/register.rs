//! A register: an atomic, a cell. A register of integers can also be counted with.

use std::sync::LazyLock;

use super::methods::signatures;
use super::{refused, unknown_function};
use crate::{Invocation, Method, Model, Value};

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

impl Model for RegisterModel {
    fn name(&self) -> &str {
        "register"
    }

    fn methods(&self) -> &[Method] {
        static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| signatures(ENTRIES.iter().copied()));
        &METHODS
    }

    fn initial(&self) -> Value {
        self.initial.clone()
    }

    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        run(state, call)
    }
}

/// Runs a call of a method of [`ENTRIES`].
pub(super) fn run(content: &mut Value, call: &Invocation) -> Value {
    match (call.method, call.arguments.as_slice()) {
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
            *content = unknown_function(old.clone());
            old
        }
        _ => refused(),
    }
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
