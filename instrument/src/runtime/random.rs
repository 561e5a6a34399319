//! Random numbers for code that would ask the operating system for them.

use std::cell::RefCell;
use std::mem::MaybeUninit;

use super::{ExecutionId, with};

/// How many numbers each task of an execution has drawn, for each purpose.
struct Drawn {
    execution: ExecutionId,
    by_task: Vec<[u64; 2]>,
}

/// What a number is drawn for. Each has a stream of its own.
#[derive(Clone, Copy)]
enum Purpose {
    Program,
    Hasher,
}

thread_local! {
    static DRAWN: RefCell<Option<Drawn>> = const { RefCell::new(None) };
}

/// The next random number of the running task, a function of the seed, the task, and how many numbers it has drawn; `None`
/// outside of a controlled run.
///
/// Each task has a stream of its own, so that what one task draws does not depend on when others draw. What
/// `cargo interloper` changes in getrandom calls this.
#[must_use]
pub fn random() -> Option<u64> {
    let (seed, task, number) = next(Purpose::Program)?;
    Some(mixed(mixed(mixed(seed).wrapping_add(task as u64)).wrapping_add(number)))
}

/// The seed of the next default hasher that the running task makes; `None` outside of a controlled run.
///
/// Those of one execution differ, as std's do: two maps with the same keys need not have the same order. That of the first task's first
/// hasher is the seed of the run.
pub(crate) fn hasher() -> Option<u64> {
    let (seed, task, number) = next(Purpose::Hasher)?;
    let which = mixed(task as u64).wrapping_add(number - 1).wrapping_sub(mixed(0));
    Some(if which == 0 { seed } else { mixed(mixed(seed).wrapping_add(which)) })
}

/// The seed of the run, the running task, and how many numbers it has drawn for this purpose, with this one.
fn next(purpose: Purpose) -> Option<(u64, usize, u64)> {
    let (execution, task, seed) = with(|current| {
        let runtime = current.runtime();
        (runtime.execution(), runtime.task().index(), runtime.seed())
    })?;
    let number = DRAWN.try_with(|drawn| {
        let mut drawn = drawn.borrow_mut();
        let stale = drawn.as_ref().is_none_or(|drawn| drawn.execution != execution);
        if stale {
            *drawn = Some(Drawn { execution, by_task: Vec::new() });
        }
        let by_task = &mut drawn.as_mut().expect("it was just made").by_task;
        if by_task.len() <= task {
            by_task.resize(task + 1, [0; 2]);
        }
        let drawn = &mut by_task[task][purpose as usize];
        *drawn += 1;
        *drawn
    });
    Some((seed, task, number.ok()?))
}

/// Fills `bytes` with the next random numbers of the running task; `false`, and nothing else, outside of a controlled run.
#[must_use]
pub fn fill_random(bytes: &mut [MaybeUninit<u8>]) -> bool {
    for part in bytes.chunks_mut(8) {
        let Some(number) = random() else { return false };
        for (byte, value) in part.iter_mut().zip(number.to_le_bytes()) {
            byte.write(value);
        }
    }
    // No byte at all is asked for, too.
    super::is_controlled()
}

/// The finaliser of SplitMix64: G. Steele, D. Lea and C. Flood, *Fast splittable pseudorandom number generators*, OOPSLA
/// 2014.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_of_a_controlled_run_there_are_none() {
        let mut bytes = [MaybeUninit::new(7); 3];
        assert_eq!(random(), None);
        assert!(!fill_random(&mut bytes) && !fill_random(&mut []));
    }

    /// The first outputs of SplitMix64 with the seed 0.
    #[test]
    fn the_mixture_is_that_of_the_paper() {
        assert_eq!(mixed(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mixed(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }
}
