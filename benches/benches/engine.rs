//! What a step costs, what an execution costs, what a decision costs.

use std::cell::Cell;
use std::hint::black_box;
use std::panic::Location;
use std::rc::Rc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use interloper_scheduler::decisions::{Deviations, Question, Source};
use interloper_scheduler::runtime::{self, Current, Handle, Mode, NewTask, ObjectKind, TaskId};
use interloper_scheduler::strategies::{Exhaustive, RandomWalk};
use interloper_scheduler::{Config, Engine, Strategy, Unlock};

fn engine(unlock: Unlock) -> Engine {
    Engine::new(Config { decisions: false, unlock, ..Config::default() })
}

/// The least that a lock needs.
#[derive(Default)]
struct Lock(Handle);

struct Guard<'a>(&'a Lock);

impl Lock {
    fn lock(&self) -> Guard<'_> {
        let acquire = |current: Current<'_>| {
            let object = self.0.object(&current, ObjectKind::Mutex);
            current.runtime().acquire(object, Mode::Exclusive, Location::caller());
        };
        runtime::with(acquire).unwrap();
        Guard(self)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let release = |current: Current<'_>| {
            let object = self.0.0.object(&current, ObjectKind::Mutex);
            current.runtime().release(object, Mode::Exclusive, Location::caller());
        };
        runtime::with(release).unwrap();
    }
}

fn spawn(body: impl FnOnce() + 'static) -> TaskId {
    let task = NewTask { name: None, location: Location::caller() };
    runtime::with(|current| current.runtime().spawn(task, Box::new(body))).unwrap()
}

fn join(task: TaskId) {
    runtime::with(|current| current.runtime().join(task, Location::caller())).unwrap().unwrap();
}

/// Each of `tasks` tasks takes and gives back a lock of its own, again and again.
fn uncontended(tasks: usize, pairs: usize) {
    let work = move || {
        let lock = Lock::default();
        for _ in 0..pairs {
            drop(lock.lock());
        }
    };
    let spawned: Vec<_> = (1..tasks).map(|_| spawn(work)).collect();
    work();
    spawned.into_iter().for_each(join);
}

/// Figure 1 of the AtomFuzzer paper: two tasks that check and then withdraw. Gives the balance.
fn check_then_withdraw() -> i32 {
    let account = Rc::new((Lock::default(), Cell::new(100)));
    let withdraw = |account: Rc<(Lock, Cell<i32>)>| {
        move || {
            let balance = {
                let _guard = account.0.lock();
                account.1.get()
            };
            if balance >= 70 {
                let _guard = account.0.lock();
                account.1.set(account.1.get() - 70);
            }
        }
    };
    let other = spawn(withdraw(account.clone()));
    withdraw(account.clone())();
    join(other);
    account.1.get()
}

fn steps(criterion: &mut Criterion) {
    const PAIRS: usize = 1000;
    let mut group = criterion.benchmark_group("uncontended lock and unlock");
    for (unlock, tasks) in
        [Unlock::Step, Unlock::Part].into_iter().flat_map(|unlock| [2, 4, 16].map(|tasks| (unlock, tasks)))
    {
        group.throughput(Throughput::Elements((tasks * PAIRS) as u64));
        let (mut engine, mut strategy) = (engine(unlock), RandomWalk::new(0));
        group.bench_function(format!("{tasks} tasks, unlock as {unlock:?}"), |bencher| {
            bencher.iter(|| {
                strategy.begin();
                black_box(engine.run(&mut strategy, || uncontended(tasks, PAIRS)))
            });
        });
    }
    group.finish();
}

fn executions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("executions");
    group.throughput(Throughput::Elements(1));
    let (mut engine, mut strategy) = (engine(Unlock::Part), RandomWalk::new(0));
    group.bench_function("check then withdraw, two tasks", |bencher| {
        bencher.iter(|| {
            strategy.begin();
            let balance = Cell::new(0);
            black_box(engine.run(&mut strategy, || balance.set(check_then_withdraw())));
            balance.get()
        });
    });
    group.bench_function("one task, no step", |bencher| {
        bencher.iter(|| black_box(engine.run(&mut strategy, || ())));
    });
    group.finish();
}

fn decisions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decisions");
    // An argument out of 4 and eight places for one of 5 environment operations, up to 3 of them, each run to its end:
    // 4 · Σ C(8, k) · 5^k runs of 9 decisions.
    const RUNS: u64 = 4 * (1 + 8 * 5 + 28 * 25 + 56 * 125);
    group.throughput(Throughput::Elements(9 * RUNS));
    group.bench_function("exhaustive, three deviations", |bencher| {
        bencher.iter(|| {
            let mut search = Deviations::new(3);
            while search.next_run() {
                search.decide(Question::Argument, 4);
                for _ in 0..8 {
                    black_box(search.decide(Question::Environment, 6));
                }
                search.end_run();
            }
            assert_eq!(search.coverage().total(), RUNS);
        });
    });
    group.finish();
}

/// Three tasks take and give back locks of their own, 500 times each; every tenth time it is one of two that they share.
fn long() {
    let (tasks, own) = (3, 20);
    let locks: Rc<Vec<Lock>> = Rc::new((0..tasks * own + 2).map(|_| Lock::default()).collect());
    let work = |task: usize| {
        let locks = Rc::clone(&locks);
        move || {
            for round in 0..500 {
                let shared = tasks * own + (round + task) % 2;
                let which = if round % 10 == 3 { shared } else { task * own + round % own };
                drop(locks[which].lock());
            }
        }
    };
    let spawned: Vec<_> = (0..tasks).map(|task| spawn(work(task))).collect();
    spawned.into_iter().for_each(join);
}

/// An exhaustive search is to take at most three times as long for an execution as a random walk.
fn long_executions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("executions of 3,000 steps");
    let mut engine = Engine::new(Config { decisions: false, trace: false, ..Config::default() });
    let mut random = RandomWalk::new(0);
    group.bench_function("random walk", |bencher| {
        bencher.iter(|| {
            random.begin();
            engine.run(&mut random, long).steps
        });
    });
    let mut engine = Engine::new(Config { decisions: false, trace: true, ..Config::default() });
    let mut exhaustive = Exhaustive::new();
    group.bench_function("exhaustive", |bencher| {
        bencher.iter(|| {
            assert!(exhaustive.begin(), "it has more traces than can be made");
            let execution = engine.run(&mut exhaustive, long);
            exhaustive.end(&execution, &engine.trace());
            execution.steps
        });
    });
    group.bench_function("exhaustive, the first one", |bencher| {
        bencher.iter(|| {
            let mut exhaustive = Exhaustive::new();
            exhaustive.begin();
            let execution = engine.run(&mut exhaustive, long);
            exhaustive.end(&execution, &engine.trace());
        });
    });
    group.finish();
}

criterion_group!(benches, steps, executions, long_executions, decisions);
criterion_main!(benches);
