//! Sequences and single values in locks.

use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use interloper_commutativity::models::{
    DequeModel, PriorityQueueModel, RegisterModel, StackModel, deque, priority_queue, register, stack,
};
use interloper_commutativity::{Datum, Invocation, MethodId, Model, ToValue, Value};
use interloper_std::time::{Duration, Instant};

use super::{Record, StdCollection};
use crate::environment::{argument, domain, fixed, maybe_later, parse, parse_list, unknown};
use crate::session::{DomainKind, Outcome};

/// A sequence: its state, what looks at it, and what changes it.
macro_rules! sequence {
    (
        $sequence:ident [$($bound:tt)*], $model:expr, $methods:ident, $state:expr,
        looks { $($look:ident => $seen:expr),* },
        changes { $($push:ident => $pushes:ident),* },
        takes { $($pop:ident => $pops:ident),* }
    ) => {
        impl<T: Datum $($bound)*> StdCollection for $sequence<T> {
            fn model(&self) -> Arc<dyn Model> {
                // Not generic.
                fn model() -> Arc<dyn Model> {
                    Arc::new($model)
                }
                model()
            }

            fn state(&self) -> Value {
                $state(self)
            }

            fn restore(&mut self, state: &Value) -> Result<(), Value> {
                let elements: Vec<T> = parse_list(state)?;
                self.clear();
                self.extend(elements);
                Ok(())
            }

            fn reads(method: MethodId) -> bool {
                matches!(method, $methods::LEN | $methods::IS_EMPTY $(| $methods::$look)*)
            }

            fn look_up(&self, call: &Invocation) -> Result<Outcome, Value> {
                match call.method {
                    $methods::LEN => fixed(self.len().to_value()),
                    $methods::IS_EMPTY => fixed(Value::Bool(self.is_empty())),
                    $($methods::$look => $seen(self, call),)*
                    _ => Err(unknown()),
                }
            }

            fn change(&mut self, call: &Invocation) -> Result<Outcome, Value> {
                match call.method {
                    $($methods::$pop => return Ok(maybe_later(self.$pops().as_ref())),)*
                    $($methods::$push => self.$pushes(argument(call, 0)?),)*
                    $methods::CLEAR => self.clear(),
                    _ => return Err(unknown()),
                }
                fixed(Value::Unit)
            }

            fn domain() -> DomainKind {
                domain::<T, T>()
            }
        }
    };
}

sequence! {
    VecDeque [], DequeModel, deque, ToValue::to_value,
    looks {
        FRONT => |deque: &Self, _| Ok(maybe_later(deque.front())),
        BACK => |deque: &Self, _| Ok(maybe_later(deque.back())),
        CONTAINS => contains
    },
    changes { PUSH_BACK => push_back, PUSH_FRONT => push_front },
    takes { POP_FRONT => pop_front, POP_BACK => pop_back }
}

sequence! {
    Vec [], StackModel, stack, ToValue::to_value,
    looks { PEEK => |stack: &Self, _| Ok(maybe_later(stack.last())) },
    changes { PUSH => push },
    takes { POP => pop }
}

sequence! {
    BinaryHeap [+ Ord], PriorityQueueModel, priority_queue, sorted,
    looks { PEEK => |queue: &Self, _| Ok(maybe_later(queue.peek())) },
    changes { PUSH => push },
    takes { POP => pop }
}

fn contains<T: Datum>(deque: &VecDeque<T>, call: &Invocation) -> Result<Outcome, Value> {
    let element = argument::<T>(call, 0)?.to_value();
    fixed(Value::Bool(deque.iter().any(|other| other.to_value() == element)))
}

fn sorted<T: Datum + Ord>(queue: &BinaryHeap<T>) -> Value {
    let mut forms: Vec<Value> = queue.iter().map(ToValue::to_value).collect();
    forms.sort();
    Value::list(forms)
}

/// A register without methods that count: the owner of the section adds as it likes.
impl<T: Record> StdCollection for T {
    fn model(&self) -> Arc<dyn Model> {
        Arc::new(RegisterModel { initial: self.to_value() })
    }

    fn state(&self) -> Value {
        self.to_value()
    }

    fn restore(&mut self, state: &Value) -> Result<(), Value> {
        *self = parse(state)?;
        Ok(())
    }

    fn reads(method: MethodId) -> bool {
        method == register::LOAD
    }

    fn look_up(&self, call: &Invocation) -> Result<Outcome, Value> {
        match call.method {
            register::LOAD => fixed(self.to_value()),
            _ => Err(unknown()),
        }
    }

    fn change(&mut self, call: &Invocation) -> Result<Outcome, Value> {
        match call.method {
            register::STORE => {
                *self = argument(call, 0)?;
                fixed(Value::Unit)
            }
            register::SWAP => fixed(std::mem::replace(self, argument(call, 0)?).to_value()),
            register::COMPARE_EXCHANGE => {
                let (old, new) = (argument::<Self>(call, 0)?.to_value(), argument(call, 1)?);
                let content = self.to_value();
                if content != old {
                    return fixed(Value::variant("Err", [content]));
                }
                *self = new;
                fixed(Value::variant("Ok", [content]))
            }
            _ => Err(unknown()),
        }
    }

    fn domain() -> DomainKind {
        domain::<Self, Self>()
    }
}

macro_rules! records {
    ($($type:ty),*) => {$(impl Record for $type {})*};
}

records!(
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    f32,
    f64,
    bool,
    char,
    String,
    (),
    Duration,
    Instant
);

impl<T: Datum> Record for Option<T> {}
