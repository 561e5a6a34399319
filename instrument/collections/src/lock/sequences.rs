//! Sequences and single values in locks.

use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use interloper_commutativity::models::{
    DequeModel, PriorityQueueModel, RegisterModel, StackModel, deque, priority_queue, register, stack,
};
use interloper_commutativity::{Datum, Invocation, MethodId, Model, ToValue, Value};

use super::StdCollection;
use crate::environment::{argument, domain, maybe_later, parse, parse_list, unknown};
use crate::session::{DomainKind, Outcome};

fn fixed(result: Value) -> Result<Outcome, Value> {
    Ok(Outcome::fixed(result))
}

impl<T: Datum> StdCollection for VecDeque<T> {
    fn model(&self) -> Arc<dyn Model> {
        Arc::new(DequeModel)
    }

    fn state(&self) -> Value {
        self.to_value()
    }

    fn restore(&mut self, state: &Value) -> Result<(), Value> {
        let elements = parse_list(state)?;
        self.clear();
        self.extend(elements);
        Ok(())
    }

    fn reads(method: MethodId) -> bool {
        matches!(method, deque::FRONT | deque::BACK | deque::LEN | deque::IS_EMPTY | deque::CONTAINS)
    }

    fn look_up(&self, call: &Invocation) -> Result<Outcome, Value> {
        match call.method {
            deque::FRONT => Ok(maybe_later(self.front())),
            deque::BACK => Ok(maybe_later(self.back())),
            deque::LEN => fixed(self.len().to_value()),
            deque::IS_EMPTY => fixed(Value::Bool(self.is_empty())),
            deque::CONTAINS => {
                let element = argument::<T>(call, 0)?.to_value();
                fixed(Value::Bool(self.iter().any(|other| other.to_value() == element)))
            }
            _ => Err(unknown()),
        }
    }

    fn change(&mut self, call: &Invocation) -> Result<Outcome, Value> {
        match call.method {
            deque::PUSH_BACK => self.push_back(argument(call, 0)?),
            deque::PUSH_FRONT => self.push_front(argument(call, 0)?),
            deque::POP_FRONT => return Ok(maybe_later(self.pop_front().as_ref())),
            deque::POP_BACK => return Ok(maybe_later(self.pop_back().as_ref())),
            deque::CLEAR => self.clear(),
            _ => return Err(unknown()),
        }
        fixed(Value::Unit)
    }

    fn domain() -> DomainKind {
        domain::<T, T>()
    }
}

impl<T: Datum> StdCollection for Vec<T> {
    fn model(&self) -> Arc<dyn Model> {
        Arc::new(StackModel)
    }

    fn state(&self) -> Value {
        self.to_value()
    }

    fn restore(&mut self, state: &Value) -> Result<(), Value> {
        let elements: Vec<T> = parse_list(state)?;
        self.clear();
        self.extend(elements);
        Ok(())
    }

    fn reads(method: MethodId) -> bool {
        matches!(method, stack::PEEK | stack::LEN | stack::IS_EMPTY)
    }

    fn look_up(&self, call: &Invocation) -> Result<Outcome, Value> {
        match call.method {
            stack::PEEK => Ok(maybe_later(self.last())),
            stack::LEN => fixed(self.len().to_value()),
            stack::IS_EMPTY => fixed(Value::Bool(self.is_empty())),
            _ => Err(unknown()),
        }
    }

    fn change(&mut self, call: &Invocation) -> Result<Outcome, Value> {
        match call.method {
            stack::PUSH => self.push(argument(call, 0)?),
            stack::POP => return Ok(maybe_later(self.pop().as_ref())),
            stack::CLEAR => self.clear(),
            _ => return Err(unknown()),
        }
        fixed(Value::Unit)
    }

    fn domain() -> DomainKind {
        domain::<T, T>()
    }
}

impl<T: Datum + Ord> StdCollection for BinaryHeap<T> {
    fn model(&self) -> Arc<dyn Model> {
        Arc::new(PriorityQueueModel)
    }

    fn state(&self) -> Value {
        let mut forms: Vec<Value> = self.iter().map(ToValue::to_value).collect();
        forms.sort();
        Value::list(forms)
    }

    fn restore(&mut self, state: &Value) -> Result<(), Value> {
        let elements: Vec<T> = parse_list(state)?;
        self.clear();
        self.extend(elements);
        Ok(())
    }

    fn reads(method: MethodId) -> bool {
        matches!(method, priority_queue::PEEK | priority_queue::LEN | priority_queue::IS_EMPTY)
    }

    fn look_up(&self, call: &Invocation) -> Result<Outcome, Value> {
        match call.method {
            priority_queue::PEEK => Ok(maybe_later(self.peek())),
            priority_queue::LEN => fixed(self.len().to_value()),
            priority_queue::IS_EMPTY => fixed(Value::Bool(self.is_empty())),
            _ => Err(unknown()),
        }
    }

    fn change(&mut self, call: &Invocation) -> Result<Outcome, Value> {
        match call.method {
            priority_queue::PUSH => self.push(argument(call, 0)?),
            priority_queue::POP => return Ok(maybe_later(self.pop().as_ref())),
            priority_queue::CLEAR => self.clear(),
            _ => return Err(unknown()),
        }
        fixed(Value::Unit)
    }

    fn domain() -> DomainKind {
        domain::<T, T>()
    }
}

/// A register that is not counted with: the section's owner adds as it likes.
macro_rules! value {
    ([$($parameter:tt)*] $type:ty) => {
        impl<$($parameter)*> StdCollection for $type {
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
    };
}

macro_rules! values {
    ($($type:ty),*) => {$(value!([] $type);)*};
}

values!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, bool, char, String, ());
value!([T: Datum] Option<T>);
