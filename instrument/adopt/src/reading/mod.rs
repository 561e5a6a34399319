//! Reads the sources of a crate for what it synchronises with.
//!
//! The modules of a crate are followed from its root, and what a `cfg` leaves out of this build is not read. Where a
//! `cfg` asks for a name that a build script may set, both sides are read. Code that a build script makes, and code that
//! macros of other crates make, is not seen.

pub(crate) mod condition;
mod evidence;
mod marks;
pub(crate) mod orderings;
mod paths;
mod walk;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::place::Place;
use condition::Configuration;

pub(crate) use evidence::Kind;

/// What the sources of a crate say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// The first evidence of each kind, in the order in which a reader meets it.
    pub(crate) evidence: Vec<Found>,
    /// Whether what is mirrored is named through `core::`.
    pub(crate) names_core: bool,
    /// The names of the atomic blocks that the crate marks, each with its place, in the order in which a reader meets them.
    pub(crate) marked: Vec<(String, Place)>,
    /// The files that the crate is made of.
    pub(crate) files: BTreeSet<PathBuf>,
}

/// Evidence with its place.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) place: Place,
}

impl Reading {
    /// The first evidence of a kind.
    pub(crate) fn first(&self, kind: Kind) -> Option<&Found> {
        self.evidence.iter().find(|found| found.kind == kind)
    }
}

/// A file that is not Rust.
#[derive(Clone, Debug)]
pub(crate) struct Unreadable {
    pub(crate) place: Place,
    pub(crate) reason: String,
}

/// Reads the crate whose root is `root`, in the package at `folder`.
///
/// # Errors
/// When a file is not Rust, as far as brackets and literals go, or cannot be read.
pub(crate) fn read(folder: &Path, root: &Path, configuration: &Configuration) -> Result<Reading, Unreadable> {
    walk::read(folder, root, configuration)
}
