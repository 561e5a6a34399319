//! The composed operations of the suite over the real `DashMap`, under control, beside what the one-step wrapper says of
//! them. The suite's own test holds the wrapper to that. The driver is that of `interloper`, over another subject.

mod cases;
pub mod collections;

use std::any::type_name;

use driver::{Datum, MethodUnderTest, Misuse, Report, Settings, Subject, ToValue, Verdict};
use interloper_report::table::{Align, Table};

/// So many operations of the environment at most, where the suite has more: what a call of the real map does is not known
/// beforehand, so the environment tries all of its operations before each call.
const OPERATIONS: u32 = 2;

/// A case of the suite.
pub struct Case {
    pub name: &'static str,
    pub origin: &'static str,
    pub about: &'static str,
    pub expected: Verdict,
    pub twin: Option<&'static str>,
    pub source: &'static str,
    pub build: fn() -> Box<dyn Check>,
}

/// A method, whatever its types.
pub trait Check {
    /// What comes of it. None for one that is not over a map alone.
    fn check(&self) -> Option<Result<Report, Misuse>>;
}

impl<S: Subject, A: Datum, R: ToValue> Check for MethodUnderTest<S, A, R> {
    fn check(&self) -> Option<Result<Report, Misuse>> {
        let own = driver::Check::settings(self);
        let settings = Settings { bound: own.bound.min(OPERATIONS), ..own.clone() };
        let over_map = type_name::<S>().starts_with("dashmap::DashMap<");
        over_map.then(|| driver::Check::check_with(self, &settings))
    }
}

/// A line for each case that is over a `DashMap` and nothing else.
pub fn table() -> String {
    let headings =
        ["case", "from", "wrapper", "real", "the smallest execution", "of the environment", "executions"];
    let mut table = Table::new(headings.map(|heading| (heading, Align::Left)));
    for case in cases::all() {
        let Some(checked) = (case.build)().check() else { continue };
        eprintln!("{}", case.name);
        let (name, origin, wrapper) = (case.name, case.origin, word(case.expected));
        let row = match checked {
            Err(misuse) => [&format!("**{misuse}**"), "–", "–", "–"].map(str::to_owned),
            Ok(report) => {
                let real = word(report.verdict);
                let agree = if wrapper == real { "" } else { " **(another)**" };
                let [steps, of_environment] = smallest(&report);
                [format!("{real}{agree}"), steps, of_environment, executions(&report)]
            }
        };
        table.row([name, origin, wrapper].map(str::to_owned).into_iter().chain(row));
    }
    table.markdown()
}

/// The steps of the smallest execution that no order explains, and how many of them are the environment's.
fn smallest(report: &Report) -> [String; 2] {
    let Some(violation) = &report.violation else { return ["–", "–"].map(str::to_owned) };
    let steps: Vec<String> = violation.counterexample.rows.iter().map(|row| row.event.to_string()).collect();
    let start = &violation.counterexample.start;
    [format!("{start}: {}", steps.join("; ")), violation.environment_operations.to_string()]
}

/// How many executions each search made, and whether these were all within the bounds.
fn executions(report: &Report) -> String {
    let searches = report.coverage.iter().map(|coverage| {
        let complete = if coverage.complete { ", all" } else { "" };
        format!("{}{complete}", coverage.executions)
    });
    searches.collect::<Vec<_>>().join("; ")
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Linearizable => "atomic",
        Verdict::NotLinearizable => "not atomic",
        Verdict::Modular => "in its program only",
        Verdict::NothingFound => "nothing found",
        Verdict::Unfinished => "unfinished",
    }
}
