//! What the check of an entry gave, as data: all that reports, tables and documents say of it.
//!
//! A shard prints this data, and a merge reads it. The same code renders what was checked here and what was checked
//! elsewhere, so both give the same bytes.

use std::path::Path;

use interloper_report::Counterexample;
use interloper_report::explorer::Exploration;
use interloper_report::junit::Outcome;
use interloper_report::replay_file::{FOLDER, ReplayFile};
use interloper_report::table::Table;
use interloper_report::text::{self, Style, paint_marks};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Checked, recorded};
use crate::counts::plural;
use crate::failure::{Failure, Finding};
use crate::failures;
use crate::services::Judged;

/// An entry in a JSON document.
pub trait Documented: Serialize + DeserializeOwned {
    /// Adds the counterexample, which documents of the suite leave out.
    #[must_use]
    fn with(self, counterexample: Option<Counterexample>) -> Self;
}

/// A counterexample that a report shows, with the file that replays it.
pub struct Kept {
    pub counterexample: Counterexample,
    /// None where another command shows it again.
    pub file: Option<ReplayFile>,
}

impl Kept {
    /// What the page of the counterexample shows. Its replay file is run again, so that a merge, which has only the file, gives the
    /// page of the search that wrote it. If the replay diverges, the page has what the counterexample says, and no other execution.
    pub fn page(&self) -> Result<Exploration, Failure> {
        let again = self.file.as_ref().map(|file| recorded::again(file, "", true)).transpose()?;
        let told = || Exploration::of(&self.counterexample).with_sources();
        let same = again.filter(|again| again.divergence.is_none());
        let page = same.and_then(|again| again.exploration).unwrap_or_else(told);
        let Counterexample { name, detail, replay, .. } = self.counterexample.clone();
        Ok(Exploration { name, detail, replay, ..page })
    }

    /// A counterexample with its replay file, which is yet to be written.
    pub fn with(file: ReplayFile, counterexample: Counterexample) -> Kept {
        let replay = Some(failures::command(&file.path(Path::new(FOLDER))));
        Kept { counterexample: Counterexample { replay, ..counterexample }, file: Some(file) }
    }
}

/// What the check of an entry gave.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Told<C: Checked> {
    pub name: String,
    mark: String,
    /// The mark and the words of a report without a counterexample.
    headline: (String, String),
    details: Vec<String>,
    expectation: Option<String>,
    executions: Option<u64>,
    word: String,
    row: Vec<String>,
    unexpected: bool,
    unexplored: bool,
    refused: Option<String>,
    /// What the report shows, if it shows one.
    pub counterexample: Option<Counterexample>,
    /// Replays the counterexample.
    file: Option<ReplayFile>,
    result: C::Result,
}

impl<C: Checked> Told<C> {
    /// What is to be told of an entry, with what its report shows.
    pub fn new(checked: &C, kept: Option<Kept>) -> Told<C> {
        let (mark, words) = checked.headline();
        let (counterexample, file) = match kept {
            Some(Kept { counterexample, file }) => (Some(counterexample), file),
            None => (None, None),
        };
        Told {
            name: checked.name().to_owned(),
            mark: checked.mark().to_owned(),
            headline: (mark.to_owned(), words),
            details: checked.details(),
            expectation: checked.expectation(),
            executions: checked.executions(),
            word: checked.word(),
            row: checked.row(),
            unexpected: checked.is_unexpected(),
            unexplored: checked.is_unexplored(),
            refused: checked.refused(),
            counterexample,
            file,
            result: checked.result(),
        }
    }

    /// What the page of the counterexample shows, if there is one.
    pub fn page(&self) -> Option<Result<Exploration, Failure>> {
        let counterexample = self.counterexample.clone()?;
        Some(Kept { counterexample, file: self.file.clone() }.page())
    }

    /// Writes the replay file, if there is one.
    pub fn write_file(&self) -> Result<(), Failure> {
        self.file.as_ref().map_or(Ok(()), |file| failures::written(file).map(drop))
    }

    /// What was found out about it, in full.
    pub fn report(&self, style: Style) -> String {
        let mut out = match (&self.counterexample, &self.headline) {
            (Some(counterexample), _) => text::render(counterexample, style) + "\n",
            (None, (mark, words)) => text::headline(mark, &self.name, words, style),
        };
        for line in &self.details {
            out += &format!("  {line}\n");
        }
        if let (true, Some(expected)) = (self.unexpected, &self.expectation) {
            out += &format!("  expected: {expected}\n");
        }
        out
    }

    /// What services read of it, in this suite.
    pub fn judged(&self, suite: &'static str) -> Judged {
        let message = self.headline.1.clone();
        let result = match &self.refused {
            Some(reason) => Outcome::Skipped { reason: reason.clone() },
            None if self.unexplored => Outcome::Unjudged { reason: message },
            None if self.unexpected => {
                let found = self.counterexample.as_ref().map(|counterexample| &counterexample.verdict);
                let message = found.map_or_else(|| message.clone(), |verdict| format!("{}: {verdict}", self.name));
                Outcome::Failed { message, report: self.report(Style::default()) }
            }
            None => Outcome::Passed,
        };
        let (name, output, counterexample) = (self.name.clone(), self.details.join("\n"), self.counterexample.clone());
        Judged { suite, name, result, output, counterexample }
    }
}

/// Entries of one kind, in their order.
#[derive(Serialize, Deserialize)]
#[serde(transparent, bound = "")]
pub struct Part<C: Checked>(pub Vec<Told<C>>);

impl<C: Checked> Default for Part<C> {
    fn default() -> Part<C> {
        Part(Vec::new())
    }
}

impl<C: Checked> Part<C> {
    /// The reports of all entries, in their order.
    pub fn reports(&self, style: Style) -> impl Iterator<Item = String> {
        self.0.iter().map(move |one| one.report(style))
    }

    /// What services read of the entries, in this suite.
    pub fn judged(&self, suite: &'static str) -> impl Iterator<Item = Judged> {
        self.0.iter().map(move |one| one.judged(suite))
    }

    /// The table, with what comes between it and the summary.
    pub fn overview(&self, between: &str, style: Style) -> String {
        format!("{}{between}\n{}", self.table(style), self.summary())
    }

    /// The table, the reports of what is unexpected, and the summary.
    pub fn unexpected(&self, style: Style) -> String {
        let reports = self.0.iter().filter(|one| one.unexpected).map(|one| format!("\n{}", one.report(style)));
        self.overview(&reports.collect::<String>(), style)
    }

    /// The same for a document: with the counterexamples, or without.
    pub fn results(self, with: bool) -> Vec<C::Result> {
        self.0.into_iter().map(|one| one.result.with(one.counterexample.filter(|_| with))).collect()
    }

    /// What the entries amount to.
    pub fn finding(&self) -> Finding {
        let unexpected = || self.0.iter().filter(|one| one.unexpected);
        match () {
            () if unexpected().any(|one| !one.unexplored) => Finding::Unexpected,
            () if unexpected().next().is_some() => Finding::Unexplored,
            () => Finding::Expected,
        }
    }

    /// One line for each.
    fn table(&self, style: Style) -> String {
        let mut table = Table::new(C::heads());
        for one in &self.0 {
            table.row([format!("{} {}", one.mark, one.name)].into_iter().chain(one.row.iter().cloned()));
        }
        paint_marks(&table.to_string(), style)
    }

    /// How many of what, and which are not as expected.
    fn summary(&self) -> String {
        let with = |word: &str| self.0.iter().filter(|one| one.word == word).count();
        let counts = C::words().into_iter().map(|word| (with(&word), word)).filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
        let executions = plural(self.0.iter().filter_map(|one| one.executions).sum(), "execution");
        let unexpected: Vec<&str> = self.0.iter().filter(|one| one.unexpected).map(|one| one.name.as_str()).collect();
        let end = match &unexpected[..] {
            [] => "nothing unexpected".to_owned(),
            names => format!("{} unexpected: {}", names.len(), names.join(", ")),
        };
        format!("{}: {}; {executions}; {end}\n", C::number(self.0.len() as u64), counts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::args::{Request, parse};
    use crate::catalogue;
    use crate::entries::Item;

    /// A replay that differs shows another execution than the one that the report is about.
    #[test]
    fn the_page_is_of_the_execution_that_the_report_shows() {
        let Ok(Request::Run(cli)) = parse(["interloper"].map(OsString::from)) else { panic!("the suite") };
        let entry = catalogue::find("memoize-get-then-insert").expect("a case");
        let checked = Item::check_all(&[entry.case().expect("a case")], &cli.search).expect("it is checked");
        let kept = || checked[0].kept(&cli.search).expect("a violation");
        let page = kept().page().expect("a page");
        assert!(page.choices.is_some() && page.replay == kept().counterexample.replay);
        let mut file = kept().file.expect("a file");
        file.history.pop();
        let told = Kept { file: Some(file), ..kept() }.page().expect("a page");
        assert_eq!(told, Exploration::of(&kept().counterexample).with_sources());
        assert_ne!(told, page);
    }
}
