//! Results in the forms that continuous-integration services read.

use interloper_report::junit::{self, Case, Outcome, Suite};
use interloper_report::{Counterexample, annotation};

use crate::args::Format;

/// Something that was judged.
pub struct Judged {
    /// What it belongs to: `composed operations`.
    pub suite: &'static str,
    pub name: String,
    pub result: Outcome,
    /// What was covered.
    pub output: String,
    pub counterexample: Option<Counterexample>,
}

/// What was judged, as JUnit XML or as a SARIF log.
pub fn document(format: Format, judged: Vec<Judged>) -> String {
    if format == Format::Sarif {
        return annotation::sarif(judged.iter().filter_map(|one| one.counterexample.as_ref()));
    }
    let mut suites: Vec<Suite> = Vec::new();
    for Judged { suite, name, result, output, .. } in judged {
        if suites.last().is_none_or(|last| last.name != suite) {
            suites.push(Suite { name: suite.to_owned(), cases: Vec::new() });
        }
        let cases = &mut suites.last_mut().expect("there is one").cases;
        cases.push(Case { name, result, output });
    }
    junit::render(&suites)
}
