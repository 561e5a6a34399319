//! A stack.

use interloper_commutativity::Value;

use super::{DataType, Family, Role, Shape, Signature, agrees, changes, count, list, reads, unresolved};

/// A last-in-first-out stack; its state is a list, bottom first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stack;

const METHODS: [Signature; 9] = [
    changes("push", &[Shape::Any]),
    changes("pop", &[]),
    changes("clear", &[]),
    reads("peek", &[]),
    reads("contains", &[Shape::Any]),
    reads("size", &[]),
    reads("isEmpty", &[]),
    reads("toArray", &[]),
    reads("toString", &[]),
];

impl DataType for Stack {
    fn name(&self) -> &'static str {
        "stack"
    }

    fn methods(&self) -> &'static [Signature] {
        &METHODS
    }

    fn initial(&self) -> Value {
        Value::list([])
    }

    fn apply(&self, state: &mut Value, method: &str, arguments: &[Value]) -> Value {
        match (method, arguments) {
            ("push", [item]) => {
                list::change(state, |items| items.push(item.clone()));
                Value::Unit
            }
            ("pop", []) => list::take_last(state).unwrap_or_default(),
            ("peek", []) => list::items(state).last().cloned().unwrap_or_default(),
            ("size", []) => count(list::items(state).len()),
            ("clear" | "contains" | "isEmpty" | "toArray" | "toString", _) => {
                list::collection(state, method, arguments).unwrap_or_else(|| unresolved(self.name(), method, arguments))
            }
            _ => unresolved(self.name(), method, arguments),
        }
    }

    fn role(&self, method: &str, arguments: &[Value], result: Option<&Value>) -> Role {
        match (method, arguments, result) {
            ("push", [item], result) if !item.is_none() && result.is_none_or(|result| agrees(&Value::Unit, result)) => {
                Role::Insert(item.clone())
            }
            ("pop", [], Some(Value::None)) => Role::Empty,
            ("pop", [], Some(item)) => Role::Remove(item.clone()),
            ("pop", [], None) => Role::UnknownRemoval,
            ("peek" | "contains" | "size" | "isEmpty" | "toArray" | "toString", _, None) => Role::Nothing,
            _ => Role::Other,
        }
    }

    fn family(&self) -> Option<Family> {
        Some(Family::Stack)
    }
}
