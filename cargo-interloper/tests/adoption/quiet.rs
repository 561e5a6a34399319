//! Test targets in which no execution can begin announce nothing.

use super::*;

/// A target without a check. Its test dies if anybody tells of a store that it makes.
const WITHOUT: &str = r#"
use std::alloc::Layout;
use std::hint::black_box;
use std::plain::{Atomic, Code, KnownCode, StackNotes, Watcher};
use std::sync::atomic::Ordering;

struct Nobody;

impl Watcher for Nobody {
    extern "C" fn access(&self, _: usize, _: usize, _: bool, _: usize, _: usize) {
        std::process::abort();
    }
    fn atomic(&self, _: Atomic) {}
    fn fence(&self, _: Ordering, _: Code) {}
    fn allocated(&self, _: usize, _: Layout, _: Code) {}
    fn freed(&self, _: usize, _: Layout, _: Code) -> bool {
        false
    }
    fn handed_over(&self, _: usize, _: std::plain::Handed) {}
}

#[test]
fn nobody_is_told() {
    println!("quiet: {}", std::plain::is_quiet());
    let mut words = [0_u64; 4];
    let (known, notes) = (KnownCode::default(), StackNotes::default());
    std::plain::watched(&Nobody, (&known, &notes), || black_box(&mut words)[black_box(1)] = black_box(7));
    assert_eq!(words[1], 7);
}
"#;

/// A target with a check, whose data race is found only if the code of the target itself announces.
const WITH: &str = r#"
struct Word(std::cell::UnsafeCell<u64>);
unsafe impl Sync for Word {}

#[interloper::test(expect = "bug")]
fn two_write() {
    let word = Word(std::cell::UnsafeCell::new(0));
    let add = |word: &Word| unsafe { *word.0.get() += 1 };
    std::thread::scope(|scope| {
        scope.spawn(|| add(&word));
        add(&word);
    });
}
"#;

/// A macro that begins an execution in a target which does not say so, in the way that a crate of a registry could.
const HIDDEN: &str = r#"
extern crate proc_macro;

#[proc_macro]
pub fn check(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let checker = concat!("inter", "loper::Checker::new(\"hidden\").executions(20)");
    let checked = format!("println!(\"checked: {{}}\", match {checker}.check(|| ()) {{ Ok(_) => String::new(), Err(error) => error.to_string() }})");
    checked.parse().unwrap()
}
"#;

const REFUSAL: &str = "checked: this test target was compiled without announced loads and stores, since none of its files names interloper";

/// The targets are not compiled again for a decision that stays as it is, and they are for one that changes, although their own
/// files do not.
#[test]
fn a_target_without_a_check_announces_nothing() {
    let interloper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let interloper = interloper.canonicalize().expect("it is in this workspace");
    let project = Project::new(&format!(
        "[dev-dependencies.interloper]\npath = {interloper:?}\n[dev-dependencies.hidden]\npath = \"hidden\"\n"
    ));
    project.put("hidden/Cargo.toml", "[package]\nname = \"hidden\"\nversion = \"1.0.0\"\n[lib]\nproc-macro = true\n");
    project.put("hidden/src/lib.rs", HIDDEN);
    project.put("src/lib.rs", HEAD);
    project.put("tests/without.rs", &format!("{HEAD}{WITHOUT}"));
    project.put("tests/with.rs", &format!("{HEAD}{WITH}"));
    project.put("tests/hidden.rs", &format!("{HEAD}\n#[test]\nfn begins() {{\n    hidden::check!();\n}}\n"));
    // No crate has this file as a module.
    project.put("src/notes.rs", "");
    let run = || project.run(&["test", "--no-fail-fast", "--", "--show-output"]);

    let quiet = again(|| run().expect(0));
    assert!(quiet.out.contains("quiet: true\n") && quiet.out.contains(REFUSAL), "{}", quiet.out);
    assert!(quiet.out.contains("test two_write ... ok\n"), "{}", quiet.out);

    project.put("src/notes.rs", "// interloper\n");
    let loud = alone(run);
    assert_ne!(loud.code, Some(0), "{}", loud.out);
    assert!(loud.err.contains("SIGABRT") && loud.err.contains("--test without"), "{}", loud.err);
    assert!(loud.out.contains("checked: nothing was explored") && !loud.out.contains(REFUSAL), "{}", loud.out);

    project.put("src/notes.rs", "");
    let quiet = alone(run).expect(0);
    assert!(quiet.out.contains("quiet: true\n") && quiet.out.contains(REFUSAL), "{}", quiet.out);
}
