//! The judge against the strategy that looks for what the judge counts.

use std::panic::Location;

use interloper_scheduler::strategies::{AtomFuzzer, Grade, Pattern};
use interloper_scheduler::{Cause, Pending, Strategy};
use interloper_std::runtime::{Action, Count, Extent, Key, Mode, ObjectId, Place, Verb};

use super::super::sections::Rule;
use super::*;

/// An action of each kind, with what it may turn out to be.
fn actions() -> Vec<(Action, bool)> {
    use Mode::{Exclusive, Shared, Upgradable};
    let modes = [Shared, Upgradable, Exclusive];
    let mut actions = vec![
        Action::Read,
        Action::Write,
        Action::ReadWrite,
        Action::Fence,
        Action::Wait(None),
        Action::Notify(Count::All),
        Action::Park,
        Action::Unpark,
        Action::Yield,
        Action::Sleep,
        Action::Invoke(Verb::Insert, Extent::Whole, Key::from_hash(7)),
        Action::Inspect(Verb::Get, Extent::Whole, Key::from_hash(7)),
        Action::LockRecursive,
        Action::Contend,
        Action::Consult,
        Action::Affect,
    ];
    for mode in modes {
        actions.extend([Action::Lock(mode), Action::TryLock(mode), Action::Unlock(mode)]);
    }
    for (from, to) in [(Upgradable, Exclusive), (Exclusive, Shared), (Exclusive, Upgradable), (Shared, Upgradable)] {
        actions.extend([Action::Convert(from, to), Action::TryConvert(from, to)]);
    }
    let may_fail =
        |action| matches!(action, Action::TryLock(_) | Action::TryConvert(..) | Action::ReadWrite | Action::Invoke(..));
    let fails = actions.clone().into_iter().filter(|action| may_fail(*action)).map(|action| (action, true));
    actions.iter().map(|action| (*action, false)).chain(fails).collect()
}

fn place() -> Place {
    static PLACE: Place = Location::caller();
    PLACE
}

fn pending(task: u32, object: u32, action: Action) -> Pending {
    let operation = Operation { object: ObjectId::from_index(object), action, location: place() };
    Pending { task: TaskId(task), operation }
}

/// What the strategy finds, and the trace, when task 0 makes `first` and `last` in a block and task 1 makes `between` while
/// task 0 is paused. None when the strategy never pauses task 0.
fn fuzzed([first, between, last]: [(Action, bool); 3], pattern: Pattern) -> Option<(bool, Vec<Event>)> {
    // Each time task 1 comes first by chance with probability 1/2: a pause is missed with probability 2^-40.
    (0..40).find_map(|seed| {
        let mut fuzzer = AtomFuzzer::new(seed).with_q(1.0).with_pattern(pattern);
        let mut trace = Vec::new();
        fuzzer.begin();
        let mut make = |fuzzer: &mut AtomFuzzer, options: &[Pending], (_, fails): (Action, bool)| {
            let Pending { task, operation } = options[fuzzer.choose(None, options)];
            if fails {
                fuzzer.only_read(task, operation);
            }
            trace.push(Event { task, operation, continues: false, only_read: fails, cause: Cause::Ready });
            task
        };
        make(&mut fuzzer, &[pending(0, 0, Action::BlockBegin(0))], (Action::BlockBegin(0), false));
        make(&mut fuzzer, &[pending(0, 1, first.0)], first);
        let other = make(&mut fuzzer, &[pending(0, 1, last.0), pending(1, 1, between.0)], between);
        let paused = fuzzer.findings().iter().any(|finding| finding.grade == Grade::Warning);
        if other != TaskId(1) || !paused {
            return None;
        }
        make(&mut fuzzer, &[pending(0, 1, last.0)], last);
        make(&mut fuzzer, &[pending(0, 0, Action::BlockEnd)], (Action::BlockEnd, false));
        let violated = fuzzer.findings().iter().any(|finding| finding.grade == Grade::Error);
        Some((violated, trace))
    })
}

/// The same three steps as a trace, for the judge alone.
fn trace(steps: [(Action, bool); 3]) -> Vec<Event> {
    let event = |task, action, only_read| {
        let Pending { task, operation } = pending(task, 1, action);
        Event { task, operation, continues: false, only_read, cause: Cause::Ready }
    };
    let begin = event(0, Action::BlockBegin(0), false);
    let steps = std::iter::zip([0, 1, 0], steps).map(|(task, (action, fails))| event(task, action, fails));
    std::iter::once(begin).chain(steps).collect()
}

/// Whether the judge finds a triple.
fn scan(scanner: &mut Scanner, trace: &[Event]) -> bool {
    scanner.scan(&Annotated::of(&Rule::default(), trace), trace).is_some()
}

#[test]
fn the_strategy_and_the_judge_agree_on_every_action() {
    let mut scanner = Scanner::default();
    let (mut violated, mut explained, mut never) = (0, 0, 0);
    for first in actions() {
        // Whether the last step of the block succeeds is unknown beforehand: the strategy assumes that it does.
        for last in actions().into_iter().filter(|(_, fails)| !fails) {
            for between in actions() {
                let judged = scan(&mut scanner, &trace([first, between, last]));
                match fuzzed([first, between, last], Pattern::Accesses) {
                    Some((found, trace)) => {
                        assert_eq!(found, judged, "{first:?}, {between:?}, {last:?}");
                        assert_eq!(scan(&mut scanner, &trace), judged);
                        if judged { violated += 1 } else { explained += 1 }
                    }
                    None => {
                        assert!(!judged, "never looked for: {first:?}, {between:?}, {last:?}");
                        never += 1;
                        // The strategy pauses before any second access: which step comes between changes nothing.
                        break;
                    }
                }
            }
        }
    }
    assert!(violated > 1_000 && explained > 1_000 && never > 100, "{violated}, {explained}, {never}");
}

/// As the algorithm is printed, only locks are looked at. What it finds among them the judge finds, too.
#[test]
fn what_the_printed_algorithm_finds_is_a_violation() {
    let mut scanner = Scanner::default();
    let locks = || actions().into_iter().filter(|(action, fails)| action.acquires().is_some() && !fails);
    let mut violated = 0;
    for first in locks() {
        for last in locks() {
            for between in actions() {
                let judged = scan(&mut scanner, &trace([first, between, last]));
                let Some((found, _)) = fuzzed([first, between, last], Pattern::Locks) else { break };
                assert!(judged || !found, "{first:?}, {between:?}, {last:?}");
                assert!(found || !judged || between.0.acquires().is_none(), "{first:?}, {between:?}, {last:?}");
                violated += u32::from(found);
            }
        }
    }
    assert!(violated > 100, "{violated}");
}
