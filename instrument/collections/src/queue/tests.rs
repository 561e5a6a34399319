//! Tests of the instrumented queues.

use crossbeam::queue as real;
use interloper_commutativity::models::bounded_queue;
use interloper_commutativity::{Invocation, ToValue, Value};
use proptest::prelude::*;

use super::*;
use crate::session::{Instrumented, Needs};
use crate::testing::{Recorder, check_environment, done};

#[derive(Clone, Debug)]
enum Op {
    Push(i64),
    ForcePush(i64),
    Pop,
    Len,
    IsEmpty,
    IsFull,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (0i64..4).prop_map(Op::Push),
        (0i64..4).prop_map(Op::ForcePush),
        Just(Op::Pop),
        Just(Op::Len),
        Just(Op::IsEmpty),
        Just(Op::IsFull),
    ]
}

/// The same program text for the original and for the wrapper.
macro_rules! bounded {
    ($queue:expr, $op:expr) => {
        match $op {
            Op::Push(x) => $queue.push(*x).to_value(),
            Op::ForcePush(x) => $queue.force_push(*x).to_value(),
            Op::Pop => $queue.pop().to_value(),
            Op::Len => $queue.len().to_value(),
            Op::IsEmpty => $queue.is_empty().to_value(),
            Op::IsFull => $queue.is_full().to_value(),
        }
    };
}

macro_rules! unbounded {
    ($queue:expr, $op:expr) => {
        match $op {
            Op::Push(x) | Op::ForcePush(x) => $queue.push(*x).to_value(),
            Op::Pop => $queue.pop().to_value(),
            Op::Len => $queue.len().to_value(),
            Op::IsEmpty | Op::IsFull => $queue.is_empty().to_value(),
        }
    };
}

proptest! {
    #[test]
    fn behave_as_the_originals(ops in prop::collection::vec(op(), 1..60)) {
        let recorder = Recorder::new();
        let (original, free, bound) = (real::SegQueue::new(), SegQueue::new(), recorder.make(SegQueue::new));
        let small = (real::ArrayQueue::new(3), ArrayQueue::new(3), recorder.make(|| ArrayQueue::new(3)));
        for op in &ops {
            let expected = unbounded!(original, op);
            prop_assert_eq!(&unbounded!(free, op), &expected);
            prop_assert_eq!(&recorder.run(|| unbounded!(bound, op)).0, &expected);
            let expected = bounded!(small.0, op);
            prop_assert_eq!(&bounded!(small.1, op), &expected);
            prop_assert_eq!(&recorder.run(|| bounded!(small.2, op)).0, &expected);
        }
        prop_assert_eq!(bound.snapshot(), original.into_iter().collect::<Vec<i64>>().to_value());
        prop_assert_eq!(free.into_iter().collect::<Vec<i64>>().to_value(), bound.snapshot());
        prop_assert_eq!(small.2.snapshot(), small.0.into_iter().collect::<Vec<i64>>().to_value());
        prop_assert_eq!(small.1.into_iter().collect::<Vec<i64>>().to_value(), small.2.snapshot());
    }
}

#[test]
fn each_operation_is_one_step() {
    let check = |program: fn(&SegQueue<i64>), expected: &[&str]| {
        let recorder = Recorder::new();
        let queue = recorder.make(SegQueue::new);
        queue.push(5);
        queue.restore(&Value::list([Value::Int(5)])).expect("integers");
        assert_eq!(recorder.run(|| program(&queue)).1, expected);
    };
    check(|queue| queue.push(6), &["? push(6) -", "push(6) -> ()"]);
    check(|queue| done(queue.pop()), &["? pop() -", "pop() -> 5"]);
    check(|queue| done(queue.len()), &["? len() -", "len() -> 1"]);
    check(|queue| done(queue.is_empty()), &["? is_empty() -", "is_empty() -> false"]);

    let check = |program: fn(&ArrayQueue<i64>), expected: &[&str]| {
        let recorder = Recorder::new();
        let queue = recorder.make(|| ArrayQueue::new(1));
        queue.restore(&Value::list([Value::Int(5)])).expect("integers");
        assert_eq!(recorder.run(|| program(&queue)).1, expected);
    };
    check(|queue| done(queue.push(6)), &["? push(6) -", "push(6) -> Err(6)"]);
    check(|queue| done(queue.force_push(6)), &["? force_push(6) -", "force_push(6) -> 5"]);
    check(|queue| done(queue.is_full()), &["? is_full() -", "is_full() -> true"]);
    check(|queue| done(queue.capacity()), &[]);
}

#[test]
fn environment_operations_do_what_the_model_does() {
    // 7 states with up to 2 of 2 elements. push and contains: 2 calls each; pop, peek, len, is_empty, clear: 1 each.
    assert_eq!(check_environment(&SegQueue::<i64>::new(), &[]), 7 * (2 * 2 + 5));
    // push and force_push: 2 each; pop, len, is_empty, is_full, capacity: 1 each.
    assert_eq!(check_environment(&ArrayQueue::<i64>::new(2), &[]), 7 * (2 * 2 + 5));
}

#[test]
fn an_environment_has_only_methods_that_the_original_has() {
    let open = |collection: &dyn Instrumented| -> Vec<&str> {
        let model = collection.model();
        model.methods().iter().filter(|method| method.environment).map(|method| method.name).collect()
    };
    assert_eq!(open(&SegQueue::<i64>::new()), ["push", "pop"]);
    assert_eq!(open(&ArrayQueue::<i64>::new(1)), ["push", "pop"]);
}

#[test]
fn a_state_that_does_not_fit_is_refused() {
    let queue = ArrayQueue::<i64>::new(1);
    let two = Value::list([Value::Int(1), Value::Int(2)]);
    assert_eq!(queue.restore(&two), Err(two));
    let text = Value::list([Value::text("a")]);
    assert_eq!(queue.restore(&text), Err(Value::text("a")));
    let call = Invocation::new(bounded_queue::PUSH, [Value::text("a")]);
    assert_eq!(queue.apply(&call).err(), Some(Value::text("a")));
    assert_eq!(queue.needs(&call), Needs::Nothing);
}
