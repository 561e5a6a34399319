//! Code that announces its loads, stores and atomic operations.
//!
//! LLVM's pass for ThreadSanitizer puts calls into the code of a crate, also with a stable compiler: `-C passes` runs it, and
//! an attribute that it looks for is forced upon all functions. That is right for the crates under control and for one's
//! own, and wrong for build scripts and procedural macros. Cargo has no flags for single crates, so it is given a wrapper of
//! the compiler, which is this program once more: see [`Wrapper::of_environment`].
//!
//! The functions that are called are in the mirror of std. A program that is built along and does not use the mirror still
//! has to be linked, so a library with functions that do no more than the operation is linked to each program, after all
//! others.
//!
//! Test targets that no execution can begin in announce nothing: see [`quiet`].

pub(crate) mod quiet;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::quiet::Decisions;
use crate::refusal::Refusal;

/// Where the wrapper finds the names of the crates, with commas between.
const CRATES: &str = "INTERLOPER_ANNOUNCED";
/// Where the wrapper finds the library.
const LIBRARY: &str = "INTERLOPER_ANNOUNCED_LIBRARY";
/// Where the wrapper finds what is linked to a quiet target.
const QUIET: &str = "INTERLOPER_ANNOUNCED_QUIET";
/// Where the wrapper finds what is linked to all targets if each load is announced.
const EACH: &str = "INTERLOPER_ANNOUNCED_EACH";
/// Where the wrapper finds whether each load is announced.
const ANNOUNCED_ALL: &str = "INTERLOPER_ANNOUNCED_ALL";
/// Where the wrapper finds the wrapper that the user has.
const WRAPPED: &str = "INTERLOPER_WRAPPED";
/// Where cargo finds the wrapper.
const WRAPPER: &str = "RUSTC_WRAPPER";

/// What the compiler is told for a crate whose code announces what it does.
const FLAGS: [&str; 3] = [
    "-Cpasses=forceattrs function(tsan)",
    "-Cllvm-args=-force-attribute=sanitize_thread",
    "-Cllvm-args=-tsan-instrument-func-entry-exit=0",
];

/// What it is told besides where loads and stores are steps. Otherwise a load is left out if a store to the same place follows: a
/// race with the load is one with the store, too.
const EACH_LOAD: &str = "-Cllvm-args=-tsan-instrument-read-before-write";

/// What all crates of such a build are told: that they are in one, and to keep frame pointers, by which the mirror finds
/// who calls a function of std.
pub(crate) const ALL: [&str; 2] = ["--cfg=interloper_announced", "-Cforce-frame-pointers=yes"];

/// The source of the library for programs without the mirror.
const PLAIN: &str = include_str!("announce/plain_functions.rs");
/// The sources of what is linked to a quiet target, and to all targets if each load is announced: a symbol, by which the mirror knows
/// them.
const MARKS: [&str; 2] = [
    "#![no_std]\n#[unsafe(no_mangle)]\npub static INTERLOPER_QUIET: u8 = 1;\n",
    "#![no_std]\n#[unsafe(no_mangle)]\npub static INTERLOPER_EACH: u8 = 1;\n",
];

/// Whether loads and stores can be announced on a platform: its processor and its linker are known.
pub(crate) fn is_possible(triple: &str) -> bool {
    triple.ends_with("-linux-gnu") && (triple.starts_with("x86_64-") || triple.starts_with("aarch64-"))
}

/// Tells `command`, which is cargo, to build the crates of these names so that they announce their loads and stores, each of them or
/// those that matter for races. Test targets that are quiet announce nothing.
///
/// # Errors
/// When the library cannot be made.
pub(crate) fn add(
    command: &mut Command,
    (crates, each): (&BTreeSet<String>, bool),
    quiet: &Decisions,
    (folder, triple): (&Path, &str),
) -> Result<(), Refusal> {
    let system =
        |doing: &str, error: std::io::Error| Refusal::System { doing: doing.to_owned(), reason: error.to_string() };
    let program = std::env::current_exe().map_err(|error| system("find this program", error))?;
    let library = made(folder, triple, ("announced", PLAIN), ("rlib", "libannounced-", "a"))?;
    let quiet_mark = made(folder, triple, ("quiet", MARKS[0]), ("lib", "quiet-", "o"))?;
    let each_mark = made(folder, triple, ("each", MARKS[1]), ("lib", "each-", "o"))?;
    if let Some(wrapper) = std::env::var_os(WRAPPER).filter(|wrapper| !wrapper.is_empty()) {
        command.env(WRAPPED, wrapper);
    }
    let names: Vec<&str> = crates.iter().map(String::as_str).collect();
    command.env(WRAPPER, program).env(CRATES, names.join(",")).env(LIBRARY, library);
    command.env(ANNOUNCED_ALL, if each { "on" } else { "off" }).env(QUIET, quiet_mark).env(EACH, each_mark);
    quiet.tell(command);
    Ok(())
}

/// Compiles a source of ours, unless that was done before. The file has the `beginning`, the platform and the `ending` in its name.
fn made(
    folder: &Path,
    triple: &str,
    (name, text): (&str, &str),
    (kind, beginning, ending): (&str, &str, &str),
) -> Result<PathBuf, Refusal> {
    let (source, result) =
        (folder.join(name).with_extension("rs"), folder.join(format!("{beginning}{triple}.{ending}")));
    if result.is_file() && std::fs::read_to_string(&source).is_ok_and(|there| there == text) {
        return Ok(result);
    }
    std::fs::write(&source, text).map_err(|error| Refusal::file("write", &source, &error))?;
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(compiler);
    command.args(["--edition=2024", "-Cpanic=abort", "-Copt-level=2", "--crate-name", name, "--crate-type", kind]);
    if ending == "o" {
        command.args(["--emit=obj", "-Ccodegen-units=1"]);
    }
    command.args(["--target", triple, "-o"]).arg(&result).arg(&source);
    let output = command.output().map_err(|error| crate::cargo::cannot_run(&command, &error))?;
    if output.status.success() {
        Ok(result)
    } else {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Refusal::System { doing: format!("compile {}", source.display()), reason })
    }
}

/// The compiler, called by cargo through this program.
#[derive(Debug)]
pub struct Wrapper {
    command: Command,
    /// What cargo is to know of a crate that announces: the file that it reads, and lines for it.
    noted: Option<(PathBuf, String)>,
}

impl Wrapper {
    /// The call of the compiler that these arguments are, if cargo has called this program as its wrapper.
    pub fn of_environment(arguments: &[OsString]) -> Option<Wrapper> {
        let crates = std::env::var(CRATES).ok()?;
        let (compiler, arguments) = arguments.get(1..)?.split_first()?;
        // A program that is run by cargo has the variables, too, and may run `cargo interloper` itself.
        let is_path = Path::new(compiler).components().count() > 1;
        if !is_path && compiler != "rustc" && std::env::var_os("RUSTC").as_ref() != Some(compiler) {
            return None;
        }
        let mut command = match std::env::var_os(WRAPPED) {
            Some(wrapper) => {
                let mut command = Command::new(wrapper);
                command.arg(compiler);
                command
            }
            None => Command::new(compiler),
        };
        let crates: BTreeSet<&str> = crates.split(',').collect();
        let each = std::env::var_os(ANNOUNCED_ALL).is_some_and(|value| value == "on");
        let variable = root_of_test(arguments, &crates).map(|root| quiet::variable(&root));
        let is_quiet = variable.as_ref().is_some_and(|name| std::env::var_os(name).is_some());
        let linked = Linked {
            library: std::env::var_os(LIBRARY),
            quiet: std::env::var_os(QUIET).filter(|_| is_quiet),
            each: std::env::var_os(EACH).filter(|_| each),
        };
        let announces = after(arguments, "--crate-name").is_some_and(|name| crates.iter().any(|own| *own == name));
        let variables = variable.into_iter().chain(announces.then(|| ANNOUNCED_ALL.to_owned()));
        let lines: String = variables.map(|name| quiet::line(&name)).collect();
        let noted = dependencies_file(arguments).filter(|_| !lines.is_empty()).map(|file| (file, lines));
        command.args(kept(arguments, is_quiet)).args(more(arguments, (&crates, each), linked));
        Some(Wrapper { command, noted })
    }

    /// Calls the compiler, and gives its exit code.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(mut self) -> Result<u8, Refusal> {
        let status = self.command.status().map_err(|error| crate::cargo::cannot_run(&self.command, &error))?;
        if let (true, Some((file, line))) = (status.success(), &self.noted) {
            // Without the lines, cargo does not compile the crate again when it is no longer quiet, or is to announce more; the program
            // itself refuses checks then.
            let opened = OpenOptions::new().append(true).open(file);
            let _ = opened.and_then(|mut opened| opened.write_all(line.as_bytes()));
        }
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }
}

/// What follows an option.
fn after<'a>(arguments: &'a [OsString], option: &str) -> Option<&'a OsStr> {
    let at = arguments.iter().position(|argument| argument == option)?;
    arguments.get(at + 1).map(OsString::as_os_str)
}

/// The first file of a test target of one of these crates, as an absolute path.
fn root_of_test(arguments: &[OsString], crates: &BTreeSet<&str>) -> Option<PathBuf> {
    let is_own = crates.contains(after(arguments, "--crate-name")?.to_str()?);
    let is_file = |argument: &&OsString| {
        let path = Path::new(argument);
        path.extension().is_some_and(|extension| extension == "rs") && !argument.as_encoded_bytes().starts_with(b"-")
    };
    let mut files = arguments.iter().filter(is_file);
    let (Some(file), None) = (files.next(), files.next()) else { return None };
    let is_test = is_own && arguments.iter().any(|argument| argument == "--test");
    if is_test { Some(std::env::current_dir().ok()?.join(file)) } else { None }
}

/// The file in which the compiler writes what a crate was made of, for cargo.
fn dependencies_file(arguments: &[OsString]) -> Option<PathBuf> {
    let extra = arguments.iter().find_map(|argument| {
        let text = argument.to_str()?;
        text.strip_prefix("-C").unwrap_or(text).strip_prefix("extra-filename=")
    });
    let name = after(arguments, "--crate-name")?.to_str()?;
    Some(Path::new(after(arguments, "--out-dir")?).join(format!("{name}{}.d", extra.unwrap_or_default())))
}

/// The arguments that the compiler is given as they are. A build under control is optimised once, for the sake of whoever waits for it:
/// see `command` in `build.rs`. A quiet target, which checks nothing, is to run as `cargo test` has it: the compiler optimises its pieces
/// together afterwards, if the user's profile optimises at all.
fn kept(arguments: &[OsString], is_quiet: bool) -> Vec<OsString> {
    let is_optimised = arguments.iter().any(|argument| {
        let text = argument.to_str().unwrap_or_default();
        ["2", "3"].iter().any(|level| text.strip_prefix("-C").unwrap_or(text) == format!("opt-level={level}"))
    });
    let mut kept = arguments.to_vec();
    if is_quiet && is_optimised {
        while let Some(at) = kept.windows(2).position(|pair| pair[0] == "-C" && pair[1] == "lto=off") {
            kept.drain(at..at + 2);
        }
    }
    kept
}

/// What is linked to a program.
#[derive(Clone, Debug, Default)]
struct Linked {
    /// The library for programs without the mirror.
    library: Option<OsString>,
    /// The mark of a quiet target, if this is one.
    quiet: Option<OsString>,
    /// The mark of all targets, if each load is announced.
    each: Option<OsString>,
}

/// What the compiler is told beside these arguments.
fn more(arguments: &[OsString], (crates, each): (&BTreeSet<&str>, bool), linked: Linked) -> Vec<OsString> {
    let texts: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let Some(name) = after(arguments, "--crate-name").and_then(OsStr::to_str) else { return Vec::new() };
    let types: Vec<&str> = texts.windows(2).filter(|pair| pair[0] == "--crate-type").map(|pair| pair[1]).collect();
    let is_built_for_cargo = name.starts_with("build_script_") || types.contains(&"proc-macro");
    let mut more: Vec<OsString> = Vec::new();
    let links = texts.contains(&"--test") || types.iter().any(|kind| !matches!(*kind, "lib" | "rlib" | "staticlib"));
    let is_quiet = linked.quiet.is_some();
    for file in linked.quiet.into_iter().chain(linked.each).chain(linked.library).filter(|_| links) {
        let mut argument = OsString::from("-Clink-arg=");
        argument.push(file);
        more.push(argument);
    }
    if is_built_for_cargo {
        return more;
    }
    let has = |option: &str| {
        let joined = format!("-C{option}=");
        let spaced = format!("{option}=");
        texts.iter().any(|text| text.starts_with(&joined))
            || texts.windows(2).any(|pair| pair[0] == "-C" && pair[1].starts_with(&spaced))
    };
    let is = |option: &str| {
        texts.contains(&format!("-C{option}").as_str())
            || texts.windows(2).any(|pair| pair[0] == "-C" && pair[1] == option)
    };
    let mut add = |flag: &str| more.push(flag.into());
    if has("strip") {
        // Cargo strips what a profile without debug information has left.
        add("-Cstrip=none");
    }
    // Which code an access belongs to is read from the lines.
    if !has("debuginfo") || is("debuginfo=0") {
        add("-Cdebuginfo=line-tables-only");
    }
    if !crates.contains(name) {
        return more;
    }
    let is_optimised = ["2", "3"].iter().any(|level| is(&format!("opt-level={level}")));
    if !is_optimised {
        // At lower levels the compiler takes generic functions from other crates, where they announce nothing; and without any
        // optimisation each local variable is in memory, so there are ten times as many accesses.
        add("-Copt-level=2");
    }
    if !has("opt-level") {
        for check in ["debug-assertions", "overflow-checks"] {
            if !has(check) {
                add(&format!("-C{check}=on"));
            }
        }
    }
    if is_quiet {
        return more;
    }
    FLAGS.iter().for_each(|flag| add(flag));
    if each {
        add(EACH_LOAD);
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(quiet: Option<&str>) -> Linked {
        Linked { library: Some(OsString::from("plain.a")), quiet: quiet.map(OsString::from), each: None }
    }

    #[track_caller]
    fn check(arguments: &str, expected: &[&str]) {
        let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
        let [found, each] = [false, true].map(|each| more(&arguments, (&BTreeSet::from(["own"]), each), linked(None)));
        assert_eq!(found, expected, "{arguments:?}");
        let announces = expected.contains(&FLAGS[0]);
        assert_eq!(each, [expected, &[EACH_LOAD][..usize::from(announces)]].concat(), "{arguments:?}");
    }

    #[test]
    fn each_crate_is_told_what_concerns_it() {
        let [passes, attribute, entry] = FLAGS;
        let lines = "-Cdebuginfo=line-tables-only";
        let checks = ["-Copt-level=2", "-Cdebug-assertions=on", "-Coverflow-checks=on"];
        let [one, assertions, overflow] = checks;
        check("--crate-name other --crate-type lib", &[lines]);
        check("--crate-name other --crate-type lib -C debuginfo=2", &[]);
        check("--crate-name own --crate-type lib -C debuginfo=2 -C opt-level=3", &[passes, attribute, entry]);
        check("--crate-name own --crate-type lib", &[lines, one, assertions, overflow, passes, attribute, entry]);
        check("--crate-name own -Copt-level=1 -Cdebuginfo=1", &[one, passes, attribute, entry]);
        check("--crate-name own -Cdebuginfo=1 -C debug-assertions=off", &[one, overflow, passes, attribute, entry]);
        let link = "-Clink-arg=plain.a";
        check("--crate-name own --test -C debuginfo=2 -C opt-level=2", &[link, passes, attribute, entry]);
        check("--crate-name build_script_build --crate-type bin", &[link]);
        check("--crate-name own --crate-type proc-macro", &[link]);
        check("--crate-name other --crate-type lib -C debuginfo=0 -C strip=debuginfo", &["-Cstrip=none", lines]);
        check("-vV", &[]);
    }

    #[test]
    fn a_quiet_target_is_compiled_in_the_same_way_but_announces_nothing() {
        let arguments: Vec<OsString> = "--crate-name own --test".split(' ').map(OsString::from).collect();
        let own = BTreeSet::from(["own"]);
        for each in [false, true] {
            let loud = more(&arguments, (&own, each), linked(None));
            let quiet = more(&arguments, (&own, each), linked(Some("mark.o")));
            let is_kept = |flag: &&OsString| !FLAGS.iter().chain([&EACH_LOAD]).any(|announcing| flag == announcing);
            let expected: Vec<OsString> =
                [OsString::from("-Clink-arg=mark.o")].iter().chain(loud.iter().filter(is_kept)).cloned().collect();
            assert_eq!(quiet, expected);
            assert_eq!(loud.len() - quiet.len(), FLAGS.len() + usize::from(each) - 1);
        }
    }

    #[test]
    fn a_quiet_target_is_optimised_as_usual_if_it_is_at_all() {
        let check = |arguments: &str, is_quiet, expected: &str| {
            let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
            assert_eq!(kept(&arguments, is_quiet).join(OsStr::new(" ")), expected);
        };
        let optimised = "--crate-name own -C opt-level=2 -C lto=off --test";
        check(optimised, true, "--crate-name own -C opt-level=2 --test");
        check(optimised, false, optimised);
        let quick = "--crate-name own -C opt-level=1 -C lto=off --test";
        check(quick, true, quick);
        check(quick, false, quick);
    }

    #[test]
    fn a_test_target_is_known_by_its_file() {
        let root = |arguments: &str| {
            let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
            root_of_test(&arguments, &BTreeSet::from(["own"]))
        };
        let at = |path: &str| Some(std::env::current_dir().unwrap().join(path));
        assert_eq!(root("--crate-name own --edition=2024 tests/own.rs --test"), at("tests/own.rs"));
        assert_eq!(root("--crate-name own --edition=2024 /a/src/lib.rs --test"), Some("/a/src/lib.rs".into()));
        for other in [
            "--crate-name own src/lib.rs --crate-type lib",
            "--crate-name other tests/other.rs --test",
            "--crate-name own tests/own.rs tests/other.rs --test",
            "--crate-name own tests/own --test",
            "--crate-name own -Ca.rs --test",
        ] {
            assert_eq!(root(other), None, "{other}");
        }
    }

    #[test]
    fn cargo_reads_what_a_target_was_made_of() {
        let file = |arguments: &str| {
            let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
            dependencies_file(&arguments)
        };
        let expected = Some(PathBuf::from("/t/deps/own-12.d"));
        assert_eq!(file("--crate-name own -C extra-filename=-12 --out-dir /t/deps"), expected);
        assert_eq!(file("--crate-name own -Cextra-filename=-12 --out-dir /t/deps"), expected);
        assert_eq!(file("--crate-name own --out-dir /t/deps"), Some("/t/deps/own.d".into()));
        assert_eq!(file("--crate-name own"), None);
    }

    #[test]
    fn only_known_platforms() {
        assert!(is_possible("x86_64-unknown-linux-gnu") && is_possible("aarch64-unknown-linux-gnu"));
        assert!(!is_possible("x86_64-unknown-linux-musl") && !is_possible("wasm32-wasip1"));
    }

    #[test]
    fn the_library_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        if !is_possible(&triple) {
            return;
        }
        let make = || made(folder.path(), &triple, ("announced", PLAIN), ("rlib", "libannounced-", "a"));
        let library = make().unwrap();
        let made = std::fs::metadata(&library).unwrap().modified().unwrap();
        assert_eq!(make().unwrap(), library);
        assert_eq!(std::fs::metadata(&library).unwrap().modified().unwrap(), made);
    }

    #[test]
    fn a_command_of_the_user_is_no_call_of_the_compiler() {
        let arguments = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(Wrapper::of_environment(&arguments("cargo-interloper interloper test")).is_none());
    }
}
