use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use interloper_scheduler::Executions;
use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use super::*;
use crate::hunt::{Campaign, Ended, Engine, Hunted, Pass, Searched};
use crate::object::Object;
use crate::schemas::Bounds;
use crate::stress::Next;
use crate::systematic::{Schedule, Settings};
use crate::testing::method;

/// A map of two keys over the mirror, with a size that is counted by reading one key after the other, and a method that is one
/// step.
fn pair() -> (Object, Arc<AtomicU64>) {
    let made = Arc::new(AtomicU64::new(0));
    let counting = Arc::clone(&made);
    let new = move || {
        counting.fetch_add(1, Relaxed);
        [AtomicI64::new(-1), AtomicI64::new(-1)]
    };
    let object = Object::describe("pair", new)
        .core("put", |pair, (key, value): (usize, i64)| pair[key].swap(value, SeqCst))
        .core("remove", |pair, (key,): (usize,)| pair[key].swap(-1, SeqCst))
        .method("size", |pair, ()| pair.iter().filter(|cell| cell.load(SeqCst) != -1).count())
        .reads()
        .method("swap", |pair, (key, value): (usize, i64)| pair[key].swap(value, SeqCst))
        .method("increase", |pair, (key,): (usize,)| {
            let value = pair[key].load(SeqCst);
            pair[key].store(value + 1, SeqCst);
        })
        .method("touch", |pair, ()| (0..8).filter(|round| pair[round % 2].load(SeqCst) > 100).count())
        .reads()
        .build();
    (object, made)
}

/// Campaigns of every kind, short ones.
fn campaigns(object: &Object) -> Vec<Campaign> {
    // So few executions that schemas are left for each later pass.
    let thorough = Settings { seed: 1, executions: Executions::AtMost(12), ..Settings::default() };
    let mut passes = Pass::before(&thorough);
    passes[2].gives_up_after = Some(6);
    let staged = Campaign { passes, ..Campaign::staged(object, 1).of_at_most(60) };
    let random = Settings { schedule: Schedule::Random, executions: Executions::AtMost(20), ..thorough };
    let once = Campaign { engine: Engine::Systematic(random), ..Campaign::systematic(object, 1).of_at_most(40) };
    let bounds = Bounds { invocations: 2..=3, ..Bounds::default() };
    let small = Campaign { random: Some((bounds, 30)), ..Campaign::systematic(object, 1).of_at_most(30) };
    vec![staged, once, small]
}

fn go_on() -> impl FnMut(&crate::hunt::Progress<'_>) -> Next {
    |_| Next::Continue
}

/// Without the time, which is never the same.
fn timeless(searched: Searched) -> Searched {
    Searched { hunted: Hunted { took: Duration::ZERO, ..searched.hunted }, ..searched }
}

fn parts(campaign: &Campaign, method: MethodId, of: u32) -> Vec<Vec<Visit>> {
    let part = |number| {
        let mut visits = Visits::default().within(Shard::new(number, of).expect("a shard"), &[method]);
        campaign.part(method, &mut visits, &mut go_on());
        visits.into_made().collect()
    };
    (1..=of).map(part).collect()
}

#[test]
fn the_parts_together_give_the_result_of_the_whole() {
    let (object, _) = pair();
    let (mut found, mut sound) = (0, 0);
    for campaign in campaigns(&object) {
        for name in ["size", "swap", "increase", "touch"] {
            let method = method(&object, name);
            let whole = timeless(campaign.method(method, &mut go_on()));
            for of in [1, 2, 3, 7] {
                let parts = parts(&campaign, method, of);
                // No schema belongs to two parts.
                for (number, part) in (0..).zip(&parts) {
                    assert!(part.iter().all(|visit| visit.schema % u64::from(of) == number));
                }
                let mut visits = Visits::after(parts.into_iter().flatten());
                assert_eq!(timeless(campaign.method_after(method, &mut visits, &mut go_on())), whole, "{name} of {of}");
            }
            *if whole.found().is_some() { &mut found } else { &mut sound } += 1;
        }
    }
    assert!(found >= 3 && sound >= 6, "{found} {sound}");
}

/// The visits of several methods: each schema belongs to one part. As long as there are methods for all parts, no two parts share
/// one, and no part has more than one method more than another; with more parts, each works for one method.
#[test]
fn methods_are_dealt_as_wholes_where_they_suffice() {
    for (methods, of) in [(1, 1), (1, 4), (3, 2), (4, 2), (7, 4), (10, 8), (3, 8), (5, 5), (2, 3)] {
        let all: Vec<MethodId> = (10..10 + methods).map(MethodId).collect();
        let parts: Vec<Visits> =
            (1..=of).map(|number| Visits::default().within(Shard::new(number, of).expect("a shard"), &all)).collect();
        let owners = |method, schema| parts.iter().filter(|part| part.has(method, schema)).count();
        let schemas = || all.iter().flat_map(|method| (0..30).map(|schema| (*method, schema)));
        assert!(schemas().all(|(method, schema)| owners(method, schema) == 1), "{methods} methods, {of} parts");
        let has = |part: &Visits| all.iter().filter(|method| part.has_some(**method)).count();
        let sharing = |method: &MethodId| parts.iter().filter(|part| part.has_some(*method)).count();
        let most = |each: &dyn Fn(&Visits) -> usize| parts.iter().map(each).max().expect("a part");
        let least = parts.iter().map(has).min().expect("a part");
        if methods >= of as usize {
            assert!(all.iter().all(|method| sharing(method) == 1) && most(&has) <= least + 1, "{methods}, {of}");
        } else {
            let sharing: Vec<usize> = all.iter().map(sharing).collect();
            assert!(
                most(&has) == 1
                    && least == 1
                    && sharing.iter().max() <= sharing.iter().min().map(|few| few + 1).as_ref()
            );
        }
    }
    assert!(!Visits::default().within(Shard::WHOLE, &[MethodId(1)]).has_some(MethodId(2)));
    // Two objects with two methods and one method: the third part has the method of the second object, and nothing of the first one.
    let of_three = |number, methods: &[MethodId], before| {
        Visits::default().within_among(Shard::new(number, 3).expect("a shard"), methods, (before, 3))
    };
    let has = |number| {
        let first = of_three(number, &[MethodId(1), MethodId(2)], 0);
        let second = of_three(number, &[MethodId(1)], 2);
        (first.has_some(MethodId(1)), first.has_some(MethodId(2)), second.has_some(MethodId(1)))
    };
    assert_eq!([1, 2, 3].map(has), [(true, false, false), (false, true, false), (false, false, true)]);
    assert!(Visits::default().has_some(MethodId(2)) && Visits::default().has(MethodId(2), 7));
}

/// Where there are as many methods as parts, the parts make the executions of the whole, and no more, although methods have
/// violations.
#[test]
fn parts_of_whole_methods_do_not_look_for_findings_of_their_own() {
    let (object, _) = pair();
    let methods: Vec<MethodId> =
        ["size", "swap", "increase", "touch"].iter().flat_map(|name| object.named(name)).collect();
    for campaign in campaigns(&object) {
        let whole: u64 = methods.iter().map(|&method| campaign.method(method, &mut go_on()).hunted.executions).sum();
        for of in [1, 2, 4] {
            let executions = |number| {
                let mut visits = Visits::default().within(Shard::new(number, of).expect("a shard"), &methods);
                let part = |&method: &MethodId| campaign.part(method, &mut visits, &mut go_on()).executions;
                methods.iter().map(part).sum::<u64>()
            };
            assert_eq!((1..=of).map(executions).sum::<u64>(), whole, "{of}");
        }
    }
}

/// Where parts run to their ends, the end runs nothing: no object is made.
#[test]
fn nothing_runs_twice_where_no_pass_gives_up() {
    let (object, made) = pair();
    let swap = method(&object, "swap");
    let [_, _, small] = &campaigns(&object)[..] else { unreachable!("three kinds") };
    let whole = timeless(small.method(swap, &mut go_on()));
    assert!(whole.found().is_none() && whole.hunted.schemas > 30, "{}", whole.hunted.schemas);
    let of_whole = made.swap(0, Relaxed);
    let parts = parts(small, swap, 4);
    let executions: u64 = parts.iter().flatten().map(|visit| visit.executions).sum();
    assert_eq!(executions, whole.hunted.executions);
    assert_eq!(made.swap(0, Relaxed), of_whole);
    let mut visits = Visits::after(parts.into_iter().flatten());
    assert_eq!(timeless(small.method_after(swap, &mut visits, &mut go_on())), whole);
    assert_eq!(made.load(Relaxed), 0);
}

/// How many visits were kept at a moment, and the schema that ran.
type Moment = (usize, Option<Running>);

/// What was kept at each moment.
#[derive(Clone, Default)]
struct Moments {
    visits: Rc<RefCell<Vec<Visit>>>,
    all: Rc<RefCell<Vec<Moment>>>,
}

impl KeepVisits for Moments {
    fn keep(&mut self, visit: &Visit) {
        self.visits.borrow_mut().push(visit.clone());
        self.all.borrow_mut().push((self.visits.borrow().len(), None));
    }

    fn is_due(&mut self) -> bool {
        true
    }

    fn keep_running(&mut self, running: Option<Running>) {
        self.all.borrow_mut().push((self.visits.borrow().len(), running));
    }
}

/// After each of its visits, and of the executions of each, a search can be continued, and nothing that was kept runs again unless
/// its traces are needed.
#[test]
fn a_search_goes_on_after_any_visit() {
    let (object, _) = pair();
    for campaign in campaigns(&object) {
        for name in ["increase", "touch"] {
            let method = method(&object, name);
            let moments = Moments::default();
            let mut visits = Visits::default().kept_by(moments.clone());
            let whole = timeless(campaign.method_after(method, &mut visits, &mut go_on()));
            let kept = moments.visits.borrow();
            assert!(name == "increase" || kept.len() > 20, "{}", kept.len());
            let all = moments.all.borrow();
            let running = all.iter().filter(|(_, running)| running.is_some()).count();
            assert!(name == "increase" || running > 20, "{running} moments within visits");
            for (number, (visits, running)) in all.iter().enumerate().step_by(7) {
                let after = Visits::after(kept[..*visits].to_vec());
                let before = after.executions();
                let mut visits = after.within_schema(running.clone());
                assert_eq!(visits.executions() - before, running.as_ref().map_or(0, Running::executions));
                let again = timeless(campaign.method_after(method, &mut visits, &mut go_on()));
                assert_eq!(again, whole, "{name} after moment {number}");
            }
        }
    }
}

/// A schema that ran to its end does not run again, although it was kept while it ran.
#[test]
fn what_ran_is_not_continued_after_its_end() {
    let (object, _) = pair();
    let touch = method(&object, "touch");
    let moments = Moments::default();
    let campaign = &campaigns(&object)[2];
    campaign.method_after(touch, &mut Visits::default().kept_by(moments.clone()), &mut go_on());
    let (visits, all) = (moments.visits.borrow(), moments.all.borrow());
    let running = all.iter().find_map(|(_, running)| running.clone()).expect("a schema with two executions");
    let whole = Visits::after(visits.clone());
    let executions = whole.executions();
    assert_eq!(whole.within_schema(Some(running.clone())).executions(), executions);
    let none = Visits::default().within_schema(Some(running.clone()));
    assert_eq!(none.executions(), running.executions());
}

/// A visit that the deadline has cut is not kept: it would say too little.
#[test]
fn what_the_time_has_cut_is_not_kept() {
    let (object, _) = pair();
    let swap = method(&object, "swap");
    for campaign in campaigns(&object) {
        let mut visits = Visits::default();
        let none = Campaign { time: Some(Duration::ZERO), ..campaign };
        let searched = none.method_after(swap, &mut visits, &mut go_on());
        assert_eq!((searched.hunted.end, visits.into_made().count()), (Ended::OutOfTime, 0));
    }
}

/// A counter on real threads, whose wrong `bump` gives on another thread than the one that made the counter what it gives on no
/// single thread. So it shows in each execution in which some sequence runs on another thread.
fn native(atomic: bool) -> Object {
    use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
    let new = || (AtomicI64::new(0), std::thread::current().id());
    Object::describe("counter", new)
        .core("get", |(count, _), ()| count.load(SeqCst))
        .reads()
        .method("bump", move |(count, maker), ()| {
            let elsewhere = std::thread::current().id() != *maker;
            if elsewhere && !atomic { -1 } else { count.fetch_add(1, SeqCst) }
        })
        .build()
}

/// What real threads have shown is joined as it was kept: nothing runs again to find it, so the first finding of all parts is the
/// finding, with its counts.
#[test]
fn the_parts_of_a_hunt_on_real_threads_are_joined() {
    for atomic in [true, false] {
        let object = native(atomic);
        let bump = method(&object, "bump");
        let bounds = Bounds { invocations: 2..=4, ..Bounds::default() };
        let campaign = Campaign::stress(&object, 1);
        let engine = match campaign.engine {
            Engine::Stress(settings) => {
                Engine::Stress(crate::stress::Settings { budget: crate::stress::Budget::Executions(100), ..settings })
            }
            _ => unreachable!("real threads"),
        };
        let campaign = Campaign { engine, random: None, repeated: Some((bounds, 12)), ..campaign };
        let parts = parts(&campaign, bump, 2);
        let text = serde_json::to_string(&parts).expect("plain data is always JSON");
        let read: Vec<Vec<Visit>> = serde_json::from_str(&text).expect("what was written");
        assert_eq!(read, parts);
        let joined = || {
            let mut visits = Visits::after(read.iter().flatten().cloned());
            campaign.part(bump, &mut visits, &mut go_on())
        };
        let (hunted, first) =
            (joined(), read.iter().flatten().filter(|visit| visit.native.is_some()).min_by_key(|visit| visit.schema));
        match (hunted.found(), first) {
            (None, None) => assert!(atomic, "no part has found anything"),
            (Some(found), Some(first)) => {
                assert!(!atomic);
                let before = read.iter().flatten().filter(|visit| visit.schema <= first.schema);
                assert_eq!(hunted.executions, before.map(|visit| visit.executions).sum::<u64>());
                let counted: u64 = found.frequencies.iter().map(|frequency| frequency.count).sum();
                assert_eq!(counted, first.executions);
                assert!(found.frequencies.iter().any(|frequency| !frequency.right));
            }
            (found, first) => panic!("{found:?} and {first:?}"),
        }
        assert_eq!(Hunted { took: Duration::ZERO, ..joined() }, Hunted { took: Duration::ZERO, ..hunted });
        // Of another number of calls: it is not believed, and the schema runs.
        let mut other: Vec<Visit> = read.into_iter().flatten().collect();
        let wrong =
            serde_json::to_value(&other).expect("JSON").to_string().replace("[{\"int\":0}", "[{\"int\":0},{\"int\":0}");
        other = serde_json::from_str(&wrong).expect("visits");
        campaign.part(bump, &mut Visits::after(other), &mut go_on());
    }
}
