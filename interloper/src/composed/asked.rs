//! Operations that `cargo interloper composed --run` has asked for: it writes a test for each, which calls [`judge`], and runs
//! each test in a process of its own.

use std::path::Path;

use interloper_report::explorer::{Exploration, page};
use interloper_report::file;

use crate::composed::check::Check;
use crate::composed::outcome::Violation;

/// The variable of the environment that names the file for the page of a violation.
pub const PAGE: &str = "INTERLOPER_COMPOSED_PAGE";

/// What begins the result of an operation in the output of its test: then come the verdict, the number of executions, a line
/// end, and the report.
pub const BEGIN: &str = "\u{2}interloper ";
/// What begins the verdict where only other methods of the type act.
pub const OWN: &str = "\u{2}own ";
/// What ends either.
pub const END: &str = "\u{3}interloper";
/// What says that the page was written.
pub const WRITTEN: &str = "\u{2}page\u{3}";

/// Checks an operation, and prints the result between [`BEGIN`] and [`END`]. Whether there is a violation.
pub fn judge(method: &dyn Check) -> bool {
    let report = match method.check_with(method.settings()) {
        Ok(report) => report,
        Err(misuse) => {
            println!("\n{BEGIN}misuse 0\n{misuse}\n{END}");
            return false;
        }
    };
    let executions: u64 = report.coverage.iter().map(|coverage| coverage.executions).sum();
    println!("\n{BEGIN}{} {executions}\n{report}\n{END}", report.verdict.word());
    if let (Some(violation), Some(path)) = (&report.violation, std::env::var_os(PAGE)) {
        write_page(&explored(method, violation), Path::new(&path));
    }
    report.violation.is_some()
}

/// Checks an operation whose environment is the other methods of its type, and prints the verdict between [`OWN`] and [`END`].
pub fn judge_own(method: &dyn Check) {
    match method.check_with(method.settings()) {
        Ok(report) => println!("\n{OWN}{}{END}", report.verdict.word()),
        Err(misuse) => println!("\n{OWN}{misuse}{END}"),
    }
}

fn explored(method: &dyn Check, violation: &Violation) -> Exploration {
    let Violation { decisions, counterexample, .. } = violation;
    let explored = method.explored_with(method.settings(), decisions, counterexample);
    explored.unwrap_or_else(|_| Exploration::of(counterexample)).with_sources()
}

/// Writes the page of a finding, and says so in the output of the test.
pub(crate) fn write_page(exploration: &Exploration, path: &Path) {
    match file::write(path, page::render(exploration).as_bytes()) {
        Ok(()) => println!("\n{WRITTEN}"),
        Err(error) => eprintln!("cannot write {}: {error}", path.display()),
    }
}
