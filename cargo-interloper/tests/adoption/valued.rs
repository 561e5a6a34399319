//! `cargo interloper composed --run` on collections of structs and enums of the crate, and in locks of parking_lot.

use super::*;

const SOURCE: &str = "use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

mod kinds;

use kinds::Kind;

#[derive(Clone, Debug)]
struct Entry<V> {
    value: V,
    expires: Option<Duration>,
}

pub struct Cache<V> {
    map: RwLock<HashMap<String, Entry<V>>>,
}

impl<V: Clone> Cache<V> {
    pub fn new() -> Self {
        Cache { map: RwLock::new(HashMap::new()) }
    }

    pub fn put_if_absent(&self, key: &str, value: V) -> bool {
        if self.map.read().unwrap().contains_key(key) {
            return false;
        }
        self.map.write().unwrap().insert(key.to_owned(), Entry { value, expires: None });
        true
    }

    pub fn put_if_absent_sure(&self, key: &str, value: V) -> bool {
        if self.map.read().unwrap().contains_key(key) {
            return false;
        }
        let mut map = self.map.write().unwrap();
        let absent = !map.contains_key(key);
        map.entry(key.to_owned()).or_insert(Entry { value, expires: None });
        absent
    }
}

/// Nobody clones it.
struct Window {
    begin: Instant,
    hits: u32,
    recent: Vec<u8>,
}

pub struct Hits {
    window: Mutex<Window>,
}

impl Hits {
    pub fn new() -> Self {
        Hits { window: Mutex::new(Window { begin: Instant::now(), hits: 0, recent: Vec::new() }) }
    }

    pub fn hit_lost(&self) -> u32 {
        let hits = self.window.lock().unwrap().hits;
        let mut window = self.window.lock().unwrap();
        window.hits = hits.wrapping_add(1);
        window.hits
    }
}

pub struct Kinds {
    of: Mutex<HashMap<u64, Arc<Kind>>>,
    last: Mutex<Option<Kind>>,
}

impl Kinds {
    pub fn new() -> Self {
        Kinds { of: Mutex::new(HashMap::new()), last: Mutex::new(None) }
    }

    pub fn of(&self, id: u64) -> Arc<Kind> {
        if let Some(known) = self.of.lock().unwrap().get(&id) {
            return Arc::clone(known);
        }
        let kind = Arc::new(Kind::Nothing);
        self.of.lock().unwrap().insert(id, Arc::clone(&kind));
        kind
    }
}

/// Nobody knows how to make one.
struct Opaque {
    hits: std::sync::atomic::AtomicU64,
}

pub struct Counters {
    all: Mutex<HashMap<String, Arc<Opaque>>>,
}

impl Counters {
    pub fn new() -> Self {
        Counters { all: Mutex::new(HashMap::new()) }
    }

    pub fn add(&self, key: &str) -> bool {
        if self.all.lock().unwrap().contains_key(key) {
            return false;
        }
        self.all.lock().unwrap().insert(key.to_owned(), Arc::new(Opaque { hits: Default::default() }));
        true
    }
}
";

const KINDS: &str = "pub enum Kind {
    Nothing,
    One(u8, Inner),
    Named { name: String, weight: f64 },
}

pub struct Inner(bool);
";

/// What the table says of an operation.
fn verdict(out: &str, name: &str) -> String {
    let row = out.lines().find(|line| line.starts_with(&format!("{name}  "))).unwrap_or_else(|| panic!("{out}"));
    row.split("   ").map(str::trim).filter(|cell| !cell.is_empty()).nth(3).expect("a verdict").to_owned()
}

/// The values are those of the crate, whose private fields are in other modules. What cannot be made is named. Two runs say the same,
/// although a value has an instant in it; the tests that are written expect the same again.
#[test]
fn values_of_the_crate_are_made() {
    let project = Project::new("");
    project.put(
        "Cargo.toml",
        "[package]\nname = \"valued\"\nversion = \"0.1.0\"\nedition = \"2018\"\n\n[profile.dev]\ndebug = false\n",
    );
    project.put("src/lib.rs", SOURCE);
    project.put("src/kinds.rs", KINDS);
    let asked = ["composed", "--run", "--no-fixes", "--offline", "--bound", "2"];
    let ran = project.run(&asked).expect(1);
    let verdict = |name: &str| verdict(&ran.out, name);
    assert_eq!(verdict("Cache::put_if_absent"), "not linearizable");
    assert_eq!(verdict("Cache::put_if_absent_sure"), "linearizable");
    assert_eq!(verdict("Hits::hit_lost"), "not linearizable");
    assert_eq!(verdict("Kinds::of"), "not linearizable");
    assert_eq!(verdict("Counters::add"), "not run");
    let missing =
        "Counters::add: needs values of std::sync::atomic::AtomicU64 that the environment can make, in Counters\n";
    assert!(ran.out.contains(missing), "{}", ran.out);
    // The execution shows the values.
    let shown = ["Entry(7, none)", "Window(instant(0), 1, [])", "Nothing"];
    assert!(shown.iter().all(|value| ran.out.contains(value)), "{}", ran.out);
    assert_eq!(project.run(&asked).expect(1).out, ran.out, "the same bytes each time");

    let written = project.run(&[&asked[..], &["--write", "tests"]].concat()).expect(1).err;
    assert!(written.contains("tests were written; `cargo interloper test` runs them\n"), "{written}");
    let module = fs::read_to_string(project.folder().join("tests/composed/src_kinds.rs")).expect("a module");
    assert!(module.contains("interloper::datum! { [] Inner: Inner { 0: part0 } }"), "{module}");
    project.run(&["init", "--features", "composed"]).expect(0);
    let passed = project.run(&["test", "--offline"]).expect(0).out;
    assert!(passed.contains("test result: ok. "), "{passed}");
}

const PARKED: &str = "use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock, RwLockUpgradableReadGuard};

#[derive(Default)]
pub struct Registry {
    tags: RwLock<HashMap<String, HashSet<String>>>,
}

impl Registry {
    pub fn register(&self, key: &str, tag: &str) -> bool {
        if self.tags.read().contains_key(key) {
            return false;
        }
        self.tags.write().entry(key.to_owned()).or_default().insert(tag.to_owned())
    }

    /// A reader may act between: it changes nothing.
    pub fn ensure(&self, key: &str) -> bool {
        if self.tags.read().is_empty() && key.is_empty() {
            return false;
        }
        let tags = self.tags.upgradable_read();
        if tags.contains_key(key) {
            return false;
        }
        let mut tags = RwLockUpgradableReadGuard::upgrade(tags);
        tags.insert(key.to_owned(), HashSet::new()).is_none()
    }
}

pub struct Order {
    order: Arc<Mutex<Vec<u8>>>,
}

impl Order {
    pub fn new() -> Self {
        Order { order: Arc::new(Mutex::new(Vec::new())) }
    }

    pub fn add(&self) -> usize {
        self.order.lock().push(1);
        self.order.lock().len()
    }
}
";

/// The locks of parking_lot are acted on as those of std are.
#[test]
fn locks_of_parking_lot_are_run() {
    let project = Project::plain("parked", "0.1.0", "parking_lot = \"0.12\"\n");
    project.put("src/lib.rs", PARKED);
    let ran = project.run(&["composed", "--run", "--no-fixes", "--offline", "--bound", "2", "--time", "60"]).expect(1);
    let verdict = |name: &str| verdict(&ran.out, name);
    assert_eq!(verdict("Registry::register"), "not linearizable");
    assert_eq!(verdict("Registry::ensure"), "linearizable");
    assert_eq!(verdict("Order::add"), "not linearizable");
    let shown = ["tags.insert(\"k\"", "  write   ", "unlock", "order.push(2)"];
    assert!(shown.iter().all(|part| ran.out.contains(part)), "{}", ran.out);
}
