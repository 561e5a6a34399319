//! What is found, as plain data.

use serde::{Deserialize, Serialize};

use crate::pattern::Pattern;
use crate::recipe::Recipe;
use crate::runnable::Runnable;
use crate::together::Together;

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The composed operations, in the order of packages, files and lines.
    pub operations: Vec<Operation>,
    /// The types with composed methods that are run two at once, in the same order.
    #[serde(skip)]
    pub together: Vec<Together>,
    /// What could not be read, in the same order.
    pub unread: Vec<Unread>,
    /// How many files were read.
    pub files: usize,
    /// How many lines they have.
    pub lines: usize,
}

/// A function, method or closure that makes several calls on one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// The package.
    pub package: String,
    /// The path in its crate: `cache::Cache::memoize`.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// Its last line.
    pub end: u32,
    /// What the collections belong to: `self`, a parameter, a static, a captured variable.
    pub owner: String,
    /// The calls, in the order in which they are made.
    pub calls: Vec<Call>,
    /// What they look like.
    pub pattern: Pattern,
    /// Whether it can be run as it is.
    pub runnable: Runnable,
    /// How it is run, or why it is not.
    #[serde(skip)]
    pub recipe: Result<Recipe, String>,
    /// How it would be run, if it is not because one value cannot be made: a `todo!` stands for the value.
    #[serde(skip)]
    pub draft: Option<Recipe>,
}

/// A call of a collection, or a critical section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Where it is made.
    pub place: Place,
    /// The collection, from its owner on: `self.map`.
    pub collection: String,
    /// The crate of its type, where that is known: `dashmap`.
    #[serde(skip)]
    pub library: String,
    /// The name of its type: `DashMap`.
    pub kind: String,
    /// The method.
    pub method: String,
    /// What is called inside of a critical section.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inside: Vec<String>,
    /// The local functions that lead to the call, the outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub through: Vec<String>,
}

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1 in characters.
    pub column: u32,
}

/// A part of the sources that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Where it is.
    pub place: Place,
    /// What it is, and why it could not be read.
    pub reason: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Call {
    /// The call in a few words: `map.get`, `lock {get, insert}`.
    pub fn short(&self) -> String {
        if self.inside.is_empty() {
            self.method.clone()
        } else {
            format!("{} {{{}}}", self.method, self.inside.join(", "))
        }
    }
}
