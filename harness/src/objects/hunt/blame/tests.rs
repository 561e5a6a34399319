use interloper_scheduler::schedule::Memory;
use interloper_std::sync::atomic::{
    AtomicI64,
    Ordering::{Relaxed, SeqCst},
};

use super::*;
use crate::object::Object;
use crate::testing::{careless, method};

fn searched(campaign: &Campaign, name: &str) -> Searched {
    campaign.method(method(&campaign.object, name), &mut |_| Next::Continue)
}

/// The methods of each set by name.
fn interrupted(object: &Object, searched: &Searched) -> Vec<Vec<String>> {
    let names = |set: &BTreeSet<MethodId>| set.iter().map(|&method| object.label(method)).collect();
    searched.interrupted.iter().map(names).collect()
}

/// `look` is a single step, as `get` is, which can take its place: it is the core method `put` that is not atomic.
#[test]
fn what_core_methods_show_in_the_place_of_a_method_is_their_fault() {
    let object = careless();
    let look = searched(&Campaign::staged(&object, 1), "look");
    assert_eq!((look.of_core, &look.blamed), (true, &[method(&object, "put")].into()));
    assert_eq!(interrupted(&object, &look), [["put"]]);
    let schema = look.found().expect("it sees that nothing is there").schema.to_string();
    assert_eq!(schema, "{ put(0); get() } || { put(0) }");

    // Of the core methods, it is `put`, too, and its row is its own.
    let get = searched(&Campaign::staged(&object, 1), "get");
    assert_eq!((get.of_core, &get.blamed), (true, &[method(&object, "put")].into()));
    let put = searched(&Campaign::staged(&object, 1), "put");
    assert_eq!((put.found().is_some(), put.of_core, put.blamed.is_empty()), (true, false, true));
}

/// `size` reads what `put` writes late. Beside each other, the core methods are atomic, and a hunt trusts them: so it is `size` that misses
/// what `get` sees, although `put` is the one that is interrupted. Where nobody is trusted, `put` is at fault.
#[test]
fn core_methods_that_are_atomic_beside_each_other_are_trusted() {
    let put = |cells: &[AtomicI64; 2], (): ()| {
        cells[0].store(1, SeqCst);
        cells[1].store(1, SeqCst);
    };
    let get = |cells: &[AtomicI64; 2], (): ()| cells[0].load(SeqCst);
    let size = |cells: &[AtomicI64; 2], (): ()| cells[1].load(SeqCst);
    let describe = || Object::describe("sized", || [const { AtomicI64::new(0) }; 2]);
    let trusting = describe().core("put", put).core("get", get).reads().method("size", size).reads().build();
    let found = searched(&Campaign::staged(&trusting, 1), "size");
    assert_eq!((found.found().is_some(), found.of_core), (true, false));
    assert_eq!(interrupted(&trusting, &found), [["put"]]);

    let careful = describe().method("put", put).method("get", get).reads().method("size", size).reads().build();
    for name in ["get", "size"] {
        let found = searched(&Campaign::staged(&careful, 1), name);
        assert_eq!((found.of_core, &found.blamed), (true, &[method(&careful, "put")].into()), "{name}");
    }
    let own = searched(&Campaign::staged(&careful, 1), "put");
    assert_eq!((own.found().is_some(), own.of_core), (true, false));
}

/// Two places that are read one after the other, and written at once.
fn places() -> Object {
    Object::describe("places", || [const { AtomicI64::new(0) }; 2])
        .core("put", |places, (place,): (i64,)| places[place as usize % 2].store(1, SeqCst))
        .method("both", |places, ()| (places[0].load(SeqCst), places[1].load(SeqCst)) == (0, 1))
        .reads()
        .build()
}

#[test]
fn a_method_that_has_to_be_interrupted_is_at_fault() {
    let object = places();
    let both = searched(&Campaign::staged(&object, 1), "both");
    assert_eq!((both.of_core, both.blamed.is_empty()), (false, true));
    assert_eq!(interrupted(&object, &both), [["both"]]);
    let found = both.found().expect("a state that never was");
    let Runs::Systematic(explored) = &found.runs else { panic!("{found:?}") };
    let trace = explored.stopped.as_ref().expect("an execution");
    let program = object.program(&found.schema).expect("a schema of it");
    // In the execution that is shown, `both` is interrupted, and no other call is.
    for ((called, _), span) in program.calls().iter().zip(&trace.calls) {
        let span = span.expect("it began");
        let steps = &trace.steps[span.begin..span.end.expect("it returned")];
        let of_calls = steps.iter().filter(|step| systematic::is_of_object(step, &trace.tasks));
        let mut tasks: Vec<_> = of_calls.map(|step| step.task).collect();
        tasks.dedup();
        assert_eq!(tasks.len() > 2, *called == method(&object, "both"), "{tasks:?}");
    }
    let replayed = systematic::replay(&program, trace.limits, trace.decisions()).expect("the same decisions");
    assert_eq!(replayed.outcome, trace.outcome);
}

/// `b` sees that `a` is under way, and `a` that `b` is: each goes on in the middle of the other one. Where one of them runs as one step,
/// nothing is wrong: `met` stays as it was, or `a` is over.
fn handshake() -> Object {
    Object::describe("handshake", || [const { AtomicI64::new(0) }; 3])
        .method("a", |[here, there, met], ()| {
            here.store(1, SeqCst);
            met.store(there.load(SeqCst), SeqCst);
            here.store(0, SeqCst);
        })
        .method("b", |[here, there, met], ()| {
            there.store(1, SeqCst);
            let seen = here.load(SeqCst) == 1 && met.load(SeqCst) == 1;
            there.store(0, SeqCst);
            seen
        })
        .build()
}

#[test]
fn what_takes_all_methods_is_the_fault_of_all() {
    let object = handshake();
    let b = searched(&Campaign::staged(&object, 1), "b");
    assert_eq!(b.found().expect("both are under way").schema.to_string(), "{ b() } || { a() }");
    assert_eq!((b.of_core, interrupted(&object, &b)), (false, Vec::new()));
}

/// `torn` sees that there is something before it is there, if memory reorders the two stores. Nobody has to be interrupted.
#[test]
fn what_memory_reorders_takes_no_interruption() {
    let object = |first: usize| {
        Object::describe("flagged", || [const { AtomicI64::new(0) }; 2])
            .method("put", move |cells, ()| {
                cells[first].store(1, Relaxed);
                cells[1 - first].store(1, Relaxed);
            })
            .method("torn", |cells, ()| cells[1].load(Relaxed) == 1 && cells[0].load(Relaxed) == 0)
            .reads()
            .build()
    };
    let found = |object: &Object| {
        let settings = Settings { memory: Some(Memory::Weak), ..Settings::default() };
        let campaign = Campaign { engine: Engine::Systematic(settings), ..Campaign::systematic(object, 1) };
        searched(&campaign, "torn")
    };
    let late = found(&object(0));
    assert!(late.found().is_some() && !late.of_core && late.interrupted.is_empty());
    // Its twin, which writes in the wrong order.
    let object = object(1);
    let found = found(&object);
    assert!(found.found().is_some() && found.of_core);
    assert_eq!(interrupted(&object, &found), [["put"]]);
}

#[test]
fn all_sets_but_the_whole_one() {
    let methods =
        |numbers: &[usize]| -> BTreeSet<MethodId> { numbers.iter().map(|&number| MethodId(number)).collect() };
    assert_eq!(proper_subsets(&methods(&[4])), <Vec<BTreeSet<MethodId>>>::new());
    let all = proper_subsets(&methods(&[1, 5, 7]));
    assert_eq!(all, [&[1][..], &[5], &[1, 5], &[7], &[1, 7], &[5, 7]].map(methods));
}
