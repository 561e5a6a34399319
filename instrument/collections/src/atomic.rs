//! Atomics: registers and counters. Each operation is one lock-free step.
//!
//! `new` makes a register: an open environment loads, stores and compares-and-exchanges. `counter` makes a counter: an
//! open environment loads, adds and subtracts, but does not overwrite.
//!
//! # Differences from the original
//! - In a controlled run `compare_exchange_weak` never fails without a reason.
//! - What goes through `as_ptr` is not seen.
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
/// the atomic made a difference to 64 bits; then as a swap, which is exact too.
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

/// The register or counter of an integer type narrower than the model's, or unsigned: a call that would leave the type's
/// range is refused.
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
    // The models count with 64 bits: where the type does so too, their tables hold.
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
                Self { inner: real::$name::new(content), handle: Handle::new(), kind: Kind::Register, initial: content }
            }

            /// The content. No step: the atomic is borrowed exclusively.
            pub fn get_mut(&mut self) -> &mut $type {
                self.inner.get_mut()
            }

            /// The content. No step: the atomic is owned.
            pub const fn into_inner(self) -> $type {
                self.inner.into_inner()
            }

            /// Where the content is. What goes through the pointer is not seen.
            pub const fn as_ptr(&self) -> *mut $type {
                self.inner.as_ptr()
            }

            /// Loads the content. One step.
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $type {
                let Some(site) = self.handle.site() else { return self.inner.load(order) };
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

            /// Stores `content` and gives the one before. One step.
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

            /// As [`Self::compare_exchange`]. Outside a controlled run it may also fail when the content is `current`;
            /// in one it never does.
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
                if self.handle.site().is_none() {
                    return self.inner.compare_exchange_weak(current, new, success, failure);
                }
                self.compare_exchange(current, new, success, failure)
            }

            /// Stores what `f` makes of the content, as long as it makes anything. *Not* one step: a load, then
            /// compare-and-exchange until nothing came in between, as in the original.
            ///
            /// # Errors
            /// The content of which `f` made nothing.
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

            /// One step of a method that the model does not have: it is a swap with what it stored.
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
                        // There is one thread: what the model makes of the content is what `fetch_update` would store.
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

            fn needs(&self, _call: &Invocation) -> Needs {
                Needs::Nothing
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
                Self { inner: real::$name::new(content), handle: Handle::new(), kind: Kind::Counter, initial: content }
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Recorder, check_environment, done};

    const ORDER: Ordering = Ordering::SeqCst;

    /// An operation, by number, with two arguments.
    type Op = (u8, i32, i32);

    fn perform_integer(method: u8) -> &'static str {
        [
            "load",
            "store",
            "swap",
            "compare_exchange",
            "compare_exchange_weak",
            "fetch_update",
            "fetch_and",
            "fetch_nand",
            "fetch_or",
            "fetch_xor",
            "fetch_add",
            "fetch_sub",
            "fetch_max",
            "fetch_min",
        ][usize::from(method)]
    }

    /// The same program text for the original and for the wrapper.
    macro_rules! perform {
        ($atomic:expr, $type:ty, $op:expr) => {{
            let (method, one, two) = $op;
            let (one, two) = (one as $type, two as $type);
            let atomic = $atomic;
            match perform_integer(method) {
                "load" => atomic.load(ORDER).to_value(),
                "store" => atomic.store(one, ORDER).to_value(),
                "swap" => atomic.swap(one, ORDER).to_value(),
                "compare_exchange" => atomic.compare_exchange(one, two, ORDER, ORDER).to_value(),
                // Without spurious failures on the machines that have a strong one only.
                "compare_exchange_weak" => atomic.compare_exchange_weak(one, two, ORDER, ORDER).is_err().to_value(),
                "fetch_update" => {
                    atomic.fetch_update(ORDER, ORDER, |old| (old != one).then_some(old.wrapping_add(two))).to_value()
                }
                "fetch_and" => atomic.fetch_and(one, ORDER).to_value(),
                "fetch_nand" => atomic.fetch_nand(one, ORDER).to_value(),
                "fetch_or" => atomic.fetch_or(one, ORDER).to_value(),
                "fetch_xor" => atomic.fetch_xor(one, ORDER).to_value(),
                "fetch_add" => atomic.fetch_add(one, ORDER).to_value(),
                "fetch_sub" => atomic.fetch_sub(one, ORDER).to_value(),
                "fetch_max" => atomic.fetch_max(one, ORDER).to_value(),
                "fetch_min" => atomic.fetch_min(one, ORDER).to_value(),
                other => unreachable!("{other}"),
            }
        }};
    }

    macro_rules! behaves {
        ($($name:ident($type:ident)),*) => {$(
            for make in [$name::new, $name::counter] {
                let original = real::$name::new(1);
                let free = make(1);
                let recorder = Recorder::new();
                let bound = recorder.make(|| make(1));
                for op in OPS.with_borrow(Clone::clone) {
                    let expected = perform!(&original, $type, op);
                    assert_eq!(perform!(&free, $type, op), expected, "free: {op:?}");
                    let (seen, log) = recorder.run(|| perform!(&*bound, $type, op));
                    assert_eq!(seen, expected, "bound: {op:?}: {log:?}");
                    assert_eq!(bound.snapshot(), original.load(ORDER).to_value());
                }
            }
        )*};
    }

    thread_local! {
        static OPS: std::cell::RefCell<Vec<Op>> = const { std::cell::RefCell::new(Vec::new()) };
    }

    proptest! {
        #[test]
        fn behave_as_the_originals(ops in prop::collection::vec((0u8..14, -3i32..4, -3i32..4), 1..20)) {
            OPS.set(ops);
            behaves!(AtomicI32(i32), AtomicI64(i64), AtomicIsize(isize));
            behaves!(AtomicU32(u32), AtomicU64(u64), AtomicUsize(usize));
        }
    }

    #[test]
    fn booleans_behave_as_the_original() {
        let programs: [fn(&real::AtomicBool) -> bool; 4] = [
            |flag| flag.fetch_and(false, ORDER),
            |flag| flag.fetch_or(true, ORDER),
            |flag| flag.fetch_nand(true, ORDER),
            |flag| flag.fetch_not(ORDER),
        ];
        let wrapped: [fn(&AtomicBool) -> bool; 4] = [
            |flag| flag.fetch_and(false, ORDER),
            |flag| flag.fetch_or(true, ORDER),
            |flag| flag.fetch_nand(true, ORDER),
            |flag| flag.fetch_not(ORDER),
        ];
        for start in [false, true] {
            for (program, wrapped) in programs.iter().zip(&wrapped) {
                let original = real::AtomicBool::new(start);
                let recorder = Recorder::new();
                let bound = recorder.make(|| AtomicBool::new(start));
                assert_eq!(recorder.run(|| wrapped(&bound)).0, program(&original));
                assert_eq!(bound.snapshot(), original.load(ORDER).to_value());
            }
        }
    }

    #[test]
    fn each_operation_is_one_step() {
        let check = |program: fn(&AtomicU32), expected: &[&str]| {
            let recorder = Recorder::new();
            let atomic = recorder.make(|| AtomicU32::counter(5));
            assert_eq!(recorder.run(|| program(&atomic)).1, expected);
        };
        check(|atomic| done(atomic.load(ORDER)), &["? load() -", "load() -> 5"]);
        check(|atomic| done(atomic.fetch_add(2, ORDER)), &["? fetch_add(2) -", "fetch_add(2) -> 5"]);
        // Here 32 bits differ from 64: an exact swap instead.
        check(|atomic| done(atomic.fetch_sub(6, ORDER)), &["? fetch_sub(6) -", "swap(4294967295) -> 5"]);
        check(|atomic| done(atomic.fetch_or(2, ORDER)), &["? modify() -", "swap(7) -> 5"]);
        check(
            |atomic| done(atomic.fetch_update(ORDER, ORDER, |old| Some(old + 1))),
            &["? load() -", "load() -> 5", "? compare_exchange(5, 6) -", "compare_exchange(5, 6) -> Ok(5)"],
        );
        check(|atomic| assert_eq!(format!("{atomic:?}"), "5"), &["? load() -", "load() -> 5"]);
    }

    #[test]
    fn an_update_tries_again_after_interference() {
        let recorder = Recorder::new();
        let atomic = recorder.make(|| AtomicI64::counter(5));
        let other = std::rc::Rc::clone(&atomic);
        recorder.on_step(move |number, _| {
            if number == 2 {
                other.inner.store(7, ORDER);
            }
            true
        });
        let (result, log) = recorder.run(|| atomic.fetch_update(ORDER, ORDER, |old| Some(old + 1)));
        assert_eq!((result, log.len()), (Ok(7), 6));
    }

    #[test]
    fn environment_operations_do_what_the_model_does() {
        // load; store and swap: 2 each; compare_exchange: 4; four counts: 2 each.
        let calls = 1 + 4 + 4 + 8;
        // A register holds its first content, 1 or 2; a counter -4 to 4 after two operations.
        assert_eq!(check_environment(&AtomicI64::new(0), &[register::MODIFY]), 3 * calls);
        assert_eq!(check_environment(&AtomicI64::counter(0), &[register::MODIFY]), 9 * calls);
    }

    #[test]
    fn the_environment_stays_in_the_range_of_the_type() {
        // From 0, counting by 1 and 2 twice: 0 to 4, and not below 0.
        assert_eq!(check_environment(&AtomicU64::counter(0), &[register::MODIFY]), 5 * 17);
        assert_eq!(check_environment(&AtomicI32::counter(0), &[register::MODIFY]), 9 * 17);
        let atomic = AtomicU64::counter(0);
        let call = Invocation::new(register::FETCH_SUB, [Value::Int(1)]);
        assert_eq!(atomic.apply(&call).expect("an amount").now, Value::variant("refused", []));
        assert_eq!(atomic.snapshot(), Value::Int(0));
        assert_eq!(atomic.restore(&Value::Int(-1)), Err(Value::Int(-1)));
        let atomic = AtomicI32::counter(i32::MAX);
        let call = Invocation::new(register::FETCH_ADD, [Value::Int(1)]);
        assert_eq!(atomic.apply(&call).expect("an amount").now, Value::variant("refused", []));
        assert!(AtomicI64::counter(0).model().specification().is_some(), "the model's own table holds");
        assert!(AtomicU64::counter(0).model().specification().is_none(), "it would overlook refusals");
    }

    #[test]
    fn a_boolean_is_a_register() {
        let flag = AtomicBool::new(false);
        assert!(flag.apply(&Invocation::new(register::STORE, [Value::Bool(true)])).is_ok());
        assert_eq!(flag.snapshot(), Value::Bool(true));
        assert_eq!(flag.restore(&Value::Int(1)), Err(Value::Int(1)));
        assert!(flag.model().specification().is_some());
    }

    #[test]
    fn the_kind_is_the_model() {
        assert_eq!(AtomicI32::new(3).model().initial(), Value::Int(3));
        assert_eq!(AtomicI32::new(3).model().name(), "register");
        assert_eq!(AtomicI32::counter(0).model().name(), "counter");
        assert_eq!(AtomicI32::from(3).into_inner(), 3);
    }
}
