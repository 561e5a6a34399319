//! Parts of a recorded history, and the checkers that need no search.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use interloper_commutativity::Value;
use rustc_hash::FxHashMap;

use super::{RecordedCall, Recording};
use crate::distinct::{self, CollectionCall, NotApplicable, RegisterCall, SetAction, SetCall, TextCall, ValueId};
use crate::general::{self, Verdict};
use crate::history::History;
use crate::types::{DataType, Family, Role, Signature};

/// Some calls of a recorded history.
#[derive(Clone)]
pub(super) struct Part<'r> {
    pub data_type: &'r DataType,
    pub recording: &'r Recording,
    /// For each call of the recording, its method.
    pub signatures: Rc<[&'static Signature]>,
    /// The calls of the part, ascending.
    pub calls: Rc<[usize]>,
}

impl<'r> Part<'r> {
    pub fn call(&self, index: usize) -> &'r RecordedCall {
        &self.recording.calls[self.calls[index]]
    }

    /// The method of a call.
    pub fn signature(&self, index: usize) -> &'static Signature {
        self.signatures[self.calls[index]]
    }

    /// The part of the object that a call is about, where it is about one only.
    pub fn name(&self, index: usize) -> Option<&'r Value> {
        self.signature(index).part(&self.call(index).invocation.arguments)
    }

    fn role(&self, index: usize) -> Role {
        let call = self.call(index);
        self.data_type.role(self.signature(index), &call.invocation.arguments, call.result.as_ref())
    }

    /// The independent parts of this part, in the order of their names. `None`: some call is about all of them.
    pub fn split(&self) -> Option<Vec<Self>> {
        let mut parts: BTreeMap<&Value, Vec<usize>> = BTreeMap::new();
        for (index, &call) in self.calls.iter().enumerate() {
            parts.entry(self.name(index)?).or_default().push(call);
        }
        Some(parts.into_values().map(|calls| self.only(calls)).collect())
    }

    /// The part of this part with only these calls.
    fn only(&self, calls: Vec<usize>) -> Part<'r> {
        Part { calls: calls.into(), signatures: self.signatures.clone(), ..*self }
    }

    pub fn history(&self) -> Cow<'_, History> {
        let history = &self.recording.history;
        if self.calls.len() == history.calls().len() {
            return Cow::Borrowed(history);
        }
        Cow::Owned(history.part(&self.calls))
    }

    /// The verdict with the calls of the recording.
    pub fn in_recording(&self, verdict: Verdict) -> Verdict {
        let name = |order: Vec<usize>| order.into_iter().map(|call| self.calls[call]).collect();
        match verdict {
            Verdict::Linearizable { order } => Verdict::Linearizable { order: name(order) },
            Verdict::NotLinearizable(witness) => Verdict::NotLinearizable(general::Witness {
                stuck: witness.stuck.map(|call| self.calls[call]),
                longest: witness.longest.into_iter().map(name).collect(),
            }),
            Verdict::Unknown(bound) => Verdict::Unknown(bound),
        }
    }

    /// The verdict of the checker for histories of this kind, if there is one.
    pub fn without_search(&self) -> Option<Verdict> {
        let family = self.data_type.family?;
        if family == Family::Texts {
            return self.texts();
        }
        let mut numbers = Numbers::default();
        let mut roles = Vec::with_capacity(self.calls.len());
        let mut kept = Vec::with_capacity(self.calls.len());
        for (index, &call) in self.calls.iter().enumerate() {
            match self.role(index) {
                Role::Other => return None,
                // Calls that do nothing, whether they take effect or not, are left out.
                Role::Nothing => {}
                role => {
                    roles.push(numbers.numbered(role));
                    kept.push(call);
                }
            }
        }
        if family == Family::PriorityQueue {
            numbers.ascending(&mut roles);
        }
        let part = self.only(kept);
        let verdict = apply(family, &part.history(), &roles).ok()?;
        Some(part.in_recording(verdict))
    }

    /// The same for texts. All calls have to be about one of them.
    fn texts(&self) -> Option<Verdict> {
        let mut roles = Vec::with_capacity(self.calls.len());
        let mut kept = Vec::with_capacity(self.calls.len());
        for (index, &call) in self.calls.iter().enumerate() {
            if self.name(index) != self.name(0) {
                return None;
            }
            match self.role(index) {
                Role::Nothing => {}
                role => {
                    roles.push(role);
                    kept.push(call);
                }
            }
        }
        let call = |role| match role {
            &Role::Insert(Value::Text(ref text)) => Some(TextCall::Put(text)),
            Role::Append(Value::Text(text)) => Some(TextCall::Append(text)),
            Role::Find(Value::Text(text)) => Some(TextCall::Read(text)),
            _ => None,
        };
        let calls: Option<Vec<TextCall<'_>>> = roles.iter().map(call).collect();
        let part = self.only(kept);
        let verdict = distinct::text(&part.history(), &calls?).ok()?;
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
    /// For the roles that have no number: those of texts, and those that are not about the object's state.
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
            Role::Append(_) | Role::Nothing | Role::Other => unreachable!("{role:?} is sorted out before"),
        }
    }

    /// Changes the numbers of inserted and removed values so that they ascend with the values.
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
        Family::Texts => Err(NotApplicable),
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
