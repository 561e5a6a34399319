//! `cargo interloper orderings`: what each memory ordering is for.
//!
//! Each test runs in a process of its own. First the tests run as they are, and note which orderings they execute. Then one
//! ordering at a time is changed by a variable in the environment, and the tests that execute it run again.

pub mod process;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::Duration;

use interloper::Shard;
use interloper::blocks::orderings::notes::{self, Note, Page};
use interloper::blocks::orderings::{Change, Executed, Site, add, fixes, reaching, shown, strengthen, weaken};
use interloper::report::events::Place;
use interloper::report::orderings::{
    Finding, Fix, Orderings, Outcome, Site as Shown, Trial, annotations, json, junit, sarif, text,
};
use interloper_adopt::{Controlled, Refusal, Task, WrittenOrdering};

use crate::args::Rendering;
use crate::pages::Pages;
use crate::progress::{self, Progress};
use crate::shards::{self, Told};
use crate::{EXPECTED, REFUSED, UNEXPECTED, annotate, note, print};
use process::{Ended, Ran, Test, Tests};

/// What is asked for.
pub struct Asked {
    /// The crates whose orderings are weakened. If the list is empty: the user's own crates.
    pub sites: Vec<String>,
    /// The packages that are tested. If the list is empty: all packages.
    pub packages: Vec<String>,
    /// The longest time for one run of a test.
    pub time: Option<Duration>,
    /// The arguments for the tests.
    pub arguments: Vec<OsString>,
    /// The crates under control, as they were named.
    pub instrument: Vec<String>,
    /// The pages of findings.
    pub pages: Pages,
    /// Which of the orderings are weakened here.
    pub split: Split,
}

/// Which of the orderings are weakened here, and what was done before.
pub enum Split {
    /// All of them.
    Whole,
    /// Those of a part, dealt by their numbers; its document names the command.
    Shard(Shard, shards::Asked),
    /// None: all parts have run.
    Joined(BTreeMap<usize, Vec<Trial>>),
}

/// Builds, runs the tests, and prints what each ordering is for.
pub fn run(controlled: &Controlled, asked: Asked, format: Rendering) -> Result<u8, Refusal> {
    let chosen = controlled.choose(&asked.sites, &asked.packages)?;
    let built = controlled.build(Task::Test)?;
    let written = controlled.written_orderings(&chosen)?;
    let tests = Tests::new(controlled, &built.tests, asked.time, &asked.arguments)?;
    let listed = tests.list()?;
    let progress = Progress::start("test", listed.len());
    let runs = listed.into_iter().map(|test| {
        progress.begin(&test.name);
        let ran = tests.run(&test, None)?;
        progress.done(&test.name);
        Ok(Baseline::new(test, ran))
    });
    let runs = runs.collect::<Result<Vec<Baseline>, Refusal>>()?;
    drop(progress);
    if let Some(failed) = runs.iter().find(|run| !run.ran.passed() && run.finding().is_none()) {
        note(&format!("the tests must pass before an ordering is weakened: {}", failed.says()));
        return Ok(UNEXPECTED);
    }
    if runs.iter().all(|run| run.ran.notes.is_empty()) {
        note("nothing was explored: no test checks a program; only `#[interloper::test]` and `Checker` do");
        return Ok(REFUSED);
    }
    let command = replay_command(&asked);
    let (split, pages) = (&asked.split, &asked.pages);
    let study = Study { tests, runs, is_chosen: &|file| chosen.has(file), command, split, pages };
    if let Split::Shard(shard, search) = &asked.split {
        let (own, nothing_to_do) = match study.has_findings() {
            // Nothing is weakened then, and the merge says which orderings would remove them.
            true => (BTreeMap::new(), false),
            false => {
                let own = study.trials()?;
                let nothing_to_do = own.is_empty();
                (own, nothing_to_do)
            }
        };
        print(&shards::document(*shard, search.clone(), Told::Orderings(own), nothing_to_do))?;
        return Ok(EXPECTED);
    }
    let names = if asked.sites.is_empty() { controlled.own_packages(&asked.packages) } else { asked.sites };
    let orderings = study.orderings(names.join(", "), &written)?;
    pages.end_of("finding");
    print(&match format {
        Rendering::Text => text(&orderings),
        Rendering::Json => json(&orderings),
        Rendering::Junit => junit(&orderings),
        Rendering::Sarif => sarif(&orderings),
    })?;
    annotate(|| annotations(&orderings));
    let reached = orderings.sites.iter().any(|site| site.times > 0);
    if !orderings.findings.is_empty() {
        return Ok(UNEXPECTED);
    }
    if !orderings.sites.is_empty() && !reached {
        note("nothing was explored: no check executes one of these orderings under weak memory");
        return Ok(REFUSED);
    }
    Ok(EXPECTED)
}

/// The command that runs a test again, up to the name of the test.
fn replay_command(asked: &Asked) -> String {
    let mut command = "cargo interloper test".to_owned();
    if !asked.instrument.is_empty() {
        command.push_str(&format!(" --instrument {}", asked.instrument.join(",")));
    }
    asked.packages.iter().for_each(|package| command.push_str(&format!(" --package {package}")));
    command
}

/// A test with the orderings of the source.
struct Baseline {
    test: Test,
    ran: Ran,
    /// The orderings that it executes, in the order of places.
    executed: Vec<Executed>,
}

impl Baseline {
    fn new(test: Test, ran: Ran) -> Baseline {
        let mut executed = Vec::new();
        ran.notes.iter().for_each(|note| add(&mut executed, note.orderings.iter().cloned()));
        Baseline { test, ran, executed }
    }

    fn reaches(&self, site: &Site) -> bool {
        reaching(&self.executed, site) > 0
    }

    /// What failed it, if that was the finding of a check. A test fails with its last check.
    fn finding(&self) -> Option<&notes::NotedFinding> {
        found(&self.ran)
    }

    fn cost(&self) -> u64 {
        self.ran.notes.iter().map(|note| note.steps).sum()
    }

    fn says(&self) -> String {
        outcome_of(&self.test, &self.ran, |_| String::new()).map_or_else(String::new, |outcome| outcome.to_string())
    }
}

fn found(ran: &Ran) -> Option<&notes::NotedFinding> {
    if ran.ended == Ended::Passed { None } else { ran.notes.last()?.finding.as_ref() }
}

/// What a run of a test says about a change, unless the test passed.
fn outcome_of(test: &Test, ran: &Ran, replay: impl Fn(&str) -> String) -> Option<Outcome> {
    let name = test.name.clone();
    Some(match (&ran.ended, found(ran)) {
        (Ended::Passed, _) => return None,
        (Ended::TimedOut(time), _) => Outcome::TimedOut { test: name, seconds: time.as_secs() },
        (_, Some(found)) if found.unrelated => Outcome::Unrelated { test: Some(name), finding: found.finding.clone() },
        (_, Some(found)) => {
            let replay = Some(replay(&found.decisions));
            Outcome::Killed { test: Some(name), finding: found.finding.clone(), replay }
        }
        (Ended::Failed(message), None) => Outcome::Failed { test: name, message: message.clone() },
        (Ended::Crashed(message), None) => Outcome::Crashed { test: name, message: message.clone() },
    })
}

/// The tests of a project, and what they do as they are.
struct Study<'a> {
    tests: Tests<'a>,
    runs: Vec<Baseline>,
    is_chosen: &'a dyn Fn(&str) -> bool,
    command: String,
    split: &'a Split,
    pages: &'a Pages,
}

/// Decisions of more letters than this are not shown: the seed leads to the finding as well.
const LONGEST_SHOWN: usize = 500;

impl Study<'_> {
    fn orderings(&self, name: String, written: &[WrittenOrdering]) -> Result<Orderings, Refusal> {
        let executions = self.runs.iter().flat_map(|run| &run.ran.notes).map(|note| note.executions).sum();
        let failed = self.runs.iter().filter_map(|run| Some((run, run.finding()?)));
        let findings = failed.map(|(run, found)| self.strengthened(run, found));
        let findings = findings.collect::<Result<Vec<Finding>, Refusal>>()?;
        for one in &findings {
            // Where a stronger ordering removes it.
            let places = one.fixes.iter().map(|Fix { site, ordering, .. }| {
                let says = format!("{} instead of {} removes the finding", ordering, site.ordering);
                Place { file: &site.file, line: site.line, column: site.column, says }
            });
            progress::found_at(one.test.as_deref().unwrap_or(&name), &one.finding, places.collect());
        }
        let sites = if findings.is_empty() { self.sites(written)? } else { Vec::new() };
        Ok(Orderings { name, executions, findings, sites })
    }

    /// The sites of the chosen crates, in the order of their places, with what came of weakening them.
    fn sites(&self, written: &[WrittenOrdering]) -> Result<Vec<Shown>, Refusal> {
        let (executed, mut trials) = (self.executed(), self.trials()?);
        self.show_killed(&executed, &trials)?;
        if trials.len() != executed.len() {
            let (theirs, here) = (trials.len(), executed.len());
            return Err(Refusal::Request(format!(
                "the shards have {theirs} orderings, and there are {here} here: merge where the same sources are"
            )));
        }
        let trial = |number: usize| trials.remove(&number).unwrap_or_default();
        let mut all: Vec<Shown> =
            executed.iter().zip((0..).map(trial)).map(|(one, trials)| shown(one, trials)).collect();
        let met: BTreeSet<_> = all.iter().map(|site| (site.file.clone(), site.line, site.column)).collect();
        let unmet = written.iter().filter(|one| !met.contains(&(one.file.clone(), one.line, one.column)));
        all.extend(unmet.map(not_reached));
        all.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        Ok(all)
    }

    /// Runs what weaker orderings lead to once more, so that each finding has its page.
    fn show_killed(&self, executed: &[Executed], trials: &BTreeMap<usize, Vec<Trial>>) -> Result<(), Refusal> {
        for (number, one) in executed.iter().enumerate() {
            for Trial { ordering, outcome } in trials.get(&number).into_iter().flatten() {
                let Outcome::Killed { test: Some(test), finding, replay } = outcome else { continue };
                let Ok(change) = format!("{} {ordering}", one.site).parse::<Change>() else { continue };
                let name = format!("{test} with {ordering} at {}", one.site.place);
                let runs = self.runs.iter().filter(|run| run.test.name == *test && run.reaches(&one.site));
                self.show(runs, Some(&change), (name, finding), replay.clone())?;
            }
        }
        Ok(())
    }

    /// Writes the page of a finding that one of these tests has.
    fn show<'r>(
        &self,
        runs: impl Iterator<Item = &'r Baseline>,
        change: Option<&Change>,
        (name, finding): (String, &str),
        replay: Option<String>,
    ) -> Result<(), Refusal> {
        let Some(path) = self.pages.next() else { return Ok(()) };
        let page = Page { path, name, replay };
        for run in runs {
            let ran = self.tests.show(&run.test, change, run.ran.time, &page)?;
            if found(&ran).is_some_and(|found| found.finding == finding) {
                self.pages.wrote(format!("{}, {finding}", page.name));
                return Ok(());
            }
        }
        note(&format!("{}: the finding did not show again, so it has no page", page.name));
        Ok(())
    }

    /// The orderings that can be weakened, in the order of their places.
    fn executed(&self) -> Vec<Executed> {
        let is_looked_at = |one: &&Executed| one.site.is_strong() && (self.is_chosen)(&one.site.place.file);
        let mut executed = Vec::new();
        for run in &self.runs {
            add(&mut executed, run.executed.iter().filter(is_looked_at).cloned());
        }
        executed
    }

    /// Whether a test has a finding as it is.
    fn has_findings(&self) -> bool {
        self.runs.iter().any(|run| run.finding().is_some())
    }

    /// What came of weakening the orderings, by their numbers: of all, or of those of this part.
    fn trials(&self) -> Result<BTreeMap<usize, Vec<Trial>>, Refusal> {
        let shard = match self.split {
            Split::Joined(trials) => return Ok(trials.clone()),
            Split::Shard(shard, _) => *shard,
            Split::Whole => Shard::WHOLE,
        };
        let executed = self.executed();
        let own = || executed.iter().enumerate().filter(|(number, _)| shard.has(*number as u64));
        note(&format!("weakening {} orderings", own().filter(|(_, one)| one.times > 0).count()));
        let progress = Progress::start("ordering", own().count());
        let mut trials = BTreeMap::new();
        for (number, one) in own() {
            let name = one.site.to_string();
            progress.begin(&name);
            let tried = if one.times == 0 { Vec::new() } else { weaken(&one.site, |change| self.with_weaker(change))? };
            progress.done(&name);
            trials.insert(number, tried);
        }
        Ok(trials)
    }

    /// Runs the tests that reach a site, the cheapest first, up to the first finding.
    fn with_weaker(&self, change: &Change) -> Result<Outcome, Refusal> {
        let mut runs: Vec<&Baseline> = self.runs.iter().filter(|run| run.reaches(&change.site)).collect();
        runs.sort_by_key(|run| run.cost());
        let (mut all, mut reaching, mut other) = (0, 0, None);
        for run in runs {
            let ran = self.tests.run_again(&run.test, change, run.ran.time)?;
            let outcome = outcome_of(&run.test, &ran, |decisions| self.replay(change, decisions, &run.test));
            match outcome {
                Some(killed @ Outcome::Killed { .. }) => return Ok(killed),
                Some(outcome) => other = other.or(Some(outcome)),
                None => {
                    all += executions(&ran.notes);
                    reaching += ran.reaching(&change.site);
                }
            }
        }
        Ok(match other {
            Some(outcome) => outcome,
            None if reaching == 0 => Outcome::Missed { executions: all },
            None => Outcome::Survived { executions: reaching },
        })
    }

    /// Which single stronger ordering removes the finding of a test.
    fn strengthened(&self, run: &Baseline, found: &notes::NotedFinding) -> Result<Finding, Refusal> {
        let replay = Some(self.replay_as_it_is(&found.decisions, &run.test));
        self.show(std::iter::once(run), None, (run.test.name.clone(), &found.finding), replay.clone())?;
        let mut finding = Finding {
            test: Some(run.test.name.clone()),
            finding: found.finding.clone(),
            replay,
            tried: 0,
            fixes: Vec::new(),
        };
        for executed in run.executed.iter().filter(|one| one.times > 0) {
            let site = &executed.site;
            if !(self.is_chosen)(&site.place.file) {
                continue;
            }
            finding.tried += 1;
            let helping = strengthen(site, |change| {
                let ran = self.tests.run_again(&run.test, change, run.ran.time)?;
                Ok::<_, Refusal>(Some(ran.reaching(site)).filter(|&reaching| reaching > 0 && ran.passed()))
            })?;
            finding.fixes.extend(fixes(executed, helping));
        }
        Ok(finding)
    }

    fn replay(&self, change: &Change, decisions: &str, test: &Test) -> String {
        let change = format!("{}={}", notes::CHANGE, quoted(&change.to_string()));
        format!("{change} {}", self.with_decisions(decisions, test))
    }

    fn replay_as_it_is(&self, decisions: &str, test: &Test) -> String {
        format!("INTERLOPER_MEMORY=weak {}", self.with_decisions(decisions, test))
    }

    fn with_decisions(&self, decisions: &str, test: &Test) -> String {
        let again = format!("{} {} -- --exact", self.command, test.name);
        if decisions.len() <= LONGEST_SHOWN { format!("INTERLOPER_REPLAY={decisions} {again}") } else { again }
    }
}

fn executions(notes: &[Note]) -> u64 {
    notes.iter().map(|note| note.executions).sum()
}

fn not_reached(written: &WrittenOrdering) -> Shown {
    Shown {
        file: written.file.clone(),
        line: written.line,
        column: written.column,
        operation: written.argument.to_owned(),
        ordering: written.ordering.clone(),
        times: 0,
        trials: Vec::new(),
    }
}

/// For a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
