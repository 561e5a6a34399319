//! Java's queues.

use interloper_commutativity::Value;

use super::list::{self, COLLECTION};
use super::{DataType, Family, Role, Shape, Signature, agrees, changes, elements, reads, unresolved};

/// A first-in-first-out queue without a bound that is ever reached. Besides Java's names it knows `enqueue`, which gives
/// nothing, and `dequeue`, which is `poll`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue;

pub(super) const OWN: [Signature; 10] = [
    changes("offer", &[Shape::Any]),
    changes("add", &[Shape::Any]),
    changes("put", &[Shape::Any]),
    changes("enqueue", &[Shape::Any]),
    changes("addAll", &[Shape::Elements]),
    changes("poll", &[]),
    changes("dequeue", &[]),
    changes("take", &[]),
    changes("remove", &[]),
    reads("remainingCapacity", &[]),
];

const METHODS: [Signature; 22] = concatenated(OWN, COLLECTION);

/// Two arrays of signatures in one.
pub(super) const fn concatenated<const A: usize, const B: usize, const N: usize>(
    first: [Signature; A],
    second: [Signature; B],
) -> [Signature; N] {
    assert!(A + B == N);
    let mut all = [changes("", &[]); N];
    let mut index = 0;
    while index < N {
        all[index] = if index < A { first[index] } else { second[index - A] };
        index += 1;
    }
    all
}

impl DataType for Queue {
    fn name(&self) -> &'static str {
        "queue"
    }

    fn methods(&self) -> &'static [Signature] {
        &METHODS
    }

    fn initial(&self) -> Value {
        Value::list([])
    }

    fn apply(&self, state: &mut Value, method: &str, arguments: &[Value]) -> Value {
        run(state, method, arguments).unwrap_or_else(|| unresolved(self.name(), method, arguments))
    }

    fn role(&self, method: &str, arguments: &[Value], result: Option<&Value>) -> Role {
        role(method, arguments, result)
    }

    fn family(&self) -> Option<Family> {
        Some(Family::Queue)
    }
}

/// Runs a method of [`OWN`] or [`COLLECTION`].
pub(super) fn run(state: &mut Value, method: &str, arguments: &[Value]) -> Option<Value> {
    let result = match (method, arguments) {
        ("offer" | "add", [item]) => {
            list::change(state, |items| items.push(item.clone()));
            Value::Bool(true)
        }
        ("put" | "enqueue", [item]) => {
            list::change(state, |items| items.push(item.clone()));
            Value::Unit
        }
        ("addAll", [others]) => {
            let others = elements(others);
            list::change(state, |items| items.extend(others.iter().copied().cloned()));
            Value::Bool(!others.is_empty())
        }
        ("poll" | "dequeue", []) => list::take_first(state).unwrap_or_default(),
        ("remove", []) => list::take_first(state).unwrap_or_else(list::empty),
        ("take", []) => list::take_first(state).unwrap_or_else(|| super::error("blocks")),
        ("remainingCapacity", []) => Value::Int(i64::from(i32::MAX) - list::items(state).len() as i64),
        _ => return list::collection(state, method, arguments),
    };
    Some(result)
}

/// The role of a call of a queue that can be checked without a search.
pub(super) fn role(method: &str, arguments: &[Value], result: Option<&Value>) -> Role {
    match (method, arguments, result) {
        // A null result of `poll` is no element, so there must not be a null element either.
        ("offer" | "add", [item], None | Some(Value::Bool(true))) if !item.is_none() => Role::Insert(item.clone()),
        ("put" | "enqueue", [item], result)
            if !item.is_none() && result.is_none_or(|result| agrees(&Value::Unit, result)) =>
        {
            Role::Insert(item.clone())
        }
        ("poll" | "dequeue", [], Some(Value::None)) => Role::Empty,
        ("remove", [], Some(result)) if *result == list::empty() => Role::Empty,
        ("take", [], Some(Value::Variant(_))) => Role::Other,
        ("poll" | "dequeue" | "remove" | "take", [], Some(item)) => Role::Remove(item.clone()),
        ("poll" | "dequeue" | "remove" | "take", [], None) => Role::UnknownRemoval,
        (_, _, None) if COLLECTION.iter().any(|known| known.reads && known.name == method) => Role::Nothing,
        _ => Role::Other,
    }
}
