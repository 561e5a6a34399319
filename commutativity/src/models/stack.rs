//! A stack: `Vec`.

use super::sequence::{self, Role};
use crate::{End, Value};

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

/// What each of the methods does.
const ROLES: &[Role] =
    &[Role::Push(End::Back), Role::Pop(End::Back), Role::Peek(End::Back), Role::Len, Role::IsEmpty, Role::Clear];

/// A stack; its state is a [`Value::List`], bottom first.
#[derive(Clone, Copy, Debug, Default)]
pub struct StackModel;

model! {
    StackModel = "stack", initially |_| Value::list([]);
    methods: ENTRIES.iter().copied();
    table: sequence::table_of_one_end("stack", ENTRIES, ROLES);
    run: (Value::List(items), call) => sequence::run(ROLES, items, call);
}
