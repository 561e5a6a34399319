//! What the environment does to collections that a method never uses is left out. The slow twin leaves nothing out.

use interloper::collections::session::Instrumented;
use interloper::sync::atomic::{AtomicU8, Ordering::SeqCst};
use interloper::{Adversary, Check, MethodUnderTest, Parts, Report, Shard, Subject, Verdict};

pub struct Three([AtomicU8; 3]);

impl Three {
    fn new() -> Three {
        Three([const { AtomicU8::new(0) }; 3])
    }
}

impl Subject for Three {
    fn parts(&self) -> Vec<(String, &dyn Instrumented)> {
        ["one", "two", "three"].into_iter().zip(&self.0).map(|(name, part)| (name.to_owned(), part as _)).collect()
    }
}

/// A step of a method, on one of the atomics.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Load(usize),
    Swap(usize),
    /// A swap if all steps before have given 1: some states lead to an atomic that others do not lead to.
    SwapIfAll(usize),
}

use Step::{Load, Swap, SwapIfAll};

const STEPS: [Step; 9] =
    [Load(0), Load(1), Load(2), Swap(0), Swap(1), Swap(2), SwapIfAll(0), SwapIfAll(1), SwapIfAll(2)];

fn make(three: &Three, steps: &[Step]) -> Vec<u8> {
    let mut results = Vec::new();
    for step in steps {
        results.push(match *step {
            Load(at) => three.0[at].load(SeqCst),
            Swap(at) => three.0[at].swap(1, SeqCst),
            SwapIfAll(at) if results.iter().all(|result| *result == 1) => three.0[at].swap(1, SeqCst),
            SwapIfAll(_) => 7,
        });
    }
    results
}

pub type Method = MethodUnderTest<Three, (), Vec<u8>>;

pub fn method(steps: &[Step], adversary: Adversary, bound: u32) -> Method {
    let steps = steps.to_vec();
    let method = MethodUnderTest::new("steps", Three::new, move |three: &Three, (): ()| make(three, &steps));
    let limits = move |settings: &mut interloper::Settings| {
        (settings.adversary, settings.bound, settings.initial_size) = (adversary, bound, 1);
    };
    method.arguments([()]).values([0_u8, 1]).settings(limits)
}

fn check(method: &Method) -> Report {
    method.check().unwrap_or_else(|misuse| panic!("{misuse}"))
}

/// All three atomics hold 1 after one operation of the environment at the beginning and two in the run, and never before: alone, the
/// method does not come to the third one.
pub const LEAVES: [Step; 3] = [Load(0), Load(1), SwapIfAll(2)];

#[test]
fn all_methods_of_few_steps_have_the_verdict_of_the_slow_twin() {
    let (mut atomic, mut broken, mut reduced, mut left) = (0, 0, 0, 0);
    let mut compare = |steps: &[Step], bound| {
        let slow = check(&method(steps, Adversary::Unfiltered, bound));
        let quick = check(&method(steps, Adversary::Preceding, bound));
        assert_eq!(quick.verdict, slow.verdict, "{steps:?}: {quick}{slow}");
        let smallest = |report: &Report| report.violation.as_ref().map(|violation| violation.environment_operations);
        assert_eq!(smallest(&quick), smallest(&slow), "{steps:?}: {quick}{slow}");
        match quick.verdict {
            Verdict::Linearizable => atomic += 1,
            _ => broken += 1,
        }
        let names_all = |steps: &[Step]| {
            (0..3).all(|at| steps.iter().any(|step| matches!(*step, Load(of) | Swap(of) | SwapIfAll(of) if of == at)))
        };
        let unused = &quick.coverage[0].unused;
        reduced += u32::from(!unused.is_empty());
        left += u32::from(names_all(steps) && !unused.is_empty());
        assert!(slow.coverage[0].unused.is_empty());
    };
    for first in STEPS {
        for second in STEPS {
            compare(&[first, second], 2);
            for third in STEPS {
                compare(&[first, second, third], 1);
            }
        }
    }
    compare(&LEAVES, 2);
    assert!(atomic > 50 && broken > 50 && reduced > 50 && left > 0, "{atomic} {broken} {reduced} {left}");
}

/// By hand: each atomic has a load and two stores. In front of the swap, one operation on what was loaded. With an operation at the
/// beginning, one of the two atomics that are used holds 1, or none does.
#[test]
fn operations_on_what_is_never_used_are_left_out() {
    let count = |adversary, bound| {
        let report = check(&method(&[Load(0), Swap(1)], adversary, bound));
        let coverage = &report.coverage[0];
        assert!(coverage.complete, "{report}");
        (coverage.initial_states, coverage.alphabet, coverage.executions)
    };
    assert_eq!(count(Adversary::Unfiltered, 1), (4, 9, 4 * (1 + 3 * 9)));
    assert_eq!(count(Adversary::Preceding, 1), (3, 6, 3 * (1 + 3)));
    let report = check(&method(&[Load(0), Swap(1)], Adversary::Preceding, 1)).to_string();
    assert!(
        report.contains("up to 1 environment operation out of 6 (no execution uses three); 12 executions"),
        "{report}"
    );
    let report = check(&method(&[Load(0), Swap(0)], Adversary::Preceding, 1));
    assert_eq!(report.coverage[0].unused, ["two", "three"]);
    assert!(report.to_string().contains("out of 3 (no execution uses two or three)"), "{report}");
}

/// In the run in which it reads 1 twice, the method uses the third atomic. So the search begins again, with all operations.
#[test]
fn a_search_begins_again_when_the_method_uses_more_than_alone() {
    let report = check(&method(&LEAVES, Adversary::Preceding, 2));
    let coverage = &report.coverage[0];
    assert_eq!((coverage.alphabet, coverage.initial_states, coverage.unused.len()), (9, 4, 0), "{report}");
    let longer = [Load(0), Load(1), Load(1), SwapIfAll(2)];
    let report = check(&method(&longer, Adversary::Preceding, 2));
    assert_eq!(report.verdict, Verdict::NotLinearizable);
}

/// Whether the method uses more than alone, is seen by a part only that has the run.
#[test]
fn the_parts_of_a_search_give_its_report() {
    for steps in [&LEAVES[..], &[Load(0), Swap(1)], &[Load(0), Load(0)]] {
        let method = method(steps, Adversary::Preceding, 2);
        let whole = check(&method);
        for of in [1, 2, 5] {
            let part = |number| {
                let shard = Shard::new(number, of).expect("a shard");
                method.part_with(Check::settings(&method), shard, None).expect("well described")
            };
            let joined = (1..=of).map(part).reduce(Parts::and).expect("a part");
            let report = method.joined_with(Check::settings(&method), joined).expect("well described");
            assert_eq!((report.to_string(), &report.coverage), (whole.to_string(), &whole.coverage), "{steps:?} {of}");
        }
    }
}

/// The decisions of a search that left something out, and those of one that did not, say the same run as before.
#[test]
fn what_was_found_is_replayed() {
    for steps in [&[Load(1), Load(1)][..], &[Load(0), Load(0), Load(1), SwapIfAll(2)]] {
        let report = check(&method(steps, Adversary::Preceding, 2));
        let found = report.violation.as_ref().expect("two loads of one atomic");
        for decisions in [format!("{:#}", found.decisions), found.decisions.to_string()] {
            let again = check(&method(steps, Adversary::Preceding, 2).replay(decisions));
            let again = again.violation.expect("it is found again");
            assert_eq!(
                (again.counterexample.start, again.counterexample.rows),
                (found.counterexample.start.clone(), found.counterexample.rows.clone())
            );
        }
    }
    let steps = [Load(0), Swap(1)];
    let explained = check(&method(&steps, Adversary::Preceding, 2).replay("A0.I1.E0.E0.E0"));
    assert_eq!(explained.verdict, Verdict::Linearizable);
}
