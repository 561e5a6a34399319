//! Changes of a list at its ends, for the models whose state is a [`Value::List`].

use std::sync::Arc;

use crate::{End, Value};

pub(super) fn push(items: &mut Arc<[Value]>, end: End, item: &Value) -> Value {
    *items = match end {
        End::Front => [item].into_iter().chain(items.iter()).cloned().collect(),
        End::Back => items.iter().chain([item]).cloned().collect(),
    };
    Value::Unit
}

/// Puts `item` where the order of an ascending list has it.
pub(super) fn insert(items: &mut Arc<[Value]>, item: &Value) -> Value {
    let (below, above) = items.split_at(items.partition_point(|other| other <= item));
    *items = below.iter().chain([item]).chain(above).cloned().collect();
    Value::Unit
}

pub(super) fn pop(items: &mut Arc<[Value]>, end: End) -> Value {
    let split = match end {
        End::Front => items.split_first(),
        End::Back => items.split_last(),
    };
    let Some((outermost, rest)) = split else { return Value::None };
    let outermost = outermost.clone();
    *items = rest.into();
    Value::option(Some(outermost))
}

pub(super) fn peek(items: &[Value], end: End) -> Value {
    Value::option(match end {
        End::Front => items.first().cloned(),
        End::Back => items.last().cloned(),
    })
}
