//! Exhaustive search where the numbers of objects and of tasks depend on the schedule: an object is first used by
//! whoever comes first, and who spawns, and whether, depends on what was read. Compared with a brute force that has names
//! of its own: an interpreter that tries every schedule, and keeps one of those that differ in the order of independent
//! steps only.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::rc::Rc;

use interloper_scheduler::decisions::mix;
use interloper_scheduler::strategies::{Exhaustive, Exploration};
use interloper_scheduler::{Config, Detached, Engine, Executions, Fingerprints, Stopped, Unlock};

use crate::common::*;

/// What a task does next. Variables, locks and rows are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Op {
    Read(usize),
    Write(usize),
    /// Reads; when nobody has written, the next operation is left out.
    IfWritten(usize),
    Take(usize),
    Give(usize),
    /// Starts the task of a row: part of the step before it. Once in a program.
    Spawn(usize),
}

use Op::*;

/// A row of operations for each task. The first `roots` are spawned at the start.
#[derive(Clone, Debug)]
struct Program {
    rows: Vec<Vec<Op>>,
    roots: usize,
}

/// A step: the row, the place in it, and what it does.
type Step = (usize, usize, Op);

// The brute force.

#[derive(Clone)]
struct State<'a> {
    program: &'a Program,
    /// Where each row is; `None` before it is spawned.
    next: Vec<Option<usize>>,
    schedule: Vec<Step>,
    /// For each row that another one has spawned, after which step of the schedule.
    spawned_after: Vec<Option<usize>>,
}

impl State<'_> {
    /// Makes the spawns that are part of the step just made.
    fn spawn(&mut self, row: usize) {
        while let Some(&Spawn(child)) = self.next[row].and_then(|at| self.program.rows[row].get(at)) {
            self.next[row] = self.next[row].map(|at| at + 1);
            self.next[child] = Some(0);
            self.spawned_after[child] = self.schedule.len().checked_sub(1);
            self.spawn(child);
        }
    }

    fn is_held(&self, lock: usize) -> bool {
        let count = |wanted: Op| self.schedule.iter().filter(|step| step.2 == wanted).count();
        count(Take(lock)) > count(Give(lock))
    }

    fn step(&self, row: usize) -> Option<Self> {
        let at = self.next[row]?;
        let &op = self.program.rows[row].get(at)?;
        let mut after = self.clone();
        let leaves_out = match op {
            Take(lock) if self.is_held(lock) => return None,
            IfWritten(variable) => !self.schedule.iter().any(|step| step.2 == Write(variable)),
            _ => false,
        };
        after.schedule.push((row, at, op));
        after.next[row] = Some(at + 1 + usize::from(leaves_out));
        after.spawn(row);
        Some(after)
    }

    fn depends(&self, first: usize, second: usize) -> bool {
        let (a, b) = (self.schedule[first], self.schedule[second]);
        let object = |op: Op| match op {
            Read(object) | Write(object) | IfWritten(object) => (false, object),
            Take(object) | Give(object) | Spawn(object) => (true, object),
        };
        let reads = |op: Op| matches!(op, Read(_) | IfWritten(_));
        a.0 == b.0
            || self.spawned_after[b.0] == Some(first)
            || (object(a.2) == object(b.2) && !(reads(a.2) && reads(b.2)))
    }

    /// Takes, again and again, the step of the first row that nothing before it depends on.
    fn normal_form(&self) -> Vec<Step> {
        let mut left: Vec<usize> = (0..self.schedule.len()).collect();
        let mut normal = Vec::new();
        while !left.is_empty() {
            let free = |&at: &usize| !left[..at].iter().any(|&before| self.depends(before, left[at]));
            let first = (0..left.len()).filter(free).min_by_key(|&at| self.schedule[left[at]].0);
            normal.push(self.schedule[left.remove(first.expect("the first one depends on nothing"))]);
        }
        normal
    }
}

fn start(program: &Program) -> State<'_> {
    let rows = program.rows.len();
    let next = (0..rows).map(|row| (row < program.roots).then_some(0)).collect();
    State { program, next, schedule: Vec::new(), spawned_after: vec![None; rows] }
}

/// One schedule of each Mazurkiewicz trace. Nothing when there are too many schedules to try. The main task joins the
/// roots; what they spawn may be given up, between any two steps: giving a lock back need not be one.
fn traces(program: &Program, detached: Detached, unlock: Unlock) -> Option<BTreeSet<Vec<Step>>> {
    fn go_on(
        state: &State,
        gives_up: &dyn Fn(&State) -> bool,
        schedules: &mut usize,
        found: &mut BTreeSet<Vec<Step>>,
    ) -> Option<()> {
        let mut stuck = true;
        for row in 0..state.next.len() {
            if let Some(after) = state.step(row) {
                stuck = false;
                go_on(&after, gives_up, schedules, found)?;
            }
        }
        if stuck || gives_up(state) {
            found.insert(state.normal_form());
            *schedules += 1;
        }
        (*schedules < 30_000).then_some(())
    }
    let next = |state: &State, row: usize| state.next[row].map(|next| program.rows[row].get(next).copied());
    let gives_up = |state: &State| {
        let is_between = |row: usize| unlock == Unlock::Step || !matches!(next(state, row), Some(Some(Give(_))));
        detached == Detached::GivenUp
            && (0..program.roots).all(|row| next(state, row) == Some(None))
            && (0..program.rows.len()).all(is_between)
    };
    let mut found = BTreeSet::new();
    go_on(&start(program), &gives_up, &mut 0, &mut found).map(|()| found)
}

// The same program on the engine.

#[derive(Default)]
struct Shared {
    /// Registered at their first use.
    variables: [Variable; 3],
    locks: [Lock; 3],
    made: RefCell<Vec<Step>>,
}

fn execute(program: &Rc<Program>, shared: &Rc<Shared>) {
    let roots: Vec<_> = (0..program.roots).map(|row| start_row(program, shared, row)).collect();
    roots.into_iter().for_each(|task| join(task).unwrap());
}

fn start_row(program: &Rc<Program>, shared: &Rc<Shared>, row: usize) -> interloper_scheduler::runtime::TaskId {
    let (program, shared) = (program.clone(), shared.clone());
    spawn(move || perform(&program, &shared, row))
}

fn perform(program: &Rc<Program>, shared: &Rc<Shared>, row: usize) {
    let mut ops = program.rows[row].iter().copied().enumerate();
    let mut guards = [const { None }; 3];
    while let Some((at, op)) = ops.next() {
        let made = || shared.made.borrow_mut().push((row, at, op));
        match op {
            Read(variable) => {
                shared.variables[variable].get();
                made();
            }
            Write(variable) => {
                shared.variables[variable].set(1);
                made();
            }
            IfWritten(variable) => {
                let written = shared.variables[variable].get() == 1;
                made();
                if !written {
                    ops.next();
                }
            }
            Take(lock) => {
                guards[lock] = Some(shared.locks[lock].lock());
                made();
            }
            Give(lock) => {
                drop(guards[lock].take());
                made();
            }
            Spawn(row) => {
                start_row(program, shared, row);
            }
        }
    }
}

/// The traces of the executions that the search makes, in the normal form of the brute force, with what it says of them.
fn explored(program: &Program, unlock: Unlock, detached: Detached) -> (Vec<Vec<Step>>, Exploration) {
    let shared = RefCell::new(Rc::new(Shared::default()));
    let again = Rc::new(program.clone());
    let mut made = Vec::new();
    let mut search = Exhaustive::new();
    let mut engine = Engine::new(Config { unlock, detached, ..Config::default() });
    let run = || {
        shared.replace(Rc::new(Shared::default()));
        execute(&again, &shared.borrow().clone());
    };
    let (mut fingerprints, mut by_fingerprint) = (Fingerprints::default(), BTreeMap::new());
    let explored = engine.explore(&mut search, Executions::AtMost(100_000), run, |engine, _| {
        let normal = follow(program, &shared.borrow().made.borrow());
        let fingerprint = engine.fingerprint(&mut fingerprints);
        let known = by_fingerprint.entry(fingerprint).or_insert_with(|| normal.clone());
        assert_eq!(*known, normal, "two traces have one fingerprint: {program:?}");
        made.push(normal);
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    let different: BTreeSet<_> = made.iter().collect();
    let traces = match detached {
        Detached::MustEnd => different.len(),
        // Where tasks are given up, the normal form does not tell whether a task has started that makes no step.
        Detached::GivenUp => search.exploration().traces as usize,
    };
    assert_eq!(by_fingerprint.len(), traces, "one trace has two fingerprints: {program:?}");
    (made, search.exploration().clone())
}

/// The normal form of a schedule that was made.
fn follow(program: &Program, made: &[Step]) -> Vec<Step> {
    let mut state = start(program);
    for row in 0..program.roots {
        state.spawn(row);
    }
    for step in made {
        state = state.step(step.0).unwrap_or_else(|| panic!("{step:?} cannot come here: {made:?}"));
        assert_eq!(state.schedule.last(), Some(step), "{made:?}");
    }
    state.normal_form()
}

/// Gives the number of traces, unless there are too many schedules to try.
#[track_caller]
fn check(program: &Program) -> Option<usize> {
    let (traces, redundant) = count(program)?;
    assert_eq!(redundant, 0, "{program:?}");
    Some(traces)
}

/// Checks that each trace is explored once. Gives the number of traces, and how many executions were found out to be of
/// one that was explored already.
#[track_caller]
fn count(program: &Program) -> Option<(usize, u64)> {
    for unlock in [Unlock::Step, Unlock::Part] {
        let Some(expected) = traces(program, Detached::GivenUp, unlock) else { break };
        // Whether a task has started that makes no step is another difference, so that these are not counted.
        let (made, exploration) = explored(program, unlock, Detached::GivenUp);
        let made: BTreeSet<_> = made.into_iter().collect();
        let [lost, wrong] = [&expected - &made, &made - &expected];
        assert!(lost.is_empty() && wrong.is_empty(), "{lost:?} {wrong:?} {unlock:?} {program:?}");
        assert!(exploration.complete, "{exploration:?} {unlock:?} {program:?}");
    }
    let expected = traces(program, Detached::MustEnd, Unlock::Step)?;
    let mut redundant = 0;
    for unlock in [Unlock::Step, Unlock::Part] {
        let (made, exploration) = explored(program, unlock, Detached::MustEnd);
        let found: BTreeSet<_> = made.iter().cloned().collect();
        assert_eq!(found, expected, "{unlock:?} {program:?}");
        assert!(exploration.complete, "{exploration:?} {unlock:?} {program:?}");
        assert_eq!(exploration.traces, expected.len() as u64, "{unlock:?} {program:?}");
        assert_eq!(exploration.traces + exploration.redundant, made.len() as u64, "{unlock:?} {program:?}");
        redundant += exploration.redundant;
    }
    Some((expected.len(), redundant))
}

#[test]
fn objects_are_numbered_by_whoever_uses_them_first() {
    let program = |rows: Vec<Vec<Op>>| Program { roots: rows.len(), rows };
    // The two tasks meet at 0 and at 1, in the opposite order: 2 times 2 orders without the one in which each comes
    // first where the other has been before.
    assert_eq!(check(&program(vec![vec![Write(0), Write(1)], vec![Write(1), Write(0)]])), Some(3));
    // The first task of three uses one variable behind another: which number each has depends on the others.
    let meeting = vec![vec![Write(0), Write(1)], vec![Write(2), Write(0)], vec![Write(1), Write(2)]];
    assert_eq!(check(&program(meeting)), Some(7));
}

#[test]
fn tasks_are_numbered_by_whoever_spawns_first() {
    // Two tasks spawn one each; all four write the same variable. A child comes behind its parent: 4! / (2 · 2).
    let family = vec![vec![Write(0), Spawn(2)], vec![Write(0), Spawn(3)], vec![Write(0)], vec![Write(0)]];
    assert_eq!(check(&Program { rows: family, roots: 2 }), Some(6));
    // The parents do not meet, but their children do.
    let cousins = vec![vec![Write(0), Spawn(2)], vec![Write(1), Spawn(3)], vec![Write(2)], vec![Write(2)]];
    assert_eq!(check(&Program { rows: cousins, roots: 2 }), Some(2));
}

#[test]
fn what_is_spawned_depends_on_what_was_read() {
    // The reader comes before the write, or after it: then its child writes, too.
    let rows = vec![vec![IfWritten(0), Spawn(2)], vec![Write(0)], vec![Write(1)]];
    assert_eq!(check(&Program { rows, roots: 2 }), Some(2));
    // After the write it spawns a task that meets the first one again at 1: before it or after it.
    let rows = vec![vec![IfWritten(0), Spawn(2)], vec![Write(0), Write(1)], vec![Write(1)]];
    assert_eq!(check(&Program { rows, roots: 2 }), Some(3));
}

#[test]
fn small_programs_at_random() {
    let (mut total, mut all_redundant) = (0, 0);
    for round in 0..100 {
        let mut draws = 0;
        let mut below = |most: u64| {
            draws += 1;
            mix(round, draws) % most
        };
        let roots = 2 + below(2) as usize;
        let children = below(3) as usize;
        let mut rows = vec![Vec::new(); roots + children];
        for row in &mut rows {
            for _ in 0..1 + below(2) {
                let object = below(3) as usize;
                match below(5) {
                    0 => row.push(Read(object)),
                    1 => row.extend([IfWritten(object), Write(below(3) as usize)]),
                    2 => row.extend([Take(object), Write(below(3) as usize), Give(object)]),
                    _ => row.push(Write(object)),
                }
            }
        }
        for child in roots..roots + children {
            // By one that is spawned before it, behind any of its operations, so that nobody waits for himself.
            let parent = below(child as u64) as usize;
            let at = 1 + below(rows[parent].len() as u64) as usize;
            rows[parent].insert(at, Spawn(child));
        }
        let (traces, redundant) = count(&Program { rows, roots }).unwrap_or_default();
        total += traces;
        all_redundant += redundant;
    }
    // For the two see below.
    assert_eq!((total, all_redundant), (533, 2));
}

#[test]
fn an_object_that_cannot_be_told_costs_an_execution_and_hides_nothing() {
    // Only the last task uses its lock, and what it has read before depends on the schedule.
    let rows = vec![
        vec![Write(0)],
        vec![Read(1), Take(1), Write(2), Give(1)],
        vec![Write(0), Spawn(3), Write(1)],
        vec![Read(2), Take(0), Write(0), Give(0)],
    ];
    // One more execution, under each of the two ways to give back a lock.
    assert_eq!(count(&Program { rows, roots: 3 }), Some((12, 2)));
}
