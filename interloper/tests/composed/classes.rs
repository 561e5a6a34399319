//! The search over collections as they were published leaves out executions that another one stands for. Its slow twin, the
//! unfiltered adversary, makes them all: both give the same verdicts.

use interloper::collections::session::Instrumented;
use interloper::sync::Mutex;
use interloper::sync::atomic::{AtomicU8, Ordering::SeqCst};
use interloper::{Adversary, Environment, MethodUnderTest, Report, Subject, Verdict};

/// Two atomics, and a number behind a lock.
struct Three {
    one: AtomicU8,
    two: AtomicU8,
    locked: Mutex<Option<u8>>,
}

impl Three {
    fn new() -> Three {
        Three { one: AtomicU8::new(0), two: AtomicU8::new(0), locked: Mutex::new(None) }
    }
}

impl Subject for Three {
    fn parts(&self) -> Vec<(String, &dyn Instrumented)> {
        vec![("one".to_owned(), &self.one), ("two".to_owned(), &self.two), ("locked".to_owned(), &self.locked)]
    }
}

/// A step of a method.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(bool),
    Swap(bool),
    /// Stores in the second atomic what the step before gave.
    Copy,
    /// A critical section.
    Take,
    /// A critical section with a step of an atomic inside.
    TakeAndLoad,
}

const STEPS: [Step; 7] = [
    Step::Load(false),
    Step::Load(true),
    Step::Swap(false),
    Step::Swap(true),
    Step::Copy,
    Step::Take,
    Step::TakeAndLoad,
];

fn make(three: &Three, steps: &[Step]) -> Vec<i64> {
    let mut results: Vec<i64> = Vec::new();
    for step in steps {
        let atomic = |first: &bool| if *first { &three.one } else { &three.two };
        let result = match step {
            Step::Load(first) => i64::from(atomic(first).load(SeqCst)),
            Step::Swap(first) => i64::from(atomic(first).swap(1, SeqCst)),
            Step::Copy => {
                three.two.store(results.last().map_or(0, |last| *last as u8), SeqCst);
                -1
            }
            Step::Take => three.locked.lock().unwrap().take().map_or(-1, i64::from),
            Step::TakeAndLoad => {
                let mut locked = three.locked.lock().unwrap();
                i64::from(three.one.load(SeqCst)) + locked.take().map_or(-1, i64::from)
            }
        };
        results.push(result);
    }
    results
}

type Method = MethodUnderTest<Three, (), Vec<i64>>;

fn method(steps: &[Step], adversary: Adversary) -> Method {
    let program = steps.to_vec();
    let method = MethodUnderTest::new("steps", Three::new, move |three: &Three, (): ()| make(three, &program));
    method.arguments([()]).values([0_u8, 1]).settings(|settings| settings.adversary = adversary)
}

#[track_caller]
fn check(method: Method) -> Report {
    method.check().unwrap_or_else(|misuse| panic!("{misuse}"))
}

fn open(steps: &[Step], adversary: Adversary, bound: u32) -> Report {
    check(method(steps, adversary).settings(|settings| (settings.bound, settings.initial_size) = (bound, 1)))
}

/// Beside the method there are calls of itself and of another one.
fn beside(steps: &[Step], others: &[Step], adversary: Adversary) -> Report {
    let others = others.to_vec();
    let method = method(steps, adversary).beside("others", move |three, ()| make(three, &others));
    check(method.settings(|settings| settings.environment = Environment::Closed))
}

/// The verdicts that both searches gave, and how many executions they made.
#[derive(Default)]
struct Compared {
    atomic: u32,
    broken: u32,
    quick: u64,
    slow: u64,
}

impl Compared {
    fn add(&mut self, what: impl std::fmt::Debug, report: impl Fn(Adversary) -> Report) {
        let (slow, quick) = (report(Adversary::Unfiltered), report(Adversary::Preceding));
        assert_eq!(quick.verdict, slow.verdict, "{what:?}: {quick}{slow}");
        let settled = matches!(quick.verdict, Verdict::Linearizable | Verdict::NotLinearizable);
        assert!(settled, "{what:?}: {quick}");
        if quick.verdict == Verdict::Linearizable {
            self.atomic += 1;
        } else {
            self.broken += 1;
        }
        (self.quick, self.slow) = (self.quick + executions(&quick), self.slow + executions(&slow));
    }

    /// The comparison would say nothing if one verdict were missing, or nothing were left out.
    #[track_caller]
    fn assert_of_use(&self) {
        let Compared { atomic, broken, quick, slow } = self;
        assert!(*atomic > 50 && *broken > 50, "{atomic} and {broken}");
        assert!(quick * 3 < slow * 2, "{quick} executions instead of {slow}");
    }
}

fn executions(report: &Report) -> u64 {
    report.coverage.iter().map(|coverage| coverage.executions).sum()
}

#[test]
fn all_methods_of_few_steps_have_the_verdict_of_the_slow_twin() {
    let mut compared = Compared::default();
    for first in STEPS {
        for second in STEPS {
            for bound in 1..=2 {
                let steps = [first, second];
                compared.add((steps, bound), |adversary| open(&steps, adversary, bound));
            }
            for third in STEPS {
                let steps = [first, second, third];
                compared.add(steps, |adversary| open(&steps, adversary, 1));
            }
        }
    }
    compared.assert_of_use();
}

#[test]
fn all_pairs_of_short_methods_have_the_verdict_of_the_slow_twin() {
    let mut compared = Compared::default();
    for first in STEPS {
        for second in STEPS {
            for third in STEPS {
                let (steps, others) = ([first, second], [third, second]);
                compared.add((steps, others), |adversary| beside(&steps, &others, adversary));
            }
        }
    }
    compared.assert_of_use();
}

/// By hand: the order of a first and a last step of two calls says which call came first, if one ended before the other began. So that
/// the two calls overlap is one class, and each of them can be the earlier one.
#[test]
fn orders_of_independent_steps_are_counted_once() {
    use Step::{Load, Swap};
    let count = |steps: &[Step], adversary| {
        let method = method(steps, adversary).settings(|settings| settings.environment = Environment::Closed);
        let report = check(method);
        assert!(report.coverage[0].complete, "{report}");
        (executions(&report), report.coverage[0].initial_states)
    };
    // All steps read: three steps among six.
    let reads = [Load(true), Load(false), Load(true)];
    assert_eq!(count(&reads, Adversary::Unfiltered), (20, 1));
    assert_eq!(count(&reads, Adversary::Preceding), (3, 1));
    // Two steps among four, from 0 and from 1. Whichever swaps last, the other one has begun before that swap, and its own beginning
    // may be before or after the first swap.
    let swap_last = [Load(true), Swap(false)];
    assert_eq!(count(&swap_last, Adversary::Unfiltered), (2 * 6, 2));
    assert_eq!(count(&swap_last, Adversary::Preceding), (2 * 4, 2));
}

/// By hand: an atomic has a load and two stores, and so has the other; the lock has a read and two writes of its content.
#[test]
fn executions_of_two_atomics_are_counted() {
    struct Two(AtomicU8, AtomicU8);
    impl Subject for Two {
        fn parts(&self) -> Vec<(String, &dyn Instrumented)> {
            vec![("one".to_owned(), &self.0), ("two".to_owned(), &self.1)]
        }
    }
    let count = |adversary, bound| {
        let method = MethodUnderTest::new(
            "both",
            || Two(AtomicU8::new(0), AtomicU8::new(0)),
            |two: &Two, (): ()| {
                two.0.load(SeqCst);
                two.1.swap(1, SeqCst)
            },
        );
        let method = method.arguments([()]).values([0_u8, 1]).settings(|settings| {
            (settings.adversary, settings.bound) = (adversary, bound);
        });
        let report = method.check().expect("it fits");
        assert_eq!(report.verdict, Verdict::Linearizable, "{report}");
        let states = report.coverage[0].initial_states as u64;
        assert_eq!(executions(&report) % states, 0);
        (report.coverage[0].alphabet, executions(&report) / states)
    };
    // Everything in each of three gaps: before the load, before the swap, before the return.
    assert_eq!(count(Adversary::Unfiltered, 1), (6, 1 + 3 * 6));
    assert_eq!(count(Adversary::Unfiltered, 2), (6, 1 + 3 * 6 + 6 * 36));
    // One operation: in front of the swap, on what the load read.
    assert_eq!(count(Adversary::Preceding, 1), (6, 1 + 3));
    // The first of two may be before the load, too, for the sake of the second. The second is on what the load read, if it
    // is the first in front of the swap; on anything, if it is the second there; on what was swapped, if it is before the return.
    assert_eq!(count(Adversary::Preceding, 2), (6, 1 + 6 + 3 + 6 * 3 + 3 * 6 + 3 * 3));
}
