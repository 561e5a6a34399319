//! Java's deques.

use interloper_commutativity::Value;

use super::list::{self, COLLECTION};
use super::queue::{self, concatenated};
use super::{DataType, Shape, Signature, changes, reads, unresolved};

/// A double-ended queue; its queue methods add at the back and remove at the front.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deque;

const ENDS: [Signature; 14] = [
    changes("addFirst", &[Shape::Any]),
    changes("addLast", &[Shape::Any]),
    changes("offerFirst", &[Shape::Any]),
    changes("offerLast", &[Shape::Any]),
    changes("pollFirst", &[]),
    changes("pollLast", &[]),
    changes("removeFirst", &[]),
    changes("removeLast", &[]),
    changes("removeFirstOccurrence", &[Shape::Any]),
    changes("removeLastOccurrence", &[Shape::Any]),
    reads("peekFirst", &[]),
    reads("peekLast", &[]),
    reads("getFirst", &[]),
    reads("getLast", &[]),
];

const QUEUE: [Signature; 22] = concatenated(queue::OWN, COLLECTION);
const METHODS: [Signature; 36] = concatenated(ENDS, QUEUE);

impl DataType for Deque {
    fn name(&self) -> &'static str {
        "deque"
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
}

fn run(state: &mut Value, method: &str, arguments: &[Value]) -> Option<Value> {
    let result = match (method, arguments) {
        ("addFirst" | "offerFirst", [item]) => {
            list::change(state, |items| items.insert(0, item.clone()));
            if method == "addFirst" { Value::Unit } else { Value::Bool(true) }
        }
        ("addLast", [item]) => {
            list::change(state, |items| items.push(item.clone()));
            Value::Unit
        }
        ("offerLast", [_]) => return queue::run(state, "offer", arguments),
        ("pollFirst", []) => list::take_first(state).unwrap_or_default(),
        ("pollLast", []) => list::take_last(state).unwrap_or_default(),
        ("removeFirst", []) => list::take_first(state).unwrap_or_else(list::empty),
        ("removeLast", []) => list::take_last(state).unwrap_or_else(list::empty),
        ("removeFirstOccurrence", [_]) => return list::collection(state, "remove", arguments),
        ("removeLastOccurrence", [item]) => list::change(state, |items| {
            let found = items.iter().rposition(|other| other == item);
            Value::Bool(found.map(|index| items.remove(index)).is_some())
        }),
        ("peekFirst", []) => list::items(state).first().cloned().unwrap_or_default(),
        ("peekLast", []) => list::items(state).last().cloned().unwrap_or_default(),
        ("getFirst", []) => list::items(state).first().cloned().unwrap_or_else(list::empty),
        ("getLast", []) => list::items(state).last().cloned().unwrap_or_else(list::empty),
        _ => return queue::run(state, method, arguments),
    };
    Some(result)
}
