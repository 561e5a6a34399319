//! A counter: an atomic integer. The methods are those of [`register`], with the same indices.

use super::methods::{Entry, specification};
use super::register;
use crate::{Condition, Value};

pub use super::register::{COMPARE_EXCHANGE, FETCH_ADD, FETCH_MAX, FETCH_MIN, FETCH_SUB, LOAD, MODIFY, STORE, SWAP};

/// An integer that starts at 0; its state is a [`Value::Int`]. An open environment counts with it and does not
/// overwrite it; otherwise it is a register.
///
/// # Limits
/// Arithmetic is that of `i64` and wraps around as its does, whatever the width of the real counter.
#[derive(Clone, Copy, Debug, Default)]
pub struct CounterModel;

model! {
    CounterModel = "counter", initially |_| Value::Int(0);
    methods: entries();
    table: specification("counter", entries(), None, |row, column| register::conflict(|_| Condition::Always, row, column))
        .note("Contents and arguments are integers.");
    run: (content, call) => register::run(content, call);
}

fn entries() -> impl Iterator<Item = Entry> {
    let counting = |name| ["load", "fetch_add", "fetch_sub"].contains(&name);
    register::ENTRIES.iter().map(move |entry| entry.in_environment(counting(entry.method.name)))
}
