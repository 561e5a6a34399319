//! Java's priority queues.

use interloper_commutativity::Value;

use super::list::{self, COLLECTION};
use super::queue::{self, OWN, concatenated};
use super::{DataType, Family, Role, Signature, unresolved};

/// A priority queue: the least element leaves first. It has the methods of a [`super::Queue`].
///
/// # Limits
/// `toArray` and `toString` give the elements in ascending order; the order of Java's heap is not modelled.
#[derive(Clone, Copy, Debug, Default)]
pub struct PriorityQueue;

const METHODS: [Signature; 22] = concatenated(OWN, COLLECTION);

impl DataType for PriorityQueue {
    fn name(&self) -> &'static str {
        "priority-queue"
    }

    fn methods(&self) -> &'static [Signature] {
        &METHODS
    }

    fn initial(&self) -> Value {
        Value::list([])
    }

    fn apply(&self, state: &mut Value, method: &str, arguments: &[Value]) -> Value {
        // There is always room, so that what remains of it does not depend on the elements.
        if method == "remainingCapacity" {
            return Value::Int(i64::from(i32::MAX));
        }
        let result = queue::run(state, method, arguments).unwrap_or_else(|| unresolved(self.name(), method, arguments));
        if matches!(method, "offer" | "add" | "put" | "enqueue" | "addAll") {
            list::change(state, |items| items.sort());
        }
        result
    }

    fn role(&self, method: &str, arguments: &[Value], result: Option<&Value>) -> Role {
        queue::role(method, arguments, result)
    }

    fn family(&self) -> Option<Family> {
        Some(Family::PriorityQueue)
    }
}
