//! The composed operations of the suite over the real `DashMap`, under control, beside what the one-step wrapper says of
//! them. The suite's own test holds the wrapper to that. The driver is that of `interloper`, over another subject.

mod cases;
pub mod collections;

use std::any::type_name;

use driver::{Datum, MethodUnderTest, Misuse, Report, Settings, Subject, ToValue, Verdict};

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
    let mut out = String::from(
        "| case | from | wrapper | real | the smallest execution | of the environment | executions |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for case in cases::all() {
        let Some(checked) = (case.build)().check() else { continue };
        eprintln!("{}", case.name);
        let (name, origin, wrapper) = (case.name, case.origin, word(case.expected));
        let row = match checked {
            Err(misuse) => format!("**{misuse}** | – | – | –"),
            Ok(report) => {
                let real = word(report.verdict);
                let agree = if wrapper == real { "" } else { " **(another)**" };
                format!("{real}{agree} | {} | {}", smallest(&report), executions(&report))
            }
        };
        out.push_str(&format!("| {name} | {origin} | {wrapper} | {row} |\n"));
    }
    out
}

/// The steps of the smallest execution that no order explains, and how many of them are the environment's.
fn smallest(report: &Report) -> String {
    let Some(violation) = &report.violation else { return "– | –".to_owned() };
    let steps = violation.counterexample.rows.iter().map(|row| row.event.to_string().replace('|', "\\|"));
    let steps: Vec<String> = steps.collect();
    format!("{}: {} | {}", violation.counterexample.start, steps.join("; "), violation.environment_operations)
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
