//! The calls of a recorded history as a specification for the search.

use interloper_commutativity::Value;
use rustc_hash::FxHashMap;

use super::RecordedCall;
use super::part::Part;
use crate::general::Spec;
use crate::schema::Invocation;
use crate::types::agrees;

/// The sequential behaviour of the calls of a part.
pub(super) struct Sequential<'r> {
    part: Part<'r>,
    /// For each call of the part the number of the first one that is the same call with the same result.
    operations: Vec<usize>,
    /// For each call of the part the number of the part, the entry of a map for example, that it is
    /// about.
    entries: Vec<Option<u32>>,
}

impl<'r> Sequential<'r> {
    pub fn new(part: Part<'r>) -> Sequential<'r> {
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

    fn bytes(&self, state: &Value) -> usize {
        bytes(state)
    }

    fn is_read_only(&self, call: usize) -> bool {
        self.part.reads[self.part.calls[call]]
    }
}

/// About how many bytes a value takes. What it shares with other values is counted, too.
fn bytes(value: &Value) -> usize {
    /// An entry of an ordered tree, besides the key and the value.
    const ENTRY: usize = 16;
    let content = match value {
        Value::Text(text) => text.len(),
        Value::Tuple(items) | Value::List(items) => items.iter().map(bytes).sum(),
        Value::Set(items) => items.iter().map(|item| bytes(item) + ENTRY).sum(),
        Value::Map(entries) => entries.iter().map(|(key, value)| bytes(key) + bytes(value) + ENTRY).sum(),
        Value::Variant(variant) => variant.name.len() + variant.fields.iter().map(bytes).sum::<usize>(),
        Value::Some(inner) => bytes(inner),
        Value::Wide(_) => size_of::<i128>(),
        Value::None | Value::Unit | Value::Bool(_) | Value::Int(_) => 0,
    };
    size_of::<Value>() + content
}
