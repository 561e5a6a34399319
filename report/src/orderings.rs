//! What each memory ordering of a program is for: the data of a search that weakens one ordering at a time, with the
//! renderings [`text`], [`json`], [`junit`] and [`sarif`].

mod junit;
mod sarif;
mod text;

use serde::{Deserialize, Serialize};

pub use junit::junit;
pub use sarif::{annotations, sarif};
pub use text::text;

/// What came of weakening each ordering of a program, or of strengthening each if the program has a finding as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orderings {
    /// The program, or the package.
    pub name: String,
    /// The executions of the program as it is.
    pub executions: u64,
    /// The findings in the program as it is. If there are any, nothing was weakened.
    pub findings: Vec<Finding>,
    /// The orderings stronger than `Relaxed`, in the order of their places.
    pub sites: Vec<Site>,
}

/// A place with an ordering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The source file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1 in characters.
    pub column: u32,
    /// What has the ordering: `load`, `store`, `update` or `fence`.
    pub operation: String,
    /// The ordering in the source: `SeqCst`.
    pub ordering: String,
    /// How often it was executed under weak memory. 0 says that it was not reached.
    pub times: u64,
    /// The weaker orderings that were tried in its place, in the order of the trials.
    pub trials: Vec<Trial>,
}

/// Another ordering at a site, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The ordering that was tried.
    pub ordering: String,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What came of a weaker ordering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// It leads to a finding.
    Killed {
        /// The test that shows it, if there are tests.
        test: Option<String>,
        /// The finding in one line.
        finding: String,
        /// What shows it again.
        replay: Option<String>,
    },
    /// No execution showed anything.
    Survived {
        /// The executions that reached the site where its ordering matters: under weak memory, or while data races are looked
        /// for. Others say nothing.
        executions: u64,
    },
    /// No execution reached the site, although the program as it is reaches it.
    Missed {
        /// The executions that ran.
        executions: u64,
    },
    /// It leads to a finding that does not need it: the same decisions show it in the program as it is.
    Unrelated {
        /// The test that shows it, if there are tests.
        test: Option<String>,
        /// The finding in one line.
        finding: String,
    },
    /// A test failed, and no check in it had a finding.
    Failed {
        /// The test.
        test: String,
        /// What it said, in one line.
        message: String,
    },
    /// A test did not end in time.
    TimedOut {
        /// The test.
        test: String,
        /// The time that it had, in seconds.
        seconds: u64,
    },
    /// A test ended its process.
    Crashed {
        /// The test.
        test: String,
        /// How, in one line.
        message: String,
    },
}

/// A finding in the program as it is, and what removes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The test that shows it, if there are tests.
    pub test: Option<String>,
    /// The finding in one line.
    pub finding: String,
    /// What shows it again.
    pub replay: Option<String>,
    /// The sites of which a stronger ordering was tried.
    pub tried: u64,
    /// The stronger orderings each of which removes the finding alone.
    pub fixes: Vec<Fix>,
}

/// A stronger ordering at one place that removes a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// The place, with the ordering in the source.
    pub site: Site,
    /// The stronger ordering.
    pub ordering: String,
    /// The executions that reached the site with it where orderings matter. They and all others showed nothing.
    pub executions: u64,
}

/// What is known of an ordering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// Nothing executed it under weak memory, so nothing was tried.
    NotReached,
    /// Each ordering one level weaker leads to a finding.
    Needed,
    /// These weaker orderings lead to none, and nothing weaker than them does so either.
    Stronger(Vec<&'a str>),
    /// No weaker ordering survived, and not all of them were killed.
    Unclear,
}

impl Site {
    /// What is known of the ordering.
    pub fn verdict(&self) -> Verdict<'_> {
        let survivors = || self.trials.iter().filter(|trial| matches!(trial.outcome, Outcome::Survived { .. }));
        let is_weakest = |trial: &&Trial| !survivors().any(|other| is_weaker(&other.ordering, &trial.ordering));
        let weakest: Vec<&str> = survivors().filter(is_weakest).map(|trial| trial.ordering.as_str()).collect();
        match () {
            () if self.times == 0 => Verdict::NotReached,
            () if !weakest.is_empty() => Verdict::Stronger(weakest),
            () if self.trials.iter().all(|trial| matches!(trial.outcome, Outcome::Killed { .. })) => Verdict::Needed,
            () => Verdict::Unclear,
        }
    }

    /// The place as text: `src/lib.rs:12:9`.
    pub fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Whether an ordering is weaker than another one. Acquire and Release are not comparable.
fn is_weaker(one: &str, other: &str) -> bool {
    let level = |ordering: &str| match ordering {
        "Relaxed" => 0,
        "Acquire" | "Release" => 1,
        "AcqRel" => 2,
        _ => 3,
    };
    level(one) < level(other)
}

/// The version of the document that [`json`] writes.
pub const VERSION: u32 = 1;

/// One JSON document: a version, the data, and the verdict on each site.
pub fn json(orderings: &Orderings) -> String {
    let mut document = serde_json::to_value(orderings).expect("strings, numbers and lists are always JSON");
    document["version"] = VERSION.into();
    for (site, known) in orderings.sites.iter().enumerate() {
        document["sites"][site]["verdict"] = match known.verdict() {
            Verdict::NotReached => "not-reached",
            Verdict::Needed => "needed",
            Verdict::Stronger(_) => "stronger-than-justified",
            Verdict::Unclear => "unclear",
        }
        .into();
    }
    let mut text = serde_json::to_string_pretty(&document).expect("a value is always JSON");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
