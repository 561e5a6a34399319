//! Histories of the kinds that other checkers were measured on (2 cores): Porcupine takes 141 ms for a correct 1,712-call
//! key-value history over 10 keys, 1.75 s for an incorrect 405-call one without partitioning, and 340 ms for 102 register
//! histories of 73 to 90 calls with many of them pending; PolyLin takes 2.4 s for a million-call queue history and 0.33 s
//! for a set. And the outcomes of a schema of 3 sequences of 8 invocations with one weak method.

use std::hint::black_box;
use std::sync::LazyLock;

use criterion::{Criterion, criterion_group, criterion_main};
use interloper_commutativity::Value;
use interloper_linearize::general::Budget;
use interloper_linearize::generate::{Calls, Workload, correct, corrupt};
use interloper_linearize::outcomes::{DEFAULT_BOUND, outcomes};
use interloper_linearize::program::{Program, Typed};
use interloper_linearize::recording::{RecordedCall, Recording, check};
use interloper_linearize::schema::{Invocation, Schema};
use interloper_linearize::types::{DataType, Meaning, Signature, type_named};
use interloper_linearize::visibility::Visibility;
use interloper_random::{Purpose, Stream};

/// A key-value store of which nobody knows that its keys are independent.
static UNKNOWN: LazyLock<DataType> = LazyLock::new(|| {
    let methods: Vec<Signature> = kv().methods().map(|method| Signature { keyed: false, ..*method }).collect();
    DataType { methods: Vec::leak(vec![&*methods.leak()]), family: None, ..*kv() }
});

/// A key-value store of which histories are not partitioned: there is also `count()`, which is about all keys.
static COUNTED: LazyLock<DataType> = LazyLock::new(|| {
    const COUNT: &[Signature] = &[Signature {
        name: "count",
        parameters: &[],
        meaning: Meaning::Whole(|state, _| Value::Int(state.len() as i64)),
        reads: true,
        keyed: false,
    }];
    DataType { methods: Vec::leak([kv().methods, &[COUNT]].concat()), family: None, ..*kv() }
});

fn kv() -> &'static DataType {
    type_named("kv").expect("a type")
}

fn verdict(data_type: &DataType, recording: &Recording) {
    black_box(check(data_type, black_box(recording), Budget::Unlimited).expect("calls of the type"));
}

fn searches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("search");
    let mut random = Stream::new(42, Purpose::History, 0);
    let kv = Calls::KeyedText { keys: 10 };
    let workload = |calls, processes, length, pending| Workload { calls, processes, length, pending };
    let good = correct(&workload(kv, 20, 1712, 0), &mut random);
    group.bench_function("kv, 1712 calls, correct", |bench| bench.iter(|| verdict(kv.data_type(), &good)));
    let mut bad = correct(&workload(kv, 10, 405, 0), &mut random);
    corrupt(&mut bad, &mut random);
    group.bench_function("kv, 405 calls, incorrect", |bench| bench.iter(|| verdict(kv.data_type(), &bad)));
    group.bench_function("kv, 405 calls, incorrect, independent keys not known", |bench| {
        bench.iter(|| verdict(&UNKNOWN, &bad));
    });
    bad.history.atomic();
    let count = Invocation::new("count", []);
    bad.calls.push(RecordedCall { process: 0, invocation: count, result: Some(Value::Int(10)) });
    group.bench_function("kv, 405 calls and a count, incorrect, not partitioned", |bench| {
        bench.iter(|| verdict(&COUNTED, &bad));
    });
    let register = Calls::Register { values: 5 };
    let registers: Vec<Recording> =
        (0..102).map(|number| correct(&workload(register, 5, 73 + number % 18, 300), &mut random)).collect();
    group.bench_function("register, 102 histories, many calls pending", |bench| {
        bench.iter(|| registers.iter().for_each(|recording| verdict(register.data_type(), recording)));
    });
    group.finish();
}

fn distinct_values(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("distinct values");
    group.sample_size(10);
    for (name, calls, length) in [
        ("queue, 100,000 calls", Calls::Queue, 100_000),
        ("queue, 1,000,000 calls", Calls::Queue, 1_000_000),
        ("set, 1,000,000 calls", Calls::Set, 1_000_000),
        ("stack, 100,000 calls", Calls::Stack, 100_000),
        ("priority queue, 100,000 calls", Calls::PriorityQueue, 100_000),
        ("register, 100,000 calls", Calls::DistinctRegister, 100_000),
    ] {
        // Made only when it is measured.
        group.bench_function(name, |bench| {
            let workload = Workload { calls, processes: 8, length, pending: 0 };
            let recording = correct(&workload, &mut Stream::new(43, Purpose::History, 0));
            bench.iter(|| verdict(calls.data_type(), &recording));
        });
    }
    group.finish();
}

fn admitted(criterion: &mut Criterion) {
    let text = "{ put(0,0); get(1); remove(0); put(1,1); put(0,1); containsKey(1); remove(1); size() }
             || { put(1,0); put(0,0); get(0); remove(1); put(1,1); get(1); put(0,1); remove(0) }
             || { get(0); put(0,1); put(1,0); remove(0); get(1); put(1,1); put(0,0); get(0) }";
    let schema = Schema::parse(text).expect("a schema");
    let visibility: Visibility = "size=weak".parse().expect("a specification");
    let program = Program::new(&schema, &visibility).expect("24 invocations");
    let map = type_named("map").expect("a type");
    criterion.bench_function("outcomes, 3 sequences of 8, size weak", |bench| {
        bench.iter(|| outcomes(&mut Typed::new(map, &schema), &program, DEFAULT_BOUND).map(|found| found.count()));
    });
}

criterion_group!(benches, searches, distinct_values, admitted);
criterion_main!(benches);
