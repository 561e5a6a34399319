//! The abstract data types that come with the crate: each a [`Model`], with a constant for each method.
//!
//! | type | state |
//! |---|---|
//! | [`map`], [`sorted_map`] | [`Value::Map`] |
//! | [`set`], [`sorted_set`] | [`Value::Set`] |
//! | [`queue`], [`bounded_queue`], [`deque`] | [`Value::List`], front first |
//! | [`stack`] | [`Value::List`], bottom first |
//! | [`priority_queue`] | [`Value::List`], ascending |
//! | [`counter`] | [`Value::Int`] |
//! | [`register`] | any value |
//! | [`keyed_text`] | [`Value::Map`] |
//!
//! A result of type `Option` is written as [`Value::option`] writes it. A call with the wrong number of arguments, or
//! on a state of another type, changes nothing and gives `refused`.
//!
//! # Limits
//! Keys are ordered as [`Value`]s are. For integers, text and tuples of them that is the order of the Rust types; a type
//! with an order of its own (`Reverse`, say) is iterated in another order here.

#[macro_use]
mod methods;

pub mod bounded_queue;
pub mod counter;
pub mod deque;
mod keyed;
pub mod keyed_text;
mod list;
pub mod map;
pub mod priority_queue;
pub mod queue;
pub mod register;
mod sequence;
pub mod set;
pub mod sorted_map;
pub mod sorted_set;
pub mod stack;

pub use bounded_queue::BoundedQueueModel;
pub use counter::CounterModel;
pub use deque::DequeModel;
pub use keyed_text::KeyedTextModel;
pub use map::MapModel;
pub use priority_queue::{PriorityQueueModel, SmallestFirstModel};
pub use queue::QueueModel;
pub use register::RegisterModel;
pub use set::SetModel;
pub use sorted_map::SortedMapModel;
pub use sorted_set::SortedSetModel;
pub use stack::StackModel;

use std::sync::Arc;

use crate::{Model, Value};

/// Every model of this module that has a table of conditions, in the order of the table above. The bounded queue has a
/// capacity of 2, the register holds 0 at first, and the priority queue gives the largest element first.
pub fn models() -> Vec<Arc<dyn Model>> {
    vec![
        Arc::new(MapModel),
        Arc::new(SortedMapModel),
        Arc::new(SetModel),
        Arc::new(SortedSetModel),
        Arc::new(QueueModel),
        Arc::new(BoundedQueueModel::new(2)),
        Arc::new(DequeModel),
        Arc::new(StackModel),
        Arc::new(PriorityQueueModel),
        Arc::new(CounterModel),
        Arc::new(RegisterModel { initial: Value::Int(0) }),
    ]
}

/// The model of [`models`] with this name, `sorted-map` for example.
pub fn model_named(name: &str) -> Option<Arc<dyn Model>> {
    models().into_iter().find(|model| model.name() == name)
}

/// The result of a call that a model refuses: wrong number of arguments, or a state of another type.
fn refused() -> Value {
    Value::variant("refused", [])
}
