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
