//! What is found in small sources: each operation beside its twin that is not one. The sources are read and never compiled, so
//! their bodies may be `todo!()`.

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

/// Where one value cannot be made, there is a draft in which a `todo!` stands for it.
#[test]
fn a_draft_has_one_hole() {
    let draft = |of: &str, takes: &str| {
        let source = format!(
            "use std::{{fs::File, sync::atomic::*}}; {of} impl S {{ fn f(&self{takes}) {{
                self.n.load(Ordering::SeqCst); self.n.store(1, Ordering::SeqCst); }} }}"
        );
        let [operation] = &found(&source).operations[..] else { panic!("one operation") };
        operation.draft.as_ref().map(|draft| draft.check.clone())
    };
    let (made, unmade) = ("#[derive(Default)] struct S { n: AtomicU32 }", "struct S { n: AtomicU32, file: File }");
    assert_eq!(draft(made, ""), None, "it can be run");
    let of_type = draft(unmade, "").expect("a draft");
    assert!(of_type.contains("|| Subject1(std::sync::Arc::new(todo!(\"needs a constructor of S\")))"), "{of_type}");
    let of_argument = draft(made, ", file: &File").expect("a draft");
    assert!(of_argument.contains("subject.0.f(todo!(\"needs an argument of type &File\"))"), "{of_argument}");
    assert_eq!(draft(unmade, ", file: &File"), None, "two holes");
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
fn it_is_said_what_can_be_run() {
    let run = |source: &str| {
        let found = found(&format!("use dashmap::DashMap; {source}"));
        assert_eq!(found.operations.len(), 1, "{source}");
        found.operations[0].runnable.clone()
    };
    let calls = "self.map.get(&1); self.map.insert(1, 2);";
    let on = |head: &str, parameters: &str, extra: &str| {
        run(&format!(
            "{head} struct S {{ map: DashMap<u32, u32> }} impl S {{ {extra} fn f(&self, {parameters}) {{ {calls} }} }}"
        ))
    };
    let hole = |what: &str| Runnable::Hole { what: what.to_owned() };
    let refused = |reason: &str| Runnable::Refused { reason: reason.to_owned() };
    assert_eq!(on("#[derive(Default)]", "k: u32, v: Option<(bool, char)>, s: &str", ""), Runnable::AsItIs);
    assert_eq!(on("", "", ""), hole("a constructor of S"));
    assert_eq!(on("", "", "pub fn new(size: usize) -> Self { todo!() }"), Runnable::AsItIs);
    assert_eq!(on("", "", "pub fn new(file: std::fs::File) -> Self { todo!() }"), hole("a constructor of S"));
    assert_eq!(on("enum Kind { A, B(u8) } #[derive(Default)]", "k: Kind", ""), Runnable::AsItIs);
    assert_eq!(on("#[derive(Default)]", "k: std::fs::File", ""), hole("an argument of type std::fs::File"));
    let free =
        |extra: &str| run(&format!("fn f(map: &DashMap<u32, u32>) {{ map.get(&1); {extra}; map.insert(1, 2); }}"));
    assert_eq!(free(""), Runnable::AsItIs);
    assert_eq!(free("std::fs::read(\"x\")"), refused("it does I/O: `std::fs::read`"));
    assert_eq!(free("std::net::Ipv4Addr::new(1, 2, 3, 4)"), Runnable::AsItIs);
    assert_eq!(free("other::Error::Command(1)"), Runnable::AsItIs);
    assert_eq!(free("std::process::Command::new(\"x\")"), refused("it does I/O: `std::process::Command::new`"));
    // The clocks of std stand still under control.
    assert_eq!(free("std::time::Instant::now().elapsed()"), Runnable::AsItIs);
    assert_eq!(free("quanta::Instant::now()"), refused("it reads a clock: `quanta::Instant::now`"));
    assert_eq!(free("std::thread::spawn(|| 1)"), refused("it spawns"));
    assert_eq!(free("rand::random()"), refused("it is random: `rand::random`"));
    let relies = hole("an environment that keeps what its unsafe code relies on");
    assert_eq!(free("unsafe { all.get_unchecked(1) }"), relies);
    assert_eq!(
        run("fn g() { unsafe { h() } } fn f(map: &DashMap<u32, u32>) { map.get(&1); g(); map.insert(1, 2); }"),
        relies
    );
    assert_eq!(
        run("fn g() { h() } fn f(map: &DashMap<u32, u32>) { map.get(&1); g(); map.insert(1, 2); }"),
        Runnable::AsItIs
    );
    assert_eq!(free("std::thread::sleep(d)"), refused("it waits: `std::thread::sleep`"));
}

#[test]
fn it_is_said_how_an_operation_is_run() {
    let recipe = |source: &str| {
        let found = found(&format!("use dashmap::DashMap; {source}"));
        found.operations[0].recipe.clone()
    };
    let calls = "self.map.get(&k); self.map.insert(k, 2);";
    let on = |head: &str, inside: &str| {
        recipe(&format!(
            "#[derive(Default)] struct S {{ {head} }} impl S {{ fn f(&self, k: u32) {{ {calls} }} {inside} }}"
        ))
    };
    let alone = on("map: DashMap<u32, u32>", "").expect("it can be run");
    let expected = "interloper::MethodUnderTest::new(\"S::f\", || Subject1(std::sync::Arc::new(<S as Default>::default())), \
                    |subject: &Subject1, a0: u32| interloper::shown!(subject.0.f(a0)))";
    assert_eq!(alone.check.lines().next(), Some(expected));
    assert!(alone.check.contains(".arguments([7])") && !alone.check.contains(".beside"));
    assert_eq!(alone.unknown.as_deref(), Some("its type has no other method that calls its collections"));

    // `Arc` has a `clone` of its own.
    let copied = recipe(
        "#[derive(Default)] struct S { map: DashMap<u32, u32> }
         impl Clone for S { fn clone(&self) -> S { self.map.get(&1); self.map.get(&2); S::default() } }",
    );
    let check = copied.expect("it can be run").check;
    assert!(check.contains("interloper::shown!((*subject.0).clone()))"), "{check}");
    // The environment of the program is closed if all that reaches the collections is known.
    let other = "fn g(&self, k: u32) { self.map.remove(&k); }";
    let closed = on("map: DashMap<u32, u32>", other).expect("it can be run");
    assert_eq!(closed.unknown, None);
    assert!(closed.check.contains(".beside(\"g\", "));
    let open = on("pub map: DashMap<u32, u32>", other).expect("it can be run");
    assert_eq!(open.unknown.as_deref(), Some("others can reach S.map"));
    let slow =
        on("map: DashMap<u32, u32>", "fn g(&self) { std::thread::park(); self.map.clear(); }").expect("it can be run");
    assert_eq!(slow.unknown.as_deref(), Some("g cannot be run beside it"));
    let loads = on("map: DashMap<u32, u32>", &format!("{other} fn load(&mut self) {{ self.map.insert(1, 1); }}"));
    let reason = "load may change the collections before they are shared";
    assert_eq!(loads.expect("it can be run").unknown.as_deref(), Some(reason));
    let beside = format!(
        "{MAP} impl S {{ fn f(&self, k: u32) {{ {calls} }} {other} fn new() -> S {{ todo!() }} }} fn free(s: &S) {{ s.map.clear(); }}"
    );
    assert_eq!(recipe(&beside).expect("it can be run").unknown.as_deref(), Some("free may reach its fields"));

    let of_other = on("map: DashMap<u32, u32>, n: std::sync::atomic::AtomicU8", "").map(|_| ());
    assert_eq!(of_other, Ok(()));
    let pointer = recipe("fn f(n: &std::sync::atomic::AtomicPtr<u8>) { n.load(O); n.store(p, O); }");
    assert_eq!(pointer.unwrap_err(), "needs AtomicPtr to be run as it was published, which the driver does not do yet");
    let two = recipe(
        "fn f(a: &DashMap<u8, char>, b: &DashMap<u8, char>, k: (u8, bool), l: Option<char>) { a.clear(); b.clear(); }",
    );
    let two = two.expect("it can be run").check;
    assert!(
        two.contains("|subject: &(DashMap < u8 , char >, DashMap < u8 , char >), (a0, a1): ((u8,bool), Option<char>)|"),
        "{two}"
    );
    assert!(two.contains(".arguments([((7, true), Some('k')), ((7, true), None)])"), "{two}");
    assert!(two.contains("f(&subject.0, &subject.1, a0, a1)") && two.contains(".names([\"a\", \"b\"])"), "{two}");
}

/// The line with the code, or why no code was written.
fn said(source: &str) -> Result<String, String> {
    let head = "use std::collections::*; use std::sync::*; use std::sync::atomic::*;";
    found(&format!("{head} {source}")).operations[0].recipe.clone().map(|recipe| {
        let (_, item) = recipe.subject.unwrap_or_default();
        format!("{item} {}", recipe.check)
    })
}

#[test]
fn locks_and_atomics_of_a_type_are_parts() {
    let on = |fields: &str, calls: &str| {
        said(&format!("#[derive(Default)] struct S {{ {fields} }} impl S {{ fn f(&self) {{ {calls} }} }}"))
    };
    let parts = |fields: &str, calls: &str| -> Vec<String> {
        let text = on(fields, calls).expect("it can be run");
        let names = text.split("String::from(\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
        names.collect()
    };
    let twice = "self.n.load(O); self.n.store(1, O);";
    assert_eq!(parts("n: AtomicU64, m: AtomicBool", twice), ["n", "m"]);
    assert_eq!(parts("n: Arc<AtomicU64>, m: Mutex<HashMap<String, Vec<u8>>>", twice), ["n", "m"]);
    assert_eq!(parts("n: AtomicU64, m: Mutex<std::fs::File>, o: RwLock<Option<u32>>", twice), ["n", "o"]);
    assert_eq!(parts("n: AtomicU64, m: parking_lot::Mutex<u32>, o: portable_atomic::AtomicU64", twice), ["n"]);
    let sections = "self.m.lock().unwrap().pop(); self.m.lock().unwrap().push(1);";
    assert_eq!(parts("m: Mutex<Vec<u32>>", sections), ["m"]);
    // The first elements of a list that the operation calls.
    let listed = |fields: &str, calls: &str, part: &str| {
        let text = on(fields, calls).expect("it can be run");
        assert!(text.contains(part), "{text}");
    };
    let of_list = "self.all[0].load(O); self.all[0].store(1, O);";
    listed(
        "all: Vec<AtomicU64>",
        of_list,
        "for (at, element) in self.0.all.iter().enumerate().take(2) { parts.push((\"all[]\".replace(\"[]\", \
         &format!(\"[{at}]\")), element as &dyn",
    );
    listed("all: Box<[CachePadded<AtomicU64>]>", of_list, "&**element as &dyn");
    let shard = "#[derive(Default)] struct Shard { n: AtomicU64 } #[derive(Default)] struct T { all: [Shard; 4] } \
                 impl T { fn f(&self) { self.all[0].n.load(O); self.all[0].n.store(1, O); } }";
    let text = said(shard).expect("it can be run");
    assert!(text.contains("(\"all[].n\".replace(\"[]\", &format!(\"[{at}]\")), &element.n as &dyn"), "{text}");
    assert_eq!(parts("n: AtomicU64, all: Vec<AtomicU64>", twice), ["n"]);
    // What the environment cannot make values of.
    let apart = |place: &str| Err(format!("needs `{place}` to be a field of its own that the environment can act on"));
    assert_eq!(on("m: Mutex<Vec<File>>, n: AtomicU8", sections), apart("self.m"));
    let of_files = "self.all[0].lock().unwrap().pop(); self.all[0].lock().unwrap().push(1);";
    assert_eq!(on("n: AtomicU8, all: Vec<Mutex<Vec<File>>>", of_files), apart("self.all[]"));
    let perhaps =
        on("n: AtomicU8, o: Option<AtomicU64>", "self.n.load(O); self.n.store(1, O);").expect("it can be run");
    assert!(!perhaps.contains("\"o\""), "{perhaps}");
}

#[test]
fn a_program_with_collections_apart_is_not_known() {
    let unknown = |fields: &str| {
        let source = format!(
            "use std::sync::*; use std::sync::atomic::*; #[derive(Default)] struct S {{ n: AtomicU64, {fields} }}
             impl S {{ fn f(&self) {{ self.n.load(O); self.n.store(1, O); }} fn g(&self) {{ self.n.store(2, O); }} }}"
        );
        found(&source).operations[0].recipe.clone().expect("it can be run").unknown
    };
    assert_eq!(unknown("m: AtomicBool"), None);
    assert_eq!(unknown("m: Mutex<Vec<File>>").as_deref(), Some("the environment cannot act on S.m"));
}

#[test]
fn constructors_and_arguments_are_made() {
    let body = "self.n.load(O); self.n.store(1, O);";
    let on = |head: &str, arguments: &str, make: &str| {
        said(&format!("{head} struct S {{ n: AtomicU64 }} impl S {{ fn f(&self, {arguments}) {{ {body} }} {make} }}"))
    };
    let new = "fn new() -> Self { todo!() }";
    let has = |text: Result<String, String>, part: &str| {
        let text = text.expect("it can be run");
        assert!(text.contains(part), "{text}");
    };
    has(on("", "", new), "Subject1(std::sync::Arc::new(<S>::new()))");
    has(on("", "", "fn new() -> Arc<Self> { todo!() }"), "Subject1(<S>::new())");
    has(on("", "", "fn new(n: usize) -> Result<S, String> { todo!() }"), "std::sync::Arc::new(<S>::new(7).unwrap())");
    has(
        on("", "", "fn with_limit(d: std::time::Duration) -> S { todo!() }"),
        "<S>::with_limit(std::time::Duration::from_millis(7))",
    );
    has(on("", "", "fn new() -> S { std::time::Instant::now(); todo!() }"), "<S>::new()");
    let no = Err("needs a constructor of S".to_owned());
    has(on("", "", "fn new() -> S { std::time::SystemTime::now(); todo!() }"), "<S>::new()");
    assert_eq!(on("", "", "fn new() -> S { rand::random::<u32>(); todo!() }"), no);
    let default = |body: &str| on(&format!("impl Default for S {{ fn default() -> S {{ {body}; todo!() }} }}"), "", "");
    has(default(""), "<S as Default>::default()");
    assert_eq!(default("rand::random::<u32>()"), no);
    assert_eq!(on("", "", "fn new(file: File) -> S { todo!() }"), no);
    assert_eq!(on("", "", "fn copied(&self) -> S { todo!() }"), no);
    assert_eq!(on("", "", "unsafe fn new() -> S { todo!() }"), no);
    assert_eq!(on("", "", "fn new() -> S { std::fs::read(p); todo!() }"), no);

    has(on("enum Kind { A, B { n: u8 } }", "kind: Kind", new), "match a0 { 0 => Kind::A, _ => Kind::B { n: 7 } }");
    has(on("enum Kind { A, B }", "kind: &Kind", new), "subject.0.f(&(match a0 { 0 => Kind::A, _ => Kind::B }))");
    has(on("struct Pair { n: u8, s: String }", "p: Pair", new), "subject.0.f(Pair { n: 7, s: String::from(\"k\") })");
    has(on("", "rate: f64, bytes: &[u8]", new), "subject.0.f(0.5, &(b\"k\"[..]))");
    let open = on("mod inner { pub struct Pair { n: u8 } } use inner::Pair;", "p: Pair", new);
    assert_eq!(open.unwrap_err(), "needs an argument of type Pair");
}

#[test]
fn arguments_of_constructors_are_made_of_their_own_arguments() {
    let body = "self.n.load(O); self.n.store(1, O);";
    let on = |head: &str, make: &str| {
        said(&format!("{head} struct S {{ n: AtomicU64 }} impl S {{ fn f(&self) {{ {body} }} {make} }}"))
    };
    let has = |head: &str, make: &str, part: &str| {
        let text = on(head, make).expect("it can be run");
        assert!(text.contains(part), "{text}");
    };
    let config = "mod inner { pub struct Config { n: u8 } impl Config { pub fn new(n: u8) -> Config { todo!() } } } \
                  use inner::Config;";
    has(config, "fn new(config: Config) -> S { todo!() }", "<S>::new(<Config>::new(7))");
    has(config, "fn new(config: Arc<Config>) -> S { todo!() }", "<S>::new(std::sync::Arc::new(<Config>::new(7)))");
    // What is named in another module is named from the root of the crate.
    let outer = format!("{config} struct Options {{ config: Config }}");
    has(
        &outer,
        "fn new(options: Options) -> S { todo!() }",
        "<S>::new(Options { config: <crate::inner::Config>::new(7) })",
    );
    has(
        "",
        "fn new(path: PathBuf, hosts: Vec<File>) -> S { todo!() }",
        "(std::path::PathBuf::from(\"k\"), Default::default())",
    );
    has("", "fn new(last: Option<File>) -> S { todo!() }", "<S>::new(None)");
    has("", "fn new(f: Box<dyn Fn(u8) -> u8>) -> S { todo!() }", "std::boxed::Box::new(|_| Default::default())");
    has(
        "",
        "fn new(f: Box<dyn Fn(u8) -> io::Result<u8>>) -> S { todo!() }",
        "std::boxed::Box::new(|_| Ok(Default::default()))",
    );
    has(
        "",
        "fn new<F: FnOnce(u8, u8) -> Result<(), E>>(f: F) -> S { todo!() }",
        "<S>::new(|_, _| Ok(Default::default()))",
    );
    has("", "fn new(at: IpAddr) -> S { todo!() }", "std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)");
    let no = Err("needs a constructor of S".to_owned());
    // A type of the workspace may have the name of another.
    assert_eq!(
        on("mod inner { pub struct Path { file: File } } use inner::Path;", "fn new(p: Path) -> S { todo!() }"),
        no
    );
    assert_eq!(on("", "fn new(all: Box<dyn Backend>) -> S { todo!() }"), no);
    // A type that needs itself.
    let circle = "struct A { b: Box<B> } struct B { a: Box<A> } impl A { fn new(b: B) -> A { todo!() } } \
                  impl B { fn new(a: A) -> B { todo!() } }";
    assert_eq!(on(circle, "fn new(a: A) -> S { todo!() }"), no);
}

#[test]
fn what_the_environment_cannot_act_on_may_be_called_beside_two_calls_on_one_path() {
    let on = |fields: &str, calls: &str| {
        let source = format!(
            "use std::sync::*; use std::sync::atomic::*; use arc_swap::ArcSwapWeak; static COUNT: AtomicU64 = AtomicU64::new(0);
             #[derive(Default)] struct S {{ n: AtomicU64, {fields} }} impl S {{ fn f(&self) {{ {calls} }} fn g(&self) {{ self.n.store(1, O); }} }}"
        );
        let found = found(&source);
        let own = found.operations.iter().find(|one| one.owner == "self").expect("an operation");
        own.recipe.clone().map(|recipe| (recipe.unknown, recipe.own.is_some()))
    };
    let pair = "self.n.load(O); self.n.store(1, O);";
    let left = |place: &str| Ok((Some(format!("the environment cannot act on {place}")), false));
    assert_eq!(on("", pair), Ok((None, false)));
    assert_eq!(on("all: Vec<Mutex<Vec<File>>>", &format!("{pair} self.all[0].lock();")), left("S.all"));
    // Of a list, the environment acts on the first elements.
    assert_eq!(on("all: Vec<AtomicU64>", &format!("{pair} self.all[0].load(O);")), left("S.all"));
    assert_eq!(on("swap: ArcSwapWeak<u8>", &format!("{pair} self.swap.load();")), left("S.swap"));
    assert_eq!(on("", &format!("COUNT.fetch_add(1, O); {pair}")), left("COUNT"));
    // One call of two ways is no operation of what is left.
    let two_ways = "self.all[0].lock(); if x { self.n.load(O); } else { self.n.store(1, O); }";
    assert!(on("all: Vec<Mutex<Vec<File>>>", two_ways).is_err());
    assert!(on("swap: ArcSwapWeak<u8>", "self.swap.load(); self.n.load(O);").is_err());
}

#[test]
fn collections_of_other_crates_are_seen_through_what_the_harness_says() {
    let on = |imports: &str, field: &str, calls: &str| {
        let source = format!(
            "{imports} #[derive(Default)] struct S {{ it: {field} }} impl S {{ fn f(&self, key: u32) {{ {calls} }} }}"
        );
        let found = found(&source);
        found.operations.into_iter().next().expect("an operation").recipe
    };
    let has = |imports: &str, field: &str, calls: &str, view: &str, package: Option<&'static str>| {
        let recipe = on(imports, field, calls).expect("it can be run");
        let (name, item) = recipe.subject.expect("a type");
        let seen = format!("interloper::collections::foreign::{view}::<_, {name}>::of(&self.0.it)");
        assert!(item.contains(&seen), "{item}");
        assert_eq!(item.contains(&format!("<{name}> for ::")), package.is_some(), "{item}");
        assert_eq!(Vec::from_iter(recipe.packages), Vec::from_iter(package));
    };
    let scc = "self.it.read_sync(&key, |_, v| *v); self.it.insert_sync(key, 1);";
    has("", "scc::HashMap<u32, u32>", scc, "AsMap", Some("scc"));
    has(
        "use moka::sync::Cache;",
        "Cache<u32, u32>",
        "self.it.get(&key); self.it.insert(key, 1);",
        "AsMap",
        Some("moka"),
    );
    let swap = "self.it.load(); self.it.store(Arc::new(key));";
    has("use arc_swap::ArcSwap;", "ArcSwap<u32>", swap, "AsRegister", Some("arc-swap"));
    let once = "self.it.get(); self.it.set(key);";
    has("use std::sync::OnceLock;", "OnceLock<u32>", once, "AsOnce", None);
    // Those of which nothing is said, and values that the environment cannot make.
    assert!(on("", "scc::HashIndex<u32, u32>", scc).is_err());
    assert!(on("", "scc::HashMap<u32, File>", scc).is_err());
    let by_reference = "fn f(it: &scc::HashMap<u32, u32>) { it.read_sync(&1, |_, v| *v); it.insert_sync(1, 1); }";
    let recipe = found(by_reference).operations.into_iter().next().expect("an operation").recipe;
    assert_eq!(recipe, Err("needs its HashMap in a field of a type".to_owned()));
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
fn an_async_function_that_awaits_nothing_else_is_run() {
    let source = |body: &str| {
        format!(
            "use std::sync::atomic::*; #[derive(Default)] pub struct Owner {{ it: AtomicU32 }}
             impl Owner {{
                 async fn first(&self) -> u32 {{ self.it.load(Ordering::SeqCst) }}
                 pub async fn f(&self) {{ {body} }}
             }}"
        )
    };
    let runs = |body: &str| {
        let found = found(&source(body));
        let one = found.operations.iter().find(|one| one.name == "Owner::f").expect("an operation");
        one.recipe.clone().map(|recipe| recipe.check)
    };
    let check = runs("let n = self.first().await; self.it.store(n + 1, Ordering::SeqCst);").expect("it can be run");
    assert!(check.contains("interloper::ready(subject.0.f())"), "{check}");
    for waits in
        ["other::wait().await;", "future.await;", "tokio::join!(self.first());", "let f = self.first(); f.await;"]
    {
        let body = format!("{waits} let n = self.first().await; self.it.store(n + 1, Ordering::SeqCst);");
        let reason = runs(&body).expect_err(waits);
        assert!(reason.contains("it waits"), "{waits}: {reason}");
    }
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
