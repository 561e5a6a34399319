//! Runs a program on the model in every way.

use std::sync::atomic::Ordering;

use interloper_std::runtime::TaskId;

use super::{ANY, Graph, Graphs, Instruction, Program};
use crate::memory::{Kind, LocationId, Memory, Places, Spot};

pub(super) const LOCATIONS: usize = 3;

pub(super) fn graphs(program: &Program) -> Graphs {
    let mut memory = Memory::default();
    memory.restart(false);
    // The main task starts the others and does nothing else.
    memory.begin_task(None);
    (0..LOCATIONS).for_each(|location| {
        memory.newest(TaskId::MAIN, LocationId(location as u32), 0);
    });
    program.iter().for_each(|_| memory.begin_task(Some(TaskId::MAIN)));
    memory.end_task(TaskId::MAIN);
    let graph = Graph { reads: vec![Vec::new(); program.len()], stores: vec![vec![0]; LOCATIONS] };
    let mut found = Graphs::new();
    go_on(program, &Run { memory, done: vec![0; program.len()], graph }, &mut found);
    found
}

#[derive(Clone)]
struct Run {
    memory: Memory,
    done: Vec<usize>,
    graph: Graph,
}

fn go_on(program: &Program, run: &Run, found: &mut Graphs) {
    let mut at_end = true;
    for (thread, instructions) in program.iter().enumerate() {
        if let Some(&instruction) = instructions.get(run.done[thread]) {
            at_end = false;
            let mut run = run.clone();
            run.done[thread] += 1;
            step(program, &run, thread, instruction, found);
        }
    }
    if at_end {
        found.insert(run.graph.clone());
    }
}

fn step(program: &Program, run: &Run, thread: usize, instruction: Instruction, found: &mut Graphs) {
    use Instruction::{CompareExchange, Fence, Load, Store, Swap};
    let task = TaskId(thread as u32 + 1);
    let mut each = |location: usize, kind: Kind, order: Ordering, act: &dyn Fn(&mut Run, LocationId, Spot) -> bool| {
        let at = LocationId(location as u32);
        let mut places = Places::default();
        let (newest, is_settled) = run.memory.clone().newest(task, at, run.newest(location));
        if is_settled {
            places.list([newest.spot]);
        } else {
            run.memory.places(task, at, kind, order, &mut places);
        }
        assert_eq!(run.memory.stored(at, places.get(0)), newest, "the newest place is always possible");
        assert_eq!(newest.distance, 0);
        for spot in places.iter() {
            let mut run = run.clone();
            if act(&mut run, at, spot) {
                go_on(program, &run, found);
            }
        }
    };
    match instruction {
        Load(location, order) => each(location, Kind::Load, order, &|run, at, spot| {
            run.load(thread, at, order, spot);
            true
        }),
        Store(location, value, order) => each(location, Kind::Store, order, &|run, at, spot| {
            run.store(thread, at, order, spot, value);
            true
        }),
        Swap(location, value, order) => each(location, Kind::Update, order, &|run, at, spot| {
            run.update(thread, at, order, spot, value);
            true
        }),
        CompareExchange(location, expected, value, success, failure) => {
            each(location, Kind::Update, success, &|run, at, spot| {
                let meets = run.memory.stored(at, spot).value == expected;
                if meets {
                    run.update(thread, at, success, spot, value);
                }
                meets
            });
            each(location, Kind::Load, failure, &|run, at, spot| {
                let differs = run.memory.stored(at, spot).value != expected;
                if differs {
                    run.load(thread, at, failure, spot);
                }
                differs
            });
        }
        Fence(order) => {
            let mut run = run.clone();
            run.memory.fence(task, order);
            go_on(program, &run, found);
        }
    }
}

impl Run {
    /// The newest value.
    fn newest(&self, location: usize) -> u64 {
        *self.graph.stores[location].last().expect("it begins with one")
    }

    fn load(&mut self, thread: usize, at: LocationId, order: Ordering, spot: Spot) {
        self.graph.reads[thread].push(self.memory.stored(at, spot).value);
        self.memory.load(TaskId(thread as u32 + 1), at, order, spot);
    }

    fn store(&mut self, thread: usize, at: LocationId, order: Ordering, spot: Spot, value: u64) {
        self.insert(at, spot, value);
        self.memory.store(TaskId(thread as u32 + 1), at, order, spot, (value, ANY));
    }

    fn update(&mut self, thread: usize, at: LocationId, order: Ordering, spot: Spot, value: u64) {
        self.insert(at, spot, value);
        self.graph.reads[thread].push(self.memory.stored(at, spot).value);
        self.memory.update(TaskId(thread as u32 + 1), at, order, spot, (value, ANY));
    }

    fn insert(&mut self, at: LocationId, spot: Spot, value: u64) {
        let stores = &mut self.graph.stores[at.0 as usize];
        stores.insert(stores.len() - self.memory.stored(at, spot).distance, value);
    }
}
