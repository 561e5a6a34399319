//! `StringBuffer` and `Vector`.

use interloper::ToValue;

use super::platform::sync::{Arc, Mutex};
use super::platform::{beside, thread};
use super::{Bug, Expected, Family, Program, Row, row};

const FILE: Family = Family::new("AtomFuzzer, Table 1 (JDK 1.4.2)", include_str!("strings.rs")).critical_sections();
const JDK_1_1: Family = FILE.from("AtomFuzzer, Table 1 (JDK 1.1)");

pub(super) fn rows() -> Vec<Row> {
    let string_buffer = FILE.bad(
        "string-buffer",
        "string-buffer-both-locks",
        Bug::Panic("StringIndexOutOfBoundsException"),
        "append asks the other buffer for its length, then for that many characters: meanwhile a thread has cut it \
         short. Atomizer found this bug.",
        || string_buffer(StringBuffer::append).to_value(),
    );
    let vector = JDK_1_1.good(
        "vector",
        Expected::Clean,
        "Every method is one critical section of the only lock there is.",
        || vector().to_value(),
    );
    vec![row("StringBuffer", Some(0.78), string_buffer), row("Vector", None, vector)]
}

pub(super) fn twins() -> Vec<Program> {
    vec![FILE.good(
        "string-buffer-both-locks",
        Expected::Clean,
        "append holds the lock of the other buffer until the characters are copied.",
        || string_buffer(StringBuffer::append_with_both_locks).to_value(),
    )]
}

// case: string-buffer
/// Text under a lock.
struct StringBuffer(Mutex<String>);

impl StringBuffer {
    fn new(text: &str) -> StringBuffer {
        StringBuffer(Mutex::new(text.to_owned()))
    }

    fn length(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn set_length(&self, length: usize) {
        self.0.lock().unwrap().truncate(length);
    }

    /// The characters in front of `end`.
    fn get_chars(&self, end: usize) -> String {
        self.0.lock().unwrap().get(..end).expect("StringIndexOutOfBoundsException").to_owned()
    }

    /// `public synchronized StringBuffer append(StringBuffer sb)`
    fn append(&self, other: &StringBuffer) {
        let mut text = self.0.lock().unwrap();
        let length = other.length();
        text.push_str(&other.get_chars(length));
    }
}

/// Two threads append one buffer to their own, twice; a third one shortens it. Gives the two buffers.
fn string_buffer(append: fn(&StringBuffer, &StringBuffer)) -> (String, String) {
    let shared = Arc::new(StringBuffer::new("abc"));
    let append_twice = move |other: &StringBuffer| {
        let own = StringBuffer::new("");
        append(&own, other);
        append(&own, other);
        own.0.into_inner().unwrap()
    };
    let theirs = Arc::clone(&shared);
    let shortens = thread::spawn(move || [2, 1, 0].into_iter().for_each(|length| theirs.set_length(length)));
    let texts = beside(&shared, append_twice, append_twice);
    shortens.join().unwrap();
    texts
}
// end

// case: string-buffer-both-locks
/// Holds both locks.
impl StringBuffer {
    fn append_with_both_locks(&self, other: &StringBuffer) {
        let mut text = self.0.lock().unwrap();
        let other = other.0.lock().unwrap();
        text.push_str(other.get(..other.len()).expect("StringIndexOutOfBoundsException"));
    }
}
// end

// case: vector
/// Elements under a lock.
struct Vector(Mutex<Vec<i64>>);

impl Vector {
    fn add_element(&self, element: i64) {
        self.0.lock().unwrap().push(element);
    }

    fn remove_element(&self, element: i64) -> bool {
        let mut elements = self.0.lock().unwrap();
        let index = elements.iter().position(|other| *other == element);
        index.map(|index| elements.remove(index)).is_some()
    }

    fn contains(&self, element: i64) -> bool {
        self.0.lock().unwrap().contains(&element)
    }

    fn size(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn copy_into(&self) -> Vec<i64> {
        self.0.lock().unwrap().clone()
    }
}

/// Gives what each of the two threads saw.
fn vector() -> ((bool, usize), (bool, Vec<i64>)) {
    let vector = Arc::new(Vector(Mutex::new(vec![1, 2])));
    let own = |vector: &Vector| {
        vector.add_element(3);
        (vector.remove_element(1), vector.size())
    };
    beside(&vector, own, |vector| {
        vector.remove_element(2);
        (vector.contains(3), vector.copy_into())
    })
}
// end
