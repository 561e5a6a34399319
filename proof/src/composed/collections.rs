//! The collections that the cases of the suite use, under the names of `interloper::collections`: here `DashMap` is the
//! original. Cases over other collections are compiled, and not looked at.

use std::ops::Deref;
use std::sync::Arc;

pub use ::dashmap::DashMap;
use driver::collections::session::{DomainKind, Handle, Instrumented, Needs, Outcome};
pub use driver::collections::{ArrayQueue, AtomicBool, AtomicI64, AtomicU64, AtomicUsize, SegQueue};
use driver::commutativity::{Invocation, Model, Value};

/// The entries of a map.
pub mod dashmap {
    pub use ::dashmap::Entry;
}

/// A lock of std with a collection of std inside, which is here the mirror's: the driver does not know it.
macro_rules! not_looked_at {
    ($($lock:ident),*) => {$(
        #[derive(Default)]
        pub struct $lock<T>(std::sync::$lock<T>);

        impl<T> Deref for $lock<T> {
            type Target = std::sync::$lock<T>;

            fn deref(&self) -> &std::sync::$lock<T> {
                &self.0
            }
        }

        impl<T> Instrumented for $lock<T> {
            fn handle(&self) -> &Handle {
                unreachable!("{NOT}")
            }
            fn model(&self) -> Arc<dyn Model> {
                unreachable!("{NOT}")
            }
            fn snapshot(&self) -> Value {
                unreachable!("{NOT}")
            }
            fn restore(&self, _state: &Value) -> Result<(), Value> {
                unreachable!("{NOT}")
            }
            fn apply(&self, _call: &Invocation) -> Result<Outcome, Value> {
                unreachable!("{NOT}")
            }
            fn needs(&self, _call: &Invocation) -> Needs {
                unreachable!("{NOT}")
            }
            fn domain(&self) -> DomainKind {
                unreachable!("{NOT}")
            }
        }
    )*};
}

/// Why nothing asks.
const NOT: &str = "only cases over a map alone are checked";

not_looked_at!(Mutex, RwLock);
