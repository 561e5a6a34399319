//! The invocations of a program on one thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use interloper_commutativity::Value;
use rustc_hash::FxHashMap;

use super::{Call, Typed};
use crate::panics;

/// The sequential behaviour of an object, as far as one program can show it: its invocations are run on one thread, on a
/// fresh object, in any order and selection.
///
/// Runs are remembered: no sequence of invocations is run twice, nor is one that another begins with.
pub struct Sequential {
    calls: Box<dyn Run>,
    /// The results of the sequences that were run.
    known: FxHashMap<Vec<u8>, Arc<[Value]>>,
}

/// Calls that can be run on one thread.
pub(crate) trait Run: Send {
    /// The results of these calls, in this order, on a fresh object. The message of the panic when there is no object.
    fn run(&mut self, order: &[u8]) -> Result<Vec<Value>, String>;
}

impl Sequential {
    pub(super) fn new(calls: Box<dyn Run>) -> Sequential {
        Sequential { calls, known: FxHashMap::default() }
    }

    /// The results of the invocations with these indices in text order, run in this order on a fresh object.
    ///
    /// # Errors
    /// When no object can be made: what the panic of its constructor says.
    pub fn results(&mut self, order: &[u8]) -> Result<Arc<[Value]>, String> {
        if let Some(known) = self.known.get(order) {
            return Ok(known.clone());
        }
        let results: Arc<[Value]> = self.calls.run(order)?.into();
        self.known.insert(order.to_vec(), results.clone());
        Ok(results)
    }

    /// Runs a sequence again, and says whether the results are the same. When they are not, the object's behaviour is not
    /// determined by what was called before, and it cannot be its own specification.
    ///
    /// # Errors
    /// When no object can be made: what the panic of its constructor says.
    pub fn repeats(&mut self, order: &[u8]) -> Result<bool, String> {
        let before = self.results(order)?;
        Ok(self.calls.run(order)?[..] == before[..])
    }
}

/// Calls on objects of a known type.
pub(super) struct Calls<T> {
    pub(super) typed: Arc<Typed<T>>,
    pub(super) calls: Vec<Box<dyn Call<T>>>,
}

impl<T> Run for Calls<T> {
    fn run(&mut self, order: &[u8]) -> Result<Vec<Value>, String> {
        panics::quietly(|| {
            let object = panics::caught(|| (self.typed.constructor)())?;
            let mut results = Vec::with_capacity(order.len());
            for &index in order {
                let call = &mut self.calls[usize::from(index)];
                let number = match catch_unwind(AssertUnwindSafe(|| call.call(&object))) {
                    Ok(number) => number,
                    Err(payload) => call.panicked(&panics::message(&*payload)),
                };
                results.push(call.result(number));
            }
            panics::caught(move || drop(object))?;
            Ok(results)
        })
    }
}
