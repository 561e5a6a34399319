//! A user's own data type, given by its sequential model.

use std::fmt;
use std::sync::Arc;

use interloper_commutativity::{Datum, Invocation, MethodId, Model, Value};
use parking_lot::Mutex;

use crate::environment::domain;
use crate::session::{DomainKind, Handle, Instrumented, Outcome};

/// An object that behaves as a [`Model`] says, each call one atomic step: a concurrent data type without its
/// implementation.
///
/// A method under test that composes calls of your own type can be tested as soon as you have written down the type's
/// sequential behaviour.
///
/// ```
/// use interloper_collections::Shared;
/// use interloper_commutativity::models::CounterModel;
/// use interloper_commutativity::ToValue;
///
/// let counter = Shared::new(CounterModel);
/// assert_eq!(counter.call("fetch_add", [5.to_value()]), 0.to_value());
/// assert_eq!(counter.get::<i64>("load", []), 5);
/// ```
pub struct Shared<M> {
    model: Arc<M>,
    state: Mutex<Value>,
    handle: Handle,
    domain: fn() -> DomainKind,
}

impl<M: Model + 'static> Shared<M> {
    /// A fresh object. An environment calls its methods with 64-bit integers.
    pub fn new(model: M) -> Shared<M> {
        Shared::with_domain::<i64, i64>(model)
    }

    /// A fresh object whose methods take keys of type `K` and values of type `V`.
    pub fn with_domain<K: Datum, V: Datum>(model: M) -> Shared<M> {
        let state = Mutex::new(model.initial());
        Shared { model: Arc::new(model), state, handle: Handle::new(), domain: domain::<K, V> }
    }

    /// Calls a method. One step.
    ///
    /// # Panics
    /// When the model has no method of this name, or it takes another number of arguments.
    #[track_caller]
    pub fn call(&self, method: &str, arguments: impl IntoIterator<Item = Value>) -> Value {
        let call = self.invocation(method, arguments.into_iter().collect());
        let Some(site) = self.handle.site() else { return self.run(&call) };
        site.step(call.method, &call.arguments, || {
            let result = self.run(&call);
            (result.clone(), result)
        })
    }

    /// Calls a method and takes its result as an `R`. One step.
    ///
    /// # Panics
    /// As [`Shared::call`], and when the result is not the form of an `R`.
    #[track_caller]
    pub fn get<R: Datum>(&self, method: &str, arguments: impl IntoIterator<Item = Value>) -> R {
        let result = self.call(method, arguments);
        R::from_value(&result).unwrap_or_else(|| {
            panic!(
                "{}::{method} gave {result}, which is not a value of the type {}",
                self.model.name(),
                std::any::type_name::<R>()
            )
        })
    }

    #[track_caller]
    fn invocation(&self, name: &str, arguments: Vec<Value>) -> Invocation {
        let Some(method) = self.model.method_named(name) else {
            panic!("{} has no method {name}", self.model.name());
        };
        let (given, wanted) = (arguments.len(), self.model.method(method).parameters.len());
        assert!(given == wanted, "{}::{name} takes {wanted} arguments, not {given}", self.model.name());
        Invocation { method, arguments }
    }
}

impl<M: Model> Shared<M> {
    fn run(&self, call: &Invocation) -> Value {
        self.with_state(|state| self.model.apply(state, call))
    }

    /// The state is consistent even after a panic of the model: the next call sees what the panicked call left.
    fn with_state<R>(&self, work: impl FnOnce(&mut Value) -> R) -> R {
        work(&mut self.state.lock())
    }
}

impl<M: Model> fmt::Debug for Shared<M> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_state(|state| write!(out, "{} {state}", self.model.name()))
    }
}

impl<M: Model + 'static> Instrumented for Shared<M> {
    fn handle(&self) -> &Handle {
        &self.handle
    }

    fn model(&self) -> Arc<dyn Model> {
        Arc::clone(&self.model) as Arc<dyn Model>
    }

    fn snapshot(&self) -> Value {
        self.with_state(|state| state.clone())
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        self.with_state(|old| *old = state.clone());
        Ok(())
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        let MethodId(index) = call.method;
        if usize::from(index) >= self.model.methods().len() {
            return Err(crate::environment::unknown());
        }
        Ok(Outcome::fixed(self.run(call)))
    }

    fn domain(&self) -> DomainKind {
        (self.domain)()
    }
}

#[cfg(test)]
mod tests {
    use interloper_commutativity::models::{CounterModel, MapModel, map};
    use interloper_commutativity::{Method, Parameter, ToValue};

    use super::*;
    use crate::session::Needs;
    use crate::testing::{Recorder, check_environment};

    /// A bank account: `withdraw` gives whether there was enough.
    struct Account;

    impl Model for Account {
        fn name(&self) -> &str {
            "account"
        }

        fn methods(&self) -> &[Method] {
            &[
                Method { name: "deposit", parameters: &[Parameter::Amount], environment: true },
                Method { name: "withdraw", parameters: &[Parameter::Amount], environment: true },
            ]
        }

        fn initial(&self) -> Value {
            Value::Int(0)
        }

        fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
            let (Value::Int(balance), [Value::Int(amount)]) = (&mut *state, &call.arguments[..]) else {
                return Value::None;
            };
            let change = if call.method == MethodId(0) { *amount } else { -*amount };
            if *balance + change < 0 {
                return Value::Bool(false);
            }
            *balance += change;
            Value::Bool(true)
        }
    }

    #[test]
    fn each_call_is_one_step() {
        let recorder = Recorder::new();
        let account = recorder.make(|| Shared::new(Account));
        let (enough, log) = recorder.run(|| {
            account.call("deposit", [5.to_value()]);
            account.get::<bool>("withdraw", [7.to_value()])
        });
        assert!(!enough);
        assert_eq!(log, ["? deposit(5) -", "deposit(5) -> true", "? withdraw(7) -", "withdraw(7) -> false"]);
        assert_eq!(account.snapshot(), Value::Int(5));
        assert_eq!(format!("{account:?}"), "account 5");
    }

    #[test]
    fn outside_a_run_it_is_the_model() {
        let account = Shared::new(Account);
        assert_eq!(account.call("deposit", [5.to_value()]), Value::Bool(true));
        assert!(account.get::<bool>("withdraw", [5.to_value()]));
        assert_eq!(account.snapshot(), Value::Int(0));
    }

    #[test]
    fn environment_operations_do_what_the_model_does() {
        // deposit and withdraw of 1 or 2; from balances of 0 to 4.
        assert_eq!(check_environment(&Shared::new(Account), &[]), 5 * 4);
        let map_calls = 3 * 2 + 4 * 4 + 8 + 3 + 3 + 2;
        assert_eq!(check_environment(&Shared::new(MapModel), &[]), 9 * map_calls);
        assert!(Shared::new(Account).apply(&Invocation::new(MethodId(2), [])).is_err());
        assert_eq!(Shared::new(MapModel).needs(&Invocation::new(map::LEN, [])), Needs::Nothing);
    }

    #[test]
    fn the_domain_is_that_of_the_types() {
        let shared = Shared::with_domain::<String, bool>(CounterModel);
        assert!((shared.domain().key.accepts)(&Value::text("a")));
        assert!(!(shared.domain().value.accepts)(&Value::Int(1)));
        assert!((Shared::new(CounterModel).domain().value.accepts)(&Value::Int(1)));
    }

    #[test]
    #[should_panic(expected = "account has no method close")]
    fn an_unknown_method_is_named() {
        Shared::new(Account).call("close", []);
    }

    #[test]
    #[should_panic(expected = "account::deposit takes 1 arguments, not 0")]
    fn a_wrong_number_of_arguments_is_named() {
        Shared::new(Account).call("deposit", []);
    }
}
