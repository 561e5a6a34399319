//! Memory from each source that a program has. Two threads write to it, with a lock or without. Without the lock, the race is found
//! whatever gave out the memory. With the lock, no race is reported.

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::cell::UnsafeCell;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::CString;
use std::io::{BufWriter, Cursor};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, RwLock, mpsc};
use std::{panic, thread};

use interloper::blocks::{Checker, Grade};

/// Numbers that threads change through a shared reference.
struct Numbers(UnsafeCell<[u64; 40]>);

// SAFETY: who changes them has the lock, or has not, and then this is the bug.
unsafe impl Sync for Numbers {}

const NUMBERS: Numbers = Numbers(UnsafeCell::new([0; 40]));

/// How a program orders its two writes.
#[derive(Clone, Copy)]
struct Order(bool);

impl Order {
    /// Two threads do this.
    fn both(self, work: impl Fn() + Sync) {
        let lock = Mutex::new(());
        let work = || {
            let _guard = self.0.then(|| lock.lock().unwrap());
            work();
        };
        thread::scope(|scope| {
            scope.spawn(work);
            work();
        });
    }

    fn numbers(self, numbers: &Numbers) {
        // SAFETY: see `Numbers`.
        self.both(|| unsafe { (*numbers.0.get())[3] += 1 });
    }

    fn bytes(self, start: *const u8) {
        let start = AtomicPtr::new(start.cast_mut());
        // SAFETY: the caller owns the byte and reads it no more. Without the lock this is the bug.
        self.both(|| unsafe { start.load(Ordering::Relaxed).write(1) });
    }
}

/// The sources, by name.
const SOURCES: &[(&str, fn(Order))] = &[
    ("stack", |order| order.numbers(&NUMBERS)),
    ("box", |order| order.numbers(&Box::new(NUMBERS))),
    ("pinned box", |order| order.numbers(&Box::pin(NUMBERS))),
    ("boxed closure", |order| {
        let numbers = NUMBERS;
        let work: Box<dyn Fn()> = Box::new(move || order.numbers(&numbers));
        work();
    }),
    ("closure of a thread", |order| {
        let numbers = NUMBERS;
        thread::spawn(move || order.numbers(&numbers)).join().unwrap();
    }),
    ("closure of a named thread", |order| {
        let numbers = NUMBERS;
        let named = thread::Builder::new().name("named".to_owned());
        named.spawn(move || order.numbers(&numbers)).unwrap().join().unwrap();
    }),
    ("closure of a scoped thread", |order| {
        let numbers = NUMBERS;
        thread::scope(|scope| _ = scope.spawn(move || order.numbers(&numbers)));
    }),
    ("result of a thread", |order| order.numbers(&thread::spawn(|| NUMBERS).join().unwrap())),
    ("vector of a thread", |order| order.bytes(thread::spawn(|| vec![1_u8; 5]).join().unwrap().as_ptr())),
    ("result of catch_unwind", |order| order.numbers(&panic::catch_unwind(|| Box::new(NUMBERS)).unwrap())),
    ("Arc", |order| order.numbers(&Arc::new(NUMBERS))),
    ("slice in an Arc", |order| order.numbers(&Arc::<[Numbers]>::from_iter((0..9).map(|_| NUMBERS))[8])),
    ("text in an Arc", |order| order.bytes(Arc::<str>::from("abc").as_ptr())),
    ("cyclic Arc", |order| order.bytes(Arc::new_cyclic(|_| [1_u8; 9]).as_ptr())),
    ("Arc that was shared", |order| {
        let mut bytes = Arc::new([1_u8; 9]);
        let other = bytes.clone();
        let start = Arc::make_mut(&mut bytes).as_ptr();
        drop(other);
        order.bytes(start);
    }),
    ("Rc", |order| order.bytes(Rc::<[u8]>::from(&b"abc"[..]).as_ptr())),
    ("cell that is set once", |order| order.numbers(OnceLock::new().get_or_init(|| NUMBERS))),
    ("cell that is set once in an Arc", |order| order.numbers(Arc::new(OnceLock::new()).get_or_init(|| NUMBERS))),
    ("cell that is set once in a static", |order| {
        static ONCE: OnceLock<Numbers> = OnceLock::new();
        order.numbers(ONCE.get_or_init(|| NUMBERS));
    }),
    ("lazy value", |order| order.numbers(&LazyLock::new(|| NUMBERS))),
    ("lazy static", |order| {
        static LAZY: LazyLock<Numbers> = LazyLock::new(|| NUMBERS);
        order.numbers(&LAZY);
    }),
    ("static", |order| {
        static PLAIN: Numbers = NUMBERS;
        order.numbers(&PLAIN);
    }),
    ("mutex", |order| order.numbers(&Arc::new(Mutex::new(NUMBERS)).lock().unwrap())),
    ("mutex in a static", |order| {
        static LOCKED: Mutex<Numbers> = Mutex::new(NUMBERS);
        order.numbers(&LOCKED.lock().unwrap());
    }),
    ("reader-writer lock in a static", |order| {
        static LOCKED: RwLock<Numbers> = RwLock::new(NUMBERS);
        order.numbers(&LOCKED.read().unwrap());
    }),
    ("reader-writer lock", |order| order.numbers(&Arc::new(RwLock::new(NUMBERS)).read().unwrap())),
    ("thread-local", |order| {
        thread_local! {
            static LOCAL: Numbers = NUMBERS;
        }
        LOCAL.with(|numbers| order.numbers(numbers));
    }),
    ("message", |order| {
        let (sender, receiver) = mpsc::channel();
        sender.send(vec![NUMBERS]).unwrap();
        order.numbers(&receiver.recv().unwrap()[0]);
    }),
    ("message of a bounded channel", |order| {
        let (sender, receiver) = mpsc::sync_channel(3);
        sender.send(Box::new(1_u8)).unwrap();
        order.bytes(&raw const *receiver.recv().unwrap());
    }),
    ("vector that grew", |order| {
        let mut all = Vec::new();
        (0..9).for_each(|_| all.push(NUMBERS));
        order.numbers(&all[8]);
    }),
    ("vector that was made longer", |order| {
        let mut bytes = vec![1_u8; 10];
        bytes.reserve_exact(100);
        order.bytes(bytes.as_ptr());
    }),
    ("vector that was made shorter", |order| {
        let mut bytes = vec![1_u8; 100];
        bytes.truncate(10);
        bytes.shrink_to_fit();
        order.bytes(bytes.as_ptr());
    }),
    ("slice in a box", |order| order.bytes(vec![1_u8; 100].into_boxed_slice().as_ptr())),
    ("block of the allocator", |order| {
        let layout = Layout::new::<u64>();
        // SAFETY: the size is not zero, and the block is freed with its layout, once.
        unsafe {
            let block = alloc(layout);
            order.bytes(block);
            dealloc(block, layout);
        }
    }),
    ("block that the allocator made longer", |order| {
        let layout = Layout::new::<u64>();
        // SAFETY: the same, with the layout that it has then.
        unsafe {
            let block = realloc(alloc(layout), layout, 2 * layout.size());
            order.bytes(block.add(layout.size()));
            dealloc(block, Layout::array::<u64>(2).unwrap());
        }
    }),
    ("block without a value", |order| order.bytes(Box::<[u8; 100]>::new_uninit().as_ptr().cast())),
    ("deque that grew", |order| {
        let mut bytes = VecDeque::new();
        (0..20_u8).for_each(|byte| bytes.push_back(byte));
        order.bytes(bytes.as_slices().0.as_ptr());
    }),
    ("deque of a vector", |order| order.bytes(VecDeque::from(vec![1_u8; 100]).as_slices().0.as_ptr())),
    ("map", |order| order.numbers(&HashMap::from([(1, NUMBERS)])[&1])),
    ("set", |order| order.bytes(HashSet::from([[1_u8; 9]]).iter().next().unwrap().as_ptr())),
    ("sorted map", |order| order.numbers(&BTreeMap::from_iter((0..20).map(|key| (key, NUMBERS)))[&7])),
    ("heap", |order| order.bytes(BinaryHeap::from([[1_u8; 9]]).peek().unwrap().as_ptr())),
    ("list", |order| order.bytes(LinkedList::from([[1_u8; 9]]).front().unwrap().as_ptr())),
    ("formatted text", |order| order.bytes(format!("{}", 1_234_567).as_ptr())),
    ("text of a number", |order| order.bytes(12_345.to_string().as_ptr())),
    ("text that was repeated", |order| order.bytes("x".repeat(30).as_ptr())),
    ("text that was joined", |order| order.bytes(["a", "b"].concat().as_ptr())),
    ("text that was mended", |order| order.bytes(String::from_utf8_lossy(b"abc\xff").into_owned().as_ptr())),
    ("text of C", |order| order.bytes(CString::new("abc").unwrap().as_ptr().cast())),
    ("path", |order| order.bytes(PathBuf::from("abc").join("def").as_os_str().as_encoded_bytes().as_ptr())),
    ("variable of the environment", |order| order.bytes(std::env::var("PATH").unwrap().as_ptr())),
    ("buffer of a writer", |order| order.bytes(BufWriter::new(Vec::<u8>::new()).buffer().as_ptr())),
    ("buffer of a cursor", |order| order.bytes(Cursor::new(vec![1_u8; 9]).get_ref().as_ptr())),
];

#[test]
fn memory_from_each_source_is_watched() {
    for (name, program) in SOURCES {
        let report = Checker::new("program").executions(300).check(|| program(Order(false))).unwrap();
        assert_eq!(report.bug.map(|bug| bug.finding.word()), Some("data-race"), "{name}");
        let report = Checker::new("program").executions(30).check(|| program(Order(true))).unwrap();
        assert_eq!(report.grade, Grade::Clean, "{name}: {report}");
    }
}
