//! Objects with a single content: registers and counters.

use interloper_commutativity::Value;

use super::{DataType, Family, Role, Shape, Signature, agrees, changes, reads, unresolved};

/// A register. It holds `none` at first; `write` gives nothing, `cas(old, new)` whether it has written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Register;

const REGISTER: [Signature; 3] =
    [reads("read", &[]), changes("write", &[Shape::Any]), changes("cas", &[Shape::Any, Shape::Any])];

impl DataType for Register {
    fn name(&self) -> &'static str {
        "register"
    }

    fn methods(&self) -> &'static [Signature] {
        &REGISTER
    }

    fn initial(&self) -> Value {
        Value::None
    }

    fn apply(&self, state: &mut Value, method: &str, arguments: &[Value]) -> Value {
        match (method, arguments) {
            ("read", []) => state.clone(),
            ("write", [new]) => {
                *state = new.clone();
                Value::Unit
            }
            ("cas", [old, new]) => {
                let agrees = state == old;
                if agrees {
                    *state = new.clone();
                }
                Value::Bool(agrees)
            }
            _ => unresolved(self.name(), method, arguments),
        }
    }

    fn role(&self, method: &str, arguments: &[Value], result: Option<&Value>) -> Role {
        match (method, arguments, result) {
            // Writing the first content again would make it a value that comes twice.
            ("write", [new], result) if !new.is_none() && result.is_none_or(|result| agrees(&Value::Unit, result)) => {
                Role::Insert(new.clone())
            }
            ("read", [], Some(content)) => Role::Find(content.clone()),
            ("read", [], None) => Role::Nothing,
            _ => Role::Other,
        }
    }

    fn family(&self) -> Option<Family> {
        Some(Family::Register)
    }
}

/// A counter of 64 bits that wraps around; 0 at first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter;

const COUNTER: [Signature; 11] = [
    reads("get", &[]),
    changes("set", &[Shape::Amount]),
    changes("add", &[Shape::Amount]),
    changes("increment", &[]),
    changes("decrement", &[]),
    changes("addAndGet", &[Shape::Amount]),
    changes("getAndAdd", &[Shape::Amount]),
    changes("incrementAndGet", &[]),
    changes("getAndIncrement", &[]),
    changes("decrementAndGet", &[]),
    changes("getAndDecrement", &[]),
];

impl DataType for Counter {
    fn name(&self) -> &'static str {
        "counter"
    }

    fn methods(&self) -> &'static [Signature] {
        &COUNTER
    }

    fn initial(&self) -> Value {
        Value::Int(0)
    }

    fn apply(&self, state: &mut Value, method: &str, arguments: &[Value]) -> Value {
        let &mut Value::Int(before) = state else { panic!("{state} is no state of a counter") };
        let after = match (method, arguments) {
            ("get", []) => before,
            ("set", [Value::Int(new)]) => *new,
            ("add" | "addAndGet" | "getAndAdd", [Value::Int(amount)]) => before.wrapping_add(*amount),
            ("increment" | "incrementAndGet" | "getAndIncrement", []) => before.wrapping_add(1),
            ("decrement" | "decrementAndGet" | "getAndDecrement", []) => before.wrapping_sub(1),
            _ => unresolved(self.name(), method, arguments),
        };
        *state = Value::Int(after);
        match method {
            "set" | "add" | "increment" | "decrement" => Value::Unit,
            "addAndGet" | "incrementAndGet" | "decrementAndGet" => Value::Int(after),
            _ => Value::Int(before),
        }
    }

    fn role(&self, method: &str, _: &[Value], result: Option<&Value>) -> Role {
        if method == "get" && result.is_none() { Role::Nothing } else { Role::Other }
    }
}
