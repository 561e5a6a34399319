//! Crates that are not copied: one that is written for Interloper, with the same interface, is built in their place.
//!
//! `parking_lot_core` waits in the kernel, where no scheduler sees it, so it is replaced in any case. `parking_lot` would run
//! under control as it is. Its mirror takes fewer steps, and the scheduler knows who holds a lock and who wants it. Outside
//! of an execution the mirror is the original, which is built beside it under another name. Whoever wants the original under
//! control says so (`--real parking_lot`), and a project that turns on a feature which the mirror lacks gets it unasked.

use std::collections::BTreeSet;

use cargo_metadata::semver::{Version, VersionReq};

/// A crate that stands in for another.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    name: &'static str,
    /// The versions whose interface it has.
    versions: &'static str,
    /// Its sources.
    files: &'static [(&'static str, &'static str)],
    /// What it needs if it is made over the original; one that waits in the scheduler needs nothing.
    over: Option<Over>,
}

/// What a mirror of a crate needs, which is made over that crate.
#[derive(Debug, PartialEq, Eq)]
struct Over {
    /// The features of the original that it has, with what they turn on.
    features: &'static [(&'static str, &'static [&'static str])],
    /// Its dependencies beside the original, as lines of a manifest.
    dependencies: &'static str,
    /// The cfg that makes the mirror in interloper be what is built in the original's place: not this one, which is that.
    cfg: &'static str,
}

/// Which crate is built in the place of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice<R> {
    /// The replacement.
    Replace(R),
    /// The original, although there is a replacement: why.
    Real(String),
    /// The original: there is no replacement.
    None,
}

/// A file of parking_lot_core.
macro_rules! core_file {
    ($name:literal) => {
        (concat!("src/", $name), include_str!(concat!("../../parking_lot_core/src/", $name)))
    };
}

/// A file of the mirror of parking_lot.
macro_rules! lot_file {
    ($name:literal) => {
        (concat!("src/", $name), include_str!(concat!("../../parking_lot/src/", $name)))
    };
}

const CORE: Replacement = Replacement {
    name: "parking_lot_core",
    // The interfaces of these differ only in what the mirror has anyway.
    versions: ">=0.8, <0.11",
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
    over: None,
};

const LOT: Replacement = Replacement {
    name: "parking_lot",
    versions: "0.12",
    files: &[
        lot_file!("condvar.rs"),
        lot_file!("lib.rs"),
        lot_file!("marker.rs"),
        lot_file!("model.rs"),
        lot_file!("once.rs"),
        lot_file!("raw_fair_mutex.rs"),
        lot_file!("raw_mutex.rs"),
        lot_file!("raw_rwlock.rs"),
        lot_file!("thread_id.rs"),
        lot_file!("types.rs"),
    ],
    over: Some(Over {
        features: &[
            ("arc_lock", &["lock_api/arc_lock"]),
            ("default", &[]),
            ("send_guard", &["parking_lot/send_guard"]),
            ("serde", &["lock_api/serde"]),
        ],
        dependencies: "lock_api = \"0.4\"\n",
        cfg: "interloper_real_parking_lot",
    }),
};

static ALL: [Replacement; 2] = [CORE, LOT];

/// What is built in the place of a package with these features turned on. `real` are the names of packages whose originals
/// are asked for.
pub(crate) fn of(
    name: &str,
    version: &Version,
    features: &BTreeSet<String>,
    real: &BTreeSet<String>,
) -> Choice<&'static Replacement> {
    let fits = |one: &&Replacement| {
        one.name == name && VersionReq::parse(one.versions).is_ok_and(|versions| versions.matches(version))
    };
    let Some(found) = ALL.iter().find(fits) else { return Choice::None };
    // One that stands alone has no original that could run under control.
    let Some(over) = &found.over else { return Choice::Replace(found) };
    if real.contains(name) {
        return Choice::Real("the real one is asked for".to_owned());
    }
    match features.iter().find(|feature| !over.features.iter().any(|(known, _)| known == feature)) {
        Some(feature) => Choice::Real(format!("the mirror has no feature `{feature}`")),
        None => Choice::Replace(found),
    }
}

/// The names of packages whose originals can be asked for.
pub fn mirrors() -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(|one| one.over.is_some()).map(|one| one.name)
}

/// The name under which the original of a package is built beside what is built in its place.
pub(crate) fn original(name: &str) -> String {
    format!("{name}{ORIGINAL}")
}

/// The package that a package of this name is the original of.
pub(crate) fn of_original(name: &str) -> Option<&str> {
    name.strip_suffix(ORIGINAL)
}

const ORIGINAL: &str = "-original";

impl Replacement {
    /// Why it is built: what a plan says.
    pub(crate) fn reason(&self) -> &'static str {
        "a mirror that takes fewer steps and knows who holds a lock"
    }

    /// Whether it needs the original beside it.
    pub(crate) fn is_mirror(&self) -> bool {
        self.over.is_some()
    }

    /// Its sources.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        let cfg = self.over.as_ref().map(|over| over.cfg);
        let text =
            move |text: &str| cfg.map_or_else(|| text.to_owned(), |cfg| text.replace(cfg, "interloper_stands_in"));
        self.files.iter().map(move |(name, source)| (*name, text(source)))
    }

    /// Its manifest, in the place of a version with these features.
    pub(crate) fn manifest(&self, version: &Version, features: &BTreeSet<String>) -> String {
        let name = self.name;
        let on = |feature: &str| {
            let known = self.over.iter().flat_map(|over| over.features).find(|(known, _)| *known == feature);
            known.map_or(&[][..], |(_, on)| on)
        };
        let features: String = features.iter().map(|feature| format!("{feature:?} = {:?}\n", on(feature))).collect();
        let package = format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\n");
        let dependencies = self.over.as_ref().map_or_else(String::new, |over| {
            let original = original(name);
            let path = format!("{name} = {{ package = \"{original}\", path = \"{FOLDER}\" }}");
            format!("\n[dependencies]\n{}{path}\n", over.dependencies)
        });
        format!("{package}\n[features]\n{features}{dependencies}")
    }
}

/// The folder of a replacement in the folder of the package that it replaces.
pub(crate) const STAND_IN: &str = "stand-in";

/// The folder of the original in the folder of what is built in its place.
pub(crate) const FOLDER: &str = "original";

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn versions_with_another_interface_are_not_replaced() {
        let none = BTreeSet::new();
        let found = |name, version| of(name, &Version::parse(version).unwrap(), &none, &none) != Choice::None;
        assert!(found("parking_lot_core", "0.9.0") && found("parking_lot_core", "0.9.12"));
        assert!(found("parking_lot_core", "0.8.6") && found("parking_lot_core", "0.10.0"));
        assert!(!found("parking_lot_core", "0.7.3") && !found("parking_lot_core", "0.11.0"));
        assert!(found("parking_lot", "0.12.5") && !found("parking_lot", "0.11.2"));
    }

    #[test]
    fn the_real_one_is_built_where_it_is_asked_for_or_the_mirror_has_less() {
        let version = Version::new(0, 12, 5);
        let of = |name, features: &[&str], real: &[&str]| {
            let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            of(name, &version, &set(features), &set(real))
        };
        assert!(matches!(of("parking_lot", &["default", "arc_lock"], &[]), Choice::Replace(_)));
        let real = |reason: &str| Choice::Real(reason.to_owned());
        assert_eq!(of("parking_lot", &[], &["parking_lot"]), real("the real one is asked for"));
        let lacks = real("the mirror has no feature `deadlock_detection`");
        assert_eq!(of("parking_lot", &["deadlock_detection", "serde"], &[]), lacks);
        // The kernel is not under control.
        let version = Version::new(0, 9, 12);
        let names = BTreeSet::from(["parking_lot_core".to_owned()]);
        assert!(matches!(super::of("parking_lot_core", &version, &BTreeSet::new(), &names), Choice::Replace(_)));
    }

    #[test]
    fn no_file_is_left_out() {
        for replacement in &ALL {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(replacement.name).join("src");
            let names: BTreeSet<String> = fs::read_dir(folder)
                .unwrap()
                .map(|entry| format!("src/{}", entry.unwrap().file_name().display()))
                .collect();
            assert_eq!(replacement.files.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>(), names);
        }
    }

    #[test]
    fn a_manifest_has_the_features_of_the_original() {
        let features = BTreeSet::from(["nightly".to_owned()]);
        let manifest = ALL[0].manifest(&Version::new(0, 9, 12), &features);
        assert_eq!(
            manifest,
            "[package]\nname = \"parking_lot_core\"\nversion = \"0.9.12\"\nedition = \"2024\"\n\n[features]\n\"nightly\" = []\n"
        );
        let features = BTreeSet::from(["nightly".to_owned(), "serde".to_owned()]);
        let manifest = ALL[1].manifest(&Version::new(0, 12, 5), &features);
        assert_eq!(
            manifest,
            "[package]\nname = \"parking_lot\"\nversion = \"0.12.5\"\nedition = \"2024\"\n\n[features]\n\"nightly\" = []\n\
             \"serde\" = [\"lock_api/serde\"]\n\n[dependencies]\nlock_api = \"0.4\"\nparking_lot = { package = \
             \"parking_lot-original\", path = \"original\" }\n"
        );
    }
}
