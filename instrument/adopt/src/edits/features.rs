//! Features that are off in the copy of a crate, since what they turn on cannot be under control.
//!
//! Cargo has no word for it. So the copy asks for a feature of another name, which nobody turns on.

/// The features of a package that are off in its copy, each with what it would turn on.
pub(crate) fn off(package: &str) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
    // Without it, seize uses fences, as it does on other systems.
    const ALL: [(&str, &str, &str); 1] = [("seize", "fast-barrier", "a barrier in the kernel")];
    ALL.iter().filter(move |(name, ..)| *name == package).map(|(_, feature, what)| (*feature, *what))
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
        assert_eq!((off("seize").count(), off("papaya").count()), (1, 0));
    }
}
