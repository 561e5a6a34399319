//! Orderings as a SARIF log.

use super::{Orderings, Site, Verdict};
use crate::annotation::of_finding;
use crate::sarif::{Finding, Level, Place, Rule, log};

const STRONGER: &str = "ordering-stronger-than-justified";
const NOT_REACHED: &str = "ordering-not-reached";
const FINDING: &str = "ordering-too-weak";

const RULES: [Rule; 3] = [
    Rule { id: STRONGER, text: "A memory ordering is stronger than the tests can justify." },
    Rule { id: NOT_REACHED, text: "No test reaches a memory ordering." },
    Rule { id: FINDING, text: "A stronger memory ordering removes a finding." },
];

/// The log: a result for each ordering that survived, for each that was not reached, and for each stronger ordering that
/// removes a finding.
pub fn sarif(orderings: &Orderings) -> String {
    let of_sites = orderings.sites.iter().filter_map(of_site);
    log(&RULES, of_sites.chain(of_fixes(orderings).map(|(_, fix)| fix)))
}

/// The annotations of a change, for GitHub: of the stronger orderings that remove a finding. See [`annotation`](crate::annotation).
pub fn annotations(orderings: &Orderings) -> String {
    let title = |test: Option<&str>| format!("{}: an ordering is too weak", test.unwrap_or(&orderings.name));
    of_fixes(orderings).map(|(test, fix)| of_finding(&title(test), &fix)).collect()
}

/// The stronger orderings that remove a finding, each with the test that shows the finding.
fn of_fixes(orderings: &Orderings) -> impl Iterator<Item = (Option<&str>, Finding<'_>)> {
    let fixes = orderings.findings.iter().flat_map(|finding| finding.fixes.iter().map(move |fix| (finding, fix)));
    fixes.map(|(finding, fix)| {
        let text = format!("{}: {} instead of {} removes it.", finding.finding, fix.ordering, fix.site.ordering);
        (finding.test.as_deref(), result(FINDING, Level::Error, text, &fix.site))
    })
}

fn of_site(site: &Site) -> Option<Finding<'_>> {
    let Site { operation, ordering, .. } = site;
    match site.verdict() {
        Verdict::Stronger(enough) => {
            let enough = enough.join(" or ");
            let text = format!(
                "{enough} is enough for this {operation}: {ordering} is stronger than the tests can justify, or the \
                 tests are too weak."
            );
            Some(result(STRONGER, Level::Note, text, site))
        }
        Verdict::NotReached => {
            Some(result(NOT_REACHED, Level::Note, format!("No test reaches this {operation} ({ordering})."), site))
        }
        Verdict::Needed | Verdict::Unclear => None,
    }
}

fn result<'a>(rule: &'static str, level: Level, text: String, site: &'a Site) -> Finding<'a> {
    let place = Place { file: &site.file, line: site.line, column: site.column };
    Finding { rule, level, text, place, related: Vec::new() }
}
