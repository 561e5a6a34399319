//! Tests of the instrumented map.

mod environment;
mod same;
mod steps;

use interloper_commutativity::{ToValue, Value};

type Map = super::DashMap<i64, i64>;

fn entries(pairs: &[(i64, i64)]) -> Value {
    Value::map(pairs.iter().map(|(key, value)| (key.to_value(), value.to_value())))
}
