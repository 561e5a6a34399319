//! Rewrites of small operations as one step: text in, text out. Each form has twins that look alike, where the form would do something
//! else.

mod atomics;
mod caches;
mod cells;
mod insertions;
mod locks;
mod maps;
mod queues;
mod removals;

use std::fs;

use interloper_composed::fixes::{Edit, Replacement, fixes, patched, replacements};
use interloper_composed::{Options, Package, scan};

/// The texts of the operation with each form, or why no form fits.
fn forms(body: &str) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("lib.rs");
    let source = format!(
        "use std::collections::HashMap;\nuse std::sync::{{Mutex, RwLock}};\nuse std::sync::atomic::*;\nuse dashmap::DashMap;\n\
         use crossbeam::queue::{{ArrayQueue, SegQueue}};\nuse crossbeam_skiplist::SkipMap;\nuse std::sync::OnceLock;\n\
         use arc_swap::{{ArcSwap, ArcSwapOption}};\n\n\
         struct Owner {{\n    map: DashMap<u32, u32>,\n    other: DashMap<u32, u32>,\n    skip: SkipMap<u32, u32>,\n    n: AtomicU32,\n    \
         open: AtomicBool,\n    jobs: SegQueue<u32>,\n    slots: ArrayQueue<u32>,\n    list: Mutex<Vec<u32>>,\n    hits: Mutex<u32>,\n    \
         table: RwLock<HashMap<u32, u32>>,\n    \
         scc: scc::HashMap<u32, u32>,\n    tree: scc::TreeIndex<u32, u32>,\n    papaya: papaya::HashMap<u32, u32>,\n    \
         flurry: flurry::HashMap<u32, u32>,\n    set: papaya::HashSet<u32>,\n    moka: moka::sync::Cache<u32, u32>,\n    \
         quick: quick_cache::sync::Cache<u32, u32>,\n    mini: mini_moka::sync::Cache<u32, u32>,\n    once: OnceLock<u32>,\n    \
         swap: ArcSwap<u32>,\n    all: ArcSwap<Vec<u32>>,\n    some: ArcSwapOption<u32>,\n}}\n\nimpl Owner {{\n    fn lookup(&self, k: u32) -> Option<u32> {{\n        \
         self.map.get(&k).map(|v| *v)\n    }}\n\n    fn big(&self, k: u32) -> Option<u32> {{\n        \
         self.map.get(&k).map(|v| *v).filter(|v| *v > 9)\n    }}\n\n{body}}}\n"
    );
    fs::write(&root, &source).expect("a file");
    let package = Package { name: "small".to_owned(), crates: vec![("small".to_owned(), root)] };
    let found = scan(&[package], &Options { base: folder.path().to_owned(), ..Options::default() });
    let [operation] = &found.operations[..] else { panic!("one operation, not {:?}", found.operations) };
    let all = fixes(&source, operation)?;
    let function = |edits: &Vec<Edit>| {
        let text = patched(&source, edits);
        assert_eq!(replaced(&source, &replacements(&source, edits)), text, "by lines and columns");
        let begin = text.find(body.lines().next().expect("a line")).expect("the operation");
        text[begin..].strip_suffix("}\n").expect("the end of the block").to_owned()
    };
    Ok(all.iter().map(|fix| function(&fix.edits)).collect())
}

/// A text after replacements by lines and columns, as a code host applies them: the last first.
fn replaced(text: &str, replacements: &[Replacement]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let place = |(line, column): (u32, u32)| {
        let ends = text.chars().enumerate().filter(|(_, one)| *one == '\n').map(|(at, _)| at + 1);
        let begin = std::iter::once(0).chain(ends).nth(line as usize - 1).expect("a line");
        begin + column as usize - 1
    };
    for one in replacements.iter().rev() {
        chars.splice(place(one.from)..place(one.to), one.text.chars());
    }
    chars.into_iter().collect()
}

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    assert_eq!(forms(body), Ok(expected.iter().map(|text| (*text).to_owned()).collect()));
}

/// What looks like the form and is not.
#[track_caller]
fn refuse(body: &str) {
    if let Ok(all) = forms(body) {
        panic!("no form, but:\n{}", all.join("\n"));
    }
}
