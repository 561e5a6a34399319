//! Crates that are not copied: one that is written for Interloper, with the same interface, is built in their place.

use cargo_metadata::semver::{Version, VersionReq};

/// A crate that stands in for another.
#[derive(Debug)]
pub(crate) struct Replacement {
    name: &'static str,
    /// The versions whose interface it has.
    versions: &'static str,
    /// Its files, and what is in them.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

/// What stands for the version in the manifest of a replacement.
pub(crate) const VERSION: &str = "0.0.0-replaced";

const ALL: [Replacement; 0] = [];

/// What stands in for a package.
pub(crate) fn of(name: &str, version: &Version) -> Option<&'static Replacement> {
    let fits = |one: &&Replacement| {
        one.name == name && VersionReq::parse(one.versions).is_ok_and(|versions| versions.matches(version))
    };
    ALL.iter().find(fits)
}
