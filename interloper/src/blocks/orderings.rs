//! What is each memory ordering of a program for? [`Checker::orderings`] weakens one ordering at a time, at run time, and
//! checks the program again.
//!
//! An ordering is *needed* if a weaker one leads to a finding. If none does, the ordering is stronger than the executions can
//! justify, or the program tries too little. If the program has a finding as it is, each ordering is strengthened instead, to
//! see which one removes the finding.
//!
//! # Limits
//!
//! - The answer is only as good as the search: a weaker ordering that survives was tried in the executions that it names,
//!   not in all.
//! - One ordering changes at a time. Two orderings that are each enough alone both survive, but only one can go.
//! - Where executions do not look at plain memory ([`Settings::plain`](super::Settings::plain)), an ordering that protects
//!   nothing but plain memory survives.
//! - The limits of [`interloper_scheduler::orderings`] hold.

pub mod notes;

use std::sync::atomic::Ordering;

use interloper_commutativity::ToValue;
use interloper_report::orderings::{Finding, Fix, Orderings, Outcome, Site as Shown, Trial};
pub use interloper_scheduler::orderings::{
    Argument, Change, ChangeError, Executed, Orderings as Setting, Site, SiteError, add,
};

use super::check::Checker;
use super::misuse::Misuse;
use super::report::{Report, Violation};
use super::runner::Body;
use crate::blocks::Memory;

impl Checker {
    /// What each memory ordering of a program is for: runs it with weak memory, and then with a weaker ordering at one place
    /// at a time. If the program has a finding as it is, stronger orderings are tried instead.
    ///
    /// # Errors
    /// As those of [`Checker::check`].
    ///
    /// # Panics
    /// As [`Checker::check`].
    pub fn orderings<R: ToValue>(&self, program: impl Fn() -> R + Sync) -> Result<Orderings, Misuse> {
        self.orderings_of(&|| program().to_value())
    }

    pub(crate) fn orderings_of(&self, program: Body<'_>) -> Result<Orderings, Misuse> {
        let as_it_is = self.clone().memory(Memory::Weak).settings(|settings| settings.orderings = Setting::COUNTED);
        let report = as_it_is.check_as_it_is(program)?;
        let met = &report.coverage.orderings;
        let mut orderings = Orderings {
            name: report.name.clone(),
            executions: report.coverage.executions,
            findings: Vec::new(),
            sites: Vec::new(),
        };
        if let Some(violation) = as_it_is.failure(&report) {
            orderings.findings.push(as_it_is.strengthened(met, violation, program)?);
            return Ok(orderings);
        }
        for executed in met.iter().filter(|executed| executed.site.is_strong()) {
            let attempt = |change: &Change| as_it_is.with_weaker(change, program);
            let trials = if executed.times == 0 { Vec::new() } else { weaken(&executed.site, attempt)? };
            orderings.sites.push(shown(executed, trials));
        }
        Ok(orderings)
    }

    /// The violation that fails a check.
    fn failure<'a>(&self, report: &'a Report) -> Option<&'a Violation> {
        report.violation().filter(|_| report.grade >= self.current_settings().fail_at)
    }

    fn with_weaker(&self, change: &Change, program: Body<'_>) -> Result<Outcome, Misuse> {
        let changed = self.clone().ordering(change.clone());
        let report = changed.check_as_it_is(program)?;
        Ok(match changed.failure(&report) {
            Some(violation) => {
                let (test, finding) = (None, in_one_line(violation));
                match self.is_without_change(violation, program)? {
                    true => Outcome::Unrelated { test, finding },
                    false => Outcome::Killed { test, finding, replay: violation.counterexample.replay.clone() },
                }
            }
            None => match reaching(&report.coverage.orderings, &change.site) {
                0 => Outcome::Missed { executions: report.coverage.executions },
                executions => Outcome::Survived { executions },
            },
        })
    }

    /// Whether the decisions of a violation lead to the same finding with the orderings of the source.
    fn is_without_change(&self, violation: &Violation, program: Body<'_>) -> Result<bool, Misuse> {
        let as_it_is = self.clone().settings(|settings| settings.orderings = Setting::COUNTED);
        match as_it_is.replay_as_it_is(&violation.smallest, program) {
            Ok(report) => Ok(report.violation().is_some_and(|again| again.finding.is_like(&violation.finding))),
            Err(Misuse::Diverged { .. }) => Ok(false),
            Err(misuse) => Err(misuse),
        }
    }

    /// Which single stronger ordering removes the finding.
    fn strengthened(&self, met: &[Executed], violation: &Violation, program: Body<'_>) -> Result<Finding, Misuse> {
        let mut finding = Finding {
            test: None,
            finding: in_one_line(violation),
            replay: violation.counterexample.replay.clone(),
            tried: 0,
            fixes: Vec::new(),
        };
        // A site that no execution reached cannot be what removes it.
        for executed in met.iter().filter(|executed| executed.times > 0) {
            let attempt = |change: &Change| {
                let changed = self.clone().ordering(change.clone());
                let report = changed.check_as_it_is(program)?;
                let executions = reaching(&report.coverage.orderings, &change.site);
                Ok(Some(executions).filter(|&executions| executions > 0 && changed.failure(&report).is_none()))
            };
            finding.tried += 1;
            finding.fixes.extend(fixes(executed, strengthen(&executed.site, attempt)?));
        }
        Ok(finding)
    }
}

/// Tries the orderings one level weaker than that of a site, and weaker ones as long as they survive. An ordering that is
/// weaker than one which did not survive is not tried.
///
/// # Errors
/// As the attempts.
pub fn weaken<E>(site: &Site, mut attempt: impl FnMut(&Change) -> Result<Outcome, E>) -> Result<Vec<Trial>, E> {
    let (mut open, mut dead) = (site.argument.weaker(site.order()), Vec::new());
    let (mut trials, mut next) = (Vec::new(), 0);
    while let Some(&to) = open.get(next) {
        next += 1;
        if site.argument.stronger(to).iter().any(|stronger| dead.contains(stronger)) {
            continue;
        }
        let Some(change) = Change::new(site.clone(), to) else { continue };
        let outcome = attempt(&change)?;
        if matches!(outcome, Outcome::Survived { .. }) {
            let weaker = site.argument.weaker(to).into_iter().filter(|weaker| !open.contains(weaker));
            open.extend(weaker.collect::<Vec<_>>());
        } else {
            dead.push(to);
        }
        trials.push(Trial { ordering: format!("{to:?}"), outcome });
    }
    Ok(trials)
}

/// Tries the orderings one level stronger than that of a site, and stronger ones as long as they do not help. Gives the
/// weakest that help, each with the number of executions that reached it: what the attempts give.
///
/// # Errors
/// As the attempts.
pub fn strengthen<E>(
    site: &Site,
    mut attempt: impl FnMut(&Change) -> Result<Option<u64>, E>,
) -> Result<Vec<(Ordering, u64)>, E> {
    let mut open = site.argument.stronger(site.order());
    let (mut helping, mut next) = (Vec::new(), 0);
    while let Some(&to) = open.get(next) {
        next += 1;
        let helps = |weaker: &Ordering| helping.iter().any(|(other, _)| other == weaker);
        if site.argument.weaker(to).iter().any(helps) {
            continue;
        }
        let Some(change) = Change::new(site.clone(), to) else { continue };
        match attempt(&change)? {
            Some(executions) => helping.push((to, executions)),
            None => {
                let stronger = site.argument.stronger(to).into_iter().filter(|stronger| !open.contains(stronger));
                open.extend(stronger.collect::<Vec<_>>());
            }
        }
    }
    Ok(helping)
}

/// What strengthening a site gave, as a report shows it.
pub fn fixes(executed: &Executed, helping: Vec<(Ordering, u64)>) -> impl Iterator<Item = Fix> {
    let site = shown(executed, Vec::new());
    helping.into_iter().map(move |(to, executions)| Fix { site: site.clone(), ordering: format!("{to:?}"), executions })
}

/// A site as a report shows it.
pub fn shown(executed: &Executed, trials: Vec<Trial>) -> Shown {
    let Executed { site, times, .. } = executed;
    Shown {
        file: site.place.file.clone(),
        line: site.place.line,
        column: site.place.column,
        operation: site.argument.name().to_owned(),
        ordering: format!("{:?}", site.order()),
        times: *times,
        trials,
    }
}

/// In how many executions a site was reached.
pub fn reaching(executed: &[Executed], site: &Site) -> u64 {
    executed.iter().filter(|executed| executed.site == *site).map(|executed| executed.executions).sum()
}

fn in_one_line(violation: &Violation) -> String {
    let lines = violation.finding.in_full();
    let lines: Vec<&str> = lines.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    interloper_report::plain::line(&lines.join("; ")).into_owned()
}

#[cfg(test)]
mod tests;
