//! Orderings as a table for a terminal.

use std::fmt::{self, Write};

use super::{Finding, Orderings, Outcome, Site, Verdict};
use crate::plain;
use crate::shorten::{LONGEST_TEXT, middle, plural};
use crate::table::{Align, Table};

/// A table with a row for each trial, what follows for each site, and what shows each finding again.
pub fn text(orderings: &Orderings) -> String {
    let mut out = String::new();
    write(&mut out, orderings).expect("a string takes all text");
    out
}

fn write(out: &mut String, orderings: &Orderings) -> fmt::Result {
    let Orderings { name, executions, findings, sites } = orderings;
    let name = plain::line(name);
    if !findings.is_empty() {
        writeln!(out, "{name} has a finding as it is, so no ordering was weakened\n")?;
        return findings.iter().try_for_each(|finding| write_finding(out, finding));
    }
    writeln!(out, "the orderings of {name}: {}, {} as it is", plural(sites.len() as u64, "site"), runs(*executions))?;
    if sites.is_empty() {
        return writeln!(out, "  no atomic operation or fence has an ordering stronger than Relaxed");
    }
    writeln!(out, "\n{}", table(sites))?;
    for site in sites {
        write_verdict(out, site)?;
    }
    let count = |verdict: fn(&Verdict<'_>) -> bool| sites.iter().filter(|site| verdict(&site.verdict())).count();
    writeln!(
        out,
        "\n{} needed, {} stronger than these tests can justify, {} unclear, {} not reached",
        count(|verdict| *verdict == Verdict::Needed),
        count(|verdict| matches!(verdict, Verdict::Stronger(_))),
        count(|verdict| *verdict == Verdict::Unclear),
        count(|verdict| *verdict == Verdict::NotReached),
    )
}

fn table(sites: &[Site]) -> Table {
    let headings = ["place", "operation", "ordering", "instead", "outcome"];
    let mut table = Table::new(headings.map(|heading| (heading, Align::Left)));
    for site in sites {
        let whole = [site.place(), site.operation.clone(), site.ordering.clone()];
        if site.trials.is_empty() {
            let outcome = if site.times == 0 { "not reached" } else { "not tried" };
            table.row(whole.into_iter().chain(["–".to_owned(), outcome.to_owned()]));
            continue;
        }
        for (number, trial) in site.trials.iter().enumerate() {
            let of_site = whole.iter().map(|cell| if number == 0 { cell.clone() } else { String::new() });
            let outcome = middle(&plain::line(&trial.outcome.to_string()), LONGEST_TEXT).into_owned();
            table.row(of_site.chain([trial.ordering.clone(), outcome]));
        }
    }
    table
}

fn write_verdict(out: &mut String, site: &Site) -> fmt::Result {
    let Site { operation, ordering, .. } = site;
    let place = site.place();
    let place = plain::line(&place);
    match site.verdict() {
        Verdict::NotReached => {
            writeln!(out, "{place}: not reached: no execution under weak memory makes this {operation}")
        }
        Verdict::Stronger(enough) => writeln!(
            out,
            "{place}: {} is enough: {ordering} is stronger than these tests can justify, or the tests are too weak",
            enough.join(" or ")
        ),
        Verdict::Unclear => {
            writeln!(out, "{place}: unclear: not every weaker ordering had a finding, and none survived")
        }
        Verdict::Needed => {
            writeln!(out, "{place}: {ordering} is needed")?;
            let replays = site.trials.iter().filter_map(|trial| match &trial.outcome {
                Outcome::Killed { replay: Some(replay), .. } => Some((&trial.ordering, replay)),
                _ => None,
            });
            replays
                .into_iter()
                .try_for_each(|(to, replay)| writeln!(out, "    see it with {to}: {}", plain::line(replay)))
        }
    }
}

fn write_finding(out: &mut String, finding: &Finding) -> fmt::Result {
    let Finding { test, finding, replay, tried, fixes } = finding;
    let test = test.as_ref().map(|test| format!("{test}: ")).unwrap_or_default();
    writeln!(out, "{}", plain::line(&format!("{test}{finding}")))?;
    if let Some(replay) = replay {
        writeln!(out, "    see it: {}", plain::line(replay))?;
    }
    if fixes.is_empty() {
        return writeln!(out, "    no single stronger ordering removes it ({} tried)", plural(*tried, "site"));
    }
    for fix in fixes {
        let (place, site) = (fix.site.place(), &fix.site);
        writeln!(
            out,
            "    {} instead of {} removes it: the {} at {} ({})",
            fix.ordering,
            site.ordering,
            site.operation,
            plain::line(&place),
            runs(fix.executions)
        )?;
    }
    Ok(())
}

impl fmt::Display for Outcome {
    /// In one line.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |test: &Option<String>| test.as_ref().map(|test| format!("{test}: ")).unwrap_or_default();
        match self {
            Outcome::Killed { test, finding, .. } => write!(out, "killed: {}{finding}", by(test)),
            Outcome::Survived { executions } => write!(out, "survived {}", runs(*executions)),
            Outcome::Missed { executions } => write!(out, "missed: not reached in {}", runs(*executions)),
            Outcome::Unrelated { test, finding } => {
                write!(out, "unrelated: {}{finding}, also with the ordering of the source", by(test))
            }
            Outcome::Failed { test, message } => write!(out, "failed without a finding: {test}: {message}"),
            Outcome::TimedOut { test, seconds } => write!(out, "timed out: {test} ran for more than {seconds} s"),
            Outcome::Crashed { test, message } => write!(out, "crashed: {test}: {message}"),
        }
    }
}

impl fmt::Display for Orderings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&text(self))
    }
}

fn runs(executions: u64) -> String {
    plural(executions, "execution")
}
