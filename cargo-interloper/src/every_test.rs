//! `cargo interloper test --every-test`: the tests of a project as they are.

use std::path::Path;

use interloper_adopt::{Harness, Members, Reached, Refusal};

use crate::init;

/// What a check of each test needs: it is written into the stand-ins of all packages.
///
/// # Errors
/// When the crate interloper is not there.
pub fn harness(folder: &Path, members: &Members) -> Result<Harness, Refusal> {
    let roots = members.packages.iter().flat_map(|member| member.crates.iter().chain(&member.extras));
    Ok(Harness {
        manifests: members.packages.iter().map(|member| member.manifest.clone()).collect(),
        interloper: init::interloper(folder, None)?,
        features: vec!["pages"],
        roots: roots.map(|(_, root)| root.clone()).collect(),
        every_test: true,
        ..Harness::default()
    })
}

/// What the tests that passed are worth, most of which nobody wrote for Interloper.
pub fn passed(reached: &Reached) -> String {
    let Reached { passed, trivial, no_time, no_end, .. } = *reached;
    let tests = if passed == 1 { "1 test".to_owned() } else { format!("{passed} tests") };
    let parts = [
        (
            trivial,
            "explored nothing: one thread, or threads that take turns, or share nothing but the counts of an `Arc` (`-- --show-output` says which)",
        ),
        (no_time, "had no time for an execution (`--time` gives more)"),
        (no_end, "did not come to the end in any execution (`--steps` and `--time` allow longer ones)"),
    ];
    let of_them = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("; {count} of them {what}"));
    format!("{tests} passed under control{}", of_them.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_is_counted_by_its_worth() {
        let reached =
            |passed, trivial, no_time, no_end| Reached { passed, trivial, no_time, no_end, ..Reached::default() };
        assert_eq!(passed(&reached(1, 0, 0, 0)), "1 test passed under control");
        assert_eq!(
            passed(&reached(9, 3, 2, 1)),
            "9 tests passed under control; 3 of them explored nothing: one thread, or threads that take turns, or share nothing but the counts of an `Arc` \
             (`-- --show-output` says which); 2 of them had no time for an execution (`--time` gives more); 1 of them did not come to the end in any \
             execution (`--steps` and `--time` allow longer ones)"
        );
    }
}
