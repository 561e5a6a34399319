//! Types that cross from a crate under control to one that is not, by what the compiler says of them.

use std::collections::BTreeSet;

use cargo_metadata::semver::Version;

/// The packages, as `name@version`, whose functions and types the compiler names where it finds a type of the mirror in the place
/// of the original. Put under control, too, they have the same types.
pub fn crossing(messages: &[String]) -> BTreeSet<String> {
    named(messages).filter(|line| !is_copied(line)).filter_map(published).collect()
}

/// The packages under control that are named so. If nothing else is, the type comes from a dependency of theirs that the compiler does
/// not name.
pub fn crossing_within(messages: &[String]) -> BTreeSet<String> {
    named(messages).filter(|line| is_copied(line)).filter_map(published).collect()
}

/// The lines of messages about a type of the mirror in the place of the original.
fn named(messages: &[String]) -> impl Iterator<Item = &str> {
    // The mirror is there under the name of std, too.
    let two = "different versions of crate `std`";
    let is_mismatch = move |message: &&String| {
        message.contains(crate::edits::MIRROR_CRATE) || message.contains(two) || lacks_trait_of_std(message)
    };
    messages.iter().filter(is_mismatch).flat_map(|message| message.lines())
}

/// Whether a type of std lacks a trait: a crate that is not under control has it for the original. The compiler calls both by one name.
fn lacks_trait_of_std(message: &str) -> bool {
    let types = message.split("is not implemented for `").skip(1).filter_map(|after| after.split_once('`'));
    types.into_iter().any(|(of, _)| of.contains("std::"))
}

/// Whether a place is in a copy, which is under control: a copy has the path of its original below the folder of all copies.
fn is_copied(line: &str) -> bool {
    line.contains("/interloper/tree/")
}

/// The package of a place in a cache of cargo: `/home/me/.cargo/registry/src/index-1/some-1.0.0/src/lib.rs:3:7`.
fn published(line: &str) -> Option<String> {
    let (_, below) = line.split_once("/registry/src/")?;
    let package = below.split('/').nth(1)?;
    // Both a name and a version may have a `-`.
    let parts = package.match_indices('-').map(|(at, _)| (&package[..at], &package[at + 1..]));
    let (name, version) = parts.into_iter().find(|(_, version)| Version::parse(version).is_ok())?;
    Some(format!("{name}@{version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_in_messages() {
        let at = |package: &str| format!("   --> /home/me/.cargo/registry/src/index-1/{package}/src/lib.rs:3:7");
        let mismatch = |lines: &[String]| {
            format!(
                "error[E0308]: mismatched types\n{}\n `HashMap` is defined in crate `interloper_std`",
                lines.join("\n")
            )
        };
        let messages = [
            mismatch(&[at("some-1.0.0"), at("a-b-2-0.3.1-rc.1"), " --> src/lib.rs:3:7".to_owned()]),
            mismatch(&[at("some-1.0.0"), at("unversioned"), at("some-x")]),
            format!("error: something else\n{}", at("other-1.0.0")),
            format!("note: there are multiple different versions of crate `std`\n{}", at("more-2.0.0")),
        ];
        assert_eq!(Vec::from_iter(crossing(&messages)), ["a-b-2@0.3.1-rc.1", "more@2.0.0", "some@1.0.0"]);
        assert_eq!(Vec::from_iter(crossing_within(&messages)), [""; 0]);
    }

    /// Both types have the name of std in such a message.
    #[test]
    fn a_trait_that_another_crate_has_for_a_type_of_std_is_found() {
        let message = |of: &str| {
            format!(
                "error[E0277]: the trait bound `HashMap<u8, u8>: Collect` is not satisfied\n\
                 --> /p/target/interloper/tree/home/me/.cargo/registry/src/index-1/own-1.0.0/src/lib.rs:7:6\n\
                 ^^^ the trait `Collect` is not implemented for `{of}`\n\
                 --> /home/me/.cargo/registry/src/index-1/some-1.0.0/src/lib.rs:3:7"
            )
        };
        assert_eq!(Vec::from_iter(crossing(&[message("std::collections::HashMap<u8, u8>")])), ["some@1.0.0"]);
        assert_eq!(Vec::from_iter(crossing(&[message("Own")])), [""; 0]);
    }

    #[test]
    fn what_is_under_control_is_not_to_be_put_under_control() {
        let copied =
            " --> /home/me/p/target/interloper/tree/home/me/.cargo/registry/src/index-1/foyer-1.0.0/src/lib.rs:3:7";
        let message = [format!("error: mismatched types\n{copied}\n `HashMap` is defined in crate `interloper_std`")];
        assert_eq!(Vec::from_iter(crossing(&message)), [""; 0]);
        assert_eq!(Vec::from_iter(crossing_within(&message)), ["foyer@1.0.0"]);
    }
}
