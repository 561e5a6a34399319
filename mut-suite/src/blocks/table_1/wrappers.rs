//! `ArrayList`, `LinkedList`, `HashSet`, `TreeSet` and `LinkedHashSet` behind `Collections.synchronizedCollection`.
//!
//! The methods over two collections hold the lock of the first, and take that of the second once for each element.

use interloper::{ToValue, Value};

use super::collections::{ArrayList, Elements, HashSet, LinkedHashSet, LinkedList, TreeSet};
use super::platform::sync::{Arc, Mutex, MutexGuard};
use super::platform::{beside, thread};
use super::{Bug, Expected, Family, Program, Row, row};

const FILE: Family = Family::new("AtomFuzzer, Table 1 (JDK 1.4.2)", include_str!("wrappers.rs")).critical_sections();
const METHODS: Family = FILE.from("AtomFuzzer, section 5.3 (JDK 1.4.2)");

const FAILS_FAST: Bug = Bug::Panic("ConcurrentModificationException");

/// The programs of a class.
struct Class {
    row: Row,
    twin: Program,
    methods: Vec<Program>,
}

macro_rules! methods {
    ($name:literal, $type:ty; $($suffix:literal, $code:literal, $method:ident, $locked:ident, $other:expr, $new:literal,
        $bug:expr, $about:expr;)*) => {
        vec![$(
            METHODS.showing($code).bad(
                concat!($name, $suffix),
                concat!($name, $suffix, "-both-locks"),
                $bug,
                $about,
                || one_method($method::<$type>, &$other, $new).to_value(),
            ),
            METHODS.showing("both-locks").good(
                concat!($name, $suffix, "-both-locks"),
                Expected::Clean,
                "The same, and it holds both locks until it is done.",
                || one_method($locked::<$type>, &$other, $new).to_value(),
            ),
        )*]
    };
}

macro_rules! class {
    ($title:literal, $name:literal, $type:ty, $probability:literal, remove_all: $remove_all:expr, $remove_all_about:expr) => {
        Class {
            row: row(
                $title,
                Some($probability),
                FILE.showing("contains-all").bad(
                    $name,
                    concat!($name, "-both-locks"),
                    FAILS_FAST,
                    "containsAll and removeAll over a collection that two other threads change: an iterator over it \
                     fails fast.",
                    || driver(4, contains_all::<$type>, remove_all::<$type>),
                ),
            ),
            twin: FILE.showing("both-locks").good(
                concat!($name, "-both-locks"),
                Expected::Clean,
                "The same, and each method holds both locks. The collection is changed less often, so that a test can go \
                 through all schedules.",
                || driver(2, contains_all_locked::<$type>, remove_all_locked::<$type>),
            ),
            methods: methods! {
                $name, $type;
                "-contains-all", "contains-all", contains_all, contains_all_locked, [1, 2], 3, FAILS_FAST,
                    "Goes through the other collection, whose lock it takes for each element: when the other thread \
        has changed it, the iterator fails fast.";
                "-remove-all", "remove-all", remove_all, remove_all_locked, [1], 2, $remove_all, $remove_all_about;
                "-add-all", "add-all", add_all, add_all_locked, [1, 2], 3, FAILS_FAST,
                    "Adds what it goes through, and takes the lock of the other collection for each element: the \
        iterator fails fast.";
                "-retain-all", "retain-all", retain_all, retain_all_locked, [1], 2, Bug::NotSerialisable,
                    "Asks for each element whether it is in the other collection, which has 1, then nothing, then 2: \
        both 1 and 2 are found, and kept.";
                "-equals", "equals", equals, equals_locked, [1, 2], 3, FAILS_FAST,
                    "Compares with what it goes through, and takes the lock of the other collection for each \
        element: the iterator fails fast.";
            },
        }
    };
}

const LIST_REMOVES: &str = "Asks for each element whether it is in the other collection, which has 1, then nothing, \
                            then 2: both 1 and 2 are found, and removed.";
const SET_REMOVES: &str = "The other set is the smaller one, so it is gone through, and its lock taken for each \
                           element: the iterator fails fast.";

fn classes() -> [Class; 5] {
    [
        class!("ArrayList", "array-list", ArrayList, 0.97, remove_all: Bug::NotSerialisable, LIST_REMOVES),
        class!("LinkedList", "linked-list", LinkedList, 0.99, remove_all: Bug::NotSerialisable, LIST_REMOVES),
        class!("HashSet", "hash-set", HashSet, 0.98, remove_all: FAILS_FAST, SET_REMOVES),
        class!("TreeSet", "tree-set", TreeSet, 0.99, remove_all: FAILS_FAST, SET_REMOVES),
        class!("LinkedHashSet", "linked-hash-set", LinkedHashSet, 0.77, remove_all: FAILS_FAST, SET_REMOVES),
    ]
}

pub(super) fn rows() -> Vec<Row> {
    classes().into_iter().map(|class| class.row).collect()
}

pub(super) fn twins() -> Vec<Program> {
    classes().into_iter().map(|class| class.twin).collect()
}

pub(super) fn methods() -> Vec<Program> {
    classes().into_iter().flat_map(|class| class.methods).collect()
}

type Method<C> = fn(&Synchronized<C>, &Synchronized<C>) -> bool;

/// One thread calls two methods over two collections, two others change the second collection. Their results do not
/// matter: as in the paper, a bug is an exception.
fn driver<C: Elements>(rounds: usize, contains_all: Method<C>, remove_all: Method<C>) -> Value {
    let shared = Arc::new([Synchronized::<C>::new(0, &[1, 2, 3, 4, 5]), Synchronized::new(1, &[1, 2, 3, 4, 5])]);
    let change = |element: i64| {
        move |[_, second]: &[Synchronized<C>; 2]| {
            for _ in 0..rounds {
                second.add(element);
                second.remove(element);
            }
        }
    };
    let (theirs, change_other) = (Arc::clone(&shared), change(7));
    let other = thread::spawn(move || change_other(&theirs));
    let call = |[first, second]: &[Synchronized<C>; 2]| {
        contains_all(first, second);
        remove_all(first, second);
    };
    beside(&shared, call, change(6));
    other.join().unwrap();
    Value::Unit
}

/// One thread calls a method, the other one removes 1 from the second collection and adds another element. Gives the
/// result, and both collections at the end.
fn one_method<C: Elements>(method: Method<C>, second: &[i64], new: i64) -> (bool, Vec<i64>, Vec<i64>) {
    let shared = Arc::new([Synchronized::<C>::new(0, &[1, 2]), Synchronized::new(1, second)]);
    let (result, ()) = beside(
        &shared,
        |[first, second]| method(first, second),
        move |[_, second]| {
            second.remove(1);
            second.add(new);
        },
    );
    let elements = |collection: &Synchronized<C>| collection.lock().elements.in_order();
    (result, elements(&shared[0]), elements(&shared[1]))
}

/// A collection, and how often it was changed.
struct FailFast<C> {
    elements: C,
    modifications: u64,
}

/// A collection with a lock.
struct Synchronized<C> {
    /// The order in which a task takes two locks.
    rank: u32,
    mutex: Mutex<FailFast<C>>,
}

impl<C: Elements> Synchronized<C> {
    fn new(rank: u32, elements: &[i64]) -> Synchronized<C> {
        let mut collection = C::default();
        for element in elements {
            collection.add(*element);
        }
        Synchronized { rank, mutex: Mutex::new(FailFast { elements: collection, modifications: 0 }) }
    }

    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, FailFast<C>> {
        self.mutex.lock().unwrap()
    }

    #[track_caller]
    fn add(&self, element: i64) -> bool {
        self.lock().add(element)
    }

    #[track_caller]
    fn remove(&self, element: i64) -> bool {
        self.lock().remove(element)
    }

    #[track_caller]
    fn contains(&self, element: i64) -> bool {
        self.lock().elements.contains(element)
    }

    #[track_caller]
    fn size(&self) -> usize {
        self.lock().elements.size()
    }

    /// Goes through the elements; the lock is taken for each of them.
    #[track_caller]
    fn iter(&self) -> Iter<'_, C> {
        Iter { of: self, at: 0, modifications: self.lock().modifications }
    }
}

impl<C: Elements> FailFast<C> {
    fn add(&mut self, element: i64) -> bool {
        let added = self.elements.add(element);
        self.modifications += u64::from(added);
        added
    }

    fn remove(&mut self, element: i64) -> bool {
        let removed = self.elements.remove(element);
        self.modifications += u64::from(removed);
        removed
    }
}

/// An iterator that fails when the collection has been changed since.
struct Iter<'a, C> {
    of: &'a Synchronized<C>,
    at: usize,
    modifications: u64,
}

impl<C: Elements> Iterator for Iter<'_, C> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let collection = self.of.lock();
        assert!(collection.modifications == self.modifications, "ConcurrentModificationException");
        self.at += 1;
        collection.elements.in_order().get(self.at - 1).copied()
    }
}

// case: contains-all
/// `AbstractCollection.containsAll` under the lock of the first collection.
fn contains_all<C: Elements>(first: &Synchronized<C>, second: &Synchronized<C>) -> bool {
    let first = first.lock();
    second.iter().all(|element| first.elements.contains(element))
}
// end

// case: remove-all
/// `AbstractCollection.removeAll`, or `AbstractSet.removeAll`, under the lock of the first collection.
fn remove_all<C: Elements>(first: &Synchronized<C>, second: &Synchronized<C>) -> bool {
    let mut first = first.lock();
    let mut removed = false;
    if C::IS_SET && first.elements.size() > second.size() {
        for element in second.iter() {
            removed |= first.remove(element);
        }
        return removed;
    }
    for element in first.elements.in_order() {
        if second.contains(element) {
            removed |= first.remove(element);
        }
    }
    removed
}
// end

// case: add-all
/// `AbstractCollection.addAll` under the lock of the first collection.
fn add_all<C: Elements>(first: &Synchronized<C>, second: &Synchronized<C>) -> bool {
    let mut first = first.lock();
    let mut added = false;
    for element in second.iter() {
        added |= first.add(element);
    }
    added
}
// end

// case: retain-all
/// `AbstractCollection.retainAll` under the lock of the first collection.
fn retain_all<C: Elements>(first: &Synchronized<C>, second: &Synchronized<C>) -> bool {
    let mut first = first.lock();
    let mut removed = false;
    for element in first.elements.in_order() {
        if !second.contains(element) {
            removed |= first.remove(element);
        }
    }
    removed
}
// end

// case: equals
/// `AbstractList.equals`, or `AbstractSet.equals`, under the lock of the first collection.
fn equals<C: Elements>(first: &Synchronized<C>, second: &Synchronized<C>) -> bool {
    let first = first.lock();
    if C::IS_SET {
        return first.elements.size() == second.size() && second.iter().all(|element| first.elements.contains(element));
    }
    second.iter().eq(first.elements.in_order())
}
// end

// case: both-locks
/// Takes both locks, in the order of the ranks.
fn lock_both<'a, C: Elements>(
    first: &'a Synchronized<C>,
    second: &'a Synchronized<C>,
) -> (MutexGuard<'a, FailFast<C>>, MutexGuard<'a, FailFast<C>>) {
    if first.rank < second.rank {
        let first = first.lock();
        (first, second.lock())
    } else {
        let second = second.lock();
        (first.lock(), second)
    }
}

fn contains_all_locked<C: Elements>(first: &Synchronized<C>, second: &Synchronized<C>) -> bool {
    let (first, second) = lock_both(first, second);
    second.elements.in_order().into_iter().all(|element| first.elements.contains(element))
}

/// Removes the elements for which this holds.
fn remove_if<C: Elements>(collection: &mut FailFast<C>, condition: impl Fn(i64) -> bool) -> bool {
    let mut removed = false;
    for element in collection.elements.in_order() {
        removed |= condition(element) && collection.remove(element);
    }
    removed
}

fn remove_all_locked<C: Elements>(first: &Synchronized<C>, second: &Synchronized<C>) -> bool {
    let (mut first, second) = lock_both(first, second);
    remove_if(&mut first, |element| second.elements.contains(element))
}

fn retain_all_locked<C: Elements>(first: &Synchronized<C>, second: &Synchronized<C>) -> bool {
    let (mut first, second) = lock_both(first, second);
    remove_if(&mut first, |element| !second.elements.contains(element))
}

fn add_all_locked<C: Elements>(first: &Synchronized<C>, second: &Synchronized<C>) -> bool {
    let (mut first, second) = lock_both(first, second);
    let mut added = false;
    for element in second.elements.in_order() {
        added |= first.add(element);
    }
    added
}

fn equals_locked<C: Elements>(first: &Synchronized<C>, second: &Synchronized<C>) -> bool {
    let (first, second) = lock_both(first, second);
    let (mut first, mut second) = (first.elements.in_order(), second.elements.in_order());
    if C::IS_SET {
        first.sort_unstable();
        second.sort_unstable();
    }
    first == second
}
// end
