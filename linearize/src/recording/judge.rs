//! Which checker judges a recorded history.

use std::borrow::Cow;
use std::collections::BTreeMap;

use interloper_commutativity::Value;
use rustc_hash::FxHashMap;

use super::{RecordedCall, Recording};
use crate::distinct::{self, CollectionCall, NotApplicable, RegisterCall, SetAction, SetCall, ValueId};
use crate::general::{self, Budget, Spec, Verdict};
use crate::history::History;
use crate::schema::Invocation;
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

    fn history(&self) -> Cow<'_, History> {
        let history = &self.recording.history;
        if self.calls.len() == history.calls().len() {
            return Cow::Borrowed(history);
        }
        Cow::Owned(history.part(&self.calls))
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
        let verdict = general::check(&mut Sequential::new(self), &self.history(), budget);
        self.in_recording(verdict)
    }

    /// The verdict of the checker for histories of this kind, where there is one.
    fn without_search(&self) -> Option<Verdict> {
        let family = self.data_type.family()?;
        let mut numbers = Numbers::default();
        let mut roles = Vec::with_capacity(self.calls.len());
        let mut kept = Vec::with_capacity(self.calls.len());
        for &index in &self.calls {
            let call = &self.recording.calls[index];
            match self.data_type.role(&call.invocation.method, &call.invocation.arguments, call.result.as_ref()) {
                Role::Other => return None,
                // Calls that do nothing, whether they take effect or not, are left out.
                Role::Nothing => {}
                role => {
                    roles.push(numbers.numbered(role));
                    kept.push(index);
                }
            }
        }
        if family == Family::PriorityQueue {
            numbers.ascending(&mut roles);
        }
        let part = Part { calls: kept, ..*self };
        let verdict = apply(family, &part.history(), &roles).ok()?;
        Some(part.in_recording(verdict))
    }
}

/// A [`Role`] with a number in place of its value.
#[derive(Clone, Copy)]
enum Numbered {
    Insert(ValueId),
    Remove(ValueId),
    Empty,
    Find(ValueId),
    /// Finds [`Value::None`].
    FindNone,
    Miss(ValueId),
    Unknown(ValueId),
    UnknownRemoval,
}

/// Values in the order in which they were met.
#[derive(Default)]
struct Numbers(FxHashMap<Value, ValueId>);

impl Numbers {
    fn number(&mut self, value: Value) -> ValueId {
        let next = ValueId::try_from(self.0.len()).expect("less than 2^32 values");
        *self.0.entry(value).or_insert(next)
    }

    /// # Panics
    /// For the roles that are not about the object's state.
    fn numbered(&mut self, role: Role) -> Numbered {
        match role {
            Role::Insert(value) => Numbered::Insert(self.number(value)),
            Role::Remove(value) => Numbered::Remove(self.number(value)),
            Role::Empty => Numbered::Empty,
            Role::Find(Value::None) => Numbered::FindNone,
            Role::Find(value) => Numbered::Find(self.number(value)),
            Role::Miss(value) => Numbered::Miss(self.number(value)),
            Role::Unknown(value) => Numbered::Unknown(self.number(value)),
            Role::UnknownRemoval => Numbered::UnknownRemoval,
            Role::Nothing | Role::Other => unreachable!("{role:?} is sorted out before"),
        }
    }

    /// Changes the numbers of what is inserted and removed so that they ascend with the values.
    fn ascending(self, roles: &mut [Numbered]) {
        let mut values: Vec<(Value, ValueId)> = self.0.into_iter().collect();
        values.sort_unstable();
        let mut ranks = vec![0; values.len()];
        for (rank, (_, number)) in (0..).zip(values) {
            ranks[number as usize] = rank;
        }
        for role in roles {
            if let Numbered::Insert(value) | Numbered::Remove(value) = role {
                *value = ranks[*value as usize];
            }
        }
    }
}

fn apply(family: Family, history: &History, roles: &[Numbered]) -> Result<Verdict, NotApplicable> {
    fn all<C>(
        roles: &[Numbered],
        call: impl FnMut(&Numbered) -> Result<C, NotApplicable>,
    ) -> Result<Vec<C>, NotApplicable> {
        roles.iter().map(call).collect()
    }
    match family {
        Family::Set => {
            let calls = all(roles, |&role| {
                let (value, action) = match role {
                    Numbered::Insert(value) => (value, SetAction::Add),
                    Numbered::Remove(value) => (value, SetAction::Remove),
                    Numbered::Find(value) => (value, SetAction::Find),
                    Numbered::Miss(value) => (value, SetAction::Miss),
                    Numbered::Unknown(value) => (value, SetAction::Unknown),
                    _ => return Err(NotApplicable),
                };
                Ok(SetCall { value, action })
            })?;
            distinct::set(history, &calls)
        }
        Family::Register => {
            let calls = all(roles, |&role| match role {
                Numbered::Insert(value) => Ok(RegisterCall::Write(value)),
                Numbered::Find(value) => Ok(RegisterCall::Read(value)),
                Numbered::FindNone => Ok(RegisterCall::ReadInitial),
                _ => Err(NotApplicable),
            })?;
            distinct::register(history, &calls)
        }
        Family::Queue | Family::Stack | Family::PriorityQueue => {
            let calls = all(roles, |&role| match role {
                Numbered::Insert(value) => Ok(CollectionCall::Insert(value)),
                Numbered::Remove(value) => Ok(CollectionCall::Remove(value)),
                Numbered::Empty => Ok(CollectionCall::Empty),
                Numbered::UnknownRemoval => Ok(CollectionCall::UnknownRemoval),
                _ => Err(NotApplicable),
            })?;
            match family {
                Family::Queue => distinct::queue(history, &calls),
                Family::Stack => distinct::stack(history, &calls),
                _ => distinct::priority_queue(history, &calls),
            }
        }
    }
}

/// The sequential behaviour of the calls of a part.
struct Sequential<'p> {
    part: &'p Part<'p>,
    /// For each call of the part the number of the first one that is the same call with the same result.
    operations: Vec<usize>,
    /// For each call of the part the number of the part, the entry of a map for example, that it is
    /// about.
    entries: Vec<Option<u32>>,
}

impl<'p> Sequential<'p> {
    fn new(part: &'p Part<'p>) -> Sequential<'p> {
        let mut first: FxHashMap<(&Invocation, Option<&Value>), usize> = FxHashMap::default();
        let operation = |index| {
            let call = part.call(index);
            *first.entry((&call.invocation, call.result.as_ref())).or_insert(index)
        };
        let operations = (0..part.calls.len()).map(operation).collect();
        let mut names: FxHashMap<Option<Value>, u32> = FxHashMap::default();
        let entry = |index| {
            let RecordedCall { invocation, result, .. } = part.call(index);
            let name = part.data_type.part(&invocation.method, &invocation.arguments);
            // Nobody notices a pending call that changes nothing, so it is about a part of its own.
            if name.is_none() && !(result.is_none() && part.reads[part.calls[index]]) {
                return None;
            }
            let next = names.len() as u32;
            Some(*names.entry(name).or_insert(next))
        };
        let entries = (0..part.calls.len()).map(entry).collect();
        Sequential { part, operations, entries }
    }
}

impl Spec for Sequential<'_> {
    type State = Value;

    fn initial(&self) -> Value {
        self.part.data_type.initial()
    }

    fn step(&mut self, state: &Value, call: usize) -> Option<Value> {
        let call = self.part.call(call);
        let mut state = state.clone();
        let result = self.part.data_type.apply(&mut state, &call.invocation.method, &call.invocation.arguments);
        call.result.as_ref().is_none_or(|observed| agrees(&result, observed)).then_some(state)
    }

    fn operation(&self, call: usize) -> usize {
        self.operations[call]
    }

    fn part(&self, call: usize) -> Option<u32> {
        self.entries[call]
    }

    fn is_read_only(&self, call: usize) -> bool {
        self.part.reads[self.part.calls[call]]
    }
}
