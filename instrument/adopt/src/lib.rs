//! Puts crates under control without editing them.
//!
//! Cargo resolves a project as ever. The [plan](Project::plan) reads the sources of what it is made of and says which
//! crates synchronise. Those that are [put under control](Project::control) are copied into the target directory, with
//! one line at the root and one dependency in the manifest, and a build takes the copies in the place of the originals,
//! through patches on cargo's command line. Nothing of the user's tree is changed: the workspace itself is built through
//! a folder of links beside the copies, which has a lock file of its own.
//!
//! # Limits
//!
//! - What a build script generates, and what macros of other crates expand to, is not read by the plan.
//! - A crate with a module of its own that is named `std` at its root cannot be put under control.
//! - Documentation tests are compiled against what cargo builds, so they are not part of a run under control.
//! - A copy takes the place of the original in the whole build, in interloper itself too. So crossbeam-channel cannot be
//!   put under control in a project that depends on the facade, whose mirror of channels is made over the original.
//! - `include` in cargo's configuration files is not followed for `target.*.rustflags`.

mod build;
mod cargo;
mod control;
mod edits;
mod flags;
mod locals;
mod place;
mod plan;
mod project;
mod reached;
mod reading;
mod refusal;
mod replacement;
mod text;
mod tree;

pub use build::{Built, Task};
pub use cargo::Options;
pub use control::{Controlled, Selection};
pub use place::Place;
pub use plan::{Class, Entry, Plan};
pub use project::Project;
pub use reached::Reached;
pub use refusal::Refusal;
