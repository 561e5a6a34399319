//! Generated programs with loops that wait, against a brute force that knows nothing of the search.

use std::collections::BTreeSet;

use interloper_random::{Purpose, Stream};
use interloper_std::sync::atomic::Ordering::SeqCst;
use interloper_std::thread;

use super::{WAYS, atomics, no_hint, results};

/// A step of a small program. Variables are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Op {
    Load(usize),
    Store(usize, u32),
    Add(usize),
    /// Waits until the variable has this value.
    Await(usize, u32),
    /// Waits until both variables have this value: looks at the second one only if the first one has it.
    Both(u32),
    /// Waits until the variable is 0 and makes it 1.
    Take(usize),
}

use Op::*;

type Program = Vec<Vec<Op>>;

/// A step of the brute force: the task, how many steps it has made, what it does to which variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    task: usize,
    number: usize,
    variable: usize,
    writes: bool,
}

#[derive(Clone, Debug, Default)]
struct Machine {
    variables: [u32; 2],
    /// By task: its operation, and whether it has seen the first of two.
    at: Vec<(usize, bool)>,
    /// The values that each task has read.
    read: Vec<Vec<u32>>,
    made: Vec<usize>,
    schedule: Vec<Step>,
    /// If loops make rounds in vain: what each task saw in the last one of its loop. It makes another one if it sees something else.
    in_vain: Option<Vec<Option<u32>>>,
}

/// What a program comes to: the values read, the variables, and `None` if tasks wait for ever.
type Outcome = Option<(Vec<Vec<u32>>, [u32; 2])>;

impl Machine {
    /// Makes the next step of a task. `None` if it has none; `Err` if it looks in vain: nothing changes.
    fn step(&self, program: &Program, task: usize) -> Option<Result<Machine, ()>> {
        let mut next = self.clone();
        let (op, half) = self.at[task];
        let op = *program[task].get(op)?;
        let (variable, wanted) = match op {
            Load(variable) | Store(variable, _) | Add(variable) => (variable, None),
            Await(variable, value) => (variable, Some(value)),
            Both(value) => (usize::from(half), Some(value)),
            Take(variable) => (variable, Some(0)),
        };
        let value = &mut next.variables[variable];
        if wanted.is_some_and(|wanted| wanted != *value) {
            let seen = *value;
            let Some(in_vain) = &mut next.in_vain else { return Some(Err(())) };
            if in_vain[task].replace(seen) == Some(seen) {
                return Some(Err(()));
            }
            next.at[task].1 = false;
            // The search takes the order of two attempts to matter, whatever comes of them.
            next.schedule.push(Step { task, number: self.made[task], variable, writes: matches!(op, Take(_)) });
            next.made[task] += 1;
            return Some(Ok(next));
        }
        let writes = matches!(op, Store(..) | Add(_) | Take(_));
        match op {
            Load(_) => next.read[task].push(*value),
            Store(_, stored) => *value = stored,
            Add(_) => *value += 1,
            Take(_) => *value = 1,
            Await(..) | Both(_) => {}
        }
        let goes_on = matches!(op, Both(_)) && !half;
        next.at[task] = if goes_on { (self.at[task].0, true) } else { (self.at[task].0 + 1, false) };
        next.in_vain.iter_mut().filter(|_| !goes_on).for_each(|in_vain| in_vain[task] = None);
        next.schedule.push(Step { task, number: self.made[task], variable, writes });
        next.made[task] += 1;
        Some(Ok(next))
    }

    fn start(program: &Program) -> Machine {
        let tasks = program.len();
        let (at, read, made) = (vec![(0, false); tasks], vec![Vec::new(); tasks], vec![0; tasks]);
        Machine { at, read, made, ..Machine::default() }
    }
}

/// Of those schedules that are equivalent, the one that is first.
fn normal_form(mut left: Vec<Step>) -> Vec<Step> {
    let dependent = |a: &Step, b: &Step| a.task == b.task || (a.variable == b.variable && (a.writes || b.writes));
    let mut normal = Vec::new();
    while !left.is_empty() {
        let free = |at: &usize| !left[..*at].iter().any(|before| dependent(before, &left[*at]));
        let first = (0..left.len()).filter(free).min_by_key(|&at| left[at].task).unwrap();
        normal.push(left.remove(first));
    }
    normal
}

/// All outcomes, and the traces, of a program whose loops make no round in vain, or only such as see something else than the round before.
fn brute_force(
    program: &Program,
    machine: &Machine,
    outcomes: &mut BTreeSet<Outcome>,
    traces: &mut BTreeSet<Vec<Step>>,
) {
    let steps: Vec<_> = (0..program.len()).filter_map(|task| machine.step(program, task)).collect();
    let waits = !steps.is_empty();
    let mut is_stuck = true;
    for next in steps.into_iter().flatten() {
        is_stuck = false;
        brute_force(program, &next, outcomes, traces);
    }
    if is_stuck {
        outcomes.insert((!waits).then(|| (machine.read.clone(), machine.variables)));
        traces.insert(normal_form(machine.schedule.clone()));
    }
}

/// All outcomes of a program whose loops are unrolled: each task may make so many looks in vain and is given up after more. A
/// task that has seen the first of two looks at it again after it has seen the second one in vain.
fn unrolled(program: &Program, machine: &Machine, left: &mut [u32], outcomes: &mut BTreeSet<Outcome>) {
    let mut waits = false;
    let mut goes_on = false;
    for task in 0..program.len() {
        match machine.step(program, task) {
            None => {}
            Some(Ok(next)) => {
                goes_on = true;
                unrolled(program, &next, left, outcomes);
            }
            Some(Err(())) => {
                waits = true;
                if left[task] > 0 {
                    left[task] -= 1;
                    let mut next = machine.clone();
                    next.at[task].1 = false;
                    unrolled(program, &next, left, outcomes);
                    left[task] += 1;
                }
            }
        }
    }
    if !goes_on {
        outcomes.insert((!waits).then(|| (machine.read.clone(), machine.variables)));
    }
}

fn execute(program: &Program, hint: fn()) -> (Vec<Vec<u32>>, [u32; 2]) {
    let variables = atomics::<2>();
    let start = |ops: &Vec<Op>| {
        let (ops, variables) = (ops.clone(), variables.clone());
        thread::spawn(move || {
            let mut read = Vec::new();
            for op in ops {
                match op {
                    Load(variable) => read.push(variables[variable].load(SeqCst)),
                    Store(variable, value) => variables[variable].store(value, SeqCst),
                    Add(variable) => {
                        variables[variable].fetch_add(1, SeqCst);
                    }
                    Await(variable, value) => {
                        while variables[variable].load(SeqCst) != value {
                            hint();
                        }
                    }
                    Both(value) => {
                        while !(variables[0].load(SeqCst) == value && variables[1].load(SeqCst) == value) {
                            hint();
                        }
                    }
                    Take(variable) => {
                        while variables[variable].compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
                            hint();
                        }
                    }
                }
            }
            read
        })
    };
    let tasks: Vec<_> = program.iter().map(start).collect();
    let read = tasks.into_iter().map(|task| task.join().unwrap()).collect();
    (read, [0, 1].map(|variable| variables[variable].load(SeqCst)))
}

fn generate(stream: &mut Stream) -> Program {
    let mut below = |bound: u64| stream.below(bound) as usize;
    let tasks = 2 + below(2);
    let longest = if tasks == 2 { 4 } else { 3 };
    let mut program = Vec::new();
    for _ in 0..tasks {
        let length = 1 + below(longest);
        let op = |below: &mut dyn FnMut(u64) -> usize| {
            let (variable, value) = (below(2), below(3) as u32);
            match below(8) {
                0 => Load(variable),
                1 | 2 => Store(variable, value),
                3 => Add(variable),
                4 | 5 => Await(variable, value),
                6 => Both(value),
                _ => Take(variable),
            }
        };
        program.push((0..length).map(|_| op(&mut below)).collect());
    }
    program
}

#[test]
fn generated_programs_have_the_outcomes_of_a_brute_force_and_an_execution_of_each_trace() {
    let mut stream = Stream::new(15, Purpose::Schemas, 0);
    let (mut waiting, mut ended, mut others) = (0, 0, Vec::new());
    for number in 0..300 {
        let program = generate(&mut stream);
        let (mut outcomes, mut traces) = (BTreeSet::new(), BTreeSet::new());
        brute_force(&program, &Machine::start(&program), &mut outcomes, &mut traces);
        let mut with_rounds = BTreeSet::new();
        unrolled(&program, &Machine::start(&program), &mut vec![2; program.len()], &mut with_rounds);
        assert_eq!(outcomes, with_rounds, "{program:?}");
        let waits = outcomes.contains(&None);
        let mut check = |hint: fn(), most: u64| {
            let (seen, exploration) = results(|| execute(&program, hint));
            assert_eq!(seen, outcomes, "{program:?} {exploration:?}");
            if !(traces.len() as u64..=most).contains(&exploration.traces) {
                others.push(format!("{number} {program:?} {exploration:?} {} {most}", traces.len()));
            }
            assert_eq!(exploration.complete, !waits, "{program:?} {exploration:?}");
        };
        check(WAYS[number % WAYS.len()], traces.len() as u64);
        // Without a hint, a round may leave a trace in the local state of the next one: what was seen.
        let mut with_rounds = BTreeSet::new();
        let start = Machine { in_vain: Some(vec![None; program.len()]), ..Machine::start(&program) };
        brute_force(&program, &start, &mut BTreeSet::new(), &mut with_rounds);
        check(no_hint, with_rounds.len() as u64);
        (waiting, ended) = (waiting + u64::from(waits), ended + u64::from(outcomes.len() > 1));
    }
    assert!(others.is_empty(), "{} {others:#?}", others.len());
    // The programs are not trivial.
    assert!(waiting > 50 && ended > 50, "{waiting} {ended}");
}
