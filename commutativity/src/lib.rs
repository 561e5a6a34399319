//! Abstract data types as sequential models, and when their operations do not commute.
//!
//! A [`Model`] is the sequential behaviour of a type over plain [`Value`]s. Two operations *commute* in a state when
//! running them in either order gives both the same results and ends in the same state (COLT, section 3.3). The
//! adversary injects only operations that do not.

mod conflicts;
mod datum;
mod domain;
mod model;
pub mod models;
mod specification;
mod value;

pub use conflicts::Conflicts;
pub use datum::{Datum, ToValue, pending};
pub use domain::{Domain, invocations, states};
pub use model::{Invocation, Method, MethodId, Model, Parameter};
pub use specification::{Condition, End, Scan, Side, Signature, Specification, Table, Term, commute};
pub use value::{Value, Variant};
