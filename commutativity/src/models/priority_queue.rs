//! A priority queue that gives the largest element first: `BinaryHeap`.

use std::sync::{Arc, LazyLock};

use super::methods::{signatures, specification};
use super::sequence::{self, Role};
use super::{list, refused};
use crate::{End, Invocation, Method, MethodId, Model, Specification, Value};

methods! {
    from 0;
    /// `push(x)`: adds `x`.
    PUSH = push(x: Value), environment;
    /// `pop()`: removes and gives the largest element, or `none`.
    POP = pop(), environment;
    /// `peek()`: the largest element, or `none`.
    PEEK = peek(), environment;
    /// `len()`: how many elements there are.
    LEN = len();
    /// `is_empty()`: a Boolean.
    IS_EMPTY = is_empty();
    /// `clear()`: removes every element.
    CLEAR = clear();
}

/// A priority queue; its state is a [`Value::List`] in ascending order, so that the same elements are the same state.
#[derive(Clone, Copy, Debug, Default)]
pub struct PriorityQueueModel;

impl Model for PriorityQueueModel {
    fn name(&self) -> &str {
        "priority-queue"
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
            specification("priority-queue", ENTRIES.iter().copied(), None, conflict)
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
        PUSH => Role::Insert,
        POP => Role::Pop(End::Back),
        PEEK => Role::Peek(End::Back),
        LEN => Role::Len,
        IS_EMPTY => Role::IsEmpty,
        _ => Role::Clear,
    }
}

fn run(items: &mut Arc<[Value]>, call: &Invocation) -> Option<Value> {
    let result = match (call.method, call.arguments.as_slice()) {
        (PUSH, [item]) => {
            let (below, above) = items.split_at(items.partition_point(|other| other <= item));
            *items = below.iter().chain([item]).chain(above).cloned().collect();
            Value::Unit
        }
        (POP, []) => list::pop_back(items),
        (PEEK, []) => Value::option(items.last().cloned()),
        (LEN, []) => Value::Int(items.len() as i64),
        (IS_EMPTY, []) => Value::Bool(items.is_empty()),
        (CLEAR, []) => list::clear(items),
        _ => return None,
    };
    Some(result)
}
