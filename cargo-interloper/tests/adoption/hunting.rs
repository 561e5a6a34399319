//! `cargo interloper hunt`: the objects that a project describes.

use super::*;

const SOURCE: &str = "use std::collections::BTreeMap;
use std::sync::Mutex;

pub struct Registry(Mutex<BTreeMap<u64, u64>>);

#[interloper::object]
impl Registry {
    #[constructor]
    pub fn new() -> Registry {
        Registry(Mutex::default())
    }

    #[core(reads)]
    pub fn get(&self, name: u64) -> Option<u64> {
        self.0.lock().unwrap().get(&name).copied()
    }

    #[method]
    pub fn intern(&self, name: u64, number: u64) -> u64 {
        if let Some(&known) = self.0.lock().unwrap().get(&name) {
            return known;
        }
        self.0.lock().unwrap().insert(name, number);
        number
    }

    #[method]
    pub fn intern_at_once(&self, name: u64, number: u64) -> u64 {
        *self.0.lock().unwrap().entry(name).or_insert(number)
    }
}

/// Its lock is not the mirror's.
pub mod outside;
";

const OUTSIDE: &str = "pub struct Outside(u64);

#[interloper::object(name = \"outside\")]
impl Outside {
    #[constructor]
    pub fn new() -> Outside {
        Outside(7)
    }

    #[method]
    pub fn get(&self) -> u64 {
        self.0
    }
}
";

/// It has composed operations, too: the tests of these need the same build of the checker. `.ci/run` compiles the feature `objects` alone.
pub fn project() -> Project {
    let interloper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let interloper = interloper.canonicalize().expect("it is in this workspace");
    Project::new(&format!(
        "[dependencies]\ninterloper = {{ path = {interloper:?}, features = [\"composed\", \"objects\"] }}\n"
    ))
}

#[test]
fn the_objects_of_a_project_are_hunted() {
    let project = project();
    project.put("src/lib.rs", SOURCE);
    project.put("src/outside.rs", OUTSIDE);
    let before = files(project.folder());
    let hunt = |more: &[&str], code: i32| {
        let all: Vec<&str> = ["hunt", "--offline"].into_iter().chain(more.iter().copied()).collect();
        project.run(&all).expect(code).out
    };
    let found = hunt(&["Registry", "--schemas", "40"], 1);
    for part in [
        "Registry\ncore methods: get\nstrategy: random+pct:3, then rff, then exhaustive, seed 42\n",
        "✗ intern           not atomic           { intern(",
        "✓ intern_at_once   no violation found",
        "│ self.0.lock().unwrap().insert(na",
        "replay: cargo interloper hunt Registry --schema '{ intern(",
    ] {
        assert!(found.contains(part), "{part} is not in\n{found}");
    }
    // The events of the hunt; the result is the same.
    let told = project.run(&["hunt", "--offline", "Registry", "--schemas", "40", "--progress", "json"]).expect(1);
    assert_eq!(told.out, found);
    let events = events(&told.err);
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    assert_eq!((&of("started")[0]["what"], &of("finished")[0]["done"]), (&"object".into(), &1.into()), "{events:?}");
    let [one] = &of("finding")[..] else { panic!("one finding: {events:?}") };
    assert_eq!((&one["name"], &one["verdict"]), (&"Registry.intern".into(), &"not atomic".into()));
    assert!(one["places"][0]["file"].as_str().expect("a file").ends_with("src/lib.rs"), "{one}");
    assert!(of("note").iter().any(|note| note["says"] == "hunts Registry"), "{events:?}");
    let page = project.folder().join("page.html");
    let again = hunt(&["Registry", "--schemas", "40", "--html", "page.html"], 1);
    assert_eq!(again, found, "the same bytes each time");
    let shown = fs::read(&page).expect("the page");
    assert_page(&page, &["Registry", "intern(", "self.0.lock().unwrap().insert(name, number);"]);
    let clean =
        ["hunt", "--offline", "Registry", "--schemas", "10", "--method", "intern_at_once", "--html", "page.html"];
    let clean = project.run(&clean).expect(0);
    assert!(clean.err.contains("no violation was found, so ") && !page.exists(), "{}", clean.err);
    assert_eq!(files(project.folder()), before, "the project stays as it is");

    // The execution of the finding alone, with the page that the hunt has written.
    let file = "interloper-failures/Registry-intern-42.json";
    let recorded = fs::read(project.folder().join(file)).expect("a replay file");
    assert!(told.err.contains(&format!("recorded: cargo interloper replay {file}")), "{}", told.err);
    let replayed = project.run(&["replay", file, "--html", "page.html"]).expect(0).out;
    assert!(
        replayed.contains("Registry.intern") && replayed.contains("\nthe same history as recorded ("),
        "{replayed}"
    );
    assert!(fs::read(&page).expect("the page") == shown, "the page that the hunt writes");
    fs::remove_file(&page).expect("a file");
    let asked = ["hunt", "--offline", "Registry", "--format", "json"];
    let replayed = super::ran(command(project.folder(), &asked).env("INTERLOPER_REPLAY", file)).expect(0).out;
    let replayed: serde_json::Value = serde_json::from_str(&replayed).expect("JSON");
    assert_eq!((&replayed["object"], &replayed["same"]), (&"Registry".into(), &true.into()));
    let changed =
        String::from_utf8(recorded.clone()).expect("text").replace("intern(", "get(").replace("not-atomic", "panic");
    project.put("changed.json", &changed);
    let differs = project.run(&["replay", "changed.json"]).expect(1).out;
    assert!(differs.starts_with("diverged from the recorded history: "), "{differs}");
    fs::remove_file(project.folder().join("changed.json")).expect("a file");
    fs::remove_file(project.folder().join(file)).expect("a file");

    // In parts, which are joined; killed in the middle of a line and continued.
    for number in ["1", "2", "3"] {
        let part = hunt(&["Registry", "--schemas", "40", "--shard", &format!("{number}/3")], 0);
        fs::write(project.folder().join(format!("part-{number}.json")), part).expect("a file");
    }
    let merge = |files: &[&str], code: i32| project.run(&[&["merge"], files].concat()).expect(code);
    let files_of_parts = ["part-3.json", "part-1.json", "part-2.json", "part-1.json"];
    assert_eq!(merge(&files_of_parts, 1).out, found, "what one machine prints");
    assert_eq!(merge(&[&files_of_parts[..], &["--html", "page.html"]].concat(), 1).out, found);
    assert!(fs::read(&page).expect("the page") == shown, "the page that one machine writes");
    assert!(
        fs::read(project.folder().join(file)).expect("a replay file") == recorded,
        "the file that one machine writes"
    );
    fs::remove_file(&page).expect("a file");
    // The four methods of both objects: one for each part. No schema of the core method alone can fail, so its part is idle.
    for number in ["1", "2", "3", "4"] {
        let part = hunt(&["--schemas", "40", "--shard", &format!("{number}/4")], 0);
        let document: serde_json::Value = serde_json::from_str(&part).expect("JSON");
        let hunts = document["gave"]["hunts"].as_object().expect("objects");
        let visited = hunts.values().filter(|visits| visits.as_array().is_some_and(|visits| !visits.is_empty()));
        assert!(hunts.len() == 2 && visited.count() <= 1, "{part}");
        fs::write(project.folder().join(format!("all-{number}.json")), part).expect("a file");
    }
    let all = ["all-1.json", "all-2.json", "all-3.json", "all-4.json"];
    assert_eq!(merge(&all, 1).out, hunt(&["--schemas", "40"], 1));
    all.iter().for_each(|name| fs::remove_file(project.folder().join(name)).expect("a file"));
    let missing = merge(&files_of_parts[..2], 2).err;
    assert!(missing.contains("error: shard 2 of 3 is missing"), "{missing}");
    let kept = &["Registry", "--schemas", "40", "--state", "kept"][..];
    assert_eq!(hunt(kept, 1), found);
    let entries = fs::read_dir(project.folder().join("kept")).expect("the folder");
    let journal = entries.map(|entry| entry.expect("a file").path()).find(|path| path.extension().is_some());
    let journal = journal.expect("the progress");
    let text = fs::read_to_string(&journal).expect("text");
    assert!(text.lines().count() > 20, "{text}");
    fs::write(&journal, &text[..text.len() / 2]).expect("a file");
    assert_eq!(hunt(kept, 1), found);
    assert_eq!(fs::read_to_string(&journal).expect("text"), text);
    // A part keeps its progress beside that of the whole, and its document is the same.
    let part = &["Registry", "--schemas", "40", "--shard", "1/3", "--state", "kept"][..];
    let first = fs::read_to_string(project.folder().join("part-1.json")).expect("a file");
    assert_eq!((hunt(part, 0), hunt(part, 0)), (first.clone(), first));
    let is_parts = |path: &Path| path.to_string_lossy().ends_with(".1-of-3.jsonl");
    let entries = fs::read_dir(project.folder().join("kept")).expect("the folder");
    assert_eq!(entries.filter(|entry| is_parts(&entry.as_ref().expect("a file").path())).count(), 1);
    let other = project.run(&["hunt", "--offline", "Registry", "--state", "kept"]).expect(2).out;
    assert!(other.contains("the progress of another search: hunt --offline Registry --schemas 40 of"), "{other}");
    fs::remove_dir_all(project.folder().join("kept")).expect("the folder");
    for number in ["1", "2", "3"] {
        fs::remove_file(project.folder().join(format!("part-{number}.json"))).expect("a file");
    }
    assert_eq!(files(project.folder()), before, "the project stays as it is");

    // The method that is atomic alone, and the schema of the finding, as the report says it.
    let sound = hunt(&["Registry", "--schemas", "40", "--method", "intern_at_once"], 0);
    assert!(sound.contains("✓ intern_at_once") && !sound.contains("✗"), "{sound}");
    let data = hunt(&["Registry", "--schema", "{ intern(1, 0) } || { intern(1, 1) }", "--format", "json"], 1);
    let data: serde_json::Value = serde_json::from_str(&data).expect("JSON");
    assert_eq!(data["objects"][0]["methods"][0]["verdict"], "not atomic");
    for (format, ending) in [("sarif", ".sarif"), ("junit", ".xml")] {
        let schema = ["Registry", "--schema", "{ intern(1, 0) } || { intern(1, 1) }", "--format", format];
        super::assert_valid(&hunt(&schema, 1), ending);
    }

    // Calls without a step are not explored.
    let outside = hunt(&["outside", "--schemas", "10"], 2);
    assert!(outside.contains("nothing was explored"), "{outside}");
    // Requests that fit nothing.
    for (asked, reason) in [
        (
            &["Registry", "--method", "gett"][..],
            "Registry: Registry has no method 'gett' to test; it has intern, intern_at_once, get",
        ),
        (&["Registry", "--schema", "{ drop() }"], "there is no method drop"),
    ] {
        let said = hunt(asked, 2);
        assert!(said.contains(reason), "{said}");
    }
    let refused = |more: &[&str], reason: &str| {
        let all: Vec<&str> = ["hunt", "--offline"].into_iter().chain(more.iter().copied()).collect();
        let said = project.run(&all).expect(2).err;
        assert!(said.contains(reason), "{said}");
    };
    refused(&["Regustry"], "error: no `#[interloper::object]` here has 'Regustry' in its name");
    refused(&["--crate", "hashbrown"], "error: no description of hashbrown: there are aarc, append-only-vec");
    refused(&["--crate", "scc", "Tree9"], "error: no object of scc has this in its name; there are scc::HashMap");
}

/// A slot that is written once, and a cell whose readers may still use the value that a writer frees. With `ordering` and
/// `freed` the two are right or wrong.
fn memory(slot: &str, ordering: &str, cell: &str, freed: &str) -> String {
    format!(
        "
pub struct {slot} {{
    claimed: AtomicBool,
    ready: AtomicBool,
    value: UnsafeCell<u64>,
}}

unsafe impl Sync for {slot} {{}}

#[interloper::object]
impl {slot} {{
    #[constructor]
    pub fn new() -> {slot} {{
        {slot} {{ claimed: AtomicBool::new(false), ready: AtomicBool::new(false), value: UnsafeCell::new(0) }}
    }}

    #[core]
    pub fn put(&self, value: u64) {{
        if !self.claimed.swap(true, SeqCst) {{
            unsafe {{ *self.value.get() = value }};
            self.ready.store(true, {ordering});
        }}
        while !self.ready.load(Acquire) {{
            std::hint::spin_loop();
        }}
    }}

    #[method]
    pub fn take(&self) -> Option<u64> {{
        self.ready.load(Acquire).then(|| unsafe {{ *self.value.get() }})
    }}
}}

pub struct {cell}(AtomicPtr<u64>);

#[interloper::object]
impl {cell} {{
    #[constructor]
    pub fn new() -> {cell} {{
        {cell}(AtomicPtr::new(Box::into_raw(Box::new(0))))
    }}

    #[core]
    pub fn set(&self, value: u64) {{
        let old = self.0.swap(Box::into_raw(Box::new(value)), SeqCst);
        {freed}
    }}

    #[method]
    pub fn get(&self) -> u64 {{
        unsafe {{ *self.0.load(SeqCst) }}
    }}
}}
"
    )
}

/// No result is wrong in any of these objects, unless a reader finds other memory where it was freed.
#[test]
fn faults_of_plain_memory_are_found() {
    let project = project();
    let uses = "use std::cell::UnsafeCell;\nuse std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::*};\n";
    let wrong = memory("Relaxed1", "Relaxed", "Freed", "drop(unsafe { Box::from_raw(old) });");
    let right = memory("Released", "Release", "Kept", "let _ = old;");
    project.put("src/lib.rs", &(uses.to_owned() + &wrong + &right));
    let hunt = |name: &str, more: &[&str], code: i32| {
        let all: Vec<&str> =
            ["hunt", "--offline", "--schemas", "20", name].into_iter().chain(more.iter().copied()).collect();
        let ran = project.run(&all).expect(code);
        (ran.out, ran.err)
    };
    let (race, said) = hunt("Relaxed1", &[], 1);
    assert!(said.contains("data races: looked for\n"), "{said}");
    for part in [
        "memory: weak where orderings are weaker than SeqCst; data races and uses of freed memory are violations\n",
        "✗ take   data race            { take() } || { put(0) }   lib.rs:22, lib.rs:32 ",
        "writes plain memory",
        "▲ 2 of 2: nothing orders this after",
        "│ unsafe { *self.value.get() = va",
    ] {
        assert!(race.contains(part), "{part} is not in\n{race}");
    }
    let (freed, _) = hunt("Freed", &[], 1);
    for part in
        ["✗ get    data race            { get() } || { set(0) }", "frees memory", "a block of 8 bytes, allocated by"]
    {
        assert!(freed.contains(part), "{part} is not in\n{freed}");
    }
    let page = project.folder().join("page.html");
    assert_eq!(hunt("Freed", &["--html", "page.html"], 1).0, freed, "the same bytes each time");
    assert_page(&page, &["data race", "\"points\":["]);
    // Each violation has a page, of whichever object it is.
    let (_, said) = hunt("e", &["--html", "page.html"], 1);
    assert_page(&page, &["Relaxed1.take", "data race"]);
    assert_page(&project.folder().join("page-2.html"), &["Freed.get", "data race"]);
    assert!(said.contains("page-2.html: Freed.get, data race\n"), "{said}");
    assert!(!project.folder().join("page-3.html").exists(), "{said}");
    let (data, _) = hunt("Freed", &["--format", "json"], 1);
    let data: serde_json::Value = serde_json::from_str(&data).expect("JSON");
    assert_eq!(data["objects"][0]["methods"][0]["violation"]["kind"], "data race");
    for name in ["Released", "Kept"] {
        let (clean, _) = hunt(name, &[], 0);
        assert!(clean.contains("no violation found") && !clean.contains('✗'), "{clean}");
        assert!(clean.contains(" accesses to plain memory; ") && !clean.contains(" 0 accesses"), "{clean}");
    }
    let (unseen, said) = hunt("Relaxed1", &["--races", "off"], 0);
    assert!(unseen.contains("uses of freed memory are violations, data races are not looked for\n"), "{unseen}");
    assert!(said.contains("data races: not looked for, `--races off`"), "{said}");
    // Without races the value that is freed too early is a use of freed memory in executions in which the reader takes an old
    // pointer, and the command says how to see it again.
    let (freed, _) = hunt("Freed", &["--races", "off", "--memory", "weak"], 1);
    assert!(
        freed.contains("use of freed memory") && freed.contains("--seed 42 --memory weak --races off\n"),
        "{freed}"
    );
}

/// A queue with room for two, of crossbeam-queue or under a lock.
fn queue(name: &str, of: &str, new: &str, [push, pop, force, len]: [&str; 4]) -> String {
    format!(
        "pub struct {name}({of});

#[interloper::object]
impl {name} {{
    #[constructor]
    pub fn new() -> {name} {{
        {name}({new})
    }}

    #[core]
    pub fn push(&self, value: u64) -> bool {{
        {push}
    }}

    #[core]
    pub fn pop(&self) -> Option<u64> {{
        {pop}
    }}

    #[method]
    pub fn force_push(&self, value: u64) -> Option<u64> {{
        {force}
    }}

    #[method(reads)]
    pub fn len(&self) -> u64 {{
        {len}
    }}
}}
"
    )
}

/// `force_push` to a full `ArrayQueue` moves the head and then the tail. Between the two, `len` is one less than the capacity. Beside
/// `push` and `pop`, neither method goes wrong.
#[test]
fn methods_of_a_published_type_are_not_atomic_together() {
    const HUNT: [&str; 6] = ["hunt", "--offline", "--instrument", "crossbeam-queue", "--schemas", "10"];
    let project = project();
    let manifest = fs::read_to_string(project.folder().join("Cargo.toml")).expect("the manifest");
    project.put("Cargo.toml", &manifest.replace("[dependencies]\n", "[dependencies]\ncrossbeam-queue = \"0.3\"\n"));
    let published = ["self.0.push(value).is_ok()", "self.0.pop()", "self.0.force_push(value)", "self.0.len() as u64"];
    let locked = [
        "let mut all = self.0.lock().unwrap();\n        let room = all.len() < 2;\n        \
         room.then(|| all.push_back(value)).is_some()",
        "self.0.lock().unwrap().pop_front()",
        "let mut all = self.0.lock().unwrap();\n        let first = if all.len() == 2 { all.pop_front() } else { None };\n        \
         all.push_back(value);\n        first",
        "self.0.lock().unwrap().len() as u64",
    ];
    let published =
        queue("Published", "crossbeam_queue::ArrayQueue<u64>", "crossbeam_queue::ArrayQueue::new(2)", published);
    let locked = queue("Locked", "Mutex<VecDeque<u64>>", "Mutex::default()", locked);
    project
        .put("src/lib.rs", &format!("use std::collections::VecDeque;\nuse std::sync::Mutex;\n\n{published}\n{locked}"));
    let hunt = |name: &str, code: i32| project.run(&[&HUNT[..], &[name]].concat()).expect(code).out;
    let found = hunt("Published", 1);
    for part in [
        "✗ not atomic together: force_push and len (interrupted: force_push). Beside core methods alone, no violation of these methods was found.\n",
        "✓ force_push         no violation found",
        "✓ len                no violation found",
        "✗ force_push + len   not atomic together",
        "replay: cargo interloper hunt Published --schema '",
        "pairs of methods without a violation of their own: 1 of 1 ran, ",
    ] {
        assert!(found.contains(part), "{part} is not in\n{found}");
    }
    assert_eq!(hunt("Published", 1), found, "the same bytes each time");
    let clean = hunt("Locked", 0);
    for part in ["✓ together     no violation found", "1 of 1 ran, 200 schemas, "] {
        assert!(clean.contains(part), "{part} is not in\n{clean}");
    }
    // Parts leave the pairs to the end.
    for number in ["1", "2"] {
        let shard = format!("{number}/2");
        let ran = [&HUNT[..], &["Published", "--shard", &shard]].concat();
        fs::write(project.folder().join(format!("part-{number}.json")), project.run(&ran).expect(0).out)
            .expect("a file");
    }
    assert_eq!(project.run(&["merge", "part-2.json", "part-1.json"]).expect(1).out, found, "what one machine prints");
}

/// Two equal stores are one for the compiler, which has no line for it then: in optimised code it lies in the function that all of it
/// was put into.
#[test]
fn a_store_without_a_line_is_one_of_the_program() {
    let project = project();
    let manifest = fs::read_to_string(project.folder().join("Cargo.toml")).expect("the manifest");
    project.put(
        "Cargo.toml",
        &manifest.replace("[profile.dev]\n", "[profile.dev.package.subject]\nopt-level = 1\n\n[profile.dev]\n"),
    );
    project.put("src/lib.rs", TWINS);
    let found = project.run(&["hunt", "--offline", "--schemas", "4"]).expect(1).out;
    let is_row = |line: &str| line.starts_with("✗ set    data race ") && line.contains(" { set(0) } || { set(0) } ");
    assert!(found.lines().any(is_row), "{found}");
}

/// A type of which a method writes the same twice.
const TWINS: &str = "
use std::cell::UnsafeCell;

pub struct Twins(UnsafeCell<[u64; 2]>);

unsafe impl Sync for Twins {}

#[interloper::object]
impl Twins {
    #[constructor]
    pub fn new() -> Twins {
        Twins(UnsafeCell::new([0; 2]))
    }

    #[method]
    #[inline(always)]
    pub fn set(&self, value: u64) {
        unsafe { *self.0.get() = [value; 2] };
    }

    #[method]
    #[inline(always)]
    pub fn get(&self) -> u64 {
        unsafe { self.0.get().read_volatile()[1] }
    }
}
";
