//! The general search allocates only for what it meets for the first time, and keeps to its memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use interloper_commutativity::Value;
use interloper_linearize::general::{Bound, Budget, Progress, Search, Spec, Verdict, check};
use interloper_linearize::history::History;
use interloper_linearize::program::{Program, TooLarge};
use interloper_linearize::recording::{self, Recorder};
use interloper_linearize::schema::{Invocation, Schema};
use interloper_linearize::types::type_named;
use interloper_linearize::visibility::Visibility;
use interloper_random::{Purpose, Stream};

thread_local! {
    /// How often this thread has asked for memory.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// How many bytes it has, and the most since this was last asked.
    static BYTES: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

fn took(bytes: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    BYTES.set(BYTES.get() + bytes);
    PEAK.set(PEAK.get().max(BYTES.get()));
}

/// Memory that another thread took may be given back here.
fn gave(bytes: usize) {
    BYTES.set(BYTES.get().saturating_sub(bytes));
}

// SAFETY: every method passes its arguments on to the system's allocator and returns what that returns; counting
// touches a thread-local cell that needs no memory of its own and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller keeps the contract of this very method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        gave(layout.size());
        // SAFETY: as above; the pointer came from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks exist while the content moves.
        took(size);
        gave(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

/// The most bytes while something runs, beyond those before it.
fn peak(run: impl FnOnce()) -> usize {
    let before = BYTES.get();
    PEAK.set(before);
    run();
    PEAK.get() - before
}

/// A sum modulo a number; the last call, a read, has seen a sum that never existed. All calls overlap.
struct Sum {
    modulus: u64,
    calls: usize,
}

impl Spec for Sum {
    type State = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn step(&mut self, state: &u64, call: usize) -> Option<u64> {
        (call + 1 < self.calls).then(|| (state + call as u64 + 1) % self.modulus)
    }
}

#[test]
fn a_search_through_many_nodes() {
    let calls = 40;
    let mut history = History::new();
    for _ in 0..calls {
        history.invoke();
    }
    (0..calls).for_each(|call| history.complete(call));
    let with = |attempts| {
        allocations(|| {
            let verdict = check(&mut Sum { modulus: 97, calls }, &history, Budget::StopAfter(attempts));
            assert_eq!(verdict, Verdict::Unknown(Bound::Attempts));
        })
    };
    let (few, many) = (with(20_000), with(640_000));
    // Only the table of nodes still grows, by doubling: log2(640,000 / 20,000) = 5 times.
    assert!(many <= few + 6, "{few} allocations for 20,000 attempts, {many} for 640,000");
}

#[test]
fn a_search_through_a_recorded_history() {
    let int = Value::Int;
    let mut recorder = Recorder::new();
    for process in 0..40 {
        let call = Invocation::new("cas", [int(process % 4), int(process % 3)]);
        recorder.invoke(process, call).expect("the process is in no call");
    }
    // All of them are pending, and no call writes what is read.
    recorder.invoke(40, Invocation::new("write", [int(0)])).expect("the process is in no call");
    recorder.invoke(41, Invocation::new("read", [])).expect("the process is in no call");
    recorder.returned(40, Value::None).expect("it writes");
    recorder.returned(41, int(99)).expect("it reads");
    let recording = recorder.finish();
    let register = type_named("register").expect("a type");
    let with = |attempts| {
        allocations(|| {
            let checked = recording::check(register, &recording, Budget::StopAfter(attempts));
            assert_eq!(checked.expect("calls of a register").verdict, Verdict::Unknown(Bound::Attempts));
        })
    };
    let (few, many) = (with(20_000), with(640_000));
    // There are 4 states and 12 different calls: what each does is known early.
    assert!(many <= few + 6, "{few} allocations for 20,000 attempts, {many} for 640,000");
}

/// Calls of a queue with equal values, one after the other: first all insertions, then all removals.
fn sequential_queue(calls: usize) -> recording::Recording {
    let mut recorder = Recorder::new();
    for call in 0..calls {
        let (method, arguments, result) = if call < calls / 2 {
            ("offer", vec![Value::Int(1)], Value::Bool(true))
        } else {
            ("poll", vec![], Value::Int(1))
        };
        recorder.invoke(0, Invocation::new(method, arguments)).expect("the process is in no call");
        recorder.returned(0, result).expect("the process is in the call");
    }
    recorder.finish()
}

#[test]
fn large_states_are_not_all_kept() {
    let queue = type_named("queue").expect("a type");
    let with = |calls, memory| {
        let recording = sequential_queue(calls);
        peak(|| {
            let mut search = recording::Search::new(queue, &recording).expect("calls of a queue");
            search.set_memory(memory);
            let Progress::Done(checked) = search.advance(u64::MAX) else { panic!("there is no bound") };
            assert!(matches!(checked.verdict, Verdict::Linearizable { .. }));
        })
    };
    // 2,000 states of 1,000 values on average are 48 MB.
    let memory = 8_000_000;
    let (half, whole) = (with(2_000, memory), with(4_000, memory));
    assert!(whole < memory, "{whole} bytes for 4,000 calls");
    // A quarter of the memory is for states, the rest grows with the calls: by doubling, at most.
    assert!(whole < memory / 4 + 2 * half, "{half} bytes for 2,000 calls, {whole} for 4,000");
}

#[test]
fn memory_is_bounded() {
    let calls = 40;
    let mut history = History::new();
    (0..calls).for_each(|_| {
        history.invoke();
    });
    (0..calls).for_each(|call| history.complete(call));
    for memory in [1_000_000, 20_000_000] {
        let mut search = Search::new(Sum { modulus: 97, calls }, &history);
        search.set_memory(memory);
        let used = peak(|| {
            assert_eq!(search.advance(u64::MAX), Progress::Done(Verdict::Unknown(Bound::Memory)));
        });
        // The search stops before a table would grow beyond its memory, so it used at least a fifth.
        assert!((memory / 8..=memory).contains(&used), "{used} of {memory} bytes");
    }
}

/// Each state is as large as a page, and there are as many of them as sets of calls.
#[test]
fn memory_for_states_is_bounded() {
    struct Pages(usize);
    impl Spec for Pages {
        type State = Vec<u8>;
        fn initial(&self) -> Vec<u8> {
            vec![0; 4096]
        }
        fn step(&mut self, state: &Vec<u8>, call: usize) -> Option<Vec<u8>> {
            let mut state = state.clone();
            state[call] = 1;
            (call + 1 < self.0).then_some(state)
        }
        fn bytes(&self, state: &Vec<u8>) -> usize {
            state.len() + size_of_val(state)
        }
    }
    let calls = 14;
    let mut history = History::new();
    (0..calls).for_each(|_| {
        history.invoke();
    });
    (0..calls).for_each(|call| history.complete(call));
    let memory = 6_000_000;
    let mut search = Search::new(Pages(calls), &history);
    search.set_memory(memory);
    // 2^13 states of a page would be 34 MB.
    let used = peak(|| {
        let Progress::Done(verdict) = search.advance(u64::MAX) else { panic!("there is no bound") };
        assert!(matches!(verdict, Verdict::NotLinearizable(_)), "{verdict:?}");
    });
    assert!(used <= memory, "{used} bytes");
}

#[test]
fn a_schema_that_is_too_large_is_refused_at_once() {
    let text = format!("{{ {} }}", vec!["f()"; 20_000].join("; "));
    let schema = Schema::parse(&text).expect("a schema");
    let used = peak(|| {
        let refused = Program::new(&schema, &Visibility::complete());
        assert_eq!(refused, Err(TooLarge::Invocations(20_000)));
    });
    // What happens before each of them are 200 million numbers.
    assert!(used < 1000, "{used} bytes");
}

/// A text with a few random changes: characters taken away, doubled, exchanged or put in.
fn mutated(text: &str, pieces: &[&str], random: &mut Stream) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=random.index(4) {
        let at = random.index(letters.len() + 1);
        let end = (at + 1 + random.index(8)).min(letters.len());
        match random.index(5) {
            0 => drop(letters.drain(at.min(end)..end)),
            1 => {
                let doubled: Vec<char> = letters[at.min(end)..end].to_vec();
                (0..=random.index(40)).for_each(|_| drop(letters.splice(at..at, doubled.iter().copied())));
            }
            2 if !letters.is_empty() => {
                let (one, other) = (random.index(letters.len()), random.index(letters.len()));
                letters.swap(one, other);
            }
            3 => letters.truncate(at),
            _ => drop(letters.splice(at..at, pieces[random.index(pieces.len())].chars())),
        }
    }
    letters.into_iter().collect()
}

const PIECES: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "||",
    ";",
    ",",
    "\"",
    "\\",
    "\\u{",
    "<",
    "=",
    "+",
    "|",
    "-",
    "-0",
    "0",
    "é",
    "\u{0}",
    "null",
    "99999999999999999999",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

/// A schema that is read equals the one that is printed, and reading takes memory in proportion to the text.
#[test]
fn damaged_schemas() {
    let texts = [
        "{ put(1,0); contains(0) } || { put(0,0); put(1,1) }",
        "[put(0,0); put(2,0)], [clear(); put(1,1)], [put(3,1)], {0<2, 1<2}",
        "{ putAll({0=1,1=0}); f(\"a\\u{e9}\\n\", [1,[2,{}]], null, true) } || { g(-5) }",
    ];
    let mut random = Stream::new(1, Purpose::History, 0);
    let (mut good, mut bad) = (0, 0);
    for round in 0..12_000 {
        let text = mutated(texts[round % texts.len()], &PIECES, &mut random);
        let used = peak(|| match Schema::parse(&text) {
            Ok(schema) => {
                good += 1;
                assert_eq!(Schema::parse(&schema.to_string()).as_ref(), Ok(&schema), "{text:?}");
                let _map_or_not = schema.check(type_named("map").expect("a type"));
                let _small_or_not = Program::new(&schema, &Visibility::complete());
            }
            Err(mistake) => {
                bad += 1;
                assert!(mistake.at <= text.len() && mistake.to_string().lines().count() == 3, "{text:?}: {mistake}");
            }
        });
        assert!(used <= 200 * text.len() + 100_000, "{used} bytes for {text:?}");
    }
    assert!(good > 300 && bad > 300, "{good} good, {bad} bad");
}

#[test]
fn damaged_visibilities() {
    let texts = ["contains=monotonic,size=weak", "isEmpty=basic(get|put)+linPrefix,size=causal+linMonotonic(add)"];
    let mut random = Stream::new(2, Purpose::History, 0);
    let (mut good, mut bad) = (0, 0);
    for round in 0..8_000 {
        let text = mutated(texts[round % texts.len()], &PIECES, &mut random);
        let used = peak(|| match text.parse::<Visibility>() {
            Ok(visibility) => {
                good += 1;
                assert_eq!(visibility.to_string().parse(), Ok(visibility), "{text:?}");
            }
            Err(error) => {
                bad += 1;
                assert!(!error.to_string().is_empty());
            }
        });
        assert!(used <= 200 * text.len() + 100_000, "{used} bytes for {text:?}");
    }
    assert!(good > 300 && bad > 300, "{good} good, {bad} bad");
}

/// No text that fits on a command line takes a gigabyte, whatever it repeats.
#[test]
fn no_text_takes_a_gigabyte() {
    const LENGTH: usize = 128 << 10;
    let repeated = ["put(1,0);", "[put(1,0)],", "0<1,", "{1=0},", "contains=weak,", "basic(get)+", "get|"];
    let begun = ["", "{ ", "{ f(", "{ f(\"", "[f()], [f()], {", "size=", "size=basic("];
    let (mut read, mut refused) = (0, 0);
    for piece in PIECES.iter().chain(&repeated) {
        for begun in begun {
            let text = format!("{begun}{}", piece.repeat(LENGTH / piece.len()));
            let used = peak(|| {
                let parsed = [Schema::parse(&text).is_ok(), text.parse::<Visibility>().is_ok()];
                read += parsed.iter().filter(|parsed| **parsed).count();
                refused += parsed.iter().filter(|parsed| !**parsed).count();
            });
            assert!(used < 1 << 30, "{used} bytes for {begun:?} and {piece:?}");
        }
    }
    // A text that ends is read.
    let letters = "é".repeat(LENGTH / 2);
    for whole in [format!("{{ f(\"{letters}\") }}"), format!("{{ f([{}0]) }}", "0,".repeat(LENGTH / 2))] {
        let used = peak(|| assert!(Schema::parse(&whole).is_ok()));
        assert!(used < 1 << 30, "{used} bytes");
        read += 1;
    }
    assert!(read >= 2 && refused > 300, "{read} read, {refused} refused");
    // The peak memory of this process.
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux says it");
        let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(kilobytes < 1 << 20, "{kilobytes} kB");
    }
}

#[test]
fn the_counter_counts() {
    assert_eq!(peak(|| drop(std::hint::black_box((vec![1_u8; 1000], vec![1_u8; 500])))), 1500);
    assert_eq!(peak(|| (0..9).for_each(|_| drop(std::hint::black_box(vec![1_u8; 1000])))), 1000);
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1]))), 1);
    assert_eq!(allocations(|| ()), 0);
}
