//! Hands an object, whose type is known here, to the engines.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use interloper_commutativity::Value;

use crate::object::{AnyCall, Erased, Invoked, MethodId, OfType, Typed, WrongArguments};
use crate::stress::objects::Objects;
use crate::stress::team::Batch;

impl<T: Send + Sync + 'static> Erased for Arc<Typed<T>> {
    fn check(&self, method: MethodId, arguments: &[Value]) -> Result<(), WrongArguments> {
        self.methods[method.0].bind(arguments).map(drop)
    }

    fn make(&self) -> Rc<dyn Any> {
        Rc::new((self.constructor)())
    }

    fn bind(&self, calls: &[Invoked]) -> Vec<Box<dyn AnyCall>> {
        let mut bound: Vec<Box<dyn AnyCall>> = Vec::with_capacity(calls.len());
        for call in Typed::bind(self, calls) {
            bound.push(Box::new(OfType(call)));
        }
        bound
    }

    fn batch(&self, lanes: &[Vec<&[Invoked]>]) -> Box<dyn Batch> {
        Box::new(Objects::new(self.clone(), lanes))
    }
}
