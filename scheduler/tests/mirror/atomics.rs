//! An atomic is known by its address: which steps are of one object.

use std::mem::ManuallyDrop;
use std::ops::ControlFlow;

use interloper_scheduler::runtime::Action;
use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, Engine, Executions};
use interloper_std::alloc::{Layout, alloc_zeroed, dealloc, realloc};
use interloper_std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering::Relaxed};
use interloper_std::thread;

/// Which steps are of one object: the objects of the steps on atomics, numbered in the order of their first steps. The
/// same in each execution.
#[track_caller]
fn objects(program: impl FnMut()) -> Vec<usize> {
    let mut engine = Engine::new(Config::default());
    let mut all = Vec::new();
    engine.explore(&mut RandomWalk::new(1), Executions::AtMost(4), program, |engine, execution| {
        assert!(execution.end.is_finished(), "{execution:?}");
        let mut met = Vec::new();
        let mut numbers = Vec::new();
        for event in engine.trace().iter() {
            if matches!(event.operation.action, Action::Read | Action::Write | Action::ReadWrite) {
                let object = event.operation.object;
                let number = met.iter().position(|known| *known == object).unwrap_or_else(|| {
                    met.push(object);
                    met.len() - 1
                });
                numbers.push(number);
            }
        }
        all.push(numbers);
        ControlFlow::<()>::Continue(())
    });
    assert!(all.iter().all(|numbers| *numbers == all[0]), "{all:?}");
    all.swap_remove(0)
}

#[test]
fn one_that_stays_is_one_object() {
    let used = objects(|| {
        let (a, b) = (AtomicU32::new(0), Box::new([AtomicU8::new(0), AtomicU8::new(0)]));
        for _ in 0..2 {
            a.fetch_add(1, Relaxed);
            b.iter().for_each(|byte| byte.store(1, Relaxed));
        }
    });
    assert_eq!(used, [0, 1, 2, 0, 1, 2]);
}

#[test]
fn what_comes_after_a_dropped_one_is_another() {
    let used = objects(|| {
        for _ in 0..2 {
            let atomic = AtomicU32::new(0);
            atomic.load(Relaxed);
            let boxed: Box<[AtomicU8]> = (0..2).map(AtomicU8::new).collect();
            boxed.iter().for_each(|byte| assert!(byte.load(Relaxed) < 2));
        }
    });
    assert_eq!(used, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_moved_one_is_another() {
    let used = objects(|| {
        let atomic = AtomicU32::new(7);
        atomic.load(Relaxed);
        let boxed = Box::new(atomic);
        boxed.load(Relaxed);
        assert_eq!(boxed.load(Relaxed), 7);
    });
    assert_eq!(used, [0, 1, 1]);
}

/// Memory that was filled with zeros, taken for atomics, and given back without dropping them.
#[test]
fn memory_that_is_given_back_has_no_atomics_left() {
    fn at(memory: *mut u8, index: usize) {
        // SAFETY: there are as many zeros.
        unsafe { AtomicU8::from_ptr(memory.add(index)) }.load(Relaxed);
    }
    let layout = Layout::new::<[u8; 64]>();
    let used = objects(|| {
        for _ in 0..2 {
            // SAFETY: it is allocated and given back with the same layout, and what is used is inside it.
            unsafe {
                let mut memory = alloc_zeroed(layout);
                at(memory, 0);
                at(memory, 63);
                at(memory, 0);
                memory = realloc(memory, layout, 64);
                at(memory, 63);
                dealloc(memory, layout);
            }
        }
    });
    assert_eq!(used, [0, 1, 0, 2, 3, 4, 3, 5]);
}

/// The second task may run on the stack of the first, where there is what the first has left.
#[test]
fn what_a_task_leaves_on_its_stack_is_forgotten() {
    let used = objects(|| {
        for _ in 0..2 {
            let left = || {
                let atomic = ManuallyDrop::new(AtomicU32::new(0));
                std::hint::black_box(&*atomic).load(Relaxed);
            };
            thread::spawn(left).join().unwrap();
        }
    });
    assert_eq!(used, [0, 1]);
}

#[test]
fn views_of_one_address_are_one_object() {
    let used = objects(|| {
        let pointer = AtomicPtr::<u8>::new(std::ptr::null_mut());
        // SAFETY: they have the same representation.
        let number = unsafe { &*(&raw const pointer).cast::<AtomicUsize>() };
        number.store(8, Relaxed);
        assert_eq!(pointer.load(Relaxed).addr(), 8);
    });
    assert_eq!(used, [0, 0]);
}

/// A table of them grows, is emptied and grows again: more than fit into the first memory for their numbers.
#[test]
fn many_are_told_apart() {
    let used = objects(|| {
        for _ in 0..2 {
            let all: Vec<AtomicU8> = (0..200).map(AtomicU8::new).collect();
            (0..400).for_each(|index| assert_eq!(usize::from(all[index % 200].load(Relaxed)), index % 200));
        }
    });
    let expected: Vec<usize> = (0..2).flat_map(|round| (0..400).map(move |index| 200 * round + index % 200)).collect();
    assert_eq!(used, expected);
}
