//! Features that are off in the copy of a crate, since what they turn on cannot be under control.
//!
//! Cargo has no word for it. So the copy asks for a feature of another name, which nobody turns on.

use std::collections::BTreeSet;

/// A feature that does nothing in the copy of a package, although the project turns it on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Off {
    package: &'static str,
    pub(crate) feature: &'static str,
    /// Why, in the words of a report.
    why: &'static str,
    /// Whether the text of the copy is changed for it. What replaces a package has no such code from the start.
    pub(crate) edited: bool,
}

const ALL: [Off; 2] = [
    // Without it, seize uses fences, as it does on other systems.
    Off { package: "seize", feature: "fast-barrier", why: "no scheduler sees a barrier in the kernel", edited: true },
    Off {
        package: "parking_lot_core",
        feature: "deadlock_detection",
        why: "the scheduler names a deadlock itself",
        edited: false,
    },
];

/// The features of a package that are off in its copy, among those that are on.
pub(crate) fn off<'a>(package: &'a str, on: &'a BTreeSet<String>) -> impl Iterator<Item = &'static Off> + use<'a> {
    ALL.iter().filter(move |off| off.package == package && on.contains(off.feature))
}

impl Off {
    /// What a plan and a run say of it.
    pub(crate) fn said(&self) -> String {
        format!("its feature `{}` is off, since {}", self.feature, self.why)
    }
}

/// The text of a file without a feature; `None` if it does not ask for the feature.
pub(crate) fn without(source: &str, feature: &str) -> Option<String> {
    let asked = format!("feature = \"{feature}\"");
    source.contains(&asked).then(|| source.replace(&asked, &format!("feature = \"{feature}-off\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_feature() {
        let source = "#[cfg(feature = \"a\")]\nmod b;\n#[cfg(not(feature = \"a\"))]\nmod c;\n";
        let expected = "#[cfg(feature = \"a-off\")]\nmod b;\n#[cfg(not(feature = \"a-off\"))]\nmod c;\n";
        assert_eq!(without(source, "a").as_deref(), Some(expected));
        assert_eq!(without(source, "b"), None);
    }

    #[test]
    fn a_feature_is_off_only_if_it_is_on_otherwise() {
        let said = |package, on: &[&str]| {
            let on = on.iter().map(|on| (*on).to_owned()).collect();
            off(package, &on).map(Off::said).next()
        };
        let seize = said("seize", &["default", "fast-barrier"]);
        assert_eq!(
            seize.as_deref(),
            Some("its feature `fast-barrier` is off, since no scheduler sees a barrier in the kernel")
        );
        assert_eq!(said("seize", &["default"]), None);
        assert_eq!(said("papaya", &["fast-barrier"]), None);
        let core = said("parking_lot_core", &["deadlock_detection", "petgraph"]);
        assert_eq!(
            core.as_deref(),
            Some("its feature `deadlock_detection` is off, since the scheduler names a deadlock itself")
        );
        assert_eq!(said("parking_lot_core", &["nightly"]), None);
    }
}
