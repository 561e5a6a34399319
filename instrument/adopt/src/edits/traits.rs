//! Traits of other crates for types of the mirror.
//!
//! A crate that implements its traits for types of std implements them for the originals. Under control a program has the
//! mirror's types, and what it derives for a struct with a `HashMap` would not compile. So the copy of such a crate implements
//! them for the mirror's types as well. Its other lines stay as they are, and it is not under control.

use std::path::Path;

use cargo_metadata::semver::{Version, VersionReq};

/// What a crate implements for the mirror's types.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Implemented {
    package: &'static str,
    versions: &'static str,
    /// What is put at the end of its root.
    pub(crate) source: &'static str,
}

/// The crate whose dependents derive its traits, and the crates that may have these traits.
pub(crate) struct Family {
    pub(crate) asked_for: &'static [&'static str],
    members: &'static [Implemented],
}

const SERDE: &str = include_str!("traits/serde.txt");

pub(crate) static FAMILIES: [Family; 1] = [Family {
    asked_for: &["serde", "serde_core"],
    members: &[
        Implemented { package: "serde_core", versions: "1", source: SERDE },
        // Later versions take the traits from `serde_core`.
        Implemented { package: "serde", versions: ">=1.0.100, <1.0.220", source: SERDE },
    ],
}];

/// A module with nothing but implementations for types of std, of a crate that Interloper is made of. They count in a whole build,
/// whoever brings the crate along: a test that compares `&[u8]` with `&[]`, or a `u32` with a sum, would not compile. So what the
/// checker is built with does without the module. A project that has the crate, too, keeps the module for itself: rustc
/// sees it only in the targets that reach the crate.
///
/// Of the crates that the checker is made of, only this one implements a trait of std for types for which std has a single
/// implementation, which is what the compiler infers a type from.
pub(crate) struct Unwanted {
    pub(crate) package: &'static str,
    pub(crate) file: &'static str,
    declaration: &'static str,
}

pub(crate) const UNWANTED: Unwanted =
    Unwanted { package: "serde_json", file: "src/value/mod.rs", declaration: "\nmod partial_eq;\n" };

impl Unwanted {
    /// The text of a file of a package without the module, or `None` where nothing is to be taken out.
    pub(crate) fn without(package: &str, file: &Path, text: &str) -> Option<String> {
        let is_meant = package == UNWANTED.package && file == Path::new(UNWANTED.file);
        (is_meant && text.contains(UNWANTED.declaration)).then(|| text.replacen(UNWANTED.declaration, "\n", 1))
    }
}

/// What a package of any family gets.
pub(crate) fn implemented(name: &str, version: &Version) -> Option<&'static Implemented> {
    FAMILIES.iter().find_map(|family| family.of(name, version))
}

impl Family {
    /// What a package of the family gets.
    pub(crate) fn of(&self, name: &str, version: &Version) -> Option<&'static Implemented> {
        let fits = |one: &&Implemented| {
            one.package == name && VersionReq::parse(one.versions).is_ok_and(|all| all.matches(version))
        };
        self.members.iter().find(fits)
    }
}
