//! Collections of crates that this one does not know, as something that an adversary acts on.
//!
//! Whoever has such a collection says how it is used: [`Map`], [`Register`], [`Once`]. These traits have a parameter for a type of
//! the user's, so that they can be implemented for types of other crates. The calls of the collection are heard where its crate
//! is under control.
//!
//! ```
//! # use std::collections::BTreeMap;
//! # use std::sync::Mutex;
//! # use interloper_collections::foreign::{AsMap, Map};
//! # use interloper_collections::session::Instrumented;
//! # type Theirs = Mutex<BTreeMap<u8, u8>>;
//! struct Here;
//!
//! impl Map<Here> for Theirs {
//!     type Key = u8;
//!     type Value = u8;
//!
//!     fn get(&self, key: &u8) -> Option<u8> {
//!         self.lock().unwrap().get(key).copied()
//!     }
//!     fn insert(&self, key: u8, value: u8) {
//!         self.lock().unwrap().insert(key, value);
//!     }
//!     fn remove(&self, key: &u8) {
//!         self.lock().unwrap().remove(key);
//!     }
//!     fn entries(&self) -> Vec<(u8, u8)> {
//!         self.lock().unwrap().iter().map(|(key, value)| (*key, *value)).collect()
//!     }
//! }
//!
//! let map = Theirs::default();
//! let part: &dyn Instrumented = AsMap::<_, Here>::of(&map);
//! assert_eq!(part.snapshot().to_string(), "{}");
//! ```

use std::any::type_name;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::sync::Arc;

use interloper_commutativity::models::{map, register};
use interloper_commutativity::{Datum, Invocation, Method, MethodId, Model, Parameter, ToValue, Value};
use interloper_std::runtime::calls::address;

use crate::environment::{
    argument, as_it_was_published, change, domain, fixed, map_model, maybe_later, next_after, pair_or_none, parse,
    unknown,
};
use crate::lock::StdCollection;
use crate::published::Stored;
use crate::session::{DomainKind, Handle, Instrumented, Outcome};

/// A map of another crate. Nothing else runs while these functions do.
pub trait Map<Here> {
    /// Its keys.
    type Key: Datum;
    /// Its values.
    type Value: Datum;

    /// The value at a key.
    fn get(&self, key: &Self::Key) -> Option<Self::Value>;

    /// Puts a value at a key, whatever was there.
    fn insert(&self, key: Self::Key, value: Self::Value);

    /// Takes away what is at a key.
    fn remove(&self, key: &Self::Key);

    /// All entries, in any order.
    fn entries(&self) -> Vec<(Self::Key, Self::Value)>;

    /// Whether no guard keeps a call for the key waiting. It does not wait itself.
    fn is_free(&self, key: &Self::Key) -> bool {
        let _ = key;
        true
    }
}

/// A cell of another crate that is stored and loaded as a whole. Nothing else runs while these functions do.
pub trait Register<Here> {
    /// Its content.
    type Content: Datum;

    /// The content.
    fn load(&self) -> Self::Content;

    /// Makes this the content.
    fn store(&self, content: Self::Content);
}

/// A cell that is set once. Nothing else runs while these functions do.
pub trait Once<Here> {
    /// Its content.
    type Content: Datum;

    /// The content, if there is any.
    fn get(&self) -> Option<Self::Content>;

    /// Sets the content, and says whether it did: a cell with a content keeps it.
    fn set(&self, content: Self::Content) -> bool;
}

/// A lock around what a lock of std holds. Its crate marks where its methods begin and its guards end
/// ([`interloper_std::runtime::calls`]).
pub trait Lock<Here> {
    /// What it holds.
    type Content: StdCollection;

    /// The address by which the marks name it.
    fn address(&self) -> usize;

    /// Looks at the content; `None` if a guard keeps others from reading it.
    fn look<R>(&self, look: impl FnOnce(&Self::Content) -> R) -> Option<R>;

    /// Changes the content; `None` if there is a guard.
    fn change<R>(&self, change: impl FnOnce(&mut Self::Content) -> R) -> Option<R>;
}

/// A view of something of another crate.
macro_rules! views {
    ($($(#[$docs:meta])* $view:ident)*) => {$(
        $(#[$docs])*
        #[repr(transparent)]
        pub struct $view<C, Here>(PhantomData<Here>, C);

        impl<C, Here> $view<C, Here> {
            /// The view of this one.
            pub fn of(it: &C) -> &$view<C, Here> {
                // SAFETY: the view has one field that takes room, and is transparent, so it has the layout of that field. The
                // reference that is given back lives as long as the one that was given.
                unsafe { &*std::ptr::from_ref(it).cast() }
            }
        }
    )*};
}

views! {
    /// A [`Map`] that an adversary acts on.
    AsMap
    /// A [`Register`] that an adversary acts on.
    AsRegister
    /// A cell that is set [`Once`], on which an adversary acts.
    AsOnce
    /// A [`Lock`] that an adversary acts on.
    AsLock
}

locked! {
    impl[C: Lock<Here>, Here] AsLock<C, Here>, content C::Content, |it| &it.1, here Here, name type_name::<C>()
}

/// What is the same of all views.
macro_rules! published {
    () => {
        as_it_was_published!(type_name::<C>());

        fn is_object(&self, object: usize) -> bool {
            address(self) == object
        }
    };
}

thread_local! {
    /// The keys that the method under test or its environment may have asked for, in runs on this thread.
    static ASKED: RefCell<BTreeSet<Value>> = const { RefCell::new(BTreeSet::new()) };
}

/// The method under test is called with these values, in a run on this thread. Each may be a key that it keeps a guard of.
pub fn expect(values: impl IntoIterator<Item = Value>) {
    ASKED.with_borrow_mut(|asked| asked.extend(values));
}

impl<C: Map<Here>, Here> AsMap<C, Here> {
    fn is_free_at(&self, key: &Value) -> bool {
        C::Key::from_value(key).is_none_or(|key| self.1.is_free(&key))
    }

    /// The value at a key as a value; the known one if a guard keeps others from reading it.
    fn seen_at(&self, key: &Value, known: Option<&Value>) -> Option<Value> {
        match self.is_free_at(key) {
            true => C::Key::from_value(key).and_then(|key| self.1.get(&key)).map(|value| value.to_value()),
            false => known.cloned(),
        }
    }
}

impl<C: Map<Here>, Here> Instrumented for AsMap<C, Here> {
    published!();

    fn is_free(&self, call: &Invocation) -> bool {
        match call.arguments.first().filter(|_| call.method != map::NEXT_AFTER) {
            Some(key) => {
                ASKED.with_borrow_mut(|asked| asked.insert(key.clone()));
                self.is_free_at(key)
            }
            None => ASKED.with_borrow(|asked| asked.iter().all(|key| self.is_free_at(key))),
        }
    }

    fn model(&self) -> Arc<dyn Model> {
        map_model()
    }

    fn snapshot(&self) -> Value {
        Value::map(self.1.entries().into_iter().map(|(key, value)| (key.to_value(), value.to_value())))
    }

    /// A guard may keep whoever reads all entries waiting. Then the keys are read one by one: those that are known, and those that
    /// somebody may have asked for.
    fn snapshot_beside_guards(&self, known: &Value) -> Value {
        let Value::Map(known) = known else { return self.snapshot() };
        let asked = ASKED.with_borrow(BTreeSet::clone);
        let keys: BTreeSet<&Value> = known.keys().chain(&asked).collect();
        if keys.iter().all(|key| self.is_free_at(key)) {
            return self.snapshot();
        }
        let seen = keys.into_iter().filter_map(|key| Some((key.clone(), self.seen_at(key, known.get(key))?)));
        Value::map(seen)
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        let Value::Map(wanted) = state else { return Err(state.clone()) };
        let present: BTreeMap<Value, Value> =
            self.1.entries().into_iter().map(|(key, value)| (key.to_value(), value.to_value())).collect();
        let remove = &mut |key: &Value| parse(key).map(|key| self.1.remove(&key));
        let insert = &mut |key: &Value, value: &Value| {
            self.1.insert(parse(key)?, parse(value)?);
            Ok(())
        };
        change((&present, wanted), remove, insert)
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        let map = &self.1;
        let key = || argument::<C::Key>(call, 0);
        let value = |index| argument::<C::Value>(call, index);
        let old = || Ok::<_, Value>(map.get(&key()?));
        let holds = |expected: &Value| Ok::<_, Value>(old()?.is_some_and(|value| value.to_value() == *expected));
        match call.method {
            map::GET => Ok(maybe_later(old()?.as_ref())),
            map::INSERT => {
                let old = old()?;
                map.insert(key()?, value(1)?);
                Ok(maybe_later(old.as_ref()))
            }
            map::INSERT_IF_ABSENT => {
                let old = old()?;
                if old.is_none() {
                    map.insert(key()?, value(1)?);
                }
                Ok(maybe_later(old.as_ref()))
            }
            map::REMOVE => {
                let old = old()?;
                map.remove(&key()?);
                Ok(maybe_later(old.as_ref()))
            }
            map::CONTAINS_KEY => fixed(Value::Bool(old()?.is_some())),
            map::REPLACE => {
                let old = old()?;
                if old.is_some() {
                    map.insert(key()?, value(1)?);
                }
                Ok(maybe_later(old.as_ref()))
            }
            map::REPLACE_IF_EQUAL => {
                let hit = holds(&call.arguments[1])?;
                if hit {
                    map.insert(key()?, value(2)?);
                }
                fixed(Value::Bool(hit))
            }
            map::REMOVE_IF_EQUAL => {
                let hit = holds(&call.arguments[1])?;
                if hit {
                    map.remove(&key()?);
                }
                fixed(Value::Bool(hit))
            }
            map::NEXT_AFTER => {
                let entries = map.entries().into_iter().map(|(key, value)| (key.to_value(), value));
                Ok(pair_or_none(next_after(call, entries)?))
            }
            map::LEN => fixed(map.entries().len().to_value()),
            map::IS_EMPTY => fixed(Value::Bool(map.entries().is_empty())),
            map::CLEAR => {
                map.entries().iter().for_each(|(key, _)| map.remove(key));
                fixed(Value::Unit)
            }
            _ => Err(unknown()),
        }
    }

    fn domain(&self) -> DomainKind {
        domain::<C::Key, C::Value>()
    }
}

impl<C: Register<Here>, Here> Instrumented for AsRegister<C, Here> {
    published!();

    fn model(&self) -> Arc<dyn Model> {
        Arc::new(Stored::holding(self.snapshot()))
    }

    fn snapshot(&self) -> Value {
        self.1.load().to_value()
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        self.1.store(parse(state)?);
        Ok(())
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        match call.method {
            register::LOAD => fixed(self.snapshot()),
            register::STORE => {
                self.1.store(argument(call, 0)?);
                fixed(Value::Unit)
            }
            _ => Err(unknown()),
        }
    }

    fn domain(&self) -> DomainKind {
        domain::<C::Content, C::Content>()
    }
}

/// The methods of a cell that is set once.
const GET: MethodId = MethodId(0);
const SET: MethodId = MethodId(1);
static METHODS: [Method; 2] = [
    Method { name: "get", parameters: &[], environment: false },
    Method { name: "set", parameters: &[Parameter::Value], environment: true },
];

/// A cell that is set once; its state is its content as an option.
struct OnceModel(Value);

impl Model for OnceModel {
    fn name(&self) -> &str {
        "once"
    }

    fn methods(&self) -> &[Method] {
        &METHODS
    }

    fn initial(&self) -> Value {
        self.0.clone()
    }

    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        match (call.method, &call.arguments[..]) {
            (SET, [content]) => {
                let is_empty = *state == Value::None;
                if is_empty {
                    *state = Value::option(Some(content.clone()));
                }
                Value::Bool(is_empty)
            }
            _ => state.clone(),
        }
    }
}

impl<C: Once<Here>, Here> Instrumented for AsOnce<C, Here> {
    published!();

    fn model(&self) -> Arc<dyn Model> {
        Arc::new(OnceModel(self.snapshot()))
    }

    fn snapshot(&self) -> Value {
        Value::option(self.1.get().map(|content| content.to_value()))
    }

    /// A content stays: a cell can be set, and not emptied.
    fn restore(&self, state: &Value) -> Result<(), Value> {
        if let Some(content) = state.content().filter(|_| self.1.get().is_none()) {
            self.1.set(parse(content)?);
        }
        if self.snapshot() == *state { Ok(()) } else { Err(state.clone()) }
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        match call.method {
            GET => fixed(self.snapshot()),
            SET => fixed(Value::Bool(self.1.set(argument(call, 0)?))),
            _ => Err(unknown()),
        }
    }

    fn domain(&self) -> DomainKind {
        domain::<C::Content, C::Content>()
    }
}

/// That of std, whose mirror says by itself where a call begins.
impl<T: Datum + Clone, Here> Once<Here> for interloper_std::sync::OnceLock<T> {
    type Content = T;

    fn get(&self) -> Option<T> {
        interloper_std::sync::OnceLock::get(self).cloned()
    }

    fn set(&self, content: T) -> bool {
        interloper_std::sync::OnceLock::set(self, content).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::DashMap;
    use crate::testing::Recorder;

    struct Here;

    /// A map with locked keys.
    #[derive(Default)]
    struct Theirs {
        entries: Mutex<BTreeMap<i64, i64>>,
        locked: Mutex<BTreeSet<i64>>,
    }

    impl Map<Here> for Theirs {
        type Key = i64;
        type Value = i64;

        fn get(&self, key: &i64) -> Option<i64> {
            assert!(Map::<Here>::is_free(self, key), "the guard would keep this waiting");
            self.entries.lock().unwrap().get(key).copied()
        }

        fn insert(&self, key: i64, value: i64) {
            self.entries.lock().unwrap().insert(key, value);
        }

        fn remove(&self, key: &i64) {
            self.entries.lock().unwrap().remove(key);
        }

        fn entries(&self) -> Vec<(i64, i64)> {
            assert!(self.locked.lock().unwrap().is_empty(), "the guard would keep this waiting");
            self.entries.lock().unwrap().clone().into_iter().collect()
        }

        fn is_free(&self, key: &i64) -> bool {
            !self.locked.lock().unwrap().contains(key)
        }
    }

    /// All calls with arguments 0 to 2 do the same to the view as to the wrapper around DashMap.
    #[test]
    fn each_call_does_what_it_does_to_a_wrapper() {
        let recorder = Recorder::new();
        let numbers = || (0..3).map(Value::Int);
        let mut checked = 0;
        for (index, method) in (0..).zip(map_model().methods()) {
            let mut all: Vec<Vec<Value>> = vec![Vec::new()];
            for parameter in method.parameters {
                let values: Vec<Value> = match parameter {
                    Parameter::Key | Parameter::Value => numbers().collect(),
                    _ => std::iter::once(Value::None).chain(numbers().map(|one| Value::option(Some(one)))).collect(),
                };
                all = all
                    .iter()
                    .flat_map(|list| values.iter().map(move |one| [&list[..], std::slice::from_ref(one)].concat()))
                    .collect();
            }
            for state in [Value::map([]), Value::map([(Value::Int(1), Value::Int(2)), (Value::Int(2), Value::Int(0))])]
            {
                for arguments in &all {
                    let call = Invocation::new(MethodId(index), arguments.iter().cloned());
                    let (theirs, ours) = (Theirs::default(), recorder.make(DashMap::<i64, i64>::new));
                    let view = AsMap::<_, Here>::of(&theirs);
                    view.restore(&state).expect("a state");
                    ours.restore(&state).expect("a state");
                    let (one, other) = (view.apply(&call), ours.apply(&call));
                    let now = |outcome: Result<Outcome, Value>| outcome.map(|outcome| outcome.now);
                    assert_eq!(now(one), now(other), "{call:?}");
                    assert_eq!(view.snapshot(), ours.snapshot(), "{call:?}");
                    checked += 1;
                }
            }
        }
        assert!(checked > 100, "{checked}");
    }

    #[test]
    fn the_state_beside_a_guard() {
        let theirs = Theirs::default();
        let view = AsMap::<_, Here>::of(&theirs);
        let state = |entries: &[(i64, i64)]| {
            Value::map(entries.iter().map(|(key, value)| (Value::Int(*key), Value::Int(*value))))
        };
        view.restore(&state(&[(1, 1), (2, 2)])).expect("a state");
        let insert = |key| Invocation::new(map::INSERT, [Value::Int(key), Value::Int(9)]);
        assert!([1, 2, 3].iter().all(|key| view.is_free(&insert(*key))));
        theirs.locked.lock().unwrap().insert(1);
        // Whoever has the guard of key 1 changes the value there. Another call has put something at 3.
        Map::<Here>::insert(&theirs, 1, 5);
        Map::<Here>::insert(&theirs, 3, 3);
        assert!(!view.is_free(&insert(1)) && view.is_free(&insert(2)));
        assert!(!view.is_free(&Invocation::new(map::CLEAR, [])));
        assert_eq!(view.snapshot_beside_guards(&state(&[(1, 1), (2, 2)])), state(&[(1, 1), (2, 2), (3, 3)]));
        theirs.locked.lock().unwrap().clear();
        assert_eq!(view.snapshot_beside_guards(&state(&[(1, 1)])), state(&[(1, 5), (2, 2), (3, 3)]));
    }

    #[test]
    fn a_cell_is_set_once() {
        let cell = interloper_std::sync::OnceLock::<i64>::new();
        let view = AsOnce::<_, Here>::of(&cell);
        let set = |content| view.apply(&Invocation::new(SET, [Value::Int(content)])).expect("a call").now;
        assert_eq!(view.restore(&Value::None), Ok(()));
        assert_eq!((set(1), set(2)), (Value::Bool(true), Value::Bool(false)));
        assert_eq!(view.snapshot(), Value::option(Some(Value::Int(1))));
        assert_eq!(view.restore(&view.snapshot()), Ok(()));
        assert!(view.restore(&Value::None).is_err(), "nothing empties it");
        let mut state = Value::None;
        let model = view.model();
        let results: Vec<Value> =
            [1, 2].map(|content| model.apply(&mut state, &Invocation::new(SET, [Value::Int(content)]))).into();
        assert_eq!((results, state), (vec![Value::Bool(true), Value::Bool(false)], view.snapshot()));
    }
}
