//! An unbounded queue: `SegQueue`.

use super::sequence::{self, Role};
use crate::{End, Value};

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

/// What each of the methods does.
const ROLES: &[Role] = &[
    Role::Push(End::Back),
    Role::Pop(End::Front),
    Role::Peek(End::Front),
    Role::Len,
    Role::IsEmpty,
    Role::Clear,
    Role::Contains,
];

/// A queue without bound; its state is a [`Value::List`], front first.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueModel;

model! {
    QueueModel = "queue", initially |_| Value::list([]);
    methods: ENTRIES.iter().copied();
    table: sequence::table_of_one_end("queue", ENTRIES, ROLES);
    run: (Value::List(items), call) => sequence::run(ROLES, items, call);
}
