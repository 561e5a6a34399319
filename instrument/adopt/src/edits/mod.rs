//! What is changed in a crate that is put under control: a line at its root, and a dependency in its manifest.

pub(crate) mod allocators;
mod assignments;
mod calls;
pub(crate) mod choices;
mod declared;
pub(crate) mod features;
pub(crate) mod fences;
pub(crate) mod lints;
pub(crate) mod manifest;
pub(crate) mod root;
pub(crate) mod source;
mod told;
pub(crate) mod traits;

/// The name of the mirror's package.
pub(crate) const MIRROR: &str = "interloper-std";
/// The name of the mirror's crate.
pub(crate) const MIRROR_CRATE: &str = "interloper_std";
/// The name of the package with the attribute in whose place std's `#[test]` stands.
pub(crate) const EVERY_TEST: &str = "interloper-every-test";
/// The name of its crate.
pub(crate) const EVERY_TEST_CRATE: &str = "interloper_every_test";
