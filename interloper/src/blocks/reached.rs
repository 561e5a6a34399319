//! Which of the crates that `cargo interloper test` puts under control have made steps, and which atomic blocks have run.
//!
//! If a chosen crate makes no step in any check, controlling it is useless: perhaps the tests call another version of
//! the crate, or run it outside of checks. A variable, which the command sets, names the folder for these notes;
//! `reached.rs` of `interloper-adopt` describes their format.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use interloper_scheduler::Event;

use super::report::Coverage;
use super::unexplored::Unexplored;

/// The crates that are looked for.
struct Looked {
    folder: PathBuf,
    crates: Vec<Crate>,
}

struct Crate {
    number: String,
    /// What the names of its files begin with.
    prefixes: Vec<String>,
    reached: AtomicBool,
}

/// What was looked at: the places of steps, by their addresses, and the names of blocks.
#[derive(Debug, Default)]
pub(crate) struct Known {
    places: BTreeSet<usize>,
    blocks: BTreeSet<&'static str>,
}

/// Takes note of the crates that an execution has reached, and of its blocks. Without the variable it does nothing.
pub(crate) fn note(trace: &[Event], blocks: impl Iterator<Item = &'static str>, known: &mut Known) {
    let Some(looked) = Looked::at() else { return };
    for block in blocks {
        if known.blocks.insert(block) {
            looked.note_block(block);
        }
    }
    for event in trace {
        let location = event.operation.location;
        if known.places.insert(std::ptr::from_ref(location).addr()) {
            looked.reach(location.file());
        }
    }
}

/// What a test that has passed is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// Executions differed.
    Explored,
    /// The executions could not differ.
    Nothing,
    /// The time was over before the first execution.
    NoTime,
    /// Each execution was stopped at the step bound.
    NoEnd,
}

impl Worth {
    pub(crate) fn of(coverage: &Coverage) -> Worth {
        match coverage.trivial {
            Some(Unexplored::NoTime) => Worth::NoTime,
            _ if coverage.given_up > 0 && coverage.given_up == coverage.executions => Worth::NoEnd,
            Some(_) => Worth::Nothing,
            None => Worth::Explored,
        }
    }
}

/// Takes note of a test that has passed. Without the variable this does nothing.
pub(crate) fn note_check(worth: Worth) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let Some(looked) = Looked::at() else { return };
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let kind = match worth {
        Worth::Explored => "passed",
        Worth::Nothing => "trivial",
        Worth::NoTime => "no-time",
        Worth::NoEnd => "no-end",
    };
    looked.write(&format!("{kind}-{}-{number}", std::process::id()));
}

impl Looked {
    /// What the command asks for, if it asks.
    fn at() -> Option<&'static Looked> {
        static LOOKED: OnceLock<Option<Looked>> = OnceLock::new();
        LOOKED.get_or_init(Looked::from_environment).as_ref()
    }

    fn from_environment() -> Option<Looked> {
        let folder = PathBuf::from(std::env::var_os("INTERLOPER_REACHED")?);
        let looked = Looked { crates: crates(&fs::read_to_string(folder.join("crates")).ok()?), folder };
        looked.write("checked");
        Some(looked)
    }

    fn reach(&self, file: &str) {
        let found = |one: &&Crate| one.prefixes.iter().any(|prefix| file.starts_with(prefix.as_str()));
        for one in self.crates.iter().filter(found) {
            if !one.reached.swap(true, Ordering::Relaxed) {
                self.write(&one.number);
            }
        }
    }

    /// The name of a block need not be one of a file.
    fn note_block(&self, block: &str) {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        self.put(&format!("block-{}-{number}", std::process::id()), block);
    }

    fn write(&self, name: &str) {
        self.put(name, "");
    }

    /// A folder that no longer exists has no reader, so an error does not matter.
    fn put(&self, name: &str, content: &str) {
        let _ = fs::write(self.folder.join(name), content);
    }
}

/// The crates of the lines of a file.
fn crates(text: &str) -> Vec<Crate> {
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let number = parts.next()?.to_owned();
        let prefixes = parts.filter(|folder| !folder.is_empty()).map(|folder| format!("{folder}/")).collect();
        Some(Crate { number, prefixes, reached: AtomicBool::new(false) })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_known_by_the_folder_of_its_sources() {
        let folder = std::env::temp_dir().join(format!("interloper-reached-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let crates = crates("0\t/registry/map-1.0.0\t\n1\t/project/low\tlow\n2\t/registry/lock-1.0.0\t\n");
        let looked = Looked { folder: folder.clone(), crates };
        for file in
            ["/registry/map-1.0.0/src/table.rs", "low/src/lib.rs", "lower/src/lib.rs", "/registry/lock-1.0.01/x.rs"]
        {
            looked.reach(file);
        }
        let found: BTreeSet<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, BTreeSet::from(["0".to_owned(), "1".to_owned()]));
    }
}
