//! Weak memory has no bound on threads or on stores. loom has room for five threads, and an atomic there remembers seven stores.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use interloper_scheduler::runtime::TaskId;
use interloper_scheduler::strategies::Exhaustive;
use interloper_scheduler::{Config, End, Engine, Executions, Freedom, Freedoms, Pending, Stopped, Stores, Strategy};
use interloper_std::sync::Arc;
use interloper_std::sync::atomic::AtomicU64;
use interloper_std::sync::atomic::Ordering::Relaxed;
use interloper_std::thread;

fn engine() -> Engine {
    Engine::new(Config { freedoms: Freedoms::NONE.with(Freedom::Memory, u32::MAX), ..Config::default() })
}

/// Another thread may read each of them, and what was there at first: 41 graphs, and a round without weak memory before.
#[test]
fn forty_stores_can_all_be_read() {
    let read = RefCell::new(BTreeSet::new());
    let program = || {
        let shared = Arc::new(AtomicU64::new(0));
        let others = shared.clone();
        let writer = thread::spawn(move || (1..=40).for_each(|number| others.store(number, Relaxed)));
        read.borrow_mut().insert(shared.load(Relaxed));
        writer.join().unwrap();
    };
    let explored = engine().explore(&mut Exhaustive::new(), Executions::AtMost(1_000), program, |_, execution| {
        assert_eq!(execution.end, End::Finished);
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    assert!(read.into_inner().into_iter().eq(0..=40));
    assert!(explored.executions <= 2 * 41, "{}", explored.executions);
}

/// Each task goes on as long as it can, and each access takes the oldest place.
pub struct Oldest;

impl Strategy for Oldest {
    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        pending.iter().position(|pending| Some(pending.task) == current).unwrap_or(0)
    }

    fn place(&mut self, options: u32, _: &dyn Stores) -> u32 {
        options - 1
    }
}

/// Store buffering round a ring of twenty threads: none sees the store of the next one.
#[test]
fn twenty_threads_read_what_was_there_at_first() {
    const THREADS: usize = 20;
    let read = RefCell::new(Vec::new());
    let execution = engine().run(&mut Oldest, || {
        let shared = Arc::new([const { AtomicU64::new(0) }; THREADS]);
        let spawn = |number: usize| {
            let shared = shared.clone();
            thread::spawn(move || {
                shared[number].store(1, Relaxed);
                shared[(number + 1) % THREADS].load(Relaxed)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(spawn).collect();
        *read.borrow_mut() = threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<u64>>();
    });
    assert_eq!(execution.end, End::Finished);
    assert_eq!(*read.borrow(), [0; THREADS]);
}
