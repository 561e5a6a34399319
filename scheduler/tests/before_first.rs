//! A process before its first execution, in which a mirror does what std does and asks nobody. One test, since nothing may come before.

use std::cell::RefCell;
use std::panic::catch_unwind;
use std::sync::atomic::Ordering;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, Engine, Strategy};
use interloper_std::runtime::calls::{Moment, listen};
use interloper_std::sync::atomic::{AtomicPtr, AtomicU32, fence};

static COUNT: AtomicU32 = AtomicU32::new(7);
static POINTER: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    static HEARD: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

fn hear(moment: Moment) {
    if let Moment::BeginAt { name, .. } = moment {
        HEARD.with_borrow_mut(|heard| heard.push(name));
    }
}

#[test]
fn what_is_done_before_the_first_execution_is_seen_outside_alone() {
    // More changes than one, of which the first is recorded, and of memory that is not a static.
    let on_heap = Box::new(AtomicU32::new(1));
    let mut target = 5;
    for count in 8..20 {
        COUNT.store(count, Ordering::Relaxed);
        on_heap.fetch_add(1, Ordering::AcqRel);
        POINTER.store(&raw mut target, Ordering::Release);
        fence(Ordering::SeqCst);
    }
    assert_eq!(COUNT.swap(20, Ordering::SeqCst), 19);
    assert_eq!(COUNT.compare_exchange(20, 21, Ordering::Relaxed, Ordering::Relaxed), Ok(20));
    assert_eq!(POINTER.load(Ordering::Acquire), &raw mut target);
    let refused = catch_unwind(|| COUNT.load(Ordering::Release)).unwrap_err();
    assert_eq!(refused.downcast_ref::<&str>(), Some(&"there is no such thing as a release load"));

    // A listener hears what happens from now on, without an execution.
    listen(hear, || COUNT.load(Ordering::Relaxed));
    assert_eq!(HEARD.take(), ["load"]);

    let mut walk = RandomWalk::new(1);
    assert!(walk.begin());
    let execution = Engine::new(Config::default()).run(&mut walk, || {
        assert_eq!(COUNT.load(Ordering::Relaxed), 7);
        assert!(POINTER.load(Ordering::Acquire).is_null());
        assert_eq!(on_heap.fetch_add(1, Ordering::Relaxed), 13);
        COUNT.store(1, Ordering::Release);
    });
    assert!(execution.end.is_finished(), "{:?}", execution.end);
    assert_eq!((COUNT.load(Ordering::Relaxed), on_heap.load(Ordering::Relaxed)), (21, 14));
}
