//! Finds composed operations in sources: functions, methods and closures that make two or more calls on the same concurrent
//! collection, or on several collections of one owner, on one path of their control flow.
//!
//! Nothing is compiled. [`scan`] parses the files of each package, follows its modules, and resolves types by their names:
//! fields, parameters, annotated variables, statics, aliases, imports, and the results of constructors and of local
//! functions. A local function that is called counts with its calls. A critical section counts as one call, and so does a
//! chain of calls on an entry or a guard.
//!
//! # Limits
//!
//! - Types that only inference knows are not seen: a collection that comes out of a generic function, or out of a crate that
//!   is not part of the workspace.
//! - A macro that is not a list of expressions hides its calls. If it names a collection, [`Found::unread`] lists it.
//! - Both sides of each `cfg` are read, except tests.
//! - Calls are followed through [`DEPTH`] local functions.

mod arguments;
mod body;
mod collections;
mod data;
mod expressions;
mod files;
pub mod fixes;
mod flow;
mod foreign;
mod generics;
mod index;
mod macros;
mod methods;
mod names;
mod objects;
mod operation;
mod options;
mod parts;
mod pattern;
mod patterns;
mod recipe;
mod report;
mod results;
mod runnable;
mod sections;
mod subject;
mod summary;
mod together;
mod types;
mod values;

pub use collections::Family;
pub use data::Declared;
pub use objects::{Access, Described, objects};
pub use operation::{Call, Found, Operation, Place, Unread};
pub use options::{Options, Package};
pub use pattern::Pattern;
pub use recipe::Recipe;
pub use runnable::Runnable;
pub use summary::DEPTH;
pub use together::{Called, Together};

/// Reads the packages and lists their composed operations, in the order of packages, files and lines.
pub fn scan(packages: &[Package], options: &Options) -> Found {
    let read = files::read(packages, options);
    let index = index::Index::new(&read.crates, packages, options);
    report::report(&index, read.unread, read.files, read.lines)
}
