//! Whose code is at an address, from the debug information of the program.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{LazyLock, Mutex, Once, PoisonError};

use interloper_scheduler::{Located, SourcePlace};
use interloper_std::{plain, runtime};

/// Whose code is at this address. Its inlined functions are asked first: the innermost one that is not of std decides.
pub(crate) fn locate(address: usize) -> Located {
    static KNOWN: LazyLock<Mutex<HashMap<usize, Located>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(address).or_insert_with(|| look_up(address)).clone()
}

/// Finds the files that the program is loaded from, before any address is looked up.
///
/// This takes the lock of the loader. While another thread holds that lock, it may allocate (std's panic hook does so for a backtrace),
/// and each allocation is looked up. If the first look-up came from there, the two threads would wait for each other.
pub(crate) fn prepare() {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        runtime::leave(|| backtrace::resolve(prepare as *const () as *mut _, |_| ()));
    });
}

/// The innermost of the program's functions at this address, inlined ones among them, that fits. What calls a function of the checker
/// leads to no step of the program, so the search ends there.
pub(crate) fn line_at(address: usize, fits: impl Fn(&SourcePlace) -> bool) -> Option<SourcePlace> {
    // All of them are kept: what fits is for each caller to say.
    static KNOWN: LazyLock<Mutex<HashMap<usize, Vec<SourcePlace>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let look_up = || {
        let (mut places, mut goes_on) = (Vec::new(), true);
        each_function(address, |located| match located {
            Located::Program(place) if goes_on => places.push(place),
            Located::Checker | Located::Destructors => goes_on = false,
            Located::Program(_) | Located::Library => {}
        });
        places
    };
    known.entry(address).or_insert_with(look_up).iter().find(|place| fits(place)).cloned()
}

/// Whether there is a function of the engine at this address.
pub(crate) fn is_of_engine(address: usize) -> bool {
    static KNOWN: LazyLock<Mutex<HashMap<usize, bool>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let look_up = || {
        let mut found = false;
        let is_there = |text: &str| roots().any(|root| text.starts_with(&format!("{root}/scheduler/src/engine")));
        each_symbol(address, |file, _, _| found |= is_there(&file.to_string_lossy()));
        found
    };
    *known.entry(address).or_insert_with(look_up)
}

/// Whether the program has the debug information that [`locate`] reads: without it, code of the checker would be taken for the
/// program's.
pub(crate) fn knows_lines() -> bool {
    locate(knows_lines as *const () as usize + 1) == Located::Checker
}

fn look_up(address: usize) -> Located {
    let found = innermost(address);
    let before = with_line(address);
    if before == address {
        return found;
    }
    // The compiler writes some instructions without a line, such as the stores of `[value; 2]`. They seem to belong to the function that
    // they have been inlined into. If that one is of the checker or of std, they count as part of what is before them.
    match (&found, innermost(before)) {
        (Located::Program(_), Located::Checker | Located::Destructors | Located::Library) => found,
        (_, nearest) => nearest,
    }
}

/// The innermost of the functions at this address that is not of std.
fn innermost(address: usize) -> Located {
    let mut found = Located::Library;
    each_function(address, |located| {
        if found == Located::Library {
            found = located;
        }
    });
    found
}

/// Whose functions are at this address, the innermost first.
fn each_function(address: usize, mut take: impl FnMut(Located)) {
    each_symbol(address, |file, line, column| take(of_file(file, line, column)));
}

/// The nearest instruction that has a line, at this address or before it in the same function. If none has, this address.
fn with_line(address: usize) -> usize {
    /// So far back is looked, in bytes.
    const FARTHEST: usize = 512;
    // The function that the compiler has made, into which others may be inlined, and whether there is a line.
    let at = |address: usize| {
        let (mut has_line, mut function) = (None, None);
        runtime::leave(|| {
            backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| {
                has_line.get_or_insert(symbol.lineno().is_some_and(|line| line > 0));
                function = symbol.name().map(|name| name.as_bytes().to_vec());
            });
        });
        (has_line.unwrap_or(true), function)
    };
    let (has_line, function) = at(address);
    if has_line {
        return address;
    }
    let before = (1..=FARTHEST).map_while(|back| address.checked_sub(back)).map(|address| (address, at(address)));
    let mut before = before.take_while(|(_, (_, other))| *other == function);
    before.find(|(_, (has_line, _))| *has_line).map_or(address, |(address, _)| address)
}

/// The file, the line and the column of each function at this address, the innermost first.
fn each_symbol(address: usize, mut take: impl FnMut(&Path, u32, u32)) {
    // Crates that read debug information, memchr for one, may be under control: no step of theirs is one of the program.
    runtime::leave(|| {
        backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| {
            if let Some(file) = symbol.filename() {
                take(file, symbol.lineno().unwrap_or(0), symbol.colno().unwrap_or(0));
            }
        });
    });
}

fn of_file(file: &Path, line: u32, column: u32) -> Located {
    let text = file.to_string_lossy();
    if text.starts_with("/rustc/") || text.starts_with("/rust/deps/") || text.contains("/lib/rustlib/src/rust/") {
        return Located::Library;
    }
    // The allocator, and what of the mirror keeps nothing of its own in memory: the functions of `std::alloc`, the maps, which differ
    // from those of std in their hasher alone, and the keys of thread-locals.
    let std = ["plain/allocator.rs", "alloc.rs", "collections.rs", "collections/", "thread/local.rs"];
    if roots().any(|root| std.iter().any(|part| text.starts_with(&format!("{root}/instrument/src/{part}")))) {
        return Located::Library;
    }
    if roots().any(|root| DESTRUCTORS.iter().any(|part| text.as_ref() == format!("{root}/{part}"))) {
        return Located::Destructors;
    }
    if is_own(&text) {
        return Located::Checker;
    }
    if plain::replaced().iter().any(|folder| file.starts_with(folder)) {
        return Located::Checker;
    }
    Located::Program(SourcePlace { file: text.into_owned(), line, column })
}

/// Whether a path is that of a source of Interloper.
pub(crate) fn is_own(path: &str) -> bool {
    roots().any(|root| OWN.iter().any(|folder| path.starts_with(&format!("{root}/{folder}/src/"))))
}

/// A place without the folders of this machine: of a published crate, of std, and of Interloper itself.
#[cfg(any(test, feature = "composed"))]
pub(crate) fn of_no_machine(place: &str) -> String {
    match roots().find_map(|root| place.strip_prefix(root)?.strip_prefix('/')) {
        Some(below) if is_own(place) => format!("interloper: {below}"),
        _ => interloper_report::shorten::in_crate(place),
    }
}

/// The files in which destructors of the program are called.
const DESTRUCTORS: [&str; 2] = ["scheduler/src/engine/destructors.rs", "instrument/src/thread/destructors.rs"];

/// The folders of the crates that check programs, and that put their code into those of the program.
const OWN: [&str; 11] = [
    "commutativity",
    "harness",
    "instrument",
    "instrument/collections",
    "instrument/parking_lot",
    "instrument/parking_lot_core",
    "interloper",
    "linearize",
    "random",
    "report",
    "scheduler",
];

/// The folder that these folders are in: where cargo builds it, and where the debug information says that it is.
fn roots() -> impl Iterator<Item = &'static str> {
    let parents =
        [env!("CARGO_MANIFEST_DIR").strip_suffix("/interloper"), file!().strip_suffix("/interloper/src/locate.rs")];
    parents.into_iter().flatten().filter(|root| root.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_names_no_folder_of_the_machine() {
        let root = roots().next().unwrap();
        let own = format!("{root}/instrument/src/sync/atomic/integer.rs:85:1");
        assert_eq!(of_no_machine(&own), "interloper: instrument/src/sync/atomic/integer.rs:85:1");
        let published = "/home/me/.cargo/registry/src/index-1/some-1.0.0/src/lib.rs:3:7";
        assert_eq!(of_no_machine(published), "some-1.0.0/src/lib.rs:3:7");
        assert_eq!(of_no_machine("/rustc/0123/library/core/src/cell.rs:3:7"), "std: core/src/cell.rs:3:7");
        // What the compiler was given below the program's folder stays.
        assert_eq!(of_no_machine("src/lib.rs:3:7"), "src/lib.rs:3:7");
    }

    #[test]
    fn code_is_of_std_of_the_checker_or_of_the_program() {
        assert!(knows_lines());
        let root = roots().next().unwrap();
        assert_eq!(locate(0), Located::Library);
        let program = |file: &str| of_file(Path::new(file), 3, 4);
        assert_eq!(program("/rustc/0123/library/alloc/src/vec/mod.rs"), Located::Library);
        assert_eq!(program(&format!("{root}/instrument/src/sync/mutex.rs")), Located::Checker);
        assert_eq!(program(&format!("{root}/instrument/src/plain/allocator.rs")), Located::Library);
        assert_eq!(program(&format!("{root}/instrument/src/alloc.rs")), Located::Library);
        assert_eq!(program(&format!("{root}/instrument/src/collections/map.rs")), Located::Library);
        assert_eq!(program(&format!("{root}/instrument/src/thread/local.rs")), Located::Library);
        assert_eq!(program(&format!("{root}/instrument/collections/src/map.rs")), Located::Checker);
        assert_eq!(program(&format!("{root}/instrument/src/thread/destructors.rs")), Located::Destructors);
        let place = |file: &str| SourcePlace { file: file.to_owned(), line: 3, column: 4 };
        for file in ["/home/user/instrument/src/lib.rs", "src/lib.rs", &format!("{root}/examples/src/a.rs")] {
            assert_eq!(program(file), Located::Program(place(file)));
        }
    }
}
