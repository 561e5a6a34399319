use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use super::*;
use crate::hunt::Runs;
use crate::testing::method;

/// A place that `swap` empties for a moment, if it is not at once. Each method is atomic beside `put` alone, also beside itself.
/// `touch` is one step that changes nothing.
fn place(at_once: bool) -> Object {
    Object::describe("place", || AtomicI64::new(1))
        .core("put", |place, ()| place.store(1, SeqCst))
        .method("swap", move |place, ()| {
            if !at_once {
                place.store(0, SeqCst);
            }
            place.store(1, SeqCst);
        })
        .method("is_empty", |place, ()| place.load(SeqCst) == 0)
        .reads()
        .method("touch", |place, ()| place.fetch_add(0, SeqCst) == 5)
        .build()
}

fn tested(object: &Object) -> Vec<MethodId> {
    object.with_role(Role::UnderTest).collect()
}

fn together(campaign: &Campaign) -> Together {
    campaign.together(&tested(&campaign.object), &mut Visits::default(), &mut |_| Next::Continue)
}

fn campaign(object: &Object) -> Campaign {
    Campaign::staged(object, 1).of_at_most(40)
}

#[test]
fn two_methods_that_are_atomic_alone_are_not_together() {
    let object = place(false);
    let campaign = campaign(&object);
    for name in ["swap", "is_empty", "touch"] {
        assert_eq!(campaign.method(method(&object, name), &mut |_| Next::Continue).found(), None, "{name}");
    }
    let found = together(&campaign);
    let of = |one: &str, other: &str| [method(&object, one), method(&object, other)];
    // Three pairs, of which each has a method that changes the place; 40 schemas of a method are 20 of a pair of three, and where they
    // are as short as these, 20 times as many.
    let pairs: Vec<[MethodId; 2]> = found.ran.iter().map(|pair| pair.methods).collect();
    assert_eq!(pairs, [of("swap", "is_empty"), of("swap", "touch"), of("is_empty", "touch")]);
    let [wrong, right, other] = &found.ran[..] else { panic!("{found:?}") };
    assert!(wrong.is_to_blame() && !wrong.searched.of_core);
    let smallest = wrong.searched.found().expect("is_empty sees the moment");
    assert_eq!(smallest.schema.to_string(), "{ swap() } || { is_empty() }");
    assert!(matches!(smallest.runs, Runs::Systematic(_)));
    assert_eq!(wrong.searched.blamed, of("swap", "is_empty").into());
    // `is_empty` is a single step.
    assert_eq!(wrong.searched.interrupted, [[method(&object, "swap")].into()]);
    for pair in [right, other] {
        assert_eq!((pair.searched.found(), pair.searched.hunted.schemas), (None, 400));
    }
    assert_eq!((found.never_overlapped().count(), found.left.len(), found.rest), (0, 0, None));

    // The twin that is one step.
    let found = together(&self::campaign(&place(true)));
    assert_eq!(found.ran.len(), 3);
    assert!(found.ran.iter().all(|pair| pair.searched.found().is_none() && pair.searched.hunted.schemas == 400));
    assert_eq!((found.never_overlapped().count(), found.rest), (0, None));
}

/// A search that ran out of time has pairs of methods whose violation it had not found. When it goes on, fewer methods have pairs, each
/// pair has more schemas, and other schemas have the numbers of those that ran: these are not taken for them.
#[test]
fn visits_of_a_pair_are_those_of_its_schemas() {
    let object = place(true);
    let campaign = campaign(&object);
    let search =
        |methods: &[MethodId], visits: &mut Visits| campaign.together(methods, visits, &mut |_| Next::Continue);
    let mut visits = Visits::default();
    let all = search(&tested(&object), &mut visits);
    let fewer = &tested(&object)[..2];
    let anew = search(fewer, &mut Visits::default());
    let (shared, alone) = (&all.ran[0].searched.hunted, &anew.ran[0].searched.hunted);
    assert_eq!(all.ran[0].methods, anew.ran[0].methods);
    assert!(shared.executions != alone.executions, "the schemas are others: {}", alone.executions);
    let counts = |together: &Together| {
        let hunted = &together.ran[0].searched.hunted;
        (hunted.schemas, hunted.executions, hunted.coverage.steps, hunted.coverage.traces)
    };
    assert_eq!(counts(&search(fewer, &mut visits)), counts(&anew));
    // The twin: the same schemas are not run again.
    let executions = visits.executions();
    let again = search(&tested(&object), &mut visits);
    assert_eq!((counts(&again), visits.executions()), (counts(&all), executions));
    assert!(executions > all.counts().1, "those of fewer methods have visits of their own");
}

/// Adds one in two steps.
fn bump(counter: &AtomicI64) -> i64 {
    let value = counter.load(SeqCst);
    counter.store(value + 1, SeqCst);
    value
}

/// `bump` is wrong beside itself. Its own search was not asked, so its first pair shows it, and then it is in no other.
#[test]
fn a_method_that_is_wrong_alone_is_to_blame_alone() {
    let object = Object::describe("counter", || AtomicI64::new(0))
        .core("add", |counter, ()| counter.fetch_add(1, SeqCst))
        .method("bump", |counter, ()| bump(counter))
        .method("take", |counter, ()| counter.swap(0, SeqCst))
        .method("get", |counter, ()| counter.load(SeqCst))
        .reads()
        .build();
    let found = together(&campaign(&object));
    let [first, second] = &found.ran[..] else { panic!("{found:?}") };
    assert!(!first.is_to_blame() && !first.searched.of_core);
    assert_eq!(first.searched.blamed, [method(&object, "bump")].into());
    assert_eq!(second.methods, [method(&object, "take"), method(&object, "get")]);
    assert_eq!((second.searched.found(), &found.left[..], found.rest), (None, &[][..], None));
}

/// Two places, of which `both` reads one after the other. Beside `fill` it sees a state that never was; two calls of `put` in the place of
/// `fill` show that it does so beside core methods, too. The twin is [`two_methods_that_are_atomic_alone_are_not_together`].
#[test]
fn a_method_of_a_pair_is_to_blame_alone_if_core_methods_can_take_the_place_of_the_other_one() {
    let object = Object::describe("places", || [const { AtomicI64::new(0) }; 2])
        .core("put", |places, (place,): (i64,)| places[place as usize % 2].store(1, SeqCst))
        .method("fill", |places, ()| {
            places[1].store(1, SeqCst);
            places[0].store(1, SeqCst);
        })
        .method("both", |places, ()| (places[0].load(SeqCst), places[1].load(SeqCst)) == (0, 1))
        .reads()
        .build();
    let found = together(&campaign(&object));
    let [pair] = &found.ran[..] else { panic!("{found:?}") };
    let smallest = pair.searched.found().expect("`both` sees a state that never was");
    assert_eq!(smallest.schema.to_string(), "{ both() } || { put(0); put(1) }");
    assert_eq!((pair.is_to_blame(), &pair.searched.blamed), (false, &[method(&object, "both")].into()));
}

/// What core methods show by themselves is nobody else's fault, and the other pairs do not run.
#[test]
fn core_methods_that_are_not_atomic_end_the_pairs() {
    let object = Object::describe("counter", || AtomicI64::new(0))
        .core("bump", |counter, ()| bump(counter))
        .method("take", |counter, ()| counter.swap(0, SeqCst))
        .method("get", |counter, ()| counter.load(SeqCst))
        .reads()
        .method("peek", |counter, ()| counter.load(SeqCst))
        .reads()
        .build();
    let found = together(&campaign(&object));
    let [pair] = &found.ran[..] else { panic!("{found:?}") };
    assert!(pair.searched.of_core && !pair.is_to_blame());
    assert_eq!(pair.searched.blamed, [method(&object, "bump")].into());
    assert_eq!((found.left.len(), found.rest), (2, Some(Rest::OfCore)));
}

#[test]
fn what_the_time_leaves_out_is_named() {
    let object = place(true);
    let no_time = Campaign { time: Some(Duration::ZERO), ..campaign(&object) };
    let found = together(&no_time);
    assert_eq!((found.ran.len(), found.left.len(), found.rest), (0, 3, Some(Rest::OutOfTime)));
}

/// Without core methods each method is searched beside all others already.
#[test]
fn without_core_methods_there_are_no_pairs() {
    let object = Object::describe("counter", || AtomicI64::new(0))
        .method("add", |counter, ()| counter.fetch_add(1, SeqCst))
        .method("take", |counter, ()| counter.swap(0, SeqCst))
        .build();
    let none = Together { ran: vec![], left: vec![], rest: None, without: BTreeSet::new() };
    assert_eq!(together(&campaign(&object)), none);
    let once = Campaign { passes: Vec::new(), ..campaign(&place(true)) };
    assert_eq!(together(&once), none);
}

/// The result is the same when the visits of an earlier process are given. Each pair has visits of its own, whichever other methods are
/// searched.
#[test]
fn visits_of_pairs_are_kept() {
    let timeless = |mut together: Together| {
        together.ran.iter_mut().for_each(|pair| pair.searched.hunted.took = Duration::ZERO);
        together
    };
    for at_once in [false, true] {
        let campaign = campaign(&place(at_once));
        let methods = tested(&campaign.object);
        let mut visits = Visits::default();
        let whole = timeless(campaign.together(&methods, &mut visits, &mut |_| Next::Continue));
        let made: Vec<_> = visits.into_made().collect();
        assert!(made.iter().all(|visit| visit.method >= campaign.object.methods().len()));
        let mut half = Visits::after(made[..made.len() / 2].iter().cloned());
        assert_eq!(timeless(campaign.together(&methods, &mut half, &mut |_| Next::Continue)), whole);
        let mut all = Visits::after(made);
        assert_eq!(timeless(campaign.together(&methods, &mut all, &mut |_| Next::Continue)), whole);
    }
}

/// What neither method changes comes last.
#[test]
fn pairs_of_reading_methods_come_last() {
    let object = Object::describe("four", || AtomicI64::new(0))
        .core("put", |cell, ()| cell.store(1, SeqCst))
        .method("a", |cell, ()| cell.load(SeqCst))
        .reads()
        .method("b", |cell, ()| cell.load(SeqCst))
        .reads()
        .method("c", |cell, ()| cell.store(2, SeqCst))
        .build();
    let labels: Vec<String> = pairs(&object, &tested(&object))
        .into_iter()
        .map(|pair| pair.map(|method| object.label(method)).concat())
        .collect();
    assert_eq!(labels, ["ac", "bc", "ab"]);
}
