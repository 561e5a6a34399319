//! The exhaustive search against a search of all schedules, in executions that are free to do what std leaves open.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use interloper_scheduler::decisions::mix;
use interloper_scheduler::strategies::{Exhaustive, PreemptionBound};
use interloper_scheduler::{End, Engine, Executions, Freedom, Freedoms, Stopped, Strategy};
use interloper_std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interloper_std::sync::{Arc, Condvar, Mutex, RwLock};
use interloper_std::thread;
use interloper_std::time::Instant;

use crate::freedoms::{TIME, WAKEUPS, WRITERS, config};

/// What a task does next.
#[derive(Clone, Copy, Debug)]
enum Op {
    Read(usize),
    Write(usize),
    Now,
    Sleep(u64),
    Park,
    ParkAtMost(u64),
    Unpark(usize),
    Shared,
    Exclusive,
    WaitAtMost(u64),
    Wait,
    Notify,
}

struct World {
    start: Instant,
    variables: [AtomicU32; 2],
    lock: RwLock<u32>,
    condition: (Mutex<u32>, Condvar),
}

fn perform(world: &World, threads: &[thread::Thread], ops: &[Op], log: &mut Vec<u64>) {
    for op in ops {
        log.push(match *op {
            Op::Read(variable) => u64::from(world.variables[variable].load(SeqCst)),
            Op::Write(variable) => u64::from(world.variables[variable].swap(1, SeqCst)),
            Op::Now => world.start.elapsed().as_millis() as u64,
            Op::Sleep(time) => {
                thread::sleep(Duration::from_millis(time));
                0
            }
            Op::Park => {
                thread::park();
                0
            }
            Op::ParkAtMost(time) => {
                thread::park_timeout(Duration::from_millis(time));
                0
            }
            Op::Unpark(task) => {
                threads[task % threads.len()].unpark();
                0
            }
            Op::Shared => {
                let outer = world.lock.read().unwrap();
                let value = *outer + *world.lock.read().unwrap();
                u64::from(value)
            }
            Op::Exclusive => {
                let mut guard = world.lock.write().unwrap();
                *guard += 1;
                u64::from(*guard)
            }
            Op::WaitAtMost(time) => {
                let guard = world.condition.0.lock().unwrap();
                let (guard, waited) = world.condition.1.wait_timeout(guard, Duration::from_millis(time)).unwrap();
                u64::from(*guard) * 2 + u64::from(waited.timed_out())
            }
            Op::Wait => u64::from(*world.condition.1.wait(world.condition.0.lock().unwrap()).unwrap()),
            Op::Notify => {
                *world.condition.0.lock().unwrap() += 1;
                world.condition.1.notify_one();
                0
            }
        });
    }
}

/// What a program can come to: what its tasks have seen, or how it got stuck.
fn outcomes(freedoms: Freedoms, strategy: &mut dyn Strategy, rows: &[Vec<Op>]) -> Option<BTreeSet<String>> {
    let logs = Rc::new(RefCell::new(Vec::new()));
    let mut found = BTreeSet::new();
    let program = || {
        let world = Arc::new(World {
            start: Instant::now(),
            variables: Default::default(),
            lock: RwLock::default(),
            condition: Default::default(),
        });
        logs.replace(vec![Vec::new(); rows.len()]);
        // The main task parks and is unparked like the others.
        let main = [thread::current()];
        let children: Vec<_> = rows[1..]
            .iter()
            .map(|row| {
                let (world, row, main) = (world.clone(), row.clone(), main.clone());
                thread::spawn(move || {
                    let mut log = Vec::new();
                    perform(&world, &main, &row, &mut log);
                    log
                })
            })
            .collect();
        let threads: Vec<_> = children.iter().map(|child| child.thread().clone()).collect();
        let mut log = Vec::new();
        perform(&world, &threads, &rows[0], &mut log);
        logs.borrow_mut()[0] = log;
        for (number, child) in children.into_iter().enumerate() {
            logs.borrow_mut()[number + 1] = child.join().unwrap();
        }
    };
    let mut engine = Engine::new(config(freedoms));
    let explored = engine.explore(strategy, Executions::AtMost(40_000), program, |_, execution| {
        let tasks = |tasks: &[interloper_scheduler::TaskReport]| {
            tasks.iter().map(|task| format!("{} {:?}", task.task.0, task.wants.action)).collect::<Vec<_>>()
        };
        let outcome = match &execution.end {
            End::Finished => format!("{:?}", logs.borrow()),
            End::Deadlock(stuck) | End::Leaked(stuck) => format!("stuck: {:?}", tasks(stuck)),
            other => panic!("{other:?}"),
        };
        found.insert(outcome);
        ControlFlow::<()>::Continue(())
    });
    (explored.stopped == Stopped::Exhausted).then_some(found)
}

#[test]
fn an_exhaustive_search_has_all_outcomes_that_there_are() {
    let (mut compared, mut more) = (0, 0);
    for round in 0..160 {
        let mut draws = 0;
        let mut below = |most: u64| {
            draws += 1;
            mix(round, draws) % most
        };
        let tasks = 2 + usize::from(below(3) == 0);
        let length = if tasks == 2 { 3 } else { 2 };
        let mut row = |_| -> Vec<Op> {
            let mut op = |_| match below(12) {
                0 => Op::Read(below(2) as usize),
                1 => Op::Write(below(2) as usize),
                2 => Op::Now,
                3 => Op::Sleep(10 * (1 + below(2))),
                4 => Op::Park,
                5 => Op::ParkAtMost(15),
                6 => Op::Unpark(below(2) as usize),
                7 => Op::Shared,
                8 => Op::Exclusive,
                9 => Op::WaitAtMost(15),
                10 => Op::Wait,
                _ => Op::Notify,
            };
            (0..length).map(&mut op).collect()
        };
        let rows: Vec<Vec<Op>> = (0..tasks).map(&mut row).collect();
        let freedoms = [TIME, WAKEUPS, WRITERS, TIME.with(Freedom::Wakeups, 1).with(Freedom::Writers, 1)];
        let freedoms = freedoms[round as usize % 4];
        // Every schedule with every answer, as far as it can be tried.
        let Some(all) = outcomes(freedoms, &mut PreemptionBound::new(60), &rows) else { continue };
        let mut search = Exhaustive::new();
        let found = outcomes(freedoms, &mut search, &rows).expect("there are fewer traces than schedules");
        assert!(search.exploration().complete, "{:?} {rows:?}", search.exploration());
        assert_eq!(found, all, "{freedoms} {rows:?}");
        compared += 1;
        let ordinary = outcomes(Freedoms::NONE, &mut Exhaustive::new(), &rows).expect("there are fewer");
        assert!(all.is_superset(&ordinary), "{freedoms} {rows:?}: {all:?} {ordinary:?}");
        more += usize::from(all.len() > ordinary.len());
    }
    assert!(compared > 80 && more > 20, "{compared} {more}");
}
