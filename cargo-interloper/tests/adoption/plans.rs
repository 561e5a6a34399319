//! What `cargo interloper plan` prints.

use super::*;

#[test]
fn each_package_has_a_class_and_a_reason() {
    let plan = interloper(&crates(), &["plan", "--all"]).expect(0).out;
    let proposed: Vec<&str> = plan.lines().filter(|line| !line.starts_with("left alone")).collect();
    let expected = [
        "own         edition-2015 0.1.0          std::sync::atomic::AtomicUsize at src/lib.rs:11",
        "own         edition-2018 0.1.0          no synchronisation",
        "own         edition-2021 0.1.0          no synchronisation",
        "own         edition-2024 0.1.0          std::sync::atomic::AtomicU32 at src/lib.rs:8",
        "own         real-parking-lot 0.1.0      no synchronisation",
        "instrument  crossbeam-queue 0.3.14      core::sync::atomic at src/array_queue.rs:11",
        "instrument  crossbeam-utils 0.7.2       core::sync::atomic at src/atomic/seq_lock.rs:1",
        "instrument  crossbeam-utils 0.8.23      core::hint::spin_loop at src/lib.rs:72",
        "instrument  lazy_static 1.5.1           std::sync::Once at src/inline_lazy.rs:14",
        // Dev-dependencies that tests with checks name.
        "instrument  lock_api 0.4.14             core::sync::atomic::AtomicUsize at src/remutex.rs:19",
        "instrument  once_cell 1.21.4            std::sync::atomic::AtomicBool at src/imp_std.rs:9",
        "instrument  parking_lot 0.12.5          no mirror, since the real one is asked for: core::sync::atomic::AtomicPtr at \
         src/condvar.rs:13",
        "instrument  tally 1.2.3                 std::sync::Mutex at src/locked.rs:1",
        "replace     parking_lot_core 0.9.12     a futex system call: SYS_futex at src/thread_parker/linux.rs:113",
        "nothing     cfg-if 0.1.10               no synchronisation",
        "nothing     cfg-if 1.0.5                no synchronisation",
        "nothing     libc 0.2.191                no synchronisation",
        "nothing     scopeguard 1.2.0            no synchronisation",
        "nothing     smallvec 1.16.5             no synchronisation",
    ];
    assert_eq!(proposed[..expected.len()], expected, "{plan}");
    let left: Vec<&str> = plan.lines().filter(|line| line.starts_with("left alone")).collect();
    assert!(
        left[0].starts_with("left alone  autocfg ")
            && left[0].ends_with("for build scripts and procedural macros only")
    );
    assert!(left.iter().any(|line| line.ends_with("a part of interloper") && line.contains("interloper-std 0.1.0")));
    assert_eq!(
        proposed[expected.len()..],
        [format!("5 own, 8 instrument, 1 replace, 5 nothing, {} left alone", left.len())]
    );
    assert_eq!(interloper(&crates(), &["plan", "--all"]).out, plan, "the same bytes each time");

    // Without the option, packages about which there is nothing to decide are counted.
    let short = interloper(&crates(), &["plan"]).expect(0).out;
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let (short, plan) = (lines(&short), lines(&plan));
    let (counted, shown): (Vec<&String>, Vec<&String>) = short.iter().partition(|line| line.contains(" more: "));
    assert!(
        shown[..14] == plan[..14].iter().collect::<Vec<_>>()[..] && shown.last() == plan.last().as_ref(),
        "{short:?}"
    );
    let counted: usize = counted
        .iter()
        .map(|line| {
            let before = line.split_once(" more: ").expect("it is there").0;
            before.rsplit_once(' ').expect("a number").1.parse::<usize>().expect("a number")
        })
        .sum();
    // The last line of each has the counts of all.
    assert_eq!(shown.len() - 1 + counted, plan.len() - 1, "each package is shown or counted");
}

/// A check runs what its crate names. Another test, a benchmark and an example do not come under control.
#[test]
fn a_dev_dependency_counts_where_a_crate_with_checks_names_it() {
    let names = ["a", "b", "c"].map(|name| format!("[dev-dependencies.{name}]\npath = {name:?}\n")).concat();
    let project = Project::new(&names);
    for name in ["a", "b", "c"] {
        project.dependency(name, "use std::sync::Mutex;\n");
    }
    project.put("tests/checked.rs", "mod common;\n#[interloper::test]\nfn passes() { common::passes() }\n");
    project.put("tests/common/mod.rs", "include!(\"body.in\");\n");
    project.put("tests/common/body.in", "pub fn passes() { a::passes() }\n");
    project.put("tests/other.rs", "#[test]\nfn passes() { b::passes() }\n");
    project.put("benches/all.rs", "use c::Mutex;\nuse interloper as _;\n");
    project.remove_lock();
    let plan = project.run(&["plan", "--offline"]).expect(0).out;
    let of = |name: &str| plan.lines().find(|line| line.contains(&format!(" {name} 1.0.0"))).unwrap_or_default();
    assert!(of("a").starts_with("instrument "), "{plan}");
    for name in ["b", "c"] {
        assert!(of(name).starts_with("left alone ") && of(name).contains("for tests without checks"), "{plan}");
    }
}

#[test]
fn the_json_document_has_a_version_and_the_same_packages() {
    let text = interloper(&crates(), &["plan", "--format", "json"]).expect(0).out;
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["version"], 1);
    let packages = document["packages"].as_array().expect("a list");
    let tally = packages.iter().find(|package| package["name"] == "tally").expect("it is a dependency");
    let expected = serde_json::json!({
        "class": "instrument", "name": "tally", "version": "1.2.3", "reason": "std::sync::Mutex",
        "place": { "file": "src/locked.rs", "line": 1 },
    });
    assert_eq!(*tally, expected);
}

#[test]
fn what_nobody_can_see_is_named_with_its_place() {
    let names = ["a", "b", "c", "d", "e"].map(|name| format!("{name} = {{ path = {name:?} }}\n")).concat();
    let project = Project::new(&format!("[dependencies]\n{names}"));
    project.dependency("a", "\nfn add() { unsafe { core::arch::asm!(\"lock xadd\") } }\n");
    project.dependency("b", "fn wait() { unsafe { libc::syscall(libc::SYS_futex) } }\n");
    project.dependency("c", "fn wait() { unsafe { pthread_mutex_lock(std::ptr::null_mut()) } }\n");
    project.dependency("d", "use std::sync::Mutex;\nfn fence() { unsafe { core::arch::asm!(\"mfence\") } }\n");
    project.dependency("e", "fn wait() { unsafe { core::arch::asm!(\"pause\") } }\n");
    let manifest = fs::read_to_string(project.folder().join("Cargo.toml")).expect("a manifest");
    let version = manifest.lines().find(|line| line.starts_with("version = ")).expect("a version");
    project.put("Cargo.toml", &manifest.replace(version, "version = \"0.1.0\""));
    project.remove_lock();
    let plan = project.run(&["plan", "--offline"]).expect(0).out;
    let expected = "own         subject 0.1.0  no synchronisation\n\
                    instrument  d 1.0.0        std::sync::Mutex at src/lib.rs:1; assembly at src/lib.rs:2 counts as a \
                    fence\n\
                    cannot      a 1.0.0        assembly that changes memory atomically: asm at src/lib.rs:2\n\
                    cannot      b 1.0.0        a futex system call: SYS_futex at src/lib.rs:1\n\
                    cannot      c 1.0.0        a foreign function that waits: pthread_mutex_lock at src/lib.rs:1\n\
                    nothing     1 more: no synchronisation\n\
                    left alone  1 more: a part of interloper\n\
                    1 own, 1 instrument, 3 cannot, 1 nothing, 1 left alone\n";
    assert_eq!(plan, expected);
    assert!(!project.folder().join("Cargo.lock").exists(), "the project had no lock file, and must not get one");
    let own = "fn add() { unsafe { core::arch::asm!(\"lock bts {0}, 0\") } }\n";
    project.put("src/lib.rs", &format!("{HEAD}\n{own}"));
    let plan = project.run(&["plan", "--offline"]).expect(0).out;
    let row = plan.lines().next().unwrap_or_default();
    let said = "no synchronisation; outside of control: assembly that changes memory atomically: asm at src/lib.rs:";
    assert!(row.starts_with("own ") && row.contains(said), "{plan}");
}

/// A feature that is off in the copy of a crate is named, by the plan and by a run, where the project turns it on.
#[test]
fn what_is_switched_off_is_named() {
    // The name, and the feature that nobody sees, are those of a published crate.
    let with = |on: &str, body: &str| {
        let project = Project::new(&format!("[dependencies]\nseize = {{ path = \"seize\", features = [{on}] }}\n"));
        project.dependency("seize", body);
        let features = "\n[features]\nfast-barrier = []\nother = []\n";
        let manifest = fs::read_to_string(project.folder().join("seize/Cargo.toml")).expect("a manifest");
        project.put("seize/Cargo.toml", &format!("{manifest}{features}"));
        project
    };
    let body = "#[cfg(feature = \"fast-barrier\")]\ncompile_error!(\"it is on\");\n\
                pub fn lock() -> std::sync::Mutex<u8> { std::sync::Mutex::new(1) }\n";
    let run = ["test", "--no-run", "--instrument", "seize"];
    let reason = "its feature `fast-barrier` is off, since no scheduler sees a barrier in the kernel";

    let on = with("\"fast-barrier\", \"other\"", body);
    let plan = on.run(&["plan"]).expect(0).out;
    let what = format!(" std::sync::Mutex at src/lib.rs:3; {reason}");
    let is_line = |line: &str| line.starts_with("instrument  seize 1.0.0 ") && line.ends_with(&what);
    assert!(plan.lines().any(is_line), "{plan}");
    let ran = on.run(&run).expect(0);
    assert_eq!(ran.err.matches(&format!("switched off: seize 1.0.0: {reason}\n")).count(), 1, "{}", ran.err);
    assert_eq!(ran.err.matches("switched off").count(), 1, "{}", ran.err);

    let off = with("\"other\"", body);
    let plan = off.run(&["plan"]).expect(0).out;
    assert!(plan.contains("  std::sync::Mutex at src/lib.rs:3\n"), "{plan}");
    let ran = off.run(&run).expect(0);
    assert!(!ran.err.contains("switched off") && !ran.err.contains("fast-barrier"), "{}", ran.err);

    // A version that asks for the feature in other words keeps it, and the run says so.
    let other = with("\"fast-barrier\"", "pub fn lock() -> std::sync::Mutex<u8> { std::sync::Mutex::new(1) }\n");
    let ran = other.run(&run).expect(0);
    let line =
        "not under control: seize 1.0.0: its feature `fast-barrier` stays on, since no file names it as expected\n";
    assert!(ran.err.contains(line) && !ran.err.contains("switched off"), "{}", ran.err);
}

/// The mirror of parking_lot_core has the interface of the detection, and detects nothing.
#[test]
fn the_detection_of_deadlocks_is_named_as_switched_off() {
    let plan = |features: &str| {
        let dependency = format!("parking_lot_core = {{ version = \"0.9\", features = [{features}] }}");
        let project = Project::new(&format!("[dependencies]\n{dependency}\n"));
        project.run(&["plan"]).expect(0).out
    };
    let reason = "; its feature `deadlock_detection` is off, since the scheduler names a deadlock itself\n";
    let on = plan("\"deadlock_detection\"");
    assert!(on.lines().any(|line| line.starts_with("replace     parking_lot_core ")) && on.contains(reason), "{on}");
    let off = plan("");
    assert!(off.lines().any(|line| line.starts_with("replace     parking_lot_core ")), "{off}");
    assert!(!off.contains("is off"), "{off}");
}

/// With `all`, a crate that reads the clock comes under control, for the clock is that of an execution. A crate with a module of its own
/// that is named `std` cannot be changed: nobody has named it, so it is left alone, with a word.
#[test]
fn all_takes_what_reads_the_clock_and_leaves_what_cannot_be_changed() {
    let interloper_crate = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let dependencies = ["clock", "taken"].map(|name| format!("{name} = {{ path = {name:?} }}\n")).concat();
    let project = Project::of_tests(
        &format!("{dependencies}interloper = {{ path = {interloper_crate:?} }}"),
        r"
        use std::sync::atomic::Ordering::SeqCst;

        #[interloper::test(executions = 20, allow_trivial)]
        fn a_sleep_is_seen() {
            let watch = clock::Watch::start();
            std::thread::sleep(std::time::Duration::from_secs(100));
            assert_eq!(watch.seconds(), 100);
            taken::ENDED.store(true, SeqCst);
        }",
    );
    project.dependency(
        "clock",
        "use std::time::Instant;\n\npub struct Watch(Instant);\n\nimpl Watch {\n    \
             pub fn start() -> Watch {\n        Watch(Instant::now())\n    }\n\n    \
             pub fn seconds(&self) -> u64 {\n        self.0.elapsed().as_secs()\n    }\n}\n",
    );
    let taken = "mod std {}\n\npub static ENDED: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);\n";
    project.dependency("taken", taken);
    project.put("taken/Cargo.toml", "[package]\nname = \"taken\"\nversion = \"1.0.0\"\nedition = \"2021\"\n");
    let plan = project.run(&["plan"]).expect(0).out;
    let reason = "that of the system, unless it is under control: std::time::Instant at src/lib.rs:1";
    assert!(plan.lines().any(|line| line.starts_with("instrument  clock 1.0.0 ") && line.ends_with(reason)), "{plan}");
    let ran = project.run(&["test", "--instrument", "all"]).expect(0);
    ran.assert_passed(&["a_sleep_is_seen"]);
    let left = "not under control: taken 1.0.0: it has its own module named `std`, at src/lib.rs:1\n";
    assert!(ran.err.contains(left), "{}", ran.err);
    // Who names it is told that it cannot be.
    let ran = project.run(&["test", "--instrument", "taken"]).expect(2);
    assert!(ran.err.contains("error: taken 1.0.0 cannot be put under control: it has its own module"), "{}", ran.err);
}
