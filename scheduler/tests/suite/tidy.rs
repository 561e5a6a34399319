//! Nothing is hashed or locked per step: what runs at each step does not know how. That nothing is allocated is counted
//! in `resources.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// What does not run at a step: the thread of the watchdogs, what is installed once in a process, and what happens after an execution.
const ONCE: [&str; 5] = ["watchdog.rs", "looks.rs", "escape.rs", "panics.rs", "abandoned.rs"];

/// The names of steps, of a search that compares the steps of different executions. It looks them up after an execution,
/// and at the steps of executions with constraints.
const NAMES: &str = "rff/events.rs";

const HASHES_OR_LOCKS: [&str; 9] =
    ["Hash", "RandomState", "Mutex", "RwLock", "Condvar", "mpsc", "fetch_", "compare_exchange", "println!"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Which of the words are in the code of a file, outside comments, derives, and the names of what is modelled.
fn words(text: &str) -> Vec<&'static str> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("#[derive"));
    let code: String = lines.map(|line| line.split("//").next().unwrap_or(line)).collect();
    let modelled = ["ObjectKind::Mutex", "ObjectKind::RwLock", "ObjectKind::Condvar"];
    let code = modelled.iter().fold(code, |code, name| code.replace(name, ""));
    HASHES_OR_LOCKS.into_iter().filter(|word| code.contains(word)).collect()
}

#[test]
fn what_runs_at_each_step_neither_hashes_nor_locks() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    ["engine", "strategies", "decisions"].into_iter().for_each(|folder| files(&source.join(folder), &mut found));
    assert!(found.len() > 20, "{found:?}");
    for file in found {
        let name = file.file_name().unwrap().to_str().unwrap();
        if !ONCE.contains(&name) && !file.ends_with(NAMES) {
            assert_eq!(words(&fs::read_to_string(&file).unwrap()), [""; 0], "{name}");
        }
    }
}

#[test]
fn what_would_be_found() {
    assert_eq!(words("let map: HashMap<u32, Mutex<u32>>; // RwLock"), ["Hash", "Mutex"]);
    assert_eq!(words("#[derive(Hash)]\nlet kind = ObjectKind::Mutex; let other = ObjectKind::Condvar;"), [""; 0]);
}
