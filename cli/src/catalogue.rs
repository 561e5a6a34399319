//! The cases of the suite, by name.

use interloper_suite::{Case, cases};

use crate::failure::Failure;
use crate::nearest::unknown;

/// The case called `name`.
pub fn find(name: &str) -> Result<Case, Failure> {
    let cases = cases();
    let names = || cases.iter().map(|case| case.name);
    let found = cases.iter().find(|case| case.name == name).copied();
    found.ok_or_else(|| Failure::Request(unknown("case", name, names(), "'interloper list' prints their names")))
}
