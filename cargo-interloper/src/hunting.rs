//! `cargo interloper hunt`: the objects that a workspace describes, or those of a published crate, each in a process of its own.

mod crates;
mod forms;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{self, Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Instant;

use interloper::Shard;
use interloper::objects::hunt::Visit;
pub use interloper::objects::hunted::Asked;
use interloper::objects::hunted::{ANNOTATIONS, BEGIN, END, Ending, FINDINGS, PROGRESS, VARIABLE};
use interloper::recorded::{self, Again, REPLAY};
use interloper_adopt::{
    Built, Controlled, Harness, Member, Members, Options, Project, Refusal, Selection, Task, TestBinary,
};
use interloper_composed::{Access, Described, Package};
use interloper_report::Counterexample;
use interloper_report::events::places;
use interloper_report::explorer::ADDED;
use interloper_report::folder::Folder;
use serde_json::{Value, json};

use crate::args::Rendering;
use crate::orderings::process::ended;
use crate::pages::Pages;
use crate::progress::{self, Progress};
use crate::recorded::{Files, Recorded, Temporary};
use crate::shards::{self, Told};
use crate::{EXPECTED, REFUSED, UNEXPECTED, annotate, init, note, print, says_memory};

/// Whose objects are hunted.
pub struct Subjects {
    /// A published crate, as `name` or `name@version`.
    pub published: Option<String>,
    /// Only objects of these packages.
    pub packages: Vec<String>,
    /// Only objects whose names contain this.
    pub name: Option<String>,
}

/// Which part of the hunt runs here, and where its progress is kept.
pub enum Split {
    /// All of it.
    Whole(Option<Kept>),
    /// A part of the schemas; its document names the search.
    Shard(Shard, shards::Asked, Option<Kept>),
    /// The end, after the visits of all parts.
    Joined(BTreeMap<String, Vec<Visit>>),
    /// One recorded execution.
    Again(Box<Recorded>),
}

/// Where the progress of a hunt is kept.
pub struct Kept {
    pub folder: Folder,
    /// The line that was typed, which names the search.
    pub line: String,
}

impl Kept {
    /// The file with the progress of a test, which runs in another folder.
    fn path(&self, test: &str) -> io::Result<PathBuf> {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
        let name: String = test.chars().map(plain).collect();
        path::absolute(self.folder.file(&format!("hunt-{name}"), "jsonl"))
    }
}

/// The version of the document.
pub const VERSION: u32 = 1;
/// The module with the tests of a file.
const MODULE: &str = "interloper_hunts";
/// What hunts use of the crate interloper.
const FEATURES: [&str; 2] = ["objects", "pages"];

/// A test that hunts an object.
struct Hunt {
    package: String,
    object: String,
    test: String,
}

/// Hunts the objects and prints what comes of each.
pub fn run(
    folder: &Path,
    options: &Options,
    selection: &Selection,
    subjects: &Subjects,
    asked: &Asked,
    (split, pages, files): (&Split, &Pages, &Files),
    format: Rendering,
) -> Result<u8, Refusal> {
    let (parts, jobs) = Default::default();
    let mut results =
        Results { split, pages, files, jobs, hunted: Vec::new(), left: Vec::new(), parts, has_work: false };
    match &subjects.published {
        Some(published) => published_crate(folder, options, published, subjects, asked, &mut results)?,
        None => workspace(folder, options, selection, subjects, asked, &mut results)?,
    }
    if let Split::Again(recorded) = split {
        return results.again(recorded, format);
    }
    results.run()?;
    if let Split::Shard(shard, asked, _) = split {
        results.left.iter().for_each(|(object, reason)| note(&format!("{object}: {reason}")));
        let code = results.code();
        let nothing_to_do = !results.has_work && results.left.is_empty() && results.hunted.is_empty();
        print(&shards::document(*shard, asked.clone(), Told::Hunts(results.parts), nothing_to_do))?;
        return Ok(code);
    }
    pages.end();
    print(&results.shown(format))?;
    Ok(results.code())
}

/// A crate that is described here.
fn published_crate(
    folder: &Path,
    options: &Options,
    published: &str,
    subjects: &Subjects,
    asked: &Asked,
    results: &mut Results<'_>,
) -> Result<(), Refusal> {
    let (known, version) = crates::find(published)?;
    let is_asked = named(subjects.name.as_deref(), known.objects.iter().copied());
    let hunts: Vec<Hunt> = known
        .objects
        .iter()
        .enumerate()
        .filter(|(_, object)| is_asked(object))
        .map(|(number, object)| Hunt {
            package: known.name.to_owned(),
            object: (*object).to_owned(),
            test: format!("hunts::object_{number}"),
        })
        .collect();
    if hunts.is_empty() {
        let there = known.objects.join(", ");
        return Err(Refusal::Request(format!("no object of {} has this in its name; there are {there}", known.name)));
    }
    let interloper = init::interloper(folder, None)?;
    let project = crates::project(known, &version, &interloper)?;
    let manifest = project.join("Cargo.toml");
    let root = project.join("src/lib.rs");
    let harness = Harness {
        manifests: BTreeSet::from([manifest.clone()]),
        interloper,
        features: FEATURES.to_vec(),
        roots: BTreeSet::from([root]),
        ..Harness::default()
    };
    // What is hunted is the published crate, also where there is a mirror of it.
    let real = interloper_adopt::mirrors().filter(|mirrored| *mirrored == known.name).map(str::to_owned).collect();
    let build = vec!["--lib".into()];
    let options = Options { harness: Some(harness), build, manifest: Some(manifest), real, ..options.clone() };
    let controlled = Project::open(&project, options)?.control(&Selection::Named(vec![known.name.to_owned()]))?;
    says_control(&controlled);
    let built = match controlled.build(Task::Test) {
        Err(Refusal::Build { messages, .. }) => {
            let said = messages.first().and_then(|message| message.lines().next()).unwrap_or("it does not build");
            let (name, of) = (&known.name, &known.version);
            return Err(Refusal::Request(match version == *of {
                true => format!("the description of {name} {of} does not compile: {said}"),
                false => format!("the description of {name} is for version {of}, and does not fit {version}: {said}"),
            }));
        }
        built => built?,
    };
    let asked = Asked { command: format!("cargo interloper hunt --crate {published}"), ..asked.clone() };
    results.take(controlled, built, hunts, asked)
}

/// The objects that a workspace describes.
fn workspace(
    folder: &Path,
    options: &Options,
    selection: &Selection,
    subjects: &Subjects,
    asked: &Asked,
    results: &mut Results<'_>,
) -> Result<(), Refusal> {
    let members = Members::read(folder, options)?;
    if let Some(name) = subjects.packages.iter().find(|name| !members.packages.iter().any(|own| own.name == **name)) {
        return Err(Refusal::NotAMember { name: name.clone(), similar: None });
    }
    let is_chosen = |member: &&Member| subjects.packages.is_empty() || subjects.packages.contains(&member.name);
    let chosen: Vec<&Member> = members.packages.iter().filter(is_chosen).collect();
    let packages: Vec<Package> =
        chosen.iter().map(|member| Package { name: member.name.clone(), crates: member.crates.clone() }).collect();
    let reading = interloper_composed::Options { base: members.root.clone(), tests: true, ..Default::default() };
    let (found, unread) = interloper_composed::objects(&packages, &reading);
    for one in &unread {
        note(&format!("not read: {}:{}: {}", one.place.file, one.place.line, one.reason));
    }
    let is_named = named(subjects.name.as_deref(), found.iter().map(|one| &*one.name));
    let is_asked = |one: &Described| is_named(&one.name);
    if !found.iter().any(is_asked) {
        return Err(Refusal::Request(match &subjects.name {
            Some(name) => format!("no `#[interloper::object]` here has '{name}' in its name"),
            None => "no `#[interloper::object]` here; `--crate NAME` hunts a published crate".to_owned(),
        }));
    }
    for one in found.iter().filter(|one| is_asked(one)) {
        if let Err(reason) = &one.access {
            let place = format!("{}:{}", one.place.file, one.place.line);
            results.left.push((one.name.clone(), format!("not hunted ({place}): {reason}")));
        }
    }
    for member in chosen {
        for (at, (name, root)) in member.crates.iter().enumerate() {
            let of_crate = |one: &&Described| {
                one.package == member.name && one.access.as_ref().is_ok_and(|access| access.root == *root)
            };
            let objects: Vec<&Described> = found.iter().filter(of_crate).collect();
            if !objects.iter().any(|one| is_asked(one)) {
                continue;
            }
            // All of them are compiled, whichever are hunted: what is counted of one does not depend on what else was asked before.
            let (appended, hunts) = tests(&objects);
            let hunts =
                hunts.into_iter().zip(&objects).filter(|(_, one)| is_asked(one)).map(|(hunt, _)| hunt).collect();
            let harness = Harness {
                manifests: BTreeSet::from([member.manifest.clone()]),
                interloper: init::interloper(folder, None)?,
                features: FEATURES.to_vec(),
                roots: BTreeSet::from([root.clone()]),
                appended,
                every_test: false,
            };
            // The library and a binary can have the same name.
            let is_library = at == 0 && root.file_name().is_none_or(|name| name != "main.rs");
            let which =
                if is_library { vec!["--lib".into()] } else { vec!["--bin".into(), name.replace('_', "-").into()] };
            let build = ["--package".into(), member.name.clone().into()].into_iter().chain(which).collect();
            let options =
                Options { harness: Some(harness), build, manifest: Some(member.manifest.clone()), ..options.clone() };
            let controlled = Project::open(folder, options)?.control(selection)?;
            says_control(&controlled);
            let built = controlled.build(Task::Test)?;
            results.take(controlled, built, hunts, asked.clone())?;
        }
    }
    Ok(())
}

/// The tests for the ends of the files, and their names.
fn tests(objects: &[&Described]) -> (BTreeMap<PathBuf, String>, Vec<Hunt>) {
    let mut files: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut hunts = Vec::new();
    for (number, one) in objects.iter().enumerate() {
        let Ok(Access { file, module, ty, .. }) = &one.access else { continue };
        let text = files.entry(file.clone()).or_insert_with(|| {
            format!(
                "{ADDED}\n#[cfg(all(test, interloper))]\n#[allow(warnings, clippy::all)]\nmod {MODULE} {{\n    use super::*;\n"
            )
        });
        text.push_str(&format!(
            "    #[test]\n    fn object_{number}() {{\n        interloper::objects::hunted::run({ty}::object());\n    }}\n"
        ));
        let module = if module.is_empty() { String::new() } else { format!("{module}::") };
        let package = one.package.clone();
        hunts.push(Hunt { package, object: one.name.clone(), test: format!("{module}{MODULE}::object_{number}") });
    }
    files.values_mut().for_each(|text| text.push_str("}\n"));
    (files, hunts)
}

fn says_control(controlled: &Controlled) {
    let labels: Vec<String> = controlled.copies().map(|(label, _)| label).collect();
    note(&match labels.is_empty() {
        true => "under control: only crates with the line at their root".to_owned(),
        false => format!("under control: {}", labels.join(", ")),
    });
    for unseen in &controlled.unseen {
        note(&format!("not under control: {unseen}"));
    }
    for off in &controlled.off {
        note(&format!("switched off: {off}"));
    }
    says_memory(controlled);
}

/// Objects that one program tests.
struct Job {
    controlled: Controlled,
    binary: TestBinary,
    hunts: Vec<Hunt>,
    asked: Asked,
}

impl Job {
    /// Runs a test in a process of its own, with this on its standard input. `watch` is told how far it is, now and then.
    fn ran(
        &self,
        hunt: &Hunt,
        asked: &Asked,
        (input, visits): (Stdio, Option<Vec<u8>>),
        watch: impl Fn(&str) + Send,
    ) -> Result<Output, Refusal> {
        let mut command = self.command(hunt, asked);
        let child = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| self.failed(&error))?;
        if let (Some(visits), Some(mut input)) = (visits, child.stdin.take()) {
            // A test that has failed before it read them says why itself.
            let _ = input.write_all(&visits);
        }
        let stderr = child.stderr.take().expect("it is piped");
        thread::scope(|scope| {
            let reader = scope.spawn(move || without_progress(BufReader::new(stderr), watch));
            let output = child.wait_with_output().map_err(|error| self.failed(&error));
            let stderr = reader.join().expect("it only reads");
            output.map(|output| Output { stderr, ..output })
        })
    }

    /// The process of a test.
    fn command(&self, hunt: &Hunt, asked: &Asked) -> Command {
        let asked = serde_json::to_string(asked).expect("texts and numbers");
        let mut command = self.controlled.test_command(&self.binary);
        command.args(["--exact", &hunt.test, "--nocapture", "--test-threads", "1"]).env(VARIABLE, asked);
        command.env_remove(REPLAY);
        command
    }

    /// Runs a recorded execution of an object again. None if its test says nothing.
    fn replayed(&self, hunt: &Hunt, asked: &Asked, path: &Path) -> Result<(Option<Again>, Output), Refusal> {
        let mut command = self.command(hunt, asked);
        let output = command.env(REPLAY, path).stdin(Stdio::null()).output().map_err(|error| self.failed(&error))?;
        Ok((Again::of(&String::from_utf8_lossy(&output.stdout)), output))
    }

    /// How many methods of an object are searched. None of them if its test says something else: it says so again.
    fn methods(&self, hunt: &Hunt) -> Result<u64, Refusal> {
        let output = self.ran(hunt, &Asked { counts: true, ..self.asked.clone() }, (Stdio::null(), None), |_| {})?;
        let said = result(&String::from_utf8_lossy(&output.stdout));
        Ok(said.and_then(|(ending, text)| text.parse().ok().filter(|_| ending == Ending::Part)).unwrap_or(0))
    }

    fn failed(&self, error: &io::Error) -> Refusal {
        Refusal::System { doing: format!("run {}", self.binary.executable.display()), reason: error.to_string() }
    }
}

/// What came of the objects.
struct Results<'s> {
    split: &'s Split,
    pages: &'s Pages,
    files: &'s Files,
    /// What is to be hunted.
    jobs: Vec<Job>,
    /// Each with its ending, and its report or data.
    hunted: Vec<(String, Ending, String)>,
    /// Those that were not hunted, with the reason.
    left: Vec<(String, String)>,
    /// Of a shard: the visits of each object.
    parts: BTreeMap<String, Vec<Visit>>,
    /// Of a shard: some schema belongs to it.
    has_work: bool,
}

impl Results<'_> {
    /// Takes note of the objects that a program tests.
    fn take(&mut self, controlled: Controlled, built: Built, hunts: Vec<Hunt>, asked: Asked) -> Result<(), Refusal> {
        let [binary] = <[TestBinary; 1]>::try_from(built.tests).map_err(|tests| Refusal::System {
            doing: "find the tests that were built".to_owned(),
            reason: format!("there are {}", tests.len()),
        })?;
        self.jobs.push(Job { controlled, binary, hunts, asked });
        Ok(())
    }

    /// Runs the tests. The methods of all objects are dealt to the parts of a hunt.
    fn run(&mut self) -> Result<(), Refusal> {
        let jobs = std::mem::take(&mut self.jobs);
        let hunts: Vec<(&Job, &Hunt)> =
            jobs.iter().flat_map(|job| job.hunts.iter().map(move |hunt| (job, hunt))).collect();
        let counts: Vec<u64> = match self.split {
            Split::Shard(..) => hunts.iter().map(|(job, hunt)| job.methods(hunt)).collect::<Result<_, _>>()?,
            _ => vec![0; hunts.len()],
        };
        let (mut before, all) = (0, counts.iter().sum());
        let (progress, objects) = (Progress::start("object", hunts.len()), hunts.len());
        for (number, ((job, hunt), methods)) in hunts.into_iter().zip(counts).enumerate() {
            let label = match objects {
                1 => hunt.object.clone(),
                _ => format!("{} ({} of {objects})", hunt.object, number + 1),
            };
            note(&format!("hunts {label}"));
            progress.begin(&hunt.object);
            self.hunt(job, hunt, &label, (before, all))?;
            progress.done(&hunt.object);
            before += methods;
        }
        Ok(())
    }

    /// Runs one recorded execution again.
    fn again(&self, recorded: &Recorded, format: Rendering) -> Result<u8, Refusal> {
        let (name, package) = (recorded.file.about.name(), &recorded.origin().package);
        let hunts = self.jobs.iter().flat_map(|job| job.hunts.iter().map(move |hunt| (job, hunt)));
        let own: Vec<_> = hunts.filter(|(_, hunt)| hunt.object == name && hunt.package == *package).collect();
        if own.is_empty() {
            let left = self.left.iter().find(|(object, _)| object == name).map(|(_, reason)| reason.as_str());
            let gone = format!("the sources no longer have {}", recorded.what());
            return recorded.refused(left.unwrap_or(&gone));
        }
        let progress = Progress::start("replay", 1);
        let path = Temporary::write(&recorded.file)?;
        let (mut came, mut said) = (Vec::new(), String::new());
        for (job, hunt) in own {
            let asked = Asked { html: self.pages.first().map(Path::to_owned), ..job.asked.clone() };
            let (again, output) = job.replayed(hunt, &asked, path.path())?;
            self.pages.look(&String::from_utf8_lossy(&output.stdout));
            said = format!("its test ended with {}", ended(&String::from_utf8_lossy(&output.stderr), output.status));
            came.extend(again);
        }
        // A library and a program can have objects of one name: one of them was recorded.
        came.sort_by_key(|again: &Again| again.divergence.is_some());
        self.pages.end();
        match came.into_iter().next() {
            Some(again) => recorded.show(again, &progress, format),
            None => recorded.refused(&said),
        }
    }

    /// Hunts an object. `label` names it in what is said meanwhile.
    fn hunt(&mut self, job: &Job, hunt: &Hunt, label: &str, among: (u64, u64)) -> Result<(), Refusal> {
        let key = format!("{} {} {}", hunt.object, job.binary.name, hunt.test);
        let mut asked = Asked { command: format!("{} {}", job.asked.command, hunt.object), ..job.asked.clone() };
        (asked.html, asked.pages) = (self.pages.first().map(Path::to_owned), self.pages.count());
        let (mut input, mut visits) = (Stdio::null(), None);
        match self.split {
            Split::Whole(_) | Split::Again(_) => {}
            Split::Shard(shard, ..) => (asked.shard, asked.among) = (Some(shard.to_string()), Some(among)),
            Split::Joined(hunts) => {
                let own = hunts.get(&key).map_or(&[][..], |visits| &visits[..]);
                visits = Some(serde_json::to_vec(own).expect("numbers are always JSON"));
                (asked.joined, input) = (true, Stdio::piped());
            }
        }
        if let Split::Whole(Some(kept)) | Split::Shard(.., Some(kept)) = self.split {
            asked.state = Some((kept.path(&key).map_err(|error| job.failed(&error))?, kept.line.clone()));
            // In case this process is killed before that one.
            input = kept.folder.lock().map_err(|error| job.failed(&error))?.into();
        }
        let begun = Instant::now();
        let watch = |line: &str| note(&format!("hunts {label}: {line}, {} s so far", begun.elapsed().as_secs()));
        let output = job.ran(hunt, &asked, (input, visits), watch)?;
        let out = String::from_utf8_lossy(&output.stdout);
        self.pages.look(&out);
        recorded::files(&out).iter().for_each(|file| self.files.keep(&hunt.package, file));
        for line in
            out.split_once(FINDINGS).and_then(|(_, text)| text.split_once(END)).map_or("", |(lines, _)| lines).lines()
        {
            if let Ok((name, verdict, found)) = serde_json::from_str::<(String, String, Option<Counterexample>)>(line) {
                progress::found_at(&name, &verdict, found.as_ref().map(places).unwrap_or_default());
            }
        }
        let annotations = out.split_once(ANNOTATIONS).and_then(|(_, text)| text.split_once(END));
        annotate(|| annotations.map(|(lines, _)| lines.to_owned()).unwrap_or_default());
        match result(&out) {
            Some((ending @ (Ending::Part | Ending::Idle), text)) => {
                self.has_work |= ending == Ending::Part;
                self.parts.insert(key, serde_json::from_str(&text).unwrap_or_default());
            }
            Some((ending, text)) => self.hunted.push((hunt.object.clone(), ending, text)),
            None => {
                let ended = ended(&String::from_utf8_lossy(&output.stderr), output.status);
                self.left.push((hunt.object.clone(), format!("its hunt ended with {ended}")));
            }
        }
        Ok(())
    }

    fn shown(&self, format: Rendering) -> String {
        let data = |(_, _, text): &(String, Ending, String)| serde_json::from_str::<Value>(text).unwrap_or_default();
        let (misused, hunted): (Vec<_>, Vec<_>) =
            self.hunted.iter().partition(|(_, ending, _)| *ending == Ending::Misuse);
        let misused = misused.iter().map(|(object, _, reason)| (object.as_str(), reason.as_str()));
        let left = self.left.iter().map(|(object, reason)| (object.as_str(), reason.as_str())).chain(misused).collect();
        let hunted = || forms::Hunted { objects: hunted.into_iter().map(data).collect(), left };
        match format {
            Rendering::Junit => forms::junit(&hunted()),
            Rendering::Sarif => forms::sarif(&hunted()),
            Rendering::Text => {
                let reports = self.hunted.iter().map(|(object, ending, text)| match ending {
                    Ending::Misuse => format!("{object}: {text}\n"),
                    _ => format!("{text}\n"),
                });
                let left = self.left.iter().map(|(object, reason)| format!("{object}: {reason}\n"));
                reports.chain(left).collect::<Vec<_>>().join("\n")
            }
            Rendering::Json => {
                let forms::Hunted { objects, left } = hunted();
                let left: Vec<Value> =
                    left.iter().map(|(object, reason)| json!({ "object": object, "reason": reason })).collect();
                let document = json!({ "version": VERSION, "objects": objects, "not_hunted": left });
                let mut text = serde_json::to_string_pretty(&document).expect("JSON");
                text.push('\n');
                text
            }
        }
    }

    fn code(&self) -> u8 {
        let ended = |wanted: Ending| self.hunted.iter().any(|(_, ending, _)| *ending == wanted);
        match () {
            () if ended(Ending::Wrong) => UNEXPECTED,
            () if ended(Ending::Nothing) || ended(Ending::Misuse) || !self.left.is_empty() => REFUSED,
            () => EXPECTED,
        }
    }
}

/// Which of the names are meant: the one that is asked for, or else all that contain it. A command that replays a finding has the whole
/// name, and hunts no other object.
fn named<'a>(asked: Option<&'a str>, names: impl IntoIterator<Item = &'a str>) -> impl Fn(&str) -> bool {
    let is_whole = names.into_iter().any(|name| Some(name) == asked);
    move |name| asked.is_none_or(|asked| if is_whole { name == asked } else { name.contains(asked) })
}

/// What a test says on its standard error, without the lines that say how far it is: `watch` gets those.
fn without_progress(mut stderr: impl BufRead, watch: impl Fn(&str)) -> Vec<u8> {
    let (mut said, mut line) = (Vec::new(), Vec::new());
    // What cannot be read is not said.
    while stderr.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        match line.strip_prefix(PROGRESS.as_bytes()) {
            Some(progress) => watch(String::from_utf8_lossy(progress).trim_end()),
            None => said.extend_from_slice(&line),
        }
        line.clear();
    }
    said
}

/// What a test printed of its object.
fn result(out: &str) -> Option<(Ending, String)> {
    let (_, text) = out.split_once(BEGIN)?;
    let (text, _) = text.split_once(END)?;
    let (word, report) = text.split_once('\n')?;
    Some((Ending::of_word(word)?, report.trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn lines_of_progress_are_told_and_left_out() {
        let told = RefCell::new(Vec::new());
        let stderr = format!("first\n{PROGRESS}put, method 1 of 2: 3 schemas, 1 execution\nlast, \u{2}interloper");
        let said = without_progress(stderr.as_bytes(), |line| told.borrow_mut().push(line.to_owned()));
        assert_eq!(String::from_utf8(said).unwrap(), "first\nlast, \u{2}interloper");
        assert_eq!(told.into_inner(), ["put, method 1 of 2: 3 schemas, 1 execution"]);
    }

    #[test]
    fn a_whole_name_is_that_of_one_object() {
        let asked = |name| -> Vec<&str> {
            let all = ["bad", "bad-len", "good"];
            all.into_iter().filter(|one| named(name, all)(one)).collect()
        };
        assert_eq!(asked(Some("bad")), ["bad"]);
        assert_eq!(asked(Some("ba")), ["bad", "bad-len"]);
        assert_eq!(asked(Some("bad-")), ["bad-len"]);
        assert_eq!(asked(Some("other")), <[&str; 0]>::default());
        assert_eq!(asked(None), ["bad", "bad-len", "good"]);
    }
}
