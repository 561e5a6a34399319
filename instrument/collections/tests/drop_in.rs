//! The wrappers stand where the originals stood: in statics, across threads, in signatures.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use interloper_collections::dashmap::{DashMap, Entry, Ref, RefMut};
use interloper_collections::{
    ArrayQueue, AtomicBool, AtomicUsize, Mutex, OnceLock, RwLock, SegQueue, Shared, SkipMap, SkipSet,
};
use interloper_commutativity::models::MapModel;

static HITS: AtomicUsize = AtomicUsize::new(0);
static MISSES: AtomicUsize = AtomicUsize::counter(0);
static READY: AtomicBool = AtomicBool::new(false);
static JOBS: SegQueue<u32> = SegQueue::new();
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());
static TABLE: RwLock<BTreeMap<u32, u32>> = RwLock::new(BTreeMap::new());
static CONFIGURATION: OnceLock<String> = OnceLock::new();

#[test]
fn in_statics_and_across_threads() {
    let map: Arc<DashMap<String, u32>> = Arc::new(DashMap::new());
    let sorted: Arc<SkipMap<u32, u32>> = Arc::new(SkipMap::new());
    thread::scope(|scope| {
        for number in 0..4 {
            let (map, sorted) = (Arc::clone(&map), Arc::clone(&sorted));
            scope.spawn(move || {
                HITS.fetch_add(1, Ordering::Relaxed);
                MISSES.fetch_max(number as usize, Ordering::Relaxed);
                READY.store(true, Ordering::Release);
                JOBS.push(number);
                LOG.lock().unwrap().push(format!("{number}"));
                *TABLE.write().unwrap().entry(number).or_default() += 1;
                CONFIGURATION.get_or_init(|| "made".to_owned());
                *map.entry("sum".to_owned()).or_insert(0) += number;
                sorted.insert(number, number * 2);
            });
        }
    });
    assert_eq!((HITS.load(Ordering::Relaxed), MISSES.load(Ordering::Relaxed)), (4, 3));
    assert!(READY.load(Ordering::Acquire));
    assert_eq!((JOBS.len(), LOG.lock().unwrap().len(), TABLE.read().unwrap().len()), (4, 4, 4));
    assert_eq!(CONFIGURATION.get().map(String::as_str), Some("made"));
    assert_eq!(map.get("sum").map(|sum| *sum), Some(6));
    assert_eq!(sorted.range(1..=2).map(|entry| *entry.value()).collect::<Vec<_>>(), [2, 4]);
}

fn longest<'a>(map: &'a DashMap<u32, String>, one: u32, other: u32) -> Option<Ref<'a, u32, String>> {
    let (one, other) = (map.get(&one)?, map.get(&other)?);
    if one.len() >= other.len() { Some(one) } else { Some(other) }
}

fn slot(map: &DashMap<u32, String>, key: u32) -> RefMut<'_, u32, String> {
    match map.entry(key) {
        Entry::Occupied(entry) => entry.into_ref(),
        Entry::Vacant(entry) => entry.insert(String::new()),
    }
}

#[test]
fn in_signatures() {
    let map: DashMap<u32, String> = [(1, "a".to_owned()), (2, "bb".to_owned())].into_iter().collect();
    slot(&map, 3).push('c');
    assert_eq!(longest(&map, 1, 2).as_deref().map(String::as_str), Some("bb"));
    assert_eq!(map.get(&3).map(|found| found.clone()), Some("c".to_owned()));
    let mut lengths: Vec<usize> = (&map).into_iter().map(|entry| entry.value().len()).collect();
    lengths.sort();
    assert_eq!(lengths, [1, 1, 2]);
    let all: HashMap<u32, String> = map.into_iter().collect();
    assert_eq!(all.len(), 3);
}

#[test]
fn the_same_auto_traits() {
    fn shared<T: Send + Sync>() {}
    shared::<DashMap<u32, String>>();
    shared::<Ref<'_, u32, String>>();
    shared::<RefMut<'_, u32, String>>();
    shared::<SkipMap<u32, String>>();
    shared::<SkipSet<String>>();
    shared::<SegQueue<String>>();
    shared::<ArrayQueue<String>>();
    shared::<Mutex<Vec<String>>>();
    shared::<RwLock<Vec<String>>>();
    shared::<OnceLock<String>>();
    shared::<AtomicUsize>();
    shared::<Shared<MapModel>>();
}
