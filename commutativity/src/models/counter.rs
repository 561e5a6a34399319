//! A counter: an atomic integer. The methods are those of [`register`], with the same indices.

use std::sync::LazyLock;

use super::methods::{Entry, signatures, specification};
use super::register;
use crate::{Condition, Invocation, Method, Model, Specification, Value};

pub use super::register::{COMPARE_EXCHANGE, FETCH_ADD, FETCH_MAX, FETCH_MIN, FETCH_SUB, LOAD, MODIFY, STORE, SWAP};

/// An integer that starts at 0; its state is a [`Value::Int`]. An open environment counts with it and does not
/// overwrite it; otherwise it is a register.
///
/// # Limits
/// Arithmetic is that of `i64` and wraps around as its does, whatever the width of the real counter.
#[derive(Clone, Copy, Debug, Default)]
pub struct CounterModel;

impl Model for CounterModel {
    fn name(&self) -> &str {
        "counter"
    }

    fn methods(&self) -> &[Method] {
        static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| signatures(entries()));
        &METHODS
    }

    fn initial(&self) -> Value {
        Value::Int(0)
    }

    fn specification(&self) -> Option<&Specification> {
        static TABLE: LazyLock<Specification> = LazyLock::new(|| {
            let conflict = |row, column| register::conflict(|_| Condition::Always, row, column);
            specification("counter", entries(), None, conflict).note("Contents and arguments are integers.")
        });
        Some(&TABLE)
    }

    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        register::run(state, call)
    }
}

fn entries() -> impl Iterator<Item = Entry> {
    let counting = |name| ["load", "fetch_add", "fetch_sub"].contains(&name);
    register::ENTRIES.iter().map(move |entry| entry.in_environment(counting(entry.method.name)))
}
