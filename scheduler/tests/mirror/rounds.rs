//! A task that goes round without an effect on others lets them go on, whatever the form of its loop.

use std::ops::ControlFlow;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use interloper_scheduler::decisions::{Decisions, ReplaySource};
use interloper_scheduler::strategies::{
    AtomFuzzer, Cut, Exhaustive, Follow, Guided, Pct, Pos, PreemptionBound, RandomWalk, Selection, Surw,
};
use interloper_scheduler::{Config, Deadline, End, Engine, Execution, Executions, Strategy};
use interloper_std::sync::Mutex;
use interloper_std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::SeqCst};
use interloper_std::{thread, time};

/// More steps than the programs here need, and fewer than a task makes in a row before it is held back for its number of
/// steps alone.
const FEW: u64 = 1500;

fn run(strategy: &mut dyn Strategy, program: fn()) -> Execution {
    let mut engine = Engine::new(Config { step_bound: 1_000_000, ..Config::default() });
    assert!(strategy.begin());
    // An execution that is to end some time looks at the clock now and then, which changes nothing.
    engine.stop_at(Deadline::of(Some(time::Duration::from_secs(100_000))));
    let execution = engine.run(strategy, program);
    engine.stop_at(Deadline::NEVER);
    strategy.end(&execution, &engine.trace());
    let decisions = Decisions(engine.decisions().to_vec());
    let mut replay = Guided::new(ReplaySource::new(decisions));
    assert_eq!(engine.run(&mut replay, program), execution);
    assert_eq!(replay.into_source().finish(), Ok(()));
    execution
}

/// The first task of all, whenever it can go on.
fn first_task_first() -> Follow {
    Follow::new([], [])
}

/// The program waits, and ends soon after what it waits for has happened, whatever the strategy.
fn waits(program: fn()) {
    let execution = run(&mut first_task_first(), program);
    assert!(execution.end == End::Finished && execution.steps < FEW, "{execution:?}");
    // It is known to go round, or to look again and again.
    assert!(execution.steered || execution.withheld);
    let strategies: [Box<dyn Strategy>; 7] = [
        Box::new(RandomWalk::new(1)),
        Box::new(Pct::new(1, 3)),
        Box::new(Pos::new(1)),
        Box::new(Surw::new(1, Selection::OneObject)),
        Box::new(Surw::new(1, Selection::All)),
        Box::new(AtomFuzzer::new(1)),
        Box::new(PreemptionBound::new(1)),
    ];
    for (number, mut strategy) in strategies.into_iter().enumerate() {
        for _ in 0..10 {
            let execution = run(&mut *strategy, program);
            assert!(execution.end == End::Finished && execution.steps < FEW, "strategy {number}: {execution:?}");
        }
    }
    // Rounds that were not made may have been the last ones.
    let mut search = Exhaustive::new();
    let mut engine = Engine::new(Config::default());
    engine.explore(&mut search, Executions::AtMost(20), program, |_, execution| {
        assert!(execution.end == End::Finished && execution.steps < FEW, "{execution:?}");
        ControlFlow::<()>::Continue(())
    });
    assert!(!search.exploration().complete);
}

/// The program makes progress: nobody is held back.
fn makes_progress(program: fn()) {
    let execution = run(&mut first_task_first(), program);
    assert_eq!((&execution.end, execution.steered), (&End::Finished, false));
}

/// The flag is raised after some steps that are nobody else's business.
fn raise(flag: &AtomicBool) {
    let steps = AtomicU32::new(0);
    (0..10).for_each(|_| _ = steps.fetch_add(1, SeqCst));
    flag.store(true, SeqCst);
}

fn beside_a_raiser(waits: fn(&AtomicBool)) {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    let raiser = thread::spawn(move || raise(&theirs));
    waits(&flag);
    raiser.join().unwrap();
}

#[test]
fn a_swap_that_finds_what_it_writes() {
    waits(|| beside_a_raiser(|flag| while !flag.swap(false, SeqCst) {}));
    makes_progress(|| {
        beside_a_raiser(|_| {
            let number = AtomicU32::new(0);
            (1..500).for_each(|next| assert_eq!(number.swap(next, SeqCst), next - 1));
        });
    });
}

#[test]
fn a_compare_exchange_that_writes_what_it_finds() {
    waits(|| beside_a_raiser(|flag| while flag.compare_exchange(false, false, SeqCst, SeqCst).is_ok() {}));
    makes_progress(|| {
        beside_a_raiser(|_| {
            let number = AtomicU32::new(0);
            let next = |number: &AtomicU32, found| number.compare_exchange(found, found + 1, SeqCst, SeqCst);
            (0..500).for_each(|found| assert!(next(&number, found).is_ok()));
        });
    });
}

/// A round is many steps, some of them the same, and undoes what it does.
#[test]
fn a_future_that_wakes_itself() {
    struct Me(thread::Thread, AtomicBool);
    impl Wake for Me {
        fn wake(self: Arc<Me>) {
            self.1.store(true, SeqCst);
            self.0.unpark();
        }
    }
    fn block_on(mut poll: impl FnMut(&mut Context<'_>) -> Poll<()>) {
        let me = Arc::new(Me(thread::current(), AtomicBool::new(false)));
        let waker = Waker::from(me.clone());
        while poll(&mut Context::from_waker(&waker)).is_pending() {
            while !me.1.swap(false, SeqCst) {
                thread::park();
            }
        }
    }
    fn poll(flag: &AtomicBool, context: &mut Context<'_>) -> Poll<()> {
        let is_raised = flag.load(SeqCst) || flag.load(SeqCst);
        context.waker().wake_by_ref();
        if is_raised { Poll::Ready(()) } else { Poll::Pending }
    }
    waits(|| beside_a_raiser(|flag| block_on(|context| poll(flag, context))));
    makes_progress(|| {
        beside_a_raiser(|flag| {
            let polls = AtomicU32::new(0);
            block_on(|context| {
                _ = poll(flag, context);
                if polls.fetch_add(1, SeqCst) < 100 { Poll::Pending } else { Poll::Ready(()) }
            });
        });
    });
}

/// Two tasks that go round do not let each other go on for ever.
#[test]
fn several_that_wait_for_one() {
    waits(|| {
        let flags: Arc<[AtomicBool; 2]> = Arc::default();
        let theirs = flags.clone();
        let other = thread::spawn(move || while !theirs[1].swap(false, SeqCst) {});
        let theirs = flags.clone();
        let raiser = thread::spawn(move || {
            raise(&theirs[0]);
            raise(&theirs[1]);
        });
        while !flags[0].swap(false, SeqCst) {}
        other.join().unwrap();
        raiser.join().unwrap();
    });
}

/// Who sleeps is woken although the task that waits for that can go on.
#[test]
fn a_sleeper_is_waited_for() {
    waits(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let sleeper = thread::spawn(move || {
            thread::sleep(time::Duration::from_secs(1));
            theirs.store(true, SeqCst);
        });
        while !flag.swap(false, SeqCst) {}
        sleeper.join().unwrap();
    });
}

/// Beside a task that does something for ever, a sleep ends after as many steps as it could last, and not before what others do in fewer.
#[test]
fn a_sleeper_beside_one_that_goes_on_for_ever() {
    fn beside(goes_on: impl Fn(&Mutex<bool>) + Send + 'static) {
        let flag = Arc::new(Mutex::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || goes_on(&theirs));
        thread::sleep(time::Duration::from_millis(1));
        *flag.lock().unwrap() = true;
        other.join().unwrap();
    }
    let polls: fn() = || beside(|flag| while !*flag.lock().unwrap() {});
    let counts: fn() = || {
        let count = AtomicU32::new(0);
        beside(move |flag| {
            while !*flag.lock().unwrap() {
                count.fetch_add(1, SeqCst);
            }
        });
    };
    for program in [polls, counts] {
        for strategy in [&mut first_task_first() as &mut dyn Strategy, &mut RandomWalk::new(1), &mut Pct::new(1, 3)] {
            let execution = run(strategy, program);
            assert!(execution.end == End::Finished && execution.steered, "{execution:?}");
            assert!((50_000..70_000).contains(&execution.steps), "{execution:?}");
        }
    }
    /// Who waits for so many milliseconds sees the other one's steps.
    fn sees<const MILLISECONDS: u64, const STEPS: u32>() {
        let count = Arc::new(AtomicU32::new(0));
        let theirs = count.clone();
        let other = thread::spawn(move || (0..STEPS).for_each(|_| _ = theirs.fetch_add(1, SeqCst)));
        thread::sleep(time::Duration::from_millis(MILLISECONDS));
        assert_eq!(count.load(SeqCst), STEPS);
        other.join().unwrap();
    }
    for (program, steps) in [(sees::<1, 45_000> as fn(), 45_000), (sees::<1000, 450_000>, 450_000)] {
        let execution = run(&mut first_task_first(), program);
        assert!(execution.end == End::Finished && execution.steps > steps, "{execution:?}");
    }
}

/// What a lock protects the engine does not see, nor where a pointer leads: such a loop may do many rounds.
#[test]
fn a_lock_that_is_polled() {
    fn polls(flag: &Mutex<bool>) {
        while !*flag.lock().unwrap() {}
    }
    fn two_that_poll() {
        let flag = Arc::new(Mutex::new(false));
        let [theirs, others] = [flag.clone(), flag.clone()];
        let other = thread::spawn(move || polls(&theirs));
        let raiser = thread::spawn(move || *others.lock().unwrap() = true);
        polls(&flag);
        other.join().unwrap();
        raiser.join().unwrap();
    }
    let execution = run(&mut first_task_first(), two_that_poll);
    assert!(execution.end == End::Finished && execution.steps < 3 * FEW, "{execution:?}");
    makes_progress(|| {
        beside_a_raiser(|_| {
            let number = Mutex::new(0);
            (0..400).for_each(|_| *number.lock().unwrap() += 1);
        });
    });
    makes_progress(|| {
        beside_a_raiser(|_| {
            let mut list = [0_u8; 400];
            let top = AtomicPtr::new(ptr::null_mut());
            list.iter_mut().for_each(|node| _ = top.swap(node, SeqCst));
        });
    });
}

/// An exhaustive search of a short loop is not affected; of a long one it does not say that it has seen all.
#[test]
fn an_exhaustive_search_says_what_it_left_out() {
    fn rounds<const COUNT: u32>() {
        beside_a_raiser(|flag| (0..COUNT).for_each(|_| _ = flag.fetch_not(SeqCst)));
    }
    let mut engine = Engine::new(Config::default());
    let mut explore = |program: fn()| {
        let mut search = Exhaustive::new();
        engine.explore(&mut search, Executions::All, program, |_, execution| {
            assert_eq!(execution.end, End::Finished);
            ControlFlow::<()>::Continue(())
        });
        (search.exploration().complete, search.exploration().cut)
    };
    assert_eq!(explore(rounds::<20>), (true, None));
    assert_eq!(explore(rounds::<100>), (false, Some(Cut::Steered)));
}
