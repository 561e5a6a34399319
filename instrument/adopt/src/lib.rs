//! Puts crates under control without editing them.
//!
//! Cargo resolves a project as usual. The [plan](Project::plan) reads the sources of the project's crates and says which of
//! them synchronise. Crates that are [put under control](Project::control) are copied into the target directory; each copy
//! has one more line at its root and one more dependency in its manifest. A build uses the copies instead of the originals,
//! through patches on cargo's command line. The user's tree does not change: the workspace itself is built through a folder
//! of links beside the copies, and this folder has its own lock file.
//!
//! # Limits
//!
//! - The plan does not read code that a build script generates or that macros of other crates expand to.
//! - A crate that has its own module named `std` at its root cannot be put under control.
//! - Documentation tests are compiled against the ordinary build, so they never run under control.
//! - A copy takes the place of the original in the whole build, and so in interloper itself. When parking_lot is under control,
//!   interloper's mirror of it therefore is the copy and no longer wraps the original.
//! - `include` in cargo's configuration files is not followed for `target.*.rustflags`.

mod announce;
mod build;
mod cargo;
mod control;
mod crossing;
mod edits;
mod flags;
mod init;
mod locals;
mod members;
mod orderings;
mod place;
mod plan;
mod project;
mod reached;
mod reading;
mod refusal;
mod replacement;
mod text;
mod tree;

pub use announce::Wrapper;
pub use build::{Built, Task};
pub use cargo::{Harness, Options, Races};
pub use control::{Controlled, Selection};
pub use crossing::crossing;
pub use init::{Change, Setup};
pub use members::{Member, Members};
pub use orderings::{Chosen, TestBinary, WrittenOrdering};
pub use place::Place;
pub use plan::{Class, Entry, Plan};
pub use project::Project;
pub use reached::Reached;
pub use refusal::Refusal;
pub use replacement::mirrors;
