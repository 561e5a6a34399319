//! Which checker judges a recorded history.

use std::collections::BTreeMap;

use interloper_commutativity::Value;
use rustc_hash::FxHashMap;

use super::{RecordedCall, Recording};
use crate::distinct::{self, CollectionCall, NotApplicable, RegisterCall, SetAction, SetCall, ValueId};
use crate::general::{self, Budget, Spec, Verdict};
use crate::history::{History, Interval};
use crate::types::{DataType, Family, Role, Unresolved, agrees, resolve};

/// A verdict and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The verdict; calls are indices into [`Recording::calls`]. When there are several parts, the witness of a
    /// violation is about one of them only.
    pub verdict: Verdict,
    /// Which checkers were used.
    pub checker: Checker,
    /// How many independent parts of the object, entries of a map for example, were judged apart.
    pub parts: usize,
}

/// Who has given a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checker {
    /// A construction of [`crate::distinct`].
    Distinct,
    /// The search of [`crate::general`].
    General,
    /// The one for some parts and the other for other parts.
    Both,
}

/// Judges a recorded history, by a checker that needs no search where there is one, and part by part where the object
/// has independent parts. The budget is one for each part.
///
/// # Errors
/// When the type has no such call: the index of the call and the reason.
pub fn check(
    data_type: &dyn DataType,
    recording: &Recording,
    budget: Budget<'_>,
) -> Result<Checked, (usize, Unresolved)> {
    let mut reads = Vec::with_capacity(recording.calls.len());
    for (index, call) in recording.calls.iter().enumerate() {
        let (method, arguments) = (&call.invocation.method, &call.invocation.arguments);
        reads.push(resolve(data_type, method, arguments).map_err(|reason| (index, reason))?.reads);
    }
    let whole = Part { data_type, recording, reads: &reads, calls: (0..recording.calls.len()).collect() };
    if let Some(verdict) = whole.without_search() {
        return Ok(Checked { verdict, checker: Checker::Distinct, parts: 1 });
    }
    let parts = match whole.split() {
        Some(parts) => parts,
        None => vec![whole],
    };
    Ok(judge(recording, &parts, budget))
}

fn judge(recording: &Recording, parts: &[Part<'_>], budget: Budget<'_>) -> Checked {
    let mut orders = Vec::with_capacity(parts.len());
    let mut violation: Option<(usize, Verdict)> = None;
    let mut unknown = false;
    let (mut distinct, mut general) = (false, false);
    for part in parts {
        let verdict = part.without_search();
        distinct |= verdict.is_some();
        general |= verdict.is_none();
        match verdict.unwrap_or_else(|| part.search(budget)) {
            Verdict::Linearizable { order } => orders.push(order),
            Verdict::Unknown => unknown = true,
            Verdict::NotLinearizable(witness) => {
                let returned = |call: usize| recording.history.calls()[call].returned;
                let at = witness.stuck.and_then(returned).unwrap_or(usize::MAX);
                if violation.as_ref().is_none_or(|(first, _)| at < *first) {
                    violation = Some((at, Verdict::NotLinearizable(witness)));
                }
            }
        }
    }
    let checker = match (distinct, general) {
        (true, true) => Checker::Both,
        (true, false) => Checker::Distinct,
        (false, _) => Checker::General,
    };
    let verdict = match violation {
        Some((_, verdict)) => verdict,
        None if unknown => Verdict::Unknown,
        None => Verdict::Linearizable { order: merge(&recording.history, orders) },
    };
    Checked { verdict, checker, parts: parts.len() }
}

/// One linearization out of those of independent parts: each call as early as its invocation and the calls before it
/// in its part allow. Linearizability is local: nothing is in the way.
fn merge(history: &History, orders: Vec<Vec<usize>>) -> Vec<usize> {
    let mut timed = Vec::with_capacity(history.calls().len());
    for order in orders {
        let mut time = 0;
        timed.extend(order.into_iter().map(|call| {
            time = time.max(history.calls()[call].invoked);
            (time, call)
        }));
    }
    timed.sort_by_key(|&(time, _)| time);
    timed.into_iter().map(|(_, call)| call).collect()
}

/// Some calls of a recorded history.
struct Part<'r> {
    data_type: &'r dyn DataType,
    recording: &'r Recording,
    /// For each call of the recording, whether it never changes the object.
    reads: &'r [bool],
    /// The calls of the part, ascending.
    calls: Vec<usize>,
}

impl Part<'_> {
    fn call(&self, index: usize) -> &RecordedCall {
        &self.recording.calls[self.calls[index]]
    }

    /// The independent parts of this part, in the order of their names. None: there is a call about all of them.
    fn split(&self) -> Option<Vec<Self>> {
        let mut parts: BTreeMap<Value, Vec<usize>> = BTreeMap::new();
        for &call in &self.calls {
            let invocation = &self.recording.calls[call].invocation;
            let name = self.data_type.part(&invocation.method, &invocation.arguments)?;
            parts.entry(name).or_default().push(call);
        }
        Some(parts.into_values().map(|calls| Part { calls, ..*self }).collect())
    }

    fn history(&self) -> History {
        let calls: Vec<Interval> = self.calls.iter().map(|&call| self.recording.history.calls()[call]).collect();
        History::from_intervals(calls).expect("a part of a history is one")
    }

    /// The verdict with the calls of the recording.
    fn in_recording(&self, verdict: Verdict) -> Verdict {
        let name = |order: Vec<usize>| order.into_iter().map(|call| self.calls[call]).collect();
        match verdict {
            Verdict::Linearizable { order } => Verdict::Linearizable { order: name(order) },
            Verdict::NotLinearizable(witness) => Verdict::NotLinearizable(general::Witness {
                stuck: witness.stuck.map(|call| self.calls[call]),
                longest: witness.longest.into_iter().map(name).collect(),
            }),
            Verdict::Unknown => Verdict::Unknown,
        }
    }

    fn search(&self, budget: Budget<'_>) -> Verdict {
        let verdict = general::check(&mut Sequential(self), &self.history(), budget);
        self.in_recording(verdict)
    }

    /// The verdict of the checker for histories of this kind, where there is one.
    fn without_search(&self) -> Option<Verdict> {
        let family = self.data_type.family()?;
        let mut roles = Vec::with_capacity(self.calls.len());
        let mut kept = Vec::with_capacity(self.calls.len());
        for &index in &self.calls {
            let call = &self.recording.calls[index];
            match self.data_type.role(&call.invocation.method, &call.invocation.arguments, call.result.as_ref()) {
                Role::Other => return None,
                Role::Nothing => {}
                role => {
                    roles.push(role);
                    kept.push(index);
                }
            }
        }
        // Calls that do nothing, whether they take effect or not, are left out.
        let part = Part { calls: kept, ..*self };
        let verdict = apply(family, &part.history(), &roles).ok()?;
        Some(part.in_recording(verdict))
    }
}

fn apply(family: Family, history: &History, roles: &[Role]) -> Result<Verdict, NotApplicable> {
    let number = numbers(roles, family == Family::PriorityQueue);
    match family {
        Family::Set => {
            let call = |role: &Role| {
                let (value, action) = match role {
                    Role::Insert(value) => (value, SetAction::Add),
                    Role::Remove(value) => (value, SetAction::Remove),
                    Role::Find(value) => (value, SetAction::Find),
                    Role::Miss(value) => (value, SetAction::Miss),
                    Role::Unknown(value) => (value, SetAction::Unknown),
                    _ => return Err(NotApplicable),
                };
                Ok(SetCall { value: number[value], action })
            };
            distinct::set(history, &roles.iter().map(call).collect::<Result<Vec<_>, _>>()?)
        }
        Family::Register => {
            let call = |role: &Role| match role {
                Role::Insert(value) => Ok(RegisterCall::Write(number[value])),
                Role::Find(Value::None) => Ok(RegisterCall::ReadInitial),
                Role::Find(value) => Ok(RegisterCall::Read(number[value])),
                _ => Err(NotApplicable),
            };
            distinct::register(history, &roles.iter().map(call).collect::<Result<Vec<_>, _>>()?)
        }
        Family::Queue | Family::Stack | Family::PriorityQueue => {
            let call = |role: &Role| match role {
                Role::Insert(value) => Ok(CollectionCall::Insert(number[value])),
                Role::Remove(value) => Ok(CollectionCall::Remove(number[value])),
                Role::Empty => Ok(CollectionCall::Empty),
                Role::UnknownRemoval => Ok(CollectionCall::UnknownRemoval),
                _ => Err(NotApplicable),
            };
            let calls = roles.iter().map(call).collect::<Result<Vec<_>, _>>()?;
            match family {
                Family::Queue => distinct::queue(history, &calls),
                Family::Stack => distinct::stack(history, &calls),
                _ => distinct::priority_queue(history, &calls),
            }
        }
    }
}

/// A number for each value, ascending with the values when that is asked for.
fn numbers(roles: &[Role], ascending: bool) -> FxHashMap<&Value, ValueId> {
    let mut numbers: FxHashMap<&Value, ValueId> = FxHashMap::default();
    for role in roles {
        if let Role::Insert(value)
        | Role::Remove(value)
        | Role::Find(value)
        | Role::Miss(value)
        | Role::Unknown(value) = role
        {
            let next = ValueId::try_from(numbers.len()).expect("less than 2^32 values");
            numbers.entry(value).or_insert(next);
        }
    }
    if ascending {
        let mut values: Vec<&Value> = numbers.keys().copied().collect();
        values.sort_unstable();
        for (number, value) in (0..).zip(values) {
            numbers.insert(value, number);
        }
    }
    numbers
}

/// The sequential behaviour of the calls of a part.
struct Sequential<'p>(&'p Part<'p>);

impl Spec for Sequential<'_> {
    type State = Value;

    fn initial(&self) -> Value {
        self.0.data_type.initial()
    }

    fn step(&mut self, state: &Value, call: usize) -> Option<Value> {
        let call = self.0.call(call);
        let mut state = state.clone();
        let result = self.0.data_type.apply(&mut state, &call.invocation.method, &call.invocation.arguments);
        call.result.as_ref().is_none_or(|observed| agrees(&result, observed)).then_some(state)
    }

    fn is_read_only(&self, call: usize) -> bool {
        self.0.reads[self.0.calls[call]]
    }
}
