//! `cargo interloper composed`: the list, in its three formats, and refusals.

use super::*;

const SOURCE: &str = "use dashmap::DashMap;

#[derive(Default)]
pub struct Cache {
    values: DashMap<u32, u32>,
}

impl Cache {
    /// Not atomic.
    pub fn memoize(&self, key: u32) -> u32 {
        if let Some(known) = self.values.get(&key) {
            return *known;
        }
        let value = key * 2;
        self.values.insert(key, value);
        value
    }

    pub fn memoize_entry(&self, key: u32) -> u32 {
        *self.values.entry(key).or_insert(key * 2)
    }
}
";

fn project() -> Project {
    // The dependency is not there: nothing is resolved, and nothing is built.
    let project = Project::new("[dependencies]\ndashmap = \"999\"\n");
    project.put("src/lib.rs", SOURCE);
    project
}

#[test]
fn the_list_says_what_is_called_where() {
    let project = project();
    let before = files(project.folder());
    let out = project.run(&["composed", "--offline"]).expect(0).out;
    let expected = "\
1 composed operation in 1 file with 22 lines

operation        place           pattern           calls   can it be run
────────────────────────────────────────────────────────────────────────
Cache::memoize   src/lib.rs:10   get-then-insert       2   as it is

Cache::memoize at src/lib.rs:10:12: get-then-insert
  11:42  self.values.get
  15:21  self.values.insert
  in one step: one call decides and inserts: `entry(key).or_insert_with(…)`, `get_or_insert_with`, `get_or_init`; under a \
lock, one critical section

";
    assert_eq!(out, expected);
    assert_eq!(project.run(&["composed", "--offline"]).out, out, "the same bytes each time");
    assert_eq!(files(project.folder()), before);
    let none = project.run(&["composed", "--offline", "memoize_entry"]).expect(0).out;
    assert_eq!(none, "0 composed operations in 1 file with 22 lines\n");
}

#[test]
fn json_and_sarif_have_the_same_operations() {
    let project = project();
    let read = |format: &str| -> serde_json::Value {
        let out = project.run(&["composed", "--offline", "--format", format]).expect(0).out;
        if format == "sarif" {
            super::assert_valid(&out, ".sarif");
        }
        serde_json::from_str(&out).expect("JSON")
    };
    let json = read("json");
    assert_eq!(json["version"], 1);
    let [operation] = &json["operations"].as_array().expect("a list")[..] else { panic!("one operation") };
    assert_eq!(operation["name"], "Cache::memoize");
    assert_eq!(operation["pattern"], "get-then-insert");
    assert_eq!(operation["runnable"]["run"], "as-it-is");
    assert_eq!(operation["calls"][1]["place"], serde_json::json!({ "file": "src/lib.rs", "line": 15, "column": 21 }));
    let sarif = read("sarif");
    let [result] = &sarif["runs"][0]["results"].as_array().expect("a list")[..] else { panic!("one result") };
    assert_eq!(result["ruleId"], "composed-operation");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/lib.rs");
    assert_eq!(place["region"]["startLine"], 10);
    assert_eq!(result["relatedLocations"].as_array().expect("a list").len(), 2);
}

#[test]
fn what_the_manifest_says_wrongly_is_refused() {
    let project = Project::new("[package.metadata.interloper.composed]\ncollections = { Ring = \"ring\" }\n");
    let err = project.run(&["composed", "--offline"]).expect(2).err;
    assert!(err.contains("collections.Ring` is not \"map\", \"queue\""), "{err}");
    let err = self::project().run(&["composed", "--offline", "-p", "other"]).expect(2).err;
    assert_eq!(err, "error: the workspace has no package other\n");
}

const RUN: &str = "use crossbeam::queue::{ArrayQueue, SegQueue};
use crossbeam_skiplist::SkipMap;
use dashmap::DashMap;

trait Fancy {}

#[derive(Default)]
pub struct Numbers<V> {
    numbers: DashMap<String, V>,
}

impl<V: Copy> Numbers<V> {
    pub fn of(&self, word: &str, fresh: V) -> V {
        if let Some(known) = self.numbers.get(word) {
            return *known;
        }
        self.numbers.insert(word.to_owned(), fresh);
        fresh
    }

    pub fn of_entry(&self, word: &str, fresh: V) -> V {
        if let Some(known) = self.numbers.get(word) {
            return *known;
        }
        *self.numbers.entry(word.to_owned()).or_insert(fresh)
    }

    fn strange<F: Fancy>(&self, word: &str, _fancy: F) {
        self.numbers.remove(word);
        self.numbers.remove(word); // never called: no number is fancy
    }

    fn slow(&self, word: &str, fresh: V) {
        self.numbers.remove(word);
        std::thread::sleep(std::time::Duration::from_secs(1));
        self.numbers.insert(word.to_owned(), fresh);
    }
}

#[derive(Default)]
struct Squares {
    known: DashMap<u64, u64>,
}

impl Squares {
    fn of(&self, number: u64) -> u64 {
        if !self.known.contains_key(&number) {
            self.known.insert(number, number * number);
        }
        number * number
    }

    fn peek(&self, number: u64) -> Option<u64> {
        self.known.get(&number).map(|square| *square)
    }
}

fn offer(slots: &ArrayQueue<u32>, job: u32) -> bool {
    !slots.is_full() && slots.push(job).is_ok()
}

fn offer_sure(slots: &ArrayQueue<u32>, job: u32) {
    if slots.len() < 2 {
        slots.push(job).expect(\"there is room\");
    }
}

fn finish(open: &SegQueue<u32>, done: &SegQueue<u32>) {
    if let Some(job) = open.pop() {
        done.push(job);
    }
}

fn price(prices: &SkipMap<u32, u32>, of: u32) -> u32 {
    if prices.get(&of).is_none() {
        prices.insert(of, of * 3);
    }
    of * 3
}

fn price_kept(prices: &SkipMap<u32, u32>, of: u32) -> u32 {
    match prices.get(&of) {
        Some(known) => *known.value(),
        None => *prices.get_or_insert(of, of * 3).value(),
    }
}

static ALL: std::sync::LazyLock<DashMap<u32, u32>> = std::sync::LazyLock::new(DashMap::new);

fn register(id: u32) -> bool {
    if ALL.contains_key(&id) {
        return false;
    }
    ALL.insert(id, 1).is_none()
}

fn register_entry(id: u32) -> bool {
    let mut new = false;
    if !ALL.contains_key(&id) {
        ALL.entry(id).or_insert_with(|| {
            new = true;
            1
        });
    }
    new
}
";

/// Each operation runs on the real map, in a crate that says nothing of interloper. What a compiler rejects is left out, with
/// what the compiler says; what waits is not run; a method that is broken only by what its program never does is told apart.
#[test]
fn operations_are_run_on_their_real_collections() {
    let project = Project::new("");
    project.put(
        "Cargo.toml",
        "[package]\nname = \"numbers\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\ndashmap = \"6\"\n\
         crossbeam = \"0.8\"\ncrossbeam-skiplist = \"0.1\"\n\n[profile.dev]\ndebug = false\n",
    );
    project.put("src/lib.rs", RUN);
    let before = files(project.folder());
    let ran = project.run(&["composed", "--run", "--offline"]).expect(1);
    assert_eq!(files(project.folder()), before, "no file of the project has changed");
    let rows: Vec<Vec<&str>> = ran.out.lines().skip(2).take(12).map(|line| line.split("   ").collect()).collect();
    let verdict = |name: &str| {
        let row = rows.iter().find(|row| row[0].trim() == name).unwrap_or_else(|| panic!("{name}: {}", ran.out));
        row.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).nth(3).expect("a verdict").to_owned()
    };
    assert_eq!(verdict("Numbers::of"), "not linearizable");
    assert_eq!(verdict("Numbers::of_entry"), "linearizable");
    assert_eq!(verdict("Numbers::strange"), "not run");
    assert_eq!(verdict("Numbers::slow"), "not run");
    assert_eq!(verdict("Squares::of"), "modular");
    assert_eq!(verdict("offer"), "linearizable");
    assert_eq!(verdict("offer_sure"), "not linearizable");
    assert_eq!(verdict("finish"), "not linearizable");
    assert_eq!(verdict("price"), "not linearizable");
    assert_eq!(verdict("price_kept"), "linearizable");
    assert_eq!(verdict("register"), "not linearizable");
    assert_eq!(verdict("register_entry"), "linearizable");
    let lines = [" at src/lib.rs:14:", " at src/lib.rs:17:", "No sequential order explains it:", "in one step: "];
    assert!(lines.iter().all(|line| ran.out.contains(line)), "{}", ran.out);
    assert!(ran.out.contains("  Numbers::slow: no: it waits: `std::thread::sleep`\n"), "{}", ran.out);
    assert!(ran.out.contains("  Numbers::strange: needs a harness by hand: error[E0277]"), "{}", ran.out);
    assert!(ran.out.ends_with("\n4 linearizable, 1 modular, 2 not run, 5 not linearizable\n"), "{}", ran.out);

    let chosen = project.run(&["composed", "--run", "--offline", "--format", "json", "of_entry"]).expect(0).out;
    let document: serde_json::Value = serde_json::from_str(&chosen).expect("JSON");
    assert_eq!(document["operations"][0]["outcome"]["verdict"], "linearizable");
    let page = project.folder().join("page.html");
    let sarif =
        ["composed", "--run", "--no-pairs", "--offline", "--format", "sarif", "--html", "page.html", "Numbers::of"];
    let sarif = project.run(&sarif).expect(1).out;
    assert_page(&page, &["Numbers::of", "\"swaps\":["]);
    super::assert_valid(&sarif, ".sarif");
    let sarif: serde_json::Value = serde_json::from_str(&sarif).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"].as_array().expect("a list").len(), 1);
    assert_eq!(sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 13);
    // The patch is there, too, so that a page of findings can offer it.
    let change = &sarif["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "src/lib.rs", "{sarif:#}");
    let replacement = serde_json::json!([{
        "deletedRegion": { "startLine": 14, "startColumn": 9, "endLine": 18, "endColumn": 14 },
        "insertedContent": { "text": "*self.numbers.entry(word.to_owned()).or_insert(fresh)" },
    }]);
    assert_eq!(change["replacements"], replacement, "{sarif:#}");
    let arguments = ["composed", "--run", "--no-pairs", "--offline", "--format", "junit", "Numbers::"];
    let junit = super::ran(command(project.folder(), &arguments).env("GITHUB_ACTIONS", "true")).expect(1);
    let counts = "<testsuite name=\"composed operations\" tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"2\">";
    assert!(junit.out.contains(counts), "{}", junit.out);
    super::assert_valid(&junit.out, ".xml");
    assert!(junit.out.contains("<failure message=\"Numbers::of: not linearizable\">"), "{}", junit.out);
    let lines = junit.err.lines().filter(|line| line.starts_with("::error "));
    let annotated: Vec<&str> = lines.filter_map(|line| line.split(",title=").next()).collect();
    let places = ["line=13,col=", "line=14,col=", "line=17,col="];
    assert_eq!(annotated.len(), places.len(), "{}", junit.err);
    assert!(annotated.iter().zip(places).all(|(line, place)| line.contains(place)), "{annotated:?}");
}

#[test]
fn a_list_of_operations_judges_nothing() {
    let project = project();
    let refused = project.run(&["composed", "--format", "junit"]).expect(2);
    let line = "'composed' has no form 'junit' without --run: it lists operations, and judges none\n";
    assert_eq!((refused.out.as_str(), refused.err.as_str()), ("", line));
}

const LOCKED: &str = "use std::collections::{HashMap, VecDeque};
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

/// Locks and atomics of std are collections too, in a crate without dependencies.
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

/// A map of std that crosses to a dependency is another type than there, unless the dependency is put under control, too.
#[test]
fn a_dependency_that_is_named_is_put_under_control() {
    let project = Project::new("[dependencies]\nsums = { path = \"sums\" }\n");
    project
        .put("sums/Cargo.toml", "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
    project.put(
        "sums/src/lib.rs",
        "pub fn sum(of: &std::collections::HashMap<u32, u32>) -> u32 {\n    of.values().sum()\n}\n",
    );
    project.put(
        "src/lib.rs",
        "use std::collections::HashMap;
use std::sync::Mutex;

#[derive(Default)]
pub struct Counts {
    counts: Mutex<HashMap<u32, u32>>,
}

impl Counts {
    pub fn count(&self, of: u32) -> u32 {
        *self.counts.lock().unwrap().entry(of).or_insert(0) += 1;
        sums::sum(&self.counts.lock().unwrap())
    }
}
",
    );
    let asked = ["composed", "--run", "--offline", "--no-pairs", "--no-fixes"];
    let without = project.run(&asked).expect(2).err;
    assert!(without.contains("mismatched types"), "{without}");
    let with = project.run(&[&asked[..], &["--instrument", "sums"]].concat()).expect(1).out;
    assert!(with.contains("Counts::count") && with.contains("1 not linearizable"), "{with}");
}

/// dashmap has locks of the real parking_lot under control, which the mirror of parking_lot then is; without dashmap it is not. What was
/// built for one project stays for its next run.
#[test]
fn projects_that_share_a_folder_keep_their_builds() {
    let locked = Project::new("");
    locked.put("src/lib.rs", LOCKED);
    let mapped = Project::new("[dependencies]\ndashmap = \"6\"\n");
    mapped.put("src/lib.rs", SOURCE);
    let run =
        |project: &Project, code| project.run(&["composed", "--run", "--offline", "--no-fixes", "e"]).expect(code);
    let (locked, mapped) = alone(|| {
        run(&locked, 1);
        run(&mapped, 0);
        (run(&locked, 1), run(&mapped, 0))
    });
    assert_eq!((locked.compiled(), mapped.compiled()), (0, 0));
}
