//! A double-ended queue: `VecDeque`.

use super::sequence::{self, Role};
use crate::{End, Value};

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

/// What each of the methods does.
const ROLES: &[Role] = &[
    Role::Push(End::Back),
    Role::Push(End::Front),
    Role::Pop(End::Front),
    Role::Pop(End::Back),
    Role::Peek(End::Front),
    Role::Peek(End::Back),
    Role::Len,
    Role::IsEmpty,
    Role::Clear,
    Role::Contains,
];

/// A double-ended queue; its state is a [`Value::List`], front first.
#[derive(Clone, Copy, Debug, Default)]
pub struct DequeModel;

model! {
    DequeModel = "deque", initially |_| Value::list([]);
    methods: ENTRIES.iter().copied();
    table: sequence::table("deque", ENTRIES, ROLES, names)
        .note("second: what front() gives after one pop_front(). second-last: what back() gives after one pop_back().");
    run: (Value::List(items), call) => sequence::run(ROLES, items, call);
}

fn names(end: End) -> [&'static str; 2] {
    match end {
        End::Front => ["front()", "second"],
        End::Back => ["back()", "second-last"],
    }
}
