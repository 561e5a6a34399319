//! What is written into the copies where each test of the user's is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

use super::work::Work;
use super::{Copied, rust_files};
use crate::edits::manifest::{self, Changes};
use crate::edits::{EVERY_TEST_CRATE, MIRROR_CRATE, source};
use crate::place::Place;
use crate::project::{Package, Role};
use crate::reading;
use crate::refusal::Refusal;
use crate::text;

/// The attribute of std, as procedural macros that make a test of a function, such as `#[tokio::test]`, name it behind `core::` or `std::`.
const OF_STD: &str = "::prelude::v1::test";

impl Work<'_> {
    /// Puts one's own crates under control as dependencies are, and makes each `#[test]` of theirs a check.
    pub(super) fn every_test(&mut self) -> Result<(), Refusal> {
        let project = self.project;
        if project.options.harness.as_ref().is_none_or(|harness| !harness.every_test) {
            return Ok(());
        }
        for index in project.indices(|package| package.role == Role::Own) {
            let package = &project.packages[index];
            let (roots, modules) = self.roots_apart(package);
            let edits = self.change(index, &roots)?;
            for root in &roots {
                let checked = source::check_every_test(&self.text(root)?).map_err(|bad| {
                    let file = root.strip_prefix(&package.folder).unwrap_or(root).to_owned();
                    Refusal::NoRust {
                        package: package.label(),
                        place: Place { file, line: bad.line },
                        reason: bad.reason,
                    }
                })?;
                self.changed.extend(checked.map(|edited| (root.to_path_buf(), edited.source)));
            }
            self.names_of_std(package, &roots)?;
            let of_module = |root: &Path| {
                let file = root.strip_prefix(&package.folder).unwrap_or(root).display();
                format!(
                    "{}: the tests of {file} are not checked, since the file is a module of another test, too",
                    package.label()
                )
            };
            // What is not Rust is refused where it is changed.
            let texts = modules.into_iter().map(|root| Ok((root, self.text(root)?)));
            let texts = texts.collect::<Result<Vec<_>, Refusal>>()?;
            let with_tests = texts.iter().filter(|(_, text)| text::tokens(text).map_or(true, may_have_tests));
            self.unseen.extend(with_tests.map(|(root, _)| of_module(root)));
            // A manifest that is not read here is refused where it is changed.
            let manifest = self.text(&package.folder.join("Cargo.toml"))?;
            let own_main = manifest::without_harness(&manifest).unwrap_or_default();
            self.unseen.extend(own_main.into_iter().map(|target| {
                format!(
                    "{}: {target} runs without checks, since its own `main` calls its tests (`harness = false`)",
                    package.label()
                )
            }));
            self.copies.push(Copied { package: index, named: false, changed: false, edits });
        }
        // What a procedural macro writes may stand in a crate below it, as that of test-case does.
        let macros = project.indices(|package| package.is_macro && package.role != Role::Interloper);
        project.reach(macros, |_| false).into_iter().try_for_each(|index| self.test_macro(index))
    }

    /// The roots of a package, and apart from them those that are modules of others: the line with `#[macro_use]` can only be at a root.
    fn roots_apart<'p>(&self, package: &'p Package) -> (Vec<&'p Path>, Vec<&'p Path>) {
        let with_tests = self.project.with_tests(package);
        let files = |root: &PathBuf| {
            // What cannot be read is refused where it is changed.
            let read = reading::read(&package.folder, root, &with_tests).map(|reading| reading.files);
            BTreeSet::from_iter(read.unwrap_or_default())
        };
        let of_roots: BTreeMap<&PathBuf, BTreeSet<PathBuf>> =
            package.roots.iter().map(|root| (root, files(root))).collect();
        let is_module = |root: &PathBuf| of_roots.iter().any(|(other, files)| *other != root && files.contains(root));
        let (modules, roots): (Vec<&PathBuf>, Vec<&PathBuf>) = package.roots.iter().partition(|root| is_module(root));
        (roots.into_iter().map(PathBuf::as_path).collect(), modules.into_iter().map(PathBuf::as_path).collect())
    }

    /// Makes the attribute ours where one's own crate names it by its path, or imports it with a prelude of core: such an import comes before
    /// what `#[macro_use]` imports. The preludes of the mirror, which stand in the place of those of std, do not have it.
    fn names_of_std(&mut self, package: &Package, roots: &[&Path]) -> Result<(), Refusal> {
        let mut files: BTreeSet<PathBuf> = roots.iter().map(|root| root.to_path_buf()).collect();
        for folder in roots.iter().filter_map(|root| root.parent()).filter(|folder| *folder != package.folder) {
            rust_files(folder, &mut files)?;
        }
        // What a procedural macro of one's own writes.
        let of_macro = package.folder.join("src");
        if package.is_macro && of_macro.is_dir() {
            rust_files(&of_macro, &mut files)?;
        }
        for file in files {
            let text = self.text(&file)?;
            self.starts_examples |= starts_examples(&text);
            let named = named(&text);
            let changed = imported(named.as_deref().unwrap_or(&text)).or(named);
            self.changed.extend(changed.map(|text| (file, text)));
        }
        Ok(())
    }

    /// Makes a procedural macro that writes std's attribute by its path write ours. One that writes `#[test]` means what the crate means
    /// in which it is used.
    fn test_macro(&mut self, index: usize) -> Result<(), Refusal> {
        let package = &self.project.packages[index];
        if package.source.is_none() || package.role == Role::Interloper {
            return Ok(());
        }
        let mut files = BTreeSet::new();
        let folder = package.folder.join("src");
        if folder.is_dir() {
            rust_files(&folder, &mut files)?;
        }
        let mut edits = Vec::new();
        for file in files {
            if let Some(text) = named(&self.text(&file)?) {
                let shown = file.strip_prefix(&package.folder).unwrap_or(&file).display();
                edits.push(format!("{}: the tests that {shown} makes are checked", package.label()));
                self.changed.insert(file, text);
            }
        }
        if edits.is_empty() {
            return Ok(());
        }
        match self.copies.iter_mut().find(|copy| copy.package == index) {
            Some(copy) => copy.edits.extend(edits),
            None => {
                self.manifest(package, Changes { mirror: false, cap_lints: true })?;
                self.copies.push(Copied { package: index, named: false, changed: false, edits });
            }
        }
        Ok(())
    }
}

/// Whether a file may have tests: an attribute that names one, or something that may bring some, a macro in the place of an item or a
/// module in another file. Most files that other tests share have none.
fn may_have_tests(tokens: impl IntoIterator<Item = TokenTree>) -> bool {
    let mut before = [None, None];
    for token in tokens {
        let is_ident = |token: &Option<TokenTree>| matches!(token, Some(TokenTree::Ident(_)));
        let is = |token: &Option<TokenTree>, text: &str| token.as_ref().is_some_and(|token| token.to_string() == text);
        let has = match (&before, &token) {
            ([_, Some(TokenTree::Punct(mark))], TokenTree::Group(group)) if mark.as_char() == '#' => {
                names_a_test(group.stream())
            }
            ([named, mark], TokenTree::Group(attribute)) if is(mark, "!") => {
                if is(named, "#") {
                    names_a_test(attribute.stream())
                } else {
                    is_ident(named)
                }
            }
            ([keyword, _], TokenTree::Group(module)) if is(keyword, "mod") => may_have_tests(module.stream()),
            ([keyword, _], TokenTree::Punct(end)) => is(keyword, "mod") && end.as_char() == ';',
            // `macro_rules! name { … }` makes nothing by itself.
            _ => false,
        };
        if has {
            return true;
        }
        let [_, last] = before;
        before = [last, Some(token)];
    }
    false
}

fn names_a_test(attribute: TokenStream) -> bool {
    // A comment for the documentation is an attribute, too.
    let is_comment = attribute.clone().into_iter().next().is_some_and(|name| name.to_string() == "doc");
    !is_comment
        && attribute.into_iter().any(|token| match token {
            TokenTree::Group(group) => names_a_test(group.stream()),
            token => token.to_string().contains("test"),
        })
}

/// Whether a text seems to look for a built example, as `.join("examples")` does.
fn starts_examples(text: &str) -> bool {
    let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.any(|line| line.contains("\"examples") || (line.contains('"') && line.contains("/examples")))
}

/// The text with our attribute where it has the path of std's, if it has that anywhere.
fn named(text: &str) -> Option<String> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut changed = String::new();
    let mut copied = 0;
    for (at, _) in text.match_indices(OF_STD) {
        let (before, after) = (&text[copied..at], &text[at + OF_STD.len()..]);
        // Not `test_case`, which std has, too.
        let before = ["core", "std", MIRROR_CRATE].iter().find_map(|name| before.strip_suffix(name));
        let Some(before) = before.filter(|_| !after.starts_with(is_word)) else { continue };
        let before = before.strip_suffix("::").unwrap_or(before);
        if before.ends_with(is_word) {
            continue;
        }
        changed.extend([before, "::", EVERY_TEST_CRATE, "::test"]);
        copied = at + OF_STD.len();
    }
    (copied > 0).then(|| changed + &text[copied..])
}

/// The text with imports from the preludes of the mirror in the place of those of core, if it has any. The attribute is not among what
/// they bring.
fn imported(text: &str) -> Option<String> {
    let mut changed = String::new();
    let mut copied = 0;
    for (at, _) in text.match_indices("::prelude::") {
        let begin = text[..at].rfind([';', '{', '}', ']', '\n']).map_or(0, |end| end + 1);
        if let [.., "use", path] = &text[begin..at].split_whitespace().collect::<Vec<_>>()[..]
            && path.trim_start_matches("::") == "core"
        {
            changed.extend([&text[copied..at - path.len()], "::", MIRROR_CRATE]);
            copied = at;
        }
    }
    (copied > 0).then(|| changed + &text[copied..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attribute_of_std_is_named_by_its_path() {
        for path in ["::core::prelude::v1::test", "core::prelude::v1::test", "::std::prelude::v1::test"] {
            let text = format!("quote! {{ #[{path}] }}, #[{path}]");
            let ours = "quote! { #[::interloper_every_test::test] }, #[::interloper_every_test::test]";
            assert_eq!(named(&text).as_deref(), Some(ours));
        }
        for path in ["::core::prelude::v1::test_case", "my_core::prelude::v1::test", "prelude::v1::test"] {
            assert_eq!(named(path), None);
        }
    }

    #[test]
    fn a_file_that_other_tests_share_mostly_has_no_tests() {
        let may = |text: &str| may_have_tests(text::tokens(text).expect("Rust"));
        for text in [
            "#[test]\nfn f() {}",
            "#[tokio::test(flavor = \"current_thread\")]\nasync fn f() {}",
            "mod inner { #[cfg(test)] mod tests { #[test] fn f() {} } }",
            "pub mod other;",
            "proptest! { fn f(x in 0..3) {} }",
            "cases!(1, 2);",
            "#![cfg(feature = \"for-tests\")]",
        ] {
            assert!(may(text), "{text}");
        }
        for text in [
            "",
            "#![allow(dead_code)]\n//! For tests.\nuse std::fmt;\npub fn test() { let it = vec![1]; assert!(it[0] == 1); }",
            "#[derive(Debug)]\npub struct Test;\nimpl !Send for Test {}\nfn never() -> ! { loop {} }",
            "#[macro_export]\nmacro_rules! debug { ($($x:tt)*) => { #[test] fn f() {} } }",
            "mod inner { pub fn f() {} }",
        ] {
            assert!(!may(text), "{text}");
        }
    }

    #[test]
    fn a_text_that_looks_for_an_example_is_seen() {
        for text in
            ["exe.push(\"examples\");", "    Command::new(\"target/debug/examples/a\")", "root.join(\"examples/a\")"]
        {
            assert!(starts_examples(text), "{text}");
        }
        for text in ["/// See \"examples/a.rs\".", "let examples = 2;", "let half = number/examples;"] {
            assert!(!starts_examples(text), "{text}");
        }
    }

    #[test]
    fn a_prelude_of_core_gives_way_to_that_of_the_mirror() {
        assert_eq!(
            imported("mod tests { use core::prelude::v1::*; }\n    pub use ::core::prelude::rust_2021::*;\n")
                .expect("two"),
            "mod tests { use ::interloper_std::prelude::v1::*; }\n    pub use ::interloper_std::prelude::rust_2021::*;\n"
        );
        for other in ["use crate::prelude::v1::*;", "use std::prelude::v1::*;", "let a = core::prelude::v1::Some(1);"] {
            assert_eq!(imported(other), None);
        }
    }
}
