//! What a misspelt name was probably meant to be.

/// The name that differs least from `wanted`, when it differs by little enough to have been meant. Of equally near
/// ones the first.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&wanted, &name.to_lowercase());
    let names = names.into_iter().map(|name| (distance(name), name));
    let (distance, name) = names.min_by_key(|(distance, _)| *distance)?;
    let meant = distance * 2 <= name.chars().count();
    meant.then_some(name)
}

/// `no case 'memoise'; did you mean 'memoize'?`, or where to look names up.
pub fn unknown<'a>(kind: &str, wanted: &str, names: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    match nearest(wanted, names) {
        Some(name) => format!("no {kind} '{wanted}'; did you mean '{name}'?"),
        None => format!("no {kind} '{wanted}'; {otherwise}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        let names = ["memoize", "put_if_absent", "lru_touch"];
        assert_eq!(nearest("memoise", names), Some("memoize"));
        assert_eq!(nearest("MEMOIZE", names), Some("memoize"));
        assert_eq!(nearest("put_fi_absent", names), Some("put_if_absent"));
        assert_eq!(nearest("zzz", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("memoise", []), None);
        assert_eq!(unknown("case", "lru", names, "see 'interloper list'"), "no case 'lru'; see 'interloper list'");
        assert_eq!(unknown("case", "lru_tuch", names, ""), "no case 'lru_tuch'; did you mean 'lru_touch'?");
    }
}
