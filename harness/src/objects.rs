//! All that is for concurrent objects.

pub mod derive;
mod engines;
pub mod explain;
pub mod generated;
pub mod hunt;
pub mod judge;
pub mod judged;
pub(crate) mod kept;
pub(crate) mod next;
pub mod object;
pub mod schemas;
pub mod stress;
pub mod systematic;
#[cfg(test)]
pub(crate) mod testing;

pub use object::{Description, Method, MethodId, Object, Program, Role};
