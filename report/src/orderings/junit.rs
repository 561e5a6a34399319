//! Orderings as JUnit XML.

use super::{Orderings, Site, Verdict};
use crate::junit::{Case, Outcome, Suite, render};

/// The document: a case for each finding of the program as it is, and one for each ordering. Only a finding is a failure, as
/// for the exit code of the command: an ordering may be stronger than the tests can justify.
pub fn junit(orderings: &Orderings) -> String {
    let findings = orderings.findings.iter().map(|finding| {
        let fixes = finding
            .fixes
            .iter()
            .map(|fix| format!("{}: {} instead of {} removes it\n", fix.site.place(), fix.ordering, fix.site.ordering));
        let replay = finding.replay.iter().map(|replay| format!("replay: {replay}\n"));
        Case {
            name: finding.test.clone().unwrap_or_else(|| orderings.name.clone()),
            result: Outcome::Failed { message: finding.finding.clone(), report: fixes.chain(replay).collect() },
            output: String::new(),
        }
    });
    let suites = [("findings", findings.collect()), ("orderings", orderings.sites.iter().map(case).collect())];
    let suites = suites.map(|(name, cases)| Suite { name: format!("{name} of {}", orderings.name), cases });
    let filled: Vec<Suite> = suites.into_iter().filter(|suite| !suite.cases.is_empty()).collect();
    render(&filled)
}

fn case(site: &Site) -> Case {
    let trials = site.trials.iter().map(|trial| format!("{}: {}\n", trial.ordering, trial.outcome));
    let (result, says) = match site.verdict() {
        Verdict::Needed => (Outcome::Passed, "needed".to_owned()),
        Verdict::Stronger(enough) => {
            (Outcome::Passed, format!("stronger than the tests can justify: {} is enough", enough.join(" or ")))
        }
        Verdict::NotReached => (Outcome::Skipped { reason: "no test reaches it".to_owned() }, String::new()),
        Verdict::Unclear => (Outcome::Skipped { reason: "unclear".to_owned() }, String::new()),
    };
    let lines = [says].into_iter().filter(|says| !says.is_empty()).map(|says| says + "\n");
    Case {
        name: format!("{} {} at {}", site.operation, site.ordering, site.place()),
        result,
        output: lines.chain(trials).collect::<String>().trim_end().to_owned(),
    }
}
