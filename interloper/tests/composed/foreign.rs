//! A method under test that uses a collection beside its subject's: it is named, since nobody else acts on it in a check.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, LazyLock};

use interloper::collections::{AtomicU64, DashMap, Mutex, SegQueue};
use interloper::{MethodUnderTest, Misuse, Report, Verdict};

type Map = DashMap<u32, u32>;

fn check(method: impl Fn(&Map, u32) -> u32 + Send + Sync + 'static) -> Result<Report, Misuse> {
    MethodUnderTest::new("method", Map::new, method).arguments([7]).check()
}

#[track_caller]
fn foreign(said: Result<Report, Misuse>, expected: &str) {
    let Err(misuse @ Misuse::ForeignCollection { .. }) = &said else { panic!("{said:?}") };
    let text = misuse.to_string();
    assert!(
        text.starts_with(&format!("the method under test uses a {expected} at interloper/tests/composed/foreign.rs:")),
        "{text}"
    );
    assert!(
        text.ends_with("create it inside the method, or use the original type if no other thread changes it"),
        "{text}"
    );
}

#[test]
fn a_collection_outside_of_the_subject_is_named() {
    static OTHER: LazyLock<Map> = LazyLock::new(Map::new);
    static LOG: SegQueue<u32> = SegQueue::new();
    // One that is changed beside the subject, and one that is used instead of it.
    foreign(check(|map, key| map.insert(key, 1).or_else(|| OTHER.insert(key, 2)).unwrap_or(0)), "map");
    foreign(check(|_, key| OTHER.get(&key).map_or(0, |found| *found)), "map");
    foreign(
        check(|map, key| {
            LOG.push(key);
            map.get(&key).map_or(0, |found| *found)
        }),
        "queue",
    );
    let count = AtomicU64::new(0);
    foreign(check(move |map, key| map.insert(key, count.fetch_add(1, SeqCst) as u32).unwrap_or(0)), "atomic");
    let names = Arc::new(Mutex::new(Vec::new()));
    let method = MethodUnderTest::new("method", Map::new, move |map: &Map, key: u32| {
        names.lock().unwrap().push(key);
        map.contains_key(&key)
    });
    foreign(method.arguments([7]).concurrent(2).check(), "mutex");
}

/// The twins: collections that the method makes, values of its subject, and the original types.
#[test]
fn what_belongs_to_the_call_or_the_subject_is_not_foreign() {
    static KNOWN: BTreeMap<u32, u32> = BTreeMap::new();
    let linearizable = |said: Result<Report, Misuse>| {
        let report = said.expect("well described");
        assert_eq!(report.verdict, Verdict::Linearizable, "{report}");
    };
    linearizable(check(|map, key| {
        let own = Map::new();
        own.insert(key, 1);
        map.insert(key, own.len() as u32).unwrap_or(0)
    }));
    linearizable(check(|map, key| map.insert(key, KNOWN.get(&key).copied().unwrap_or(1)).unwrap_or(0)));
    type Counts = DashMap<u32, Arc<Mutex<u32>>>;
    let method = MethodUnderTest::new("count", Counts::new, |counts: &Counts, key: u32| {
        let count = Arc::clone(&*counts.entry(key).or_default());
        *count.lock().unwrap() += 1;
        *count.lock().unwrap()
    });
    let said = method.arguments([7]).check();
    assert!(said.is_ok(), "{said:?}");
}
