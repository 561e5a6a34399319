//! Test targets in which no execution can begin: they announce nothing.
//!
//! Each load and store of code that announces calls a function. In a test without a check the calls are for nothing, and much of the
//! code of a test target is generic code of libraries. A target is *quiet* if it cannot begin an execution, by a rule that looks at
//! sources and manifests alone. Whoever begins an execution names a crate of interloper: all their names begin with `interloper`. So
//! a target of a package is quiet if
//!
//! 1. no file that it may consist of, and no file of the package's library, contains the word `interloper`, but for the lines that
//!    `cargo interloper init` puts at roots: these bring in the mirror of std, which runs no execution by itself. Nor does the build
//!    script contain the word, or the manifest rename interloper;
//! 2. these are all of its files: none has `#[path]`, `include!` or the like;
//! 3. no crate that the package is made of can begin an execution for it, by a function or by a macro: none but interloper's own
//!    depends on interloper, and none that is a folder or comes from a repository contains the word.
//!
//! In doubt a target is not quiet. The rule does not see a macro of a registry's crate that writes the name of interloper, or takes in
//! other files. So a quiet target is marked, by a symbol that is linked to it, and there the engine refuses to watch an execution: see
//! `interloper_std::plain::is_quiet`.
//!
//! Cargo compiles a target again when its files change, not when a decision changes. A decision is a variable of the environment,
//! and the wrapper adds to what the compiler writes for cargo that the target depends on this variable.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use cargo_metadata::Dependency;
use proc_macro2::{Delimiter, TokenTree};

use crate::control::Controlled;
use crate::edits::root;
use crate::project::{Package, Role};
use crate::text;

/// The word that is in the names of all crates of interloper.
const WORD: &str = "interloper";
/// How the variables begin by which the wrapper and cargo know of the decisions.
const VARIABLES: &str = "INTERLOPER_QUIET_";
/// Folders in folders, from where on they are taken for a circle of links.
const DEEPEST: usize = 32;

/// Which test targets are quiet.
#[derive(Debug, Default)]
pub(crate) struct Decisions(BTreeMap<String, bool>);

impl Decisions {
    /// Tells cargo, and with it the wrapper.
    pub(super) fn tell(&self, command: &mut Command) {
        for (variable, is_quiet) in &self.0 {
            // The variables of a command that runs this one are not meant.
            if *is_quiet {
                command.env(variable, "1")
            } else {
                command.env_remove(variable)
            };
        }
    }
}

/// The variable that is set if the target with this first file is quiet.
pub(super) fn variable(root: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    root.hash(&mut hasher);
    format!("{VARIABLES}{:016X}", hasher.finish())
}

/// What says to cargo that a target depends on this variable as it is now: the form in which the compiler notes `env!`.
pub(super) fn line(variable: &str) -> String {
    match std::env::var(variable) {
        Ok(value) => format!("\n# env-dep:{variable}={value}\n"),
        Err(_) => format!("\n# env-dep:{variable}\n"),
    }
}

impl Controlled {
    /// Decides about the test targets of the user's own packages.
    pub(crate) fn quiet_targets(&self) -> Decisions {
        let packages = &self.project.packages;
        let mut roots: BTreeMap<&Path, bool> = BTreeMap::new();
        for (index, package) in packages.iter().enumerate().filter(|(_, package)| package.role == Role::Own) {
            // A harness is text that the files of the user do not have.
            let may_begin = self.project.options.harness.is_some() || package_may_begin(packages, index);
            for root in &package.roots {
                let is_quiet = !may_begin && names_nothing(&package.folder, package.library(), root);
                // Two packages may share a file.
                *roots.entry(root).or_insert(true) &= is_quiet;
            }
        }
        // The compiler is given the file from cargo's folder on, as the system names that one, or as cargo was given the manifest.
        let given = self.tree.base().to_owned();
        let real = given.canonicalize().unwrap_or_else(|_| given.clone());
        let forms = |root: &Path| {
            let path = self.tree.of(root);
            let rest = path.strip_prefix(&given).unwrap_or(&path);
            [variable(&real.join(rest)), variable(&path)]
        };
        let decided = roots.into_iter().flat_map(|(root, is_quiet)| forms(root).map(|name| (name, is_quiet)));
        Decisions(decided.collect())
    }
}

/// Whether a dependency may be a part of interloper, or bring one in, without saying so by its name.
pub(crate) fn hides_interloper(dependency: &Dependency) -> bool {
    let is_ours = is_named_ours(&dependency.name);
    let is_renamed = dependency.rename.as_ref().is_some_and(|name| !name.contains(WORD));
    // Cargo leaves out a dependency under `cfg(interloper)` when it lists the packages of the project, since the cfg is not set then.
    let is_for_us = dependency.target.as_ref().is_some_and(|target| target.to_string().contains(WORD));
    if is_ours { is_renamed } else { is_for_us }
}

fn is_named_ours(package: &str) -> bool {
    package.starts_with(WORD)
}

/// Whether the manifest of a package, its build script, or a crate that it is made of leaves in doubt that its targets begin only
/// the executions that their files name.
fn package_may_begin(packages: &[Package], index: usize) -> bool {
    let package = &packages[index];
    let script = package.folder.join("build.rs");
    let is_named_by_script = script.exists() && !lacks_word(&script);
    let mut reached = BTreeSet::from([index]);
    let mut open = vec![index];
    while let Some(from) = open.pop() {
        let edges = packages[from].edges.iter().map(|edge| edge.to);
        // What is below interloper itself was not made for it.
        let edges = edges.filter(|&to| !(packages[to].role == Role::Interloper && is_named_ours(&packages[to].name)));
        open.extend(edges.filter(|&to| reached.insert(to)));
    }
    reached.remove(&index);
    package.hides_interloper
        || is_named_by_script
        || reached.iter().any(|&other| dependency_may_begin(&packages[other]))
}

/// Whether a crate that is not interloper's own can begin an execution for who uses it.
fn dependency_may_begin(package: &Package) -> bool {
    if package.role == Role::Interloper || package.hides_interloper {
        return true;
    }
    if package.declares.iter().any(|name| is_named_ours(name)) {
        return true;
    }
    let is_published = package.source.as_ref().is_some_and(|source| !source.starts_with("git+"));
    !is_published
        && shared(&package.folder, package.library()).is_none_or(|files| !files.iter().all(|file| lacks_word(file)))
}

/// Whether all files that the target with this first file may consist of are known, and none of them names interloper.
fn names_nothing(folder: &Path, library: Option<&Path>, root: &Path) -> bool {
    sources(folder, library, root).is_some_and(|files| files.iter().all(|file| is_plain(file)))
}

/// The files that a target of the package in `folder` may consist of, and those of its library. `None` if they are not known.
fn sources(folder: &Path, library: Option<&Path>, root: &Path) -> Option<BTreeSet<PathBuf>> {
    let mut files = shared(folder, library)?;
    let own = own_folder(folder, root)?;
    if files.insert(root.to_owned()) {
        let modules = modules(&text::tokens(&fs::read_to_string(root).ok()?).ok()?);
        // A module beside the first file has its own modules in a folder of its name.
        let is_module = |file: &Path| {
            let name = file.file_stem().and_then(OsStr::to_str);
            modules.as_ref().is_none_or(|modules| name.is_some_and(|name| modules.contains(name)))
        };
        for entry in entries(own)? {
            if entry.is_dir() {
                rust_files(&entry, 0, &mut files)?;
            } else if is_rust(&entry) && is_module(&entry) {
                files.insert(entry);
            }
        }
    }
    Some(files)
}

/// The files below `src` and around the first file of the library.
fn shared(folder: &Path, library: Option<&Path>) -> Option<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    let usual = folder.join("src");
    if usual.is_dir() {
        rust_files(&usual, 0, &mut files)?;
    }
    if let Some(library) = library.filter(|library| !library.starts_with(&usual)) {
        rust_files(own_folder(folder, library)?, 0, &mut files)?;
    }
    Some(files)
}

/// The folder of a first file, unless that of the package has other things in it, or the file is outside.
fn own_folder<'a>(folder: &Path, root: &'a Path) -> Option<&'a Path> {
    let own = root.parent()?;
    let is_direct = root.components().all(|component| component != Component::ParentDir);
    (is_direct && own != folder && own.starts_with(folder)).then_some(own)
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

fn entries(folder: &Path) -> Option<Vec<PathBuf>> {
    fs::read_dir(folder).ok()?.map(|entry| Some(entry.ok()?.path())).collect()
}

/// The Rust files below a folder. `None` if a folder cannot be read, or is too deep.
fn rust_files(folder: &Path, depth: usize, files: &mut BTreeSet<PathBuf>) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    for entry in entries(folder)? {
        if entry.is_dir() {
            rust_files(&entry, depth + 1, files)?;
        } else if is_rust(&entry) {
            files.insert(entry);
        }
    }
    Some(())
}

/// Whether a file can be read and does not name interloper.
fn lacks_word(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| !root::without_lines(&text).contains(WORD))
}

/// Whether a file does not name interloper, and takes in no text from places that are not known.
fn is_plain(file: &Path) -> bool {
    let tokens = || text::tokens(&fs::read_to_string(file).ok()?).ok();
    lacks_word(file) && tokens().is_some_and(|tokens| !takes_in(&tokens))
}

/// The name of an identifier.
fn name_of(token: &TokenTree) -> Option<String> {
    let TokenTree::Ident(name) = token else { return None };
    let name = name.to_string();
    Some(name.strip_prefix("r#").map(str::to_owned).unwrap_or(name))
}

fn is_mark(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// Whether these tokens may take in the text of other files, but by a module where the language looks for it.
fn takes_in(tokens: &[TokenTree]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => {
            let inner = Vec::from_iter(group.stream());
            let before = if is_mark(at.checked_sub(1).map(|at| &tokens[at]), '!') {
                at.checked_sub(2)
            } else {
                at.checked_sub(1)
            };
            let is_attribute =
                group.delimiter() == Delimiter::Bracket && is_mark(before.map(|before| &tokens[before]), '#');
            (is_attribute && sets_path(&inner)) || takes_in(&inner)
        }
        token => name_of(token).is_some_and(|name| {
            let is_data = ["include_str", "include_bytes"].contains(&name.as_str());
            let is_called = is_mark(tokens.get(at + 1), '!');
            name == "include" || name == "automod" || (name.starts_with("include") && is_called && !is_data)
        }),
    })
}

/// Whether an attribute says where a module is.
fn sets_path(attribute: &[TokenTree]) -> bool {
    attribute.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => sets_path(&Vec::from_iter(group.stream())),
        token => name_of(token).is_some_and(|name| name == "path") && is_mark(attribute.get(at + 1), '='),
    })
}

/// The modules in other files that these tokens declare, by their names. `None` if a name is not written there.
fn modules(tokens: &[TokenTree]) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            found.extend(modules(&Vec::from_iter(group.stream()))?);
        } else if name_of(token).is_some_and(|name| name == "mod") {
            let name = name_of(tokens.get(at + 1)?)?;
            match tokens.get(at + 2) {
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {}
                next if is_mark(next, ';') => _ = found.insert(name),
                _ => return None,
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::{Edge, Features};

    const LINES: &str = "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std as std;\n";

    /// A package with these files.
    fn package(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    /// Whether the target with the file `root` is quiet in a package with these files, the library among them.
    #[track_caller]
    fn check(root: &str, files: &[(&str, &str)], expected: bool) {
        let folder = package(files);
        let at = |name: &str| folder.path().join(name);
        let library = ["src/lib.rs", "lib/lib.rs", "lib.rs"].map(at).into_iter().find(|library| library.is_file());
        assert_eq!(names_nothing(folder.path(), library.as_deref(), &at(root)), expected, "{root} of {files:?}");
    }

    const LIBRARY: (&str, &str) = ("src/lib.rs", "pub fn f() {}\n");
    const CHECK: &str = "#[interloper::test]\nfn f() {}\n";

    #[test]
    fn a_file_that_names_interloper_is_not_quiet() {
        check("tests/a.rs", &[LIBRARY, ("tests/a.rs", "#[test]\nfn f() {}\n")], true);
        check("tests/a.rs", &[LIBRARY, ("tests/a.rs", CHECK)], false);
        check("tests/a.rs", &[LIBRARY, ("tests/a.rs", "// interloper\n")], false);
        check("tests/a.rs", &[LIBRARY, ("tests/a.rs", "use interloper_scheduler as engine;\n")], false);
        check("src/lib.rs", &[LIBRARY], true);
        check("src/lib.rs", &[("src/lib.rs", CHECK)], false);
        // It cannot be read.
        check("tests/a.rs", &[LIBRARY], false);
        check("tests/a.rs", &[LIBRARY, ("tests/a.rs", "fn f( {}\n")], false);
    }

    #[test]
    fn the_lines_of_the_mirror_name_nothing() {
        let lines = |rest: &str| format!("//! About.\n{LINES}\n{rest}");
        check("src/lib.rs", &[("src/lib.rs", &lines(""))], true);
        check("src/lib.rs", &[("src/lib.rs", &lines(CHECK))], false);
        check(
            "src/lib.rs",
            &[("src/lib.rs", "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std;\n")],
            true,
        );
        check("src/lib.rs", &[("src/lib.rs", "#[cfg(not(interloper))]\nextern crate std;\n")], true);
        check("src/lib.rs", &[("src/lib.rs", "#[cfg(interloper)]\nextern crate interloper_std as other;\n")], false);
        check("src/lib.rs", &[("src/lib.rs", "#[cfg(interloper)]\nmod checks;\n")], false);
    }

    #[test]
    fn the_library_and_its_modules_count_for_each_target() {
        let quiet = ("tests/a.rs", "#[test]\nfn f() {}\n");
        check("tests/a.rs", &[quiet, LIBRARY, ("src/in/deep.rs", "")], true);
        check("tests/a.rs", &[quiet, LIBRARY, ("src/in/deep.rs", CHECK)], false);
        check("src/main.rs", &[LIBRARY, ("src/main.rs", "fn main() {}\n")], true);
        check("src/main.rs", &[LIBRARY, ("src/main.rs", "fn main() {}\n"), ("src/bin/b.rs", CHECK)], false);
        check("tests/a.rs", &[quiet, ("lib/lib.rs", ""), ("lib/other.rs", "")], true);
        check("tests/a.rs", &[quiet, ("lib/lib.rs", ""), ("lib/other.rs", CHECK)], false);
        // The files of a library in the package's own folder are not told from others.
        check("tests/a.rs", &[quiet, ("lib.rs", "")], false);
        check("a.rs", &[LIBRARY, ("a.rs", "")], false);
    }

    #[test]
    fn modules_of_a_test_are_in_its_folder() {
        let other = ("tests/other.rs", CHECK);
        check("tests/a.rs", &[LIBRARY, ("tests/a.rs", "mod inner { fn f() {} }\n"), other], true);
        check("tests/a.rs", &[LIBRARY, ("tests/a.rs", "mod other;\n"), other], false);
        check("tests/a.rs", &[LIBRARY, ("tests/a.rs", "mod inner { fn f() { mod other; } }\n"), other], false);
        check("tests/a.rs", &[LIBRARY, ("tests/a.rs", "macro_rules! m { ($a:ident) => { mod $a; } }\n"), other], false);
        check("tests/a.rs", &[LIBRARY, ("tests/a.rs", "mod fine;\n"), ("tests/fine.rs", "")], true);
        // A test file with a check stands beside the target. It counts only if the target may have it as a module.
        let fine = [LIBRARY, ("tests/fine.rs", ""), other];
        check("tests/a.rs", &[&fine[..], &[("tests/a.rs", "mod fine;\n")]].concat(), true);
        check("tests/a.rs", &[&fine[..], &[("tests/a.rs", "mod r#other;\n")]].concat(), false);
        check("tests/a.rs", &[&fine[..], &[("tests/a.rs", "paste::paste! { mod [<o ther>]; }\n")]].concat(), false);
        let deep = [LIBRARY, ("tests/a.rs", "mod fine;\n"), ("tests/fine.rs", "mod deep;\n")];
        check("tests/a.rs", &[&deep[..], &[("tests/fine/deep.rs", "")]].concat(), true);
        check("tests/a.rs", &[&deep[..], &[("tests/fine/deep.rs", CHECK)]].concat(), false);
        check("tests/a.rs", &[LIBRARY, ("tests/a.rs", ""), ("tests/common/mod.rs", CHECK)], false);
        check("tests/a/main.rs", &[LIBRARY, ("tests/a/main.rs", "mod b;\n"), ("tests/a/b.rs", ""), other], true);
        check("tests/a/main.rs", &[LIBRARY, ("tests/a/main.rs", "mod b;\n"), ("tests/a/b.rs", CHECK)], false);
    }

    #[test]
    fn sources_from_elsewhere_leave_a_doubt() {
        let checked = |text: &str, expected| {
            check("tests/a.rs", &[LIBRARY, ("tests/a.rs", text)], expected);
            check("tests/a.rs", &[("src/lib.rs", text), ("tests/a.rs", "")], expected);
        };
        for text in [
            "include!(\"b.in\");",
            "r#include!(\"b.in\");",
            "std::include ! {\"b.in\"}",
            "use std::include as other;",
            "macro_rules! m { () => { include!(\"b.in\"); } }",
            "tonic::include_proto!(\"b\");",
            "automod::dir!(\"tests\");",
            "#[path = \"../b.rs\"]\nmod b;",
            "#[r#path = \"../b.rs\"]\nmod b;",
            "#[cfg_attr(unix, path = \"../b.rs\")]\nmod b;",
            "mod c { #![path = \"../b\"] }",
        ] {
            checked(text, false);
        }
        for text in [
            "const A: &str = include_str!(\"a.rs\");",
            "// include!(\"b.in\")",
            "const A: &str = \"include!\";",
            "fn f(path: &str) { let path = 1; let included = path; }",
            "fn includes() { assert!(true) }",
        ] {
            checked(text, true);
        }
    }

    #[test]
    fn a_file_outside_of_the_package_is_not_known() {
        let folder = package(&[("own/src/lib.rs", ""), ("a.rs", ""), ("own/tests/b.rs", "")]);
        let (own, library) = (folder.path().join("own"), folder.path().join("own/src/lib.rs"));
        let is_quiet = |root: &Path| names_nothing(&own, Some(&library), root);
        assert!(!is_quiet(&folder.path().join("a.rs")) && !is_quiet(&own.join("tests/../tests/b.rs")));
        assert!(is_quiet(&own.join("tests/b.rs")));
    }

    #[test]
    #[cfg(unix)]
    fn a_circle_of_links_leaves_a_doubt() {
        let folder = package(&[("src/lib.rs", ""), ("tests/a.rs", ""), ("tests/b/c.rs", "")]);
        let library = folder.path().join("src/lib.rs");
        let is_quiet = || names_nothing(folder.path(), Some(&library), &folder.path().join("tests/a.rs"));
        assert!(is_quiet());
        std::os::unix::fs::symlink(folder.path().join("tests"), folder.path().join("tests/b/up")).unwrap();
        assert!(!is_quiet());
    }

    /// A package in `folder` with edges to others.
    fn node(folder: &Path, (name, role): (&str, Role), declares: &[&str], edges: &[usize]) -> Package {
        let edge = |to: &usize| Edge {
            to: *to,
            name: String::new(),
            normal: false,
            development: true,
            by_path: true,
            features: Features::default(),
        };
        Package {
            name: name.to_owned(),
            version: "1.0.0".parse().unwrap(),
            source: Some("registry+https://example.org".to_owned()),
            folder: folder.to_owned(),
            roots: Vec::new(),
            crates: BTreeSet::new(),
            has_library: false,
            edition: "2024",
            is_macro: false,
            features: BTreeSet::new(),
            all_features: BTreeSet::new(),
            edges: edges.iter().map(edge).collect(),
            declared: BTreeSet::new(),
            declares: declares.iter().map(|name| (*name).to_owned()).collect(),
            hides_interloper: false,
            role,
            metadata: serde_json::Value::Null,
        }
    }

    #[test]
    fn no_crate_below_may_begin_an_execution() {
        let folder = package(&[]);
        let own = node(folder.path(), ("own", Role::Own), &["interloper"], &[1, 2]);
        let ours = node(folder.path(), ("interloper", Role::Interloper), &["interloper-std"], &[3]);
        let below = node(folder.path(), ("below", Role::BelowInterloper), &["interloper"], &[]);
        let middle = |edges: &[usize]| node(folder.path(), ("middle", Role::Dependency), &["last"], edges);
        let last = |role, declares: &[&str]| node(folder.path(), ("last", role), declares, &[]);
        let may = |middle: Package, last: Package| {
            package_may_begin(&[own.clone(), ours.clone(), middle, below.clone(), last], 0)
        };
        // The edges of the package itself, and what interloper is made of, do not count.
        assert!(!may(middle(&[4]), last(Role::Dependency, &[])));
        assert!(may(middle(&[4]), last(Role::Dependency, &["interloper"])));
        assert!(may(middle(&[4]), last(Role::Macro, &["interloper-std"])));
        assert!(!may(middle(&[]), last(Role::Dependency, &["interloper"])));
        // A crate outside of the workspace that is made with the mirror.
        assert!(may(middle(&[4]), last(Role::Interloper, &[])));
        let hiding = Package { hides_interloper: true, ..last(Role::Dependency, &[]) };
        assert!(may(middle(&[4]), hiding));
        // A circle, as tests of a library by another make one.
        assert!(!may(middle(&[0, 4]), last(Role::Dependency, &[])));
    }

    #[test]
    fn the_package_itself_may_leave_a_doubt() {
        let own = |folder: &Path| node(folder, ("own", Role::Own), &["interloper"], &[]);
        let (plain, script) = (package(&[("build.rs", "fn main() {}")]), package(&[("build.rs", "// interloper")]));
        assert!(!package_may_begin(&[own(plain.path())], 0));
        assert!(package_may_begin(&[own(script.path())], 0));
        assert!(package_may_begin(&[Package { hides_interloper: true, ..own(plain.path()) }], 0));
    }

    #[test]
    fn a_macro_of_a_folder_can_name_interloper_for_others() {
        let (own, plain) = (package(&[]), package(&[("src/lib.rs", LINES)]));
        let naming =
            package(&[("src/lib.rs", "#[macro_export]\nmacro_rules! checked { () => { ::interloper::Checker }; }")]);
        let packages = |folder: &Path, source: Option<&str>| {
            let other = node(folder, ("other", Role::Own), &[], &[]);
            let source = source.map(str::to_owned);
            [node(own.path(), ("own", Role::Own), &[], &[1]), Package { source, ..other }]
        };
        for source in [None, Some("git+https://example.org/a.git#0123")] {
            assert!(!package_may_begin(&packages(plain.path(), source), 0));
            assert!(package_may_begin(&packages(naming.path(), source), 0));
        }
        // See the limits of the rule.
        assert!(!package_may_begin(&packages(naming.path(), Some("registry+https://example.org")), 0));
    }

    #[test]
    fn a_renamed_interloper_is_noticed() {
        let dependency = |name: &str, rename: serde_json::Value, target: serde_json::Value| -> Dependency {
            serde_json::from_value(serde_json::json!({
                "name": name, "source": null, "req": "*", "kind": "dev", "rename": rename, "optional": false,
                "uses_default_features": true, "features": [], "target": target, "registry": null,
            }))
            .unwrap()
        };
        let null = || serde_json::Value::Null;
        assert!(!hides_interloper(&dependency("interloper", null(), null())));
        assert!(!hides_interloper(&dependency("interloper", null(), "cfg(interloper)".into())));
        assert!(!hides_interloper(&dependency("interloper-std", "interloper_other".into(), null())));
        assert!(hides_interloper(&dependency("interloper", "checks".into(), null())));
        assert!(!hides_interloper(&dependency("libc", "checks".into(), "cfg(unix)".into())));
        assert!(hides_interloper(&dependency("helpers", null(), "cfg(interloper)".into())));
    }

    #[test]
    fn cargo_hears_of_the_decision_as_of_a_variable() {
        let name = variable(Path::new("/a/tests/b.rs"));
        assert_eq!(line(&name), format!("\n# env-dep:{name}\n"));
        assert_eq!(name, variable(Path::new("/a/tests/b.rs")));
        assert_ne!(name, variable(Path::new("/a/tests/c.rs")));
        let (set, unset) = (format!("{name}_SET"), format!("{name}_UNSET"));
        let mut command = Command::new("cargo");
        command.env(&unset, "1");
        Decisions(BTreeMap::from([(set.clone(), true), (unset.clone(), false)])).tell(&mut command);
        let told: BTreeMap<_, _> = command.get_envs().collect();
        assert_eq!(told[std::ffi::OsStr::new(&set)], Some("1".as_ref()));
        assert_eq!(told[std::ffi::OsStr::new(&unset)], None);
    }
}
