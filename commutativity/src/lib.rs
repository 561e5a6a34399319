//! Abstract data types as sequential models, and when their operations do not commute.
//!
//! A [`Model`] is the sequential behaviour of a type over plain [`Value`]s. Two operations *commute* in a state when
//! both orders give both operations the same results and end in the same state (COLT, section 3.3). The adversary injects
//! only operations that do not commute.
//!
//! The types in [`models`] come with a [`Specification`]: a table as in Figure 5 of the paper, as plain data. Tests compare
//! each table with running both orders from every small state. Your own type needs no table: [`Conflicts`] runs both orders,
//! once for each state and pair.
//!
//! ```
//! use interloper_commutativity::models::{map, model_named};
//! use interloper_commutativity::{Conflicts, Invocation, Value};
//!
//! let mut oracle = Conflicts::new(model_named("map").unwrap());
//! let get = Invocation::new(map::GET, [Value::Int(7)]);
//! let remove = Invocation::new(map::REMOVE, [Value::Int(7)]);
//!
//! let empty = Value::map([]);
//! assert!(!oracle.conflicts(&empty, &get, &remove));
//!
//! let full = Value::map([(Value::Int(7), Value::Int(12))]);
//! assert!(oracle.conflicts(&full, &get, &remove));
//! ```
//!
//! # Limits
//! An answer holds for one state: calls that commute from it may conflict from another. See [`models`] for what the
//! models leave out.

mod conflicts;
mod datum;
mod domain;
mod model;
pub mod models;
pub mod said;
mod specification;
mod value;

pub use conflicts::Conflicts;
pub use datum::{Datum, ToValue, declared, pending};
pub use domain::{Domain, invocations, states};
pub use model::{Invocation, Method, MethodId, Model, Parameter};
pub use specification::{Condition, End, Scan, Side, Signature, Specification, Table, Term, commute};
pub use value::{Value, Variant};
