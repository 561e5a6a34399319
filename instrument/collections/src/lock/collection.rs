//! The possible contents of an instrumented lock.

use std::sync::Arc;

use interloper_commutativity::{Datum, Invocation, MethodId, Model, Value};

use crate::session::{DomainKind, Outcome};

/// A sequential collection with an abstract type: what the environment does to it between critical sections.
///
/// | type | abstract type |
/// |---|---|
/// | `HashMap`, `BTreeMap` | map, sorted map |
/// | `HashSet`, `BTreeSet` | set, sorted set |
/// | `VecDeque` | deque |
/// | `Vec` | stack |
/// | `BinaryHeap` | priority queue |
/// | integers, `bool`, `char`, `String`, `()`, `Option`, and whatever is a [`Record`] | register |
pub trait StdCollection {
    /// The abstract type.
    fn model(&self) -> Arc<dyn Model>;

    /// The abstract state.
    fn state(&self) -> Value;

    /// Makes the abstract state `state`.
    ///
    /// # Errors
    /// The part of the state that is not a key or a value of the collection's types. The collection may then have any
    /// state.
    fn restore(&mut self, state: &Value) -> Result<(), Value>;

    /// Whether `method` leaves the state as it is.
    fn reads(method: MethodId) -> bool;

    /// Runs a call of a method that reads.
    ///
    /// # Errors
    /// The argument that is not a key or a value of the collection's types, or that there is no such method.
    fn look_up(&self, call: &Invocation) -> Result<Outcome, Value>;

    /// Runs a call of a method that does not only read.
    ///
    /// # Errors
    /// As for [`StdCollection::look_up`]; in that case nothing has happened.
    fn change(&mut self, call: &Invocation) -> Result<Outcome, Value>;

    /// How keys and values are made.
    fn domain() -> DomainKind;

    /// Runs a call of any method.
    ///
    /// # Errors
    /// As for [`StdCollection::look_up`]; in that case nothing has happened.
    fn apply(&mut self, call: &Invocation) -> Result<Outcome, Value> {
        if Self::reads(call.method) { self.look_up(call) } else { self.change(call) }
    }
}

/// A value that a lock keeps as a whole: the environment replaces it by another one.
///
/// ```
/// use interloper_collections::{Mutex, Record};
/// use interloper_commutativity::datum;
///
/// #[derive(Clone)]
/// struct Window {
///     begin: u64,
///     hits: u32,
/// }
///
/// datum! { [] Window: Window { begin: begin, hits: hits } }
/// impl Record for Window {}
///
/// let window = Mutex::new(Window { begin: 7, hits: 0 });
/// assert_eq!(window.lock().unwrap().begin, 7);
/// ```
pub trait Record: Datum {}
