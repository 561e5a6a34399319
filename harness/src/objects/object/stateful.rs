//! A described object whose state can be read and set.

use std::sync::Arc;

use interloper_commutativity::{Datum, Value};

use super::{Description, Method, MethodId, Typed};

/// The description of an object, with a way to read its state and to set it: what a driver needs that calls single methods
/// of objects of its own. Made by [`Description::state`].
pub struct Stateful<T> {
    name: Arc<str>,
    methods: Vec<Method>,
    typed: Typed<T>,
    read: Box<dyn Fn(&T) -> Value + Send + Sync>,
    set: Box<Set<T>>,
}

/// Sets the state of an object. False when the value is not a state.
type Set<T> = dyn Fn(&T, &Value) -> bool + Send + Sync;

impl<T: Send + Sync + 'static> Description<T> {
    /// Says how the state of an object is read, and how it is set. What `read` gives must tell apart all states that the
    /// methods tell apart, and `set` must bring any object into the state that `read` gave.
    pub fn state<S, R, W>(self, read: R, set: W) -> Stateful<T>
    where
        S: Datum,
        R: Fn(&T) -> S + Send + Sync + 'static,
        W: Fn(&T, S) + Send + Sync + 'static,
    {
        Stateful {
            name: self.name,
            methods: self.methods,
            typed: self.typed,
            read: Box::new(move |object| read(object).to_value()),
            set: Box::new(move |object, state| S::from_value(state).map(|state| set(object, state)).is_some()),
        }
    }
}

impl<T> Stateful<T> {
    /// The name of the object.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its methods; a [`MethodId`] is an index into this slice.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// A fresh object.
    pub fn make(&self) -> T {
        (self.typed.constructor)()
    }

    /// Whether a method takes these arguments.
    ///
    /// # Panics
    /// When the method is not one of this object.
    pub fn takes(&self, method: MethodId, arguments: &[Value]) -> bool {
        self.typed.methods[method.0].bind(arguments).is_ok()
    }

    /// Calls a method and gives its result, or `None` when it does not take these arguments.
    ///
    /// # Panics
    /// When the method panics, or is not one of this object.
    pub fn call(&self, object: &T, method: MethodId, arguments: &[Value]) -> Option<Value> {
        let mut call = self.typed.methods[method.0].bind(arguments).ok()?;
        let result = call.call(object);
        Some(call.result(result))
    }

    /// The state of an object.
    pub fn read(&self, object: &T) -> Value {
        (self.read)(object)
    }

    /// Brings an object into a state. False when the value is not a state of such an object.
    pub fn set(&self, object: &T, state: &Value) -> bool {
        (self.set)(object, state)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::Object;

    #[test]
    fn the_state_is_read_and_set() {
        let counter = Object::describe("counter", || Mutex::new(0_i64))
            .core("add", |counter, (amount,): (i64,)| *counter.lock().unwrap() += amount)
            .state(|counter| *counter.lock().unwrap(), |counter, state| *counter.lock().unwrap() = state);
        let object = counter.make();
        assert!(counter.set(&object, &Value::Int(5)) && !counter.set(&object, &Value::text("five")));
        assert_eq!(counter.call(&object, MethodId(0), &[Value::Int(2)]), Some(Value::Unit));
        assert_eq!(counter.read(&object), Value::Int(7));
        assert!(counter.takes(MethodId(0), &[Value::Int(2)]) && !counter.takes(MethodId(0), &[]));
        assert_eq!(counter.call(&object, MethodId(0), &[Value::text("two")]), None);
        assert_eq!((counter.name(), counter.methods().len()), ("counter", 1));
    }
}
