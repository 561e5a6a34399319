use std::panic::Location;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use interloper_std::runtime::Place;

use super::*;

const ORDERS: [Ordering; 5] = [Relaxed, Acquire, Release, AcqRel, SeqCst];

fn site(place: Place, argument: Argument, order: Ordering) -> Site {
    Site::new(place.into(), argument, order).expect("an ordering that the argument can be")
}

#[test]
fn each_level_by_hand() {
    #[track_caller]
    fn check(argument: Argument, order: Ordering, weaker: &[Ordering], stronger: &[Ordering]) {
        assert_eq!(argument.weaker(order), weaker);
        assert_eq!(argument.stronger(order), stronger);
    }
    check(Argument::Load, SeqCst, &[Acquire], &[]);
    check(Argument::Load, Acquire, &[Relaxed], &[SeqCst]);
    check(Argument::Load, Relaxed, &[], &[Acquire]);
    check(Argument::Store, SeqCst, &[Release], &[]);
    check(Argument::Store, Release, &[Relaxed], &[SeqCst]);
    check(Argument::Store, Relaxed, &[], &[Release]);
    for argument in [Argument::Update, Argument::Fence] {
        check(argument, SeqCst, &[AcqRel], &[]);
        check(argument, AcqRel, &[Acquire, Release], &[SeqCst]);
        check(argument, Acquire, &[Relaxed], &[AcqRel]);
        check(argument, Release, &[Relaxed], &[AcqRel]);
        check(argument, Relaxed, &[], &[Acquire, Release]);
    }
}

#[test]
fn no_level_is_an_ordering_that_the_argument_cannot_be() {
    for (argument, order) in Argument::ALL.into_iter().flat_map(|argument| ORDERS.map(|order| (argument, order))) {
        if argument.admits(order) {
            let levels = [argument.weaker(order), argument.stronger(order)].concat();
            assert!(levels.iter().all(|&level| argument.admits(level)), "{argument:?} {order:?}");
        } else {
            assert_eq!(Site::new(Location::caller().into(), argument, order), None);
        }
    }
}

#[test]
fn texts_are_read_back() {
    let files = ["src/lib.rs", "/a folder/x:1:2.rs", "C:\\x.rs"];
    let all = files.into_iter().flat_map(|file| Argument::ALL.map(|argument| (file, argument)));
    for (file, argument) in all {
        let place = || SourcePlace { file: file.to_owned(), line: 12, column: 9 };
        for order in ORDERS {
            let Some(site) = Site::new(place(), argument, order) else { continue };
            assert_eq!(site.to_string().parse(), Ok(site.clone()));
            for to in argument.weaker(order) {
                let change = Change::new(site.clone(), to).unwrap();
                assert_eq!(change.to_string().parse(), Ok(change));
            }
        }
    }
    let text = "src/lib.rs:12:9 store SeqCst";
    assert_eq!(text.parse::<Site>().map(|site| site.to_string()).as_deref(), Ok(text));
}

#[test]
fn a_wrong_text_is_one_clear_error() {
    for text in
        ["", "store SeqCst", "a:1 store SeqCst", "a:1:x store SeqCst", "a:1:2 store seqcst", ":1:2 load Relaxed"]
    {
        assert!(text.parse::<Site>().is_err(), "{text}");
        assert!(format!("{text} Relaxed").parse::<Change>().is_err(), "{text}");
    }
    // The argument cannot be this ordering, or is it already.
    for text in ["a:1:2 load SeqCst Release", "a:1:2 store Acquire Relaxed", "a:1:2 load SeqCst SeqCst"] {
        let expected = "is not a change: expected `FILE:LINE:COLUMN ARGUMENT FROM TO`, such as `src/lib.rs:12:9 store SeqCst \
                        Release`";
        assert_eq!(text.parse::<Change>().unwrap_err().to_string(), format!("{text:?} {expected}"));
    }
    let error = "x".parse::<Site>().unwrap_err().to_string();
    let expected =
        "\"x\" is not a site: expected `FILE:LINE:COLUMN ARGUMENT ORDERING`, such as `src/lib.rs:12:9 store SeqCst`";
    assert_eq!(error, expected);
}

fn load_at(sites: &mut Sites, place: Place, order: Ordering) -> Ordering {
    let taken = sites.access(place, &Effect::Load, (order, order));
    sites.count(taken, true);
    taken.order
}

#[test]
fn an_ordering_changes_at_its_site_alone() {
    let (here, there) = (Location::caller(), at_another_place());
    let change = Change::new(site(here, Argument::Load, SeqCst), Acquire).unwrap();
    let mut sites = Sites::new(Orderings::changed(change));
    assert_eq!(load_at(&mut sites, here, SeqCst), Acquire);
    assert_eq!(load_at(&mut sites, there, SeqCst), SeqCst);
    assert_eq!(load_at(&mut sites, here, Acquire), Acquire);
    assert_eq!(sites.fence(here, SeqCst), SeqCst);
    let write = sites.access(here, &Effect::Store(1), (SeqCst, SeqCst));
    assert_eq!(write.order, SeqCst);
}

#[track_caller]
fn at_another_place() -> Place {
    Location::caller()
}

#[test]
fn a_compare_exchange_has_two_sites() {
    let here = Location::caller();
    let change = |_: u64| Some(1);
    let effect = Effect::Update { change: &change, compares: true, may_fail: false };
    let failure = site(here, Argument::Load, Acquire);
    let success = site(here, Argument::Update, AcqRel);
    let mut sites = Sites::new(Orderings::changed(Change::new(failure.clone(), Relaxed).unwrap()));
    sites.begin();
    for failed in [false, false, true] {
        let taken = sites.access(here, &effect, (AcqRel, Acquire));
        assert_eq!((taken.order, taken.failure), (AcqRel, Relaxed));
        sites.count(taken, failed);
    }
    // The load of `fetch_update` has the ordering of its failure.
    assert_eq!(load_at(&mut sites, here, Acquire), Relaxed);
    let executed = |site: &Site, times| Executed { site: site.clone(), times, executions: times.min(1) };
    assert_eq!(sites.take(), [executed(&failure, 2), executed(&success, 2)]);
    // A failure that never happened is known all the same.
    assert_eq!(sites.take(), [executed(&failure, 0), executed(&success, 0)]);
    // That of another read-modify-write has no failure.
    let adds = Effect::Update { change: &change, compares: false, may_fail: false };
    let mut sites = Sites::new(Orderings::COUNTED);
    sites.begin();
    let taken = sites.access(here, &adds, (SeqCst, SeqCst));
    sites.count(taken, false);
    assert_eq!(sites.take(), [executed(&site(here, Argument::Update, SeqCst), 1)]);
}

/// Crates that instantiate the same generic code have a place of their own for it, at another address.
#[test]
fn places_of_several_addresses_are_one_site() {
    let here = Location::caller();
    let copy: Place = Box::leak(Box::new(*here));
    assert_ne!(std::ptr::from_ref(here), std::ptr::from_ref(copy));
    let change = Change::new(site(here, Argument::Load, SeqCst), Acquire).unwrap();
    let mut sites = Sites::new(Orderings::changed(change.clone()));
    sites.begin();
    assert_eq!([load_at(&mut sites, here, SeqCst), load_at(&mut sites, copy, SeqCst)], [Acquire; 2]);
    assert_eq!(sites.take(), [Executed { site: change.site, times: 2, executions: 1 }]);
}

#[test]
fn without_a_word_nothing_is_counted() {
    let mut sites = Sites::new(Orderings::default());
    let here = Location::caller();
    assert_eq!((load_at(&mut sites, here, Acquire), sites.fence(here, Release)), (Acquire, Release));
    assert_eq!(sites.take(), []);
}
