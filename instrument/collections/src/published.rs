//! The locks and atomics of std, and the locks of parking_lot, as something that an adversary acts on: not wrappers, but
//! what a crate under control uses in their place. Their methods say by themselves where a call begins and ends
//! ([`interloper_std::runtime::calls::enter_object`]), so a method under test uses them as they are.
//!
//! A critical section makes two steps: taking the lock, which others may act before, and releasing it, when what was done
//! becomes visible. What needs the lock is not enabled in between.

use std::any::type_name;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};

use interloper_commutativity::models::{RegisterModel, register};
use interloper_commutativity::{Datum, Invocation, Method, MethodId, Model, Specification, ToValue, Value};
use interloper_std::collections::{HashMap, HashSet};
use interloper_std::runtime::Peek;
use interloper_std::runtime::calls::address;
use interloper_std::sync::atomic as mirror;
use interloper_std::sync::{Mutex, RwLock, TryLockError};

use crate::environment::{argument, as_it_was_published, domain, parse, unknown};
use crate::foreign::Lock;
use crate::lock::StdCollection;
use crate::session::{DomainKind, Handle, Instrumented, Outcome};

/// A register that an environment loads and stores: what else it could do leaves nothing that a store could not leave.
pub(crate) struct Stored(RegisterModel);

impl Stored {
    pub(crate) fn holding(initial: Value) -> Stored {
        Stored(RegisterModel { initial })
    }
}

impl Model for Stored {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn methods(&self) -> &[Method] {
        static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| {
            let mut methods = RegisterModel { initial: Value::Unit }.methods().to_vec();
            methods[usize::from(register::COMPARE_EXCHANGE.0)].environment = false;
            methods
        });
        &METHODS
    }

    fn initial(&self) -> Value {
        self.0.initial()
    }

    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        self.0.apply(state, call)
    }

    fn specification(&self) -> Option<&Specification> {
        self.0.specification()
    }
}

macro_rules! atomics {
    ($($atomic:ident($type:ty)),*) => {$(
        impl Instrumented for mirror::$atomic {
            as_it_was_published!(type_name::<std::sync::atomic::$atomic>());

            fn is_object(&self, object: usize) -> bool {
                address(self) == object
            }

            fn model(&self) -> Arc<dyn Model> {
                Arc::new(Stored::holding(self.snapshot()))
            }

            fn snapshot(&self) -> Value {
                // The driver looks, and no task of the program: so this is no step.
                self.peek().to_value()
            }

            fn never_waits(&self) -> bool {
                true
            }

            fn is_always_heard(&self) -> bool {
                true
            }

            // An adversary asks between any two calls, so no value is made where nothing has changed. Not inlined: a program whose
            // loads are announced has this code with no announcement.
            fn changed_from(&self, known: &Value) -> Option<Value> {
                let now = self.peek();
                let is_known = <$type as Datum>::from_value(known) == Some(now);
                (!is_known).then(|| now.to_value())
            }

            fn restore(&self, state: &Value) -> Result<(), Value> {
                let wanted = parse(state)?;
                if self.peek() != wanted {
                    self.store(wanted, Ordering::SeqCst);
                }
                Ok(())
            }

            fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
                match call.method {
                    register::LOAD => Ok(Outcome::fixed(self.snapshot())),
                    register::STORE => {
                        self.store(argument(call, 0)?, Ordering::SeqCst);
                        Ok(Outcome::fixed(Value::Unit))
                    }
                    _ => Err(unknown()),
                }
            }

            fn domain(&self) -> DomainKind {
                domain::<$type, $type>()
            }
        }
    )*};
}

atomics!(
    AtomicBool(bool),
    AtomicI8(i8),
    AtomicI16(i16),
    AtomicI32(i32),
    AtomicI64(i64),
    AtomicIsize(isize),
    AtomicU8(u8),
    AtomicU16(u16),
    AtomicU32(u32),
    AtomicU64(u64),
    AtomicUsize(usize)
);

/// A lock that its methods' marks name by its address: what an adversary does to it. `$lock` is the lock itself, `$it` whatever is
/// seen as it.
macro_rules! locked {
    (impl[$($generics:tt)*] $type:ty, content $content:ty, |$it:ident| $lock:expr, here $here:ty, name $name:expr) => {
        impl<$($generics)*> Instrumented for $type {
            as_it_was_published!($name);

            fn is_object(&self, object: usize) -> bool {
                let $it = self;
                Lock::<$here>::address($lock) == object
            }

            fn is_free(&self, call: &Invocation) -> bool {
                let $it = self;
                match <$content>::reads(call.method) {
                    true => Lock::<$here>::look($lock, |_| ()).is_some(),
                    false => Lock::<$here>::change($lock, |_| ()).is_some(),
                }
            }

            /// # Panics
            /// When a guard is alive that keeps the content from being read.
            fn model(&self) -> Arc<dyn Model> {
                let $it = self;
                Lock::<$here>::look($lock, StdCollection::model).expect("a new lock is not taken")
            }

            /// # Panics
            /// When a guard is alive that keeps the content from being read.
            fn snapshot(&self) -> Value {
                let $it = self;
                let state = Lock::<$here>::look($lock, StdCollection::state);
                state.expect("no guard is alive when the content of its lock is read")
            }

            fn snapshot_beside_guards(&self, known: &Value) -> Value {
                let $it = self;
                Lock::<$here>::look($lock, StdCollection::state).unwrap_or_else(|| known.clone())
            }

            /// # Panics
            /// When a guard is alive.
            fn restore(&self, state: &Value) -> Result<(), Value> {
                let $it = self;
                let restored = Lock::<$here>::change($lock, |content| content.restore(state));
                restored.expect("no guard is alive when the content of its lock is set")
            }

            /// # Panics
            /// When a guard is alive that the operation would wait for.
            fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
                let $it = self;
                Lock::<$here>::change($lock, |content| content.apply(call))
                    .or_else(|| Lock::<$here>::look($lock, |content| content.look_up(call)))
                    .expect("the environment acts on a lock whose guard is alive")
            }

            fn domain(&self) -> DomainKind {
                <$content>::domain()
            }
        }
    };
}

/// A lock of std, whose mirror says by itself where a call begins: `$look` locks it to look at the content, `$change` to change it, each
/// if it is free.
macro_rules! lock {
    ($lock:ident, $name:literal, looks with $look:ident, changes with $change:ident) => {
        impl<C: StdCollection, Here> Lock<Here> for $lock<C> {
            type Content = C;

            fn address(&self) -> usize {
                address(self)
            }

            fn look<R>(&self, look: impl FnOnce(&C) -> R) -> Option<R> {
                match self.$look() {
                    Ok(content) => Some(look(&content)),
                    Err(TryLockError::Poisoned(poisoned)) => Some(look(&poisoned.into_inner())),
                    Err(TryLockError::WouldBlock) => None,
                }
            }

            fn change<R>(&self, change: impl FnOnce(&mut C) -> R) -> Option<R> {
                match self.$change() {
                    Ok(mut content) => Some(change(&mut content)),
                    Err(TryLockError::Poisoned(poisoned)) => Some(change(&mut poisoned.into_inner())),
                    Err(TryLockError::WouldBlock) => None,
                }
            }
        }

        locked!(impl[C: StdCollection] $lock<C>, content C, |it| it, here (), name $name);
    };
}

lock!(Mutex, "std::sync::Mutex", looks with try_lock, changes with try_lock);
lock!(RwLock, "std::sync::RwLock", looks with try_read, changes with try_write);

/// What the mirrored table does is what std's in it does.
macro_rules! table {
    ($table:ident<$($parameter:ident: $bound:path),*>) => {
        impl<$($parameter: Datum + $bound),*, S: BuildHasher> StdCollection for $table<$($parameter),*, S> {
            fn model(&self) -> Arc<dyn Model> {
                (**self).model()
            }

            fn state(&self) -> Value {
                (**self).state()
            }

            fn restore(&mut self, state: &Value) -> Result<(), Value> {
                (**self).restore(state)
            }

            fn reads(method: MethodId) -> bool {
                <<Self as std::ops::Deref>::Target as StdCollection>::reads(method)
            }

            fn look_up(&self, call: &Invocation) -> Result<Outcome, Value> {
                (**self).look_up(call)
            }

            fn change(&mut self, call: &Invocation) -> Result<Outcome, Value> {
                (**self).change(call)
            }

            fn domain() -> DomainKind {
                <<Self as std::ops::Deref>::Target as StdCollection>::domain()
            }
        }
    };
}

/// A key of a table.
trait Key: Eq + Hash {}

impl<K: Eq + Hash> Key for K {}

/// Nothing more is asked.
trait Any {}

impl<V> Any for V {}

table!(HashMap<K: Key, V: Any>);
table!(HashSet<T: Key>);
