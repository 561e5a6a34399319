//! A stack: `Vec`.

use std::sync::{Arc, LazyLock};

use super::methods::{signatures, specification};
use super::sequence::{self, Role};
use super::{list, refused};
use crate::{End, Invocation, Method, MethodId, Model, Specification, Value};

methods! {
    from 0;
    /// `push(x)`: puts `x` on top.
    PUSH = push(x: Value), environment;
    /// `pop()`: removes and gives the top, or `none`.
    POP = pop(), environment;
    /// `peek()`: the top, or `none`.
    PEEK = peek(), environment;
    /// `len()`: how many elements there are.
    LEN = len();
    /// `is_empty()`: a Boolean.
    IS_EMPTY = is_empty();
    /// `clear()`: removes every element.
    CLEAR = clear();
}

/// A stack; its state is a [`Value::List`], bottom first.
#[derive(Clone, Copy, Debug, Default)]
pub struct StackModel;

impl Model for StackModel {
    fn name(&self) -> &str {
        "stack"
    }

    fn methods(&self) -> &[Method] {
        static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| signatures(ENTRIES.iter().copied()));
        &METHODS
    }

    fn initial(&self) -> Value {
        Value::list([])
    }

    fn specification(&self) -> Option<&Specification> {
        static TABLE: LazyLock<Specification> = LazyLock::new(|| {
            let conflict = |row, column| sequence::conflict((row, column), role, |_| ["peek()", "second"]);
            specification("stack", ENTRIES.iter().copied(), None, conflict)
                .note("second: what peek() gives after one pop().")
        });
        Some(&TABLE)
    }

    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        match state {
            Value::List(items) => run(items, call).unwrap_or_else(refused),
            _ => refused(),
        }
    }
}

fn role(method: MethodId) -> Role {
    match method {
        PUSH => Role::Push(End::Back),
        POP => Role::Pop(End::Back),
        PEEK => Role::Peek(End::Back),
        LEN => Role::Len,
        IS_EMPTY => Role::IsEmpty,
        _ => Role::Clear,
    }
}

fn run(items: &mut Arc<[Value]>, call: &Invocation) -> Option<Value> {
    let result = match (call.method, call.arguments.as_slice()) {
        (PUSH, [item]) => list::push_back(items, item),
        (POP, []) => list::pop_back(items),
        (PEEK, []) => Value::option(items.last().cloned()),
        (LEN, []) => Value::Int(items.len() as i64),
        (IS_EMPTY, []) => Value::Bool(items.is_empty()),
        (CLEAR, []) => list::clear(items),
        _ => return None,
    };
    Some(result)
}
