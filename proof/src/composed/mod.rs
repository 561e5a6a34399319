//! The composed operations of the suite over the real `DashMap`, under control, beside what the one-step wrapper says of
//! them. The suite's own test holds the wrapper to that.

mod cases;
mod check;
pub mod collections;
mod method;

pub use interloper_commutativity::{Datum, ToValue, Value};
pub use method::{Check, MethodUnderTest, Verdict};

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

/// Does nothing: here all orders are tried.
pub fn linearization_point() {}

/// A line for each case that is over a `DashMap` and nothing else.
pub fn table() -> String {
    let mut out = String::from(
        "| case | from | wrapper | real | its smallest program | outcome | systematic | random | programs | executions |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for case in cases::all() {
        eprint!("{} … ", case.name);
        let Some(checked) = (case.build)().check() else { continue };
        eprintln!("{} executions", checked.executions);
        let (wrapper, real) = (word(case.expected), word(checked.verdict()));
        let agree = if wrapper == real { "" } else { " **(another)**" };
        let found = match &checked.violation {
            None => "– | – | – | –".to_owned(),
            Some(found) => format!(
                "`{}` | {} | {} | {}",
                found.schema.to_string().replace('|', "\\|"),
                found.outcome.iter().map(Value::to_string).collect::<Vec<_>>().join(", "),
                found.systematic,
                found.random.map_or("missed".to_owned(), |number| number.to_string())
            ),
        };
        let programs = match (checked.unfinished, checked.refused.len()) {
            (0, 0) => checked.programs.to_string(),
            (unfinished, refused) => {
                format!("{}, {unfinished} not to the end, {refused} without a judgement", checked.programs)
            }
        };
        out.push_str(&format!(
            "| {} | {} | {wrapper} | {real}{agree} | {found} | {programs} | {} |\n",
            case.name, case.origin, checked.executions
        ));
        for reason in checked.refused.iter().take(1) {
            eprintln!("  {reason}");
        }
    }
    out
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Linearizable => "atomic",
        Verdict::NotLinearizable => "not atomic",
        Verdict::Modular => "in its program only",
    }
}
