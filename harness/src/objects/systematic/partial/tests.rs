use std::cell::Cell;

use interloper_linearize::schema::Schema;
use interloper_scheduler::schedule::{FREE_EVERY, Memory, Schedule};
use interloper_std::sync::Mutex;
use interloper_std::sync::atomic::{
    AtomicI64,
    Ordering::{Relaxed, SeqCst},
};

use super::super::{Executions, Settings, run, run_kept};
use super::*;
use crate::object::Object;
use crate::testing::Always;

thread_local! {
    /// How many objects were made: one for each execution.
    static MADE: Cell<u64> = const { Cell::new(0) };
}

fn object() -> Object {
    let new = || {
        MADE.set(MADE.get() + 1);
        (AtomicI64::new(0), Mutex::new(0), AtomicI64::new(0))
    };
    Object::describe("both", new)
        .core("add", |both, ()| both.0.fetch_add(1, SeqCst))
        .method("slow_add", |both, ()| {
            let value = both.0.load(SeqCst);
            both.0.store(value + 1, SeqCst);
            value
        })
        .method("locked", |both, ()| {
            let mut value = both.1.lock().expect("no panic");
            *value += both.0.load(SeqCst);
            *value
        })
        .method("tried", |both, ()| both.1.try_lock().map_or(-1, |value| *value))
        .method("relaxed", |both, ()| {
            both.2.store(1, Relaxed);
            both.0.load(Relaxed) + both.2.load(Relaxed)
        })
        .method("waits", |both, ()| {
            while both.0.load(SeqCst) == 0 {
                interloper_std::hint::spin_loop();
            }
        })
        .build()
}

fn continued(program: &Program, settings: &Settings, text: &str, look: &mut dyn FnMut(&[Value]) -> Next) -> Explored {
    let partial = serde_json::from_str(text).expect("what was written");
    run_kept(program, settings, look, &mut Always { earlier: Some(partial), ..Always::default() })
}

/// Killed after any of its executions, the search comes to the end to which it comes in one go, and runs none of them again but the
/// first one that was cut. Gives how many moments these were.
#[track_caller]
fn check(schema: &str, settings: &Settings, look: &mut dyn FnMut(&[Value]) -> Next) -> usize {
    let program = object().program(&Schema::parse(schema).expect("a schema")).expect("a schema of the object");
    MADE.set(0);
    let whole = run(&program, settings, look);
    let made = MADE.get();
    let mut always = Always::default();
    assert_eq!(run_kept(&program, settings, look, &mut always), whole, "{schema}: it is kept");
    assert_eq!(always.cannot, 0, "{schema}");
    for (number, text) in always.kept.iter().enumerate() {
        MADE.set(0);
        let again = continued(&program, settings, text, look);
        assert!(again == whole, "{schema}, kept {number}:\n{again:?}\n{whole:?}");
        let left = made - (number as u64 + 1) + u64::from(whole.cut > 0);
        assert!(MADE.get() <= left, "{schema}, kept {number}: {} executions instead of {left}", MADE.get());
    }
    always.kept.len()
}

fn settings(schedule: &str) -> Settings {
    let schedule: Schedule = schedule.parse().expect("a schedule");
    let free_every = if schedule.is_random() { FREE_EVERY } else { 1 };
    Settings { schedule, free_every, seed: 3, executions: Executions::AtMost(60), ..Settings::default() }
}

#[test]
fn a_search_goes_on_where_it_was() {
    let any = &mut |_: &[Value]| Next::Continue;
    for schedule in ["exhaustive", "random", "pct:3", "pos", "atomfuzzer", "rff", "surw", "portfolio", "preemptions:2"]
    {
        let settings = settings(schedule);
        assert!(check("{ slow_add(); slow_add() } || { slow_add(); add() }", &settings, any) >= 20, "{schedule}");
        assert!(check("{ locked(); slow_add() } || { locked() } || { add() }", &settings, any) >= 8, "{schedule}");
        let weak = Settings { memory: Some(Memory::Weak), ..settings };
        assert!(check("{ relaxed(); slow_add() } || { relaxed(); add() }", &weak, any) >= 20, "{schedule}");
    }
}

/// A task tries to take a lock: a second search follows the first one, in which giving a lock back is a step.
#[test]
fn the_second_search_of_a_program_goes_on() {
    let any = &mut |_: &[Value]| Next::Continue;
    let program = "{ tried(); locked() } || { locked(); add() }";
    let settings = settings("exhaustive");
    let kept = check(program, &settings, any);
    let whole = run(&object().program(&Schema::parse(program).unwrap()).unwrap(), &settings, any);
    assert!(kept as u64 > whole.executions, "{kept} moments, {} executions of the second search", whole.executions);
}

/// What ends the search comes after some executions, or an execution is cut: it is shown as it would be shown in one go.
#[test]
fn what_a_search_finds_is_what_it_would_have_found() {
    let lost = |outcome: &[Value]| match outcome {
        [Value::Int(0), Value::Int(0), ..] => Next::Stop,
        _ => Next::Continue,
    };
    for schedule in ["exhaustive", "pos"] {
        let kept = check("{ slow_add() } || { slow_add(); add() } || { add() }", &settings(schedule), &mut { lost });
        assert!(kept > 0, "{schedule}: found at once");
        let cut = Settings { limits: Limits { step_bound: 12, ..Limits::default() }, ..settings(schedule) };
        check("{ slow_add(); slow_add() } || { slow_add(); locked() }", &cut, &mut |_| Next::Continue);
        let program = Schema::parse("{ slow_add(); slow_add() } || { slow_add(); locked() }").unwrap();
        let whole = run(&object().program(&program).unwrap(), &cut, &mut |_| Next::Continue);
        assert!(whole.cut > 0 && whole.first_cut.is_some(), "{schedule}: nothing was cut");
        check("{ waits() } || { slow_add(); add() }", &settings(schedule), &mut |_| Next::Continue);
    }
}

/// What belongs to another program, or is damaged, begins the search anew.
#[test]
fn what_does_not_fit_begins_anew() {
    let program = |schema: &str| object().program(&Schema::parse(schema).unwrap()).unwrap();
    let (one, other) =
        (program("{ slow_add() } || { slow_add() }"), program("{ slow_add(); add() } || { slow_add() }"));
    let settings = settings("exhaustive");
    let any = &mut |_: &[Value]| Next::Continue;
    let mut always = Always::default();
    run_kept(&one, &settings, any, &mut always);
    let kept = always.kept.first().expect("it has more than one execution");
    let whole = run(&other, &settings, any);
    assert_eq!(continued(&other, &settings, kept, any), whole);
    let cut = kept.replace("\"strategy\":[4,", "\"strategy\":[3,");
    assert_ne!(&cut, kept);
    assert_eq!(continued(&one, &settings, &cut, any), run(&one, &settings, any));
    // An outcome that ends the search would have ended it then.
    let stops = &mut |_: &[Value]| Next::Stop;
    assert_eq!(continued(&one, &settings, kept, stops), run(&one, &settings, stops));
}

/// A strategy that cannot be kept, and one that keeps too much: the search runs as it would run otherwise.
#[test]
fn what_cannot_be_kept_runs_all_the_same() {
    assert!(fits(vec![0; MOST_WORDS]).is_some());
    assert_eq!(fits(vec![0; MOST_WORDS + 1]), None);
}
