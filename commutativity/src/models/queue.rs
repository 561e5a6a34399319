//! An unbounded queue: `SegQueue`.

use std::sync::{Arc, LazyLock};

use super::methods::{signatures, specification};
use super::sequence::{self, Role};
use super::{list, refused};
use crate::{End, Invocation, Method, MethodId, Model, Specification, Value};

methods! {
    from 0;
    /// `push(x)`: adds `x` at the back.
    PUSH = push(x: Value), environment;
    /// `pop()`: removes and gives the front, or `none`.
    POP = pop(), environment;
    /// `peek()`: the front, or `none`.
    PEEK = peek(), environment;
    /// `len()`: how many elements there are.
    LEN = len();
    /// `is_empty()`: a Boolean.
    IS_EMPTY = is_empty();
    /// `clear()`: removes every element.
    CLEAR = clear();
    /// `contains(x)`: a Boolean.
    CONTAINS = contains(x: Value);
}

/// A queue without bound; its state is a [`Value::List`], front first.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueModel;

impl Model for QueueModel {
    fn name(&self) -> &str {
        "queue"
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
            specification("queue", ENTRIES.iter().copied(), None, conflict)
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
        POP => Role::Pop(End::Front),
        PEEK => Role::Peek(End::Front),
        LEN => Role::Len,
        IS_EMPTY => Role::IsEmpty,
        CLEAR => Role::Clear,
        _ => Role::Contains,
    }
}

fn run(items: &mut Arc<[Value]>, call: &Invocation) -> Option<Value> {
    let result = match (call.method, call.arguments.as_slice()) {
        (PUSH, [item]) => list::push_back(items, item),
        (POP, []) => list::pop_front(items),
        (PEEK, []) => Value::option(items.first().cloned()),
        (LEN, []) => Value::Int(items.len() as i64),
        (IS_EMPTY, []) => Value::Bool(items.is_empty()),
        (CLEAR, []) => list::clear(items),
        (CONTAINS, [item]) => Value::Bool(items.contains(item)),
        _ => return None,
    };
    Some(result)
}
