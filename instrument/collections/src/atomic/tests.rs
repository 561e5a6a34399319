//! Tests of the instrumented atomics.

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
            // Not whether it fails spuriously, which depends on the machine.
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
