//! A queue with a capacity: `ArrayQueue`.

use std::sync::{Arc, LazyLock, OnceLock};

use super::methods::{signatures, specification};
use super::{list, refused};
use crate::Condition::{self, Empty, Never};
use crate::{End, Invocation, Method, MethodId, Model, Side, Specification, Term, Value};

methods! {
    from 0;
    /// `push(x)`: adds `x` at the back and gives `Ok(())`, or `Err(x)` when the queue is full.
    PUSH = push(x: Value), environment;
    /// `force_push(x)`: adds `x` at the back; the front, which makes way when the queue is full, or `none`.
    FORCE_PUSH = force_push(x: Value);
    /// `pop()`: removes and gives the front, or `none`.
    POP = pop(), environment;
    /// `len()`: how many elements there are.
    LEN = len();
    /// `is_empty()`: a Boolean.
    IS_EMPTY = is_empty();
    /// `is_full()`: a Boolean.
    IS_FULL = is_full();
    /// `capacity()`: how many elements there can be.
    CAPACITY = capacity();
}

/// A queue with a capacity; its state is a [`Value::List`], front first.
#[derive(Clone, Debug)]
pub struct BoundedQueueModel {
    /// At least 1.
    capacity: usize,
    specification: OnceLock<Specification>,
}

impl BoundedQueueModel {
    /// A queue for at most `capacity` elements.
    ///
    /// # Panics
    /// When `capacity` is 0, as `ArrayQueue::new` does.
    pub fn new(capacity: usize) -> BoundedQueueModel {
        assert!(capacity > 0, "the capacity of a bounded queue must be at least 1");
        BoundedQueueModel { capacity, specification: OnceLock::new() }
    }

    /// How many elements there can be.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    fn run(&self, items: &mut Arc<[Value]>, call: &Invocation) -> Option<Value> {
        let full = items.len() >= self.capacity;
        let result = match (call.method, call.arguments.as_slice()) {
            (PUSH, [item]) if full => Value::variant("Err", [item.clone()]),
            (PUSH, [item]) => Value::variant("Ok", [list::push(items, End::Back, item)]),
            (FORCE_PUSH, [item]) => {
                let evicted = if full { list::pop(items, End::Front) } else { Value::None };
                list::push(items, End::Back, item);
                evicted
            }
            (POP, []) => list::pop(items, End::Front),
            (LEN, []) => Value::Int(items.len() as i64),
            (IS_EMPTY, []) => Value::Bool(items.is_empty()),
            (IS_FULL, []) => Value::Bool(full),
            (CAPACITY, []) => Value::Int(self.capacity as i64),
            _ => return None,
        };
        Some(result)
    }
}

impl Model for BoundedQueueModel {
    fn name(&self) -> &str {
        "bounded-queue"
    }

    fn methods(&self) -> &[Method] {
        static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| signatures(ENTRIES.iter().copied()));
        &METHODS
    }

    fn initial(&self) -> Value {
        Value::list([])
    }

    fn specification(&self) -> Option<&Specification> {
        let table = || {
            let conflict = |row, column| conflict(self.capacity, row, column);
            specification("bounded-queue", ENTRIES.iter().copied(), None, conflict).note(format!(
                "front: the element that pop() would give; second: the one after it. The capacity is {}.",
                self.capacity
            ))
        };
        Some(self.specification.get_or_init(table))
    }

    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        match state {
            Value::List(items) => self.run(items, call).unwrap_or_else(refused),
            _ => refused(),
        }
    }
}

fn conflict(capacity: usize, row: MethodId, column: MethodId) -> Condition {
    let full = || Term::Len.is(Term::integer(capacity));
    let one_left = || Term::Len.is(Term::integer(capacity - 1));
    let (x1, x2) = (|| Side::Row.argument(0), || Side::Column.argument(0));
    let front = || Term::Element(End::Front, 0, "front");
    // What the front is after one more element has been forced in.
    let second = || if capacity == 1 { x1() } else { Term::Element(End::Front, 1, "second") };

    match (row, column) {
        (PUSH, PUSH | FORCE_PUSH) => !full() & (x1().is_not(x2()) | one_left()),
        (FORCE_PUSH, FORCE_PUSH) => x1().is_not(x2()) | one_left() | (full() & front().is_not(second())),
        (PUSH | FORCE_PUSH, POP) => Empty | full(),
        (PUSH | FORCE_PUSH, LEN) => !full(),
        (PUSH | FORCE_PUSH, IS_EMPTY) => Empty,
        (PUSH | FORCE_PUSH, IS_FULL) => one_left(),
        (POP, POP) => front().is_not(Term::Element(End::Front, 1, "second")),
        (POP, LEN) => !Empty,
        (POP, IS_EMPTY) => Term::Len.is(Term::integer(1)),
        (POP, IS_FULL) => full(),
        _ => Never,
    }
}
