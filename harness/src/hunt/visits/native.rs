//! What real threads have shown in a visit with a finding, as data. No process repeats it, so a report is made of what was kept.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use interloper_commutativity::{Value, Variant};
use serde::{Deserialize, Serialize};

use super::super::{Attempt, Runs};
use crate::stress::{End, Observed, Overlap, Pace};

/// The executions of a schema on real threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Native {
    /// How often each outcome came: the results of the calls in text order.
    outcomes: Vec<(Vec<Kept>, u64)>,
    /// The outcome that is not correct, unless something else ended the executions.
    wrong: Option<Vec<Kept>>,
    /// In microseconds.
    took: u64,
    threads: usize,
    teams: usize,
    overlap: Overlap,
    end: End,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kept {
    None,
    Unit,
    Bool(bool),
    Int(i64),
    /// The upper and the lower half.
    Wide(i64, u64),
    Text(String),
    Some(Box<Kept>),
    Variant(String, Vec<Kept>),
    Tuple(Vec<Kept>),
    List(Vec<Kept>),
    Set(Vec<Kept>),
    Map(Vec<(Kept, Kept)>),
}

impl Native {
    /// What an attempt on real threads has shown. `None` if the scheduler ran it.
    pub(in super::super) fn of(attempt: &Attempt) -> Option<Native> {
        let Runs::Stress(Observed { outcomes, executions: _, took, threads, teams, overlap, pace: _, end }) =
            &attempt.runs
        else {
            return None;
        };
        Some(Native {
            outcomes: outcomes.iter().map(|(outcome, count)| (kept(outcome), *count)).collect(),
            wrong: attempt.wrong.as_deref().map(kept),
            took: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            threads: *threads,
            teams: *teams,
            overlap: *overlap,
            end: end.clone(),
        })
    }

    /// The same as an observation, with the outcome that is not correct. `None` if it is not one of so many calls.
    pub(in super::super) fn observed(&self, calls: usize) -> Option<(Observed, Option<Vec<Value>>)> {
        let outcomes: BTreeMap<Vec<Value>, u64> =
            self.outcomes.iter().map(|(outcome, count)| (values(outcome), *count)).collect();
        let wrong = self.wrong.as_deref().map(values);
        if !outcomes.keys().chain(&wrong).all(|outcome| outcome.len() == calls) {
            return None;
        }
        let observed = Observed {
            executions: outcomes.values().fold(0, |sum, count| sum.saturating_add(*count)),
            outcomes,
            took: Duration::from_micros(self.took),
            threads: self.threads,
            teams: self.teams,
            overlap: self.overlap,
            pace: Pace::default(),
            end: self.end.clone(),
        };
        Some((observed, wrong))
    }
}

fn kept<'v>(values: impl IntoIterator<Item = &'v Value>) -> Vec<Kept> {
    values.into_iter().map(Kept::from).collect()
}

fn values<'k, C: FromIterator<Value>>(kept: impl IntoIterator<Item = &'k Kept>) -> C {
    kept.into_iter().map(Value::from).collect()
}

impl From<&Value> for Kept {
    fn from(value: &Value) -> Kept {
        match value {
            Value::None => Kept::None,
            Value::Unit => Kept::Unit,
            Value::Bool(value) => Kept::Bool(*value),
            Value::Int(value) => Kept::Int(*value),
            Value::Wide(value) => Kept::Wide((**value >> 64) as i64, **value as u64),
            Value::Text(text) => Kept::Text(text.to_string()),
            Value::Some(value) => Kept::Some(Box::new(Kept::from(&**value))),
            Value::Variant(variant) => Kept::Variant(variant.name.to_string(), kept(&variant.fields)),
            Value::Tuple(items) => Kept::Tuple(kept(&**items)),
            Value::List(items) => Kept::List(kept(&**items)),
            Value::Set(items) => Kept::Set(kept(&**items)),
            Value::Map(entries) => Kept::Map(entries.iter().map(|(key, value)| (key.into(), value.into())).collect()),
        }
    }
}

impl From<&Kept> for Value {
    fn from(kept: &Kept) -> Value {
        match kept {
            Kept::None => Value::None,
            Kept::Unit => Value::Unit,
            Kept::Bool(value) => Value::Bool(*value),
            Kept::Int(value) => Value::Int(*value),
            Kept::Wide(upper, lower) => Value::Wide(Arc::new(i128::from(*upper) << 64 | i128::from(*lower))),
            Kept::Text(text) => Value::text(text.as_str()),
            Kept::Some(value) => Value::Some(Arc::new(Value::from(&**value))),
            Kept::Variant(name, fields) => {
                Value::Variant(Arc::new(Variant { name: name.as_str().into(), fields: values(fields) }))
            }
            Kept::Tuple(items) => Value::Tuple(values(items)),
            Kept::List(items) => Value::List(values(items)),
            Kept::Set(items) => Value::Set(Arc::new(values(items))),
            Kept::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (Value::from(key), Value::from(value)));
                Value::Map(Arc::new(entries.collect()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_comes_back() {
        let some = Value::Some(Arc::new(Value::None));
        let all = [
            Value::None,
            Value::Unit,
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Wide(Arc::new(i128::MIN)),
            Value::Wide(Arc::new(i128::from(u64::MAX))),
            Value::text("a \"b\"\n"),
            some.clone(),
            Value::variant("Err", [Value::Int(3), some.clone()]),
            Value::tuple([Value::Unit, Value::Int(1)]),
            Value::list([some.clone()]),
            Value::set([Value::Int(2), Value::Int(1)]),
            Value::Map(Arc::new([(Value::Int(1), some)].into())),
        ];
        let text = serde_json::to_string(&kept(&all)).expect("plain data is always JSON");
        let read: Vec<Kept> = serde_json::from_str(&text).expect("what was written");
        assert_eq!(values::<Vec<Value>>(&read), all);
    }
}
