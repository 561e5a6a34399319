//! How what was found is run.

use super::*;

/// Where one value cannot be made, there is a draft in which a `todo!` stands for it.
#[test]
fn a_draft_has_one_hole() {
    let draft = |of: &str, takes: &str| {
        let source = format!(
            "use std::{{fs::File, sync::atomic::*}}; {of} impl S {{ fn f(&self{takes}) {{
                self.n.load(Ordering::SeqCst); self.n.store(1, Ordering::SeqCst); }} }}"
        );
        let [operation] = &found(&source).operations[..] else { panic!("one operation") };
        operation.draft.as_ref().map(|draft| draft.check.clone())
    };
    let (made, unmade) = ("#[derive(Default)] struct S { n: AtomicU32 }", "struct S { n: AtomicU32, file: File }");
    assert_eq!(draft(made, ""), None, "it can be run");
    let of_type = draft(unmade, "").expect("a draft");
    assert!(of_type.contains("|| Subject1(std::sync::Arc::new(todo!(\"needs a constructor of S\")))"), "{of_type}");
    let of_argument = draft(made, ", file: &File").expect("a draft");
    assert!(of_argument.contains("subject.0.f(todo!(\"needs an argument of type &File\"))"), "{of_argument}");
    assert_eq!(draft(unmade, ", file: &File"), None, "two holes");
}

#[test]
fn it_is_said_what_can_be_run() {
    let run = |source: &str| {
        let found = found(&format!("use dashmap::DashMap; {source}"));
        assert_eq!(found.operations.len(), 1, "{source}");
        found.operations[0].runnable.clone()
    };
    let calls = "self.map.get(&1); self.map.insert(1, 2);";
    let on = |head: &str, parameters: &str, extra: &str| {
        run(&format!(
            "{head} struct S {{ map: DashMap<u32, u32> }} impl S {{ {extra} fn f(&self, {parameters}) {{ {calls} }} }}"
        ))
    };
    let hole = |what: &str| Runnable::Hole { what: what.to_owned() };
    let refused = |reason: &str| Runnable::Refused { reason: reason.to_owned() };
    assert_eq!(on("#[derive(Default)]", "k: u32, v: Option<(bool, char)>, s: &str", ""), Runnable::AsItIs);
    assert_eq!(on("", "", ""), hole("a constructor of S"));
    assert_eq!(on("", "", "pub fn new(size: usize) -> Self { todo!() }"), Runnable::AsItIs);
    assert_eq!(on("", "", "pub fn new(file: std::fs::File) -> Self { todo!() }"), hole("a constructor of S"));
    assert_eq!(on("enum Kind { A, B(u8) } #[derive(Default)]", "k: Kind", ""), Runnable::AsItIs);
    assert_eq!(on("#[derive(Default)]", "k: std::fs::File", ""), hole("an argument of type std::fs::File"));
    let free =
        |extra: &str| run(&format!("fn f(map: &DashMap<u32, u32>) {{ map.get(&1); {extra}; map.insert(1, 2); }}"));
    assert_eq!(free(""), Runnable::AsItIs);
    assert_eq!(free("std::fs::read(\"x\")"), refused("it does I/O: `std::fs::read`"));
    assert_eq!(free("std::net::Ipv4Addr::new(1, 2, 3, 4)"), Runnable::AsItIs);
    assert_eq!(free("other::Error::Command(1)"), Runnable::AsItIs);
    assert_eq!(free("std::process::Command::new(\"x\")"), refused("it does I/O: `std::process::Command::new`"));
    // The clocks of std stand still under control.
    assert_eq!(free("std::time::Instant::now().elapsed()"), Runnable::AsItIs);
    assert_eq!(free("quanta::Instant::now()"), refused("it reads a clock: `quanta::Instant::now`"));
    assert_eq!(free("std::thread::spawn(|| 1)"), refused("it spawns"));
    assert_eq!(free("rand::random()"), refused("it is random: `rand::random`"));
    let relies = hole("an environment that keeps what its unsafe code relies on");
    assert_eq!(free("unsafe { all.get_unchecked(1) }"), relies);
    assert_eq!(
        run("fn g() { unsafe { h() } } fn f(map: &DashMap<u32, u32>) { map.get(&1); g(); map.insert(1, 2); }"),
        relies
    );
    assert_eq!(
        run("fn g() { h() } fn f(map: &DashMap<u32, u32>) { map.get(&1); g(); map.insert(1, 2); }"),
        Runnable::AsItIs
    );
    assert_eq!(free("std::thread::sleep(d)"), refused("it waits: `std::thread::sleep`"));
}

#[test]
fn it_is_said_how_an_operation_is_run() {
    let recipe = |source: &str| {
        let found = found(&format!("use dashmap::DashMap; {source}"));
        found.operations[0].recipe.clone()
    };
    let calls = "self.map.get(&k); self.map.insert(k, 2);";
    let on = |head: &str, inside: &str| {
        recipe(&format!(
            "#[derive(Default)] struct S {{ {head} }} impl S {{ fn f(&self, k: u32) {{ {calls} }} {inside} }}"
        ))
    };
    let alone = on("map: DashMap<u32, u32>", "").expect("it can be run");
    let expected = "interloper::MethodUnderTest::new(\"S::f\", || Subject1(std::sync::Arc::new(<S as Default>::default())), \
                    |subject: &Subject1, a0: u32| interloper::shown!(subject.0.f(a0)))";
    assert_eq!(alone.check.lines().next(), Some(expected));
    assert!(alone.check.contains(".arguments([7])") && !alone.check.contains(".beside"));
    assert_eq!(alone.unknown.as_deref(), Some("its type has no other method that calls its collections"));

    // `Arc` has a `clone` of its own.
    let copied = recipe(
        "#[derive(Default)] struct S { map: DashMap<u32, u32> }
         impl Clone for S { fn clone(&self) -> S { self.map.get(&1); self.map.get(&2); S::default() } }",
    );
    let check = copied.expect("it can be run").check;
    assert!(check.contains("interloper::shown!((*subject.0).clone()))"), "{check}");
    // The environment of the program is closed if all that reaches the collections is known.
    let other = "fn g(&self, k: u32) { self.map.remove(&k); }";
    let closed = on("map: DashMap<u32, u32>", other).expect("it can be run");
    assert_eq!(closed.unknown, None);
    let beside: Vec<&str> = closed.check.lines().map(str::trim).filter(|line| line.contains(".beside")).collect();
    let expected = [
        ".beside_call(\"g\", \"(7)\", |subject: &Subject1| interloper::shown!(subject.0.g(7)))",
        ".beside_call(\"g\", \"(8)\", |subject: &Subject1| interloper::shown!(subject.0.g(8)))",
        // The method under test meets itself with another value, too.
        ".beside_call(\"f\", \"(8)\", |subject: &Subject1| interloper::shown!(subject.0.f(8)))",
    ];
    assert_eq!(beside, expected);
    // The field of another type may have the same name.
    let same =
        format!("{other} }} struct T {{ map: DashMap<u32, u32> }} impl T {{ fn h(&self) {{ self.map.clear(); }}");
    assert_eq!(on("map: DashMap<u32, u32>", &same).expect("it can be run").unknown, None);
    let inner = format!("{other} }} struct T {{ s: S }} impl T {{ fn h(&self) {{ self.s.map.clear(); }}");
    let inner = on("map: DashMap<u32, u32>", &inner).expect("it can be run");
    assert_eq!(inner.unknown.as_deref(), Some("T::h may reach its fields"));
    let open = on("pub map: DashMap<u32, u32>", other).expect("it can be run");
    assert_eq!(open.unknown.as_deref(), Some("others can reach S.map"));
    let slow =
        on("map: DashMap<u32, u32>", "fn g(&self) { std::thread::park(); self.map.clear(); }").expect("it can be run");
    assert_eq!(slow.unknown.as_deref(), Some("g cannot be run beside it"));
    let loads = on("map: DashMap<u32, u32>", &format!("{other} fn load(&mut self) {{ self.map.insert(1, 1); }}"));
    let reason = "load may change the collections before they are shared";
    assert_eq!(loads.expect("it can be run").unknown.as_deref(), Some(reason));
    let beside = format!(
        "{MAP} impl S {{ fn f(&self, k: u32) {{ {calls} }} {other} fn new() -> S {{ todo!() }} }} fn free(s: &S) {{ s.map.clear(); }}"
    );
    assert_eq!(recipe(&beside).expect("it can be run").unknown.as_deref(), Some("free may reach its fields"));

    let of_other = on("map: DashMap<u32, u32>, n: std::sync::atomic::AtomicU8", "").map(|_| ());
    assert_eq!(of_other, Ok(()));
    let pointer = recipe("fn f(n: &std::sync::atomic::AtomicPtr<u8>) { n.load(O); n.store(p, O); }");
    assert_eq!(pointer.unwrap_err(), "needs AtomicPtr to be run as it was published, which the driver does not do yet");
    let two = recipe(
        "fn f(a: &DashMap<u8, char>, b: &DashMap<u8, char>, k: (u8, bool), l: Option<char>) { a.clear(); b.clear(); }",
    );
    let two = two.expect("it can be run").check;
    assert!(
        two.contains("|subject: &(DashMap < u8 , char >, DashMap < u8 , char >), (a0, a1): ((u8,bool), Option<char>)|"),
        "{two}"
    );
    assert!(two.contains(".arguments([((7, true), Some('k')), ((7, true), None)])"), "{two}");
    assert!(two.contains("f(&subject.0, &subject.1, a0, a1)") && two.contains(".names([\"a\", \"b\"])"), "{two}");
}

/// The line with the code, or why no code was written.
fn said(source: &str) -> Result<String, String> {
    let head = "use std::collections::*; use std::sync::*; use std::sync::atomic::*;";
    found(&format!("{head} {source}")).operations[0].recipe.clone().map(|recipe| {
        let (_, item) = recipe.subject.unwrap_or_default();
        format!("{item} {}", recipe.check)
    })
}

#[test]
fn locks_and_atomics_of_a_type_are_parts() {
    let on = |fields: &str, calls: &str| {
        said(&format!("#[derive(Default)] struct S {{ {fields} }} impl S {{ fn f(&self) {{ {calls} }} }}"))
    };
    let parts = |fields: &str, calls: &str| -> Vec<String> {
        let text = on(fields, calls).expect("it can be run");
        let names = text.split("String::from(\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
        names.collect()
    };
    let twice = "self.n.load(O); self.n.store(1, O);";
    assert_eq!(parts("n: AtomicU64, m: AtomicBool", twice), ["n", "m"]);
    assert_eq!(parts("n: Arc<AtomicU64>, m: Mutex<HashMap<String, Vec<u8>>>", twice), ["n", "m"]);
    assert_eq!(parts("n: AtomicU64, m: Mutex<std::fs::File>, o: RwLock<Option<u32>>", twice), ["n", "o"]);
    assert_eq!(parts("n: AtomicU64, m: spin::Mutex<u32>, o: portable_atomic::AtomicU64", twice), ["n"]);
    assert_eq!(parts("n: AtomicU64, m: parking_lot::Mutex<u32>, o: parking_lot::FairMutex<u32>", twice), ["n", "m"]);
    let sections = "self.m.lock().unwrap().pop(); self.m.lock().unwrap().push(1);";
    assert_eq!(parts("m: Mutex<Vec<u32>>", sections), ["m"]);
    // The first elements of a list that the operation calls.
    let listed = |fields: &str, calls: &str, part: &str| {
        let text = on(fields, calls).expect("it can be run");
        assert!(text.contains(part), "{text}");
    };
    let of_list = "self.all[0].load(O); self.all[0].store(1, O);";
    listed(
        "all: Vec<AtomicU64>",
        of_list,
        "for (at, element) in self.0.all.iter().enumerate().take(2) { parts.push((\"all[]\".replace(\"[]\", \
         &format!(\"[{at}]\")), element as &dyn",
    );
    listed("all: Box<[CachePadded<AtomicU64>]>", of_list, "&**element as &dyn");
    let shard = "#[derive(Default)] struct Shard { n: AtomicU64 } #[derive(Default)] struct T { all: [Shard; 4] } \
                 impl T { fn f(&self) { self.all[0].n.load(O); self.all[0].n.store(1, O); } }";
    let text = said(shard).expect("it can be run");
    assert!(text.contains("(\"all[].n\".replace(\"[]\", &format!(\"[{at}]\")), &element.n as &dyn"), "{text}");
    assert_eq!(parts("n: AtomicU64, all: Vec<AtomicU64>", twice), ["n"]);
    // What the environment cannot make values of.
    let apart = |place: &str| Err(format!("needs `{place}` to be a field of its own that the environment can act on"));
    assert_eq!(on("m: Mutex<Vec<File>>, n: AtomicU8", sections), apart("self.m"));
    let of_files = "self.all[0].lock().unwrap().pop(); self.all[0].lock().unwrap().push(1);";
    assert_eq!(on("n: AtomicU8, all: Vec<Mutex<Vec<File>>>", of_files), apart("self.all[]"));
    let perhaps =
        on("n: AtomicU8, o: Option<AtomicU64>", "self.n.load(O); self.n.store(1, O);").expect("it can be run");
    assert!(!perhaps.contains("\"o\""), "{perhaps}");
}

#[test]
fn a_program_with_collections_apart_is_not_known() {
    let unknown = |fields: &str| {
        let source = format!(
            "use std::sync::*; use std::sync::atomic::*; #[derive(Default)] struct S {{ n: AtomicU64, {fields} }}
             impl S {{ fn f(&self) {{ self.n.load(O); self.n.store(1, O); }} fn g(&self) {{ self.n.store(2, O); }} }}"
        );
        found(&source).operations[0].recipe.clone().expect("it can be run").unknown
    };
    assert_eq!(unknown("m: AtomicBool"), None);
    assert_eq!(unknown("m: Mutex<Vec<File>>").as_deref(), Some("the environment cannot act on S.m"));
}

#[test]
fn constructors_and_arguments_are_made() {
    let body = "self.n.load(O); self.n.store(1, O);";
    let on = |head: &str, arguments: &str, make: &str| {
        said(&format!("{head} struct S {{ n: AtomicU64 }} impl S {{ fn f(&self, {arguments}) {{ {body} }} {make} }}"))
    };
    let new = "fn new() -> Self { todo!() }";
    let has = |text: Result<String, String>, part: &str| {
        let text = text.expect("it can be run");
        assert!(text.contains(part), "{text}");
    };
    has(on("", "", new), "Subject1(std::sync::Arc::new(<S>::new()))");
    has(on("", "", "fn new() -> Arc<Self> { todo!() }"), "Subject1(<S>::new())");
    has(on("", "", "fn new(n: usize) -> Result<S, String> { todo!() }"), "std::sync::Arc::new(<S>::new(7).unwrap())");
    has(
        on("", "", "fn with_limit(d: std::time::Duration) -> S { todo!() }"),
        "<S>::with_limit(std::time::Duration::from_millis(7))",
    );
    has(on("", "", "fn new() -> S { std::time::Instant::now(); todo!() }"), "<S>::new()");
    let no = Err("needs a constructor of S".to_owned());
    // A trait may not be in scope.
    let of = |name: &str| format!("}} impl {name} for S {{ fn a(n: u8) -> Self {{ todo!() }}");
    has(on("", "", &of("From<u8>")), "<S>::a(7)");
    assert_eq!(on("", "", &of("Made")), no);
    has(on("", "", &format!("fn with(n: u8) -> Self {{ todo!() }} {}", of("Made"))), "<S>::with(7)");
    has(on("", "", "fn new() -> S { std::time::SystemTime::now(); todo!() }"), "<S>::new()");
    assert_eq!(on("", "", "fn new() -> S { rand::random::<u32>(); todo!() }"), no);
    let default = |body: &str| on(&format!("impl Default for S {{ fn default() -> S {{ {body}; todo!() }} }}"), "", "");
    has(default(""), "<S as Default>::default()");
    assert_eq!(default("rand::random::<u32>()"), no);
    assert_eq!(on("", "", "fn new(file: File) -> S { todo!() }"), no);
    assert_eq!(on("", "", "fn copied(&self) -> S { todo!() }"), no);
    assert_eq!(on("", "", "unsafe fn new() -> S { todo!() }"), no);
    assert_eq!(on("", "", "fn new() -> S { std::fs::read(p); todo!() }"), no);

    has(on("enum Kind { A, B { n: u8 } }", "kind: Kind", new), "match a0 { 0 => Kind::A, _ => Kind::B { n: 7 } }");
    has(on("enum Kind { A, B }", "kind: &Kind", new), "subject.0.f(&(match a0 { 0 => Kind::A, _ => Kind::B }))");
    has(on("struct Pair { n: u8, s: String }", "p: Pair", new), "subject.0.f(Pair { n: 7, s: String::from(\"k\") })");
    has(on("", "rate: f64, bytes: &[u8]", new), "subject.0.f(0.5, &(b\"k\"[..]))");
    let open = on("mod inner { pub struct Pair { n: u8 } } use inner::Pair;", "p: Pair", new);
    assert_eq!(open.unwrap_err(), "needs an argument of type Pair");
}

/// Under `cfg`, only one of two definitions may give a default. The one without comes last here.
#[test]
fn a_type_parameter_with_a_default_is_left_out() {
    let on = |first: &str, second: &str| {
        let item = |condition: &str, parameter: &str| {
            format!("#[cfg({condition})] struct S<{parameter}> {{ n: AtomicU64, c: C }} ")
        };
        let types = item("feature = \"std\"", first) + &item("not(feature = \"std\")", second);
        let new = "impl<C> S<C> { fn new() -> S<C> { todo!() } }";
        said(&format!("{types} {new} impl<C> S<C> {{ fn f(&self) {{ self.n.load(O); self.n.store(1, O); }} }}"))
    };
    let text = on("C: Clock = Std", "C: Clock").expect("it can be run");
    assert!(text.contains("std::sync::Arc::new(<S>::new())"), "{text}");
    let text = on("C", "C").expect("it can be run");
    assert!(text.contains("std::sync::Arc::new(<S<u32>>::new())"), "{text}");
}

#[test]
fn arguments_of_constructors_are_made_of_their_own_arguments() {
    let body = "self.n.load(O); self.n.store(1, O);";
    let on = |head: &str, make: &str| {
        said(&format!("{head} struct S {{ n: AtomicU64 }} impl S {{ fn f(&self) {{ {body} }} {make} }}"))
    };
    let has = |head: &str, make: &str, part: &str| {
        let text = on(head, make).expect("it can be run");
        assert!(text.contains(part), "{text}");
    };
    let config = "mod inner { pub struct Config { n: u8 } impl Config { pub fn new(n: u8) -> Config { todo!() } } } \
                  use inner::Config;";
    has(config, "fn new(config: Config) -> S { todo!() }", "<S>::new(<Config>::new(7))");
    has(config, "fn new(config: Arc<Config>) -> S { todo!() }", "<S>::new(std::sync::Arc::new(<Config>::new(7)))");
    // What is named in another module is named from the root of the crate.
    let outer = format!("{config} struct Options {{ config: Config }}");
    has(
        &outer,
        "fn new(options: Options) -> S { todo!() }",
        "<S>::new(Options { config: <crate::inner::Config>::new(7) })",
    );
    has(
        "",
        "fn new(path: PathBuf, hosts: Vec<File>) -> S { todo!() }",
        "(std::path::PathBuf::from(\"k\"), Default::default())",
    );
    has("", "fn new(last: Option<File>) -> S { todo!() }", "<S>::new(None)");
    has("", "fn new(f: Box<dyn Fn(u8) -> u8>) -> S { todo!() }", "std::boxed::Box::new(|_| Default::default())");
    has(
        "",
        "fn new(f: Box<dyn Fn(u8) -> io::Result<u8>>) -> S { todo!() }",
        "std::boxed::Box::new(|_| Ok(Default::default()))",
    );
    has(
        "",
        "fn new<F: FnOnce(u8, u8) -> Result<(), E>>(f: F) -> S { todo!() }",
        "<S>::new(|_, _| Ok(Default::default()))",
    );
    has("", "fn new(at: IpAddr) -> S { todo!() }", "std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)");
    let no = Err("needs a constructor of S".to_owned());
    // A type of the workspace may have the name of another.
    assert_eq!(
        on("mod inner { pub struct Path { file: File } } use inner::Path;", "fn new(p: Path) -> S { todo!() }"),
        no
    );
    assert_eq!(on("", "fn new(all: Box<dyn Backend>) -> S { todo!() }"), no);
    // A type that needs itself.
    let circle = "struct A { b: Box<B> } struct B { a: Box<A> } impl A { fn new(b: B) -> A { todo!() } } \
                  impl B { fn new(a: A) -> B { todo!() } }";
    assert_eq!(on(circle, "fn new(a: A) -> S { todo!() }"), no);
}

/// What is iterated over is a short list. A number would be rejected by the compiler.
#[test]
fn an_argument_that_is_iterated_over_is_a_short_list() {
    let on = |parameters: &str, takes: &str| {
        said(&format!(
            "struct Job {{ id: u8 }} #[derive(Default)] struct S {{ n: AtomicU64 }}
             impl S {{ fn f{parameters}(&self, all: {takes}) {{ self.n.load(O); self.n.store(1, O); }} }}"
        ))
    };
    let is_given = |parameters: &str, takes: &str, argument: &str| {
        let text = on(parameters, takes).expect("it can be run");
        assert!(text.contains(&format!("subject.0.f({argument})")), "{text}");
    };
    is_given("", "impl IntoIterator<Item = u64>", "vec![7, 8]");
    is_given("<I: IntoIterator<Item = String>>", "I", "vec![String::from(\"k\"), String::from(\"j\")]");
    is_given(
        "<'a>",
        "impl IntoIterator<Item = (Job, &'a str)>",
        "vec![(crate::Job { id: 7 }, \"k\"), (crate::Job { id: 8 }, \"j\")]",
    );
    is_given("", "impl IntoIterator<Item = impl AsRef<[u8]>>", "vec![b\"k\", b\"j\"]");
    is_given("", "impl IntoIterator<Item = bool>", "vec![true]");
    is_given("", "impl Iterator<Item = u64> + Clone", "vec![7, 8].into_iter()");
    // Numbers are no texts.
    is_given("<T: Into<String>>", "T", "\"k\"");
    // What is no iterator is a number, as before.
    is_given("<T: Copy>", "T", "a0");
    let no = Err("needs an argument of type impl IntoIterator<Item = File>".to_owned());
    assert_eq!(on("", "impl IntoIterator<Item = File>"), no);
}

/// The code of a harness does not reach a private field of a type of another module.
#[test]
fn what_is_private_to_another_module_is_left_alone() {
    let on = |open: &str, close: &str, field: &str| {
        let source = format!(
            "use std::sync::*; use std::sync::atomic::*; {open} #[derive(Default)] pub struct Bucket {{ {field}, pub n: AtomicU64 }} {close}
             #[derive(Default)] struct S {{ bucket: Arc<Bucket>, m: AtomicU64 }}
             impl S {{ fn f(&self) {{ self.m.load(O); self.m.store(1, O); }} }}"
        );
        let recipe = found(&source).operations[0].recipe.clone().expect("it can be run");
        let (_, item) = recipe.subject.expect("a type");
        let names = item.split("String::from(\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
        (names.collect::<Vec<String>>(), recipe.unknown.expect("there is no other method"))
    };
    let alone = "its type has no other method that calls its collections".to_owned();
    let all = ["bucket.state", "bucket.n", "m"].map(str::to_owned).to_vec();
    assert_eq!(on("", "", "state: Mutex<u32>"), (all.clone(), alone.clone()));
    let (open, close) = ("mod inner { use super::*;", "} use inner::Bucket;");
    assert_eq!(on(open, close, "pub state: Mutex<u32>"), (all, alone.clone()));
    let left = "the environment cannot act on S.bucket.state".to_owned();
    assert_eq!(on(open, close, "state: Mutex<u32>"), (vec!["bucket.n".to_owned(), "m".to_owned()], left));
    assert_eq!(on(open, close, "size: u32"), (vec!["bucket.n".to_owned(), "m".to_owned()], alone));
}

/// A number may be an index of what a number of the constructor sized. Both are the same at first.
#[test]
fn low_numbers_are_kept_for_what_has_a_size() {
    let recipe = |field: &str, slot: &str, takes: &str, given: &str| {
        let source = format!(
            "use std::sync::atomic::*; struct S {{ slots: {field} }} impl S {{ fn new({given}) -> S {{ todo!() }}
                fn f(&self, {takes}) {{ self.{slot}.load(O); self.{slot}.store(1, O); }} fn g(&self) {{ self.{slot}.store(2, O); }} }}"
        );
        found(&source).operations[0].recipe.clone().expect("it can be run")
    };
    let sized = recipe("Vec<AtomicU64>", "slots[at]", "at: usize, by: u64", "size: usize");
    assert!(sized.check.contains("<S>::new(7)") && sized.check.contains(".arguments([(7, 7)])"), "{}", sized.check);
    let low = sized.with_low_numbers();
    assert!(low.check.contains("<S>::new(7)") && low.check.contains(".arguments([(1, 1)])"), "{}", low.check);
    assert_eq!((low.low.clone(), low.with_low_numbers()), (None, low.clone()));
    // What other calls have is low, too.
    let one = recipe("AtomicU64", "slots", "at: usize", "size: usize");
    let low = one.with_low_numbers();
    assert!(one.check.contains("(\"f\", \"(8)\", ") && one.check.contains("subject.0.f(8)"), "{}", one.check);
    assert!(low.check.contains("(\"f\", \"(0)\", ") && low.check.contains("subject.0.f(0)"), "{}", low.check);
    // A constructor without a size, or a method without a number, has no low numbers.
    assert_eq!(recipe("AtomicU64", "slots", "at: usize", "").low, None);
    assert_eq!(recipe("Vec<AtomicU64>", "slots[0]", "at: bool", "size: usize").low, None);
}

#[test]
fn what_the_environment_cannot_act_on_may_be_called_beside_two_calls_on_one_path() {
    let on = |fields: &str, calls: &str| {
        let source = format!(
            "use std::sync::*; use std::sync::atomic::*; use arc_swap::ArcSwapWeak; static COUNT: AtomicU64 = AtomicU64::new(0);
             #[derive(Default)] struct S {{ n: AtomicU64, {fields} }} impl S {{ fn f(&self) {{ {calls} }} fn g(&self) {{ self.n.store(1, O); }} }}"
        );
        let found = found(&source);
        let own = found.operations.iter().find(|one| one.owner == "self").expect("an operation");
        own.recipe.clone().map(|recipe| (recipe.unknown, recipe.own.is_some()))
    };
    let pair = "self.n.load(O); self.n.store(1, O);";
    let left = |place: &str| Ok((Some(format!("the environment cannot act on {place}")), false));
    assert_eq!(on("", pair), Ok((None, false)));
    assert_eq!(on("all: Vec<Mutex<Vec<File>>>", &format!("{pair} self.all[0].lock();")), left("S.all"));
    // Of a list, the environment acts on the first elements.
    assert_eq!(on("all: Vec<AtomicU64>", &format!("{pair} self.all[0].load(O);")), left("S.all"));
    assert_eq!(on("swap: ArcSwapWeak<u8>", &format!("{pair} self.swap.load();")), left("S.swap"));
    assert_eq!(on("", &format!("COUNT.fetch_add(1, O); {pair}")), left("COUNT"));
    // Each path has a single call on what the environment acts on.
    let two_ways = "self.all[0].lock(); if x { self.n.load(O); } else { self.n.store(1, O); }";
    assert!(on("all: Vec<Mutex<Vec<File>>>", two_ways).is_err());
    assert!(on("swap: ArcSwapWeak<u8>", "self.swap.load(); self.n.load(O);").is_err());
}

#[test]
fn collections_of_other_crates_are_seen_through_what_the_harness_says() {
    let on = |imports: &str, field: &str, calls: &str| {
        let source = format!(
            "{imports} #[derive(Default)] struct S {{ it: {field} }} impl S {{ fn f(&self, key: u32) {{ {calls} }} }}"
        );
        let found = found(&source);
        found.operations.into_iter().next().expect("an operation").recipe
    };
    let has = |imports: &str, field: &str, calls: &str, view: &str, package: Option<&'static str>| {
        let recipe = on(imports, field, calls).expect("it can be run");
        let (name, item) = recipe.subject.expect("a type");
        let seen = format!("interloper::collections::foreign::{view}::<_, {name}>::of(&self.0.it)");
        assert!(item.contains(&seen), "{item}");
        assert_eq!(item.contains(&format!("<{name}> for ::")), package.is_some(), "{item}");
        assert_eq!(Vec::from_iter(recipe.packages), Vec::from_iter(package));
    };
    let scc = "self.it.read_sync(&key, |_, v| *v); self.it.insert_sync(key, 1);";
    has("", "scc::HashMap<u32, u32>", scc, "AsMap", Some("scc"));
    has(
        "use moka::sync::Cache;",
        "Cache<u32, u32>",
        "self.it.get(&key); self.it.insert(key, 1);",
        "AsMap",
        Some("moka"),
    );
    let swap = "self.it.load(); self.it.store(Arc::new(key));";
    has("use arc_swap::ArcSwap;", "ArcSwap<u32>", swap, "AsRegister", Some("arc-swap"));
    let once = "self.it.get(); self.it.set(key);";
    has("use std::sync::OnceLock;", "OnceLock<u32>", once, "AsOnce", None);
    // Those of which nothing is said, and values that the environment cannot make.
    assert!(on("", "scc::HashIndex<u32, u32>", scc).is_err());
    assert!(on("", "scc::HashMap<u32, File>", scc).is_err());
    let by_reference = "fn f(it: &scc::HashMap<u32, u32>) { it.read_sync(&1, |_, v| *v); it.insert_sync(1, 1); }";
    let recipe = found(by_reference).operations.into_iter().next().expect("an operation").recipe;
    assert_eq!(recipe, Err("needs its HashMap in a field of a type".to_owned()));
}

#[test]
fn an_async_function_that_awaits_nothing_else_is_run() {
    let source = |body: &str| {
        format!(
            "use std::sync::atomic::*; #[derive(Default)] pub struct Owner {{ it: AtomicU32 }}
             impl Owner {{
                 async fn first(&self) -> u32 {{ self.it.load(Ordering::SeqCst) }}
                 pub async fn f(&self) {{ {body} }}
             }}"
        )
    };
    let runs = |body: &str| {
        let found = found(&source(body));
        let one = found.operations.iter().find(|one| one.name == "Owner::f").expect("an operation");
        one.recipe.clone().map(|recipe| recipe.check)
    };
    let check = runs("let n = self.first().await; self.it.store(n + 1, Ordering::SeqCst);").expect("it can be run");
    assert!(check.contains("interloper::ready(subject.0.f())"), "{check}");
    for waits in
        ["other::wait().await;", "future.await;", "tokio::join!(self.first());", "let f = self.first(); f.await;"]
    {
        let body = format!("{waits} let n = self.first().await; self.it.store(n + 1, Ordering::SeqCst);");
        let reason = runs(&body).expect_err(waits);
        assert!(reason.contains("it waits"), "{waits}: {reason}");
    }
}
