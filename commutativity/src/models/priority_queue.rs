//! Priority queues: `BinaryHeap`, which gives the largest element first, and Java's, which gives the smallest.

use super::sequence::{self, Role};
use crate::{End, Value};

methods! {
    from 0;
    /// `push(x)`: adds `x`.
    PUSH = push(x: Value), environment;
    /// `pop()`: removes and gives the next element, the largest or the smallest one, or `none`.
    POP = pop(), environment;
    /// `peek()`: the next element, or `none`.
    PEEK = peek(), environment;
    /// `len()`: how many elements there are.
    LEN = len();
    /// `is_empty()`: a Boolean.
    IS_EMPTY = is_empty();
    /// `clear()`: removes every element.
    CLEAR = clear();
}

/// What each of the methods does, where the next element is at this end of the ascending state.
const fn roles(next: End) -> [Role; 6] {
    [Role::Insert, Role::Pop(next), Role::Peek(next), Role::Len, Role::IsEmpty, Role::Clear]
}

const LARGEST_FIRST: &[Role] = &roles(End::Back);
const SMALLEST_FIRST: &[Role] = &roles(End::Front);

/// A priority queue that gives the largest element first. Its state is a [`Value::List`] in ascending order, so that the
/// same elements are the same state.
#[derive(Clone, Copy, Debug, Default)]
pub struct PriorityQueueModel;

model! {
    PriorityQueueModel = "priority-queue", initially |_| Value::list([]);
    methods: ENTRIES.iter().copied();
    table: sequence::table_of_one_end("priority-queue", ENTRIES, LARGEST_FIRST);
    run: (Value::List(items), call) => sequence::run(LARGEST_FIRST, items, call);
}

/// The same, but the smallest element comes first.
#[derive(Clone, Copy, Debug, Default)]
pub struct SmallestFirstModel;

model! {
    SmallestFirstModel = "priority-queue", initially |_| Value::list([]);
    methods: ENTRIES.iter().copied();
    table: sequence::table_of_one_end("priority-queue", ENTRIES, SMALLEST_FIRST);
    run: (Value::List(items), call) => sequence::run(SMALLEST_FIRST, items, call);
}
