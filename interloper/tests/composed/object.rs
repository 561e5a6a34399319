//! Objects described by `#[interloper::object]`, and the same ones described without it.

use std::collections::BTreeSet;

use interloper::objects::hunt::{Ended, Engine, Found, Hunt, Hunted, Source, What};
use interloper::objects::{Atom, Bounds, Generator, Level, Next, Object, Pool, Role, Schema, type_named};
use interloper::sync::Mutex;
use interloper::sync::atomic::{AtomicI64, Ordering::SeqCst};
use interloper::{ToValue, Value};

struct Counter(AtomicI64);

#[interloper::object(name = "counter")]
impl Counter {
    #[constructor]
    fn zero() -> Counter {
        Counter(AtomicI64::new(0))
    }

    #[core]
    fn add(&self, amount: i64) -> i64 {
        self.0.fetch_add(amount, SeqCst)
    }

    #[core(reads)]
    fn get(&self) -> i64 {
        self.0.load(SeqCst)
    }

    /// What is added between its two steps is lost.
    #[method]
    fn double(&self) {
        let now = self.get();
        self.set(2 * now);
    }

    #[method(name = "doubleAtOnce")]
    fn double_at_once(&self) {
        let mut now = self.get();
        while let Err(other) = self.0.compare_exchange(now, 2 * now, SeqCst, SeqCst) {
            now = other;
        }
    }

    fn set(&self, to: i64) {
        self.0.store(to, SeqCst);
    }
}

/// [`Counter`] without the attribute.
fn plain_counter() -> Object {
    Object::describe("counter", Counter::zero)
        .core("add", |counter, (amount,)| counter.add(amount))
        .core("get", |counter, ()| counter.get())
        .reads()
        .method("double", |counter, ()| counter.double())
        .method("doubleAtOnce", |counter, ()| counter.double_at_once())
        .build()
}

struct Names(Mutex<BTreeSet<String>>);

#[interloper::object(model = type_named("set").expect("a reference type"), data_independent)]
impl Names {
    #[constructor]
    pub fn new() -> Self {
        Names(Mutex::new(BTreeSet::new()))
    }

    #[core]
    fn add(&self, name: String) -> bool {
        self.0.lock().unwrap().insert(name)
    }

    #[core]
    fn remove(&self, name: &str) -> bool {
        self.0.lock().unwrap().remove(name)
    }

    #[core(reads)]
    fn contains(&self, name: &str) -> bool {
        self.0.lock().unwrap().contains(name)
    }

    /// Gives the lock back between two names.
    #[method(name = "containsAll", reads, arguments = [Generator::List(Atom::TEXT, 3)])]
    fn contains_all(&self, names: &[String]) -> bool {
        names.iter().all(|name| self.contains(name))
    }
}

/// [`Names`] without the attribute.
fn plain_names() -> Object {
    Object::describe("Names", Names::new)
        .core("add", |names, (name,): (String,)| names.add(name))
        .core("remove", |names, (name,): (String,)| names.remove(&name))
        .core("contains", |names, (name,): (String,)| names.contains(&name))
        .reads()
        .method("containsAll", |names, (all,): (Vec<String>,)| names.contains_all(&all))
        .reads()
        .arguments([Generator::List(Atom::TEXT, 3)])
        .model(type_named("set").expect("a reference type"))
        .data_independent()
        .build()
}

/// [`Names`] that keeps the lock.
struct Mended(Names);

#[interloper::object]
impl Mended {
    #[constructor]
    fn new() -> Self {
        Mended(Names::new())
    }

    #[core]
    fn add(&self, name: String) -> bool {
        self.0.add(name)
    }

    #[core]
    fn remove(&self, name: &str) -> bool {
        self.0.remove(name)
    }

    #[method(name = "containsAll", reads)]
    fn contains_all(&self, names: &[String]) -> bool {
        let kept = self.0.0.lock().unwrap();
        names.iter().all(|name| kept.contains(name))
    }
}

/// [`Names`] that are known to be weak.
struct Weak(Names);

#[interloper::object]
impl Weak {
    #[constructor]
    fn new() -> Self {
        Weak(Names::new())
    }

    #[core]
    fn add(&self, name: String) -> bool {
        self.0.add(name)
    }

    #[core]
    fn remove(&self, name: &str) -> bool {
        self.0.remove(name)
    }

    #[method(name = "containsAll", reads, sees = "weak")]
    fn contains_all(&self, names: &[String]) -> bool {
        self.0.contains_all(names)
    }
}

#[test]
fn what_the_attribute_says_is_what_the_builder_says() {
    for (described, plain) in [(Counter::object(), plain_counter()), (Names::object(), plain_names())] {
        assert_eq!(described.name(), plain.name());
        assert_eq!(described.methods(), plain.methods());
        assert_eq!(described.data_independent(), plain.data_independent());
        assert_eq!(described.visibility(), plain.visibility());
        assert_eq!(described.model().map(|model| model.name), plain.model().map(|model| model.name));
    }
    let counter = Counter::object();
    let methods: Vec<_> = counter.methods().iter().map(|method| (&*method.name, method.role, method.reads)).collect();
    let (core, tested) = (Role::Core, Role::UnderTest);
    assert_eq!(
        methods,
        [("add", core, false), ("get", core, true), ("double", tested, false), ("doubleAtOnce", tested, false)]
    );
    let expected = [Generator::Atom(Atom::TEXT)];
    assert_eq!(Names::object().methods()[1].parameters, expected, "a lent text is a text");
}

/// Every interleaving of the schemas of this source.
fn hunt(object: &Object, method: &str, source: Source) -> Hunted {
    let method = object.named(method).next().expect("a method");
    let hunt = Hunt { engine: Engine::exhaustive(), source, ..Hunt::new(object, Pool::One(method), 1) };
    hunt.run(&mut |_| Next::Continue)
}

fn by_rank() -> Source {
    Source::ByRank { bounds: Bounds { invocations: 2..=4, ..Bounds::default() }, seed: 1 }
}

fn outcome(found: &Found) -> &[Value] {
    match &found.what {
        What::Outcome { outcome, .. } => outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_hunt_finds_the_same_either_way() {
    let [described, plain] = [Counter::object(), plain_counter()].map(|object| hunt(&object, "double", by_rank()));
    // A lost amount takes an addition, the method, and one more to see it.
    assert_eq!(described.found().expect("double loses what is added").schema.len(), 3);
    assert_eq!(described.end, plain.end);
    assert_eq!((described.schemas, described.executions), (plain.schemas, plain.executions));

    let [described, plain] =
        [Counter::object(), plain_counter()].map(|object| hunt(&object, "doubleAtOnce", by_rank()));
    assert_eq!(described.end, Ended::NoMore, "one step is atomic");
    assert_eq!(described.skipped, []);
    assert_eq!((described.schemas, described.executions), (plain.schemas, plain.executions));
}

#[test]
fn a_method_of_several_steps_is_found_and_its_mended_twin_is_clean() {
    // There is never more than one name.
    let text = r#"{ add("a"); remove("a"); add("b") } || { containsAll(["a","b"]) }"#;
    let given = || Source::Given(vec![Schema::parse(text).expect("a schema")]);
    let [found, plain] = [Names::object(), plain_names()].map(|object| hunt(&object, "containsAll", given()));
    assert_eq!(outcome(found.found().expect("it saw both")), [true, true, true, true].map(|result| result.to_value()));
    assert_eq!(found.end, plain.end);

    let mended = hunt(&Mended::object(), "containsAll", given());
    assert_eq!((mended.end, mended.schemas, mended.skipped), (Ended::NoMore, 1, vec![]));

    let weak = Weak::object();
    let id = weak.named("containsAll").next().expect("a method");
    assert_eq!(weak.methods()[id.0].role, Role::UnderTest);
    assert_ne!(weak.visibility(), Mended::object().visibility(), "{:?} is said of it", Level::Weak);
    assert_eq!(hunt(&weak, "containsAll", given()).end, Ended::NoMore, "it may see what it sees");
}
