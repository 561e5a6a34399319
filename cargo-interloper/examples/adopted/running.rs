//! Runs programs in a project that they share.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fs4::FileExt;
use serde_json::Value;

use crate::page::{Checked, Ran};

/// The check of both programs.
const MEASURED: &str = include_str!("measured.rs");

/// What the comment at the top of a program says.
struct Header {
    what: String,
    /// Its lines of `[dependencies]`, by name.
    dependencies: BTreeMap<String, String>,
    /// The names of those that it wants to be under control.
    instrument: Vec<String>,
}

/// Writes a project with these programs, each in an integration test, and builds it. Each program then runs in a process of its own.
///
/// # Errors
/// What does not build, if that is something that the programs share. One that does not compile itself has a result that says so.
pub fn run(sources: &Path, place: &Path, names: &[&str], mut take: impl FnMut(&str, Ran)) -> Result<(), String> {
    fs::create_dir_all(place).expect("a folder");
    let held = File::create(place.join(".lock")).expect("a file");
    FileExt::lock(&held).expect("it can be locked");
    let project = place.join("project");
    let headers = write(sources, &project, names);
    // All at once, as far as they build.
    let built = command(place, &project, &["--no-run"]);
    fs::write(project.join("build.txt"), both(&built)).expect("a file");
    if !built.status.success() && !is_of_program(&text(&built.stderr), names) {
        return Err(reason(&built));
    }
    let control = text(&built.stderr);
    let control = control.lines().find_map(|line| line.strip_prefix("under control: ")).unwrap_or_default();
    let control = control.replace(", and with it ", ", ");
    let versions = versions(&project);
    for (name, header) in names.iter().zip(headers) {
        let own: Vec<String> = versions.iter().filter(|one| header.has(one)).map(|one| one.label.clone()).collect();
        let control = control.split(", ").filter(|label| own.iter().any(|one| one == label)).map(str::to_owned);
        let mut ran = Ran {
            what: header.what.clone(),
            control: control.collect(),
            versions: own,
            planted: Vec::new(),
            correct: None,
            failed: None,
        };
        let output = command(place, &project, &["--test", name, "--", "--nocapture"]);
        fs::write(project.join(format!("{name}.txt")), both(&output)).expect("a file");
        let out = text(&output.stdout);
        let checks = out.lines().filter_map(|line| line.strip_prefix("measured: "));
        let checks = checks.map(|line| serde_json::from_str::<Checked>(line).expect("what the check prints"));
        let (planted, correct): (Vec<Checked>, Vec<Checked>) = checks.partition(|one| one.program == "planted");
        ran.planted = planted;
        ran.correct = correct.into_iter().next();
        ran.failed = (!output.status.success()).then(|| reason(&output));
        take(name, ran);
    }
    Ok(())
}

/// Whether a build ended with programs that do not compile, and nothing else: the last line names what does not, each in quotes.
fn is_of_program(said: &str, names: &[&str]) -> bool {
    let line = said.lines().rev().find(|line| line.starts_with("error: ") && line.contains(" not compile"));
    let rejected: Vec<&str> = line.into_iter().flat_map(|line| line.split('`').skip(1).step_by(2)).collect();
    let tests = line.map_or(0, |line| line.matches("the test `").count());
    !rejected.is_empty() && tests == rejected.len() && rejected.iter().all(|one| names.contains(one))
}

/// Writes the project.
fn write(sources: &Path, project: &Path, names: &[&str]) -> Vec<Header> {
    let _ = fs::remove_dir_all(project);
    for folder in ["src", "tests", "programs"] {
        fs::create_dir_all(project.join(folder)).expect("a folder");
    }
    let put = |file: &str, text: &str| fs::write(project.join(file), text).expect("a file");
    let mut headers = Vec::new();
    let mut dependencies = BTreeMap::new();
    let mut instrument = BTreeSet::new();
    for name in names {
        let source = fs::read_to_string(sources.join(format!("{name}.rs"))).expect("a program");
        let one = header(&source);
        for (of, line) in &one.dependencies {
            let known = dependencies.entry(of.clone()).or_insert_with(|| line.clone());
            assert!(known == line, "{name}: another program asks for {known}: run them one after the other");
        }
        instrument.extend(one.instrument.iter().cloned());
        put(&format!("programs/{name}.rs"), &source);
        put(
            &format!("tests/{name}.rs"),
            &format!(
                "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std as std;\n\n#[path = \"../measured.rs\"]\nmod \
                 measured;\n#[path = \"../programs/{name}.rs\"]\nmod program;\n"
            ),
        );
        headers.push(one);
    }
    let interloper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper").canonicalize().expect("it is there");
    let dependencies: String = dependencies.values().flat_map(|line| [line.as_str(), "\n"]).collect();
    let instrument: Vec<String> = instrument.into_iter().collect();
    put("measured.rs", MEASURED);
    put("src/lib.rs", "");
    put(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"adopted\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
             [dependencies]\n{dependencies}\n[dev-dependencies]\ninterloper = {{ path = {interloper:?} }}\n\n\
             [package.metadata.interloper]\ninstrument = {instrument:?}\n\n\
             [lints.rust]\nunexpected_cfgs = {{ level = \"warn\", check-cfg = [\"cfg(interloper)\"] }}\n\n\
             [profile.dev]\nopt-level = 1\n\n[workspace]\n"
        ),
    );
    headers
}

/// The first lines of the comment at the top of a program, and the piece of a manifest in it.
fn header(source: &str) -> Header {
    let comment = || source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim_start);
    let what: Vec<&str> = comment().take_while(|line| !line.is_empty()).collect();
    let manifest = || comment().skip_while(|line| *line != "```toml").skip(1).take_while(|line| *line != "```");
    let entries = manifest().take_while(|line| !line.starts_with("[package")).filter_map(|line| {
        let (name, _) = line.split_once(" = ")?;
        Some((name.to_owned(), line.to_owned()))
    });
    let instrument = manifest().find_map(|line| line.strip_prefix("instrument = "));
    Header {
        what: what.join(" "),
        dependencies: entries.collect(),
        instrument: instrument.map(|list| serde_json::from_str(list).expect("a list")).unwrap_or_default(),
    }
}

/// Runs `cargo interloper test` in the project.
fn command(place: &Path, project: &Path, arguments: &[&str]) -> Output {
    let own = std::env::current_exe().expect("a path");
    // Cargo builds the command beside the folder of the examples.
    let tool: PathBuf = own.parent().and_then(Path::parent).expect("a folder").join("cargo-interloper");
    let mut command = Command::new(tool);
    command.args(["interloper", "test"]).args(arguments).current_dir(project).stdin(Stdio::null());
    // A check ends with this process.
    command.env("ADOPTED_RUN", std::process::id().to_string());
    command.env("CARGO_TARGET_DIR", place.canonicalize().expect("it is there").join("target"));
    command.env("CARGO_TERM_COLOR", "never").output().expect("the command was built")
}

/// A package that the project depends on.
struct Direct {
    /// What the programs call it.
    name: String,
    /// Its own name, and the version that cargo has chosen.
    label: String,
}

impl Header {
    /// Whether the program asks for it. A package may be there twice, once under another name.
    fn has(&self, one: &Direct) -> bool {
        self.dependencies.keys().any(|key| key.replace('-', "_") == one.name)
    }
}

/// The packages of the project, with the versions that cargo has chosen.
fn versions(project: &Path) -> Vec<Direct> {
    let mut command = Command::new("cargo");
    command.args(["metadata", "--format-version=1"]).current_dir(project).stderr(Stdio::null());
    let output = command.output().expect("cargo");
    let Ok(document) = serde_json::from_slice::<Value>(&output.stdout) else { return Vec::new() };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (root, nodes) = (&document["resolve"]["root"], list(&document["resolve"]["nodes"]));
    let Some(node) = nodes.iter().find(|node| node["id"] == *root) else { return Vec::new() };
    let (direct, packages) = (list(&node["deps"]), list(&document["packages"]));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let labelled = |one: &Value| {
        let package = packages.iter().find(|package| package["id"] == one["pkg"])?;
        let label = format!("{} {}", text(&package["name"]), text(&package["version"]));
        Some(Direct { name: text(&one["name"]), label })
    };
    let mut all: Vec<Direct> = direct.iter().filter_map(labelled).collect();
    all.sort_by(|a, b| a.label.cmp(&b.label));
    all
}

/// The first line that says what went wrong.
fn reason(output: &Output) -> String {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let starts = |start: &'static str| move |line: &&str| line.starts_with(start);
    let compiler = || out.lines().chain(err.lines()).find(starts("error["));
    let panicked = || out.lines().chain(err.lines()).find(|line| line.contains("panicked at"));
    let other = || err.lines().find(starts("error")).or_else(|| err.lines().last());
    compiler().or_else(panicked).or_else(other).unwrap_or("it said nothing").trim().to_owned()
}

fn both(output: &Output) -> String {
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
