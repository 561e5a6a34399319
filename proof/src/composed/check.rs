//! A method against every environment within bounds, each a program of two tasks under the scheduler.

use std::sync::Arc;

use interloper_commutativity::Value;
use interloper_harness::Object;
use interloper_harness::judge::Refusal;
use interloper_harness::judged::{self, PATIENCE};
use interloper_harness::stress::Next;
use interloper_harness::systematic::{self, Schedule, Settings, blocked};
use interloper_linearize::outcomes::DEFAULT_BOUND;
use interloper_linearize::schema::{Invocation, Schema};
use interloper_scheduler::{Deadline, Executions};

use super::method::Verdict;

/// So many executions of each program at most.
const EXECUTIONS: u64 = 2_000;
/// So many operations of the environment at most, where the suite has more: a program has many more interleavings than a run
/// of the wrapper.
const OPERATIONS: usize = 2;

/// What surrounds a method.
pub struct Environment {
    /// How many keys calls name.
    pub keys: usize,
    /// How many keys there are: one more, perhaps.
    pub more_keys: usize,
    /// How many values.
    pub values: usize,
    /// Operations that the program of the method does without.
    pub without: Vec<String>,
    /// The object's own methods, if nothing else touches the map.
    pub own: Vec<String>,
    /// So many operations beside the method at most.
    pub bound: usize,
    /// So many before it.
    pub initial_size: usize,
}

/// What came of it.
#[derive(Default)]
pub struct Checked {
    /// How many programs were run.
    pub programs: u64,
    /// How many of them not to the end of what was to be made.
    pub unfinished: u64,
    /// How many executions they had.
    pub executions: u64,
    /// Programs of which there is no telling what is right, and why.
    pub refused: Vec<String>,
    /// The smallest program with an outcome that no order explains.
    pub violation: Option<Violation>,
    /// Whether there is one in the environment of the method's own program, too, if that is another one.
    pub modular: Option<bool>,
}

/// A program that shows an outcome that no sequential order explains.
pub struct Violation {
    pub schema: Schema,
    /// The results of the calls, in the order of the text.
    pub outcome: Vec<Value>,
    /// Which execution by the systematic engine shows it.
    pub systematic: u64,
    /// The same for the random strategies, if they do.
    pub random: Option<u64>,
}

impl Checked {
    /// Another argument of the same method.
    pub fn add(&mut self, other: Checked) {
        self.programs += other.programs;
        self.unfinished += other.unfinished;
        self.executions += other.executions;
        self.refused.extend(other.refused);
        self.modular = match (self.modular, other.modular) {
            (Some(one), Some(other)) => Some(one && other),
            (one, other) => one.or(other),
        };
        if self.violation.is_none() {
            self.violation = other.violation;
        }
    }

    /// The verdict of the suite that this is.
    pub fn verdict(&self) -> Verdict {
        match (&self.violation, self.modular) {
            (None, _) => Verdict::Linearizable,
            (Some(_), Some(true)) => Verdict::Modular,
            (Some(_), _) => Verdict::NotLinearizable,
        }
    }
}

/// Tries a method, smallest environments first: with the keys that it is known to use, then with one more.
pub fn check(object: &Object, environment: &Environment) -> Checked {
    let mut checked = Checked::default();
    let bound = environment.bound.min(OPERATIONS);
    let calls = open(environment, environment.keys, &[]);
    checked.violation = search(object, &calls, bound, &states(environment, environment.keys), &mut checked);
    if checked.violation.is_none() && environment.more_keys > environment.keys {
        let mut calls = open(environment, environment.more_keys, &["insert_if_absent".to_owned()]);
        // Of the values one is enough, which no initial state lacks.
        let other = Value::Int(environment.values as i64 - 1);
        calls.retain(|call| call.arguments.get(1).is_none_or(|value| *value == other));
        let states = states(environment, environment.more_keys);
        checked.violation = search(object, &calls, bound, &states, &mut checked);
    }
    if checked.violation.is_some() && !(environment.without.is_empty() && environment.own.is_empty()) {
        let (calls, before) = if environment.own.is_empty() {
            (open(environment, environment.keys, &environment.without), states(environment, environment.keys))
        } else {
            let own = environment.own.iter().map(String::as_str).chain(["method"]);
            let own: Vec<Invocation> = own.map(|name| Invocation::new(name, [])).collect();
            let before = (0..=environment.initial_size).flat_map(|length| words(&own, length)).collect();
            (own, before)
        };
        checked.modular = Some(search(object, &calls, bound, &before, &mut checked).is_none());
    }
    checked
}

/// The operations of the open environment, but for some.
fn open(environment: &Environment, keys: usize, without: &[String]) -> Vec<Invocation> {
    let mut calls = Vec::new();
    for key in numbers(keys) {
        calls.push(Invocation::new("get", [key.clone()]));
        for value in numbers(environment.values) {
            calls.push(Invocation::new("insert", [key.clone(), value.clone()]));
            calls.push(Invocation::new("insert_if_absent", [key.clone(), value]));
        }
        calls.push(Invocation::new("remove", [key]));
    }
    calls.retain(|call| !without.iter().any(|name| **name == *call.method));
    calls
}

/// The ways to the initial states: entries of different keys.
fn states(environment: &Environment, keys: usize) -> Vec<Vec<Invocation>> {
    let mut all: Vec<Vec<Invocation>> = vec![vec![]];
    for key in numbers(keys) {
        for state in all.clone() {
            if state.len() < environment.initial_size {
                let entries = numbers(environment.values).map(|value| Invocation::new("insert", [key.clone(), value]));
                all.extend(entries.map(|entry| [&state[..], &[entry]].concat()));
            }
        }
    }
    all
}

fn numbers(count: usize) -> impl Iterator<Item = Value> {
    (0..count as i64).map(Value::Int)
}

/// All sequences of so many calls.
fn words(calls: &[Invocation], length: usize) -> Vec<Vec<Invocation>> {
    (0..length).fold(vec![vec![]], |words, _| {
        let longer = |word: Vec<Invocation>| calls.iter().map(move |call| [&word[..], &[call.clone()]].concat());
        words.into_iter().flat_map(longer).collect()
    })
}

/// The first program that fails: the method in one task, and the operations of the environment, one after the other, each in
/// a task of its own, after what leads to the initial state; then the state is read. So an operation that comes to its end
/// is no preemption of it, and with as many preemptions as operations these fall into any gaps of the method.
fn search(
    object: &Object,
    calls: &[Invocation],
    bound: usize,
    before: &[Vec<Invocation>],
    checked: &mut Checked,
) -> Option<Violation> {
    for operations in 0..=bound {
        for before in before {
            for beside in words(calls, operations) {
                let found = attempt(object, program(before, &beside), operations, checked);
                if found.is_some() {
                    return found;
                }
            }
        }
    }
    None
}

fn program(before: &[Invocation], beside: &[Invocation]) -> Schema {
    let call = |name: &str| vec![Invocation::new(Arc::from(name), [])];
    let first: Vec<_> = [before.to_vec()].into_iter().filter(|before| !before.is_empty()).collect();
    let begin = first.len();
    let beside: Vec<_> = beside.iter().map(|call| vec![call.clone()]).collect();
    let last = begin + 1 + beside.len();
    let sequences = [first, vec![call("method")], beside, vec![call("state")]].concat();
    let from_first = (begin..last).flat_map(|sequence| (0..begin).map(move |first| (first, sequence)));
    let chain = (begin + 2..last).map(|sequence| (sequence - 1, sequence));
    let to_last = (0..last).map(|sequence| (sequence, last));
    Schema::new(sequences, from_first.chain(chain).chain(to_last).collect()).expect("first, beside each other, last")
}

/// Runs a program, and gives what no order explains.
fn attempt(object: &Object, schema: Schema, operations: usize, checked: &mut Checked) -> Option<Violation> {
    let program = object.program(&schema).expect("calls of the object");
    let judge = match judged::within(&program, object.visibility(), DEFAULT_BOUND, PATIENCE, Deadline::NEVER) {
        Ok((judge, _)) => Some(judge),
        // It hangs although nothing is beside it: that no order explains either. The scheduler says so, and not the clock.
        Err(Refusal::Blocked(_)) => None,
        Err(refusal) => {
            checked.refused.push(format!("{schema}: {}", refusal.text(&schema)));
            return None;
        }
    };
    let few = Settings { executions: Executions::AtMost(EXECUTIONS), ..Settings::default() };
    let run = |settings: Settings| {
        let mut wrong = None;
        let explored = systematic::run(&program, &settings, &mut |outcome| {
            let right = match &judge {
                Some(judge) => judge.admits(outcome),
                None => !outcome.contains(&blocked()),
            };
            if right {
                return Next::Continue;
            }
            wrong = Some(outcome.to_vec());
            Next::Stop
        });
        (explored, wrong)
    };
    let (explored, wrong) = run(Settings { schedule: Schedule::Preemptions(operations as u32), ..few.clone() });
    checked.programs += 1;
    checked.executions += explored.executions;
    let Some(outcome) = wrong else {
        checked.unfinished += u64::from(!explored.exhausted || explored.cut > 0);
        return None;
    };
    let (at_random, again) = run(few.at_random(1));
    let random = again.map(|_| at_random.executions);
    Some(Violation { schema, outcome, systematic: explored.executions, random })
}
