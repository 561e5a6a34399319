//! A data type of your own: a cell with a version, given by its sequential behaviour.
//!
//! The model is all that is needed. Which operations do not commute is found out by running both orders.
//!
//! `cargo run -p interloper-examples --example own_type` prints:
//!
//! ```text
//! ✗ add_one                                   not linearizable (1 environment operation, execution 6)
//!
//!   start: (0, 0)    method under test: add_one()                               environment     state
//!   ──────────────────────────────────────────────────────────────────────────────────────────────────
//!   1                read() → (0, 0)                                                            (0, 0)
//!                      at examples/examples/own_type.rs:84:41
//!                      │ let (_, content): (i64, i64) = cell.get("read", []);
//!   2                                                                           write(5) → ()   (1, 5)
//!   3                write(1) → ()                                                              (2, 1)
//!                      at examples/examples/own_type.rs:85:10
//!                      │ cell.call("write", [(content + 1).to_value()]);
//!                    returned ()
//!
//!   No sequential order explains it:
//!     add_one, write      (2, 5) remains
//!     write, add_one      (2, 6) remains
//!
//!   replay: .replay("A0.I0.E0.E2.E0.E0")
//!   open environment: 1 argument, 3 initial states, up to 3 environment operations out of 2; 6 executions of 6 histories, 15 steps, stopped at the first violation
//!
//! ✓ add_one_fixed  linearizable
//!   open environment: 1 argument, 3 initial states, up to 3 environment operations out of 2; 273 executions of 273 histories, 1641 steps, complete
//! ```

use interloper::MethodUnderTest;
use interloper::collections::Shared;
use interloper::commutativity::{Invocation, Method, MethodId, Model, Parameter, ToValue, Value};

/// A cell that counts how often it was written; its state is (version, content).
struct VersionedCell;

const READ: MethodId = MethodId(0);
const WRITE: MethodId = MethodId(1);
const WRITE_IF: MethodId = MethodId(2);

impl Model for VersionedCell {
    fn name(&self) -> &str {
        "versioned-cell"
    }

    fn methods(&self) -> &[Method] {
        &[
            Method { name: "read", parameters: &[], environment: true },
            Method { name: "write", parameters: &[Parameter::Value], environment: true },
            Method { name: "write_if", parameters: &[Parameter::Amount, Parameter::Value], environment: false },
        ]
    }

    fn initial(&self) -> Value {
        (0, 0).to_value()
    }

    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        let Value::Tuple(pair) = &*state else { return Value::None };
        let [Value::Int(version), _] = &pair[..] else { return Value::None };
        let written = |content: &Value| Value::tuple([Value::Int(version + 1), content.clone()]);
        match (call.method, &call.arguments[..]) {
            (READ, []) => state.clone(),
            (WRITE, [content]) => {
                *state = written(content);
                Value::Unit
            }
            (WRITE_IF, [Value::Int(seen), content]) => {
                let current = seen == version;
                if current {
                    *state = written(content);
                }
                Value::Bool(current)
            }
            _ => Value::None,
        }
    }
}

/// Reads and writes.
fn add_one(cell: &Shared<VersionedCell>, (): ()) {
    let (_, content): (i64, i64) = cell.get("read", []);
    cell.call("write", [(content + 1).to_value()]);
}

/// Reads, and writes if nobody has written since.
fn add_one_fixed(cell: &Shared<VersionedCell>, (): ()) {
    loop {
        let (version, content): (i64, i64) = cell.get("read", []);
        if cell.get("write_if", [version.to_value(), (content + 1).to_value()]) {
            return;
        }
    }
}

fn main() -> Result<(), interloper::Misuse> {
    let broken = MethodUnderTest::new("add_one", || Shared::new(VersionedCell), add_one).values([5]);
    let fixed = MethodUnderTest::new("add_one_fixed", || Shared::new(VersionedCell), add_one_fixed).values([5]);
    print!("{}\n{}", broken.check()?, fixed.check()?);
    Ok(())
}
