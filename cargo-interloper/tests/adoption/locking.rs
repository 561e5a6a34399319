//! `cargo interloper composed` in a crate without dependencies: locks and atomics of std are collections, too.

use super::*;

pub const LOCKED: &str = "use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// An alias that harnesses must not take for std's.
pub type Result<T> = std::result::Result<T, String>;

#[derive(Default)]
struct Squares {
    known: RwLock<HashMap<u32, u32>>,
    file: Mutex<Option<std::fs::File>>,
}

impl Squares {
    fn of(&self, number: u32) -> u32 {
        if let Some(known) = self.known.read().unwrap().get(&number) {
            return *known;
        }
        self.known.write().unwrap().insert(number, number * 2);
        number * 2
    }

    fn of_entry(&self, number: u32) -> u32 {
        if let Some(known) = self.known.read().unwrap().get(&number) {
            return *known;
        }
        *self.known.write().unwrap().entry(number).or_insert(number * 2)
    }
}

#[derive(Clone, Copy)]
enum Weight {
    Light,
    Heavy { by: u64 },
}

/// Its form is what Debug says.
#[derive(Debug)]
struct Totals {
    sum: u64,
    count: u64,
}

struct Stats {
    sum: AtomicU64,
    count: AtomicU64,
}

impl Stats {
    fn with_window(_window: Duration) -> Arc<Stats> {
        Arc::new(Stats { sum: AtomicU64::new(0), count: AtomicU64::new(0) })
    }

    fn record(&self, weight: Weight) {
        let by = match weight {
            Weight::Light => 1,
            Weight::Heavy { by } => by,
        };
        self.sum.fetch_add(by, Ordering::SeqCst);
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    fn totals(self: &Arc<Self>) -> Totals {
        Totals { sum: self.sum.load(Ordering::SeqCst), count: self.count.load(Ordering::SeqCst) }
    }

    fn bump(&self) -> u64 {
        self.sum.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |sum| Some(sum.wrapping_add(1))).unwrap()
    }

    fn bump_twice_read(&self) -> u64 {
        let sum = self.sum.load(Ordering::SeqCst);
        self.sum.store(sum.wrapping_add(1), Ordering::SeqCst);
        sum
    }

    fn slow(&self) -> Result<u64> {
        self.sum.load(Ordering::SeqCst);
        std::thread::sleep(Duration::from_secs(1));
        Ok(self.sum.load(Ordering::SeqCst))
    }
}

#[derive(Default)]
struct Jobs {
    queue: Mutex<VecDeque<u32>>,
    closed: AtomicBool,
}

impl Jobs {
    fn push(&self, job: u32) -> bool {
        if self.closed.load(Ordering::SeqCst) {
            return false;
        }
        self.queue.lock().unwrap().push_back(job);
        true
    }

    fn close(&self) -> Vec<u32> {
        self.closed.store(true, Ordering::SeqCst);
        self.queue.lock().unwrap().drain(..).collect()
    }
}

struct Window {
    slots: u8,
}

impl Window {
    fn of(slots: u8) -> Window {
        Window { slots }
    }
}

/// Made of something that is made, with a clock, and with a list that the environment leaves alone.
struct Hits {
    all: AtomicU64,
    logs: Vec<Mutex<Option<std::fs::File>>>,
    begin: Instant,
}

impl Hits {
    fn new(window: Window) -> Hits {
        let logs = (0..window.slots).map(|_| Mutex::new(None)).collect();
        Hits { all: AtomicU64::new(0), logs, begin: Instant::now() }
    }

    fn now(&self) -> u128 {
        (SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + self.begin.elapsed()).as_nanos()
    }

    fn hit(&self) -> u128 {
        let mut all = self.all.load(Ordering::SeqCst);
        while let Err(now) = self.all.compare_exchange(all, all.wrapping_add(1), Ordering::SeqCst, Ordering::SeqCst) {
            all = now;
        }
        drop(self.logs[0].lock());
        self.now()
    }

    fn hit_lost(&self) -> u128 {
        let all = self.all.load(Ordering::SeqCst);
        self.all.store(all.wrapping_add(1), Ordering::SeqCst);
        drop(self.logs[0].lock());
        self.now()
    }
}

struct Sharded {
    shards: Vec<AtomicU64>,
}

impl Sharded {
    fn with_shards(shards: usize) -> Sharded {
        Sharded { shards: (0..shards).map(|_| AtomicU64::new(0)).collect() }
    }

    fn add(&self) {
        let mut sum = self.shards[0].load(Ordering::SeqCst);
        while let Err(now) =
            self.shards[0].compare_exchange(sum, sum.wrapping_add(1), Ordering::SeqCst, Ordering::SeqCst)
        {
            sum = now;
        }
    }

    fn add_lost(&self) {
        let sum = self.shards[0].load(Ordering::SeqCst);
        self.shards[0].store(sum.wrapping_add(1), Ordering::SeqCst);
    }
}

struct Slots {
    slots: Vec<AtomicU64>,
}

impl Slots {
    fn new(slots: usize) -> Slots {
        Slots { slots: (0..slots).map(|_| AtomicU64::new(0)).collect() }
    }

    fn add(&self, at: usize) -> Option<u64> {
        let slot = self.slots.get(at)?;
        let mut sum = slot.load(Ordering::SeqCst);
        while let Err(now) = slot.compare_exchange(sum, sum.wrapping_add(1), Ordering::SeqCst, Ordering::SeqCst) {
            sum = now;
        }
        Some(sum)
    }

    /// Panics beyond the last slot.
    fn add_lost(&self, at: usize) {
        let sum = self.slots[at].load(Ordering::SeqCst);
        self.slots[at].store(sum.wrapping_add(1), Ordering::SeqCst);
    }
}

static NEXT: AtomicU64 = AtomicU64::new(0);

fn next() -> u64 {
    let now = NEXT.load(Ordering::SeqCst);
    NEXT.store(now + 1, Ordering::SeqCst);
    now
}
";

/// `--write` puts the operations into the tree as tests, which pass, and which fail once an operation is mended.
fn written_tests_expect_what_was_found(project: &Project) {
    let asked = ["composed", "--run", "--offline", "--write", "tests"];
    let outside = project.run(&["composed", "--run", "--offline", "--write", "../tests"]).expect(2).err;
    assert!(outside.contains("and ../tests is not one"), "{outside}");
    let written = project.run(&asked).expect(1).err;
    assert!(written.contains("21 tests were written; `cargo interloper test` runs them\n"), "{written}");
    assert!(
        written.contains("first let `cargo interloper init --features composed` write what tests under control need\n"),
        "{written}"
    );
    let module = fs::read_to_string(project.folder().join("tests/composed/src_lib.rs")).expect("a module");
    for part in [
        "/// `Squares::of` at src/lib.rs:",
        "fn squares_of_is_not_linearizable() {",
        "fn stats_totals_is_not_linearizable_by_its_own_methods() {",
        "fn squares_of_entry_is_linearizable() {",
    ] {
        assert!(module.contains(part), "{part}\n{module}");
    }
    let source = || fs::read_to_string(project.folder().join("src/lib.rs")).expect("a source");
    assert!(
        source().ends_with("\n#[path = \"../tests/composed/src_lib.rs\"]\nmod interloper_composed;\n"),
        "{}",
        source()
    );
    let again = project.run(&asked).expect(2).err;
    assert!(again.contains("tests/composed/src_lib.rs is there already: remove it"), "{again}");
    assert_eq!(source().matches("mod interloper_composed;").count(), 1);

    project.run(&["init", "--features", "composed"]).expect(0);
    let passed = project.run(&["test", "--offline"]).expect(0).out;
    assert!(passed.contains("test result: ok. 21 passed"), "{passed}");
    let mended = source().replace(
        "NEXT.load(Ordering::SeqCst);\n    NEXT.store(now + 1, Ordering::SeqCst);\n    now",
        "NEXT.fetch_add(1, Ordering::SeqCst);\n    now",
    );
    project.put("src/lib.rs", &mended);
    let failed = project.run(&["test", "--offline", "next_is"]).expect(1).out;
    assert!(failed.contains("expected not linearizable, found linearizable"), "{failed}");
}

#[test]
fn operations_on_locks_and_atomics_are_run() {
    let project = Project::new("");
    project.put("src/lib.rs", LOCKED);
    let ran = project.run(&["composed", "--run", "--offline", "--format", "json", "--progress", "json"]).expect(1);
    let events = super::events(&ran.err);
    let found: Vec<_> = events.iter().filter(|event| event["event"] == "finding").collect();
    assert!(!found.is_empty() && found.iter().all(|found| found["verdict"] == "not linearizable"), "{events:?}");
    assert!(events.iter().any(|event| event["event"] == "finished" && event["what"] == "operation"), "{events:?}");
    let document: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let outcome = |name: &str| {
        let all = document["operations"].as_array().expect("a list");
        let one = all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {}", ran.out));
        one["outcome"].clone()
    };
    let verdict = |name: &str| outcome(name)["verdict"].as_str().expect("a word").to_owned();
    assert_eq!(verdict("Squares::of"), "not-linearizable", "{}", ran.out);
    assert_eq!(verdict("Squares::of_entry"), "linearizable");
    assert_eq!(verdict("Stats::record"), "not-linearizable");
    assert_eq!(verdict("Stats::totals"), "not-linearizable");
    assert_eq!(verdict("Stats::bump_twice_read"), "not-linearizable");
    assert_eq!(verdict("Stats::slow"), "not-run");
    assert_eq!(verdict("Jobs::push"), "not-linearizable");
    assert_eq!(verdict("Jobs::close"), "not-linearizable");
    assert_eq!(verdict("next"), "not-linearizable");
    // The clocks stand still, and a list of files is left alone.
    assert_eq!(verdict("Hits::hit"), "linearizable", "{}", ran.out);
    assert_eq!(verdict("Hits::hit_lost"), "not-linearizable");
    assert_eq!(outcome("Hits::hit")["unknown"], "the environment cannot act on Hits.logs");
    assert_eq!(verdict("Sharded::add"), "linearizable");
    assert_eq!(verdict("Sharded::add_lost"), "not-linearizable");
    // Seven slots have no slot 7. With a low number there is something to explore.
    assert_eq!(verdict("Slots::add"), "linearizable", "{}", outcome("Slots::add"));
    assert_eq!(verdict("Slots::add_lost"), "not-linearizable", "{}", outcome("Slots::add_lost"));
    assert_eq!(["Slots::add_lost", "Sharded::add_lost"].map(|name| outcome(name)["low"] == true), [true, false]);
    assert!(outcome("Stats::totals")["report"].as_str().expect("a report").contains("Totals { sum: "));
    // `Stats::slow` waits, so it is not known what else happens; what its other methods do by themselves is.
    assert_eq!(outcome("Stats::totals")["unknown"], "slow cannot be run beside it");
    assert_eq!(outcome("Stats::totals")["own"], "not-linearizable");
    // The file is behind a lock that the environment cannot act on.
    assert_eq!(outcome("Squares::of")["unknown"], "the environment cannot act on Squares.file");
    assert_eq!(outcome("Squares::of")["own"], serde_json::Value::Null);

    // In parts, which are joined.
    let asked = ["composed", "--run", "--offline", "Squares::"];
    for number in ["1", "2"] {
        let part = project.run(&[&asked[..], &["--shard", &format!("{number}/2")]].concat()).expect(0).out;
        project.put(&format!("part-{number}.json"), &part);
    }
    let merged = project.run(&["merge", "part-2.json", "part-1.json", "part-2.json"]).expect(1).out;
    assert_eq!(merged, project.run(&asked).expect(1).out, "what one machine prints");
    assert!(
        merged.contains("Squares::of_entry") && merged.contains("\n1 linearizable, 1 not linearizable\n"),
        "{merged}"
    );
    let missing = project.run(&["merge", "part-1.json"]).expect(2).err;
    assert!(missing.contains("error: shard 2 of 2 is missing"), "{missing}");
    written_tests_expect_what_was_found(&project);
}
