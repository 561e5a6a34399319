//! Atomics: registers and counters. Each operation is one lock-free step.
//!
//! `new` makes a register: an open environment loads, stores and compares-and-exchanges. `counter` makes a counter: an
//! open environment loads, adds and subtracts, but does not overwrite.
//!
//! # Differences from the original
//! - In a controlled run `compare_exchange_weak` never fails without a reason.
//! - What goes through `as_ptr` stays unseen.
//! - An environment never leaves the type's range: it does not subtract 1 from an unsigned 0. Such a call is `refused`
//!   and changes nothing, as if it were a checked `fetch_update`. The program's own `fetch_sub` wraps around.
//! - Steps happen one after the other whatever their [`Ordering`]: an error that only a weaker memory order shows is not
//!   found.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{self as real, Ordering};

use interloper_commutativity::models::{CounterModel, RegisterModel, register};
use interloper_commutativity::{Datum, Invocation, Method, MethodId, Model, ToValue, Value};

use crate::environment::{argument, domain, parse, unknown};
use crate::session::{DomainKind, Handle, Instrumented, Needs, Outcome};
use crate::site::Site;
use crate::task;

/// The abstract type of an atomic.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Register,
    Counter,
}

/// A method of the counter and what it does to 64-bit integers.
type Count = (MethodId, fn(i64, i64) -> i64);

const ADD: Count = (register::FETCH_ADD, i64::wrapping_add);
const SUB: Count = (register::FETCH_SUB, i64::wrapping_sub);
const MAX: Count = (register::FETCH_MAX, i64::max);
const MIN: Count = (register::FETCH_MIN, i64::min);

/// Reports that the content changed from `old` to `new` by `count` with `amount`: as that method, unless the width of
/// the atomic makes the result differ from 64 bits; then as a swap, which is exact too.
fn report_count(site: Site, (method, operation): Count, amount: Value, old: Value, new: Value) {
    if agrees(operation, &amount, &old, &new) {
        site.after(method, &[amount], &old);
    } else {
        site.after(register::SWAP, &[new], &old);
    }
}

fn agrees(operation: fn(i64, i64) -> i64, amount: &Value, old: &Value, new: &Value) -> bool {
    match (amount, old, new) {
        (Value::Int(amount), Value::Int(old), Value::Int(new)) => operation(*old, *amount) == *new,
        _ => false,
    }
}

/// The register or counter of an integer type that is narrower than the model's, or unsigned: a call that would leave
/// the type's range is refused.
struct Ranged<M> {
    base: M,
    within: fn(&Value) -> bool,
}

impl<M: Model> Model for Ranged<M> {
    fn name(&self) -> &str {
        self.base.name()
    }

    fn methods(&self) -> &[Method] {
        self.base.methods()
    }

    fn initial(&self) -> Value {
        self.base.initial()
    }

    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        let mut next = state.clone();
        let result = self.base.apply(&mut next, call);
        if !(self.within)(&next) {
            return Value::variant("refused", []);
        }
        *state = next;
        result
    }
}

/// The abstract type of an atomic of type `T`.
fn model<T: Datum>(kind: Kind, initial: &T) -> Arc<dyn Model> {
    let register = RegisterModel { initial: initial.to_value() };
    let within = |content: &Value| T::from_value(content).is_some();
    // The models count with 64 bits: their tables hold for a type that does so too.
    let as_is = within(&i64::MIN.to_value()) || !within(&Value::Int(0));
    match kind {
        Kind::Register if as_is => Arc::new(register),
        Kind::Counter if as_is => Arc::new(CounterModel),
        Kind::Register => Arc::new(Ranged { base: register, within }),
        Kind::Counter => Arc::new(Ranged { base: CounterModel, within }),
    }
}

macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident($type:ty)) => {
        $(#[$doc])*
        pub struct $name {
            inner: real::$name,
            handle: Handle,
            kind: Kind,
            initial: $type,
        }

        impl $name {
            /// A register with this content.
            pub const fn new(content: $type) -> Self {
                Self { inner: real::$name::new(content), handle: Handle::of(task::Kind::Atomic, 0), kind: Kind::Register, initial: content }
            }

            /// The content. No step: the atomic is borrowed exclusively.
            pub fn get_mut(&mut self) -> &mut $type {
                self.inner.get_mut()
            }

            /// The content. No step: the atomic is owned.
            pub const fn into_inner(self) -> $type {
                self.inner.into_inner()
            }

            /// Where the content is. Accesses through the pointer stay unseen.
            pub const fn as_ptr(&self) -> *mut $type {
                self.inner.as_ptr()
            }

            /// Loads the content. One step.
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $type {
                let Some(site) = self.handle.reader() else { return self.inner.load(order) };
                site.step(register::LOAD, &[], || {
                    let content = self.inner.load(order);
                    (content, content.to_value())
                })
            }

            /// Stores `content`. One step.
            #[inline]
            #[track_caller]
            pub fn store(&self, content: $type, order: Ordering) {
                let Some(site) = self.handle.site() else { return self.inner.store(content, order) };
                site.step(register::STORE, &[content.to_value()], || {
                    self.inner.store(content, order);
                    ((), Value::Unit)
                })
            }

            /// Stores `content` and returns the previous content. One step.
            #[inline]
            #[track_caller]
            pub fn swap(&self, content: $type, order: Ordering) -> $type {
                let Some(site) = self.handle.site() else { return self.inner.swap(content, order) };
                site.step(register::SWAP, &[content.to_value()], || {
                    let old = self.inner.swap(content, order);
                    (old, old.to_value())
                })
            }

            /// Stores `new` if the content is `current`. One step.
            ///
            /// # Errors
            /// The content, when it is not `current`.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                let Some(site) = self.handle.site() else {
                    return self.inner.compare_exchange(current, new, success, failure);
                };
                site.step(register::COMPARE_EXCHANGE, &[current.to_value(), new.to_value()], || {
                    let result = self.inner.compare_exchange(current, new, success, failure);
                    (result, result.to_value())
                })
            }

            /// As [`Self::compare_exchange`], but it may also fail when the content is `current`. In the run of a
            /// method under test it never fails so.
            ///
            /// # Errors
            /// The content.
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                let Some(site) = self.handle.site() else {
                    return self.inner.compare_exchange_weak(current, new, success, failure);
                };
                site.step(register::COMPARE_EXCHANGE, &[current.to_value(), new.to_value()], || {
                    let fails = site.is_task() && self.inner.load(Ordering::Relaxed) == current && task::fails_weakly();
                    let exchange = || self.inner.compare_exchange(current, new, success, failure);
                    let result = if fails { Err(current) } else { exchange() };
                    (result, result.to_value())
                })
            }

            /// Stores the result of `f` for the content, if there is one. *Not* one step: a load, then
            /// compare-and-exchange until nothing came between, as in the original.
            ///
            /// # Errors
            /// The content for which `f` returned `None`.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($type) -> Option<$type>,
            ) -> Result<$type, $type> {
                let mut content = self.load(fetch_order);
                while let Some(new) = f(content) {
                    match self.compare_exchange_weak(content, new, set_order, fetch_order) {
                        Ok(old) => return Ok(old),
                        Err(other) => content = other,
                    }
                }
                Err(content)
            }

            /// Stores the bitwise "and" of the content and `value`, and gives the content before. One step.
            #[track_caller]
            pub fn fetch_and(&self, value: $type, order: Ordering) -> $type {
                self.modify(|inner| inner.fetch_and(value, order))
            }

            /// Stores the bitwise "nand" of the content and `value`, and gives the content before. One step.
            #[track_caller]
            pub fn fetch_nand(&self, value: $type, order: Ordering) -> $type {
                self.modify(|inner| inner.fetch_nand(value, order))
            }

            /// Stores the bitwise "or" of the content and `value`, and gives the content before. One step.
            #[track_caller]
            pub fn fetch_or(&self, value: $type, order: Ordering) -> $type {
                self.modify(|inner| inner.fetch_or(value, order))
            }

            /// Stores the bitwise "exclusive or" of the content and `value`, and gives the content before. One step.
            #[track_caller]
            pub fn fetch_xor(&self, value: $type, order: Ordering) -> $type {
                self.modify(|inner| inner.fetch_xor(value, order))
            }

            /// One step of a method that the model lacks: it is a swap with the stored content.
            #[track_caller]
            fn modify(&self, operation: impl FnOnce(&real::$name) -> $type) -> $type {
                let Some(site) = self.handle.site() else { return operation(&self.inner) };
                site.before(register::MODIFY, &[], Needs::Nothing);
                let old = operation(&self.inner);
                let new = self.inner.load(Ordering::Relaxed);
                site.after(register::SWAP, &[new.to_value()], &old.to_value());
                old
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(<$type>::default())
            }
        }

        impl From<$type> for $name {
            fn from(content: $type) -> Self {
                Self::new(content)
            }
        }

        /// A load, that is one step.
        impl fmt::Debug for $name {
            #[track_caller]
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.load(Ordering::Relaxed).fmt(out)
            }
        }

        impl Instrumented for $name {
            fn handle(&self) -> &Handle {
                &self.handle
            }

            fn model(&self) -> Arc<dyn Model> {
                model(self.kind, &self.initial)
            }

            fn snapshot(&self) -> Value {
                self.inner.load(Ordering::Relaxed).to_value()
            }

            fn restore(&self, state: &Value) -> Result<(), Value> {
                self.inner.store(parse(state)?, Ordering::Relaxed);
                Ok(())
            }

            fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
                let value = |index| argument::<$type>(call, index);
                let order = Ordering::SeqCst;
                let result = match call.method {
                    register::LOAD => self.inner.load(order).to_value(),
                    register::STORE => {
                        self.inner.store(value(0)?, order);
                        Value::Unit
                    }
                    register::SWAP => self.inner.swap(value(0)?, order).to_value(),
                    register::COMPARE_EXCHANGE => {
                        self.inner.compare_exchange(value(0)?, value(1)?, order, order).to_value()
                    }
                    register::FETCH_ADD | register::FETCH_SUB | register::FETCH_MAX | register::FETCH_MIN => {
                        // There is one thread: the model computes what `fetch_update` would store.
                        let mut content = self.snapshot();
                        let within = |content: &Value| <$type>::from_value(content).is_some();
                        let result = Ranged { base: CounterModel, within }.apply(&mut content, call);
                        self.restore(&content)?;
                        result
                    }
                    _ => return Err(unknown()),
                };
                Ok(Outcome::fixed(result))
            }

            fn domain(&self) -> DomainKind {
                domain::<$type, $type>()
            }
        }
    };
}

macro_rules! integer {
    ($($name:ident($type:ident)),*) => {$(
        atomic! {
            #[doc = concat!("[`std::sync::atomic::", stringify!($name), "`], instrumented.")]
            $name($type)
        }

        impl $name {
            /// A counter with this content.
            pub const fn counter(content: $type) -> Self {
                Self { inner: real::$name::new(content), handle: Handle::of(task::Kind::Atomic, 0), kind: Kind::Counter, initial: content }
            }

            /// Adds `value`, wrapping around, and gives the content before. One step.
            #[inline]
            #[track_caller]
            pub fn fetch_add(&self, value: $type, order: Ordering) -> $type {
                self.count(ADD, value, |inner| inner.fetch_add(value, order))
            }

            /// Subtracts `value`, wrapping around, and gives the content before. One step.
            #[inline]
            #[track_caller]
            pub fn fetch_sub(&self, value: $type, order: Ordering) -> $type {
                self.count(SUB, value, |inner| inner.fetch_sub(value, order))
            }

            /// Stores the larger of the content and `value`, and gives the content before. One step.
            #[inline]
            #[track_caller]
            pub fn fetch_max(&self, value: $type, order: Ordering) -> $type {
                self.count(MAX, value, |inner| inner.fetch_max(value, order))
            }

            /// Stores the smaller of the content and `value`, and gives the content before. One step.
            #[inline]
            #[track_caller]
            pub fn fetch_min(&self, value: $type, order: Ordering) -> $type {
                self.count(MIN, value, |inner| inner.fetch_min(value, order))
            }

            #[inline]
            #[track_caller]
            fn count(&self, count: Count, amount: $type, operation: impl FnOnce(&real::$name) -> $type) -> $type {
                let Some(site) = self.handle.site() else { return operation(&self.inner) };
                let amount = amount.to_value();
                site.before(count.0, std::slice::from_ref(&amount), Needs::Nothing);
                let old = operation(&self.inner);
                let new = self.inner.load(Ordering::Relaxed);
                report_count(site, count, amount, old.to_value(), new.to_value());
                old
            }
        }
    )*};
}

integer!(AtomicI32(i32), AtomicI64(i64), AtomicIsize(isize), AtomicU32(u32), AtomicU64(u64), AtomicUsize(usize));

atomic! {
    /// [`std::sync::atomic::AtomicBool`], instrumented.
    AtomicBool(bool)
}

impl AtomicBool {
    /// Stores the opposite of the content, and gives the content before. One step.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

#[cfg(test)]
mod tests;
