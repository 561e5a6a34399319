//! How long a scan takes: `speed` writes 100,000 lines of source into a folder of its own and scans them; `speed FILE` scans
//! the crate with this root.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use interloper_composed::{Options, Package, scan};

/// The modules of the generated crate.
const MODULES: usize = 280;
/// The types of a module. Each has 18 lines.
const TYPES: usize = 20;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = std::env::args_os().nth(1).map_or_else(|| generated(folder.path()), PathBuf::from);
    let package = Package { name: "it".to_owned(), crates: vec![("it".to_owned(), root)] };
    let start = Instant::now();
    let found = scan(&[package], &Options::default());
    println!(
        "{} lines in {} files: {} operations, {:.2} s",
        found.lines,
        found.files,
        found.operations.len(),
        start.elapsed().as_secs_f64()
    );
}

/// Each type has an operation, a helper, a critical section, and a function that calls the type of the module before.
fn generated(folder: &std::path::Path) -> PathBuf {
    let mut root = String::new();
    for module in 0..MODULES {
        writeln!(root, "mod m{module};").expect("a string");
        let mut text = String::from("use dashmap::DashMap;\nuse std::sync::Mutex;\n");
        for ty in 0..TYPES {
            let before = module.saturating_sub(1);
            write!(
                text,
                "pub struct T{ty} {{\n    map: DashMap<u32, u32>,\n    log: Mutex<Vec<u32>>,\n}}\nimpl T{ty} {{\n    \
                 pub fn known(&self, key: u32) -> bool {{\n        self.map.contains_key(&key)\n    }}\n    \
                 pub fn add(&self, key: u32, other: &crate::m{before}::T{ty}) {{\n        if !self.known(key) {{\n            \
                 self.map.insert(key, key);\n        }}\n        other.note(key);\n    }}\n    \
                 pub fn note(&self, key: u32) {{\n        self.log.lock().unwrap().push(key);\n    }}\n}}\n"
            )
            .expect("a string");
        }
        fs::write(folder.join(format!("m{module}.rs")), text).expect("a file");
    }
    let path = folder.join("lib.rs");
    fs::write(&path, root).expect("a file");
    path
}
