//! Traits of other crates for types of the mirror.
//!
//! A crate that implements its traits for types of std implements them for the originals. Under control a program has the
//! mirror's types, and what it derives for a struct with a `HashMap` would not compile. So the copy of such a crate implements
//! them for the mirror's types as well. Its other lines stay as they are, and it is not under control.

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

/// A module with nothing but implementations for types of std, of a crate that only Interloper is made of. They count in a whole build,
/// whoever brings the crate along: a test that compares `&[u8]` with `&[]` would not compile. So the copy does without the module.
pub(crate) struct Unwanted {
    pub(crate) package: &'static str,
    pub(crate) file: &'static str,
    pub(crate) declaration: &'static str,
}

pub(crate) const UNWANTED: Unwanted =
    Unwanted { package: "serde_json", file: "src/value/mod.rs", declaration: "\nmod partial_eq;\n" };

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
