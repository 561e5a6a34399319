//! `cargo interloper composed --run`: the methods of a type, two at once.

use super::*;

const SOURCE: &str = "use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crossbeam::queue::SegQueue;
use dashmap::DashMap;

/// A map and the number of its entries.
#[derive(Default)]
pub struct Stock {
    items: DashMap<u32, u32>,
    number: AtomicU64,
    log: Mutex<Option<std::fs::File>>,
}

impl Stock {
    pub fn add(&self, id: u32) -> bool {
        let is_new = self.items.insert(id, 1).is_none();
        if is_new {
            self.number.fetch_add(1, SeqCst);
        }
        is_new
    }

    pub fn remove(&self, id: u32) -> bool {
        let was = self.items.remove(&id).is_some();
        if was {
            self.number.fetch_sub(1, SeqCst);
        }
        was
    }

    pub fn both(&self) -> (usize, u64) {
        (self.items.len(), self.number.load(SeqCst))
    }

    pub fn say(&self) {
        self.log.lock().unwrap().take();
        self.items.len();
    }
}

/// Entries with the order in which they came.
#[derive(Default)]
pub struct Recent {
    values: DashMap<u32, u32>,
    order: SegQueue<u32>,
}

impl Recent {
    pub fn put(&self, key: u32) {
        self.order.push(key);
        self.values.insert(key, 1);
    }

    pub fn evict(&self) -> Option<u32> {
        let oldest = self.order.pop()?;
        self.values.remove(&oldest).map(|(_, value)| value)
    }
}

/// A number that nothing can read but the invariant.
#[derive(Default)]
pub struct Marks {
    seen: DashMap<u32, u32>,
    marks: Hidden,
}

#[derive(Default)]
pub struct Hidden(std::cell::UnsafeCell<u32>);

unsafe impl Sync for Hidden {}

impl Marks {
    pub fn mark(&self, id: u32) {
        if !self.seen.contains_key(&id) {
            self.seen.insert(id, 1);
            unsafe { *self.marks.0.get() += 1 };
        }
    }

    #[cfg_attr(interloper, interloper::invariant)]
    fn agree(&self) -> bool {
        unsafe { *self.marks.0.get() as usize == self.seen.len() }
    }
}
";

/// A map and its counter, a map and its queue, and an invariant over what nothing else can read: no
/// specification is given, and nothing in the crate says anything of interloper but the mark of the invariant.
#[test]
fn methods_of_a_type_are_run_two_at_once() {
    let dependencies = "dashmap = \"6\"\ncrossbeam = \"0.8\"\n\n[lints.rust]\nunexpected_cfgs = \"allow\"\n";
    let project = Project::plain("stock", "0.1.0", dependencies);
    project.put("src/lib.rs", SOURCE);
    let before = files(project.folder());
    let ran = project.run(&["composed", "--run", "--offline", "--format", "json"]).expect(1).out;
    assert_eq!(files(project.folder()), before, "no file of the project has changed");
    let document: serde_json::Value = serde_json::from_str(&ran).expect("JSON");
    let types = document["types"].as_array().expect("types");
    let names: Vec<&str> = types.iter().map(|one| one["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["Stock", "Recent", "Marks"]);
    let pairs = |number: usize| -> Vec<String> {
        let pairs = types[number]["pairs"].as_array().expect("pairs").iter();
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        pairs
            .map(|pair| {
                format!("{}/{} {}", text(&pair["methods"][0]), text(&pair["methods"][1]), text(&pair["verdict"]))
            })
            .collect()
    };
    let stock = [
        "add/add atomic",
        "add/remove atomic",
        "add/both not-atomic",
        "remove/remove atomic",
        "remove/both not-atomic",
    ];
    assert_eq!(pairs(0), stock);
    assert_eq!(types[0]["not_compared"], serde_json::json!(["Stock.log"]));
    assert_eq!(types[0]["left_out"][0]["method"], "say");
    assert_eq!(pairs(1), ["put/put atomic", "put/evict not-atomic", "evict/evict atomic"]);
    assert_eq!(pairs(2), ["mark/mark invariant-broken"]);
    assert_eq!(types[2]["invariants"], serde_json::json!(["agree"]));
    assert_eq!(types[2]["not_compared"], serde_json::json!(["Marks.marks"]));
    let found = &types[0]["pairs"][2];
    assert_eq!(found["schema"], "{ add(7) } || { both() }");
    let report = found["report"].as_str().expect("a report");
    let lines =
        ["src/lib.rs:19:", "src/lib.rs:33:", "both(), add(7)      both() returns (0, 0)", "both() returns (1, 1)"];
    assert!(lines.iter().all(|line| report.contains(line)), "{report}");

    let text = project.run(&["composed", "--run", "--offline", "Recent", "--html", "page.html"]).expect(1).out;
    let line = "  put and evict: not atomic together: { put(7) } || { evict() }, which `put` shows by itself above\n";
    assert!(text.contains("two methods of a type at once\n") && text.contains(line), "{text}");
    assert!(!text.contains("Stock"), "{text}");
    let single = project.run(&["composed", "--run", "--no-pairs", "--offline", "Recent"]).expect(1).out;
    assert!(!single.contains("two methods"), "{single}");
    let sarif = project.run(&["composed", "--run", "--offline", "--format", "sarif", "Marks"]).expect(1).out;
    assert!(sarif.contains("methods-not-atomic-together") && sarif.contains("an invariant is broken"), "{sarif}");
    let junit = project.run(&["composed", "--run", "--offline", "--format", "junit", "Recent"]).expect(1).out;
    assert!(junit.contains("<testsuite name=\"two methods of a type at once\" tests=\"3\" failures=\"1\""), "{junit}");

    written_pairs_expect_what_was_found(&project, found["replay"].as_str().expect("an execution"));
}

/// `--write` puts each type into the tree as a test, which expects the pairs with a violation, and makes one execution again.
fn written_pairs_expect_what_was_found(project: &Project, replay: &str) {
    project.run(&["composed", "--run", "--offline", "--write", "tests", "Stock"]).expect(1);
    let path = project.folder().join("tests/composed/src_lib.rs");
    let module = fs::read_to_string(&path).expect("a module");
    let expects = ".assert_violations([[\"add\", \"both\"], [\"remove\", \"both\"]]);";
    assert!(module.contains("fn stock_has_its_methods_run_two_at_once() {") && module.contains(expects), "{module}");
    project.run(&["init", "--features", "composed"]).expect(0);
    let asked = ["test", "--offline", "--instrument", "dashmap", "two_at_once"];
    let passed = project.run(&asked).expect(0).out;
    assert!(passed.contains("test result: ok. 1 passed"), "{passed}");
    let replayed =
        module.replace(expects, &format!(".replay(\"add\", \"both\", {replay:?})\n        .assert_violations([]);"));
    fs::write(&path, replayed).expect("a module");
    let failed = project.run(&asked).expect(1).out;
    assert!(failed.contains("Stock: add and both") && failed.contains("execution 1"), "{failed}");
}
