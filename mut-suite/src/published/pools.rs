//! Pools of objects and of connections: queues of what is idle, beside a number or a flag.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use interloper::collections::{ArrayQueue, AtomicBool, AtomicU64, Mutex, SegQueue};

use super::{method, plain};
use crate::Case;
use crate::cases::{boxed, briefly, from_few_states};
use crate::source::Family;

const EASY_POOL: Family = Family::new("easy-pool 0.2.7", include_str!("pools.rs"));
const CONCURRENT_POOL: Family = EASY_POOL.from("concurrent-pool 0.1.5");
const OBJECTPOOL: Family = EASY_POOL.from("objectpool 0.1.0");
const MCP_POSTGRES: Family = EASY_POOL.from("mcp-postgres 5.4.0");
const ZERO_POSTGRES: Family = EASY_POOL.from("zero-postgres 0.9.0");

pub(super) fn cases() -> Vec<Case> {
    vec![
        EASY_POOL.bad(
            "pool-give-back-by-length",
            "pool-give-back-locked",
            "Keeps an object when the pool had room a moment ago: the pool grows beyond its limit.",
            || boxed(method("give_back", SegQueue::new, give_back_by_length).arguments([5])),
        ),
        EASY_POOL.good("pool-give-back-locked", "Keeps an object when the pool has room, under one lock.", || {
            boxed(briefly(method("give_back", Mutex::default, give_back_locked).arguments([5])))
        }),
        EASY_POOL.good(
            "pool-give-back-bounded",
            "Looks for room, and then pushes into a queue of the same limit, which decides.",
            || boxed(method("give_back", || ArrayQueue::new(LIMIT), give_back_bounded).arguments([5])),
        ),
        EASY_POOL.bad(
            "pool-give-back-trusting-length",
            "pool-give-back-bounded",
            "Looks for room, and panics when there is none any more.",
            || boxed(method("give_back", || ArrayQueue::new(LIMIT), give_back_trusting).arguments([5])),
        ),
        CONCURRENT_POOL.bad(
            "pool-in-use-two-reads",
            "pool-in-use-locked",
            "Subtracts how many are idle from how many there were a moment before: the difference can be below zero.",
            || boxed(briefly(from_few_states(method("in_use", pool, in_use).names(["allocated", "idle"])))),
        ),
        CONCURRENT_POOL.good("pool-in-use-locked", "Reads both numbers with both locked.", || {
            let method = method("in_use", <LockedPool>::default, in_use_locked);
            boxed(briefly(from_few_states(method.names(["allocated", "idle"]))))
        }),
        CONCURRENT_POOL.modular(
            "pool-pull",
            "pool-pull-locked",
            "Takes an idle object, or makes one while there are few: safe while objects are only made here.",
            || {
                let method = method("pull", pool, pull).names(["allocated", "idle"]);
                boxed(briefly(from_few_states(method.beside("give_back", plain(give_back_to_pool)))))
            },
        ),
        CONCURRENT_POOL.good("pool-pull-locked", "Takes an idle object, or makes one, with both locked.", || {
            let method = method("pull", <LockedPool>::default, pull_locked).names(["allocated", "idle"]);
            boxed(briefly(from_few_states(method)))
        }),
        OBJECTPOOL.bad(
            "pool-clear-by-popping",
            "pool-clear-locked",
            "Empties a pool one object at a time: meanwhile another thread gets one.",
            || boxed(method("clear", SegQueue::new, clear_by_popping)),
        ),
        OBJECTPOOL.good("pool-clear-locked", "Empties a pool under one lock.", || {
            boxed(briefly(method("clear", Mutex::default, clear_locked)))
        }),
        MCP_POSTGRES.bad(
            "pool-return-after-close",
            "pool-return-locked",
            "Returns a connection to a pool that was open a moment ago: it stays idle in a closed pool.",
            || {
                let make = || (AtomicBool::new(false), ArrayQueue::new(LIMIT));
                let method = method("give_back", make, return_unless_closed).arguments([5]);
                boxed(briefly(from_few_states(method.names(["closed", "idle"]).beside("close", plain(close)))))
            },
        ),
        MCP_POSTGRES.good("pool-return-locked", "Returns a connection while nobody can close the pool.", || {
            let make = <(Mutex<bool>, Mutex<Vec<u64>>)>::default;
            let method = method("give_back", make, return_locked).arguments([5]).names(["closed", "idle"]);
            boxed(briefly(from_few_states(method)))
        }),
        MCP_POSTGRES.good(
            "pool-slot-compare-exchange",
            "Reserves one of a number of slots by a compare-and-exchange loop.",
            || boxed(method("reserve", AtomicU64::default, reserve).values([0, 1, 2])),
        ),
        MCP_POSTGRES.bad(
            "pool-slot-load-then-add",
            "pool-slot-compare-exchange",
            "Reserves a slot when one was left a moment ago: more can be reserved than there are.",
            || boxed(method("reserve", AtomicU64::default, reserve_unchecked).values([0, 1, 2])),
        ),
        ZERO_POSTGRES.bad(
            "pool-get-skipping-dead",
            "pool-get-skipping-dead-locked",
            "Drops dead connections until it gets a live one: meanwhile another thread gets the live one.",
            || boxed(method("get", SegQueue::new, get_skipping_dead).values([DEAD, 4])),
        ),
        ZERO_POSTGRES.good(
            "pool-get-skipping-dead-locked",
            "Drops dead connections until it gets a live one, under one lock.",
            || boxed(briefly(method("get", Mutex::default, get_skipping_dead_locked).values([DEAD, 4]))),
        ),
    ]
}

/// How many objects a pool keeps.
const LIMIT: usize = 1;

// case: pool-give-back-by-length
/// Gives an object back to the pool, unless the pool is full.
///
/// easy-pool 0.2.7, `PoolObjectContainer::drop` of a `PoolSegQueue`: `len`, then `push`. Not atomic: an object that is
/// pushed between the two takes the room. The `PoolMutex` of the same crate does both under its lock. The crate does
/// not promise that the limit holds, so the harm is some memory.
fn give_back_by_length(idle: &SegQueue<u64>, object: u64) {
    if idle.len() < LIMIT {
        idle.push(object);
    }
}
// end

// case: pool-give-back-locked
/// Gives an object back to the pool, unless the pool is full.
///
/// As the `PoolMutex` of easy-pool 0.2.7 does it. Atomic: one critical section.
fn give_back_locked(idle: &Mutex<Vec<u64>>, object: u64) {
    let mut idle = idle.lock().unwrap();
    if idle.len() < LIMIT {
        idle.push(object);
    }
}
// end

// case: pool-give-back-bounded
/// Gives an object back to the pool, unless the pool is full.
///
/// easy-pool 0.2.7, `PoolObjectContainer::drop` of a `PoolArrayQueue`: `len`, then `push`, whose failure is ignored.
/// Atomic: a queue that was full would have refused the push at that moment, too; otherwise the push decides.
fn give_back_bounded(idle: &ArrayQueue<u64>, object: u64) {
    if idle.len() < LIMIT {
        let _ = idle.push(object);
    }
}
// end

// case: pool-give-back-trusting-length
/// Gives an object back to the pool, unless the pool is full.
///
/// The twin believes the length that it has seen. Not atomic: alone, it never panics.
fn give_back_trusting(idle: &ArrayQueue<u64>, object: u64) {
    if idle.len() < LIMIT {
        idle.push(object).expect("there is room");
    }
}
// end

/// The number of all objects, and the idle ones.
type Pool = (AtomicU64, ArrayQueue<u64>);

/// The same, under locks.
type LockedPool = (Mutex<u64>, Mutex<Vec<u64>>);

fn pool() -> Pool {
    (AtomicU64::new(0), ArrayQueue::new(2))
}

// case: pool-in-use-two-reads
/// How many objects are in use; `None` if the difference is below zero.
///
/// concurrent-pool 0.1.5, `Pool::in_use`: `allocated.load`, then `queue.len`, and a subtraction that can overflow. Not
/// atomic: after the load, another thread makes an object and gives it back. Two operations: the second one makes an
/// object idle that the first one has not counted. `pull` and `recycle` of the crate do these two.
fn in_use((allocated, idle): &Pool, (): ()) -> Option<u64> {
    allocated.load(Relaxed).checked_sub(idle.len() as u64)
}
// end

// case: pool-in-use-locked
/// How many objects are in use; `None` if the difference is below zero.
///
/// Atomic: both are locked.
fn in_use_locked((allocated, idle): &LockedPool, (): ()) -> Option<u64> {
    let allocated = allocated.lock().unwrap();
    allocated.checked_sub(idle.lock().unwrap().len() as u64)
}
// end

/// The most objects that are made.
const CAPACITY: u64 = 1;

/// An object: all are alike.
const OBJECT: u64 = 5;

// case: pool-pull
/// An idle object, or a new one; `None` when all are in use.
///
/// concurrent-pool 0.1.5, `Pool::pull_inner` without its optional reclamation, which lowers the number: `queue.pop`, then
/// `allocated.fetch_update`. Not atomic if anybody may change the number: an object is made idle and then counted, while
/// the method has found none idle and then finds the number at its limit. Modular: in the crate only this method raises
/// the number, and only when it has found no object idle. The method takes effect at the last moment at which none was
/// idle; until its second step the number stays the same.
fn pull((allocated, idle): &Pool, (): ()) -> Option<u64> {
    if let Some(object) = idle.pop() {
        return Some(object);
    }
    let made = allocated.fetch_update(AcqRel, Acquire, |made| (made < CAPACITY).then_some(made + 1));
    made.ok().map(|_| OBJECT)
}

/// Gives an object back.
fn give_back_to_pool((_, idle): &Pool, (): ()) {
    let _ = idle.push(OBJECT);
}
// end

// case: pool-pull-locked
/// An idle object, or a new one; `None` when all are in use.
///
/// Atomic: both are locked.
fn pull_locked((allocated, idle): &LockedPool, (): ()) -> Option<u64> {
    let mut allocated = allocated.lock().unwrap();
    if let Some(object) = idle.lock().unwrap().pop() {
        return Some(object);
    }
    if *allocated >= CAPACITY {
        return None;
    }
    *allocated += 1;
    Some(OBJECT)
}
// end

// case: pool-clear-by-popping
/// Drops all idle objects.
///
/// objectpool 0.1.0, `Pool::clear`: `pop` until there is nothing. Not atomic: between two pops another thread gets the
/// second object, and no order of the two calls explains it. For a pool this is harmless, and the crate promises no
/// more.
fn clear_by_popping(idle: &SegQueue<u64>, (): ()) {
    while idle.pop().is_some() {}
}
// end

// case: pool-clear-locked
/// Drops all idle objects.
///
/// Atomic: one critical section.
fn clear_locked(idle: &Mutex<Vec<u64>>, (): ()) {
    idle.lock().unwrap().clear();
}
// end

// case: pool-return-after-close
/// Returns a connection, which is dropped when the pool is closed.
///
/// mcp-postgres 5.4.0, `PoolInner::return_conn`: `closed.load`, then `idle.push`. Not atomic, also seen by the pool's
/// own `close`, which sets the flag and drops what is idle: a connection that is pushed after both stays. Two
/// operations: one sets the flag, and one finds nothing idle. The crate drops such a connection with the last handle of
/// the pool.
fn return_unless_closed((closed, idle): &(AtomicBool, ArrayQueue<u64>), connection: u64) {
    if !closed.load(Acquire) {
        let _ = idle.push(connection);
    }
}

/// Closes the pool.
fn close((closed, idle): &(AtomicBool, ArrayQueue<u64>), _: u64) {
    closed.store(true, Release);
    while idle.pop().is_some() {}
}
// end

// case: pool-return-locked
/// Returns a connection, which is dropped when the pool is closed.
///
/// Atomic: the flag is locked until the connection is in its place.
fn return_locked((closed, idle): &(Mutex<bool>, Mutex<Vec<u64>>), connection: u64) {
    let closed = closed.lock().unwrap();
    if !*closed {
        idle.lock().unwrap().push(connection);
    }
}
// end

/// How many connections there may be.
const SLOTS: u64 = 2;

// case: pool-slot-compare-exchange
/// Reserves a slot for a new connection; says whether one was left.
///
/// mcp-postgres 5.4.0, the second half of `LockFreePool::acquire`: `size.load`, and `size.compare_exchange_weak` until
/// it succeeds or the pool is full. Atomic: a success finds the number that was read, and a refusal needs no second
/// step.
fn reserve(size: &AtomicU64, (): ()) -> bool {
    loop {
        let seen = size.load(Acquire);
        if seen >= SLOTS {
            return false;
        }
        if size.compare_exchange_weak(seen, seen + 1, AcqRel, Relaxed).is_ok() {
            return true;
        }
    }
}
// end

// case: pool-slot-load-then-add
/// Reserves a slot for a new connection; says whether one was left.
///
/// The twin adds without comparing. Not atomic: the last slot can be reserved twice.
fn reserve_unchecked(size: &AtomicU64, (): ()) -> bool {
    if size.load(Acquire) >= SLOTS {
        return false;
    }
    size.fetch_add(1, AcqRel);
    true
}
// end

/// A connection that does not answer.
const DEAD: u64 = 1;

// case: pool-get-skipping-dead
/// An idle connection that answers; `None` when there is none.
///
/// zero-postgres 0.9.0, `Pool::get`: `conns.pop` and a ping, until a connection answers or none is left. Not atomic:
/// after a dead connection is dropped, another thread gets the live one behind it. Harmless: this caller opens a
/// connection of its own.
fn get_skipping_dead(idle: &SegQueue<u64>, (): ()) -> Option<u64> {
    loop {
        let connection = idle.pop()?;
        if connection != DEAD {
            return Some(connection);
        }
    }
}
// end

// case: pool-get-skipping-dead-locked
/// An idle connection that answers; `None` when there is none.
///
/// Atomic: one critical section.
fn get_skipping_dead_locked(idle: &Mutex<Vec<u64>>, (): ()) -> Option<u64> {
    let mut idle = idle.lock().unwrap();
    loop {
        let connection = idle.pop()?;
        if connection != DEAD {
            return Some(connection);
        }
    }
}
// end
