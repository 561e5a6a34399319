//! Projects of all kinds, built and run.

use super::*;

/// Random numbers of the system come from the seed of the run, in each version of getrandom: each execution has the same, and so
/// has the next process. Another seed gives others.
#[test]
fn random_numbers_of_the_system_come_from_the_seed() {
    let interloper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let interloper = interloper.canonicalize().expect("it is in this workspace");
    let project = Project::new(&format!(
        "[dependencies]\ntwo = {{ package = \"getrandom\", version = \"0.2\" }}\n\
         three = {{ package = \"getrandom\", version = \"0.3\" }}\nfour = {{ package = \"getrandom\", version = \"0.4\" }}\n\
         [dev-dependencies.interloper]\npath = {interloper:?}\n"
    ));
    project.put(
        "tests/random.rs",
        r#"
#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;
use std::sync::Mutex;

fn drawn() -> Vec<u8> {
    let (mut two, mut three, mut four) = ([0; 8], [0; 11], [0; 3]);
    two::getrandom(&mut two).unwrap();
    three::fill(&mut three).unwrap();
    four::fill(&mut four).unwrap();
    let numbers = [three::u64().unwrap(), four::u64().unwrap(), u64::from(three::u32().unwrap())];
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    two.into_iter().chain(three).chain(four).chain(numbers).collect()
}

#[interloper::test(executions = 50, check_determinism)]
fn the_same_in_each_execution() {
    let all = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| all.lock().unwrap().push((1, drawn())));
        all.lock().unwrap().push((0, drawn()));
    });
    let mut all = all.into_inner().unwrap();
    all.sort();
    assert_ne!(all[0].1, all[1].1, "each task has numbers of its own");
    println!("drawn {all:?}");
}

#[test]
fn outside_of_a_check() {
    assert_ne!(drawn(), drawn());
}
"#,
    );
    let lines = |seed: &str| {
        let arguments = ["test", "--test", "random", "--", "--nocapture"];
        let ran = ran(command(project.folder(), &arguments).env("INTERLOPER_SEED", seed)).expect(0);
        assert!(ran.err.contains("getrandom 0.2.") && ran.err.contains("getrandom 0.4."), "{}", ran.err);
        assert!(!ran.err.contains("not under control"), "{}", ran.err);
        let lines = ran.out.lines().filter(|line| line.starts_with("drawn ")).map(str::to_owned);
        lines.collect::<std::collections::BTreeSet<String>>()
    };
    let wrong = ran(command(project.folder(), &["test"]).env("INTERLOPER_JOBS", "0")).expect(2);
    let says = "error: the environment variable INTERLOPER_JOBS is \"0\": expected a number from 1 to 1024\n";
    assert_eq!((wrong.out.as_str(), wrong.err.as_str()), ("", says), "nothing is built");
    let first = lines("1");
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(lines("1"), first);
    assert_ne!(lines("2"), first);
}

/// A version of getrandom that no edit fits keeps the system's numbers, and the command says so.
#[test]
fn random_numbers_that_stay_those_of_the_system_are_named() {
    let project = Project::new("[dependencies]\ngetrandom = { path = \"getrandom\" }\n");
    project.dependency("getrandom", "");
    let ran = project.run(&["test", "--offline"]).expect(0);
    let said = "not under control: getrandom 1.0.0: its random numbers come from the system\n";
    assert!(ran.err.contains(said), "{}", ran.err);
}

/// On x86, event-listener and concurrent-queue write a fence as assembly, which nobody sees. Without a fence, each thread may miss
/// what the other one stored.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_fence_that_is_written_as_assembly_is_a_fence() {
    let interloper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let interloper = interloper.canonicalize().expect("it is in this workspace");
    let project = Project::new(&format!(
        "[dependencies]\nfenced = {{ path = \"fenced\" }}\n[dev-dependencies.interloper]\npath = {interloper:?}\n"
    ));
    project.dependency(
        "fenced",
        "mod fences;\nuse std::sync::atomic::{AtomicUsize, Ordering::Relaxed};\n\
         pub fn says(mine: &AtomicUsize, theirs: &AtomicUsize, fence: bool) -> usize {\n    \
             mine.store(1, Relaxed);\n    \
             if fence { fences::full() }\n    \
             theirs.load(Relaxed)\n}\n",
    );
    // As in event-listener, in a module of its own.
    project.put(
        "fenced/src/fences.rs",
        "pub fn full() {\n    \
             let local = 0usize;\n    \
             unsafe { std::arch::asm!(\"lock not qword ptr [{0}]\", in(reg) &local) }\n}\n",
    );
    let test = |name: &str, fence: bool| {
        format!(
            "#[interloper::test(strategy = \"exhaustive\", memory = \"weak\")]\nfn {name}() {{\n    \
             let (a, b) = (AtomicUsize::new(0), AtomicUsize::new(0));\n    \
             let seen = std::thread::scope(|scope| {{\n        \
                 let other = scope.spawn(|| fenced::says(&b, &a, {fence}));\n        \
                 fenced::says(&a, &b, {fence}) + other.join().unwrap()\n    }});\n    \
             assert!(seen > 0);\n}}\n"
        )
    };
    let head = format!("{HEAD}use std::sync::atomic::AtomicUsize;\n");
    project.put("tests/fence.rs", &format!("{head}{}{}", test("with", true), test("without", false)));
    let ran = project.run(&["test", "--instrument", "fenced", "--test", "fence"]).expect(1);
    assert!(ran.out.contains("test with ... ok\n") && ran.out.contains("test without ... FAILED\n"), "{}", ran.out);
}

#[test]
fn tests_are_listed_and_not_run() {
    let project = Project::new("");
    project.put(
        "src/lib.rs",
        "#[test]\nfn always() {}\n#[cfg(interloper)]\n#[test]\nfn under_control() { panic!(\"it runs\") }\n",
    );
    project.put("tests/integration.rs", "#[test]\nfn another() {}\n");
    let ran = project.run(&["test", "--list", "--format", "json"]).expect(0);
    let document: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let listed = |binary: &str, name: &str| serde_json::json!({ "binary": binary, "name": name });
    let all = [listed("integration", "another"), listed("subject", "always"), listed("subject", "under_control")];
    assert_eq!(document, serde_json::json!({ "version": 1, "tests": all }));
    let ran = project.run(&["test", "--list", "under"]).expect(0);
    assert_eq!(ran.out, "subject: under_control\n");
    let refused = project.run(&["test", "--list", "--format", "junit"]).expect(2);
    assert!(refused.err.contains("--list has no results"), "{}", refused.err);
    project.run(&["test", "--no-run", "--format", "json"]).expect(2);
}

/// A test that finds a race of threads, its twin, a test of std that fails, one that does not, and one that is ignored.
const JUDGED: &str = "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
static FOUND: AtomicU32 = AtomicU32::new(0);
#[interloper::test(executions = 50)]
fn loses() {
    let count = AtomicU32::new(0);
    std::thread::scope(|scope| (0..2).for_each(|_| { scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst)); }));
    assert_eq!(count.into_inner(), 2);
}
#[interloper::test(executions = 50)]
fn keeps() {
    let count = AtomicU32::new(0);
    std::thread::scope(|scope| (0..2).for_each(|_| { scope.spawn(|| count.fetch_add(1, SeqCst)); }));
    assert_eq!(count.into_inner(), 2);
}
#[test]
fn plainly_wrong() { println!(\"said\"); assert_eq!(FOUND.load(SeqCst), 1); }
#[test]
fn plainly_right() {}
#[test]
#[ignore = \"results say that it was left out\"]
fn left_out() { panic!(\"it runs\") }
";

#[test]
fn results_of_tests_are_json_junit_and_sarif() {
    let interloper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let interloper = interloper.canonicalize().expect("it is in this workspace");
    let project = Project::new(&format!("[dev-dependencies.interloper]\npath = {interloper:?}\n"));
    project.put("tests/judged.rs", &format!("{HEAD}{JUDGED}"));
    let run = |format: &str| project.run(&["test", "--format", format]);
    let ran = run("json").expect(1);
    assert!(ran.err.contains("failed: judged: plainly_wrong: "), "{}", ran.err);
    let document: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let tests = document["tests"].as_array().expect("tests");
    let results: Vec<_> = tests.iter().map(|test| (test["name"].as_str(), test["result"].as_str())).collect();
    let expected = [("keeps", "passed"), ("left_out", "ignored"), ("loses", "failed"), ("plainly_right", "passed")];
    let expected = expected.into_iter().chain([("plainly_wrong", "failed")]);
    assert_eq!(results, expected.map(|(name, result)| (Some(name), Some(result))).collect::<Vec<_>>());
    let findings = |test: usize| tests[test]["findings"].as_array().expect("findings").len();
    assert_eq!([0, 2, 4].map(findings), [0, 1, 0]);
    assert!(tests[0]["output"].as_str().expect("a text").contains("executions"), "what a pass covers: {}", tests[0]);
    assert!(tests[4]["output"].as_str().expect("a text").starts_with("said\n"), "{}", tests[4]);
    // From now on the kept failure runs first.
    let again = run("json").expect(1).out;
    assert_eq!(run("json").expect(1).out, again, "the same bytes again");

    // The events of the same tests.
    let told = project.run(&["test", "--format", "json", "--progress", "json"]).expect(1);
    assert_eq!(told.out, again);
    let events = events(&told.err);
    let names = |kind: &str| -> Vec<&str> {
        events.iter().filter(|event| event["event"] == kind).filter_map(|event| event["name"].as_str()).collect()
    };
    assert_eq!((names("progress").len() >= 5, names("finding")), (true, vec!["loses"]), "{events:?}");
    assert!(events.iter().any(|event| event["event"] == "started" && event["total"] == 5), "{events:?}");
    let refused = project.run(&["test", "--progress", "json"]).expect(2).err;
    assert!(refused.contains("error: --progress json needs --format json, junit or sarif"), "{refused}");
    // A part without work is no pass. Each test has fewer than 65536 rows of executions.
    let mut part = command(project.folder(), &["test", "--format", "json", "keeps"]);
    let shard = super::ran(part.env("INTERLOPER_SHARD", "65535/65536")).expect(0);
    let document: serde_json::Value = serde_json::from_str(&shard.out).expect("JSON");
    assert_eq!(document["tests"][0]["result"], "nothing-to-do", "{}", shard.out);
    assert!(document["tests"][0]["reason"].as_str().is_some_and(|reason| reason.contains("in shard 65535/65536: ")));

    let junit = run("junit").expect(1).out;
    assert_valid(&junit, ".xml");
    let counts = "<testsuite name=\"judged\" tests=\"5\" failures=\"2\" errors=\"0\" skipped=\"1\">";
    assert!(junit.contains(counts), "{junit}");
    let sarif = run("sarif").expect(1);
    assert_valid(&sarif.out, ".sarif");
    let log: serde_json::Value = serde_json::from_str(&sarif.out).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 1, "{log}");
    assert!(results[0]["message"]["text"].as_str().expect("a text").starts_with("loses: "), "{log}");
    let unseen = "failed tests without a finding, which a SARIF log cannot show: 1";
    assert!(sarif.err.contains(unseen), "{}", sarif.err);
    // The accepting twin: all that runs passes.
    project.run(&["test", "--format", "sarif", "plainly_right"]).expect(0);
}

#[test]
fn flags_of_the_user_are_kept() {
    let project = Project::new("");
    project.put(
        "src/lib.rs",
        "#[cfg(all(interloper, mine, debug_assertions))]\n#[test]\nfn all_flags() {}\n\
         #[cfg(others)]\n#[test]\nfn others_flags() {}\n",
    );
    project.put(".cargo/config.toml", "[build]\nrustflags = [\"--cfg=mine\"]\n");
    // Other flags for the mirror would have the other tests compile it again.
    let target = project.folder().join("out");
    let test = || {
        // Nothing runs under control here, so the mirror need not be quick.
        let quickly = "profile.dev.package.interloper-std.opt-level=0";
        let mut command = command(project.folder(), &["test", "--offline", "--config", quickly]);
        command.env("CARGO_TARGET_DIR", &target).env_remove("CARGO_ENCODED_RUSTFLAGS");
        command
    };
    let build = || ran(test().env_remove("RUSTFLAGS")).expect(0).out;
    let out = build();
    assert!(out.contains("test all_flags ... ok") && !out.contains("others_flags"), "{out}");

    // Cargo then ignores those of `build`, and so does the command.
    project.put(
        ".cargo/config.toml",
        "[build]\nrustflags = [\"--cfg=others\"]\n[target.'cfg(all())']\nrustflags = [\"--cfg=mine\"]\n",
    );
    let out = build();
    assert!(out.contains("test all_flags ... ok") && !out.contains("others_flags"), "{out}");

    let out = ran(test().env("RUSTFLAGS", "--cfg others")).expect(0).out;
    assert!(!out.contains("all_flags") && out.contains("test others_flags ... ok"), "{out}");
}

#[test]
fn only_what_has_changed_is_compiled() {
    let project = Project::new("[dependencies]\na = { path = \"a\" }\nb = { path = \"b\" }\n");
    project.dependency("a", "pub fn f(m: &std::sync::Mutex<u8>) -> u8 { *m.lock().unwrap() }\n");
    project.dependency("b", "pub fn g() -> u8 { 2 }\n");
    project.put("src/lib.rs", "#[test]\nfn it_is() { assert_eq!(b::g(), 2) }\n");
    let arguments = ["test", "--offline", "--instrument", "a,b"];
    let first = project.run(&arguments).expect(0);
    assert!(first.err.starts_with("under control: a 1.0.0, b 1.0.0\n"), "{}", first.err);
    again(|| project.run(&arguments).expect(0));
    project.put("b/src/lib.rs", "pub fn g() -> u8 { 1 + 1 }\n");
    let ran = project.run(&arguments).expect(0);
    let compiled = ran.err.lines().filter_map(|line| line.trim_start().strip_prefix("Compiling "));
    let names = compiled.filter_map(|rest| rest.split(' ').next()).filter(|name| !name.starts_with("interloper"));
    assert_eq!(names.collect::<Vec<_>>(), ["b", "subject"], "b, and the crate that uses it");
    again(|| project.run(&arguments).expect(0));
}

/// Whoever speaks to a crate under control about a mutex must mean the same mutex.
#[test]
fn what_is_above_and_below_comes_along_unless_it_is_left() {
    let manifest = "[dependencies]\ntop = { path = \"top\" }\nother = { path = \"other\" }\n";
    let project = Project::new(manifest);
    project.dependency("low", "pub type Lock = std::sync::Mutex<u8>;\n");
    project.dependency("middle", "use std::sync::Mutex;\npub fn f(l: &low::Lock) -> &Mutex<u8> { l }\n");
    project.dependency("top", "use std::sync::Mutex;\npub fn g(l: &low::Lock) -> &Mutex<u8> { middle::f(l) }\n");
    project.dependency("other", "pub type Lock = std::sync::Mutex<u8>;\n");
    let package =
        |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[dependencies]\n");
    project.put("middle/Cargo.toml", &format!("{}low = {{ path = \"../low\" }}\n", package("middle")));
    let both = "low = { path = \"../low\" }\nmiddle = { path = \"../middle\" }\n";
    project.put("top/Cargo.toml", &format!("{}{both}", package("top")));
    let run = |project: &Project| project.run(&["test", "--offline", "--no-run", "--instrument", "middle"]);
    let err = run(&project).expect(0).err;
    assert!(err.starts_with("under control: middle 1.0.0, and with it low 1.0.0, top 1.0.0\n"), "{err}");

    let manifest = fs::read_to_string(project.folder().join("Cargo.toml")).expect("a manifest");
    project.put("Cargo.toml", &format!("{manifest}\n[package.metadata.interloper]\nleave = [\"top\"]\n"));
    let err = run(&project).expect(2).err;
    assert!(err.contains("not under control: top 1.0.0: `leave` lists it\n"), "{err}");
    assert!(err.contains("mismatched types"), "it means another mutex: {err}");
}

#[test]
fn a_program_runs_with_its_arguments_and_a_failure_is_exit_code_1() {
    let project = Project::new("[[bin]]\nname = \"subject\"\npath = \"main.rs\"\n");
    project.put(
        "main.rs",
        "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std as std;\n\nfn main() {\n    \
         let all: Vec<String> = std::env::args().skip(1).collect();\n    println!(\"{all:?}\");\n    \
         assert!(cfg!(interloper) && all.len() == 2);\n}\n",
    );
    let ran = project.run(&["run", "--offline", "--", "a", "--b"]).expect(0);
    assert_eq!(ran.out, "[\"a\", \"--b\"]\n");
    let ran = project.run(&["run", "--offline"]).expect(1);
    assert!(ran.err.contains("main.rs:8:"), "{}", ran.err);
}

#[test]
fn a_test_that_fails_is_exit_code_1() {
    let project = Project::new("");
    project.put("src/lib.rs", "#[test]\nfn right() {}\n#[test]\nfn wrong() { panic!() }\n");
    assert!(project.run(&["test", "--offline"]).expect(1).out.contains("test wrong ... FAILED"));
    let out = project.run(&["test", "--offline", "right", "--", "--exact"]).expect(0).out;
    assert!(out.contains("1 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out"), "{out}");
}

#[test]
fn a_lock_file_is_used_and_not_written() {
    let project = Project::new("[dependencies]\na = { path = \"a\" }\n");
    project.dependency("a", "");
    project.remove_lock();
    let locked = ["test", "--frozen", "--no-run"];
    let refused = project.run(&locked).expect(2);
    assert!(refused.err.contains("--frozen") || refused.err.contains("--locked"), "{}", refused.err);
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let made =
        Command::new(cargo).args(["generate-lockfile", "--offline", "--quiet"]).current_dir(project.folder()).status();
    assert!(made.expect("cargo").success());
    let before = files(project.folder());
    project.run(&locked).expect(0);
    assert!(files(project.folder()) == before);
}

#[test]
fn cleaning_removes_all_that_was_written() {
    let project = Project::new("");
    let target = project.folder().join("out");
    let run = |arguments: &[&str]| ran(command(project.folder(), arguments).env("CARGO_TARGET_DIR", &target)).expect(0);
    run(&["plan", "--offline"]);
    assert!(target.join("interloper").is_dir());
    fs::write(target.join("other"), "").expect("a file");
    run(&["clean"]);
    assert!(!target.join("interloper").exists() && target.join("other").exists());
    run(&["clean"]);
}

/// The checker reads debug information with memchr, which may be under control: what it does there is no step of the program.
#[test]
fn what_the_checker_uses_itself_comes_under_control() {
    let interloper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let interloper = interloper.canonicalize().expect("it is in this workspace");
    // The features that the checker has memchr with, so that the copy of memchr, and what is built on it, is the same as in the project
    // that has backtrace under control.
    let memchr = "memchr = { version = \"2\", default-features = false, features = [\"std\"] }";
    let project =
        Project::new(&format!("[dependencies]\n{memchr}\n[dev-dependencies.interloper]\npath = {interloper:?}\n"));
    project.put(
        "tests/words.rs",
        r#"
#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

fn two(add: fn(&AtomicUsize, usize)) {
    let sum = AtomicUsize::new(0);
    let own = || add(&sum, memchr::memchr(b'b', b"aab").unwrap());
    std::thread::scope(|scope| {
        scope.spawn(own);
        own();
    });
    assert_eq!(sum.into_inner(), 4);
}

#[interloper::test(executions = 200)]
fn wrong() {
    two(|sum, number| sum.store(sum.load(SeqCst) + number, SeqCst));
}

#[interloper::test(executions = 200)]
fn right() {
    two(|sum, number| _ = sum.fetch_add(number, SeqCst));
}
"#,
    );
    let ran = project.run(&["test", "--instrument", "memchr", "--test", "words"]).expect(1);
    assert!(ran.err.contains("under control: memchr 2."), "{}", ran.err);
    assert!(ran.out.contains("test right ... ok\n") && ran.out.contains("test wrong ... FAILED\n"), "{}", ran.out);
    assert!(ran.out.contains("left: 2") || ran.out.contains("left: 2,"), "{}", ran.out);
    assert!(!ran.out.contains("already borrowed"), "{}", ran.out);
}

/// Whoever forgets `cargo interloper init` is told which use of std stays outside of control. In `tests/`, each file is asked.
#[test]
fn a_missing_line_is_named() {
    const LINE: &str = "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std as std;\n\n";
    let spawns = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn spawns() {\n        std::thread::spawn(|| ()).join().unwrap();\n    }\n}\n";
    let project = Project::new("");
    let noted = || {
        let ran = project.run(&["test", "--offline", "--no-run"]).expect(0);
        let line =
            ran.err.lines().find_map(|line| line.strip_prefix("not under control: subject 0.1.")).map(str::to_owned);
        // The version comes first.
        line.map(|line| line.split_once(": ").expect("a reason").1.to_owned())
    };
    let said = |place: &str, root: &str| {
        let name = "std::thread::spawn";
        Some(format!(
            "{name} at {place} is that of std, since {root} lacks the line that `cargo interloper init` puts there"
        ))
    };
    project.put("src/lib.rs", spawns);
    assert_eq!(noted(), said("src/lib.rs:5", "src/lib.rs"));
    project.put("src/lib.rs", &format!("{LINE}{spawns}"));
    assert_eq!(noted(), None);
    project.put("tests/outside.rs", spawns);
    assert_eq!(noted(), said("tests/outside.rs:5", "tests/outside.rs"));
    project.put("tests/outside.rs", &format!("{LINE}{spawns}"));
    assert_eq!(noted(), None);
    project.put("tests/nothing.rs", "#[test]\nfn nothing() {}\n");
    assert_eq!(noted(), None);
    // The same of a crate of the workspace that this one is made of, for its library alone.
    let manifest = fs::read_to_string(project.folder().join("Cargo.toml")).expect("a manifest");
    project.put(
        "Cargo.toml",
        &format!("{manifest}\n[dependencies.below]\npath = \"below\"\n\n[workspace]\nmembers = [\"below\"]\n"),
    );
    project.put("below/Cargo.toml", "[package]\nname = \"below\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    project.put("below/tests/outside.rs", spawns);
    project.put("below/src/lib.rs", spawns);
    let below = || {
        let ran = project.run(&["test", "--offline", "--no-run"]).expect(0);
        ran.err.lines().find_map(|line| line.strip_prefix("not under control: below ")).map(str::to_owned)
    };
    assert_eq!(below(), None);
    let locks = "pub static LOCK: std::sync::Mutex<u8> = std::sync::Mutex::new(0);\n";
    project.put("below/src/lib.rs", locks);
    assert_eq!(
        below().as_deref(),
        Some(
            "0.1.0: std::sync::Mutex at src/lib.rs:1 is that of std, since src/lib.rs lacks the line that `cargo interloper init` \
             puts there"
        )
    );
    project.put("below/src/lib.rs", &format!("{LINE}{locks}"));
    assert_eq!(below(), None);
}

/// The checker looks at backtraces, too, in the middle of a step: the crate that does so under control is not the checker's own.
#[test]
fn a_crate_that_the_checker_calls_is_under_control_for_the_program_alone() {
    let interloper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let interloper = interloper.canonicalize().expect("it is in this workspace");
    let project = Project::new(&format!(
        "[dependencies]\nbacktrace = \"0.3\"\n[dev-dependencies.interloper]\npath = {interloper:?}\n"
    ));
    project.put(
        "tests/symbols.rs",
        r#"
#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;
use std::sync::Mutex;
use interloper::Checker;

static NAMES: Mutex<u32> = Mutex::new(0);

/// The lock of the crate and that of the program, in both orders or in one.
fn locks(reversed: bool) -> interloper::blocks::Report {
    let walk = |then: &dyn Fn()| {
        backtrace::trace(|_| {
            then();
            false
        });
    };
    let checked = Checker::new("locks").executions(200).check(move || {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let names = reversed.then(|| NAMES.lock().unwrap());
                walk(&|| ());
                drop(names);
            });
            walk(&|| *NAMES.lock().unwrap() += 1);
        });
    });
    checked.unwrap()
}

#[test]
fn two_orders_are_a_deadlock() {
    let report = locks(true);
    let bug = report.bug.as_ref().expect("a finding");
    assert_eq!(bug.finding.word(), "deadlock");
    let text = report.to_string();
    assert!(text.contains("tests/symbols.rs:") && text.contains("backtrace-0.3."), "{text}");
}

#[test]
fn one_order_is_no_deadlock() {
    let report = locks(false);
    assert!(report.bug.is_none() && report.coverage.traces > 1, "{report}");
}
"#,
    );
    let ran = project.run(&["test", "--instrument", "backtrace", "--test", "symbols"]).expect(0);
    assert!(ran.err.contains("under control: backtrace 0.3."), "{}", ran.err);
    for test in ["two_orders_are_a_deadlock", "one_order_is_no_deadlock"] {
        assert!(ran.out.contains(&format!("test {test} ... ok\n")), "{}", ran.out);
    }
}

/// What is under control has the mirror's `HashMap`, and strfmt, which does not synchronise, that of std.
#[test]
fn what_types_of_std_cross_to_comes_along_with_all() {
    let project = Project::new("[dependencies]\nstrfmt = \"0.2\"\n");
    let test = "#[test]\nfn says() {\n    let words = std::collections::HashMap::from([(\"name\".to_owned(), \"world\")]);\n    \
                assert_eq!(strfmt::strfmt(\"hello {name}\", &words).unwrap(), \"hello world\");\n}\n";
    project.put("src/lib.rs", &format!("{HEAD}\n{test}"));
    project.remove_lock();
    let without = project.run(&["test"]).expect(2).err;
    assert!(without.contains("put it under control, too (--instrument strfmt@0.2."), "{without}");
    let with = project.run(&["test", "--instrument", "all"]).expect(0);
    assert!(with.err.contains("types of std cross to what is not under control: strfmt@0.2."), "{}", with.err);
    assert!(with.err.contains("\nunder control: strfmt 0.2."), "{}", with.err);
    assert!(with.out.contains("test says ... ok\n"), "{}", with.out);
}
