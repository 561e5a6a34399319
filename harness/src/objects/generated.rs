//! Tests as Rust files: a violation that was found, or outcomes that a object keeps to.
//!
//! A generated file contains schemas and their correct outcomes. It needs this library and a function that returns the
//! object's description. It computes nothing when it runs, and it does not change when the library changes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use interloper_commutativity::Value;
use interloper_linearize::schema::Schema;

use crate::hunt::{Campaign, Engine, Searched, What};
use crate::judged::{self, PATIENCE};
use crate::object::Object;
use crate::schemas::{Bounds, Pool, Sampler};
use crate::stress::{Budget, Next, Settings};
use crate::systematic::{self, Deadline, Executions};

/// What a generated test says about one schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The schema.
    pub schema: Schema,
    /// The outcomes that are right: results in text order.
    pub right: Vec<Vec<Value>>,
    /// A sentence for the reader of the test: empty, or what the search saw.
    pub note: String,
}

/// What a generated file refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The path of this library, `interloper_harness` for example.
    pub library: String,
    /// An expression for the [`Object`], `my_crate::described()` for example.
    pub object: String,
}

/// A Rust file with one test for each case.
pub fn file(title: &str, names: &Names, cases: &[Case]) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "//! {title}\n//!\n//! Generated. Each test runs a schema and compares its outcomes with the correct outcomes:"
    );
    let _ = writeln!(out, "//! the results of the calls, in the order of the text.\n");
    let _ = writeln!(out, "use {}::generated::check;", names.library);
    for (number, case) in cases.iter().enumerate() {
        let _ = writeln!(out);
        for line in case.note.lines() {
            let _ = writeln!(out, "/// {line}");
        }
        let _ = writeln!(out, "#[test]\n#[rustfmt::skip]\nfn schema_{}() {{", number + 1);
        let _ =
            writeln!(out, "    check(\n        &{},\n        {:?},\n        &[", names.object, case.schema.to_string());
        for outcome in &case.right {
            let _ = writeln!(out, "            {:?},", text(outcome));
        }
        let _ = writeln!(out, "        ],\n    );\n}}");
    }
    out
}

/// An outcome as text: the results with commas between them.
pub fn text(outcome: &[Value]) -> String {
    outcome.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

/// So many outcomes a test lists; a schema with more is left out.
const LISTED: usize = 200;

/// So many schemas stand for a method that no violation was found of.
const CONFORMING: usize = 3;

/// The tests of a method that was searched: its violation, made as small as possible, or else a few schemas without a
/// violation.
pub fn cases(campaign: &Campaign, searched: &Searched) -> Vec<Case> {
    let object = &campaign.object;
    let right = |schema: &Schema| -> Option<Vec<Vec<Value>>> {
        let program = object.program(schema).ok()?;
        let (visibility, bound) = (&campaign.visibility, campaign.bound);
        let (mut judge, _) = judged::within(&program, visibility, bound, PATIENCE, Deadline::NEVER).ok()?;
        // A test on real threads cannot tell a call that may block from one that must not.
        if judge.blocks().is_some() && matches!(campaign.engine, Engine::Stress(_)) {
            return None;
        }
        let right = judge.admitted(LISTED + 1);
        (right.len() <= LISTED).then_some(right)
    };
    if let Some(found) = searched.found() {
        let Some(right) = right(&found.schema) else { return vec![] };
        let saw = match &found.what {
            What::Outcome { outcome, .. } => format!("gave {}", text(outcome)),
            What::Blocked(_) => "did not return".to_owned(),
            What::Panicked(message) => format!("panicked: {}", message.lines().next().unwrap_or_default()),
            What::Memory(fault) => format!("had this fault of plain memory: {}", fault.kind),
        };
        let note = match searched.of_core {
            false => format!("When this was written, {} was not atomic: it {saw}.", object.label(searched.method)),
            true => format!("When this was written, core methods were not atomic: this {saw}."),
        };
        return vec![Case { schema: found.schema.clone(), right, note }];
    }
    let bounds = Bounds { invocations: 3..=4, ..Bounds::default() };
    let sampler = Sampler::new(object, Pool::One(searched.method), bounds, campaign.seed);
    let cases = sampler.take(10 * CONFORMING).filter_map(|schema| {
        let right = right(&schema)?;
        Some(Case { schema, right, note: String::new() })
    });
    cases.take(CONFORMING).collect()
}

/// How long [`check`] runs a schema on real threads.
pub const TIME: Duration = Duration::from_millis(200);

/// Runs a schema and panics if it shows an outcome other than the correct ones. Generated tests call this function.
///
/// An object that is written over the mirror of std runs under the scheduler, in every interleaving. Any other object
/// runs on real threads, for [`TIME`].
///
/// # Panics If an outcome is not correct, or if the object has no such methods.
pub fn check(object: &Object, schema: &str, right: &[&str]) {
    let program = Schema::parse(schema).and_then(|schema| object.program(&schema));
    let program = program.unwrap_or_else(|mistake| panic!("{mistake}"));
    let right: BTreeSet<&str> = right.iter().copied().collect();
    let mut wrong = None;
    let mut look = |outcome: &[Value]| {
        let outcome = text(outcome);
        if right.contains(outcome.as_str()) {
            return Next::Continue;
        }
        wrong = Some(outcome);
        Next::Stop
    };
    let once = systematic::Settings { executions: Executions::AtMost(1), ..systematic::Settings::default() };
    let mut engine = match systematic::run(&program, &once, &mut |_| Next::Continue).instrumented {
        true => Engine::exhaustive(),
        false => Engine::Stress(Settings { budget: Budget::Time(TIME), ..Settings::default() }),
    };
    let runs = engine.run(&program, &mut look);
    if let Some(wrong) = wrong {
        let right: Vec<&str> = right.into_iter().collect();
        panic!(
            "{}: {schema} gave\n    {wrong}\nafter {} executions; right would be\n    {}",
            object.name(),
            runs.executions(),
            right.join("\n    ")
        );
    }
    if let Some(failure) = runs.failure() {
        panic!("{}: {schema}: {failure:?}", object.name());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use interloper_scheduler::panics;

    use super::*;

    fn counter() -> Object {
        Object::describe("counter", || AtomicI64::new(0))
            .core("add", |counter, (amount,): (i64,)| counter.fetch_add(amount, Ordering::Relaxed))
            .build()
    }

    #[test]
    fn right_outcomes_pass() {
        check(&counter(), "{ add(1) } || { add(1) }", &["0, 1", "1, 0"]);
    }

    #[test]
    fn wrong_outcomes_and_wrong_schemas_fail() {
        let failure = |schema: &str, right: &[&str]| {
            let failed = panics::quietly(|| panics::caught(|| check(&counter(), schema, right)));
            failed.expect_err("a panic").message
        };
        let wrong = failure("{ add(1); add(1) }", &["0, 2", "1, 1"]);
        assert!(wrong.starts_with("counter: { add(1); add(1) } gave\n    0, 1\nafter "), "{wrong}");
        assert!(wrong.ends_with("right would be\n    0, 2\n    1, 1"), "{wrong}");
        let mistake = failure("{ sub(1) }", &[]);
        assert_eq!(mistake, "in counter: there is no method sub; there are add\n  { sub(1) }\n    ^");
    }
}
