//! The tests that run operations, as text at the ends of files.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use interloper_composed::{Declared, Recipe, Together};
use interloper_report::explorer::ADDED;

use super::Limits;
use super::pairs::{self, Lines};

/// The name of the module with the tests.
pub const MODULE: &str = "interloper_composed_operations";

/// The tests of a crate.
#[derive(Default)]
pub struct Tests {
    /// What follows the text of each file.
    pub appended: BTreeMap<PathBuf, String>,
    /// The lines of each operation, in the files with what follows.
    pub(super) lines: Vec<(PathBuf, Range<usize>, usize)>,
    /// The lines that say how values of a type are made, with the operations and the types that need them.
    pub(super) declared: Vec<(PathBuf, Range<usize>, Vec<usize>)>,
    /// The lines of the methods of each type.
    pub(super) types: Vec<Lines>,
    /// The name of the test of each operation and type.
    pub names: BTreeMap<usize, String>,
}

/// Writes a test for each operation and each type, by its number. `length` says how many lines a file has.
pub fn tests(
    recipes: &[(usize, Recipe)],
    types: &[(usize, Together)],
    limits: Limits,
    length: impl Fn(&Path) -> usize,
) -> Tests {
    let data = recipes.iter().map(|(number, recipe)| (*number, &recipe.data));
    let mut declared: BTreeMap<&Declared, Vec<usize>> = BTreeMap::new();
    for (number, all) in data.chain(types.iter().map(|(number, one)| (*number, &one.data))) {
        all.iter().for_each(|one| declared.entry(one).or_default().push(number));
    }
    let files = recipes.iter().map(|(_, recipe)| &recipe.file).chain(types.iter().map(|(_, one)| &one.file));
    let files: BTreeSet<&Path> = files.chain(declared.keys().map(|one| &one.file)).map(PathBuf::as_path).collect();
    let mut tests = Tests::default();
    for file in files {
        let mut text = head(limits);
        for (one, users) in declared.iter().filter(|(one, _)| one.file == file) {
            let begin = length(file) + text.lines().count() + 1;
            indented(&mut text, &one.code);
            let end = length(file) + text.lines().count() + 1;
            tests.declared.push((file.to_owned(), begin..end, users.clone()));
        }
        let mut items = BTreeSet::new();
        for (number, recipe) in recipes.iter().filter(|(_, recipe)| recipe.file == file) {
            let begin = length(file) + text.lines().count() + 1;
            if let Some((ty, item)) = &recipe.subject
                && items.insert(ty.clone())
            {
                indented(&mut text, item);
            }
            let body = body(recipe);
            text.push_str(&format!("    #[test]\n    fn operation_{number}() {{\n{body}    }}\n"));
            let end = length(file) + text.lines().count() + 1;
            tests.lines.push((file.to_owned(), begin..end, *number));
            tests.names.insert(*number, named(&recipe.module, &format!("operation_{number}")));
        }
        for (number, one) in types.iter().filter(|(_, one)| one.file == file) {
            tests.types.push(pairs::write(&mut text, length(file), (*number, one), &mut items));
            tests.names.insert(*number, named(&one.module, &format!("pairs_{number}")));
        }
        text.push_str("}\n");
        tests.appended.insert(file.to_owned(), text);
    }
    tests
}

/// What the test of an operation does.
fn body(recipe: &Recipe) -> String {
    let check = &recipe.check;
    let judged = |own: &str, when: &str| {
        format!("        if {when} {{\n            interloper::operations::judge_own(&{own});\n        }}\n")
    };
    let of = |own: &Option<String>, when: &str| own.as_ref().map_or(String::new(), |own| judged(own, when));
    match &recipe.low {
        None => {
            let own = of(&recipe.own, "violated");
            format!("        let violated = interloper::operations::judge(&{check});\n{own}")
        }
        Some((low, own_low)) => {
            let own = of(&recipe.own, "violated && !is_low") + &of(own_low, "violated && is_low");
            format!("        let (violated, is_low) = interloper::operations::judge_or_low(&{check}, &{low});\n{own}")
        }
    }
}

/// Adds items to the text of a module.
pub(super) fn indented(text: &mut String, items: &str) {
    items.lines().for_each(|line| text.push_str(&format!("    {line}\n")));
}

/// The name of a test of the module in a module.
fn named(module: &str, test: &str) -> String {
    if module.is_empty() { format!("{MODULE}::{test}") } else { format!("{module}::{MODULE}::{test}") }
}

/// The beginning of the module, and what its tests share.
pub(super) fn head(Limits { bound, time, .. }: Limits) -> String {
    format!(
        "{ADDED}
#[cfg(all(test, interloper))]
#[allow(warnings, clippy::all)]
mod {MODULE} {{
    use super::*;
    fn limits(settings: &mut interloper::Settings) {{
        settings.bound = {bound};
        settings.time = std::option::Option::Some(std::time::Duration::from_secs({time}));
    }}
"
    )
}

impl Tests {
    /// The operations whose code the compiler rejects, each with what it says first.
    pub fn rejected(&self, messages: &[String]) -> BTreeMap<usize, String> {
        let mut all = BTreeMap::new();
        for (said, file, line) in messages.iter().flat_map(|message| places(message)) {
            let is_there =
                |(of, lines, _): &&(PathBuf, Range<usize>, usize)| of.ends_with(file) && lines.contains(&line);
            if let Some((_, _, number)) = self.lines.iter().find(is_there) {
                all.entry(*number).or_insert_with(|| said.to_owned());
            }
        }
        all
    }

    /// The operations and the types that need values whose making the compiler rejects, each with what it says first.
    pub fn undeclared(&self, messages: &[String]) -> BTreeMap<usize, String> {
        let mut all = BTreeMap::new();
        for (said, file, line) in messages.iter().flat_map(|message| places(message)) {
            let is_there =
                |(of, lines, _): &&(PathBuf, Range<usize>, Vec<usize>)| of.ends_with(file) && lines.contains(&line);
            for (_, _, users) in self.declared.iter().filter(is_there) {
                for user in users {
                    all.entry(*user).or_insert_with(|| said.to_owned());
                }
            }
        }
        all
    }

    /// The methods of types whose calls the compiler rejects, each with what it says first.
    pub fn rejected_methods(&self, messages: &[String]) -> BTreeMap<usize, BTreeMap<String, String>> {
        let mut all: BTreeMap<usize, BTreeMap<String, String>> = BTreeMap::new();
        for (said, file, line) in messages.iter().flat_map(|message| places(message)) {
            let met = self.types.iter().find_map(|lines| Some((lines.number, lines.method(file, line)?)));
            if let Some((number, name)) = met {
                all.entry(number).or_default().entry(name.to_owned()).or_insert_with(|| said.to_owned());
            }
        }
        all
    }
}

/// The places of a message of the compiler: its first line, a file and a line.
fn places(message: &str) -> impl Iterator<Item = (&str, &str, usize)> {
    let said = message.lines().next().unwrap_or_default();
    let places = message.lines().filter_map(|line| line.trim_start().strip_prefix("--> "));
    places.filter_map(place).map(move |(file, line)| (said, file, line))
}

/// `src/lib.rs:12:9`.
fn place(text: &str) -> Option<(&str, usize)> {
    let mut parts = text.trim().rsplitn(3, ':');
    let (_, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some((file.trim_start_matches('/'), line.parse().ok()?))
}
