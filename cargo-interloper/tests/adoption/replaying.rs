//! Replay files of composed operations and of types: an execution that was found is found again, alone, and has the same page.

use super::*;

const SOURCE: &str = "use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;

#[derive(Default)]
pub struct Cache {
    values: DashMap<u32, u32>,
}

impl Cache {
    pub fn of(&self, key: u32) -> u32 {
        if let Some(known) = self.values.get(&key) {
            return *known;
        }
        self.values.insert(key, key * 2);
        key * 2
    }
}

#[derive(Default)]
pub struct Stock {
    items: DashMap<u32, u32>,
    number: AtomicU64,
}

impl Stock {
    pub fn add(&self, id: u32) {
        self.items.insert(id, 1);
        self.number.store(self.items.len() as u64, Ordering::SeqCst);
    }

    pub fn both(&self) -> (usize, u64) {
        (self.items.len(), self.number.load(Ordering::SeqCst))
    }
}
";

/// A page without its links to other pages, and the files that the links lead to.
fn without_links(page: &str) -> (String, Vec<&str>) {
    let (before, rest) = page.split_once("<nav class=\"findings\"").expect("links");
    let (links, after) = rest.split_once("</nav>").expect("their end");
    let files = links.split("href=\"./").skip(1).map(|link| link.split('"').next().expect("the file")).collect();
    (before.to_owned() + after, files)
}

/// The pages of a folder by their names; takes them away.
fn pages(folder: &Path) -> BTreeMap<PathBuf, String> {
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "html");
    let paths = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).filter(is_page);
    paths
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a page");
            fs::remove_file(&path).expect("it is there");
            (path.strip_prefix(folder).expect("below it").to_owned(), text)
        })
        .collect()
}

#[test]
fn recorded_operations_and_types_are_run_again() {
    let project = Project::plain("stock", "0.2.0", "dashmap = \"6\"\n");
    project.put("src/lib.rs", SOURCE);
    let folder = project.folder();
    let asked = ["composed", "--run", "--no-fixes", "--offline"];
    let run = |more: &[&str], code: i32| project.run(&[&asked[..], more].concat()).expect(code);
    let whole = run(&["--html", "page.html"], 1);
    let shown = pages(folder);
    for (name, page) in &shown {
        let others = shown.keys().filter(|other| *other != name).map(|other| other.to_str().expect("a plain name"));
        let mut links = without_links(page).1;
        links.sort_unstable();
        assert_eq!(links, others.collect::<Vec<&str>>(), "{}", name.display());
    }
    // One for each file: also for what own methods show, and for each pair.
    assert_eq!(shown.len(), 7, "{}", whole.err);
    assert!(shown.values().all(|page| !page.contains("interloper_composed_operations")), "the tests are on no page");
    let failures = folder.join("interloper-failures");
    let recorded = files(&failures);
    let names: Vec<&str> =
        recorded.keys().map(|path| path.file_name().and_then(|name| name.to_str()).expect("a name")).collect();
    let expected = [
        "Cache-of-42.json",
        "Stock-add-42-2.json",
        "Stock-add-42.json",
        "Stock-add-add-42.json",
        "Stock-add-both-42.json",
        "Stock-both-42-2.json",
        "Stock-both-42.json",
    ];
    assert_eq!(names, expected);
    for name in names {
        let line = format!("recorded: cargo interloper replay interloper-failures/{name}\n");
        assert!(whole.err.contains(&line), "{name}: {}", whole.err);
    }

    // Shards that are joined leave the same files and the same pages.
    fs::remove_dir_all(&failures).expect("the folder");
    for number in ["1", "2"] {
        let part = run(&["--shard", &format!("{number}/2")], 0).out;
        project.put(&format!("part-{number}.json"), &part);
    }
    fs::remove_dir_all(&failures).expect("the parts have written theirs");
    let merge = |more: &[&str]| project.run(&[&["merge", "part-1.json", "part-2.json"], more].concat()).expect(1);
    assert_eq!(merge(&["--html", "page.html"]).out, whole.out);
    assert!(pages(folder) == shown, "the pages that one machine writes");
    assert!(files(&failures) == recorded, "the files that one machine writes");
    assert_eq!(merge(&[]).out, whole.out);
    assert!(pages(folder).is_empty());

    // The execution alone, with its page; of an operation, of one beside own methods alone, and of two pairs.
    let alone = [
        ("Cache-of-42.json", ""),
        ("Stock-add-42-2.json", "-3"),
        ("Stock-add-add-42.json", "-6"),
        ("Stock-add-both-42.json", "-7"),
    ];
    for (name, number) in alone {
        let path = format!("interloper-failures/{name}");
        let again = project.run(&["replay", &path, "--html", "again.html"]).expect(0);
        assert!(again.out.contains(&format!("\n  replay: cargo interloper replay {path}\n")), "{}", again.out);
        assert!(again.out.contains("\nthe same history as recorded ("), "{}", again.out);
        // It is one page, so it has no links.
        let page = &shown[&PathBuf::from(format!("page{number}.html"))];
        assert!(pages(folder)[Path::new("again.html")] == without_links(page).0, "{name}");
    }
    let replayed = |name: &str, more: &[&str]| {
        let mut command = command(folder, &[&asked[..], more].concat());
        ran(command.env("INTERLOPER_REPLAY", failures.join(name)))
    };
    let both = replayed("Stock-add-both-42.json", &[]).expect(0).out;
    assert!(both.contains("Stock: add and both") && both.contains("the same history as recorded"), "{both}");
    for (format, ending) in [("junit", ".xml"), ("sarif", ".sarif")] {
        let document = project.run(&["replay", "interloper-failures/Cache-of-42.json", "--format", format]).expect(0);
        assert_valid(&document.out, ending);
    }
    // Nothing is recorded where that is not wanted.
    fs::remove_dir_all(&failures).expect("the folder");
    ran(command(folder, &[&asked[..], &["Cache"]].concat()).env("INTERLOPER_FAILURES", "off")).expect(1);
    assert!(!failures.exists());

    // What is atomic now differs from the recording.
    recorded.iter().for_each(|(path, bytes)| {
        fs::create_dir_all(&failures).expect("a folder");
        fs::write(path, bytes).expect("a file");
    });
    let from = SOURCE.find("        if let Some(known)").expect("the body");
    let until = SOURCE.find("        key * 2\n    }").expect("its end") + "        key * 2\n".len();
    let mended = format!("{}        *self.values.entry(key).or_insert(key * 2)\n{}", &SOURCE[..from], &SOURCE[until..]);
    project.put("src/lib.rs", &mended);
    let gone = project.run(&["replay", "interloper-failures/Cache-of-42.json"]).expect(2).err;
    let line = "error: cannot replay interloper-failures/Cache-of-42.json: the sources no longer have the operation 'Cache::of' of \
                the package stock\n";
    assert!(gone.ends_with(line), "{gone}");
    let turned =
        SOURCE.replace("self.items.len(), self.number.load(Ordering::SeqCst)", "0, self.number.load(Ordering::SeqCst)");
    project.put("src/lib.rs", &turned);
    let differs = project.run(&["replay", "interloper-failures/Stock-add-both-42.json"]).expect(1).out;
    assert!(differs.starts_with("diverged from the recorded history: "), "{differs}");
}

/// What belongs to another command is refused in one line, before anything is built.
#[test]
fn files_of_other_commands_are_refused() {
    let project = Project::new("");
    let refused = |arguments: &[&str], reason: &str| {
        let said = project.run(arguments).expect(2);
        assert_eq!((said.out.as_str(), said.err.lines().count()), ("", 1), "{}", said.err);
        assert!(said.err.contains(reason), "{}", said.err);
    };
    refused(&["replay", "none.json"], "error: cannot replay none.json: No such file");
    project.put("text.json", "[]");
    refused(&["replay", "text.json"], "error: cannot replay text.json: damaged: ");
    project.put("old.json", "{\"version\": 2}");
    refused(&["replay", "old.json"], "written by an older interloper (version 2, this one reads version 3)");
    let file = |about: &str, more: &str| {
        format!(
            "{{\"version\":3,\"about\":{about},\"seed\":1,\"execution\":1,\"finding\":\"panic\",\"decisions\":\"T1/2\",\
             \"history_hash\":\"cbf29ce484222325\",\"history\":[]{more}}}"
        )
    };
    project.put("program.json", &file("{\"kind\":\"program\",\"name\":\"figure-1\",\"strategy\":\"random\"}", ""));
    refused(&["replay", "program.json"], "of interloper; replay it with interloper replay program.json");
    let case = "{\"kind\":\"case\",\"name\":\"a\",\"adversary\":\"preceding\",\"environment\":\"open\",\"bound\":1}";
    let origin = |words: &str| format!(",\"origin\":{{\"arguments\":[{words}],\"package\":\"p\"}}");
    project.put("other.json", &file(case, &origin("\"clean\"")));
    refused(&["replay", "other.json"], "damaged: what it says was typed is not a search of cargo interloper");
    project.put("case.json", &file(case, &origin("\"composed\",\"--run\"")));
    let said = ran(command(project.folder(), &["hunt"]).env("INTERLOPER_REPLAY", "case.json")).expect(2).err;
    assert!(said.ends_with("error: cannot replay case.json: it was not found by 'hunt'\n"), "{said}");
}
