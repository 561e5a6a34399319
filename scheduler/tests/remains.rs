//! What executions leave in statics is freed, and nothing that somebody still uses. One test, since the memory is that of the
//! whole process.
#![cfg(target_os = "linux")]

use std::cell::{RefCell, UnsafeCell};
use std::sync::mpsc;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, Engine, Strategy};
use interloper_std::plain::Quarantine;
use interloper_std::runtime::Statics;
use interloper_std::sync::{Arc, Mutex};
use interloper_std::thread;

mod memory;
use memory::resident;

#[global_allocator]
static ALLOCATOR: Quarantine = Quarantine::new();

/// A list of large nodes.
struct Node {
    content: Vec<u64>,
    next: Option<Box<Node>>,
}

struct Cell(UnsafeCell<Option<Box<Node>>>);

// SAFETY: only the first task uses it, in executions one after the other.
unsafe impl Sync for Cell {}

static OWNER: Cell = Cell(UnsafeCell::new(None));

fn list(length: usize, number: u64) -> Option<Box<Node>> {
    (0..length).fold(None, |next, _| Some(Box::new(Node { content: vec![number; 8 << 10], next })))
}

fn is_intact(list: &Option<Box<Node>>, number: u64) -> bool {
    let mut node = list;
    let mut length = 0;
    while let Some(this) = node {
        if this.content != vec![number; 8 << 10] {
            return false;
        }
        node = &this.next;
        length += 1;
    }
    length == 4
}

#[test]
fn what_statics_owned_is_freed_and_what_others_have_is_kept() {
    const EXECUTIONS: u64 = 4_000;
    let mut engine = Engine::new(Config { statics: Statics::of(["remains"]), ..Config::default() });
    let mut walk = RandomWalk::new(1);
    // Lists that leave the execution which made them: for the test, and for a thread that has them on its stack alone.
    let kept = RefCell::new(Vec::new());
    let (to_other, from_here) = mpsc::channel::<(Option<Box<Node>>, u64)>();
    let (done, is_done) = mpsc::channel();
    let other = std::thread::spawn(move || {
        let mine: [_; 10] = std::array::from_fn(|_| from_here.recv().unwrap());
        is_done.recv().unwrap();
        mine.iter().all(|(list, number)| is_intact(list, *number))
    });
    let before = resident();
    for number in 0..EXECUTIONS {
        assert!(walk.begin());
        let execution = engine.run(&mut walk, || {
            // SAFETY: nobody else uses the static.
            let owned = unsafe { &mut *OWNER.0.get() };
            assert!(owned.is_none(), "the static did not start afresh");
            *owned = list(4, number);
            let shared = Arc::new(Mutex::new(0));
            let task = thread::spawn({
                let shared = Arc::clone(&shared);
                move || *shared.lock().unwrap() += 1
            });
            task.join().unwrap();
            if number % 100 == 0 {
                kept.borrow_mut().push((list(4, number), number));
            }
            if number % 400 == 1 {
                to_other.send((list(4, number), number)).unwrap();
            }
        });
        assert!(execution.end.is_finished(), "{execution:?}");
    }
    let grown = resident() - before;
    // Statics owned 1 GB. A collection begins with 64 MB more than the last one has left; what is kept are 13 MB.
    assert!(grown < 200 << 20, "{grown}");
    assert!(kept.borrow().len() == 40 && kept.borrow().iter().all(|(list, number)| is_intact(list, *number)));
    done.send(()).unwrap();
    assert!(other.join().unwrap());
}
