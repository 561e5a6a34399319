//! Values of types of the crate: what the environment can make, and what the code of a harness says of it.

use super::*;

/// The items that a harness needs for a map with values of this type, or the reason why the operation is not run.
fn declared(items: &str, value: &str) -> Result<Vec<String>, String> {
    let source = format!(
        "use dashmap::DashMap; use std::{{collections::*, sync::*, time::*}}; {items} #[derive(Default)] struct S {{ map: DashMap<u32, {value}> }} \
         impl S {{ fn f(&self) {{ self.map.get(&1); self.map.remove(&1); }} }}"
    );
    let [operation] = &found(&source).operations[..] else { panic!("one operation in {source}") };
    let recipe = operation.recipe.clone()?;
    Ok(recipe.data.into_iter().map(|one| one.code).collect())
}

/// The one item, with its words.
fn words(items: &str, value: &str) -> String {
    let all = declared(items, value).unwrap_or_else(|reason| panic!("{items}: {reason}"));
    let [code] = &all[..] else { panic!("one item: {all:?}") };
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn structs_and_enums_of_values_are_declared() {
    assert_eq!(
        words("#[derive(Clone)] struct Entry { word: String, hits: u32 }", "Entry"),
        "interloper::datum! { [] Entry: Entry { word: part0, hits: part1 } } impl<> interloper::collections::Record for Entry {}"
    );
    assert_eq!(
        words("#[derive(Debug, Clone)] enum Kind { No, One(u8, f64), Named { by: Box<str> } }", "Arc<Kind>"),
        "interloper::datum! { [] Kind: Kind::No { }, Kind::One { 0: part0, 1: part1 }, Kind::Named { by: part0 } } \
         impl<> interloper::collections::Record for Kind {}"
    );
    // What has no `Clone` gets one.
    let copied = "impl<> Clone for Id { fn clone(&self) -> Self { interloper::operations::copied(self) } }";
    assert!(words("struct Id(u64);", "Id").ends_with(copied));
    assert!(
        !words("struct Id(u64); impl Clone for Id { fn clone(&self) -> Id { Id(self.0) } }", "Id").contains("copied")
    );
    // A type parameter keeps what is asked of it.
    let cell = words("#[derive(Clone)] struct Cell<V: Copy> where V: Ord { value: V, old: Option<V> }", "Cell<u8>");
    assert!(cell.starts_with("interloper::datum! { [V: Copy + Ord + interloper::Datum] Cell<V>: Cell {"), "{cell}");
    // Each type once, also those inside of others.
    let inner = "#[derive(Clone)] struct A { b: Vec<B>, c: B } #[derive(Clone)] struct B(HashMap<String, Instant>);";
    assert_eq!(declared(inner, "(A, Option<A>)").expect("values").len(), 2);
    assert_eq!(declared("", "(u8, [f32; 3], Duration, SystemTime)").expect("values"), Vec::<String>::new());
}

#[test]
fn what_has_no_plain_form_is_named() {
    let missing = |items: &str, value: &str| declared(items, value).expect_err(value);
    let of = |ty: &str| format!("needs values of {ty} that the environment can make, in S");
    let struct_of = |field: &str| format!("#[derive(Clone)] struct E {{ n: u8, {field} }}");
    assert_eq!(missing(&struct_of("file: Arc<File>"), "E"), of("File"));
    assert_eq!(missing(&struct_of("hits: atomic::AtomicU64"), "E"), of("atomic::AtomicU64"));
    assert_eq!(missing(&struct_of("f: Box<dyn Fn(u8)>"), "Vec<E>"), of("dyn Fn (u8)"));
    assert_eq!(missing(&struct_of("inner: Mutex<u8>"), "E"), of("Mutex<u8>"));
    assert_eq!(missing(&struct_of("map: HashMap<u8, u8, Fast>"), "E"), of("HashMap<u8, u8, Fast>"));
    assert_eq!(missing(&struct_of("at: chrono::Duration"), "E"), of("chrono::Duration"));
    // It has no first value.
    assert_eq!(missing(&struct_of("next: Option<Box<E>>"), "E"), of("E"));
    // Its fields may not be there, or cannot be named.
    assert_eq!(missing(&struct_of("#[cfg(unix)] m: u8"), "E"), of("E"));
    assert_eq!(missing("#[derive(Clone)] struct E<'a> { text: &'a str }", "E<'static>"), of("E<'static>"));
    assert_eq!(missing("mod inner { #[derive(Clone)] pub struct E { n: u8 } } use inner::E;", "E"), of("E"));
    // To drop a value does something.
    assert_eq!(missing("struct E(u8); impl Drop for E { fn drop(&mut self) {} }", "E"), of("E"));
}

#[test]
fn a_lock_keeps_such_a_value_as_a_whole() {
    let lock = |content: &str| {
        let source = format!(
            "use std::{{collections::*, sync::*}}; #[derive(Clone)] struct Window {{ hits: u32, all: HashMap<u8, u8> }} \
             struct S {{ lock: Mutex<{content}> }} impl S {{ fn new() -> S {{ todo!() }} \
             fn f(&self) {{ let n = self.lock.lock().unwrap().hits; self.lock.lock().unwrap().hits = n + 1; }} }}"
        );
        let [operation] = &found(&source).operations[..] else { panic!("one operation") };
        operation.recipe.clone().map(|recipe| recipe.data.len())
    };
    assert_eq!(lock("Window"), Ok(1));
    assert_eq!(lock("Option<Window>"), Ok(1));
    assert_eq!(lock("Vec<Window>"), Ok(1));
    let refused = "needs a collection in S that the environment can act on";
    assert_eq!(lock("Box<Window>"), Err(refused.to_owned()));
    assert_eq!(lock("(Window, u8)"), Err(refused.to_owned()));
}

/// What only its own methods reach is closed. A field of the same name in another type is another one; an outer type may reach through.
#[test]
fn whoever_may_reach_a_field_opens_a_type() {
    let known = |beside: &str| {
        let source = format!(
            "use dashmap::DashMap; #[derive(Default)] struct S {{ map: DashMap<u32, u32> }} \
             impl S {{ fn f(&self) {{ self.map.get(&1); self.map.remove(&1); }} fn g(&self) {{ self.map.clear(); }} }} {beside}"
        );
        let all = found(&source).operations;
        let one = all.iter().find(|one| one.name == "S::f").expect("it is found");
        one.recipe.clone().expect("it can be run").unknown
    };
    assert_eq!(known(""), None);
    assert_eq!(known("struct T { other: DashMap<u8, u8> } impl T { fn h(&self) { self.other.clear(); } }"), None);
    assert_eq!(known("struct T { map: DashMap<u8, u8> } impl T { fn h(&self) { self.map.clear(); } }"), None);
    let through = Some("T::h may reach its fields".to_owned());
    // Two values may share it.
    let shared =
        "use std::sync::Arc; struct T { map: Arc<DashMap<u8, u8>> } impl T { fn h(&self) { self.map.clear(); } }";
    assert_eq!(known(shared), through);
    assert_eq!(known(&shared.replace("Arc<DashMap<u8, u8>>", "&'static DashMap<u8, u8>")), through);
    assert_eq!(known(&shared.replace("Arc<DashMap<u8, u8>>", "moka::sync::Cache<u8, u8>")), through);
    assert_eq!(known("struct T { of: S } impl T { fn h(&self) { self.of.map.clear(); } }"), through);
    assert_eq!(known("struct T { all: Vec<S> } impl T { fn h(&self) { self.all[0].map.clear(); } }"), through);
    assert_eq!(known("fn h(s: &S) { s.map.clear(); }"), Some("h may reach its fields".to_owned()));
}
