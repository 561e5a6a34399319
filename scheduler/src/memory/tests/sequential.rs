//! Memory that is sequentially consistent keeps no order S, and tasks know of the same events as with it.

use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use interloper_random::{Purpose, Stream};
use interloper_std::runtime::TaskId;

use crate::memory::{LocationId, Memory};

const TASKS: u32 = 4;

/// Two memories in which the same happens; the second one is sequentially consistent.
struct Both([Memory; 2]);

impl Both {
    fn new() -> Both {
        let mut both = Both([Memory::default(), Memory::default()]);
        both.0[0].restart(false);
        both.0[1].restart(true);
        both.each(|memory| memory.begin_task(None));
        (1..TASKS).for_each(|_| both.each(|memory| memory.begin_task(Some(TaskId::MAIN))));
        both
    }

    fn each(&mut self, mut act: impl FnMut(&mut Memory)) {
        self.0.iter_mut().for_each(&mut act);
    }
}

#[test]
fn tasks_know_the_same_with_and_without_the_order() {
    let pick = |word: u64, from: u32, options: u64| (word >> from) % options;
    let mut seen_in_order = 0;
    for program in 0..200u64 {
        let mut both = Both::new();
        let mut values = [0; 2];
        for step in 0..40 {
            let word = Stream::new(program, Purpose::Schedule, step).word();
            let task = TaskId(pick(word, 0, u64::from(TASKS)) as u32);
            let index = pick(word, 8, 2) as usize;
            let at = LocationId(index as u32);
            let of = |orders: &[Ordering]| orders[pick(word, 16, orders.len() as u64) as usize];
            let value = step + 1;
            both.each(|memory| {
                let (newest, _) = memory.newest(task, at, values[index]);
                match pick(word, 24, 4) {
                    0 => memory.load(task, at, of(&[Relaxed, Acquire, SeqCst]), newest.spot),
                    1 => memory.store(task, at, of(&[Relaxed, Release, SeqCst]), newest.spot, (value, super::ANY)),
                    2 => memory.update(task, at, of(&[Relaxed, AcqRel, SeqCst]), newest.spot, (value, super::ANY)),
                    _ => memory.fence(task, of(&[Acquire, Release, SeqCst])),
                }
            });
            if matches!(pick(word, 24, 4), 1 | 2) {
                values[index] = value;
            }
            let [weak, sequential] = &both.0;
            (0..TASKS).for_each(|task| assert_eq!(weak.knows(TaskId(task)), sequential.knows(TaskId(task))));
            assert!(sequential.order.is_empty(), "program {program}, step {step}");
            seen_in_order += weak.order.len();
        }
    }
    assert!(seen_in_order > 0, "weak memory keeps the order");
}
