use interloper_linearize::schema::Schema;
use interloper_std::sync::Mutex;
use interloper_std::sync::atomic::{
    AtomicI64,
    Ordering::{Relaxed, SeqCst},
};

use super::*;
use crate::hunt;
use crate::object::Object;
use crate::testing::program;

/// Over the mirror of std: an atomic `add`, and a `slow_add` that reads and then writes.
fn counter() -> Object {
    Object::describe("counter", || AtomicI64::new(0))
        .core("add", |counter, (amount,): (i64,)| counter.fetch_add(amount, SeqCst))
        .core("get", |counter, ()| counter.load(SeqCst))
        .reads()
        .method("slow_add", |counter, (amount,): (i64,)| {
            let value = counter.load(SeqCst);
            counter.store(value + amount, SeqCst);
            value
        })
        .method("fail", |_, ()| -> i64 { panic!("no") })
        .build()
}

fn explored(object: &Object, schema: &str, schedule: Schedule) -> Explored {
    let settings = Settings { schedule, ..Settings::default() };
    run(&program(object, schema), &settings, &mut |_| Next::Continue)
}

/// The outcomes with their counts: `0 1: 1, 1 0: 1`.
fn text(explored: &Explored) -> String {
    let one = |(outcome, count): (&Vec<Value>, &u64)| {
        let outcome: Vec<String> = outcome.iter().map(Value::to_string).collect();
        format!("{}: {count}", outcome.join(" "))
    };
    explored.outcomes.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Each schema with the outcomes of all its traces, counted by hand.
#[test]
fn one_execution_of_each_trace() {
    let check = |schema: &str, expected: &str| {
        let explored = explored(&counter(), schema, Schedule::Exhaustive);
        assert_eq!(text(&explored), expected, "{schema}");
        assert!(explored.complete && explored.exhausted && explored.instrumented);
        assert_eq!((explored.cut, explored.stopped), (0, None));
    };
    check("{ add(1) }", "0: 1");
    check("{ add(1) } || { add(1) }", "0 1: 1, 1 0: 1");
    // A read has three places among two writes.
    check("{ add(1); add(1) } || { get() }", "0 1 0: 1, 0 1 1: 1, 0 1 2: 1");
    // Read r and write w of each: r1 w1 r2 w2 and its mirror image; else both read 0, and then w1 w2 or w2 w1.
    check("{ slow_add(1) } || { slow_add(1) }", "0 0: 2, 0 1: 1, 1 0: 1");
    check("{ fail(); add(1) } || { add(1) }", "panicked(\"no\") 0 1: 1, panicked(\"no\") 1 0: 1");
}

#[test]
fn happens_before_is_kept() {
    let check = |schema: &str, expected: &str| {
        assert_eq!(text(&explored(&counter(), schema, Schedule::Exhaustive)), expected, "{schema}");
    };
    check("[slow_add(1)], [get()], {0<1}", "0 1: 1");
    check("[get()], [slow_add(1)], {1<0}", "1 0: 1");
    let three = explored(&counter(), "[add(1)], [add(1)], [get()], {0<2, 1<2}", Schedule::Exhaustive);
    assert!(three.complete);
    let outcomes: Vec<_> = three.outcomes.keys().cloned().collect();
    let int = Value::Int;
    assert_eq!(outcomes, [[int(0), int(1), int(2)], [int(1), int(0), int(2)]]);
}

#[test]
fn every_search_finds_a_lost_update_and_replays_it() {
    let lost = [Value::Int(0), Value::Int(0)];
    let program = program(&counter(), "{ slow_add(1) } || { slow_add(1) }");
    let mut look = |outcome: &[Value]| if *outcome == lost { Next::Stop } else { Next::Continue };
    let schedules = [
        "exhaustive",
        "preemptions:1",
        "random",
        "atomfuzzer",
        "atomfuzzer-mutex",
        "pct:3",
        "pos",
        "surw",
        "urw",
        "random+pct:3+pos",
        "portfolio",
    ];
    for text in schedules {
        let schedule: Schedule = text.parse().expect("a schedule");
        // Half of the interleavings lose an update; the random searches miss it 1,000 times with odds below 2^-100.
        let executions = Executions::AtMost(1_000);
        let settings = Settings { schedule, seed: 1, executions, ..Settings::default() };
        let trace = run(&program, &settings, &mut look).stopped.expect("a lost update");
        assert_eq!((&trace.outcome[..], &trace.end), (&lost[..], &End::Finished), "{text}");
        let again = replay(&program, trace.limits, trace.decisions()).expect("the same decisions");
        assert_eq!((again.outcome, again.steps.len()), (trace.outcome.clone(), trace.steps.len()), "{text}");
        let small = shrink(&program, &trace, Executions::AtMost(1_000), &mut look);
        assert_eq!((small.failing.preemptions, &small.outcome[..]), (1, &lost[..]), "{text}");
    }
}

#[test]
fn a_replay_of_other_decisions_is_refused() {
    let trace =
        run(&program(&counter(), "{ slow_add(1) } || { slow_add(1) }"), &Settings::default(), &mut |_| Next::Stop);
    let trace = trace.stopped.expect("the first execution");
    let other = program(&counter(), "{ add(1); add(1); add(1) } || { add(1); add(1); add(1) } || { get() }");
    assert_eq!(replay(&other, trace.limits, trace.decisions()), None);
}

#[test]
fn a_deadlock_is_an_outcome() {
    let object = Object::describe("two locks", || (Mutex::new(()), Mutex::new(())))
        .core("forth", |(one, two), ()| {
            let _one = one.lock();
            let _two = two.lock();
        })
        .core("back", |(one, two), ()| {
            let _two = two.lock();
            let _one = one.lock();
        })
        .build();
    let explored = explored(&object, "{ forth(); forth() } || { back() }", Schedule::Exhaustive);
    assert!(explored.complete);
    let outcomes: Vec<Vec<Value>> = explored.outcomes.keys().cloned().collect();
    let deadlocks = [vec![Value::Unit, blocked(), blocked()], vec![blocked(), unreached(), blocked()]];
    assert_eq!(outcomes[0], [Value::Unit, Value::Unit, Value::Unit]);
    assert_eq!(outcomes[1..], deadlocks);
}

#[test]
fn objects_that_are_not_instrumented_are_told_apart() {
    let object = Object::describe("plain", || std::sync::atomic::AtomicI64::new(0))
        .core("add", |counter, (amount,): (i64,)| counter.fetch_add(amount, SeqCst))
        .build();
    let explored = explored(&object, "[add(1)], [add(1)], [add(1)], {0<2}", Schedule::Exhaustive);
    assert!(!explored.instrumented);
}

#[test]
fn a_panic_of_the_constructor_ends_it() {
    let object = Object::describe("none", || -> () { panic!("out of order") }).core("call", |(), ()| ()).build();
    let explored = explored(&object, "{ call() }", Schedule::Exhaustive);
    assert_eq!(
        (explored.failure(), explored.executions, explored.complete),
        (Some(Failure::Panicked("out of order")), 1, false)
    );
    assert!(explored.outcomes.is_empty());
}

/// Calls that never return leave a mark, which the destructor takes for a mistake: it does not run in the next execution.
#[test]
fn the_object_of_an_execution_that_ended_early_is_not_dropped() {
    struct Two {
        inside: AtomicI64,
        locks: [Mutex<()>; 2],
    }
    impl Two {
        fn both(&self, first: usize) {
            self.inside.fetch_add(1, SeqCst);
            let _one = self.locks[first].lock();
            let _other = self.locks[1 - first].lock();
            self.inside.fetch_sub(1, SeqCst);
        }
    }
    impl Drop for Two {
        fn drop(&mut self) {
            assert_eq!(self.inside.load(SeqCst), 0, "somebody is inside");
        }
    }
    let object = Object::describe("two", || Two { inside: AtomicI64::new(0), locks: Default::default() })
        .core("up", |two, ()| two.both(0))
        .core("down", |two, ()| two.both(1))
        .build();
    let explored = explored(&object, "{ up() } || { down() }", Schedule::Exhaustive);
    assert_eq!(explored.failure(), None);
    assert!(explored.complete);
    assert!(text(&explored).contains("blocked blocked"), "{}", text(&explored));
}

#[test]
fn what_is_cut_short_is_no_outcome() {
    let object = Object::describe("spinner", || AtomicI64::new(0))
        .core("set", |flag, ()| flag.store(1, SeqCst))
        .core("wait", |flag, ()| {
            while flag.load(SeqCst) == 0 {
                interloper_std::thread::yield_now();
            }
        })
        .build();
    let limits = Limits { livelock_rounds: 10, ..Limits::default() };
    let settings = Settings { limits, ..Settings::default() };
    let explored = run(&program(&object, "{ wait() }"), &settings, &mut |_| Next::Continue);
    assert_eq!((explored.outcomes.len(), explored.cut, explored.complete), (0, explored.executions, false));
}

#[test]
fn a_trace_says_where_calls_begin_and_end() {
    // The second slow_add between the two halves of the first one.
    let lost = [Value::Int(0), Value::Int(1), Value::Int(0)];
    let program = program(&counter(), "{ slow_add(1); get() } || { slow_add(1) }");
    let explored = run(&program, &Settings::default(), &mut |outcome| {
        if *outcome == lost { Next::Stop } else { Next::Continue }
    });
    let trace = explored.stopped.expect("a lost update");
    // The steps of each call, by the tasks of their sequences.
    let steps = |call: usize, task: TaskId| -> Vec<Action> {
        let Span { begin, end } = trace.calls[call].expect("it was made");
        let within = &trace.steps[begin..end.expect("it returned")];
        let own = within.iter().filter(|event| event.task == task && is_of_object(event, &[Some(task)]));
        own.map(|event| event.operation.action).collect()
    };
    let [first, second] = [0, 1].map(|sequence| trace.tasks[sequence].expect("it ran"));
    assert_eq!(steps(0, first), [Action::Read, Action::Write]);
    assert_eq!(steps(1, first), [Action::Read]);
    assert_eq!(steps(2, second), [Action::Read, Action::Write]);
    // The two that lose an update overlap, and the read comes after the call before it.
    let span = |call: usize| trace.calls[call].expect("it was made");
    assert!(span(0).begin < span(2).end.unwrap_or(0) && span(2).begin < span(0).end.unwrap_or(0));
    assert!(span(0).end.is_some_and(|end| end <= span(1).begin));
    // All steps of calls are on the one atomic, and tasks are called as their sequences are.
    let calls = trace.steps.iter().filter(|event| is_of_object(event, &trace.tasks));
    assert!(calls.into_iter().all(|event| trace.names.object(event.operation.object) == "atomic 1"));
    assert_eq!(trace.names.task(second), "sequence 2");
}

/// An execution that a search gives up on can be inspected: its steps, and the decisions that repeat it.
#[test]
fn an_execution_that_is_cut_short_is_kept() {
    let object = Object::describe("spinner", || AtomicI64::new(0))
        .core("set", |flag, ()| flag.store(1, SeqCst))
        .core("spin", |flag, ()| (0..20).for_each(|_| flag.store(2, SeqCst)))
        .build();
    let program = program(&object, "{ spin() } || { set() }");
    let limits = Limits { step_bound: 15, ..Limits::default() };
    let explored = run(&program, &Settings { limits, ..Settings::default() }, &mut |_| Next::Continue);
    assert!(explored.cut > 0 && explored.stopped.is_none());
    let cut = explored.first_cut.expect("the first of them");
    assert!(matches!(cut.end, End::StepBound(_)), "{:?}", cut.end);
    assert!(cut.outcome.contains(&blocked()), "{:?}", cut.outcome);
    assert_eq!(replay(&program, limits, cut.decisions()), Some(*cut));
    // Within the default bound nothing is.
    let whole = run(&program, &Settings::default(), &mut |_| Next::Continue);
    assert_eq!((whole.cut, whole.first_cut), (0, None));
}

/// All interleavings of a schema, one of each trace.
#[test]
fn an_exhaustive_search_says_what_it_covered() {
    let explored = explored(&counter(), "{ add(1) } || { add(1) } || { add(1) }", Schedule::Exhaustive);
    assert!(explored.complete && explored.steps > explored.executions);
    assert_eq!(explored.traces.number(), explored.executions);
    let settings =
        Settings { schedule: Schedule::Random, seed: 1, executions: Executions::AtMost(100), ..Settings::default() };
    let random = run(&program(&counter(), "{ add(1) } || { add(1) }"), &settings, &mut |_| Next::Continue);
    assert!(random.traces.number() < random.executions, "{random:?}");
}

#[test]
fn the_time_ends_an_exhaustive_search_of_one_program() {
    let adds = "{ add(1); add(1); add(1); add(1) }";
    let program = program(&counter(), &format!("{adds} || {adds} || {adds}"));
    let settings = Settings {
        executions: Executions::All,
        deadline: Deadline::of(Some(std::time::Duration::from_millis(200))),
        ..Settings::default()
    };
    let begun = std::time::Instant::now();
    let explored = run(&program, &settings, &mut |_| Next::Continue);
    assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    // Of 34,650 traces.
    assert!(explored.timed_out && !explored.complete && explored.executions > 0, "{}", explored.executions);
}

/// A call is an atomic block: AtomFuzzer pauses a task between the two accesses of `slow_add` until the other task
/// interrupts it, and so finds a lost update in almost every execution. Without blocks, AtomFuzzer is a random walk.
#[test]
fn calls_are_blocks_for_atom_fuzzer() {
    let lost = |schedule: &str| -> u64 {
        let schedule = schedule.parse().expect("a schedule");
        let executions = Executions::AtMost(400);
        let settings = Settings { schedule, seed: 1, executions, ..Settings::default() };
        let program = program(&counter(), "{ get(); get(); slow_add(1); get() } || { get(); slow_add(1) }");
        let explored = run(&program, &settings, &mut |_| Next::Continue);
        assert_eq!(explored.executions, 400);
        let both = |outcome: &[Value]| outcome[2] == Value::Int(0) && outcome[5] == Value::Int(0);
        explored.outcomes.iter().filter(|(outcome, _)| both(outcome)).map(|(_, count)| count).sum()
    };
    let (paused, never, walk) = (lost("atomfuzzer:1"), lost("atomfuzzer:0"), lost("random"));
    assert!(paused > 2 * never && paused > 2 * walk, "{paused} {never} {walk}");
}

/// With a period of 4 a random schedule has freedoms in every fourth execution only.
#[test]
fn freedoms_come_as_often_as_the_settings_say() {
    let object = Object::describe("spinning", || AtomicI64::new(0))
        .core("set", |flag, ()| flag.store(1, SeqCst))
        .method("look", |flag, ()| {
            std::hint::spin_loop();
            interloper_std::hint::spin_loop();
            flag.load(SeqCst)
        })
        .build();
    let program = program(&object, "{ look() } || { set() }");
    let granted = |free_every: u64| -> Vec<bool> {
        let settings = |executions| Settings {
            schedule: Schedule::Random,
            seed: 1,
            free_every,
            executions: Executions::AtMost(executions),
            ..Settings::default()
        };
        let used = |number: u64| {
            let mut seen = 0;
            let mut look = |_: &[Value]| {
                seen += 1;
                if seen == number { Next::Stop } else { Next::Continue }
            };
            let trace = run(&program, &settings(number), &mut look).stopped.expect("the execution of this number");
            trace.decisions().freedoms() != 0
        };
        (1..=16).map(used).collect()
    };
    let (always, sometimes) = (granted(1), granted(4));
    assert!(always.iter().enumerate().any(|(index, used)| *used && index % 4 != 3), "{always:?}");
    assert!(sometimes.iter().enumerate().all(|(index, used)| !used || index % 4 == 3), "{sometimes:?}");
    assert!(sometimes.contains(&true), "{sometimes:?}");
}

/// A replay file stores decisions and no freedoms: the decisions say which freedoms the execution used.
#[test]
fn a_finding_that_needs_a_freedom_replays() {
    let object = Object::describe("once", || AtomicI64::new(0))
        .core("get", |flag, ()| flag.load(SeqCst))
        .reads()
        .method("take", |flag, ()| flag.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok())
        .build();
    let text = "{ take() } || { get() }";
    let program = program(&object, text);
    let mut look = |outcome: &[Value]| if outcome[0] == Value::Bool(false) { Next::Stop } else { Next::Continue };
    let without = run(&program, &Settings::default(), &mut look);
    assert!(without.complete && without.stopped.is_none(), "{without:?}");
    let limits = Limits { freedoms: Freedoms::ALL, ..Limits::default() };
    let executions = Executions::AtMost(1_000);
    let settings = Settings { schedule: Schedule::Random, seed: 1, limits, executions, ..Settings::default() };
    let trace = run(&program, &settings, &mut look).stopped.expect("a weak exchange that fails");
    assert_ne!(trace.decisions().freedoms(), 0);
    let schema = Schema::parse(text).expect("a schema");
    let replayed = hunt::replay(&object, &schema, Limits::default(), trace.decisions());
    let (found, right) = replayed.expect("it can be judged").expect("the decisions fit");
    let hunt::Runs::Systematic(again) = &found.runs else { panic!("{found:?}") };
    assert_eq!((right, &again.stopped.as_ref().expect("a trace").outcome), (false, &trace.outcome));
}

/// `write` stores three letters and a flag. `missed` has a bit for each letter that it does not see although it sees the flag.
fn letters() -> Object {
    Object::describe("letters", || [const { AtomicI64::new(0) }; 4])
        .core("write", |letters, ()| letters.iter().for_each(|letter| letter.store(1, Relaxed)))
        .core("missed", |letters, ()| {
            let sees_flag = letters[3].load(Relaxed) == 1;
            let missed = (0..3).map(|at| i64::from(sees_flag && letters[at].load(Relaxed) == 0) << at);
            missed.sum::<i64>()
        })
        .build()
}

/// The search comes to the last two letters, 6, before it comes to the first one, 1.
#[test]
fn an_outcome_that_is_wrong_has_the_fewest_stale_accesses() {
    let settings = Settings { memory: Some(Memory::Weak), ..Settings::default() };
    let first = |wrong: &[i64]| {
        let is_wrong = |outcome: &[Value]| wrong.iter().any(|missed| outcome[1] == Value::Int(*missed));
        let mut look = |outcome: &[Value]| if is_wrong(outcome) { Next::Stop } else { Next::Continue };
        let explored = run(&program(&letters(), "{ write() } || { missed() }"), &settings, &mut look);
        explored.stopped.map(|trace| (trace.outcome[1].clone(), trace.decisions().stale()))
    };
    assert_eq!(first(&[1, 6]), Some((Value::Int(1), 1)));
    assert_eq!(first(&[6]), Some((Value::Int(6), 2)));
    assert_eq!(first(&[8]), None);
}

/// `count` is not atomic: an increment is lost if two calls take turns, and where a call reads a stale number.
#[test]
fn an_outcome_at_random_has_the_fewest_stale_accesses() {
    let counts = Object::describe("counts", || AtomicI64::new(0))
        .core("count", |number, ()| number.store(number.load(Relaxed) + 1, Relaxed))
        .core("total", |number, ()| number.load(Relaxed))
        .build();
    let stale = |object: &Object, text: &str, wrong: &[i64]| -> Vec<u32> {
        let one = |seed: u64| {
            let settings =
                Settings { memory: Some(Memory::Weak), executions: Executions::AtMost(2_000), ..Settings::default() };
            let mut look = |outcome: &[Value]| match outcome.last() {
                Some(Value::Int(last)) if wrong.contains(last) => Next::Stop,
                _ => Next::Continue,
            };
            run(&program(object, text), &settings.at_random(seed), &mut look)
                .stopped
                .map(|trace| trace.decisions().stale())
        };
        (0..8).filter_map(one).collect()
    };
    assert_eq!(stale(&counts, "[count()], [count()], [total()], {0<2, 1<2}", &[1]), [0; 8]);
    assert_eq!(stale(&letters(), "{ write() } || { missed() }", &[1, 6]), [1; 8]);
    assert_eq!(stale(&letters(), "{ write() } || { missed() }", &[6]), [2; 8]);
    assert!(stale(&letters(), "{ write() } || { missed() }", &[8]).is_empty());
}

/// Random executions in which these calls run as one step.
fn whole(object: &Object, schema: &str, calls: &[usize]) -> Explored {
    let settings = Settings { executions: Executions::AtMost(200), ..Settings::default() }.at_random(1);
    let calls = calls.iter().copied().collect();
    run_whole(&program(object, schema), settings, &calls, &mut |_| Next::Continue)
}

fn outcomes(explored: &Explored) -> Vec<String> {
    explored.outcomes.keys().map(|outcome| format!("{outcome:?}")).collect()
}

/// A read and a write of each: an update is lost where the write of one of them comes between those of the other one. Where both run as
/// one step, none does, and two orders are left.
#[test]
fn a_call_that_runs_as_one_step_is_not_interrupted() {
    let schema = "{ slow_add(1) } || { slow_add(1) }";
    let all = outcomes(&explored(&counter(), schema, Schedule::Exhaustive));
    assert_eq!(all.len(), 3);
    for calls in [&[][..], &[0], &[1]] {
        assert_eq!(outcomes(&whole(&counter(), schema, calls)), all, "{calls:?}");
    }
    let both = whole(&counter(), schema, &[0, 1]);
    assert_eq!((outcomes(&both), both.cut), (all[1..].to_vec(), 0));
    // The calls of a sequence have numbers of their own: the second one of the first sequence is 1.
    let schema = "{ add(1); slow_add(1) } || { slow_add(1) }";
    let lost = whole(&counter(), schema, &[]);
    let kept = whole(&counter(), schema, &[1, 2]);
    assert!(outcomes(&kept).len() < outcomes(&lost).len());
    assert_eq!(outcomes(&kept).len(), 3);
}

/// `look` sees that `hold` is under way, and then has to wait for it.
#[test]
fn an_execution_in_which_such_a_call_has_to_wait_does_not_count() {
    let object = Object::describe("held", || (AtomicI64::new(0), Mutex::new(())))
        .core("hold", |(inside, lock), ()| {
            let _guard = lock.lock();
            inside.store(1, SeqCst);
            inside.store(0, SeqCst);
        })
        .method("look", |(inside, lock), ()| {
            let seen = inside.load(SeqCst);
            let _guard = lock.lock();
            seen
        })
        .build();
    let schema = "{ hold() } || { look() }";
    let free = whole(&object, schema, &[0]);
    assert_eq!((free.outcomes.len(), free.cut), (1, 0));
    let free = whole(&object, schema, &[]);
    assert_eq!((free.outcomes.len(), free.cut), (2, 0));
    let held = whole(&object, schema, &[1]);
    assert!(held.outcomes.len() == 1 && held.cut > 0 && held.executions == 200);
}
