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
    let Reached { passed, trivial, .. } = *reached;
    let tests = if passed == 1 { "1 test".to_owned() } else { format!("{passed} tests") };
    let nothing = match trivial {
        0 => String::new(),
        _ => format!("; {trivial} of them explored nothing, with one thread or with threads that share nothing"),
    };
    format!("{tests} passed under control, with sequentially consistent memory unless options say otherwise{nothing}")
}
