//! A described object as the subject of a composed operation: a type of the user's, or of a crate, as it is.

use std::any::type_name;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;

use interloper_collections::session::{DomainKind, Handle, Instrumented, Maker, Needs, Outcome};
use interloper_commutativity::{Datum, Invocation, Method, Model, Parameter, ToValue, Value};
use interloper_harness::object::{Stateful, panicked};
use interloper_harness::{MethodId, Role};

use crate::composed::method::MethodUnderTest;

/// An object of a described type, and what is known of the type: the subject of [`MethodUnderTest::over`].
pub struct Described<T> {
    object: T,
    alone: Arc<Alone<T>>,
}

impl<T, A, R> MethodUnderTest<Described<T>, A, R>
where
    T: Send + Sync + 'static,
    A: Datum,
    R: ToValue,
{
    /// Wraps `method`, called `name` in reports, on an object of a described type as it is: the method takes the type itself.
    /// The environment calls the methods of the description, each atomically. The object run alone is their specification.
    ///
    /// Each call of a method with a mark is one turn: `#[interloper::object]` marks the methods that it describes, and
    /// `cargo interloper` those of crates listed under `calls`. The object must be made of types under control.
    ///
    /// ```
    /// use interloper::objects::Object;
    /// use interloper::sync::Mutex;
    /// use interloper::{MethodUnderTest, Verdict};
    ///
    /// struct Account(Mutex<i64>);
    ///
    /// #[interloper::object]
    /// impl Account {
    ///     #[constructor]
    ///     fn new() -> Account {
    ///         Account(Mutex::new(0))
    ///     }
    ///     #[core]
    ///     fn balance(&self) -> i64 {
    ///         *self.0.lock().unwrap()
    ///     }
    ///     #[core]
    ///     fn add(&self, amount: i64) {
    ///         *self.0.lock().unwrap() += amount;
    ///     }
    /// }
    ///
    /// fn withdraw(account: &Account, amount: i64) -> bool {
    ///     let enough = account.balance() >= amount;
    ///     if enough {
    ///         account.add(-amount); // by now, somebody else may have withdrawn
    ///     }
    ///     enough
    /// }
    ///
    /// let account = Account::object_description().state(Account::balance, |account, balance| {
    ///     *account.0.lock().unwrap() = balance;
    /// });
    /// let report = MethodUnderTest::over("withdraw", account, withdraw).arguments([5]).keys([5, -5]).check()?;
    /// assert_eq!(report.verdict, Verdict::NotLinearizable);
    /// # Ok::<(), interloper::Misuse>(())
    /// ```
    #[track_caller]
    pub fn over(
        name: impl Into<String>,
        object: Stateful<T>,
        method: impl Fn(&T, A) -> R + 'static,
    ) -> MethodUnderTest<Described<T>, A, R> {
        let alone = Arc::new(Alone::new(object));
        let make = move || Described { object: alone.of.make(), alone: Arc::clone(&alone) };
        let place = Location::caller();
        let mut over =
            MethodUnderTest::new(name, make, move |subject: &Described<T>, argument| method(&subject.object, argument));
        over.description.place = place;
        over
    }
}

impl<T: Send + Sync + 'static> Instrumented for Described<T> {
    fn handle(&self) -> &Handle {
        unreachable!("an object as it is is tied to no run")
    }

    fn as_published(&self) -> Option<&'static str> {
        Some(type_name::<T>())
    }

    fn takes(&self, call: &Invocation) -> bool {
        self.alone.of.takes(method_id(call), &call.arguments)
    }

    fn model(&self) -> Arc<dyn Model> {
        Arc::clone(&self.alone) as Arc<dyn Model>
    }

    fn snapshot(&self) -> Value {
        self.alone.of.read(&self.object)
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        if self.alone.of.set(&self.object, state) { Ok(()) } else { Err(state.clone()) }
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        let wrong = || Value::tuple(call.arguments.iter().cloned());
        self.alone.call(&self.object, call).map(Outcome::fixed).ok_or_else(wrong)
    }

    fn needs(&self, _call: &Invocation) -> Needs {
        Needs::Nothing
    }

    /// The methods say which arguments they take: see [`Instrumented::takes`].
    fn domain(&self) -> DomainKind {
        let any = Maker { accepts: |_| true, fresh: fresh_like, arbitrary: |bits| Some(Value::Int((bits % 8) as i64)) };
        DomainKind { key: any, value: any, interior: true }
    }
}

/// A value of the same type as those seen, and different from all of them; an integer if none was seen.
fn fresh_like(seen: &[Value]) -> Option<Value> {
    match seen.iter().find(|value| matches!(value, Value::Text(_))) {
        Some(_) => <String as Datum>::fresh(seen),
        None => <i64 as Datum>::fresh(seen),
    }
}

/// What the methods of a described object do when nothing else runs.
struct Alone<T> {
    of: Stateful<T>,
    methods: Vec<Method>,
}

/// The parameters of a method that takes four; of one that takes fewer, the first of them.
const PARAMETERS: [Parameter; 4] = [Parameter::Key, Parameter::Value, Parameter::Value, Parameter::Value];

impl<T> Alone<T> {
    fn new(of: Stateful<T>) -> Alone<T> {
        let method = |method: &interloper_harness::Method| Method {
            // A model's names live as long as the program. A description is made once, or a few times.
            name: Box::leak(Box::from(&*method.name)),
            parameters: &PARAMETERS[..method.parameters.len().min(PARAMETERS.len())],
            environment: method.role == Role::Core,
        };
        Alone { methods: of.methods().iter().map(method).collect(), of }
    }

    fn call(&self, object: &T, call: &Invocation) -> Option<Value> {
        self.of.call(object, method_id(call), &call.arguments)
    }
}

impl<T: Send + Sync + 'static> Model for Alone<T> {
    fn name(&self) -> &str {
        self.of.name()
    }

    fn methods(&self) -> &[Method] {
        &self.methods
    }

    fn initial(&self) -> Value {
        self.of.read(&self.of.make())
    }

    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        let object = self.of.make();
        self.of.set(&object, state);
        let result = match catch_unwind(AssertUnwindSafe(|| self.call(&object, call))) {
            Ok(result) => result.unwrap_or(Value::None),
            Err(payload) => panicked(payload.downcast_ref::<&str>().copied().unwrap_or_default()),
        };
        *state = self.of.read(&object);
        result
    }
}

fn method_id(call: &Invocation) -> MethodId {
    MethodId(usize::from(call.method.0))
}
