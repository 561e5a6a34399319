//! PCT, POS, SURW, URW and the portfolio: what is known of their odds.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use interloper_scheduler::runtime::TaskId;
use interloper_scheduler::strategies::{
    AtomFuzzer, PROFILE_EXECUTIONS, Pct, Portfolio, Pos, Profile, RandomWalk, Rff, Selection, Surw,
};
use interloper_scheduler::{Config, Engine, Executions, Stopped, Strategy, Unlock};

use crate::common::*;
use crate::programs::*;

/// How often each order of `steps` of tasks 1 and 2 comes in so many executions.
fn orders(strategy: &mut dyn Strategy, executions: u64, program: impl Fn(&Log)) -> BTreeMap<String, u64> {
    let mut engine = Engine::new(Config { unlock: Unlock::Part, ..Config::default() });
    let log = Log::default();
    let mut counts = BTreeMap::new();
    let explored = engine.explore(
        strategy,
        Executions::AtMost(executions),
        || program(&log),
        |_, execution| {
            assert!(execution.end.is_finished(), "{execution:?}");
            *counts.entry(log.take().concat()).or_default() += 1;
            ControlFlow::<()>::Continue(())
        },
    );
    assert_eq!(explored.stopped, Stopped::Limit);
    counts
}

/// Two tasks; the first takes a lock `first` times, the second `second` times.
fn lockers(first: usize, second: usize) -> impl Fn(&Log) {
    move |log: &Log| {
        let lock = Rc::new(Lock::new());
        let worker = |name: &'static str, times: usize| {
            let (lock, log) = (lock.clone(), log.clone());
            spawn(move || {
                for _ in 0..times {
                    let _guard = lock.lock();
                    log.say(name);
                }
            })
        };
        let tasks = [worker("a", first), worker("b", second)];
        tasks.into_iter().for_each(|task| join(task).unwrap());
    }
}

/// All counts within five standard deviations of an even share: for one of `n` even cells a false alarm has probability
/// below 2^-20.
#[track_caller]
fn check_uniform(counts: &BTreeMap<String, u64>, cells: usize) {
    assert_eq!(counts.len(), cells, "{counts:?}");
    let total: u64 = counts.values().sum();
    let share = total as f64 / cells as f64;
    let deviation = (share * (1.0 - 1.0 / cells as f64)).sqrt();
    for (order, &count) in counts {
        assert!((count as f64 - share).abs() < 5.0 * deviation, "{order} came {count} times, not {share}: {counts:?}");
    }
}

#[test]
fn urw_makes_all_interleavings_equally_likely() {
    // The order of 3 and 2 steps, each task having one more for its start: C(7, 3) interleavings, from which the starts
    // are projected away; so the orders are weighted by where the starts may be. Without projection: the trace.
    let mut engine = Engine::new(Config { unlock: Unlock::Part, ..Config::default() });
    let mut strategy = Surw::new(7, Selection::All);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let log = Log::default();
    let program = lockers(3, 2);
    let mut walks = 0;
    engine.explore(
        &mut strategy,
        Executions::AtMost(PROFILE_EXECUTIONS + 7000),
        || program(&log),
        |engine, _| {
            // The first executions are random walks.
            walks += 1;
            if walks <= PROFILE_EXECUTIONS {
                return ControlFlow::<()>::Continue(());
            }
            let step = |event: &interloper_scheduler::Event| {
                (!event.continues && event.task != TaskId::MAIN).then(|| event.task.0.to_string())
            };
            *counts.entry(engine.trace().iter().filter_map(step).collect()).or_default() += 1;
            ControlFlow::<()>::Continue(())
        },
    );
    // The main task has steps of its own, its joins, which are not independent of the rest: the first can only come
    // once task 1 has ended. Its steps left count for nothing before, so they do not disturb the others.
    check_uniform(&counts, 35);
}

#[test]
fn surw_makes_the_orders_on_the_object_equally_likely() {
    // C(5, 2) orders of 3 and 2 sections, whatever else the tasks do.
    let program = lockers(3, 2);
    let busy = move |log: &Log| {
        let own = Rc::new(Lock::new());
        let other = own.clone();
        let child = spawn(move || (0..20).for_each(|_| drop(other.lock())));
        program(log);
        join(child).unwrap();
    };
    let mut engine = Engine::new(Config { unlock: Unlock::Part, ..Config::default() });
    let log = Log::default();
    let mut profile = Profile::default();
    let mut walk = RandomWalk::new(0);
    for _ in 0..PROFILE_EXECUTIONS {
        walk.begin();
        engine.run(&mut walk, || busy(&log));
        profile.add(&engine.trace());
    }
    log.take();
    let mut strategy = Surw::new(7, Selection::OneObject).with_profile(profile);
    check_uniform(&orders(&mut strategy, 5000, busy), 10);
}

/// A task that is intended and waits for one that is held back: it reads a flag again and again, which the other one sets
/// after its selected step.
#[test]
fn surw_does_not_let_a_task_wait_for_one_that_it_holds_back() {
    let program = |_: &Log| {
        let (selected, flag) = (Rc::new(Variable::default()), Rc::new(Variable::default()));
        let (shared, raised) = (selected.clone(), flag.clone());
        let waiter = spawn(move || {
            let rounds = Variable::default();
            while raised.get() == 0 {
                rounds.add(1);
            }
            (0..5).for_each(|_| {
                shared.add(1);
            });
        });
        (0..5).for_each(|_| {
            selected.add(1);
        });
        flag.set(1);
        join(waiter).unwrap();
    };
    let mut engine = Engine::new(Config { unlock: Unlock::Part, ..Config::default() });
    let judge = |_: &Engine, execution: interloper_scheduler::Execution| {
        assert!(execution.end.is_finished() && !execution.steered, "{execution:?}");
        ControlFlow::<()>::Continue(())
    };
    let log = Log::default();
    engine.explore(&mut Surw::new(1, Selection::OneObject), Executions::AtMost(100), || program(&log), judge);
}

#[test]
fn a_random_walk_does_not() {
    let counts = orders(&mut RandomWalk::new(7), 5000, lockers(5, 5));
    // aaaaabbbbb has probability about 2^-6, abababab.. about 2^-10; an even share would be 1/252.
    assert!(counts["aaaaabbbbb"] > 3 * 5000 / 252, "{counts:?}");
}

#[test]
fn pos_makes_both_orders_of_two_dependent_steps_equally_likely() {
    // However many independent steps one of them has before.
    for before in [0, 10] {
        let program = move |log: &Log| {
            let lock = Rc::new(Lock::new());
            let worker = |name: &'static str, before: usize| {
                let (lock, log) = (lock.clone(), log.clone());
                spawn(move || {
                    let own = Lock::new();
                    (0..before).for_each(|_| drop(own.lock()));
                    let _guard = lock.lock();
                    log.say(name);
                })
            };
            let tasks = [worker("a", before), worker("b", 0)];
            tasks.into_iter().for_each(|task| join(task).unwrap());
        };
        let counts = orders(&mut Pos::new(3), 4000, program);
        // With independent steps before, the later one needs a row of high priorities: 1/(before + 2) and the like;
        // POS is even where the two compete, so the bound here is that neither order is rare.
        assert!(counts.values().all(|&count| count > 4000 / 40), "{before}: {counts:?}");
        assert_eq!(counts.len(), 2);
        if before == 0 {
            // Both have started with equal priorities: even by symmetry.
            check_uniform(&counts, 2);
        }
    }
}

#[test]
fn pct_finds_a_bug_of_depth_2_as_often_as_it_promises() {
    // n = 3 tasks, k = the length: at least 1 / (n · k) of the executions, here at least 1 / 60; 2000 executions find
    // none with probability below 2^-40.
    for (unrelated, length) in [(0, 12), (6, 20)] {
        let mut engine = Engine::new(Config { unlock: Unlock::Part, ..Config::default() });
        let mut strategy = Pct::new(5, 2);
        let found = Cell::new(0);
        engine.explore(
            &mut strategy,
            Executions::AtMost(2000),
            || figure_1_and_2(unrelated),
            |_, execution| {
                found.set(found.get() + u64::from(!execution.end.is_finished()));
                ControlFlow::<()>::Continue(())
            },
        );
        assert!(strategy.length() <= length + 6, "{}", strategy.length());
        assert!(found.get() >= 2000 / (3 * strategy.length()), "{} found", found.get());
    }
}

#[test]
fn pct_of_depth_1_never_preempts() {
    let mut engine = Engine::new(Config::default());
    let mut strategy = Pct::new(5, 1);
    engine.explore(
        &mut strategy,
        Executions::AtMost(200),
        || figure_1_and_2(3),
        |_, execution| {
            // But where a task of higher priority was spawned or has come to be enabled.
            assert!(execution.end.is_finished());
            ControlFlow::<()>::Continue(())
        },
    );
}

#[test]
fn pct_lets_others_go_on_when_a_task_yields() {
    let mut engine = Engine::new(Config { step_bound: 1000, ..Config::default() });
    let program = || {
        let flag = Rc::new(Variable::default());
        let wait = |flag: Rc<Variable>| {
            move || {
                while flag.add(0) == 0 {
                    runtime(|runtime| runtime.yield_now(std::panic::Location::caller()));
                }
            }
        };
        let tasks = [spawn(wait(flag.clone())), spawn(wait(flag.clone()))];
        flag.set(1);
        tasks.into_iter().for_each(|task| join(task).unwrap());
    };
    let judge = |_: &Engine, execution: interloper_scheduler::Execution| {
        assert!(execution.end.is_finished(), "{execution:?}");
        ControlFlow::<()>::Continue(())
    };
    engine.explore(&mut Pct::new(1, 3), Executions::AtMost(200), program, judge);
}

/// The names of the members that run so many executions, in their order.
fn turns(mut portfolio: Portfolio<'_>, executions: usize, program: impl Fn()) -> Vec<&'static str> {
    let mut engine = Engine::new(Config { unlock: Unlock::Part, ..Config::default() });
    let mut one = || {
        assert!(portfolio.begin());
        let execution = engine.run(&mut portfolio, &program);
        portfolio.end(&execution, &engine.trace());
        portfolio.name().unwrap()
    };
    (0..executions).map(|_| one()).collect()
}

fn times(turns: &[&str], name: &str) -> usize {
    turns.iter().filter(|turn| **turn == name).count()
}

/// The program has one schedule: after the first execution nothing is new, and the shares are equal. The bounded search
/// has one execution.
#[test]
fn a_portfolio_takes_turns() {
    let portfolio = || {
        Portfolio::new()
            .with("random", RandomWalk::new(0))
            .with("pct", Pct::new(0, 2))
            .with("preemptions", interloper_scheduler::strategies::PreemptionBound::new(0))
    };
    let turns_of = |executions| turns(portfolio(), executions, || drop(Lock::new().lock()));
    let turns = turns_of(401);
    assert_eq!(turns[..3], ["random", "pct", "preemptions"]);
    assert_eq!(times(&turns, "preemptions"), 1);
    // The first execution paid for one of them.
    assert!(times(&turns, "random").abs_diff(times(&turns, "pct")) <= 40, "{turns:?}");
    assert_eq!(turns, turns_of(401), "a function of what was seen");
    assert!(!Portfolio::new().begin());
}

/// Without preemptions nothing is new after the first executions, while a random walk finds new pairs for a while.
#[test]
fn a_portfolio_follows_what_pays() {
    let program = || {
        let variables: [Rc<Variable>; 4] = Default::default();
        let change = |variables: [Rc<Variable>; 4]| {
            move || {
                for round in 0..4 {
                    variables[round].set(1);
                    variables[(round + 1) % 4].get();
                    variables[(round + 2) % 4].add(1);
                }
            }
        };
        let tasks: Vec<_> = (0..3).map(|_| spawn(change(variables.clone()))).collect();
        tasks.into_iter().for_each(|task| join(task).unwrap());
    };
    let portfolio = Portfolio::new().with("pct", Pct::new(0, 1)).with("random", RandomWalk::new(0));
    let turns = turns(portfolio, 60, program);
    assert!(times(&turns, "random") > 2 * times(&turns, "pct"), "{turns:?}");
}

/// As long as nothing is new, a strategy that learns has sixteen executions where another one has one, and after a thousand as many
/// as the other one.
#[test]
fn a_portfolio_has_patience_with_a_strategy_that_learns() {
    let portfolio = Portfolio::new().with("random", RandomWalk::new(0)).with("rff", Rff::new(0));
    let turns = turns(portfolio, 3_000, || drop(Lock::new().lock()));
    assert_eq!((turns[0], &turns[1..17]), ("random", &["rff"; 16][..]));
    let (learning, learnt) = turns.split_at(1_024 + 64);
    assert!(times(learning, "random").abs_diff(64) <= 16, "{}", times(learning, "random"));
    assert!(times(learnt, "random").abs_diff(learnt.len() / 2) <= 16, "{}", times(learnt, "random"));
}

#[test]
fn atom_fuzzer_gives_its_share_away_where_there_is_no_block() {
    let portfolio = || Portfolio::new().with("fuzzer", AtomFuzzer::new(0)).with("random", RandomWalk::new(0));
    let without = turns(portfolio(), 640, || without_marks(1));
    // Its first one, and one of each 64.
    assert!((8..=12).contains(&times(&without, "fuzzer")), "{}", times(&without, "fuzzer"));
    let with = turns(portfolio(), 640, || figure_1_and_2(1));
    assert!(times(&with, "fuzzer") > 200, "{}", times(&with, "fuzzer"));
}

#[test]
fn marks_change_nothing_for_those_that_are_not_asked_about_them() {
    use interloper_scheduler::runtime::Action;

    let strategies: [fn(u64) -> Box<dyn Strategy>; 6] = [
        |seed| Box::new(RandomWalk::new(seed)),
        |seed| Box::new(Pct::new(seed, 3)),
        |seed| Box::new(Pos::new(seed)),
        |seed| Box::new(Rff::new(seed)),
        |seed| Box::new(Surw::new(seed, Selection::All)),
        |seed| Box::new(Surw::new(seed, Selection::OneObject)),
    ];
    for (number, strategy) in strategies.into_iter().enumerate() {
        for seed in 0..20 {
            let schedules = |program: fn(usize)| {
                let mut strategy = strategy(seed);
                let mut engine = Engine::new(Config { unlock: Unlock::Part, ..Config::default() });
                let mut schedules = Vec::new();
                for _ in 0..10 {
                    strategy.begin();
                    let (execution, difference) = engine.run_twice(&mut *strategy, || program(2));
                    assert_eq!(difference, None, "the decisions are those of a replay that asks about marks");
                    // Of the second run, which is the same.
                    let trace = engine.trace().to_vec();
                    strategy.end(&execution, &trace);
                    let is_mark = |action: Action| matches!(action, Action::BlockBegin(_) | Action::BlockEnd);
                    let steps = trace.iter().filter(|event| !is_mark(event.operation.action));
                    schedules.push(steps.map(|event| (event.task, event.operation.action)).collect::<Vec<_>>());
                }
                schedules
            };
            assert_eq!(schedules(figure_1_and_2), schedules(without_marks), "strategy {number}, seed {seed}");
        }
    }
}

/// Tasks that set one variable and then another one, and a task that reads both: after how many executions it sees the
/// first one set and the second one not. `in_order`: the second one is set first.
fn reordered(strategy: &mut dyn Strategy, setters: usize, in_order: bool, most: u64) -> Option<u64> {
    let seen = Cell::new(false);
    let program = || {
        let variables: [Rc<Variable>; 2] = Default::default();
        let set = |_| {
            let [a, b] = variables.clone();
            spawn(move || {
                if in_order {
                    b.set(1);
                    a.set(1);
                } else {
                    a.set(1);
                    b.set(1);
                }
            })
        };
        let tasks: Vec<_> = (0..setters).map(set).collect();
        let [a, b] = variables.clone();
        seen.set(a.get() == 1 && b.get() == 0);
        tasks.into_iter().for_each(|task| join(task).unwrap());
    };
    let judge = |_: &Engine, execution: interloper_scheduler::Execution| {
        assert!(execution.end.is_finished(), "{execution:?}");
        if seen.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut engine = Engine::new(Config { unlock: Unlock::Part, ..Config::default() });
    let explored = engine.explore(strategy, Executions::AtMost(most), program, judge);
    (explored.stopped == Stopped::Broken(())).then_some(explored.executions)
}

/// The search is no harder with 100 identical tasks than with 3, where other strategies take hundreds of executions
/// more. An execution that requires the missing pair shows it; such an execution is drawn with a probability of
/// about 1/6 once the pair is known, so 100 executions miss it with probability below 2^-20.
#[test]
fn rff_does_not_mind_identical_tasks() {
    for setters in [3, 100] {
        for seed in 0..5 {
            let found = reordered(&mut Rff::new(seed), setters, false, 100);
            assert!(found.is_some(), "{setters} tasks, seed {seed}");
        }
    }
    assert_eq!(reordered(&mut Rff::new(0), 3, true, 300), None);
}

#[test]
fn rff_is_a_function_of_its_seed() {
    let found = |seed| reordered(&mut Rff::new(seed), 20, false, 1_000);
    let all: Vec<_> = (0..10).map(found).collect();
    assert_eq!(all, (0..10).map(found).collect::<Vec<_>>());
    assert!(all.iter().any(|found| *found != all[0]), "{all:?}");
}

/// A task that reads a flag in a loop, with an effect in each round, so that the engine cannot tell that it waits. After that
/// it reads a value: an execution in which it is to read the first value keeps back the task that sets both.
#[test]
fn rff_ends_where_a_task_waits_for_one_that_is_kept_back() {
    let program = || {
        let (value, flag) = (Rc::new(Variable::default()), Rc::new(Variable::default()));
        let (letter, raised) = (value.clone(), flag.clone());
        let waiter = spawn(move || {
            let rounds = Variable::default();
            while raised.get() == 0 {
                rounds.add(1);
            }
            letter.get();
        });
        value.set(1);
        flag.set(1);
        join(waiter).unwrap();
    };
    let mut engine = Engine::new(Config { unlock: Unlock::Part, ..Config::default() });
    let judge = |_: &Engine, execution: interloper_scheduler::Execution| {
        assert!(execution.end.is_finished() && !execution.steered, "{execution:?}");
        ControlFlow::<()>::Continue(())
    };
    engine.explore(&mut Rff::new(1), Executions::AtMost(100), program, judge);
}
