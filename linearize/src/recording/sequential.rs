//! The calls of a recorded history as a specification for the search.

use interloper_commutativity::Value;
use rustc_hash::FxHashMap;

use super::RecordedCall;
use super::part::Part;
use crate::general::Spec;
use crate::schema::Invocation;
use crate::types::{Call, agrees};

/// The sequential behaviour of the calls of a part.
pub(super) struct Sequential<'r> {
    part: Part<'r>,
    /// Calls that differ, or that have given different results.
    calls: Vec<Call>,
    /// For each call of the part, which of `calls` it is.
    operations: Vec<usize>,
    /// For each call of the part, the number of its own part: the entry of a map, for example.
    entries: Vec<Option<u32>>,
}

impl<'r> Sequential<'r> {
    pub fn new(part: Part<'r>) -> Sequential<'r> {
        let mut known: FxHashMap<(&Invocation, Option<&Value>), usize> = FxHashMap::default();
        let mut calls = Vec::new();
        let operation = |index| {
            let RecordedCall { invocation, result, .. } = part.call(index);
            *known.entry((invocation, result.as_ref())).or_insert_with(|| {
                calls.push(part.data_type.resolved(part.signature(index), &invocation.arguments));
                calls.len() - 1
            })
        };
        let operations = (0..part.calls.len()).map(operation).collect();
        let mut names: FxHashMap<Option<&Value>, u32> = FxHashMap::default();
        let entry = |index| {
            let name = part.name(index);
            // No other call notices a pending call that changes nothing, so it is about a part of its own.
            if name.is_none() && !(part.call(index).result.is_none() && part.signature(index).reads) {
                return None;
            }
            let next = names.len() as u32;
            Some(*names.entry(name).or_insert(next))
        };
        let entries = (0..part.calls.len()).map(entry).collect();
        Sequential { part, calls, operations, entries }
    }
}

impl Spec for Sequential<'_> {
    type State = Value;

    fn initial(&self) -> Value {
        self.part.data_type.initial()
    }

    fn step(&mut self, state: &Value, call: usize) -> Option<Value> {
        let mut state = state.clone();
        let result = self.calls[self.operations[call]].run(&mut state);
        self.part.call(call).result.as_ref().is_none_or(|observed| agrees(&result, observed)).then_some(state)
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
        self.part.signature(call).reads
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
