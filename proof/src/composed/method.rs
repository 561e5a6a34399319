//! What the suite says of a method under test, over collections as they are: the names are those of `interloper`.

use std::sync::Arc;

use interloper_commutativity::{Datum, ToValue, Value};
use interloper_harness::Object;

use super::check::{Checked, Environment, check};

/// What a method is expected to be, and turns out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Atomic, as far as was looked.
    Linearizable,
    /// Not atomic.
    NotLinearizable,
    /// Not atomic, but in the environment of its program.
    Modular,
}

/// The settings that matter here.
pub struct Settings {
    /// So many operations of the environment at most.
    pub bound: usize,
    /// So many operations that lead to an initial state at most.
    pub initial_size: usize,
}

type Method<S, A, R> = Arc<dyn Fn(&S, A) -> R + Send + Sync>;

/// A composed operation.
pub struct MethodUnderTest<S, A, R> {
    make: Arc<dyn Fn() -> S + Send + Sync>,
    method: Method<S, A, R>,
    beside: Vec<(String, Method<S, A, R>)>,
    arguments: Vec<A>,
    keys: Vec<Value>,
    values: Vec<Value>,
    without: Vec<String>,
    settings: Settings,
}

impl<S, A, R> MethodUnderTest<S, A, R> {
    pub fn new(
        _name: &str,
        make: impl Fn() -> S + Send + Sync + 'static,
        method: impl Fn(&S, A) -> R + Send + Sync + 'static,
    ) -> MethodUnderTest<S, A, R> {
        MethodUnderTest {
            make: Arc::new(make),
            method: Arc::new(method),
            beside: vec![],
            arguments: vec![],
            keys: vec![],
            values: vec![],
            without: vec![],
            settings: Settings { bound: 3, initial_size: 2 },
        }
    }

    pub fn arguments(self, arguments: impl IntoIterator<Item = A>) -> Self {
        MethodUnderTest { arguments: arguments.into_iter().collect(), ..self }
    }

    pub fn keys<K: ToValue>(self, keys: impl IntoIterator<Item = K>) -> Self {
        MethodUnderTest { keys: keys.into_iter().map(|key| key.to_value()).collect(), ..self }
    }

    pub fn values<V: ToValue>(self, values: impl IntoIterator<Item = V>) -> Self {
        MethodUnderTest { values: values.into_iter().map(|value| value.to_value()).collect(), ..self }
    }

    pub fn names<N>(self, _names: impl IntoIterator<Item = N>) -> Self {
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.without.push(name.to_owned());
        self
    }

    pub fn beside(mut self, name: &str, method: impl Fn(&S, A) -> R + Send + Sync + 'static) -> Self {
        self.beside.push((name.to_owned(), Arc::new(method)));
        self
    }

    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }
}

/// A collection as it is.
pub trait Real: Send + Sync + Sized + 'static {
    /// What an environment does with it. None for what is not looked at here.
    fn collection() -> Option<Collection<Self>> {
        None
    }
}

/// What an environment does with a map.
pub struct Collection<S> {
    pub is_key: fn(&Value) -> bool,
    pub is_value: fn(&Value) -> bool,
    pub fresh_key: fn(&[Value]) -> Option<Value>,
    pub fresh_value: fn(&[Value]) -> Option<Value>,
    pub get: fn(&S, &Value) -> Value,
    pub insert: fn(&S, &Value, &Value) -> Value,
    pub insert_if_absent: fn(&S, &Value, &Value) -> Value,
    pub remove: fn(&S, &Value) -> Value,
    /// The entries as pairs.
    pub entries: fn(&S) -> Vec<(Value, Value)>,
}

/// A method, whatever its types.
pub trait Check {
    /// What it turns out to be. None for one that is not over a map alone.
    fn check(&self) -> Option<Checked>;
}

impl<S: Real, A: Datum, R: ToValue + 'static> Check for MethodUnderTest<S, A, R> {
    fn check(&self) -> Option<Checked> {
        let collection = S::collection()?;
        let mut arguments: Vec<Value> = self.arguments.iter().map(ToValue::to_value).collect();
        if arguments.is_empty() {
            arguments.extend([Value::Unit].into_iter().filter(|unit| A::from_value(unit).is_some()));
        }
        let mut all = Checked::default();
        for argument in arguments {
            let domain = self.domain(&collection, &argument);
            let object = self.object(&argument, &domain);
            let environment = Environment {
                keys: domain.known,
                more_keys: domain.keys.len(),
                values: domain.values.len(),
                without: self.without.clone(),
                own: self.beside.iter().map(|(name, _)| name.clone()).collect(),
                bound: self.settings.bound,
                initial_size: self.settings.initial_size,
            };
            all.add(check(&object, &environment));
        }
        Some(all)
    }
}

/// The keys and values that calls name by their numbers.
#[derive(Clone)]
struct Domain {
    keys: Vec<Value>,
    /// So many of them come first.
    known: usize,
    values: Vec<Value>,
}

impl<S: Real, A: Datum, R: ToValue + 'static> MethodUnderTest<S, A, R> {
    /// Those that are given; otherwise those of the argument and those that the method leaves in an empty map, and a fresh
    /// value.
    fn domain(&self, collection: &Collection<S>, argument: &Value) -> Domain {
        let map = (self.make)();
        // A method may panic when it runs alone: then it leaves nothing.
        let alone = std::panic::AssertUnwindSafe(|| (self.method)(&map, read::<A>(argument)));
        drop(std::panic::catch_unwind(alone).map(|result| result.to_value()));
        let parts = match argument {
            Value::Tuple(parts) => parts.to_vec(),
            one => vec![one.clone()],
        };
        let left = (collection.entries)(&map);
        let mut keys = self.keys.clone();
        if keys.is_empty() {
            keys.extend(parts.iter().find(|part| (collection.is_key)(part)).cloned());
            keys.extend(left.iter().map(|(key, _)| key.clone()));
            distinct(&mut keys);
            if keys.is_empty() || matches!(argument, Value::Unit) {
                keys.extend((collection.fresh_key)(&keys));
            }
        }
        // The rest of a pair can be another key.
        let known = keys.len();
        let others = parts.iter().skip(1).filter(|part| (collection.is_key)(part) && !keys.contains(part)).cloned();
        let others: Vec<Value> = others.take(2_usize.saturating_sub(known)).collect();
        keys.extend(others);
        let mut values = self.values.clone();
        if values.is_empty() {
            values.extend(left.iter().map(|(_, value)| value.clone()));
            values.extend(parts.iter().skip(1).filter(|part| (collection.is_value)(part)).cloned());
            distinct(&mut values);
            values.extend((collection.fresh_value)(&values));
        }
        Domain { keys, known, values }
    }

    /// The map with the method, what an environment does, and its state.
    fn object(&self, argument: &Value, domain: &Domain) -> Object {
        let collection = Arc::new(S::collection().expect("it was asked before"));
        let make = self.make.clone();
        let key = |domain: &Domain, number: i64| domain.keys[number as usize].clone();
        let value = |domain: &Domain, number: i64| domain.values[number as usize].clone();
        let mut object = Object::describe("map", move || make());
        let (c, d) = (collection.clone(), domain.clone());
        object = object.core("get", move |map, (k,): (i64,)| Plain((c.get)(map, &key(&d, k)))).reads();
        let (c, d) = (collection.clone(), domain.clone());
        object =
            object.core("insert", move |map, (k, v): (i64, i64)| Plain((c.insert)(map, &key(&d, k), &value(&d, v))));
        let (c, d) = (collection.clone(), domain.clone());
        object = object.core("insert_if_absent", move |map, (k, v): (i64, i64)| {
            Plain((c.insert_if_absent)(map, &key(&d, k), &value(&d, v)))
        });
        let (c, d) = (collection.clone(), domain.clone());
        object = object.core("remove", move |map, (k,): (i64,)| Plain((c.remove)(map, &key(&d, k))));
        let c = collection.clone();
        object = object.core("state", move |map, ()| Plain(Value::map((c.entries)(map)))).reads();
        let own = self.beside.iter().cloned().chain([("method".to_owned(), self.method.clone())]);
        for (name, method) in own {
            let argument = argument.clone();
            let call = move |map: &S, (): ()| Plain(method(map, read::<A>(&argument)).to_value());
            object = object.method(&name, call);
        }
        object.build()
    }
}

/// The argument with this plain form.
fn read<A: Datum>(argument: &Value) -> A {
    A::from_value(argument).expect("it is the plain form of an argument")
}

fn distinct(values: &mut Vec<Value>) {
    values.sort();
    values.dedup();
}

/// A result in its plain form.
#[derive(PartialEq)]
struct Plain(Value);

impl ToValue for Plain {
    fn to_value(&self) -> Value {
        self.0.clone()
    }
}
