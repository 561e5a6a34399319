//! Orderings that are counted and changed at run time.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use interloper_scheduler::orderings::{Argument, Change, Executed, Orderings, Site};
use interloper_scheduler::strategies::Exhaustive;
use interloper_scheduler::{Config, Engine, Executions, Freedom, Freedoms, Stopped};
use interloper_std::sync::Arc;
use interloper_std::sync::atomic::{AtomicU64, fence};
use interloper_std::thread;

const WEAK: Freedoms = Freedoms::NONE.with(Freedom::Memory, u32::MAX);

/// Goes through all executions: how many fail and how many there are, and how often each site was executed.
fn exhaust(orderings: Orderings, freedoms: Freedoms, program: fn()) -> ((u64, u64), Vec<Executed>) {
    let mut engine = Engine::new(Config { freedoms, orderings, ..Config::default() });
    let mut failed = 0;
    let explored = engine.explore(&mut Exhaustive::new(), Executions::AtMost(10_000), program, |_, execution| {
        failed += u64::from(!execution.end.is_finished());
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    ((failed, explored.executions), engine.take_orderings())
}

fn sites(program: fn()) -> Vec<Site> {
    exhaust(Orderings::COUNTED, WEAK, program).1.into_iter().map(|executed| executed.site).collect()
}

/// The sites with this ordering.
fn of(program: fn(), argument: Argument, order: Ordering) -> Vec<Site> {
    sites(program).into_iter().filter(|site| (site.argument, site.order()) == (argument, order)).collect()
}

fn only(program: fn(), argument: Argument, order: Ordering) -> Site {
    let all = of(program, argument, order);
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

/// How many executions fail, and how many there are, with this ordering in the place of the program's.
fn changed(program: fn(), site: &Site, to: Ordering) -> (u64, u64) {
    exhaust(Orderings::changed(Change::new(site.clone(), to).unwrap()), WEAK, program).0
}

fn two(one: impl FnOnce(&[AtomicU64; 2]) + Send + 'static, other: impl FnOnce(&[AtomicU64; 2])) {
    let shared: Arc<[AtomicU64; 2]> = Arc::default();
    let theirs = shared.clone();
    let thread = thread::spawn(move || one(&theirs));
    other(&shared);
    thread.join().unwrap();
}

fn publish() {
    let reader = |[data, flag]: &[AtomicU64; 2]| {
        if flag.load(Acquire) == 1 {
            assert_eq!(data.load(Relaxed), 7);
        }
    };
    two(reader, |[data, flag]| {
        data.store(7, Relaxed);
        flag.store(1, Release);
    });
}

/// The flag is read as it is before its store, or after it: two graphs of execution. With a weaker ordering on one of both
/// sides, the second splits: the data is read as it is, or as it was, and that fails. Before that the search goes through
/// both orders without weak memory, where it counts nothing.
#[test]
fn a_publication_needs_both_orderings() {
    let ((failed, all), executed) = exhaust(Orderings::COUNTED, WEAK, publish);
    assert_eq!((failed, all), (0, 2 + 2));
    let times = |argument, order| {
        let of = executed.iter().filter(|one| (one.site.argument, one.site.order()) == (argument, order));
        of.map(|one| one.times).collect::<Vec<u64>>()
    };
    assert_eq!((times(Argument::Load, Acquire), times(Argument::Load, Relaxed)), (vec![2], vec![1]));
    assert_eq!((times(Argument::Store, Release), times(Argument::Store, Relaxed)), (vec![2], vec![2]));
    assert_eq!(executed.len(), 4);
    for (argument, order) in [(Argument::Load, Acquire), (Argument::Store, Release)] {
        assert_eq!(changed(publish, &only(publish, argument, order), Relaxed), (1, 2 + 3));
        // The twin: what is stronger than needed does no harm.
        assert_eq!(changed(publish, &only(publish, argument, order), SeqCst), (0, 2 + 2));
    }
}

#[test]
fn orderings_do_not_matter_where_memory_is_sequentially_consistent() {
    let change = Change::new(only(publish, Argument::Store, Release), Relaxed).unwrap();
    let (made, executed) = exhaust(Orderings::changed(change), Freedoms::NONE, publish);
    assert_eq!((made, executed), ((0, 2), Vec::new()));
}

fn fenced() {
    let reader = |[data, flag]: &[AtomicU64; 2]| {
        if flag.load(Relaxed) == 1 {
            fence(Acquire);
            assert_eq!(data.load(Relaxed), 7);
        }
    };
    two(reader, |[data, flag]| {
        data.store(7, Relaxed);
        fence(Release);
        flag.store(1, Relaxed);
    });
}

#[test]
fn a_relaxed_fence_is_no_fence() {
    assert_eq!(exhaust(Orderings::COUNTED, WEAK, fenced).0, (0, 2 + 2));
    for order in [Acquire, Release] {
        assert_eq!(changed(fenced, &only(fenced, Argument::Fence, order), Relaxed), (1, 2 + 3));
        assert_eq!(changed(fenced, &only(fenced, Argument::Fence, order), AcqRel), (0, 2 + 2));
    }
}

/// The reader takes the flag with a compare-exchange. It fails before the store, where no ordering is needed.
fn taken() {
    let reader = |[data, flag]: &[AtomicU64; 2]| {
        if flag.compare_exchange(1, 2, AcqRel, Acquire).is_ok() {
            assert_eq!(data.load(Relaxed), 7);
        }
    };
    two(reader, |[data, flag]| {
        data.store(7, Relaxed);
        flag.store(1, Release);
    });
}

#[test]
fn success_and_failure_change_apart() {
    let success = only(taken, Argument::Update, AcqRel);
    assert_eq!(changed(taken, &success, Acquire).0, 0);
    assert_eq!(changed(taken, &success, Release).0, 1);
    let failure = only(taken, Argument::Load, Acquire);
    assert_eq!(failure.place, success.place);
    assert_eq!(changed(taken, &failure, Relaxed).0, 0);
}

/// The orderings of one place are computed while the program runs: each is a site.
fn computed() {
    let store = |shared: &[AtomicU64; 2], at: usize, order| shared[at].store(7, order);
    let reader = |[data, flag]: &[AtomicU64; 2]| {
        if flag.load(Acquire) == 7 {
            assert_eq!(data.load(Relaxed), 7);
        }
    };
    two(reader, move |shared| {
        [Relaxed, Release].into_iter().enumerate().for_each(|(at, order)| store(shared, at, order))
    });
}

#[test]
fn an_ordering_that_is_computed_is_a_site_of_its_own() {
    let release = only(computed, Argument::Store, Release);
    assert_eq!(only(computed, Argument::Store, Relaxed).place, release.place);
    assert_eq!(changed(computed, &release, Relaxed).0, 1);
}

macro_rules! pass_on {
    ($data:expr, $flag:expr) => {
        $data.store(7, Release);
        $flag.store(1, Release);
    };
}

fn in_a_macro() {
    let reader = |[data, flag]: &[AtomicU64; 2]| {
        if flag.load(Acquire) == 1 {
            assert_eq!(data.load(Relaxed), 7);
        }
    };
    two(reader, |[data, flag]| {
        pass_on!(data, flag);
    });
}

/// Both stores have the place where the macro is used.
#[test]
fn operations_of_one_macro_change_together() {
    let release = only(in_a_macro, Argument::Store, Release);
    assert_eq!(changed(in_a_macro, &release, Relaxed).0, 1);
}

/// `fetch_update` loads and fails with its second ordering.
fn updated() {
    let reader = |[data, flag]: &[AtomicU64; 2]| {
        let seen = flag.fetch_update(Relaxed, Acquire, |there| (there == 5).then_some(there));
        if seen == Err(1) {
            assert_eq!(data.load(Relaxed), 7);
        }
    };
    two(reader, |[data, flag]| {
        data.store(7, Relaxed);
        flag.store(1, Release);
    });
}

#[test]
fn the_load_of_an_update_is_at_the_place_of_its_caller() {
    let load = only(updated, Argument::Load, Acquire);
    assert_eq!(changed(updated, &load, Relaxed).0, 1);
    assert!(load.place.file.ends_with("orderings.rs"), "{load}");
}
