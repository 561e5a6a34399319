//! A double-ended queue: `VecDeque`.

use std::sync::{Arc, LazyLock};

use super::methods::{signatures, specification};
use super::sequence::{self, Role};
use super::{list, refused};
use crate::{End, Invocation, Method, MethodId, Model, Specification, Value};

methods! {
    from 0;
    /// `push_back(x)`: adds `x` at the back.
    PUSH_BACK = push_back(x: Value), environment;
    /// `push_front(x)`: adds `x` at the front.
    PUSH_FRONT = push_front(x: Value), environment;
    /// `pop_front()`: removes and gives the front, or `none`.
    POP_FRONT = pop_front(), environment;
    /// `pop_back()`: removes and gives the back, or `none`.
    POP_BACK = pop_back(), environment;
    /// `front()`: the front, or `none`.
    FRONT = front(), environment;
    /// `back()`: the back, or `none`.
    BACK = back(), environment;
    /// `len()`: how many elements there are.
    LEN = len();
    /// `is_empty()`: a Boolean.
    IS_EMPTY = is_empty();
    /// `clear()`: removes every element.
    CLEAR = clear();
    /// `contains(x)`: a Boolean.
    CONTAINS = contains(x: Value);
}

/// A double-ended queue; its state is a [`Value::List`], front first.
#[derive(Clone, Copy, Debug, Default)]
pub struct DequeModel;

impl Model for DequeModel {
    fn name(&self) -> &str {
        "deque"
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
            let conflict = |row, column| sequence::conflict((row, column), role, names);
            specification("deque", ENTRIES.iter().copied(), None, conflict)
                .note("second: what front() gives after one pop_front(). second-last: what back() gives after one pop_back().")
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

fn names(end: End) -> [&'static str; 2] {
    match end {
        End::Front => ["front()", "second"],
        End::Back => ["back()", "second-last"],
    }
}

fn role(method: MethodId) -> Role {
    match method {
        PUSH_BACK => Role::Push(End::Back),
        PUSH_FRONT => Role::Push(End::Front),
        POP_FRONT => Role::Pop(End::Front),
        POP_BACK => Role::Pop(End::Back),
        FRONT => Role::Peek(End::Front),
        BACK => Role::Peek(End::Back),
        LEN => Role::Len,
        IS_EMPTY => Role::IsEmpty,
        CLEAR => Role::Clear,
        _ => Role::Contains,
    }
}

fn run(items: &mut Arc<[Value]>, call: &Invocation) -> Option<Value> {
    let result = match (call.method, call.arguments.as_slice()) {
        (PUSH_BACK, [item]) => list::push_back(items, item),
        (PUSH_FRONT, [item]) => list::push_front(items, item),
        (POP_FRONT, []) => list::pop_front(items),
        (POP_BACK, []) => list::pop_back(items),
        (FRONT, []) => Value::option(items.first().cloned()),
        (BACK, []) => Value::option(items.last().cloned()),
        (LEN, []) => Value::Int(items.len() as i64),
        (IS_EMPTY, []) => Value::Bool(items.is_empty()),
        (CLEAR, []) => list::clear(items),
        (CONTAINS, [item]) => Value::Bool(items.contains(item)),
        _ => return None,
    };
    Some(result)
}
