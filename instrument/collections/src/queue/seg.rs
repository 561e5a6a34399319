//! An unbounded queue.

use std::fmt;
use std::sync::{Arc, LazyLock};

use crossbeam::queue as real;
use interloper_commutativity::models::{QueueModel, queue};
use interloper_commutativity::{Datum, Invocation, Method, Model, Specification, ToValue, Value};

use crate::environment::{
    argument, as_it_was_published, as_its_original, contents, domain, maybe_later, parse_list, refill, unknown,
};
use crate::session::{DomainKind, Handle, Instrumented, Outcome};
use crate::task::Kind;

queue! {
    /// [`crossbeam::queue::SegQueue`], instrumented. Each method is one step.
    SegQueue, queue
}

impl<T> SegQueue<T> {
    /// An empty queue.
    pub const fn new() -> SegQueue<T> {
        SegQueue { inner: real::SegQueue::new(), handle: Handle::of(Kind::Queue, 0) }
    }
}

impl<T: ToValue> SegQueue<T> {
    /// Adds `value` at the back. One step.
    #[inline]
    #[track_caller]
    pub fn push(&self, value: T) {
        let Some(site) = self.handle.site() else { return self.inner.push(value) };
        site.step(queue::PUSH, &[value.to_value()], || {
            self.inner.push(value);
            ((), Value::Unit)
        });
    }
}

impl<T> Default for SegQueue<T> {
    fn default() -> Self {
        SegQueue::new()
    }
}

/// A queue whose front an environment never looks at: the original has no method that does.
struct PeeklessModel;

impl Model for PeeklessModel {
    fn name(&self) -> &str {
        QueueModel.name()
    }

    fn methods(&self) -> &[Method] {
        static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| {
            let mut methods = QueueModel.methods().to_vec();
            methods[usize::from(queue::PEEK.0)].environment = false;
            methods
        });
        &METHODS
    }

    fn initial(&self) -> Value {
        QueueModel.initial()
    }

    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        QueueModel.apply(state, call)
    }

    fn specification(&self) -> Option<&Specification> {
        QueueModel.specification()
    }
}

fn model() -> Arc<dyn Model> {
    Arc::new(PeeklessModel)
}

/// The original as it was published. Its calls are heard where the crate is under control.
impl<T: Datum> Instrumented for real::SegQueue<T> {
    as_it_was_published!(std::any::type_name::<Self>());

    fn model(&self) -> Arc<dyn Model> {
        model()
    }

    fn snapshot(&self) -> Value {
        contents(self.len(), || self.pop(), |element| self.push(element))
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        refill(parse_list(state)?, || self.pop(), |element| self.push(element));
        Ok(())
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        let result = match call.method {
            queue::PUSH => {
                self.push(argument(call, 0)?);
                Value::Unit
            }
            queue::POP => return Ok(maybe_later(self.pop().as_ref())),
            queue::PEEK => {
                let elements: Vec<T> = std::iter::from_fn(|| self.pop()).collect();
                let front = maybe_later(elements.first());
                elements.into_iter().for_each(|element| self.push(element));
                return Ok(front);
            }
            queue::LEN => self.len().to_value(),
            queue::IS_EMPTY => Value::Bool(self.is_empty()),
            queue::CLEAR => {
                while self.pop().is_some() {}
                Value::Unit
            }
            queue::CONTAINS => {
                let Value::List(items) = self.snapshot() else { unreachable!("the state of a queue is a list") };
                Value::Bool(items.contains(&argument::<T>(call, 0)?.to_value()))
            }
            _ => return Err(unknown()),
        };
        Ok(Outcome::fixed(result))
    }

    fn domain(&self) -> DomainKind {
        domain::<T, T>()
    }
}

as_its_original!([T: Datum] SegQueue<T>);
