//! What the tests of several modules need.

use interloper_linearize::schema::Schema;
use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use crate::object::{MethodId, Object, Program};
use crate::systematic::{Partial, Resume};

pub(crate) fn method(object: &Object, name: &str) -> MethodId {
    object.named(name).next().expect("a method")
}

pub(crate) fn program(object: &Object, schema: &str) -> Program {
    object.program(&Schema::parse(schema).expect("a schema")).expect("a schema of the object")
}

/// A register of which `put` takes the old value away before it writes the new one.
pub(crate) fn careless() -> Object {
    Object::describe("careless", || AtomicI64::new(-1))
        .core("put", |cell, (value,): (i64,)| {
            cell.store(-1, SeqCst);
            cell.store(value, SeqCst);
        })
        .core("get", |cell, ()| cell.load(SeqCst))
        .reads()
        .method("look", |cell, ()| cell.load(SeqCst))
        .reads()
        .build()
}

/// Keeps the search after every execution, in the form in which a file has it.
#[derive(Default)]
pub(crate) struct Always {
    pub(crate) earlier: Option<Partial>,
    pub(crate) kept: Vec<String>,
    pub(crate) cannot: u64,
}

impl Resume for Always {
    fn earlier(&mut self) -> Option<Partial> {
        self.earlier.take()
    }

    fn is_due(&mut self) -> bool {
        true
    }

    fn keep(&mut self, partial: Option<Partial>) {
        match partial {
            Some(partial) => self.kept.push(serde_json::to_string(&partial).expect("plain data")),
            None => self.cannot += 1,
        }
    }
}
