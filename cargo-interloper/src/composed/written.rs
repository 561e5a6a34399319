//! Operations as tests in the user's tree: each expects the verdict that its operation has now.
//!
//! A test uses private parts of the file with its operation, so it lies in a module of that file. The module has a file of its own, in
//! a folder that the user names; the end of the user's file gets the item that names it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use interloper::report::file;
use interloper_adopt::{Change, Member, Members, Options, Refusal, Setup};
use interloper_composed::{Declared, Found, Operation, Recipe, Together};

use super::Limits;
use super::pairs::Told;
use super::running::{COMPOSED, Outcome};
use crate::{init, note};

/// The name of the modules in the user's files.
const MODULE: &str = "interloper_composed";

/// Refuses a folder that cannot have the tests, or has them already.
pub fn refuse(members: &Members, found: &Found, into: &Path) -> Result<(), Refusal> {
    if !into.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(Refusal::Request(format!(
            "--write takes a folder of the package, as in --write tests, and {} is not one",
            into.display()
        )));
    }
    for (member, source) in sources(members, found) {
        let module = module_of(member, source, into);
        if module.exists() {
            return Err(Refusal::Request(format!(
                "{} is there already: remove it, and --write writes it again",
                module.display()
            )));
        }
    }
    Ok(())
}

/// Writes the operations that were judged.
pub fn write(
    (folder, options): (&Path, &Options),
    members: &Members,
    (found, outcomes): (&Found, &[Outcome]),
    limits: Limits,
    into: &Path,
) -> Result<(), Refusal> {
    let mut changes = Vec::new();
    let (mut tests, mut drafts, mut packages) = (0, 0, BTreeSet::new());
    let declared = declared(found, outcomes);
    for (member, source) in sources(members, found) {
        let mut module = Module::new(limits);
        module.values = declared.iter().filter(|one| one.file == source).map(|one| format!("\n{}", one.code)).collect();
        for (operation, outcome) in found.operations.iter().zip(outcomes) {
            if operation.package != member.name {
                continue;
            }
            match (outcome, &operation.recipe, &operation.draft) {
                (Outcome::Judged { verdict, own, low, .. }, Ok(recipe), _) if recipe.file == source => {
                    let recipe = if *low { &recipe.with_low_numbers() } else { recipe };
                    module.add(operation, recipe, verdict, own.as_deref());
                    packages.extend(recipe.packages.iter().copied());
                }
                (Outcome::NotRun(reason), _, Some(draft)) if draft.file == source => {
                    module.add_draft(operation, draft, reason);
                    drafts += 1;
                }
                _ => {}
            }
        }
        for (one, outcome) in found.together.iter().zip(outcomes.get(found.operations.len()..).unwrap_or_default()) {
            if let (Outcome::Pairs(told), true) = (outcome, one.package == member.name && one.file == source) {
                module.add_pairs(one, told);
                packages.extend(one.packages.iter().copied());
            }
        }
        if module.tests.is_empty() && module.values.is_empty() {
            continue;
        }
        tests += module.names.len();
        let path = module_of(member, source, into);
        changes.push(Change {
            file: path.clone(),
            before: String::new(),
            after: formatted(module.text(member, source)),
        });
        changes.extend(named(source, &path)?);
    }
    for Change { file: path, after, .. } in &changes {
        let failed = |error: std::io::Error| Refusal::System {
            doing: format!("write {}", path.display()),
            reason: error.to_string(),
        };
        fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(failed)?;
        file::write(path, after.as_bytes()).map_err(failed)?;
        note(&format!("wrote {}", shortened(folder, path)));
    }
    let command = command(packages);
    tests -= drafts;
    match drafts {
        0 => {}
        1 => note("1 draft was written, with one hole: a `todo!`"),
        _ => note(&format!("{drafts} drafts were written, with one hole each: a `todo!`")),
    }
    note(&match tests {
        0 => "no test was written: no operation was judged".to_owned(),
        1 => format!("1 test was written; `{command}` runs it"),
        _ => format!("{tests} tests were written; `{command}` runs them"),
    });
    let mut packages: Vec<String> = sources(members, found).iter().map(|(member, _)| member.name.clone()).collect();
    packages.dedup();
    let setup = Setup { manifest: options.manifest.clone(), packages, features: vec![COMPOSED.to_owned()] };
    let missing = init::interloper(folder, None).and_then(|interloper| setup.changes(folder, &interloper));
    if tests > 0 && missing.is_ok_and(|changes| !changes.is_empty()) {
        note(&format!("first let `cargo interloper init --features {COMPOSED}` write what tests under control need"));
    }
    Ok(())
}

/// How the values are made that the operations and the types need that were judged.
fn declared<'a>(found: &'a Found, outcomes: &[Outcome]) -> BTreeSet<&'a Declared> {
    let of_operation = |(operation, outcome): (&'a Operation, &Outcome)| match (outcome, &operation.recipe) {
        (Outcome::Judged { .. }, Ok(recipe)) => Some(&recipe.data),
        _ => None,
    };
    let of_type = |(one, outcome): (&'a Together, &Outcome)| match outcome {
        Outcome::Pairs(told) if told.report.is_ok() => Some(&one.data),
        _ => None,
    };
    let types = found.together.iter().zip(outcomes.get(found.operations.len()..).unwrap_or_default());
    let operations = found.operations.iter().zip(outcomes).filter_map(of_operation);
    operations.chain(types.filter_map(of_type)).flatten().collect()
}

/// The files with operations that can be run, each with its package.
fn sources<'a>(members: &'a Members, found: &'a Found) -> Vec<(&'a Member, &'a Path)> {
    let mut all = BTreeMap::new();
    for one in &found.operations {
        let member = members.packages.iter().find(|member| member.name == one.package);
        if let (Some(member), Some(recipe)) = (member, one.recipe.as_ref().ok().or(one.draft.as_ref())) {
            all.insert((&member.name, recipe.file.as_path()), member);
            all.extend(recipe.data.iter().map(|data| ((&member.name, data.file.as_path()), member)));
        }
    }
    for one in &found.together {
        if let Some(member) = members.packages.iter().find(|member| member.name == one.package) {
            all.insert((&member.name, one.file.as_path()), member);
            all.extend(one.data.iter().map(|data| ((&member.name, data.file.as_path()), member)));
        }
    }
    all.into_iter().map(|((_, file), member)| (member, file)).collect()
}

/// The file of the module with the operations of a file: `tests/composed/src_store_cache.rs` for `src/store/cache.rs`. It is never
/// called `main.rs`, which would be a test of its own.
fn module_of(member: &Member, source: &Path, into: &Path) -> PathBuf {
    let root = root_of(member);
    let inside = source.strip_prefix(root).unwrap_or(source);
    let name: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    root.join(into).join("composed").join(name.join("_"))
}

fn root_of(member: &Member) -> &Path {
    member.manifest.parent().unwrap_or(Path::new("."))
}

/// The end that a file of the user's gets, unless it has it.
fn named(source: &Path, module: &Path) -> Result<Option<Change>, Refusal> {
    let before = fs::read_to_string(source)
        .map_err(|error| Refusal::System { doing: format!("read {}", source.display()), reason: error.to_string() })?;
    if before.contains(&format!("mod {MODULE};")) {
        return Ok(None);
    }
    let path = from_folder_of(source, module);
    let end = if before.ends_with('\n') { "" } else { "\n" };
    let after = format!("{before}{end}\n#[cfg(all(test, interloper))]\n#[path = {path:?}]\nmod {MODULE};\n");
    Ok(Some(Change { file: source.to_owned(), before, after }))
}

/// A file as seen from the folder of another.
fn from_folder_of(source: &Path, file: &Path) -> String {
    let folder: Vec<Component<'_>> = source.parent().into_iter().flat_map(Path::components).collect();
    let file: Vec<Component<'_>> = file.components().collect();
    let common = folder.iter().zip(&file).take_while(|(one, other)| one == other).count();
    let up = folder[common..].iter().map(|_| "..".to_owned());
    let down = file[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    Vec::from_iter(up.chain(down)).join("/")
}

/// What runs tests that need these packages under control.
fn command(packages: BTreeSet<&'static str>) -> String {
    let instrument = Vec::from_iter(packages).join(",");
    let option = if instrument.is_empty() { String::new() } else { format!(" --instrument {instrument}") };
    format!("cargo interloper test{option}")
}

fn shortened(folder: &Path, path: &Path) -> String {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    path.strip_prefix(&folder).unwrap_or(path).display().to_string()
}

/// As `rustfmt` writes it, where there is one.
fn formatted(text: String) -> String {
    let run = || -> std::io::Result<String> {
        let mut child = Command::new("rustfmt")
            .args(["--edition", "2021"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(text.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Ok(text.clone())
        }
    };
    run().unwrap_or(text)
}

/// Stands for the name of a type.
const SUBJECT: &str = "\u{1}";

/// The name of the type with this number.
fn numbered(at: usize) -> String {
    if at == 0 { "UnderTest".to_owned() } else { format!("UnderTest{}", at + 1) }
}

/// The code with another name for a type, whose own name ends in a number.
fn renamed(code: &str, name: &str, other: &str) -> String {
    let mut parts = code.split(name);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_longer = part.starts_with(|c: char| c.is_ascii_digit());
        out.push_str(if is_longer { name } else { other });
        out.push_str(part);
    }
    out
}

/// Without the paths that keep generated code apart from whatever the user's file calls so.
fn plainer(item: &str) -> String {
    let item = item.replace("std::vec::Vec<", "Vec<").replace("std::vec![", "vec![");
    item.replace("std::string::String", "String").replace(", ]", "]")
}

/// What an operation is, in a line.
fn about(operation: &Operation) -> String {
    let Operation { name, place, pattern, calls, .. } = operation;
    let calls: Vec<String> = calls.iter().map(|call| format!("{}.{}", call.collection, call.short())).collect();
    format!("`{name}` at {}:{}: {pattern} ({})", place.file, place.line, calls.join(", "))
}

/// The tests of one file.
struct Module {
    limits: Limits,
    /// The types that they need, in their order: how the adversary finds the collections of a type. Each is called [`SUBJECT`] here.
    items: Vec<String>,
    /// How values of types of the file are made.
    values: String,
    names: BTreeSet<String>,
    tests: String,
    packages: BTreeSet<&'static str>,
}

impl Module {
    fn new(limits: Limits) -> Module {
        let (items, names, tests, packages) = (Vec::new(), BTreeSet::new(), String::new(), BTreeSet::new());
        Module { limits, items, values: String::new(), names, tests, packages }
    }

    fn add(&mut self, operation: &Operation, recipe: &Recipe, verdict: &str, own: Option<&str>) {
        self.packages.extend(recipe.packages.iter().copied());
        // Operations of one type have a type each: here they share it.
        let subject =
            recipe.subject.as_ref().map(|(name, item)| (name, self.subject(&item.replace(name.as_str(), SUBJECT))));
        let named = |check: &str| match &subject {
            Some((name, own)) => renamed(check, name, own),
            None => check.to_owned(),
        };
        let (name, about) = (&operation.name, about(operation));
        self.test(name, "", (&about, verdict), &named(&recipe.check));
        if let (Some(check), Some(own)) = (&recipe.own, own) {
            let about = format!("{about}, where only the other methods of its type act");
            self.test(name, "_by_its_own_methods", (&about, own), &named(check));
        }
    }

    /// A test of a type's methods, two at once: it expects the pairs that have a violation now.
    fn add_pairs(&mut self, one: &Together, told: &Told) {
        if told.report.is_err() {
            return;
        }
        self.packages.extend(one.packages.iter().copied());
        let (ty, item) = &one.subject;
        let own = self.subject(&item.replace(ty.as_str(), SUBJECT));
        let name = self.named(&one.name, "has_its_methods_run_two_at_once");
        let is_left = |method: &str| !told.rejected.iter().any(|(name, _)| name == method);
        let methods = one.methods.iter().filter(|method| is_left(&method.name)).flat_map(|method| &method.calls);
        let invariants = one.invariants.iter().filter(|(name, _)| is_left(name)).map(|(_, code)| code);
        let calls: String = methods.chain(invariants).map(|call| format!("\n        {call}")).collect();
        let code = renamed(&format!("{}{calls}", one.make), ty, &own);
        let pairs: Vec<String> = told.violations().map(|pair| format!("{:?}", pair.methods)).collect();
        let _ = write!(
            self.tests,
            "\n/// The methods of `{}` at {}:{}, two at once: what they do one after the other is their specification. The pairs at the
/// end are not atomic together. `.replay(…)`, with what the report of a pair prints, makes one execution again.
#[test]\nfn {name}() {{\n    {code}\n        .settings(limits)\n        .assert_violations([{}]);\n}}\n",
            one.name,
            one.place.file,
            one.place.line,
            pairs.join(", "),
        );
    }

    /// A test that is no code yet: something is missing.
    fn add_draft(&mut self, operation: &Operation, draft: &Recipe, reason: &str) {
        self.packages.extend(draft.packages.iter().copied());
        let name = self.named(&operation.name, "is_linearizable");
        let item = draft.subject.as_ref().map_or(String::new(), |(_, item)| plainer(item));
        let (about, check) = (about(operation), &draft.check);
        let _ = write!(
            self.tests,
            "\n/// {about}.\n///\n/// A draft, since it {reason}. Replace the `todo!`, and remove the next line.\n\
             #[cfg(any())]\n#[test]\nfn {name}() {{\n    {item}\n    {check}\n        .assert_linearizable();\n}}\n"
        );
    }

    /// The name of a type that is needed.
    fn subject(&mut self, item: &str) -> String {
        let at = self.items.iter().position(|known| known == item).unwrap_or_else(|| {
            self.items.push(item.to_owned());
            self.items.len() - 1
        });
        numbered(at)
    }

    /// A test that expects a verdict, unless the search came to none.
    fn test(&mut self, name: &str, when: &str, (about, verdict): (&str, &str), check: &str) {
        let (variant, is) = match verdict {
            "linearizable" => ("Linearizable", "is_linearizable"),
            "not-linearizable" => ("NotLinearizable", "is_not_linearizable"),
            "modular" => ("Modular", "is_modular"),
            _ => return,
        };
        let name = self.named(name, &format!("{is}{when}"));
        let _ = write!(
            self.tests,
            "\n/// {about}.\n#[test]\nfn {name}() {{\n    {check}\n        .assert_verdict(interloper::Verdict::{variant});\n}}\n"
        );
    }

    /// The name of the test of an operation.
    fn named(&mut self, operation: &str, says: &str) -> String {
        let letters = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
        let words: String = operation.chars().map(letters).collect();
        let first = format!("{}_{says}", words.split_whitespace().collect::<Vec<_>>().join("_"));
        let mut name = first.clone();
        for number in 2.. {
            if self.names.insert(name.clone()) {
                break;
            }
            name = format!("{first}_{number}");
        }
        name
    }

    fn text(self, member: &Member, source: &Path) -> String {
        let Module { limits: Limits { bound, .. }, items, values, tests, packages, .. } = self;
        let source = source.strip_prefix(root_of(member)).unwrap_or(source).display();
        let command = command(packages);
        let items = items.iter().enumerate().map(|(at, item)| item.replace(SUBJECT, &numbered(at)));
        let comment = "/// How the environment finds the collections.";
        let items: String = items.map(|item| format!("\n{comment}\n{}\n", plainer(&item))).collect();
        format!(
            "//! The composed operations of {source}, as `cargo interloper composed --run --write` found them: each test expects the
//! verdict that its operation had then. After an operation was made atomic, expect `Linearizable` of it.
//!
//! `{command}` runs them: they act on the real collections, under control.

#![allow(unused_variables, reason = \"each call is given all arguments, and takes those that it needs\")]

use super::*;

fn limits(settings: &mut interloper::Settings) {{
    // The most operations of the environment in one execution.
    settings.bound = {bound};
}}
{values}{items}{tests}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_from_the_folder_of_another() {
        let from = |source: &str, file: &str| from_folder_of(Path::new(source), Path::new(file));
        assert_eq!(from("/a/src/lib.rs", "/a/tests/composed/lib.rs"), "../tests/composed/lib.rs");
        assert_eq!(from("/a/src/b/c.rs", "/a/tests/composed/b_c.rs"), "../../tests/composed/b_c.rs");
        assert_eq!(from("/a/src/lib.rs", "/a/src/composed/lib.rs"), "composed/lib.rs");
    }

    #[test]
    fn a_name_is_not_part_of_a_longer_one() {
        assert_eq!(renamed("&Subject7, Subject77(Subject7)", "Subject7", "Subject"), "&Subject, Subject77(Subject)");
    }
}
