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
    let dependencies = "dashmap = \"6\"\ncrossbeam = \"0.8\"\ncrossbeam-skiplist = \"0.1\"\n";
    let project = Project::plain("numbers", "0.1.0", dependencies);
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
    locked.put("src/lib.rs", locking::LOCKED);
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

const LIMITED: &str = "use dashmap::DashMap;

#[derive(Default)]
pub struct Cache {
    values: DashMap<u32, u32>,
}

impl Cache {
    pub fn put(&self, key: u32, value: u32) {
        if self.values.len() >= 100 {
            self.values.clear();
        }
        self.values.insert(key, value);
    }

    pub fn forget(&self, key: u32) -> bool {
        self.values.contains_key(&key) && self.values.remove(&key).is_some()
    }
}
";

/// No execution fills the map: what happens then is not judged. All calls of the other operation are.
#[test]
fn a_verdict_does_not_cover_calls_that_ran_in_no_execution() {
    let project = Project::plain("limited", "0.1.0", "dashmap = \"6\"\n");
    project.put("src/lib.rs", LIMITED);
    let ran = |format| project.run(&["composed", "--run", "--no-pairs", "--offline", "--format", format]).expect(0).out;
    let text = ran("text");
    let uncalled = "\ncalls that ran in no execution, which no verdict covers:\n  Cache::put: self.values.clear at src/lib.rs:11:25\n";
    assert!(text.ends_with(&format!("{uncalled}\n2 linearizable\n")), "{text}");
    let document: serde_json::Value = serde_json::from_str(&ran("json")).expect("JSON");
    let uncalled = |number: usize| &document["operations"][number]["outcome"]["uncalled"];
    assert_eq!(uncalled(0)[0]["method"], "clear");
    assert_eq!(uncalled(1), &serde_json::Value::Null);
}
