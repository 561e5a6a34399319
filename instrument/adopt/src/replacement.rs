//! Crates that are not copied: one that is written for Interloper, with the same interface, is built in their place.

use std::collections::BTreeSet;

use cargo_metadata::semver::{Version, VersionReq};

/// A crate that stands in for another.
#[derive(Debug)]
pub(crate) struct Replacement {
    name: &'static str,
    /// The versions whose interface it has.
    versions: &'static str,
    /// Its sources.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

/// A file of parking_lot_core.
macro_rules! core_file {
    ($name:literal) => {
        (concat!("src/", $name), include_str!(concat!("../../parking_lot_core/src/", $name)))
    };
}

const ALL: [Replacement; 1] = [Replacement {
    name: "parking_lot_core",
    versions: "0.9",
    files: &[
        core_file!("controlled.rs"),
        core_file!("deadlock.rs"),
        core_file!("lib.rs"),
        core_file!("lot.rs"),
        core_file!("outside.rs"),
        core_file!("queues.rs"),
        core_file!("spin_wait.rs"),
        core_file!("words.rs"),
    ],
}];

/// What stands in for a package.
pub(crate) fn of(name: &str, version: &Version) -> Option<&'static Replacement> {
    let fits = |one: &&Replacement| {
        one.name == name && VersionReq::parse(one.versions).is_ok_and(|versions| versions.matches(version))
    };
    ALL.iter().find(fits)
}

impl Replacement {
    /// Its manifest, in the place of a version with these features.
    pub(crate) fn manifest(&self, version: &Version, features: &BTreeSet<String>) -> String {
        let name = self.name;
        let features: String = features.iter().map(|feature| format!("{feature:?} = []\n")).collect();
        format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\n\n[features]\n{features}")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn versions_with_another_interface_are_not_replaced() {
        let found = |name, version| of(name, &Version::parse(version).unwrap()).is_some();
        assert!(found("parking_lot_core", "0.9.0") && found("parking_lot_core", "0.9.12"));
        assert!(!found("parking_lot_core", "0.8.6") && !found("parking_lot_core", "0.10.0"));
        assert!(!found("parking_lot", "0.9.0"));
    }

    #[test]
    fn no_file_is_left_out() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../parking_lot_core/src");
        let names: BTreeSet<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| format!("src/{}", entry.unwrap().file_name().display()))
            .collect();
        assert_eq!(ALL[0].files.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>(), names);
    }

    #[test]
    fn a_manifest_has_the_features_of_the_original() {
        let features = BTreeSet::from(["nightly".to_owned()]);
        let manifest = ALL[0].manifest(&Version::new(0, 9, 12), &features);
        assert_eq!(
            manifest,
            "[package]\nname = \"parking_lot_core\"\nversion = \"0.9.12\"\nedition = \"2024\"\n\n[features]\n\"nightly\" = []\n"
        );
    }
}
