//! A crate that is under control in vain is a finding.

use super::*;

const COUNTER: &str = "use std::sync::Mutex;\n#[derive(Default)]\npub struct Counter(Mutex<u32>);\n\
                       impl Counter {\n    pub fn add(&self) { *self.0.lock().unwrap() += 1; }\n    \
                       pub fn get(&self) -> u32 { *self.0.lock().unwrap() }\n}\n";

/// A test of one of two dependencies.
const TEST: &str = "#[cfg(test)]\nmod tests {\n    use std::sync::Arc;\n\n    #[interloper::test(executions = 20)]\n    \
                    fn both_add() -> u32 {\n        let counter = Arc::new(seen::Counter::default());\n        \
                    let shared = Arc::clone(&counter);\n        \
                    let other = interloper::thread::spawn(move || shared.add());\n        counter.add();\n        \
                    other.join().unwrap();\n        counter.get()\n    }\n}\n";

#[test]
fn a_named_crate_that_no_check_reaches_is_a_finding() {
    let facade = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let facade = facade.canonicalize().expect("the facade is in this workspace");
    let project = Project::new(&format!(
        "[dependencies]\nseen = {{ path = \"seen\" }}\nmissed = {{ path = \"missed\" }}\n\n\
         [dev-dependencies.interloper]\npath = {facade:?}\n"
    ));
    project.dependency("seen", COUNTER);
    project.dependency("missed", COUNTER);
    project.put("src/lib.rs", TEST);
    let says = "nothing was explored of missed 1.0.0: no check saw a step of it; ";
    let ran = project.run(&["test", "--instrument", "seen,missed"]).expect(2);
    assert!(ran.err.contains(says), "{}", ran.err);
    assert!(ran.out.contains("test tests::both_add ... ok"), "{}", ran.out);
    let allowed = project.run(&["test", "--instrument", "seen,missed", "--allow-trivial"]).expect(0);
    assert!(allowed.err.contains(says), "{}", allowed.err);
    // Who says `all` has named none.
    let all = project.run(&["test", "--instrument", "all"]).expect(0);
    assert!(all.err.contains("under control, but these tests made no step in them: missed 1.0.0\n"), "{}", all.err);
    // Who runs some of the tests knows that others do not run.
    let some = project.run(&["test", "--instrument", "seen,missed", "both"]).expect(0);
    assert!(some.err.contains("these tests explored nothing of missed 1.0.0; others may\n"), "{}", some.err);
    assert!(!some.err.contains("--allow-trivial"), "{}", some.err);
    let seen = project.run(&["test", "--instrument", "seen"]).expect(0);
    assert!(!seen.err.contains("nothing was explored"), "{}", seen.err);
    // The same for blocks of one's own crate; what a `cfg` leaves out is no block.
    let blocks = "#[interloper::atomic]\npub fn runs() {}\n#[interloper::atomic(name = \"other\")]\npub fn rests() {\n    \
                  interloper::atomic(\"inner\", || ());\n}\n#[cfg(loom)]\n#[interloper::atomic]\nfn absent() {}\n";
    let calls = TEST.replace("counter.add();", "counter.add(); crate::runs();");
    project.put("src/lib.rs", &format!("{blocks}{calls}"));
    let idle = project.run(&["test", "--instrument", "seen"]).expect(2);
    let lines: Vec<&str> = idle.err.lines().filter(|line| line.contains("nothing was explored")).collect();
    let says = |name: &str, line: u32| {
        format!(
            "nothing was explored of the atomic block `{name}` at src/lib.rs:{line}: it ran in no check; \
             `--allow-trivial` accepts this"
        )
    };
    assert_eq!(lines, [says("other", 4), says("inner", 5)], "{}", idle.err);
    project.run(&["test", "--instrument", "seen", "--allow-trivial"]).expect(0);
    project.put("src/lib.rs", &format!("{blocks}{}", calls.replace("runs()", "runs(); crate::rests()")));
    let ran = project.run(&["test", "--instrument", "seen"]).expect(0);
    assert!(!ran.err.contains("nothing was explored"), "{}", ran.err);
    // The steps of a crate that is reached through another one alone are steps of that one, too.
    project.dependency("within", COUNTER);
    let manifest = "[package]\nname = \"seen\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[dependencies]\nwithin = { path = \"../within\" }\n";
    project.put("seen/Cargo.toml", manifest);
    project.put("seen/src/lib.rs", "pub use within::Counter;\n");
    project.put("src/lib.rs", TEST);
    let through = project.run(&["test", "--instrument", "seen"]).expect(0);
    assert!(through.err.contains("under control: seen 1.0.0, and with it within 1.0.0\n"), "{}", through.err);
    assert!(!through.err.contains("nothing"), "{}", through.err);
    let manifest = fs::read_to_string(project.folder().join("Cargo.toml")).expect("a manifest");
    let both = manifest.replace("\nseen =", "\nwithin = { path = \"within\" }\nseen =");
    project.put("Cargo.toml", &both);
    let besides = project.run(&["test", "--instrument", "seen"]).expect(2);
    assert!(besides.err.contains("nothing was explored of seen 1.0.0: no check saw a step of it; "), "{}", besides.err);
    // A static of a crate above what is under control is fresh as a whole: its atomic belongs to the execution, the rest is memory.
    let once = "use std::cell::Cell;\nuse std::sync::atomic::{AtomicBool, Ordering::SeqCst};\n\
                pub struct Once(AtomicBool, Cell<Option<fn() -> u32>>);\nunsafe impl Sync for Once {}\nimpl Once {\n    \
                pub const fn new(make: fn() -> u32) -> Once { Once(AtomicBool::new(false), Cell::new(Some(make))) }\n    \
                pub fn first(&self) -> Option<u32> {\n        \
                if self.0.swap(true, SeqCst) { return None }\n        \
                Some(self.1.take().expect(\"nobody was here\")())\n    }\n}\n";
    project.dependency("once", once);
    project.dependency("above", "pub static VALUE: once::Once = once::Once::new(|| 7);\n");
    project.put(
        "above/Cargo.toml",
        "[package]\nname = \"above\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[dependencies]\nonce = { path = \"../once\" }\n",
    );
    project.put("Cargo.toml", &manifest.replace("\nseen =", "\nabove = { path = \"above\" }\nseen ="));
    let above = "let one = interloper::thread::spawn(|| above::VALUE.first());\n        let own = above::VALUE.first();\n        \
                 assert_eq!(one.join().unwrap().or(own), Some(7));\n        counter.add();";
    project.put("src/lib.rs", &TEST.replace("counter.add();", above));
    project.run(&["test", "--instrument", "once,seen"]).expect(0);
    // Addresses are the same in each run, so that what depends on them is.
    #[cfg(target_os = "linux")]
    {
        project
            .put("src/lib.rs", "#[test]\nfn says() {\n    println!(\"at {:p} {:p}\", says as fn(), Box::new(1));\n}\n");
        let places = || {
            let ran = project.run(&["test", "says", "--", "--nocapture"]).expect(0);
            ran.out.lines().find(|line| line.contains("at 0x")).expect("it is printed").to_owned()
        };
        assert_eq!(places(), places());
    }
    // A test that fails fails.
    project.put("src/lib.rs", &TEST.replace("counter.get()", "panic!()"));
    project.run(&["test", "--instrument", "seen,missed"]).expect(1);
}
