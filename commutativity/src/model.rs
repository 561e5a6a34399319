//! Abstract data types as sequential models.

use crate::{Specification, Value};

/// Which method of a [`Model`]: its index in [`Model::methods`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodId(pub u8);

/// What a parameter ranges over: the environment draws its arguments from the domain of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A key of a map, an element of a set.
    Key,
    /// A value of a map, an element of a queue or stack, the content of a register.
    Value,
    /// What a counter is changed by.
    Amount,
    /// Where an iteration stands: the key that it has just visited, or `none` before the first. It ranges over `none`
    /// and the keys; a key that could itself be mistaken for `none` is written as [`Value::option`] writes it.
    Cursor,
}

/// The signature of one method of a [`Model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// The name as users of the Rust type know it, `insert` for example.
    pub name: &'static str,
    /// Its parameters, in order.
    pub parameters: &'static [Parameter],
    /// Whether an open environment uses it. A method that adds nothing to what the others can do to a method under
    /// test (`contains_key` beside `get`) or that stands for an unknown function is left to the method under test.
    pub environment: bool,
}

/// One call of a method: which one, and the arguments in the order of [`Method::parameters`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Invocation {
    /// The method.
    pub method: MethodId,
    /// Its arguments.
    pub arguments: Vec<Value>,
}

impl Invocation {
    /// A call of `method` with `arguments`.
    pub fn new(method: MethodId, arguments: impl IntoIterator<Item = Value>) -> Invocation {
        Invocation { method, arguments: arguments.into_iter().collect() }
    }

    /// The call as text, `insert(7, 12)` for example.
    pub fn text(&self, model: &dyn Model) -> String {
        let arguments: Vec<String> = self.arguments.iter().map(Value::to_string).collect();
        format!("{}({})", model.method(self.method).name, arguments.join(", "))
    }
}

/// The sequential behaviour of an abstract data type. States and results are plain [`Value`]s.
///
/// Implementing this is all that a user's own type needs: without a [`Specification`], non-commutativity is decided
/// by running both orders ([`crate::commute`]).
pub trait Model: Send + Sync {
    /// The type's name, `map` for example.
    fn name(&self) -> &str;

    /// The methods; a [`MethodId`] is an index into this slice.
    fn methods(&self) -> &[Method];

    /// The state of a fresh object.
    fn initial(&self) -> Value;

    /// Runs one call: changes `state` and gives the result. Deterministic and total: a call that the type refuses
    /// gives a result that says so and leaves the state.
    fn apply(&self, state: &mut Value, call: &Invocation) -> Value;

    /// The non-commutativity table, where there is one.
    fn specification(&self) -> Option<&Specification> {
        None
    }

    /// The signature of `method`.
    ///
    /// # Panics
    /// When `method` is not one of this model.
    fn method(&self, method: MethodId) -> &Method {
        &self.methods()[usize::from(method.0)]
    }

    /// The method called `name`.
    fn method_named(&self, name: &str) -> Option<MethodId> {
        let index = self.methods().iter().position(|method| method.name == name)?;
        u8::try_from(index).ok().map(MethodId)
    }
}
