//! Metrics: counters beside counters, and registries of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use interloper::collections::{AtomicU64, DashMap, Mutex, RwLock, SkipMap};

use super::{TwoAtomics, TwoNumbers, method, two_atomics, two_numbers};
use crate::Case;
use crate::cases::{boxed, briefly, from_few_states};
use crate::source::Family;

const METRIKI_CORE: Family = Family::new("metriki-core 1.8.0", include_str!("metrics.rs"));
const METRICS_UTIL: Family = METRIKI_CORE.from("metrics-util 0.20.4");
const METRICS_LIB: Family = METRIKI_CORE.from("metrics-lib 2.0.0");
const STYGIAN_PROXY: Family = METRIKI_CORE.from("stygian-proxy 0.17.0");
const MINI_LSM: Family = METRIKI_CORE.from("mini-lsm 0.3.0");

pub(super) fn cases() -> Vec<Case> {
    vec![
        METRIKI_CORE.bad(
            "meter-get-then-insert",
            "meter-entry",
            "Gets the meter of a name, or inserts a new one over another's: what that one has counted is lost.",
            || boxed(method("meter", DashMap::new, meter).arguments([7]).values([NEW, 3])),
        ),
        METRIKI_CORE.good("meter-entry", "Gets the meter of a name, or a new one, inside the entry.", || {
            boxed(method("meter", DashMap::new, meter_entry).arguments([7]).values([NEW, 3]))
        }),
        METRICS_UTIL.good(
            "counter-read-then-write",
            "Looks for a counter under the read lock, and again under the write lock before it inserts one.",
            || {
                let method = method("get_or_create", RwLock::default, get_or_create).arguments([7]).keys([7]);
                boxed(briefly(method.values([NEW, 3])))
            },
        ),
        METRICS_UTIL.bad(
            "counter-read-then-overwrite",
            "counter-read-then-write",
            "Looks for a counter under the read lock, and inserts one under the write lock without a second look.",
            || {
                let method = method("get_or_create", RwLock::default, get_or_overwrite).arguments([7]).keys([7]);
                boxed(briefly(method.values([NEW, 3])))
            },
        ),
        METRICS_UTIL.bad(
            "generation-after-value",
            "generation-locked",
            "Changes a value and then its generation: for a while a new value has the old generation.",
            || {
                let method = method("increment", two_atomics, increment).arguments([2]);
                boxed(briefly(from_few_states(method.names(["value", "generation"]))))
            },
        ),
        METRICS_UTIL.good("generation-locked", "Changes a value and its generation with both locked.", || {
            let method = method("increment", two_numbers, increment_locked).arguments([2]).values([0, 1]);
            boxed(briefly(from_few_states(method.names(["value", "generation"]))))
        }),
        METRICS_UTIL.bad(
            "drain-load-then-store",
            "drain-swap",
            "Reads a count and then sets it to zero: what is counted between the two is lost.",
            || boxed(method("drain", AtomicU64::default, drain)),
        ),
        METRICS_UTIL.good("drain-swap", "Reads a count and sets it to zero in one operation.", || {
            boxed(method("drain", AtomicU64::default, drain_swap))
        }),
        METRIKI_CORE.bad(
            "average-tick",
            "average-tick-locked",
            "Takes what is uncounted, and then reads and writes the rate.",
            || {
                let method = method("tick", two_atomics, tick).names(["uncounted", "rate"]).values([0, 4]);
                boxed(briefly(from_few_states(method)))
            },
        ),
        METRIKI_CORE.good("average-tick-locked", "Takes what is uncounted into the rate with both locked.", || {
            let method = method("tick", two_numbers, tick_locked).names(["uncounted", "rate"]).values([0, 4]);
            boxed(briefly(from_few_states(method)))
        }),
        STYGIAN_PROXY.bad(
            "decay-load-then-store",
            "decay-fetch-update",
            "Halves a count by a load and a store: what is counted between the two is lost.",
            || boxed(method("decay", AtomicU64::default, decay).values([4, 9])),
        ),
        STYGIAN_PROXY.good("decay-fetch-update", "Halves a count in one operation.", || {
            boxed(method("decay", AtomicU64::default, decay_fetch_update).values([4, 9]))
        }),
        STYGIAN_PROXY.good(
            "beta-two-sections",
            "Looks for a record in one critical section, and again in a second one before it inserts one.",
            || {
                let method = method("beta", Mutex::default, beta).arguments([7]).keys([7]).values([NEW, 3]);
                boxed(briefly(method))
            },
        ),
        STYGIAN_PROXY.bad(
            "beta-two-sections-without-second-look",
            "beta-two-sections",
            "Looks for a record in one critical section, and inserts one in a second one.",
            || {
                let method = method("beta", Mutex::default, beta_overwrite).arguments([7]).keys([7]).values([NEW, 3]);
                boxed(briefly(method))
            },
        ),
        METRICS_LIB.bad(
            "refusal-counted-later",
            "refusal-counted-locked",
            "Refuses a slot and then counts the refusal, when slots are free again and the count was read.",
            || {
                let method = method("try_reserve", two_atomics, reserve).names(["used", "refused"]);
                boxed(briefly(from_few_states(method.values([0, 1]))))
            },
        ),
        METRICS_LIB.good("refusal-counted-locked", "Refuses a slot and counts the refusal with both locked.", || {
            let method = method("try_reserve", two_numbers, reserve_locked).names(["used", "refused"]);
            boxed(briefly(from_few_states(method.values([0, 1]))))
        }),
        METRICS_LIB.bad(
            "mean-two-reads",
            "mean-locked",
            "Divides a sum by a count that was read before it: an observation is in one and not in the other.",
            || {
                let method = method("mean", two_atomics, mean).names(["count", "sum"]).values([1, 2, 6]);
                boxed(briefly(from_few_states(method)))
            },
        ),
        METRICS_LIB.good("mean-locked", "Divides a sum by a count with both locked.", || {
            let method = method("mean", two_numbers, mean_locked).names(["count", "sum"]).values([1, 2, 6]);
            boxed(briefly(from_few_states(method)))
        }),
        MINI_LSM.bad(
            "put-then-size",
            "put-and-size-locked",
            "Puts an entry into a sorted map and then adds its size.",
            || {
                let make = || (SkipMap::new(), AtomicU64::new(0));
                let method = method("put", make, put).arguments([(7, 3)]).names(["entries", "size"]);
                boxed(briefly(from_few_states(method)))
            },
        ),
        MINI_LSM.good("put-and-size-locked", "Puts an entry and adds its size with both locked.", || {
            let make = <(Mutex<BTreeMap<u64, u64>>, Mutex<u64>)>::default;
            let method = method("put", make, put_locked).arguments([(7, 3)]).names(["entries", "size"]);
            boxed(briefly(from_few_states(method.keys([7]))))
        }),
    ]
}

/// What a new metric has counted.
const NEW: u64 = 0;

// case: meter-get-then-insert
/// What the meter of a name has counted; a new one if there is none.
///
/// metriki-core 1.8.0, `MetricsRegistry::do_meter`: `metrics.get`, then `metrics.insert`. Not atomic: two callers get
/// two meters, and what is counted by the first one is in no report. The crate's own methods do this to each other.
fn meter(metrics: &DashMap<u64, u64>, name: u64) -> u64 {
    if let Some(known) = metrics.get(&name) {
        return *known;
    }
    metrics.insert(name, NEW);
    NEW
}
// end

// case: meter-entry
/// What the meter of a name has counted; a new one if there is none.
///
/// Atomic: the entry is locked.
fn meter_entry(metrics: &DashMap<u64, u64>, name: u64) -> u64 {
    *metrics.entry(name).or_insert(NEW)
}
// end

// case: counter-read-then-write
/// What the counter of a name has counted; a new one if there is none.
///
/// metrics-util 0.20.4, `Registry::get_or_create_counter` within one shard: a look under `read`, then a look and an
/// insertion under `write`. Atomic: it takes effect in whichever critical section returns.
fn get_or_create(counters: &RwLock<HashMap<u64, u64>>, name: u64) -> u64 {
    if let Some(known) = counters.read().unwrap().get(&name) {
        return *known;
    }
    *counters.write().unwrap().entry(name).or_insert(NEW)
}
// end

// case: counter-read-then-overwrite
/// What the counter of a name has counted; a new one if there is none.
///
/// The twin does not look a second time. Not atomic: another's counter is replaced.
fn get_or_overwrite(counters: &RwLock<HashMap<u64, u64>>, name: u64) -> u64 {
    if let Some(known) = counters.read().unwrap().get(&name) {
        return *known;
    }
    counters.write().unwrap().insert(name, NEW);
    NEW
}
// end

// case: generation-after-value
/// Adds to a metric, which thereby gets a new generation.
///
/// metrics-util 0.20.4, `Generational::with_increment` of a counter: the change of the value, then `gen.fetch_add`. Not
/// atomic: two operations, of which one reads the new value and one the old generation. The crate takes a metric for
/// idle when its generation stays the same, so it can remove one that was changed a moment ago.
fn increment((value, generation): &TwoAtomics, amount: u64) {
    value.fetch_add(amount, Relaxed);
    generation.fetch_add(1, AcqRel);
}
// end

// case: generation-locked
/// Adds to a metric, which thereby gets a new generation.
///
/// Atomic: both are locked.
fn increment_locked((value, generation): &TwoNumbers, amount: u64) {
    let mut value = value.lock().unwrap();
    let mut generation = generation.lock().unwrap();
    *value += amount;
    *generation += 1;
}
// end

// case: drain-load-then-store
/// How many values there are; there are none afterwards.
///
/// metrics-util 0.20.4, `Reservoir::drain` and the end of its `Drain`: `count.load`, then `count.store(0)`. Not atomic:
/// a value that is pushed between the two is lost. The crate turns its pushes to another reservoir before, so only a
/// push that had already chosen this one comes between.
fn drain(count: &AtomicU64, (): ()) -> u64 {
    let drained = count.load(Relaxed);
    count.store(0, Release);
    drained
}
// end

// case: drain-swap
/// How many values there are; there are none afterwards.
///
/// Atomic: one operation.
fn drain_swap(count: &AtomicU64, (): ()) -> u64 {
    count.swap(0, AcqRel)
}
// end

// case: average-tick
/// Takes the uncounted events into a moving average.
///
/// metriki-core 1.8.0, `ExponentiallyWeightedMovingAverage::tick`: `uncounted.swap(0)`, `rate.load`, `rate.store`. Not
/// atomic: one operation changes the rate between its load and its store. In the crate one thread at a time ticks, as
/// `last_tick.compare_exchange` decides, so there only this is left: an event is counted as later than a rate that is
/// read after it.
fn tick((uncounted, rate): &TwoAtomics, (): ()) {
    let events = uncounted.swap(0, AcqRel);
    let before = rate.load(Acquire);
    rate.store((before + events) / 2, Release);
}
// end

// case: average-tick-locked
/// Takes the uncounted events into a moving average.
///
/// Atomic: both are locked.
fn tick_locked((uncounted, rate): &TwoNumbers, (): ()) {
    let mut uncounted = uncounted.lock().unwrap();
    let mut rate = rate.lock().unwrap();
    *rate = (*rate + *uncounted) / 2;
    *uncounted = 0;
}
// end

// case: decay-load-then-store
/// Makes old observations count half.
///
/// stygian-proxy 0.17.0, `ProxyBeta::decay_counters`: `load`, then `store`. Not atomic: an observation between the two
/// is lost. One thread at a time decays, as a compare-and-exchange of the time decides, but all of them observe.
fn decay(observed: &AtomicU64, (): ()) {
    let seen = observed.load(Relaxed);
    observed.store(seen / 2, Release);
}
// end

// case: decay-fetch-update
/// Makes old observations count half.
///
/// Atomic: one operation.
fn decay_fetch_update(observed: &AtomicU64, (): ()) {
    let _ = observed.fetch_update(AcqRel, Relaxed, |seen| Some(seen / 2));
}
// end

// case: beta-two-sections
/// What is known about a proxy; a new record if nothing is.
///
/// stygian-proxy 0.17.0, `ThompsonStrategy::get_or_insert`: a look under `betas.lock`, then a look and an
/// insertion under `betas.lock`. Atomic: it takes effect in whichever critical section returns.
fn beta(betas: &Mutex<HashMap<u64, u64>>, proxy: u64) -> u64 {
    if let Some(known) = betas.lock().unwrap().get(&proxy) {
        return *known;
    }
    *betas.lock().unwrap().entry(proxy).or_insert(NEW)
}
// end

// case: beta-two-sections-without-second-look
/// What is known about a proxy; a new record if nothing is.
///
/// The twin does not look a second time. Not atomic: another's record is replaced.
fn beta_overwrite(betas: &Mutex<HashMap<u64, u64>>, proxy: u64) -> u64 {
    if let Some(known) = betas.lock().unwrap().get(&proxy) {
        return *known;
    }
    betas.lock().unwrap().insert(proxy, NEW);
    NEW
}
// end

/// How many slots there are.
const SLOTS: u64 = 1;

// case: refusal-counted-later
/// Reserves a slot for a metric, or counts a refusal; says whether a slot was left.
///
/// metrics-lib 2.0.0, `Registry::try_reserve`: a bounded `used.fetch_update`, then `overflows.fetch_add`. Not atomic:
/// two operations, of which one frees a slot and one reads a count without the refusal. The count is a statistic, which
/// no decision of the crate reads.
fn reserve((used, refused): &TwoAtomics, (): ()) -> bool {
    let reserved = used.fetch_update(AcqRel, Acquire, |used| (used < SLOTS).then_some(used + 1)).is_ok();
    if !reserved {
        refused.fetch_add(1, Relaxed);
    }
    reserved
}
// end

// case: refusal-counted-locked
/// Reserves a slot for a metric, or counts a refusal; says whether a slot was left.
///
/// Atomic: both are locked.
fn reserve_locked((used, refused): &TwoNumbers, (): ()) -> bool {
    let mut used = used.lock().unwrap();
    let mut refused = refused.lock().unwrap();
    let reserved = *used < SLOTS;
    *used += u64::from(reserved);
    *refused += u64::from(!reserved);
    reserved
}
// end

// case: mean-two-reads
/// The mean of what was observed, if anything was.
///
/// metrics-lib 2.0.0, `Histogram::mean`: a load of the total, then a load of the sum. Not atomic: an observation is
/// counted after the first load and added before the second. Two operations: those two. `observe` of the crate counts
/// and adds in this order.
fn mean((count, sum): &TwoAtomics, (): ()) -> Option<u64> {
    let count = count.load(Acquire);
    sum.load(Acquire).checked_div(count)
}
// end

// case: mean-locked
/// The mean of what was observed, if anything was.
///
/// Atomic: both are locked.
fn mean_locked((count, sum): &TwoNumbers, (): ()) -> Option<u64> {
    let count = count.lock().unwrap();
    sum.lock().unwrap().checked_div(*count)
}
// end

// case: put-then-size
/// Puts an entry into a memory table.
///
/// mini-lsm 0.3.0, `MemTable::put`: `map.insert`, then `approximate_size.fetch_add`. Not atomic: two operations, of
/// which one sees the entry and one a size without it. The crate calls the size approximate, and compares it with a
/// limit.
fn put((entries, size): &(SkipMap<u64, u64>, AtomicU64), (key, value): (u64, u64)) {
    entries.insert(key, value);
    size.fetch_add(value, Relaxed);
}
// end

// case: put-and-size-locked
/// Puts an entry into a memory table.
///
/// Atomic: both are locked.
fn put_locked((entries, size): &(Mutex<BTreeMap<u64, u64>>, Mutex<u64>), (key, value): (u64, u64)) {
    let mut entries = entries.lock().unwrap();
    let mut size = size.lock().unwrap();
    entries.insert(key, value);
    *size += value;
}
// end
