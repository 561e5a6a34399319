//! Programs at random.

use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use interloper_random::{Purpose, Stream};

use super::{Instruction, Program};

/// How many accesses each thread has, and at most how many fences.
const SHAPES: [(&[usize], u64); 8] = [
    (&[2, 2], 2),
    (&[3, 2], 1),
    (&[3, 3], 1),
    (&[3, 3], 0),
    (&[2, 2, 2], 0),
    (&[2, 2, 1], 1),
    (&[2, 2, 1], 2),
    (&[1, 2, 2], 1),
];

/// The program of this seed and number.
pub(super) fn draw(seed: u64, number: u64) -> Program {
    let mut random = Stream::new(seed, Purpose::Schedule, number);
    let (accesses, fences) = SHAPES[random.below(SHAPES.len() as u64) as usize];
    // Half of the programs have few orderings, so that those with much of what is sequentially consistent come often.
    let focus = random.below(4);
    let mut program: Program = accesses.iter().map(|_| Vec::new()).collect();
    let mut values: Vec<Vec<u64>> = vec![vec![0], vec![0]];
    for (thread, &count) in accesses.iter().enumerate() {
        for index in 0..count {
            let (location, value) = (random.below(2) as usize, 10 * (thread as u64 + 1) + index as u64);
            let instruction = match random.below(9) {
                0..4 => Instruction::Load(location, pick(&mut random, focus, &[Relaxed, Acquire, SeqCst])),
                4..7 => Instruction::Store(location, value, pick(&mut random, focus, &[Relaxed, Release, SeqCst])),
                7 => Instruction::Swap(
                    location,
                    value,
                    pick(&mut random, focus, &[Relaxed, Acquire, Release, AcqRel, SeqCst]),
                ),
                _ => {
                    let expected = values[location][random.below(values[location].len() as u64) as usize];
                    let success = pick(&mut random, focus, &[Relaxed, Acquire, Release, AcqRel, SeqCst]);
                    let failure = pick(&mut random, focus, &[Relaxed, Acquire, SeqCst]);
                    Instruction::CompareExchange(location, expected, value, success, failure)
                }
            };
            if !matches!(instruction, Instruction::Load(..)) {
                values[location].push(value);
            }
            program[thread].push(instruction);
        }
    }
    for _ in 0..random.below(fences + 1) {
        let thread = random.below(program.len() as u64) as usize;
        let at = random.below(program[thread].len() as u64 + 1) as usize;
        let order = pick(&mut random, focus, &[Acquire, Release, AcqRel, SeqCst, SeqCst, SeqCst]);
        program[thread].insert(at, Instruction::Fence(order));
    }
    program
}

fn pick(random: &mut Stream, focus: u64, orders: &[Ordering]) -> Ordering {
    let any = orders[random.below(orders.len() as u64) as usize];
    match focus {
        // Almost all as strong as they can be.
        0 if random.below(4) > 0 => SeqCst,
        // As weak as they can be, but for a few.
        1 if random.below(4) > 0 => orders[0],
        _ => any,
    }
}
