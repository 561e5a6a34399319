//! A queue with a capacity.

use std::fmt;
use std::sync::Arc;

use crossbeam::queue as real;
use interloper_commutativity::models::{BoundedQueueModel, bounded_queue as queue};
use interloper_commutativity::{Datum, Invocation, Model, ToValue, Value};

use crate::environment::{
    argument, as_it_was_published, as_its_original, contents, domain, maybe_later, parse_list, refill, unknown,
};
use crate::session::{DomainKind, Handle, Instrumented, Outcome};
use crate::task::Kind;

queue! {
    /// [`crossbeam::queue::ArrayQueue`], instrumented. Each method is one step, except `capacity`, which makes no step.
    ArrayQueue, queue
}

impl<T> ArrayQueue<T> {
    /// An empty queue for at most `capacity` elements.
    ///
    /// # Panics
    /// When `capacity` is 0.
    pub fn new(capacity: usize) -> ArrayQueue<T> {
        ArrayQueue { inner: real::ArrayQueue::new(capacity), handle: Handle::of(Kind::BoundedQueue, 0) }
    }

    /// How many elements there can be. No step: it never changes.
    pub fn capacity(&self) -> usize {
        self.inner.capacity()
    }
}

impl<T: ToValue> ArrayQueue<T> {
    /// Adds `value` at the back. One step.
    ///
    /// # Errors
    /// `value`, when the queue is full.
    #[inline]
    #[track_caller]
    pub fn push(&self, value: T) -> Result<(), T> {
        let Some(site) = self.handle.site() else { return self.inner.push(value) };
        site.step(queue::PUSH, &[value.to_value()], || {
            let result = self.inner.push(value);
            let form = result.to_value();
            (result, form)
        })
    }

    /// Adds `value` at the back; removes and returns the front when the queue is full. One step.
    #[inline]
    #[track_caller]
    pub fn force_push(&self, value: T) -> Option<T> {
        let Some(site) = self.handle.site() else { return self.inner.force_push(value) };
        site.step(queue::FORCE_PUSH, &[value.to_value()], || {
            let evicted = self.inner.force_push(value);
            let form = evicted.to_value();
            (evicted, form)
        })
    }

    /// Whether there is no room. One step.
    #[inline]
    #[track_caller]
    pub fn is_full(&self) -> bool {
        let Some(site) = self.handle.reader() else { return self.inner.is_full() };
        site.step(queue::IS_FULL, &[], || {
            let full = self.inner.is_full();
            (full, Value::Bool(full))
        })
    }
}

fn model(capacity: usize) -> Arc<dyn Model> {
    Arc::new(BoundedQueueModel::new(capacity))
}

/// The original as it was published. Its calls are heard where the crate is under control.
impl<T: Datum> Instrumented for real::ArrayQueue<T> {
    as_it_was_published!(std::any::type_name::<Self>());

    fn model(&self) -> Arc<dyn Model> {
        model(self.capacity())
    }

    fn snapshot(&self) -> Value {
        contents(self.len(), || self.pop(), |element| put(self, element))
    }

    /// # Errors
    /// A state with more elements than there is room for is an error, too.
    fn restore(&self, state: &Value) -> Result<(), Value> {
        let elements: Vec<T> = parse_list(state)?;
        if elements.len() > self.capacity() {
            return Err(state.clone());
        }
        refill(elements, || self.pop(), |element| put(self, element));
        Ok(())
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        let result = match call.method {
            queue::PUSH => self.push(argument(call, 0)?).to_value(),
            queue::FORCE_PUSH => return Ok(maybe_later(self.force_push(argument(call, 0)?).as_ref())),
            queue::POP => return Ok(maybe_later(self.pop().as_ref())),
            queue::LEN => self.len().to_value(),
            queue::IS_EMPTY => Value::Bool(self.is_empty()),
            queue::IS_FULL => Value::Bool(self.is_full()),
            queue::CAPACITY => self.capacity().to_value(),
            _ => return Err(unknown()),
        };
        Ok(Outcome::fixed(result))
    }

    fn domain(&self) -> DomainKind {
        domain::<T, T>()
    }
}

/// Puts an element back for which there was room.
fn put<T>(queue: &real::ArrayQueue<T>, element: T) {
    let full = queue.push(element).is_err();
    debug_assert!(!full, "there was room for it");
}

as_its_original!([T: Datum] ArrayQueue<T>);
