//! The classical litmus tests by name.
//!
//! The head of each test says which outcomes are expected: what the instructions read, thread by thread, and after a bar
//! the last values of x, y and z where they matter. The sets are derived by hand; model and axioms must both give them, and an
//! exhaustive search in the engine, which may take at most twice as many executions as there are graphs.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::time::Instant;

use super::Instruction::{self, Fence, Load, Store, Swap};
use super::{Graph, compare, engine, machine};

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

#[track_caller]
fn graphs(threads: &[&[Instruction]]) -> BTreeSet<Graph> {
    let (graphs, executions) = exhaust(threads);
    // The search first makes a round without weak memory.
    assert!(executions <= 2 * graphs.len() as u64, "{executions} executions, {} graphs: {threads:?}", graphs.len());
    graphs
}

/// The graphs, and the number of executions of an exhaustive search.
#[track_caller]
fn exhaust(threads: &[&[Instruction]]) -> (BTreeSet<Graph>, u64) {
    let program = threads.iter().map(|thread| thread.to_vec()).collect();
    compare(&program);
    let graphs = machine::graphs(&program);
    let begun = Instant::now();
    let executions = engine::exhaust(&program, &graphs);
    // For the goal of 50 milliseconds: `cargo test -p interloper-scheduler --lib litmus -- --nocapture` shows it.
    eprintln!("{:?}: {executions} executions, {} graphs: {threads:?}", begun.elapsed(), graphs.len());
    (graphs, executions)
}

fn reads(graph: &Graph) -> String {
    graph.reads.concat().iter().map(u64::to_string).collect()
}

/// What is read.
#[track_caller]
fn check(threads: &[&[Instruction]], expected: &str) {
    let found: BTreeSet<String> = graphs(threads).iter().map(reads).collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>().join(" "), expected);
}

/// What is read, and the last values of some locations.
#[track_caller]
fn check_last(threads: &[&[Instruction]], locations: &[usize], expected: &str) {
    let last = |graph: &Graph| -> String {
        locations.iter().map(|&location| graph.stores[location].last().unwrap().to_string()).collect()
    };
    let found: BTreeSet<String> =
        graphs(threads).iter().map(|graph| format!("{}|{}", reads(graph), last(graph))).collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>().join(" "), expected);
}

/// Whether some execution reads this.
#[track_caller]
fn allows(threads: &[&[Instruction]], outcome: &str) -> bool {
    graphs(threads).iter().any(|graph| reads(graph) == outcome)
}

/// All texts of so many digits 0 and 1, but for some.
fn bits(count: usize, but: &[&str]) -> String {
    let all = (0..1 << count).map(|number| format!("{number:0count$b}"));
    all.filter(|text| !but.contains(&text.as_str())).collect::<Vec<_>>().join(" ")
}

const fn one(location: usize, order: Ordering) -> Instruction {
    Store(location, 1, order)
}

/// SB: x = 1; r0 = y ‖ y = 1; r1 = x. 00 unless both are sequentially consistent, or both fences are.
#[test]
fn store_buffering() {
    let sb = |store, load| [[one(X, store), Load(Y, load)], [one(Y, store), Load(X, load)]];
    let check_all = |store, load, expected| check(&sb(store, load).each_ref().map(|thread| &thread[..]), expected);
    check_all(Relaxed, Relaxed, "00 01 10 11");
    check_all(Release, Acquire, "00 01 10 11");
    check_all(SeqCst, SeqCst, "01 10 11");
    check_all(SeqCst, Acquire, "00 01 10 11");
    let fenced = |order, first, second| [one(first, Relaxed), Fence(order), Load(second, Relaxed)];
    check(&[&fenced(SeqCst, X, Y), &fenced(SeqCst, Y, X)], "01 10 11");
    check(&[&fenced(SeqCst, X, Y), &fenced(AcqRel, Y, X)], "00 01 10 11");
}

/// MP: x = 1; y = 1 ‖ r0 = y; r1 = x. 10 unless y is released and acquired, by the accesses or by fences.
#[test]
fn message_passing() {
    let writer = |order| [one(X, Relaxed), one(Y, order)];
    let reader = |order| [Load(Y, order), Load(X, Relaxed)];
    check(&[&writer(Relaxed), &reader(Relaxed)], "00 01 10 11");
    check(&[&writer(Release), &reader(Relaxed)], "00 01 10 11");
    check(&[&writer(Relaxed), &reader(Acquire)], "00 01 10 11");
    check(&[&writer(Release), &reader(Acquire)], "00 01 11");
    check(&[&writer(SeqCst), &reader(SeqCst)], "00 01 11");
    let fenced_writer = [one(X, Relaxed), Fence(Release), one(Y, Relaxed)];
    let fenced_reader = [Load(Y, Relaxed), Fence(Acquire), Load(X, Relaxed)];
    check(&[&fenced_writer, &fenced_reader], "00 01 11");
    check(&[&fenced_writer, &reader(Acquire)], "00 01 11");
    check(&[&fenced_writer, &reader(Relaxed)], "00 01 10 11");
}

/// LB: r0 = x; y = 1 ‖ r1 = y; x = 1. 11 is not produced, which is said in the limits.
#[test]
fn load_buffering_is_absent() {
    check(&[&[Load(X, Relaxed), one(Y, Relaxed)], &[Load(Y, Relaxed), one(X, Relaxed)]], "00 01 10");
}

/// IRIW: x = 1 ‖ y = 1 ‖ r0 = x; r1 = y ‖ r2 = y; r3 = x. All 16; all but 1010 where everything is sequentially
/// consistent, or where the readers have such fences.
#[test]
fn independent_reads_of_independent_writes() {
    let iriw = |store, load| {
        let threads = [
            vec![one(X, store)],
            vec![one(Y, store)],
            vec![Load(X, load), Load(Y, load)],
            vec![Load(Y, load), Load(X, load)],
        ];
        graphs(&threads.each_ref().map(|thread| &thread[..])).iter().map(reads).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(iriw(Relaxed, Relaxed), bits(4, &[]));
    assert_eq!(iriw(Release, Acquire), bits(4, &[]));
    assert_eq!(iriw(SeqCst, SeqCst), bits(4, &["1010"]));
    let fenced = |first, second| [Load(first, Relaxed), Fence(SeqCst), Load(second, Relaxed)];
    check(&[&[one(X, Relaxed)], &[one(Y, Relaxed)], &fenced(X, Y), &fenced(Y, X)], &bits(4, &["1010"]));
}

/// 2+2W: x = 1; y = 2 ‖ y = 1; x = 2. Last values: all; not 11 where everything is sequentially consistent.
#[test]
fn two_and_two_writes() {
    let writes = |order| [[Store(X, 1, order), Store(Y, 2, order)], [Store(Y, 1, order), Store(X, 2, order)]];
    let check_all =
        |order, expected| check_last(&writes(order).each_ref().map(|thread| &thread[..]), &[X, Y], expected);
    check_all(Relaxed, "|11 |12 |21 |22");
    check_all(Release, "|11 |12 |21 |22");
    check_all(SeqCst, "|12 |21 |22");
}

/// WRC: x = 1 ‖ r0 = x; y = 1 ‖ r1 = y; r2 = x. All; not 110 with release and acquire.
#[test]
fn write_to_read_causality() {
    let wrc = |store, load, expected: &str| {
        check(&[&[one(X, store)], &[Load(X, load), one(Y, store)], &[Load(Y, load), Load(X, Relaxed)]], expected);
    };
    wrc(Relaxed, Relaxed, &bits(3, &[]));
    wrc(Relaxed, Acquire, &bits(3, &[]));
    wrc(Release, Acquire, &bits(3, &["110"]));
}

/// ISA2: x = 1; y = 1 ‖ r0 = y; z = 1 ‖ r1 = z; r2 = x. All; not 110 with release and acquire on y and z.
#[test]
fn transitive_message_passing() {
    let isa2 = |store, load, expected: &str| {
        check(
            &[&[one(X, Relaxed), one(Y, store)], &[Load(Y, load), one(Z, store)], &[Load(Z, load), Load(X, Relaxed)]],
            expected,
        );
    };
    isa2(Relaxed, Relaxed, &bits(3, &[]));
    isa2(Release, Acquire, &bits(3, &["110"]));
}

/// S: x = 2; y = 1 ‖ r0 = y; x = 1. All; not 1|2 with release and acquire.
#[test]
fn s() {
    let s = |store, load, expected| {
        check_last(&[&[Store(X, 2, Relaxed), one(Y, store)], &[Load(Y, load), one(X, Relaxed)]], &[X], expected);
    };
    s(Relaxed, Relaxed, "0|1 0|2 1|1 1|2");
    s(Release, Acquire, "0|1 0|2 1|1");
}

/// R: x = 1; y = 1 ‖ y = 2; r0 = x. All; not 0|2 where everything is sequentially consistent.
#[test]
fn r() {
    let r = |store, load, expected| {
        check_last(&[&[one(X, store), one(Y, store)], &[Store(Y, 2, store), Load(X, load)]], &[Y], expected);
    };
    r(Relaxed, Relaxed, "0|1 0|2 1|1 1|2");
    r(Release, Acquire, "0|1 0|2 1|1 1|2");
    r(SeqCst, SeqCst, "0|1 1|1 1|2");
}

/// RWC: x = 1 ‖ r0 = x; r1 = y ‖ y = 1; r2 = x. All; not 100 with sequentially consistent accesses or fences.
#[test]
fn read_to_write_causality() {
    let rwc = |store, load, expected: &str| {
        check(&[&[one(X, store)], &[Load(X, load), Load(Y, load)], &[one(Y, store), Load(X, load)]], expected);
    };
    rwc(Relaxed, Relaxed, &bits(3, &[]));
    rwc(Release, Acquire, &bits(3, &[]));
    rwc(SeqCst, SeqCst, &bits(3, &["100"]));
    let readers = [Load(X, Relaxed), Fence(SeqCst), Load(Y, Relaxed)];
    let last = [one(Y, Relaxed), Fence(SeqCst), Load(X, Relaxed)];
    check(&[&[one(X, Relaxed)], &readers, &last], &bits(3, &["100"]));
}

/// W+RWC: x = 1; z = 1 ‖ r0 = z; r1 = y ‖ y = 1; r2 = x. All; not 100 with z released and acquired and sequentially
/// consistent fences in the other threads.
#[test]
fn write_and_read_to_write_causality() {
    let first = |order| [one(X, Relaxed), one(Z, order)];
    let plain = [Load(Z, Acquire), Load(Y, Relaxed)];
    let fenced = [Load(Z, Acquire), Fence(SeqCst), Load(Y, Relaxed)];
    let last = [one(Y, Relaxed), Fence(SeqCst), Load(X, Relaxed)];
    check(&[&first(Release), &plain, &last], &bits(3, &[]));
    check(&[&first(Relaxed), &fenced, &last], &bits(3, &[]));
    check(&[&first(Release), &fenced, &last], &bits(3, &["100"]));
}

/// Z6.U: x = 1; y = 1 ‖ r0 = y, y = 2 at once; r1 = y ‖ y = 3; r2 = x. 130 is allowed although four of the six accesses are
/// sequentially consistent: y = 1 is only released, so the first access to x need not come before that to y (P0668R5). It
/// is forbidden where y = 1 is sequentially consistent, too.
#[test]
fn z6_u() {
    let threads = |y| {
        [
            vec![one(X, SeqCst), one(Y, y)],
            vec![Swap(Y, 2, SeqCst), Load(Y, Relaxed)],
            vec![Store(Y, 3, SeqCst), Load(X, SeqCst)],
        ]
    };
    assert!(allows(&threads(Release).each_ref().map(|thread| &thread[..]), "130"));
    assert!(!allows(&threads(SeqCst).each_ref().map(|thread| &thread[..]), "130"));
}

/// CoRR: x = 1 ‖ r0 = x; r1 = x: not 10. CoWW: x = 1; x = 2: last 2. CoRW: r0 = x; x = 2 ‖ x = 1: not 1|1. CoWR: x = 1;
/// r0 = x ‖ x = 2: not 0, and not 2|1.
#[test]
fn coherence() {
    check(&[&[one(X, Relaxed)], &[Load(X, Relaxed), Load(X, Relaxed)]], "00 01 11");
    check_last(&[&[one(X, Relaxed), Store(X, 2, Relaxed)]], &[X], "|2");
    check_last(&[&[Load(X, Relaxed), Store(X, 2, Relaxed)], &[one(X, Relaxed)]], &[X], "0|1 0|2 1|2");
    check_last(&[&[one(X, Relaxed), Load(X, Relaxed)], &[Store(X, 2, Relaxed)]], &[X], "1|1 1|2 2|2");
}

/// CoWR with another store: x = 1; r0 = x ‖ x = 2 ‖ x = 3. Where x = 2 comes before x = 1, the load cannot read it, but may still
/// read x = 3. So the search tries these places here, which it leaves out for CoWR: otherwise it would miss outcomes. The load reads
/// its own store in all 6 orders of the stores. With one or two stores after that, it reads one of them instead: 2 · 1 + 2 · 2 more.
/// Each round has 12 executions, and in 4 of the second round the load ends asleep.
#[test]
fn a_load_that_another_store_wakes() {
    let (graphs, executions) =
        exhaust(&[&[one(X, Relaxed), Load(X, Relaxed)], &[Store(X, 2, Relaxed)], &[Store(X, 3, Relaxed)]]);
    assert_eq!((graphs.len(), executions), (12, 28));
}

/// x = 1; y = 1 released ‖ r0 = y, y = 2 at once, relaxed ‖ r1 = y acquired; r2 = x. A read-modify-write continues the
/// release sequence: 120 is not there, and 121 is. A later store of the same thread does not (P0982R1): x = 1; y = 1
/// released; y = 2 ‖ r0 = y; r1 = x has 20.
#[test]
fn release_sequences() {
    let head = [one(X, Relaxed), one(Y, Release)];
    let reader = [Load(Y, Acquire), Load(X, Relaxed)];
    assert!(!allows(&[&head, &[Swap(Y, 2, Relaxed)], &reader], "120"));
    assert!(allows(&[&head, &[Swap(Y, 2, Relaxed)], &reader], "121"));
    // One that read the initial value is not in the sequence.
    assert!(allows(&[&head, &[Swap(Y, 2, Relaxed)], &reader], "020"));
    check(&[&[one(X, Relaxed), one(Y, Release), Store(Y, 2, Relaxed)], &reader], "00 01 11 20 21");
}

/// Dekker's entry: each raises its flag and enters if that of the other is down. Both enter (00) unless everything is
/// sequentially consistent: a read-modify-write that raises the flag does not help.
#[test]
fn dekker() {
    let entry = |swap, load| [[Swap(X, 1, swap), Load(Y, load)], [Swap(Y, 1, swap), Load(X, load)]];
    let both = |swap, load| allows(&entry(swap, load).each_ref().map(|thread| &thread[..]), "0000");
    assert!(both(AcqRel, Acquire));
    assert!(both(SeqCst, Acquire));
    assert!(!both(SeqCst, SeqCst));
}

/// Peterson's entry: x and y are flags, z says whose turn it is. A thread enters if the flag of the other is down or the
/// turn is its own. Both enter with release and acquire; never where everything is sequentially consistent.
#[test]
fn peterson() {
    let both_enter = |store, load| {
        let entry = |own, other, turn| [one(own, store), Store(Z, turn, store), Load(other, load), Load(Z, load)];
        let graphs = graphs(&[&entry(X, Y, 7), &entry(Y, X, 8)]);
        graphs.iter().any(|graph| {
            let (first, second) = (&graph.reads[0], &graph.reads[1]);
            (first[0] == 0 || first[1] == 8) && (second[0] == 0 || second[1] == 7)
        })
    };
    assert!(both_enter(Release, Acquire));
    assert!(!both_enter(SeqCst, SeqCst));
}

/// A seqlock: x counts, y and z are the data. A reader that finds the same even count twice has read data of one round;
/// not so without the acquire fence, nor without the release fence (H. Boehm, *Can seqlocks get along with programming
/// language memory models?*, MSPC 2012).
#[test]
fn seqlock() {
    let torn = |release: Ordering, acquire: &[Instruction], again: Ordering| {
        let fence: &[Instruction] = if release == Release { &[Fence(Release)] } else { &[] };
        let data = [one(Y, Relaxed), one(Z, Relaxed), Store(X, 2, Release)];
        let writer = [&[one(X, Relaxed)], fence, &data].concat();
        let first = [Load(X, Acquire), Load(Y, Relaxed), Load(Z, Relaxed)];
        let reader = [&first, acquire, &[Load(X, again)]].concat();
        graphs(&[&writer, &reader]).iter().any(|graph| {
            let read = &graph.reads[1];
            read[0] == read[3] && read[0] != 1 && read[1] != read[2]
        })
    };
    assert!(!torn(Release, &[Fence(Acquire)], Relaxed));
    assert!(torn(Release, &[], Acquire));
    assert!(torn(Relaxed, &[Fence(Acquire)], Relaxed));
}

/// A fence that is sequentially consistent comes later in the execution but earlier in the total order: x = 1; fence; y =
/// 1 ‖ r0 = y; z = 1 ‖ r1 = z; fence; r2 = x. 110 is allowed, since nothing synchronises the fences.
#[test]
fn the_order_is_not_that_of_the_execution() {
    let threads = |load| {
        [
            vec![one(X, Relaxed), Fence(SeqCst), one(Y, Relaxed)],
            vec![Load(Y, load), one(Z, Relaxed)],
            vec![Load(Z, Relaxed), Fence(SeqCst), Load(X, Relaxed)],
        ]
    };
    assert!(allows(&threads(Relaxed).each_ref().map(|thread| &thread[..]), "110"));
}

/// Old stores are dropped: two threads that synchronise at each round leave a few messages, however many rounds they make.
#[test]
fn memory_is_bounded() {
    use crate::memory::{Kind, LocationId, Memory, Places};
    use interloper_std::runtime::TaskId;
    let mut memory = Memory::default();
    memory.restart(false);
    memory.begin_task(None);
    let at = LocationId(0);
    memory.newest(TaskId::MAIN, at, 0);
    memory.begin_task(Some(TaskId::MAIN));
    let mut places = Places::default();
    for round in 1..10_000 {
        let task = TaskId(round as u32 % 2);
        let (newest, is_settled) = memory.newest(task, at, round - 1);
        if !is_settled {
            memory.places(task, at, Kind::Update, SeqCst, &mut places);
            assert!(places.len() <= 2, "{places:?}");
        }
        memory.update(task, at, SeqCst, newest.spot, (round, super::ANY));
        memory.fence(task, SeqCst);
    }
    assert!(memory.size() <= 200, "{}", memory.size());
}
