//! Atomic forms of operations that are not atomic: each is compiled beside the operation, compared with what the operation does alone,
//! and run against the same adversary. What passes is a patch.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use interloper::operations;
use interloper::report::{plain, sarif};
use interloper_adopt::{Options, Refusal, Task};
use interloper_composed::fixes::{self, Fix, Replacement};
use interloper_composed::{Declared, Found, Operation, Recipe};
use serde::{Deserialize, Serialize};

use super::Limits;
use super::harness::{self, MODULE, Tests, indented};
use super::running::{BUILDS, Ended, Outcome, Target, lines, outcome, test};
use crate::note;

/// What came of the atomic forms of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Fixed {
    /// One is linearizable, and does alone what the operation does.
    Patch {
        /// The form, in words.
        form: String,
        /// The file.
        file: String,
        /// The difference, as `diff -u` writes it.
        patch: String,
        /// The same, by lines and columns.
        replacements: Vec<Replacement>,
        /// How many runs alone gave the same.
        runs: u64,
        /// How many executions there were.
        executions: u64,
    },
    /// All were tried, and none is suggested.
    Refused {
        /// What was tried.
        tried: Vec<Tried>,
    },
    /// One fits the text. Operations on its collection cannot be run, so that it is neither compiled nor run.
    Unchecked {
        /// The form, in words.
        form: String,
        /// The file.
        file: String,
        /// The difference, as `diff -u` writes it.
        patch: String,
        /// The same, by lines and columns.
        replacements: Vec<Replacement>,
    },
    /// No form fits the text.
    None {
        /// The form of the collection in words, which is not checked.
        form: Option<String>,
        /// Why.
        reason: String,
    },
}

/// A form that is not suggested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// The form, in words.
    form: String,
    /// Why not.
    reason: String,
}

impl Fixed {
    /// The lines of a report.
    pub fn text(&self) -> String {
        let mut out = String::new();
        match self {
            Fixed::Patch { form, patch, runs, executions, .. } => {
                let _ = write!(
                    out,
                    "  a patch, with {form}: linearizable in {executions} executions of the same search; alone it does the same in \
                     {runs} runs\n\n{patch}"
                );
            }
            Fixed::Unchecked { form, patch, .. } => {
                let _ = write!(out, "with {form}\n\n{patch}");
            }
            Fixed::Refused { tried } => {
                for Tried { form, reason } in tried {
                    let _ = writeln!(out, "  no patch: {form} was tried, and {}", plain::line(reason));
                }
            }
            Fixed::None { form, reason } => {
                let form =
                    form.as_ref().map_or(String::new(), |form| format!("; unchecked, for this collection: {form}"));
                let _ = writeln!(out, "  no patch: {}{form}", plain::line(reason));
            }
        }
        out
    }

    /// The patch for a code host.
    pub fn sarif(&self) -> Option<sarif::Fix<'_>> {
        let Fixed::Patch { form, file, replacements, .. } = self else { return None };
        let replacements =
            replacements.iter().map(|one| sarif::Replacement { from: one.from, to: one.to, text: &one.text }).collect();
        Some(sarif::Fix { text: format!("Make it one step, with {form}."), file, replacements })
    }
}

/// The forms of operations that were not run, by number: those on collections that the driver does not know.
pub fn unchecked(folder: &Path, found: &Found, outcomes: &[Outcome]) -> BTreeMap<usize, Fixed> {
    let not_run = found.operations.iter().zip(outcomes).enumerate();
    let not_run = not_run.filter(|(_, (_, outcome))| matches!(outcome, Outcome::NotRun(_)));
    let form = |(number, (one, _)): (usize, (&Operation, &Outcome))| {
        let file = &one.place.file;
        let text = fs::read_to_string(folder.join(file)).ok()?;
        let fix = match fixes::unchecked(&text, one)? {
            Ok(fix) => fix,
            Err(reason) => return Some((number, Fixed::None { form: fixes::form(one).map(str::to_owned), reason })),
        };
        let (patch, replacements) = (fixes::diff(file, &text, &fix.edits), fixes::replacements(&text, &fix.edits));
        Some((number, Fixed::Unchecked { form: fix.form, file: file.clone(), patch, replacements }))
    };
    not_run.filter_map(form).collect()
}

/// A form that is tried.
struct Try {
    number: usize,
    recipe: Recipe,
    /// The name of its function.
    own: String,
    fix: Fix,
    item: String,
}

/// Tries the forms of the operations of a crate that are not atomic.
pub fn suggest(
    target: &Target<'_>,
    (folder, options): (&Path, &Options),
    found: &Found,
    (recipes, limits): (&[(usize, Recipe)], Limits),
    outcomes: &mut [Outcome],
) -> Result<(), Refusal> {
    let mut tries: BTreeMap<usize, Try> = BTreeMap::new();
    for (number, recipe) in recipes {
        let operation = &found.operations[*number];
        let Outcome::Judged { verdict, fix, low, .. } = &mut outcomes[*number] else { continue };
        if !matches!(verdict.as_str(), "not-linearizable" | "modular") {
            continue;
        }
        let Ok(text) = fs::read_to_string(&recipe.file) else { continue };
        let recipe = if *low { &recipe.with_low_numbers() } else { recipe };
        let named = |fix: Fix| {
            let name = name(tries.len());
            let item = fixes::item(&text, operation, &fix, &name)?;
            let recipe = Recipe { own: None, ..recipe.clone() };
            let own = operation.name.rsplit("::").next().unwrap_or_default().to_owned();
            tries.insert(tries.len(), Try { number: *number, recipe, own, fix, item });
            Ok(())
        };
        let all = fixes::fixes(&text, operation);
        if let Err(reason) = all.and_then(|all| all.into_iter().try_for_each(named)) {
            *fix = Some(Fixed::None { form: fixes::form(operation).map(str::to_owned), reason });
        }
    }
    let refused = run(target, (folder, options), found, &mut tries, limits, outcomes)?;
    for (number, tried) in refused {
        if let Outcome::Judged { fix: fix @ None, .. } = &mut outcomes[number] {
            *fix = Some(Fixed::Refused { tried });
        }
    }
    Ok(())
}

/// The name of a form beside its operation.
fn name(at: usize) -> String {
    format!("interloper_in_one_step_{at}")
}

/// What is to be said of forms that are not suggested, by operation.
type Refused = BTreeMap<usize, Vec<Tried>>;

/// Builds them together, leaves out those that do not compile, and runs the others.
fn run(
    target: &Target<'_>,
    (folder, options): (&Path, &Options),
    found: &Found,
    tries: &mut BTreeMap<usize, Try>,
    limits: Limits,
    outcomes: &mut [Outcome],
) -> Result<Refused, Refusal> {
    let mut refused = Refused::new();
    let mut refuse = |one: &Try, reason: String| {
        let tried = Tried { form: one.fix.form.clone(), reason };
        refused.entry(one.number).or_default().push(tried);
    };
    for _ in 0..BUILDS {
        if tries.is_empty() {
            break;
        }
        let tests = written(tries, limits, lines);
        let packages = tries.values().flat_map(|one| one.recipe.packages.iter().copied()).collect();
        let controlled = target.control(folder, options, packages, &tests)?;
        let built = match controlled.build(Task::Test) {
            Ok(built) => built,
            Err(Refusal::Build { messages, .. }) => {
                let rejected = tests.rejected(&messages);
                if rejected.is_empty() {
                    let said = messages.first().and_then(|text| text.lines().next()).unwrap_or("it does not build");
                    tries.values().for_each(|one| refuse(one, format!("its crate does not compile with it: {said}")));
                    return Ok(refused);
                }
                for (at, said) in rejected {
                    if let Some(one) = tries.remove(&at) {
                        refuse(&one, format!("it does not compile: {said}"));
                    }
                }
                continue;
            }
            Err(other) => return Err(other),
        };
        let mut ran = 0;
        let mut done = BTreeSet::new();
        for (at, one) in tries.iter().filter(|(at, _)| tests.names.contains_key(at)) {
            if done.contains(&one.number) {
                continue;
            }
            ran += 1;
            let checked = match test(&controlled, &built, &tests.names[at], (limits, None, None))? {
                Ended::Late(reason) => Err(reason),
                Ended::Out { out, how } => judged(&out, &how),
            };
            match checked {
                Ok((runs, executions)) => {
                    done.insert(one.number);
                    let file = &found.operations[one.number].place.file;
                    if let Outcome::Judged { fix, .. } = &mut outcomes[one.number] {
                        *fix = patch(one, file, runs, executions);
                    }
                }
                Err(reason) => refuse(one, reason),
            }
        }
        note(&match ran {
            1 => "1 atomic form ran".to_owned(),
            ran => format!("{ran} atomic forms ran"),
        });
        return Ok(refused);
    }
    for one in tries.values() {
        refuse(one, "others of its crate do not compile".to_owned());
    }
    Ok(refused)
}

fn patch(one: &Try, file: &str, runs: u64, executions: u64) -> Option<Fixed> {
    let text = fs::read_to_string(&one.recipe.file).ok()?;
    Some(Fixed::Patch {
        form: one.fix.form.clone(),
        file: file.to_owned(),
        patch: fixes::diff(file, &text, &one.fix.edits),
        replacements: fixes::replacements(&text, &one.fix.edits),
        runs,
        executions,
    })
}

/// How many runs alone were the same, and in how many executions the form is linearizable; or why it is not suggested.
fn judged(out: &str, how: &str) -> Result<(u64, u64), String> {
    let said = out.split_once(operations::FIX).and_then(|(_, text)| text.split_once(operations::END));
    let Some((said, after)) = said else { return Err(how.to_owned()) };
    let (word, rest) = said.split_once(' ').unwrap_or((said, ""));
    match word {
        "same" => {}
        "differs" => return Err(format!("it does something else when it runs alone: {rest}")),
        "not-shown" => return Err("its results have no form in which they could be compared".to_owned()),
        _ => return Err(format!("it could not be compared with the operation: {rest}")),
    }
    match outcome(after) {
        Some(Outcome::Judged { verdict, executions, .. }) if verdict == "linearizable" => {
            Ok((rest.parse().unwrap_or_default(), executions))
        }
        Some(Outcome::Judged { verdict, .. }) => Err(match verdict.as_str() {
            "not-linearizable" => "it is not linearizable either".to_owned(),
            "modular" => "it is linearizable only where nothing but its own program acts".to_owned(),
            _ => "its search did not end in time: more with --time".to_owned(),
        }),
        Some(Outcome::NotRun(reason)) => Err(reason),
        Some(Outcome::Pairs(_)) | None => Err(how.to_owned()),
    }
}

/// The forms at the ends of their files, and tests that compare each with its operation and judge it.
fn written(tries: &BTreeMap<usize, Try>, limits: Limits, length: impl Fn(&Path) -> usize) -> Tests {
    let declared: BTreeSet<&Declared> = tries.values().flat_map(|one| &one.recipe.data).collect();
    let files = tries.values().map(|one| &one.recipe.file).chain(declared.iter().map(|one| &one.file));
    let files: BTreeSet<&Path> = files.map(PathBuf::as_path).collect();
    let mut tests = Tests::default();
    for file in files {
        let own = || tries.iter().filter(|(_, one)| one.recipe.file == file);
        let mut text = String::new();
        let mut placed = |text: &mut String, at: usize, code: &str| {
            let begin = length(file) + text.lines().count() + 1;
            text.push_str(code);
            tests.lines.push((file.to_owned(), begin..length(file) + text.lines().count() + 1, at));
        };
        for (at, one) in own() {
            placed(&mut text, *at, &format!("#[cfg(all(test, interloper))]\n{}", one.item));
        }
        text.push_str(&harness::head(limits));
        declared.iter().filter(|one| one.file == file).for_each(|one| indented(&mut text, &one.code));
        let mut items = BTreeSet::new();
        for (at, one) in own() {
            if let Some((_, item)) = one.recipe.subject.as_ref().filter(|(ty, _)| items.insert(ty.clone())) {
                indented(&mut text, item);
            }
            let (check, gives) = (&one.recipe.check, one.fix.gives);
            let fixed = renamed(check, &one.own, &name(*at));
            let code = format!(
                "    #[test]\n    fn form_{at}() {{\n        interloper::operations::judge_fix(\n            &{check},\n            &{fixed},\n            \
                 {gives},\n        );\n    }}\n"
            );
            placed(&mut text, *at, &code);
            let module = if one.recipe.module.is_empty() { String::new() } else { format!("{}::", one.recipe.module) };
            tests.names.insert(*at, format!("{module}{MODULE}::form_{at}"));
        }
        text.push_str("}\n");
        tests.appended.insert(file.to_owned(), text);
    }
    tests
}

/// What begins the call of an operation in the code that checks it.
const CALL: &str = "interloper::shown!(";

/// What begins a call beside it there.
const BESIDE: &str = ".beside_call(";

/// The code that checks an operation, with the name of another function in its place, also where it is called beside itself.
fn renamed(check: &str, own: &str, other: &str) -> String {
    let mut parts = check.split(BESIDE);
    let tested = parts.next().map(|tested| renamed_once(tested, own, other));
    let itself = format!("{own:?}, ");
    let beside =
        parts.map(|part| if part.starts_with(&itself) { renamed_once(part, own, other) } else { part.to_owned() });
    tested.into_iter().chain(beside).collect::<Vec<_>>().join(BESIDE)
}

fn renamed_once(check: &str, own: &str, other: &str) -> String {
    let Some((before, call)) = check.split_once(CALL) else { return check.to_owned() };
    let named = format!("{own}(");
    let is_name = |at: &usize| *at == 0 || call[..*at].ends_with(['.', ':']);
    match call.match_indices(&named).map(|(at, _)| at).find(is_name) {
        Some(at) => format!("{before}{CALL}{}{other}{}", &call[..at], &call[at + own.len()..]),
        None => check.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_call_of_the_operation_gets_another_name() {
        let check = |call: &str| {
            format!("MethodUnderTest::new(\"of\", |s: &S, a0: u32| interloper::shown!({call})).beside(s.of(a0))")
        };
        let beside = |call: &str| {
            let tested = format!("MethodUnderTest::new(\"of\", |s: &S, a0: u32| interloper::shown!(s.{call}(a0)))");
            let other = ".beside_call(\"other\", \"()\", |s: &S| interloper::shown!(s.of(8)))";
            format!("{tested}{other}.beside_call(\"of\", \"(8)\", |s: &S| interloper::shown!(s.{call}(8)))")
        };
        assert_eq!(renamed(&beside("of"), "of", "form"), beside("form"));
        for (call, expected) in [
            ("subject.0.of(a0)", "subject.0.form(a0)"),
            ("<Cache<u32>>::of(&subject.0, a0)", "<Cache<u32>>::form(&subject.0, a0)"),
            ("of(subject, half_of(a0))", "form(subject, half_of(a0))"),
            ("subject.half_of(0).of(a0)", "subject.half_of(0).form(a0)"),
        ] {
            assert_eq!(renamed(&check(call), "of", "form"), check(expected));
        }
    }

    #[test]
    fn a_patch_is_text_and_a_fix() {
        let replacements = vec![Replacement { from: (2, 1), to: (2, 4), text: "g()".to_owned() }];
        let patch = Fixed::Patch {
            form: "`entry`".to_owned(),
            file: "src/lib.rs".to_owned(),
            patch: "--- a/src/lib.rs\n".to_owned(),
            replacements,
            runs: 5,
            executions: 7,
        };
        let says = "  a patch, with `entry`: linearizable in 7 executions of the same search; alone it does the same in 5 runs";
        assert_eq!(patch.text(), format!("{says}\n\n--- a/src/lib.rs\n"));
        let fix = patch.sarif().expect("a fix");
        assert_eq!((fix.file, fix.text.as_str()), ("src/lib.rs", "Make it one step, with `entry`."));
        assert_eq!(fix.replacements, [sarif::Replacement { from: (2, 1), to: (2, 4), text: "g()" }]);
        let refused =
            Fixed::Refused { tried: vec![Tried { form: "`entry`".to_owned(), reason: "it failed".to_owned() }] };
        assert_eq!(refused.text(), "  no patch: `entry` was tried, and it failed\n");
        let none = Fixed::None { form: Some("`entry`".to_owned()), reason: "it awaits".to_owned() };
        assert_eq!(none.text(), "  no patch: it awaits; unchecked, for this collection: `entry`\n");
        let unchecked = Fixed::Unchecked {
            form: "`entry`".to_owned(),
            file: "src/lib.rs".to_owned(),
            patch: "--- a/src/lib.rs\n".to_owned(),
            replacements: vec![Replacement { from: (2, 1), to: (2, 4), text: "g()".to_owned() }],
        };
        assert_eq!(unchecked.text(), "with `entry`\n\n--- a/src/lib.rs\n");
        // A code host applies nothing that was not checked.
        assert!(refused.sarif().is_none() && none.sarif().is_none() && unchecked.sarif().is_none());
        for one in [patch, refused, none, unchecked] {
            let text = serde_json::to_string(&one).expect("plain data");
            assert_eq!(serde_json::from_str::<Fixed>(&text).expect("what was written"), one);
        }
    }

    #[test]
    fn what_a_form_printed_is_judged() {
        let (fix, begin, end) = (operations::FIX, operations::BEGIN, operations::END);
        let judged = |text: &str| judged(text, "it says nothing");
        let printed = |said: &str, verdict: &str| format!("\n{fix}{said}{end}\n\n{begin}{verdict} 7\nreport\n{end}\n");
        assert_eq!(judged(&printed("same 12", "linearizable")), Ok((12, 7)));
        for (said, verdict, expected) in [
            ("same 12", "not-linearizable", "it is not linearizable either"),
            ("same 12", "modular", "it is linearizable only where nothing but its own program acts"),
            ("same 12", "unfinished", "its search did not end in time: more with --time"),
            (
                "differs f(7) from {}: 1 instead of 2",
                "linearizable",
                "it does something else when it runs alone: f(7) from {}: 1 instead of 2",
            ),
            ("not-shown", "linearizable", "its results have no form in which they could be compared"),
            (
                "misuse the time is over",
                "linearizable",
                "it could not be compared with the operation: the time is over",
            ),
        ] {
            assert_eq!(judged(&printed(said, verdict)), Err(expected.to_owned()));
        }
        assert_eq!(judged("running 1 test"), Err("it says nothing".to_owned()));
        assert_eq!(
            judged(&format!("\n{fix}same 12{end}\n")),
            Err("it says nothing".to_owned()),
            "it stopped in the search"
        );
    }
}
