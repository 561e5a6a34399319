//! What is read, and how.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::collections::Family;

/// A package whose sources are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// The crates of the package: the name of each, as `use` says it, and its first file.
    pub crates: Vec<(String, PathBuf)>,
}

/// What counts as a collection, and what is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Files are named relative to this folder.
    pub base: PathBuf,
    /// Whether code under `#[cfg(test)]` and `#[test]` is read too.
    pub tests: bool,
    /// Further collections: the path of a type, or its name alone, and what it is.
    pub collections: BTreeMap<String, Family>,
    /// Expressions that make values of types: the name of a type, and the expression.
    pub constructors: BTreeMap<String, String>,
}
