//! What each memory ordering of a project is for.

use super::*;

/// A mailbox and a counter: places that no test reaches, and a counter that is stronger than it need be.
const LIBRARY: &str = "\
#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Default)]
pub struct Mailbox(AtomicU32, AtomicU32);

impl Mailbox {
    pub fn send(&self) {
        self.0.store(7, Ordering::Relaxed);
        self.1.store(1, Ordering::Release);
    }

    pub fn receive(&self) -> Option<u32> {
        (self.1.load(Ordering::Acquire) == 1).then(|| self.0.load(Ordering::Relaxed))
    }

    pub fn is_full(&self) -> bool {
        self.1.load(Ordering::SeqCst) == 1
    }
}

#[cfg(windows)]
pub fn elsewhere(number: &AtomicU32) {
    number.store(1, Ordering::SeqCst);
}

pub fn count(number: &AtomicU32) {
    number.fetch_add(1, Ordering::SeqCst);
}
";

const TESTS: &str = "
#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    fn sends() {
        let mailbox = Arc::new(Mailbox::default());
        let theirs = mailbox.clone();
        let reader = thread::spawn(move || assert_ne!(theirs.receive(), Some(0), \"no letter\"));
        mailbox.send();
        reader.join().unwrap();
    }

    fn counts() {
        let number = Arc::new(AtomicU32::new(0));
        let theirs = number.clone();
        let other = thread::spawn(move || count(&theirs));
        count(&number);
        other.join().unwrap();
        assert_eq!(number.load(Ordering::Relaxed), 2);
    }

    #[interloper::test(executions = 300)]
    fn a_letter_arrives() {
        sends();
    }

    #[interloper::test(executions = 200, memory = \"sc\")]
    fn all_are_counted() {
        counts();
    }

    #[test]
    fn all_are_counted_by_a_plain_test() {
        interloper::Checker::new(\"counts\").executions(100).check(counts).unwrap().assert_grade(interloper::blocks::Grade::Clean);
    }

    #[test]
    fn nothing_is_checked_here() {}
}
";

/// A crate with a name of its own: cargo builds crates of the same name into the same file, wherever they are.
fn project(name: &str, library: &str) -> Project {
    let facade = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let facade = facade.canonicalize().expect("the facade is in this workspace");
    let project = Project::new(&format!("[dev-dependencies.interloper]\npath = {facade:?}\n"));
    let manifest = fs::read_to_string(project.folder().join("Cargo.toml")).expect("a manifest");
    project.put("Cargo.toml", &manifest.replace("name = \"subject\"", &format!("name = \"{name}\"")));
    project.put("src/lib.rs", library);
    project
}

#[test]
fn needed_orderings_are_told_from_those_that_are_stronger() {
    let project = project("mailbox", &format!("{LIBRARY}{TESTS}"));
    let before = files(project.folder());
    let ran = project.run(&["orderings"]).expect(0);
    assert!(ran.err.ends_with("\nweakening 3 orderings\n"), "{}", ran.err);
    let expected = "\
the orderings of mailbox: 5 sites, 600 executions as it is

place               operation   ordering   instead   outcome
────────────────────────────────────────────────────────────────────────────────────────────────────
src/lib.rs:13:16    store       Release    Relaxed   killed: tests::a_letter_arrives: panic: no letter
src/lib.rs:17:17    load        Acquire    Relaxed   killed: tests::a_letter_arrives: panic: no letter
src/lib.rs:21:16    load        SeqCst     –         not reached
src/lib.rs:27:12    store       SeqCst     –         not reached
src/lib.rs:31:12    update      SeqCst     AcqRel    survived 300 executions
                                           Acquire   survived 300 executions
                                           Release   survived 300 executions
                                           Relaxed   survived 300 executions
";
    let (table, rest) = ran.out.split_once("\n\nsrc/lib.rs:13:16: Release is needed\n").expect("a verdict");
    let words = |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let (table, expected): (Vec<String>, Vec<String>) = (words(table), words(expected));
    let same = |row: &String| !row.starts_with('─');
    let killed = |row: &String| row.split(": assertion").next().unwrap_or_default().to_owned();
    let rows: Vec<String> = table.iter().filter(|row| same(row)).map(killed).collect();
    let expected: Vec<String> =
        expected.iter().filter(|row| same(row)).map(|row| row.replace(": no letter", "")).collect();
    assert_eq!(rows, expected, "{}", ran.out);
    for line in [
        "src/lib.rs:21:16: not reached: no execution under weak memory makes this load\n",
        "src/lib.rs:31:12: Relaxed is enough: SeqCst is stronger than these tests can justify, or the tests are too weak\n",
        "\n2 needed, 1 stronger than these tests can justify, 0 unclear, 2 not reached\n",
    ] {
        assert!(rest.contains(line), "{}", ran.out);
    }
    replays(&project, rest);
    assert_eq!(again(|| project.run(&["orderings"]).expect(0)).out, ran.out);
    assert!(files(project.folder()) == before);
    other_formats(&project);
    only_some(&project);
}

/// The first command of the output shows its finding. With the ordering of the source, the test passes.
fn replays(project: &Project, out: &str) {
    let line = out.lines().find_map(|line| line.split_once(" with Relaxed: ")).expect("a command").1;
    let (change, rest) =
        line.strip_prefix("INTERLOPER_ORDERING='").and_then(|rest| rest.split_once('\'')).expect("a change");
    let (decisions, rest) =
        rest.trim_start().strip_prefix("INTERLOPER_REPLAY=").and_then(|rest| rest.split_once(' ')).expect("decisions");
    assert_eq!(rest, "cargo interloper test tests::a_letter_arrives -- --exact");
    let arguments = ["test", "tests::a_letter_arrives", "--", "--exact"];
    let replay = || {
        let mut command = command(project.folder(), &arguments);
        command.env("INTERLOPER_REPLAY", decisions).env("INTERLOPER_FAILURES", "off");
        command
    };
    let changed = ran(replay().env("INTERLOPER_ORDERING", change)).expect(1);
    assert!(changed.out.contains("no letter") && changed.out.contains("1 failed"), "{}", changed.out);
    assert!(changed.out.contains(&format!("INTERLOPER_ORDERING='{change}' INTERLOPER_REPLAY=")), "{}", changed.out);
    let wrong = ran(replay().env("INTERLOPER_ORDERING", "x")).expect(1);
    assert!(wrong.out.contains("the environment variable INTERLOPER_ORDERING is \"x\": "), "{}", wrong.out);
    project.run(&arguments).expect(0);
}

fn other_formats(project: &Project) {
    let json: serde_json::Value =
        serde_json::from_str(&project.run(&["orderings", "--format", "json"]).expect(0).out).unwrap();
    let verdicts: Vec<&str> =
        json["sites"].as_array().unwrap().iter().map(|site| site["verdict"].as_str().unwrap()).collect();
    let expected = ["needed", "needed", "not-reached", "not-reached", "stronger-than-justified"];
    assert_eq!((&json["version"], verdicts), (&1.into(), expected.to_vec()));
    // In parts, which are joined. There are more parts than orderings.
    let whole = project.run(&["orderings"]).expect(0).out;
    let parts: Vec<String> = (1..=6).map(|number| format!("part-{number}.json")).collect();
    for (number, name) in (1..).zip(&parts) {
        let part = project.run(&["orderings", "--shard", &format!("{number}/6")]).expect(0);
        let document: serde_json::Value = serde_json::from_str(&part.out).expect("JSON");
        let trials = document["gave"]["orderings"].as_object().expect("orderings").len();
        assert!(trials <= 1, "{}", part.out);
        assert_eq!(part.err.contains("has nothing to do: "), trials == 0, "{}", part.err);
        fs::write(project.folder().join(name), part.out).expect("a file");
    }
    let all: Vec<&str> = ["merge"].into_iter().chain(parts.iter().map(String::as_str)).collect();
    assert_eq!(project.run(&all).expect(0).out, whole, "what one machine prints");
    // What each weaker ordering leads to has a page, of the merge as of the whole.
    let pages = |arguments: &[&str]| {
        let ran = project.run(&[arguments, &["--html", "page.html"]].concat()).expect(0);
        assert_eq!(ran.out, whole);
        assert!(
            ran.err.contains("page-2.html: tests::a_letter_arrives with Relaxed at src/lib.rs:17:17, "),
            "{}",
            ran.err
        );
        let page = |name: &str| {
            let page = fs::read_to_string(project.folder().join(name)).expect(name);
            super::assert_page(&project.folder().join(name), &["no letter", "INTERLOPER_ORDERING="]);
            page
        };
        assert!(!project.folder().join("page-3.html").exists(), "{}", ran.err);
        [page("page.html"), page("page-2.html")]
    };
    assert!(pages(&["orderings"]) == pages(&all), "the pages that one machine writes");
    let clean = project.run(&["orderings", "--html", "page.html", "all_are_counted"]).expect(0).err;
    assert!(clean.contains("no finding was found, so ") && !project.folder().join("page.html").exists(), "{clean}");
    let missing = project.run(&all[..6]).expect(2).err;
    assert!(missing.contains("error: shard 6 of 6 is missing"), "{missing}");
    parts.iter().for_each(|name| fs::remove_file(project.folder().join(name)).expect("a file"));
    let sarif = project.run(&["orderings", "--format", "sarif", "--progress", "json"]).expect(0);
    let events = super::events(&sarif.err);
    let finished = |what: &str| events.iter().any(|event| event["event"] == "finished" && event["what"] == what);
    assert!(finished("test") && finished("ordering"), "{events:?}");
    assert!(events.iter().all(|event| event["event"] != "finding"), "{events:?}");
    let sarif = sarif.out;
    super::assert_valid(&sarif, ".sarif");
    super::assert_valid(&project.run(&["orderings", "--format", "junit"]).expect(0).out, ".xml");
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let line = |result: &serde_json::Value| {
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "src/lib.rs");
        place["region"]["startLine"].as_u64().unwrap()
    };
    let lines: Vec<u64> = sarif["runs"][0]["results"].as_array().unwrap().iter().map(line).collect();
    assert_eq!(lines, [21, 27, 31]);
}

/// The counter alone is tested, so nothing is said of the mailbox but that it is not reached.
fn only_some(project: &Project) {
    let out = project.run(&["orderings", "counted"]).expect(0).out;
    assert!(out.starts_with("the orderings of mailbox: 5 sites, 300 executions as it is\n"), "{out}");
    assert!(out.ends_with("\n0 needed, 1 stronger than these tests can justify, 0 unclear, 4 not reached\n"), "{out}");
    let exact = project.run(&["orderings", "tests::a_letter_arrives", "--", "--exact"]).expect(0).out;
    assert!(
        exact.ends_with("\n2 needed, 0 stronger than these tests can justify, 0 unclear, 3 not reached\n"),
        "{exact}"
    );
    let nothing = project.run(&["orderings", "nothing_is_checked_here"]).expect(2);
    assert!(nothing.err.contains("nothing was explored: no test checks a program"), "{}", nothing.err);
    let nobody = project.run(&["orderings", "--sites", "nobody"]).expect(2);
    assert!(nobody.err.contains("error: nobody is not a dependency"), "{}", nobody.err);
}

/// The letter is published with Relaxed: the command says where Release belongs.
#[test]
fn a_test_that_fails_is_told_what_removes_its_finding() {
    let library = LIBRARY.replace("self.1.store(1, Ordering::Release)", "self.1.store(1, Ordering::Relaxed)");
    let project = project("relaxed-mailbox", &format!("{library}{TESTS}"));
    let out = project.run(&["orderings"]).expect(1).out;
    assert!(
        out.starts_with(
            "relaxed-mailbox has a finding as it is, so no ordering was weakened\n\ntests::a_letter_arrives: panic: "
        ),
        "{out}"
    );
    assert!(out.contains("\n    see it: INTERLOPER_MEMORY=weak INTERLOPER_REPLAY=F"), "{out}");
    let fix = "\n    Release instead of Relaxed removes it: the store at src/lib.rs:13:16 (300 executions)\n";
    assert!(out.ends_with(fix), "{out}");
    let tests = TESTS.replace("fn nothing_is_checked_here() {}", "fn fails() { panic!(\"as always\") }");
    project.put("src/lib.rs", &format!("{LIBRARY}{tests}"));
    let ran = project.run(&["orderings"]).expect(1);
    let says =
        "the tests must pass before an ordering is weakened: failed without a finding: tests::fails: as always\n";
    assert!(ran.err.ends_with(says), "{}", ran.err);
}

/// A letter that is missing has the reader loop for ever, end the process, or only take more executions.
const OTHERWISE: &str = "
#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    fn sends(missing: fn()) {
        let mailbox = Arc::new(Mailbox::default());
        let theirs = mailbox.clone();
        let reader = thread::spawn(move || if theirs.receive() == Some(0) { missing() });
        mailbox.send();
        reader.join().unwrap();
    }

    #[interloper::test(executions = 300)]
    fn a_reader_loops() {
        sends(|| loop { core::hint::spin_loop() });
    }

    #[interloper::test(executions = 300)]
    fn a_reader_ends_the_process() {
        sends(crash);
    }

    #[test]
    fn a_reader_makes_a_difference() {
        let checker = interloper::Checker::new(\"sends\").schedule(interloper::blocks::Schedule::Exhaustive);
        let executions = checker.check(|| sends(|| {})).unwrap().coverage.executions;
        assert!(executions == 4, \"{executions} executions\");
    }

    unsafe extern \"C\" { fn raise(signal: i32) -> i32; }

    fn crash() { unsafe { raise(9); } }
}
";

#[test]
fn what_is_no_finding_kills_nothing() {
    let project = project("other-outcomes", &format!("{LIBRARY}{OTHERWISE}"));
    let outcome = |test: &str| {
        let mut command = command(project.folder(), &["orderings", "--time", "5", test]);
        let out = ran(command.env("INTERLOPER_PATIENCE_MS", "0")).expect(0).out;
        assert!(out.contains("\nsrc/lib.rs:13:16: unclear: "), "{out}");
        assert!(
            out.ends_with("\n0 needed, 0 stronger than these tests can justify, 2 unclear, 3 not reached\n"),
            "{out}"
        );
        let row = out.lines().find(|line| line.starts_with("src/lib.rs:13:16")).expect("a row");
        row.split_once("Relaxed   ").expect("an outcome").1.to_owned()
    };
    assert_eq!(outcome("loops"), "timed out: tests::a_reader_loops ran for more than 5 s");
    let crashed = outcome("ends_the_process");
    assert!(crashed.starts_with("crashed: tests::a_reader_ends_the_process: signal: 9"), "{crashed}");
    let failed = outcome("makes_a_difference");
    assert_eq!(failed, "failed without a finding: tests::a_reader_makes_a_difference: 5 executions");
}

/// The letter is plain memory: without the order that the flag makes, its use is a data race.
#[test]
fn a_letter_in_plain_memory_is_raced_for() {
    let library = LIBRARY
        .replace(
            "pub struct Mailbox(AtomicU32, AtomicU32);",
            "pub struct Mailbox(std::cell::UnsafeCell<u32>, AtomicU32);\n\nunsafe impl Sync for Mailbox {}",
        )
        .replace("self.0.store(7, Ordering::Relaxed)", "unsafe { *self.0.get() = 7 }")
        .replace("self.0.load(Ordering::Relaxed)", "unsafe { *self.0.get() }");
    let project = project("plain-mailbox", &format!("{library}{TESTS}"));
    // Without line numbers nobody knows whose access it is.
    let manifest = fs::read_to_string(project.folder().join("Cargo.toml")).expect("a manifest");
    let lines = "[profile.dev.package.plain-mailbox]\ndebug = \"line-tables-only\"\n";
    project.put("Cargo.toml", &format!("{manifest}\n{lines}"));
    let out = project.run(&["orderings", "a_letter_arrives"]).expect(0).out;
    for line in ["src/lib.rs:15:16", "src/lib.rs:19:17"] {
        let row = out.lines().find(|row| row.starts_with(line)).expect("a row");
        assert!(row.contains("Relaxed   killed: tests::a_letter_arrives: data race"), "{out}");
    }
    assert!(out.ends_with("\n2 needed, 0 stronger than these tests can justify, 0 unclear, 3 not reached\n"), "{out}");
}

/// Generic code of a dependency, which several crates instantiate, and a use of a macro with two operations.
#[test]
fn a_dependency_and_a_macro() {
    let project = project("user", "");
    let manifest = fs::read_to_string(project.folder().join("Cargo.toml")).expect("a manifest");
    project.put("Cargo.toml", &format!("{manifest}\n[dependencies]\nlow = {{ path = \"low\" }}\n"));
    project.dependency("low", DEPENDENCY);
    project.put("src/lib.rs", &format!("{USER}{USER_TESTS}"));
    let out = project.run(&["orderings", "--instrument", "low", "--sites", "low"]).expect(0).out;
    assert!(out.starts_with("the orderings of low: 2 sites, 300 executions as it is\n"), "{out}");
    assert!(out.contains("cargo interloper test --instrument low tests::a_letter_arrives -- --exact\n"), "{out}");
    assert!(out.ends_with("\n2 needed, 0 stronger than these tests can justify, 0 unclear, 0 not reached\n"), "{out}");
    // Its own crate has the place of the macro alone.
    let own = project.run(&["orderings", "--instrument", "low"]).expect(0).out;
    assert!(own.starts_with("the orderings of user: 1 site, 300 executions as it is\n"), "{own}");
    assert!(own.contains("\nsrc/lib.rs:11:5: Relaxed is enough: Release is stronger"), "{own}");
}

const DEPENDENCY: &str = "\
use std::sync::atomic::{AtomicU32, AtomicBool, Ordering};

#[derive(Default)]
pub struct Mailbox<T>(pub AtomicU32, pub AtomicBool, pub std::marker::PhantomData<T>);

impl<T: Into<u32>> Mailbox<T> {
    pub fn send(&self, letter: T) {
        self.0.store(letter.into(), Ordering::Relaxed);
        self.1.store(true, Ordering::Release);
    }

    pub fn receive(&self) -> Option<u32> {
        self.1.load(Ordering::Acquire).then(|| self.0.load(Ordering::Relaxed))
    }
}

pub fn send_two(mailbox: &Mailbox<u8>) {
    mailbox.send(2);
}
";

const USER: &str = "\
#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

macro_rules! mark {
    ($one:expr, $other:expr) => {
        $one.store(1, std::sync::atomic::Ordering::Release); $other.store(1, std::sync::atomic::Ordering::Release)
    };
}
pub fn mark_both(both: &[std::sync::atomic::AtomicU32; 2]) {
    mark!(both[0], both[1]);
}
";

const USER_TESTS: &str = "
#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    #[interloper::test(executions = 300)]
    fn a_letter_arrives() {
        let shared = Arc::new((low::Mailbox::<u8>::default(), [const { std::sync::atomic::AtomicU32::new(0) }; 2]));
        let theirs = shared.clone();
        let reader = thread::spawn(move || assert_ne!(theirs.0.receive(), Some(0), \"no letter\"));
        super::mark_both(&shared.1);
        shared.0.send(1);
        low::send_two(&shared.0);
        reader.join().unwrap();
    }
}
";
