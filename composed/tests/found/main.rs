//! What is found in small sources: each operation beside its twin that is not one. The sources are read and never compiled, so
//! their bodies may be `todo!()`.

mod recipes;
mod values;

use std::fs;

use interloper_composed::{Family, Found, Options, Package, Runnable, scan};

/// What a crate of one file has.
fn scanned(source: &str, options: Options) -> Found {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("lib.rs");
    fs::write(&root, source).expect("a file");
    let package = Package { name: "small".to_owned(), crates: vec![("small".to_owned(), root)] };
    scan(&[package], &Options { base: folder.path().to_owned(), ..options })
}

fn found(source: &str) -> Found {
    scanned(source, Options::default())
}

/// Name, pattern and calls of each operation.
fn operations(found: &Found) -> Vec<String> {
    let line = |one: &interloper_composed::Operation| {
        let calls: Vec<String> = one.calls.iter().map(|call| format!("{}.{}", call.collection, call.short())).collect();
        format!("{} {}: {}", one.name, one.pattern, calls.join("; "))
    };
    found.operations.iter().map(line).collect()
}

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(operations(&found(source)), expected);
}

/// Whoever settles a cell again gets what is there. Two cells, or a look and a settling, are two steps.
#[test]
fn one_cell_that_is_settled_again_and_again_is_no_operation() {
    let on = |calls: &str| {
        let source = format!(
            "use std::sync::OnceLock; struct S {{ a: OnceLock<u32>, b: OnceLock<u32> }} impl S {{ fn f(&self) {{ {calls} }} }}"
        );
        operations(&found(&source)).len()
    };
    assert_eq!(on("self.a.get_or_init(|| 1); self.a.get_or_init(|| 2);"), 0);
    assert_eq!(on("self.a.get_or_init(|| 1); self.b.get_or_init(|| 2);"), 1);
    assert_eq!(on("self.a.get(); self.a.get_or_init(|| 2);"), 1);
}

/// A static cell that an operation only settles is made when it is first used: the operation is about its other calls.
#[test]
fn a_static_that_is_only_settled_is_left_alone() {
    let with = |beside: &str, first: &str| {
        let source = format!(
            "use dashmap::DashMap; use std::sync::OnceLock; static KEYS: OnceLock<u32> = OnceLock::new(); {beside} \
             fn key() -> u32 {{ {first} *KEYS.get_or_init(|| 1) }} #[derive(Default)] struct S {{ map: DashMap<u32, u32> }} \
             impl S {{ fn f(&self) {{ self.map.get(&key()); self.map.remove(&key()); }} }}"
        );
        let all = found(&source).operations;
        let one = all.iter().find(|one| one.owner == "self").expect("it is found");
        (all.len(), one.recipe.is_ok(), one.recipe.as_ref().ok().and_then(|recipe| recipe.unknown.clone()))
    };
    let on = |first: &str| with("", first);
    assert!(on("").1);
    assert_eq!(on("").0, 1);
    let left = Some("the environment cannot act on KEYS");
    assert_eq!(with("fn other() -> u32 { *KEYS.get_or_init(|| 2) }", "").2, on("").2);
    assert_eq!(with("fn configure() { let _ = KEYS.set(7); }", "").2.as_deref(), left, "another function sets it");
    // The environment cannot act on a cell that is set, too.
    assert_eq!(on("let _ = KEYS.set(7);").0, 3, "that of the cell is one, too, and so is `key` itself");
    assert_eq!(on("let _ = KEYS.set(7);").2.as_deref(), left);
}

#[test]
fn each_collection_has_composed_operations() {
    for (import, ty, first, second, pattern) in [
        ("use dashmap::DashMap;", "DashMap<u32, u32>", "get(&1)", "insert(1, 2)", "get-then-insert"),
        ("use dashmap::DashSet;", "DashSet<u32>", "contains(&1)", "insert(1)", "check-then-act"),
        ("use crossbeam::queue::SegQueue;", "SegQueue<u32>", "len()", "push(1)", "len-then-push"),
        ("use crossbeam_queue::ArrayQueue;", "ArrayQueue<u32>", "is_full()", "push(1)", "len-then-push"),
        ("use crossbeam_skiplist::SkipMap;", "SkipMap<u32, u32>", "get(&1)", "remove(&1)", "get-then-remove"),
        ("use crossbeam_skiplist::SkipSet;", "SkipSet<u32>", "contains(&1)", "remove(&1)", "check-then-act"),
        ("", "scc::HashMap<u32, u32>", "read(&1, f)", "insert(1, 2)", "get-then-insert"),
        ("", "papaya::HashMap<u32, u32>", "pin().get(&1)", "pin().insert(1, 2)", "get-then-insert"),
        ("", "flurry::HashMap<u32, u32>", "pin().iter()", "pin().remove(&1)", "iterate-then-remove"),
        ("use moka::sync::Cache;", "Cache<u32, u32>", "get(&1)", "insert(1, 2)", "get-then-insert"),
        ("use quick_cache::sync::Cache;", "Cache<u32, u32>", "get(&1)", "insert(1, 2)", "get-then-insert"),
        (
            "use std::sync::atomic::*;",
            "AtomicU64",
            "load(Ordering::SeqCst)",
            "store(1, Ordering::SeqCst)",
            "read-modify-write",
        ),
        ("use std::sync::OnceLock;", "OnceLock<u32>", "get()", "set(1)", "get-then-insert"),
        ("use arc_swap::ArcSwap;", "ArcSwap<u32>", "load()", "store(x)", "read-modify-write"),
        ("use parking_lot::Mutex;", "Mutex<Vec<u32>>", "lock().len()", "lock().push(1)", "len-then-push"),
        (
            "use std::{collections::HashMap, sync::RwLock};",
            "RwLock<HashMap<u32, u32>>",
            "read().unwrap().get(&1)",
            "write().unwrap().insert(1, 2)",
            "get-then-insert",
        ),
    ] {
        let source = format!(
            "{import} pub struct Owner {{ it: {ty} }}
             impl Owner {{
                 fn composed(&self) {{ self.it.{first}; self.it.{second}; }}
                 fn once(&self) {{ self.it.{second}; }}
                 fn either(&self, c: bool) {{ if c {{ self.it.{first}; }} else {{ self.it.{second}; }} }}
                 fn alone(&mut self) {{ self.it.{first}; self.it.{second}; }}
             }}"
        );
        let found = found(&source);
        let names: Vec<(String, String)> =
            found.operations.iter().map(|one| (one.name.clone(), one.pattern.to_string())).collect();
        // A handle of moka shares the cache, however it is borrowed.
        let handle = if ty == "Cache<u32, u32>" && import.contains("moka") { 2 } else { 1 };
        assert_eq!(names.len(), handle, "{ty}: {names:?}");
        assert_eq!(names[0], ("Owner::composed".to_owned(), pattern.to_owned()), "{ty}");
    }
}

#[test]
fn a_collection_of_std_is_none() {
    check("use std::collections::HashMap; fn f(map: &mut HashMap<u32, u32>) { map.get(&1); map.insert(1, 2); }", &[]);
    check("struct DashMap; impl DashMap { fn get(&self) {} } fn f(map: &DashMap) { map.get(); map.get(); }", &[]);
}

#[test]
fn the_manifest_adds_collections() {
    let source = "fn f(map: &other::Sharded<u32, u32>) { map.get(&1); map.insert(1, 2); }";
    check(source, &[]);
    let collections = [("Sharded".to_owned(), Family::Map)].into();
    let found = scanned(source, Options { collections, ..Options::default() });
    assert_eq!(operations(&found), ["f get-then-insert: map.get; map.insert"]);
}

#[test]
fn names_lead_through_imports_aliases_and_modules() {
    let map = "f get-then-insert: map.get; map.insert";
    let body = "{ map.get(&1); map.insert(1, 2); }";
    check(&format!("use dashmap::DashMap as Map; fn f(map: &Map<u32, u32>) {body}"), &[map]);
    check(&format!("type Map = std::sync::Arc<dashmap::DashMap<u32, u32>>; fn f(map: Map) {body}"), &[map]);
    check(&format!("mod a {{ pub use scc::HashMap; }} use a::HashMap; fn f(map: &HashMap<u32, u32>) {body}"), &[map]);
    check(&format!("mod a {{ pub use scc::HashMap; }} use a::*; fn f(map: &HashMap<u32, u32>) {body}"), &[map]);
    check(&format!("fn f(map: &std::collections::HashMap<u32, u32>) {body}"), &[]);
}

#[test]
fn macros_around_items_are_read() {
    let items = "fn f(map: &dashmap::DashMap<u32, u32>) { map.get(&1); map.insert(1, 2); }";
    check(&format!("cfg_sync! {{ {items} }}"), &["f get-then-insert: map.get; map.insert"]);
    check(
        &format!("mod m {{ cfg_sync! {{ cfg_std! {{ {items} }} }} }}"),
        &["m::f get-then-insert: map.get; map.insert"],
    );
}

#[test]
fn owners_are_fields_statics_and_arguments() {
    check(
        "use std::sync::LazyLock; use dashmap::DashMap; static MAP: LazyLock<DashMap<u32, u32>> = LazyLock::new(DashMap::new);
         fn f() { if !MAP.contains_key(&1) { MAP.insert(1, 2); } }",
        &["f check-then-act: MAP.contains_key; MAP.insert"],
    );
    check(
        "lazy_static! { static ref MAP: dashmap::DashMap<u32, u32> = Default::default(); }
         fn f() { let map = &*MAP; map.get(&1); map.remove(&1); }",
        &["f get-then-remove: MAP.get; MAP.remove"],
    );
    check(
        "use std::sync::Arc; struct Inner { map: dashmap::DashMap<u32, u32>, count: std::sync::atomic::AtomicU32 }
         struct Outer { inner: Arc<Inner> }
         impl Outer { fn f(&mut self) { let Inner { map, count } = &*self.inner; map.insert(1, 2); count.fetch_add(1, O); } }",
        &["Outer::f several-collections: self.inner.map.insert; self.inner.count.fetch_add"],
    );
    check(
        "fn f(map: &dashmap::DashMap<u32, u32>, queue: &crossbeam::queue::SegQueue<u32>) { map.insert(1, 2); queue.push(1); }",
        &["f several-collections: map.insert; queue.push"],
    );
    check("fn f() { let map = dashmap::DashMap::new(); map.insert(1, 2); map.insert(2, 3); }", &[]);
}

const MAP: &str = "struct S { map: dashmap::DashMap<u32, u32> }";

#[track_caller]
fn check_methods(methods: &str, expected: &[&str]) {
    check(&format!("{MAP} impl S {{ {methods} }}"), expected);
}

#[test]
fn helpers_count_with_their_calls() {
    check_methods(
        "fn known(&self, k: u32) -> bool { self.map.contains_key(&k) }
         fn add(&self, k: u32) { if !self.known(k) { self.map.insert(k, 1); } }",
        &["S::add check-then-act: self.map.contains_key; self.map.insert"],
    );
    // What one helper does is an operation of its own, and no second one.
    check_methods(
        "fn inner(&self) { self.map.get(&1); self.map.insert(1, 1); } fn outer(&self) { self.inner(); }",
        &["S::inner get-then-insert: self.map.get; self.map.insert"],
    );
    check_methods(
        "fn map(&self) -> &dashmap::DashMap<u32, u32> { &self.map } fn f(&self) { self.map().get(&1); self.map().remove(&1); }",
        &["S::f get-then-remove: self.map.get; self.map.remove"],
    );
    check_methods("fn again(&self, n: u32) { if n > 0 { self.again(n - 1); } self.map.get(&n); }", &[]);
}

#[test]
fn calls_are_followed_a_few_functions_deep() {
    let chain = |depth: usize| {
        let links: String = (1..=depth).map(|n| format!("fn h{n}(&self) {{ self.h{}() }}", n - 1)).collect();
        let source = format!(
            "{MAP} impl S {{ fn h0(&self) {{ self.map.clear(); }} {links} fn f(&self) {{ self.map.get(&1); self.h{depth}(); }} }}"
        );
        operations(&found(&source)).len()
    };
    assert_eq!(chain(interloper_composed::DEPTH - 1), 1);
    assert_eq!(chain(interloper_composed::DEPTH), 0);
}

#[test]
fn chains_on_entries_and_guards_are_one_call() {
    check_methods("fn f(&self) { *self.map.entry(1).or_insert(0) += 1; }", &[]);
    check_methods("fn f(&self) { if let Some(mut v) = self.map.get_mut(&1) { *v += 1; *v += v.len(); } }", &[]);
    check_methods(
        "fn f(&self) { let v = self.map.get(&1).map(|v| *v); if v.is_none() { self.map.entry(1).or_insert(2); } }",
        &["S::f get-then-insert: self.map.get; self.map.entry"],
    );
}

#[test]
fn branches_and_returns_are_not_one_path() {
    check_methods("fn f(&self, c: bool) { if c { self.map.clear(); return; } self.map.insert(1, 2); }", &[]);
    check_methods("fn f(&self, c: u8) { match c { 0 => { self.map.clear(); } _ => { self.map.insert(1, 2); } } }", &[]);
    check_methods(
        "fn f(&self) -> Option<u32> { let v = self.map.get(&1)?; self.map.insert(1, 2); None }",
        &["S::f get-then-insert: self.map.get; self.map.insert"],
    );
    check_methods(
        "fn f(&self) { self.map.get(&1).unwrap_or_else(|| self.map.insert(1, 2)); }",
        &["S::f get-then-insert: self.map.get; self.map.insert"],
    );
}

#[test]
fn a_call_in_a_loop_is_on_a_path_with_itself() {
    check_methods("fn f(&self) { for k in 0..9 { self.map.insert(k, k); } }", &["S::f loop: self.map.insert"]);
    check_methods("fn f(&self) { loop { self.map.insert(1, 1); break; } }", &[]);
    check_methods("fn f(&self) { (0..9).for_each(|k| { self.map.insert(k, k); }); }", &["S::f loop: self.map.insert"]);
    check(
        "use std::sync::atomic::AtomicU32;
         fn f(n: &AtomicU32) { let mut old = n.load(O); while let Err(now) = n.compare_exchange(old, old + 1, O, O) { old = now; } }",
        &["f compare-exchange-loop: n.load; n.compare_exchange"],
    );
    check(
        "use std::sync::atomic::AtomicU32; fn f(n: &AtomicU32) { let old = n.load(O); n.compare_exchange(old, old + 1, O, O); }",
        &["f read-modify-write: n.load; n.compare_exchange"],
    );
}

const LOCK: &str = "use std::{collections::HashMap, sync::{Mutex, RwLock, atomic::AtomicU32}};
    struct S { map: Mutex<HashMap<u32, u32>>, other: RwLock<Vec<u32>>, count: AtomicU32, gate: Mutex<()> }";

#[track_caller]
fn check_locks(body: &str, expected: &[&str]) {
    check(&format!("{LOCK} impl S {{ fn f(&self) {{ {body} }} }}"), expected);
}

#[test]
fn a_critical_section_is_one_call() {
    check_locks("let mut map = self.map.lock().unwrap(); if map.get(&1).is_none() { map.insert(1, 2); }", &[]);
    check_locks(
        "let known = self.map.lock().unwrap().contains_key(&1); if !known { self.map.lock().unwrap().insert(1, 2); }",
        &["S::f check-then-act: self.map.lock {contains_key}; self.map.lock {insert}"],
    );
    check_locks(
        "let map = self.map.lock().unwrap(); let n = map.len(); drop(map); self.map.lock().unwrap().clear();",
        &["S::f check-then-act: self.map.lock {len}; self.map.lock {clear}"],
    );
    check_locks(
        "{ let map = self.map.lock().unwrap(); map.len(); } self.map.lock().unwrap().clear();",
        &["S::f check-then-act: self.map.lock {len}; self.map.lock {clear}"],
    );
    // What is done to others under the lock is part of the section.
    check_locks(
        "let map = self.map.lock().unwrap(); self.count.fetch_add(1, O); self.other.write().unwrap().push(1);",
        &[],
    );
    check_locks(
        "self.map.lock().unwrap().insert(1, 2); self.count.fetch_add(1, O);",
        &["S::f several-collections: self.map.lock {insert}; self.count.fetch_add"],
    );
    check_locks("let _gate = self.gate.lock().unwrap(); self.count.load(O); self.count.store(1, O);", &[]);
    check_locks(
        "let _ = self.gate.lock().unwrap(); self.count.load(O); self.count.store(1, O);",
        &["S::f read-modify-write: self.count.load; self.count.store"],
    );
    // A lock around no collection is no call.
    check_locks("*self.gate.lock().unwrap() = (); *self.gate.lock().unwrap() = ();", &[]);
}

#[test]
fn temporaries_live_as_long_as_in_rust() {
    check_locks("if let Some(v) = self.map.lock().unwrap().get(&1) { self.count.fetch_add(1, O); }", &[]);
    check_locks(
        "if self.map.lock().unwrap().contains_key(&1) { self.count.fetch_add(1, O); }",
        &["S::f several-collections: self.map.lock {contains_key}; self.count.fetch_add"],
    );
    // As a statement, an `if let` and a `match` end before the next statement begins, without a semicolon too.
    let two = ["S::f get-then-insert: self.map.lock {get}; self.map.lock {insert}"];
    for first in [
        "if let Some(v) = self.map.lock().unwrap().get(&1) { return; }",
        "match self.map.lock().unwrap().get(&1) { Some(v) => return, None => {} }",
        "while let Some(v) = self.map.lock().unwrap().get(&1) {}",
    ] {
        check_locks(&format!("{first} self.map.lock().unwrap().insert(1, 2);"), &two);
    }
}

#[test]
fn a_spawned_closure_is_an_operation_of_its_own() {
    check(
        "use std::sync::Arc; use dashmap::DashMap;
         fn main() { let map = Arc::new(DashMap::new()); let m = map.clone();
             std::thread::spawn(move || { if m.get(&1).is_none() { m.insert(1, 2); } }); map.insert(3, 4); map.insert(5, 6); }",
        &["main::{closure} get-then-insert: m.get; m.insert"],
    );
}

#[test]
fn tests_are_read_only_if_asked() {
    let source = "#[cfg(test)] mod tests { fn f(map: &dashmap::DashMap<u32, u32>) { map.get(&1); map.insert(1, 2); } }
        #[test] fn t() { static M: std::sync::atomic::AtomicU32 = N; M.load(O); M.store(1, O); }
        #[cfg(not(test))] fn g() {}";
    check(source, &[]);
    let found = scanned(source, Options { tests: true, ..Options::default() });
    assert_eq!(found.operations.len(), 2);
}

#[test]
fn what_cannot_be_read_is_named() {
    let reasons = |source: &str| found(source).unread.into_iter().map(|one| one.reason).collect::<Vec<_>>();
    assert_eq!(reasons("fn f() {}"), Vec::<String>::new());
    assert_eq!(reasons("mod gone;"), ["the file of module gone is not there"]);
    assert!(reasons("fn f( {}")[0].starts_with("the file does not parse"));
    assert_eq!(
        reasons("include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));"),
        ["include!(concat ! (env ! (\"OUT_DIR\") , \"/made.rs\")), which a build script makes, is not read"]
    );
    let source = "macro_rules! cache { ($k:expr) => { static M: DashMap<u32, u32> = DashMap::new(); M.get($k) } } fn f() { cache!(1); }";
    assert_eq!(reasons(source), ["the macro cache! names DashMap: its calls are not seen"]);
    // A list of expressions is read.
    let source = "fn f(map: &dashmap::DashMap<u32, u32>) { assert!(map.get(&1).is_none()); println!(\"{:?}\", map.insert(1, 2)); }";
    assert_eq!(reasons(source), Vec::<String>::new());
    check(source, &["f get-then-insert: map.get; map.insert"]);
}

#[test]
fn modules_that_import_each_other_as_a_whole_are_read() {
    let source = "mod a { pub use super::b::*; } mod b { pub use super::a::*; pub type T = u8; } use a::*;
                  struct S { n: Missing, m: T } impl S { fn f(&self) -> Missing { self.n } }";
    assert!(found(source).operations.is_empty());
}

#[test]
fn what_a_critical_section_does_to_others_is_seen_without_its_lock() {
    let owner = |methods: &str| {
        format!(
            "use std::{{collections::HashMap, sync::{{Mutex, atomic::*}}}};
             struct Owner {{ map: Mutex<HashMap<u32, u32>>, count: AtomicU32 }}
             impl Owner {{
                 fn add(&self) {{ let mut map = self.map.lock().unwrap(); map.insert(1, 2); self.count.fetch_add(1, O); }}
                 {methods}
             }}"
        )
    };
    let add = "Owner::add several-collections: self.map.lock {insert}; self.count.fetch_add";
    // Nobody sees the counter without the lock.
    check(&owner(""), &[]);
    check(&owner("fn len(&self) -> u32 { let _map = self.map.lock().unwrap(); self.count.load(O) }"), &[]);
    check(
        &owner(
            "fn len(&self) -> u32 { let _map = self.map.lock().unwrap(); self.inner() }
             fn inner(&self) -> u32 { self.count.load(O) }",
        ),
        &[],
    );
    check(&owner("fn len(&mut self) -> u32 { self.count.load(O) }"), &[]);
    // Whoever holds the lock to read sees nothing of a section that writes. Other readers may act between its own calls.
    let reads = owner("fn len(&self) -> u32 { let _map = self.map.read(); self.count.load(O) }");
    let reads = reads.replace("Mutex", "RwLock").replace("map.lock()", "map.write()");
    check(&reads, &["Owner::len several-collections: self.map.read; self.count.load"]);
    check(&owner("fn len(&self) -> u32 { self.count.load(O) }"), &[add]);
}

#[test]
fn closures_are_followed_into_the_helper_that_calls_them() {
    let owner = |helper: &str, body: &str| {
        format!(
            "use dashmap::DashMap; use std::sync::Mutex; use std::collections::HashMap;
             struct Owner {{ map: DashMap<u32, u32>, locked: Mutex<HashMap<u32, u32>> }}
             impl Owner {{ {helper} fn f(&self) {{ {body} }} }}"
        )
    };
    let with = "fn with<R>(&self, f: impl FnOnce(&DashMap<u32, u32>) -> R) -> R { f(&self.map) }";
    let both = ["Owner::f get-then-insert: self.map.get; self.map.insert"];
    // Two closures, and two calls in one closure. One call in a closure is one call.
    check(&owner(with, "self.with(|m| m.get(&1)); self.with(|m| m.insert(1, 2));"), &both);
    check(&owner(with, "self.with(|m| { m.get(&1); m.insert(1, 2); });"), &both);
    check(&owner(with, "self.with(|m| m.insert(1, 2));"), &[]);
    // Through a second helper.
    let twice = format!("{with} fn outer<R, F: FnOnce(&DashMap<u32, u32>) -> R>(&self, f: F) -> R {{ self.with(f) }}");
    check(&owner(&twice, "self.outer(|m| m.get(&1)); self.outer(|m| m.insert(1, 2));"), &both);
    check(&owner(&twice, "self.outer(|m| m.insert(1, 2));"), &[]);
    // A caller of a function whose closures make a pair makes none.
    check(
        &owner(&format!("{with} fn g(&self) {{ self.f(); }}"), "self.with(|m| { m.get(&1); m.insert(1, 2); });"),
        &both,
    );
    // What a closure does under the lock of the helper is one critical section.
    let lock = "fn lock<R>(&self, f: impl FnOnce(&mut HashMap<u32, u32>) -> R) -> R { let mut g = self.locked.lock().unwrap(); f(&mut g) }";
    check(&owner(lock, "self.lock(|m| { m.get(&1); m.insert(1, 2); });"), &[]);
    let found = found(&owner(lock, "let n = self.lock(|m| m.len()); self.lock(|m| m.insert(1, n));"));
    assert_eq!(operations(&found), ["Owner::f len-then-push: self.locked.lock {len}; self.locked.lock {insert}"]);
}

#[test]
fn a_hint_in_a_loop_that_tries_again_is_no_wait() {
    let refused = |body: &str| {
        let source = format!(
            "use std::sync::atomic::*; #[derive(Default)] pub struct Owner {{ it: AtomicU32 }}
             impl Owner {{ pub fn f(&self) {{ {body} }} }}"
        );
        matches!(found(&source).operations[0].runnable, Runnable::Refused { .. })
    };
    let hint = "std::hint::spin_loop();";
    assert!(!refused(&format!(
        "loop {{ let n = self.it.load(O); if self.it.compare_exchange(n, n + 1, O, O).is_ok() {{ break; }} {hint} }}"
    )));
    assert!(!refused(&format!(
        "while self.it.compare_exchange(0, 1, O, O).is_err() {{ {hint} }} self.it.store(2, O);"
    )));
    assert!(refused(&format!("while self.it.load(O) == 0 {{ {hint} }} self.it.store(1, O);")));
    assert!(refused(&format!("{hint} self.it.load(O); self.it.store(1, O);")));
}
