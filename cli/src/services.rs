//! Results in the forms that continuous-integration services read.

use interloper_report::junit::{self, Case, Outcome, Suite};
use interloper_report::{Counterexample, annotation};

use crate::args::Format;
use crate::output;
use crate::progress::events;

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

/// Whether anything of what is judged is for services: in this form of the result, or as annotations beside it.
pub fn are_asked(format: Format) -> bool {
    is_theirs(format) || annotations_are_asked()
}

/// Whether a service reads this form.
pub fn is_theirs(format: Format) -> bool {
    matches!(format, Format::Junit | Format::Sarif)
}

/// GitHub says so in the environment of a job. Who reads progress as events reads the findings there.
fn annotations_are_asked() -> bool {
    std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") && !events::are_wanted()
}

/// Annotates the lines of what failed, on standard error, which GitHub reads too: standard output is the result.
pub fn annotate(judged: &[Judged]) {
    if annotations_are_asked() {
        let failed = judged.iter().filter(|one| matches!(one.result, Outcome::Failed { .. }));
        let lines: String = failed.filter_map(|one| one.counterexample.as_ref()).map(annotation::errors).collect();
        lines.lines().for_each(output::note);
    }
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
