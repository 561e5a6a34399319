//! Changes of a list at its ends, for the models whose state is a [`Value::List`].

use std::sync::Arc;

use crate::Value;

pub(super) fn push_back(items: &mut Arc<[Value]>, item: &Value) -> Value {
    *items = items.iter().chain([item]).cloned().collect();
    Value::Unit
}

pub(super) fn push_front(items: &mut Arc<[Value]>, item: &Value) -> Value {
    *items = [item].into_iter().chain(items.iter()).cloned().collect();
    Value::Unit
}

pub(super) fn pop_front(items: &mut Arc<[Value]>) -> Value {
    let Some((front, rest)) = items.split_first() else { return Value::None };
    let front = front.clone();
    *items = rest.into();
    Value::option(Some(front))
}

pub(super) fn pop_back(items: &mut Arc<[Value]>) -> Value {
    let Some((back, rest)) = items.split_last() else { return Value::None };
    let back = back.clone();
    *items = rest.into();
    Value::option(Some(back))
}

pub(super) fn clear(items: &mut Arc<[Value]>) -> Value {
    *items = Arc::default();
    Value::Unit
}
