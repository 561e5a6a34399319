use interloper_std::plain::{Code, KnownCode};

use super::super::{Fault, Now, Plain, Site, Watch};
use super::*;
use crate::memory::Memory;
use crate::testing::Draw;

/// The stacks of three tasks, with other memory between them.
const STACKS: [Range<usize>; 3] = [0x10000..0x10100, 0x30000..0x30100, 0x20000..0x20100];

fn begin(plain: &mut Plain, shared: bool) {
    plain.begin(Watch::default());
    plain.stacks.are_shared = shared;
    STACKS.into_iter().for_each(|stack| plain.begin_stack(stack.start, stack.len()));
}

/// As the engine and the hooks do it: the task notes an access to its own stack if the notes are open.
fn access(
    plain: &mut Plain,
    memory: &Memory,
    now: Now,
    what: (usize, usize, Doing),
    at: (usize, &Range<usize>),
) -> bool {
    let ((address, size, doing), (code, stack)) = (what, at);
    let notes = plain.notes();
    if notes.are_open() && is_inside(address, size, &notes.stack()) && notes.have_room() {
        notes.push(Note { address, code, size: size as u32, doing: doing as u8 });
        return false;
    }
    match doing {
        Doing::Read | Doing::Write => {
            if !notes.are_open() {
                notes.run_on(stack);
            }
            let known = KnownCode::default();
            known.set(code, KnownCode::PROGRAM);
            let site = Site { stack, locate: None, known: &known };
            plain.access(memory, now, what, (Code { address: code, frame: 0 }, site))
        }
        _ => plain.touched(memory, now, what, at),
    }
}

fn is_inside(address: usize, size: usize, stack: &Range<usize>) -> bool {
    stack.start <= address && address + size <= stack.end
}

/// One task accesses memory on its stack, on those of others, and elsewhere; it may have learnt what another one has done. In each of
/// 40,000 executions, the same access has the same fault as where each goes into the shadow at once. `others`: of 8 accesses, so many are
/// to the stack of another task.
fn check(seed: u64, others: usize) -> (u32, u32) {
    let mut draw = Draw(seed);
    let (mut noting, mut direct) = (Plain::default(), Plain::default());
    let (mut with, mut without) = (0, 0);
    let mut by_hooks = 0;
    for _ in 0..40_000 {
        begin(&mut noting, false);
        begin(&mut direct, true);
        let mut memory = Memory::default();
        memory.restart(false);
        memory.begin_task(None);
        (1..3).for_each(|_| memory.begin_task(Some(TaskId::MAIN)));
        let mut task = 0;
        let mut event = 0;
        for code in 1..15 {
            // Several accesses follow each other without an event: then the notes stay open.
            if code == 1 || draw.below(2) == 0 {
                (task, event) = (draw.below(3), event + 1);
                noting.notes().close();
            }
            let id = TaskId(task as u32);
            if draw.below(4) == 0 {
                noting.notes().close();
                let mut clock = VectorClock::default();
                memory.release(id, &mut clock);
                memory.acquire(TaskId((task as u32 + 1) % 3), &clock);
                continue;
            }
            if draw.below(16) == 0 {
                // The task has ended, and another one has its stack.
                noting.notes().close();
                let stack = &STACKS[task];
                [&mut noting, &mut direct].into_iter().for_each(|plain| plain.begin_stack(stack.start, stack.len()));
            }
            let place = match draw.below(8) {
                number if number < others => STACKS[(task + 1) % 3].start,
                7 => 0x28000,
                _ => STACKS[task].start,
            };
            let size = [1, 2, 4, 8, 8, 16, 40][draw.below(7)];
            let address = place + draw.below(48 / size) * size.min(8);
            let doing = [Doing::Read, Doing::Write, Doing::AtomicRead, Doing::AtomicWrite][draw.below(4)];
            let now = Now { task: id, event };
            let (what, at) = ((address, size, doing), (code, &STACKS[task]));
            by_hooks += u32::from(noting.notes().are_open() && is_inside(address, size, &noting.notes().stack()));
            let heard = [access(&mut noting, &memory, now, what, at), direct.touched(&memory, now, what, at)];
            assert_eq!(heard[0], heard[1], "{doing:?} at {address:x}");
            if heard[0] {
                break;
            }
        }
        let faults: [Option<&Fault>; 2] = [&noting, &direct].map(|plain| plain.fault());
        assert_eq!(faults[0], faults[1]);
        if faults[0].is_some() {
            with += 1
        } else {
            without += 1
        }
        assert!(!noting.stacks.are_shared || noting.stacks.noted.is_empty());
    }
    assert!(by_hooks > 5_000, "hooks note much: {by_hooks}");
    (with, without)
}

#[test]
fn what_was_noted_races_as_what_was_kept_at_once() {
    let (with, without) = check(7, 2);
    assert!(with > 5_000 && without > 5_000, "both kinds are common: {with}, {without}");
}

/// The accepting twin: on their own stacks, tasks race with nobody.
#[test]
fn tasks_on_their_own_stacks_do_not_race() {
    let mut stacks = Stacks::default();
    let mut shadow = Shadow::default();
    shadow.clear();
    assert!(STACKS.into_iter().all(|stack| !stacks.begin(stack)));
    for (task, stack) in STACKS.into_iter().enumerate() {
        assert!(stacks.is_own(&stack, stack.start, 8) && !stacks.is_own(&stack, stack.end - 4, 8));
        let who = Who { task: TaskId(task as u32), epoch: 0, event: 0, is_alone: false };
        stacks.note((stack.start, 8, Doing::Write), who, 1);
    }
    assert!(!shadow.is_touched(STACKS[0].start));
    stacks.share(&mut shadow);
    assert!(STACKS.into_iter().all(|stack| shadow.is_touched(stack.start)));
    assert!(!stacks.is_own(&STACKS[0], STACKS[0].start, 8), "from now on nothing is noted");
}

/// Memory between two stacks is known to be on none once it was looked for.
#[test]
fn memory_beside_the_stacks_is_clear_of_them() {
    let mut stacks = Stacks::default();
    STACKS.into_iter().for_each(|stack| _ = stacks.begin(stack));
    assert!(!stacks.are_clear_of(0x28000, 8));
    assert!(!stacks.have(0x28000, 8) && stacks.are_clear_of(0x28008, 8));
    assert!(stacks.are_clear_of(0x20100, 8) && !stacks.are_clear_of(0x200f8, 16) && !stacks.are_clear_of(0x2fff8, 16));
    assert!(stacks.have(0x200f8, 16) && stacks.have(0x30000, 1));
    assert!(!stacks.have(0x50000, 8) && stacks.are_clear_of(usize::MAX - 8, 4) && stacks.are_clear_of(0x28000, 8));
    assert!(stacks.begin(STACKS[1].clone()), "it was a stack before");
    assert!(!stacks.begin(0x28000..0x28100) && !stacks.are_clear_of(0x28000, 8));
}

/// A long loop on the stack of a task takes no more memory than so many accesses.
#[test]
fn no_more_is_noted_than_the_limit() {
    let mut plain = Plain::default();
    begin(&mut plain, false);
    let mut memory = Memory::default();
    memory.begin_task(None);
    memory.begin_task(Some(TaskId::MAIN));
    let make = |plain: &mut Plain, task: u32, doing| {
        let (now, what, at) = (Now { task: TaskId(task), event: 0 }, (0x10000, 8, doing), (1, &STACKS[task as usize]));
        access(plain, &memory, now, what, at)
    };
    for _ in 0..3 * StackNotes::MOST {
        assert!(!make(&mut plain, 0, Doing::Write));
        assert!(plain.stacks.noted.len() <= StackNotes::MOST);
    }
    plain.notes().close();
    assert!(make(&mut plain, 1, Doing::Read));
}

/// Tasks begin, end, learn of each other, and access memory that all of them reach, stacks included. In each of 20,000 executions, the
/// same access has the same fault as where nobody looks up whether a task is alone.
#[test]
fn a_task_that_is_alone_races_as_if_nobody_knew_it() {
    let mut draw = Draw(11);
    let (mut looking, mut twin) = (Plain::default(), Plain::default());
    let (mut races, mut alone_again, mut spawned_again) = (0, 0, 0);
    for _ in 0..20_000 {
        begin(&mut looking, false);
        begin(&mut twin, false);
        let mut memory = Memory::default();
        memory.restart(false);
        memory.begin_task(None);
        let (mut running, mut ended) = (vec![0], Vec::new());
        for event in 1..30 {
            let tasks = running.len() + ended.len();
            let task = running[draw.below(running.len())];
            let id = TaskId(task as u32);
            [&looking, &twin].into_iter().for_each(|plain| plain.notes().close());
            match draw.below(8) {
                0 if tasks < STACKS.len() => {
                    spawned_again += u32::from(tasks > 1 && memory.is_alone());
                    memory.begin_task(Some(id));
                    running.push(tasks);
                }
                1 | 2 if task != 0 => {
                    memory.end_task(id);
                    running.retain(|other| *other != task);
                    ended.push(task);
                }
                3 | 4 if !ended.is_empty() => memory.acquire_all(id, TaskId(ended[draw.below(ended.len())] as u32)),
                _ => {
                    let place = [0x28000, 0x28000, 0x50000, STACKS[draw.below(STACKS.len())].start][draw.below(4)];
                    let (address, size) = (place + 8 * draw.below(2), [1, 8, 16][draw.below(3)]);
                    let doing = [Doing::Read, Doing::Write, Doing::AtomicRead, Doing::AtomicWrite][draw.below(4)];
                    alone_again += u32::from(tasks > 1 && memory.is_alone());
                    let (now, what) = (Now { task: id, event }, (address, size, doing));
                    let heard = [(&mut looking, memory.clone()), (&mut twin, memory.never_alone())]
                        .map(|(plain, memory)| access(plain, &memory, now, what, (event as usize, &STACKS[task])));
                    assert_eq!(heard[0], heard[1], "{doing:?} at {address:x}");
                    if heard[0] {
                        races += 1;
                        break;
                    }
                }
            }
        }
        assert_eq!(looking.fault(), twin.fault());
    }
    assert!(races > 5_000 && alone_again > 5_000 && spawned_again > 100, "{races}, {alone_again}, {spawned_again}");
}
