//! Concurrent objects, as their users describe them.

mod argument;
mod call;
pub(crate) mod sequential;
mod stateful;

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use interloper_commutativity::{ToValue, Value};
use interloper_linearize::schema::{Mistake, Schema};
use interloper_linearize::types::DataType;
use interloper_linearize::visibility::{Level, Visibility};

pub use argument::{Argument, Arguments, Atom, COLLECTIONS_UP_TO, Generator, WrongArguments};
pub use call::panicked;
pub(crate) use call::{AnyCall, Bind, Call, OfType};
pub use sequential::{Sequential, State, Trouble};
pub use stateful::Stateful;

use crate::stress::team::Batch;
use call::Function;
use sequential::{Calls, Waits};

/// A concurrent object: its constructor and its methods.
///
/// ```
/// use std::sync::Mutex;
/// use interloper_harness::Object;
///
/// let counter = Object::describe("counter", || Mutex::new(0_i64))
///     .core("add", |counter, (amount,): (i64,)| *counter.lock().unwrap() += amount)
///     .core("get", |counter, ()| *counter.lock().unwrap())
///     .reads()
///     .method("take", |counter, ()| std::mem::take(&mut *counter.lock().unwrap()))
///     .build();
/// assert_eq!(counter.methods().len(), 3);
/// ```
#[derive(Clone)]
pub struct Object {
    name: Arc<str>,
    methods: Arc<[Method]>,
    data_independent: bool,
    visibility: Visibility,
    model: Option<&'static DataType>,
    erased: Arc<dyn Erased>,
    waits: Arc<Waits>,
    /// Schemas call them only where they are under test.
    left_out: Arc<BTreeSet<MethodId>>,
}

/// Which method of an [`Object`]: its index in [`Object::methods`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodId(pub usize);

/// The description of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// Its name. Methods may share a name when they take different numbers of arguments.
    pub name: Arc<str>,
    /// Whether the method is assumed to be atomic, or under test.
    pub role: Role,
    /// Whether it never changes the object.
    pub reads: bool,
    /// The generators of its arguments.
    pub parameters: Vec<Generator>,
}

/// What a method is to a check (*Exposing non-atomic methods*, section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Trusted: when a harness of core methods and one other method shows a violation, the other method is to blame.
    Core,
    /// Under test.
    UnderTest,
    /// Called once after everything else, on one thread, so that what the others left behind has to be right, too: for example
    /// that nothing was lost and nothing is there twice. Schemas call it by themselves.
    Postcondition,
}

impl Object {
    /// Begins the description of an object; `constructor` creates a fresh object.
    pub fn describe<T, C>(name: &str, constructor: C) -> Description<T>
    where
        T: Send + Sync + 'static,
        C: Fn() -> T + Send + Sync + 'static,
    {
        Description {
            name: name.into(),
            typed: Typed { constructor: Box::new(constructor), methods: Vec::new() },
            methods: Vec::new(),
            data_independent: false,
            visibility: Visibility::complete(),
            model: None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its methods; a [`MethodId`] is an index into this slice.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The method.
    ///
    /// # Panics
    /// When it is not one of this object.
    pub fn method(&self, method: MethodId) -> &Method {
        &self.methods[method.0]
    }

    /// The methods with this role.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = MethodId> {
        let with_role = move |&index: &usize| self.methods[index].role == role;
        (0..self.methods.len()).filter(with_role).map(MethodId)
    }

    /// The methods that schemas call beside the one under test: the core methods, or all methods under test of an object that
    /// has no core methods. Of these nobody says that they are atomic.
    pub fn beside(&self) -> Vec<MethodId> {
        self.before().into_iter().filter(|method| !self.left_out.contains(method)).collect()
    }

    /// The methods that may be called before all others, on one thread: those beside a method under test, and those that are left out
    /// there. Without these, a map would stay empty because its `insert` is at fault.
    pub fn before(&self) -> Vec<MethodId> {
        let core: Vec<MethodId> = self.with_role(Role::Core).collect();
        if core.is_empty() { self.with_role(Role::UnderTest).collect() } else { core }
    }

    /// The methods that schemas do not call beside other calls.
    pub fn left_out(&self) -> &BTreeSet<MethodId> {
        &self.left_out
    }

    /// The same object, of which schemas do not call these methods beside other calls.
    #[must_use]
    pub fn without(&self, methods: &BTreeSet<MethodId>) -> Object {
        Object { left_out: Arc::new(self.left_out.union(methods).copied().collect()), ..self.clone() }
    }

    /// The methods with this name: several when it is overloaded.
    pub fn named(&self, name: &str) -> impl Iterator<Item = MethodId> {
        let named = move |&index: &usize| *self.methods[index].name == *name;
        (0..self.methods.len()).filter(named).map(MethodId)
    }

    /// The name of a method, with the number of its arguments if other methods have the same name: `remove/1`.
    ///
    /// # Panics
    /// When it is not one of this object.
    pub fn label(&self, method: MethodId) -> String {
        let Method { name, parameters, .. } = self.method(method);
        match self.named(name).count() {
            1 => name.to_string(),
            _ => format!("{name}/{}", parameters.len()),
        }
    }

    /// Whether renaming the atoms of a harness renames its outcomes and changes nothing else.
    pub fn data_independent(&self) -> bool {
        self.data_independent
    }

    /// The visibility of its methods: complete, unless the description says otherwise.
    pub fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    /// The type that describes its sequential behaviour, if one was given.
    pub fn model(&self) -> Option<&'static DataType> {
        self.model
    }

    /// Makes a schema ready to be run.
    ///
    /// # Errors
    /// When the object has no such method, or no such method with these arguments. If the schema has a text, the error
    /// names the place.
    pub fn program(&self, schema: &Schema) -> Result<Program, Mistake> {
        let mut calls = Vec::with_capacity(schema.len());
        for (index, invocation) in schema.invocations().enumerate() {
            let call = self.resolve(&invocation.method, &invocation.arguments);
            let call = call.map_err(|reason| schema.mistake(index, format!("in {}: {reason}", self.name)))?;
            calls.push((call, invocation.arguments.clone()));
        }
        Ok(Program { object: self.clone(), schema: schema.clone(), calls })
    }

    /// The method that a call with this name and these arguments calls.
    fn resolve(&self, name: &str, arguments: &[Value]) -> Result<MethodId, String> {
        let named: Vec<MethodId> = self.named(name).collect();
        if named.is_empty() {
            let mut names: Vec<&str> = self.methods.iter().map(|method| &*method.name).collect();
            names.sort_unstable();
            names.dedup();
            return Err(format!("there is no method {name}; there are {}", names.join(", ")));
        }
        let taking = |&&method: &&MethodId| self.method(method).parameters.len() == arguments.len();
        let Some(&method) = named.iter().find(taking) else {
            let mut counts: Vec<usize> = named.iter().map(|&method| self.method(method).parameters.len()).collect();
            counts.sort_unstable();
            let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
            return Err(format!("{name} takes {} arguments, not {}", counts.join(" or "), arguments.len()));
        };
        match self.erased.check(method, arguments) {
            Ok(()) => Ok(method),
            Err(WrongArguments::Count { expected }) => {
                Err(format!("{name} takes {expected} arguments, not {}", arguments.len()))
            }
            Err(WrongArguments::Type { index, expected }) => {
                Err(format!("argument {} of {name} is a {expected}, not {}", index + 1, arguments[index]))
            }
        }
    }

    /// What is known of its calls that wait. All clones of the object share it.
    pub(crate) fn waits(&self) -> &Waits {
        &self.waits
    }

    pub(crate) fn erased(&self) -> &Arc<dyn Erased> {
        &self.erased
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Object").field("name", &self.name).field("methods", &self.methods).finish_non_exhaustive()
    }
}

/// A schema whose calls are resolved to the methods of an object.
#[derive(Clone, Debug)]
pub struct Program {
    object: Object,
    schema: Schema,
    /// In text order.
    calls: Vec<Invoked>,
}

impl Program {
    /// The object.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The method and arguments of each invocation, in text order.
    pub fn calls(&self) -> &[Invoked] {
        &self.calls
    }

    /// Its invocations on one thread, in any order and selection.
    pub fn sequential(&self) -> Sequential {
        let reads = self.calls.iter().map(|&(method, _)| self.object.method(method).reads).collect();
        let calls = Calls::new(&self.object.erased, &self.calls);
        Sequential::new(calls, reads, self.schema.predecessors(), self.object.waits.is_under_control())
    }
}

/// A call of a program: the method, and the arguments.
pub(crate) type Invoked = (MethodId, Vec<Value>);

/// What can be done with an object whose type is not known. Whatever follows from it is compiled once, and not in the crate of a user for
/// each object.
pub(crate) trait Erased: Send + Sync {
    /// Whether a method takes these arguments.
    fn check(&self, method: MethodId, arguments: &[Value]) -> Result<(), WrongArguments>;

    /// A new object.
    fn make(&self) -> Rc<dyn Any>;

    /// Calls ready to be made on objects that [`Erased::make`] gives.
    fn bind(&self, calls: &[Invoked]) -> Vec<Box<dyn AnyCall>>;

    /// The objects of a team of the stress engine, with the calls of each lane and segment.
    fn batch(&self, lanes: &[Vec<&[Invoked]>]) -> Box<dyn Batch>;
}

/// An object whose type is known.
pub(crate) struct Typed<T> {
    pub(crate) constructor: Box<dyn Fn() -> T + Send + Sync>,
    pub(crate) methods: Vec<Box<dyn Bind<T>>>,
}

impl<T> Typed<T> {
    /// Calls that [`Erased::check`] accepts.
    pub(crate) fn bind(&self, calls: &[Invoked]) -> Vec<Box<dyn Call<T>>> {
        let bind = |(method, arguments): &Invoked| {
            self.methods[method.0].bind(arguments).expect("the arguments of a program are checked")
        };
        calls.iter().map(bind).collect()
    }
}

/// The unfinished description of an [`Object`]. Details of a method follow right after its name.
#[must_use = "`build` makes an object of it"]
pub struct Description<T> {
    name: Arc<str>,
    typed: Typed<T>,
    methods: Vec<Method>,
    data_independent: bool,
    visibility: Visibility,
    model: Option<&'static DataType>,
}

impl<T: Send + Sync + 'static> Description<T> {
    /// Adds a core method, which is assumed to be atomic. The arguments are a tuple, `(key, value)` or `(key,)` or `()`.
    pub fn core<F, A, R>(self, name: &str, method: F) -> Self
    where
        F: Fn(&T, A) -> R + Send + Sync + 'static,
        A: Arguments,
        R: ToValue + PartialEq + Send + 'static,
    {
        self.add(name, Role::Core, method)
    }

    /// Adds a method under test.
    pub fn method<F, A, R>(self, name: &str, method: F) -> Self
    where
        F: Fn(&T, A) -> R + Send + Sync + 'static,
        A: Arguments,
        R: ToValue + PartialEq + Send + 'static,
    {
        self.add(name, Role::UnderTest, method)
    }

    /// Adds a call that comes after all others of a schema, on one thread: a look at what they have left, such as the number
    /// of elements, or all of them. Its result has to be that of a sequential order, like the results of the others.
    pub fn postcondition<F, R>(self, name: &str, look: F) -> Self
    where
        F: Fn(&T) -> R + Send + Sync + 'static,
        R: ToValue + PartialEq + Send + 'static,
    {
        self.add(name, Role::Postcondition, move |object, ()| look(object))
    }

    /// Adds a postcondition that says whether what the calls have left is consistent: fields that belong together agree, say. It
    /// is a violation if this is false although no sequential order with the same results of the calls leaves it false.
    pub fn invariant(self, name: &str, holds: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        self.postcondition(name, holds)
    }

    fn add<F, A, R>(mut self, name: &str, role: Role, method: F) -> Self
    where
        F: Fn(&T, A) -> R + Send + Sync + 'static,
        A: Arguments,
        R: ToValue + PartialEq + Send + 'static,
    {
        add_method(&mut self.methods, name, role, A::generators());
        self.typed.methods.push(Box::new(Function::new(method)));
        self
    }

    /// The method named last never changes the object.
    ///
    /// # Panics
    /// When no method is named yet.
    pub fn reads(mut self) -> Self {
        self.last().reads = true;
        self
    }

    /// Sets the generators for the arguments of the method named last.
    ///
    /// # Panics
    /// When no method is named yet, or the method takes a different number of arguments.
    pub fn arguments(mut self, generators: impl IntoIterator<Item = Generator>) -> Self {
        let last = self.last();
        let generators: Vec<Generator> = generators.into_iter().collect();
        assert_eq!(generators.len(), last.parameters.len(), "{} takes another number of arguments", last.name);
        last.parameters = generators;
        self
    }

    /// Says that renaming values renames outcomes and changes nothing else. This holds for maps, sets and queues that
    /// only compare values for equality, and not for objects that sort or count values. Then one of several harnesses
    /// that are equal up to a renaming is enough.
    ///
    /// It has no effect where an argument is one of a few values, as an `Option<u64>` is: these are not renamed.
    pub fn data_independent(mut self) -> Self {
        self.data_independent = true;
        self
    }

    /// Says that the method named last, with all methods of the same name, is deliberately not atomic and has this
    /// visibility.
    ///
    /// # Panics
    /// When no method is named yet.
    pub fn sees(mut self, level: Level) -> Self {
        let name = self.last().name.clone();
        self.visibility.set(&name, vec![level.into()]);
        self
    }

    /// Says that the object behaves sequentially like this type, whose methods have the same names. Without a model, the
    /// object itself runs on one thread to give the correct outcomes (Violat, section 4).
    pub fn model(mut self, model: &'static DataType) -> Self {
        self.model = Some(model);
        self
    }

    fn last(&mut self) -> &mut Method {
        self.methods.last_mut().expect("a method is named first")
    }

    /// The object.
    pub fn build(self) -> Object {
        let mut arguments = self.methods.iter().flat_map(|method| &method.parameters);
        let data_independent = self.data_independent && !arguments.any(Generator::is_bound_to_values);
        Object {
            name: self.name,
            methods: self.methods.into(),
            data_independent,
            visibility: self.visibility,
            model: self.model,
            erased: Arc::new(Arc::new(self.typed)),
            waits: Arc::default(),
            left_out: Arc::default(),
        }
    }
}

fn add_method(methods: &mut Vec<Method>, name: &str, role: Role, parameters: Vec<Generator>) {
    let clash = |other: &Method| *other.name == *name && other.parameters.len() == parameters.len();
    assert!(!methods.iter().any(clash), "{name} with {} arguments is described twice", parameters.len());
    methods.push(Method { name: name.into(), role, reads: false, parameters });
}

impl<T: Send + Sync + 'static> From<Description<T>> for Object {
    fn from(description: Description<T>) -> Object {
        description.build()
    }
}
