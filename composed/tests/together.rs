//! The types whose methods are run two at once: which methods, with which calls, and what is left out.

use std::fs;

use interloper_composed::{Options, Package, Together, scan};

fn together(source: &str) -> Vec<Together> {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("lib.rs");
    fs::write(&root, source).expect("a file");
    let package = Package { name: "small".to_owned(), crates: vec![("small".to_owned(), root)] };
    scan(&[package], &Options { base: folder.path().to_owned(), ..Options::default() }).together
}

fn only(source: &str) -> Together {
    let mut all = together(source);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

const HEAD: &str = "use dashmap::DashMap; use std::sync::Mutex; use std::sync::atomic::{AtomicU64, Ordering::SeqCst};";

/// A type with these fields and methods, and one method that makes two calls.
fn stock(fields: &str, methods: &str) -> String {
    format!(
        "{HEAD} #[derive(Default)] pub struct Stock {{ items: DashMap<u32, u32>, number: AtomicU64, {fields} }}
         impl Stock {{
             pub fn add(&self, id: u32) {{ self.items.insert(id, 1); self.number.fetch_add(1, SeqCst); }}
             {methods}
         }}"
    )
}

fn names(one: &Together) -> Vec<&str> {
    one.methods.iter().map(|method| method.name.as_str()).collect()
}

#[test]
fn methods_that_use_the_collections_are_called_with_two_values() {
    let one = only(&stock(
        "",
        "pub fn number(&self) -> u64 { self.number.load(SeqCst) }
         fn of(word: &str) -> usize { word.len() }
         fn clear(&mut self) { self.items.clear(); self.number.store(0, SeqCst); }
         fn name(&self) -> &str { \"stock\" }",
    ));
    assert_eq!(
        names(&one),
        ["add", "number"],
        "one that touches no collection, and one with `&mut self`, are no part of a pair"
    );
    assert_eq!((one.name.as_str(), one.place.line), ("Stock", 1));
    let [add, number] = &one.methods[..] else { panic!("two methods") };
    assert_eq!((add.operation.as_deref(), number.operation.as_deref()), (Some("Stock::add"), None));
    let call = |value: u32| {
        format!(".call(\"add\", \"({value})\", |subject: &Subject2| interloper::shown!(subject.0.add({value})))")
    };
    let line = one.subject.0.replace("Subject", "");
    assert_eq!(add.calls, [call(7), call(8)].map(|call| call.replace("Subject2", &format!("Subject{line}"))));
    assert_eq!(number.calls.len(), 1, "no arguments: one call");
    assert!(!one.make.contains("hides_state"), "{}", one.make);
    assert_eq!((one.unread.len(), one.left_out.len()), (0, 0), "{one:?}");
}

#[test]
fn a_key_gets_another_value() {
    let put = "pub fn put(&self, key: u32, value: &str, each: bool) { self.items.insert(key, 1); }";
    let one = only(&stock("", put));
    let calls = |name: &str| {
        let method = one.methods.iter().find(|method| method.name == name).expect("a method");
        let shown =
            |call: &String| call.split('"').nth(3).map(|_| call.split(", |").next().expect("a call").to_owned());
        method.calls.iter().filter_map(shown).collect::<Vec<String>>()
    };
    let shown = ["(7, \"k\", true)", "(7, \"j\", true)", "(7, \"k\", false)", "(8, \"j\", true)"];
    let expected: Vec<String> = shown.iter().map(|shown| format!(".call(\"put\", {shown:?}")).collect();
    assert_eq!(calls("put"), expected);
}

#[test]
fn a_type_without_a_composed_method_has_no_pairs() {
    let source = format!(
        "{HEAD} #[derive(Default)] struct One {{ items: DashMap<u32, u32> }}
         impl One {{ fn add(&self, id: u32) {{ self.items.insert(id, 1); }} fn len(&self) -> usize {{ self.items.len() }} }}"
    );
    assert_eq!(together(&source), []);
    assert_eq!(together(&stock("", "")).len(), 1);
}

#[test]
fn what_cannot_be_run_is_left_out_with_the_reason() {
    let one = only(&stock(
        "file: Mutex<Option<std::fs::File>>,",
        "fn slow(&self) { self.items.clear(); std::thread::sleep(D); }
         fn log(&self) { self.items.len(); self.file.lock().unwrap().take(); }
         fn each(&self, other: &Stream) { self.items.len(); }",
    ));
    assert_eq!(names(&one), ["add"]);
    assert_eq!(one.unread, ["Stock.file"]);
    assert!(!one.make.contains("hides_state"), "methods that use the file are left out: {}", one.make);
    let reasons: Vec<String> = one.left_out.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
    let [slow, log, each] = &reasons[..] else { panic!("{reasons:?}") };
    assert_eq!(slow, "slow: it waits: `std::thread::sleep`");
    assert_eq!(log, "log: it uses `file`, which cannot be compared");
    assert_eq!(each, "each: needs an argument of type &Stream");
}

/// A caller keeps a lease for a while: giving it back is a call of its own.
#[test]
fn a_method_whose_result_acts_when_it_is_dropped_is_left_out() {
    let leased = |drops: &str, result: &str| {
        let source = format!(
            "{} struct Lease<'a>(&'a Stock); {drops}",
            stock("", &format!("fn lease(&self) -> {result} {{ self.items.len(); todo!() }}"))
        );
        let left_out = only(&source).left_out;
        left_out.into_iter().map(|(name, reason)| format!("{name}: {reason}")).collect::<Vec<_>>()
    };
    let acts = "impl Drop for Lease<'_> { fn drop(&mut self) { self.0.items.clear(); } }";
    let says = "lease: dropping what it returns acts on the collections: a call of its own";
    for result in ["Lease<'_>", "Option<Lease<'_>>", "(u8, Result<Lease<'_>, String>)"] {
        assert_eq!(leased(acts, result), [says], "{result}");
    }
    for (drops, result) in [
        (acts, "&Lease<'_>"),
        (acts, "u8"),
        ("", "Lease<'_>"),
        ("impl Drop for Lease<'_> { fn drop(&mut self) {} }", "Lease<'_>"),
    ] {
        assert_eq!(leased(drops, result), [""; 0], "{drops} {result}");
    }
}

#[test]
fn fields_that_may_hide_state_are_told_from_those_that_cannot_change() {
    let fixed = "capacity: usize, names: Vec<String>, limits: Limits, wait: std::time::Duration, of: (u8, [char; 2]),";
    let types = "struct Limits { most: Option<u64> } struct Hides { seen: std::cell::Cell<u32> }";
    let with = |fields: &str| only(&format!("{} {types}", stock(fields, "")));
    let one = with(fixed);
    assert_eq!((one.unread.len(), one.make.contains("hides_state")), (0, false), "{one:?}");
    for (fields, unread) in [
        ("cell: std::cell::Cell<u32>,", "Stock.cell"),
        ("hides: Hides,", "Stock.hides"),
        ("other: elsewhere::Pool,", "Stock.other"),
        ("others: Vec<elsewhere::Pool>,", "Stock.others"),
    ] {
        let one = with(fields);
        assert_eq!(one.unread, [unread]);
        assert!(one.make.contains("hides_state()"), "{}", one.make);
    }
    // The map of a field inside is compared, and what is beside it is named.
    let nested = format!(
        "{HEAD} #[derive(Default)] struct Inner {{ map: DashMap<u32, u32>, pool: elsewhere::Pool, size: usize }}
         #[derive(Default)] struct Outer {{ inner: Inner }}
         impl Outer {{ fn add(&self) {{ self.inner.map.insert(1, 2); self.inner.map.remove(&1); }} }}"
    );
    assert_eq!(only(&nested).unread, ["Outer.inner.pool"]);
}

#[test]
fn invariants_are_found_by_their_mark() {
    let of = |mark: &str, signature: &str| {
        only(&stock(
            "",
            &format!("{mark} fn agrees{signature} {{ self.items.len() as u64 == self.number.load(SeqCst) }}"),
        ))
    };
    for mark in [
        "#[interloper::invariant]",
        "#[invariant]",
        "#[cfg_attr(interloper, interloper::invariant)]",
        "#[cfg_attr(test, interloper::invariant)]",
    ] {
        let one = of(mark, "(&self) -> bool");
        assert_eq!(names(&one), ["add"], "an invariant is no method of a pair");
        let [(name, code)] = &one.invariants[..] else { panic!("{mark}: {one:?}") };
        assert_eq!(name, "agrees");
        assert!(code.starts_with(".invariant(\"agrees\", |subject: &Subject"), "{code}");
        assert!(code.ends_with("| subject.0.agrees())"), "{code}");
    }
    let plain = of("#[inline]", "(&self) -> bool");
    assert_eq!((names(&plain), plain.invariants.len()), (vec!["add", "agrees"], 0));
    for signature in ["(&self) -> u32", "(&self, of: u32) -> bool", "(&mut self) -> bool"] {
        let one = of("#[interloper::invariant]", signature);
        assert_eq!(one.invariants, []);
        assert_eq!(one.left_out, [("agrees".to_owned(), "an invariant is a function `&self -> bool`".to_owned())]);
    }
}
