//! Statics of own crates and of those under control start fresh in each execution, whatever is in them.

use super::*;

const TESTED: &str = r#"
    use std::cell::Cell;
    use std::sync::{Mutex, Once};
    use std::thread;

    use interloper_scheduler::strategies::RandomWalk;
    use interloper_scheduler::{Config, Engine, Strategy};
    use once_cell::sync::{Lazy, OnceCell};

    fn finishes(program: fn()) {
        let mut engine = Engine::new(Config::default());
        let mut walk = RandomWalk::new(1);
        for number in 0..3_000 {
            assert!(walk.begin());
            let end = engine.run(&mut walk, program).end;
            assert!(end.is_finished(), "execution {number}: {end:?}");
        }
    }

    #[test]
    fn lazy_values_of_once_cell() {
        static LAZY: Lazy<Mutex<Vec<u8>>> = Lazy::new(|| Mutex::new(Vec::new()));
        static CELL: OnceCell<String> = OnceCell::new();
        finishes(|| {
            let add = || {
                LAZY.lock().unwrap().push(1);
                CELL.get_or_init(|| "made".to_owned()).len()
            };
            let other = thread::spawn(add);
            assert_eq!(add() + other.join().unwrap(), 8);
            assert_eq!(*LAZY.lock().unwrap(), [1, 1]);
        });
    }

    #[test]
    #[allow(static_mut_refs)]
    fn a_static_mut_of_ones_own() {
        static ONCE: Once = Once::new();
        static mut LIST: Vec<u8> = Vec::new();
        finishes(|| {
            let init = || ONCE.call_once(|| unsafe { LIST.push(1) });
            let other = thread::spawn(init);
            init();
            other.join().unwrap();
            assert_eq!(unsafe { LIST.len() }, 1);
        });
    }

    #[test]
    fn a_cell_beside_a_lock_in_a_dependency() {
        finishes(|| {
            let other = thread::spawn(|| low::number());
            assert_eq!(low::number() + other.join().unwrap(), 3);
        });
    }

    /// What is not under control keeps its list, so it keeps what is in it.
    #[test]
    fn a_node_in_a_list_of_others() {
        static NODES: [others::Node; 1] = [others::Node::new()];
        static LAST: others::Node = others::Node::new();
        finishes(|| {
            NODES[0].put_in();
            LAST.put_in();
            assert_eq!(others::length(), 2);
        });
    }

    #[test]
    fn a_thread_local() {
        thread_local! { static MINE: Cell<u8> = const { Cell::new(0) }; }
        finishes(|| {
            let add = || MINE.replace(MINE.get() + 1);
            assert_eq!(add() + thread::spawn(add).join().unwrap(), 0);
        });
    }
"#;

const LOW: &str = r#"
use std::cell::Cell;
use std::sync::Mutex;

struct Numbers {
    lock: Mutex<()>,
    last: Cell<u8>,
}

unsafe impl Sync for Numbers {}

static NUMBERS: Numbers = Numbers { lock: Mutex::new(()), last: Cell::new(0) };

/// Another one each time.
pub fn number() -> u8 {
    let _held = NUMBERS.lock.lock().unwrap();
    NUMBERS.last.set(NUMBERS.last.get() + 1);
    NUMBERS.last.get()
}
"#;

/// As callsites of tracing are: a list of statics of other crates.
const OTHERS: &str = r#"
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::SeqCst};

pub struct Node {
    is_in: AtomicBool,
    next: AtomicPtr<Node>,
}

static FIRST: AtomicPtr<Node> = AtomicPtr::new(null_mut());

impl Node {
    pub const fn new() -> Node {
        Node { is_in: AtomicBool::new(false), next: AtomicPtr::new(null_mut()) }
    }

    pub fn put_in(&'static self) {
        if !self.is_in.swap(true, SeqCst) {
            let this = self as *const Node as *mut Node;
            self.next.store(FIRST.swap(this, SeqCst), SeqCst);
            assert_ne!(self.next.load(SeqCst), this, "it is in the list already");
        }
    }
}

pub fn length() -> usize {
    let (mut length, mut node) = (0, FIRST.load(SeqCst));
    while let Some(here) = unsafe { node.as_ref() } {
        length += 1;
        node = here.next.load(SeqCst);
        assert!(length < 10, "the list is a circle");
    }
    length
}
"#;

const TESTS: [&str; 5] = [
    "lazy_values_of_once_cell",
    "a_static_mut_of_ones_own",
    "a_cell_beside_a_lock_in_a_dependency",
    "a_node_in_a_list_of_others",
    "a_thread_local",
];

#[test]
fn whole_statics_are_fresh_in_each_execution() {
    let dependencies = "once_cell = \"1\"\nlow = { path = \"low\" }\nothers = { path = \"others\" }\n";
    let project = Project::of_tests(dependencies, TESTED);
    project.dependency("low", LOW);
    project.dependency("others", OTHERS);
    let test = ["test", "--offline", "--instrument", "once_cell,low"];
    let mut one = command(project.folder(), &test);
    let ran_one = ran(one.env_remove("RUST_TEST_THREADS")).expect(0);
    ran_one.assert_passed(&TESTS);
    assert!(!ran_one.err.contains("several tests run at once"), "{}", ran_one.err);

    // Tests that run at once share their statics: said, and seen.
    let several = project.run(&[&test[..], &["--", "--test-threads=2"]].concat()).expect(1);
    let note = "several tests run at once and share their statics: only the mirrored values in statics start fresh\n";
    assert!(several.err.contains(note), "{}", several.err);
    for test in &TESTS[..3] {
        assert!(several.out.contains(&format!("test tests::{test} ... FAILED\n")), "{}", several.out);
    }
    assert!(several.out.contains("Lazy instance has previously been poisoned"), "{}", several.out);
}
