//! From the root of a crate through its modules.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::condition::{self, Configuration, Truth};
use super::evidence::{self, Kind};
use super::marks::{self, Mark};
use super::{Found, Reading, Unreadable};
use crate::place::Place;
use crate::text;

pub(crate) fn read(folder: &Path, root: &Path, configuration: &Configuration) -> Result<Reading, Unreadable> {
    let mut walk = Walk { folder, configuration, reading: Reading::default(), seen: BTreeSet::new() };
    let children = root.parent().unwrap_or(folder).to_owned();
    walk.file(root, &children, Truth::True)?;
    Ok(Reading { files: walk.seen, ..walk.reading })
}

struct Walk<'a> {
    folder: &'a Path,
    configuration: &'a Configuration,
    reading: Reading,
    seen: BTreeSet<PathBuf>,
}

/// Where tokens stand.
#[derive(Clone, Copy)]
struct Scope<'a> {
    /// The file.
    file: &'a Path,
    /// The folder in which the files of its modules are.
    children: &'a Path,
    /// Whether it is part of the build: true or unknown.
    active: Truth,
}

/// The attributes in front of something.
struct Attributes {
    active: Truth,
    path: Option<String>,
    mark: Option<Mark>,
}

impl Attributes {
    fn new(active: Truth) -> Attributes {
        Attributes { active, path: None, mark: None }
    }
}

impl Walk<'_> {
    fn file(&mut self, file: &Path, children: &Path, active: Truth) -> Result<(), Unreadable> {
        if !self.seen.insert(file.to_owned()) {
            return Ok(());
        }
        let wrong = |line, reason| Unreadable { place: self.place(file, line), reason };
        let source = fs::read_to_string(file).map_err(|error| wrong(1, error.to_string()))?;
        let tokens = text::tokens(&source).map_err(|bad| wrong(bad.line, bad.reason))?;
        self.tokens(&tokens, Scope { file, children, active })
    }

    fn place(&self, file: &Path, line: usize) -> Place {
        Place { file: file.strip_prefix(self.folder).unwrap_or(file).to_owned(), line }
    }

    fn tokens(&mut self, tokens: &[TokenTree], scope: Scope<'_>) -> Result<(), Unreadable> {
        let mut at = 0;
        while at < tokens.len() {
            let Some(TokenTree::Group(attribute)) = inner_attribute(tokens, at) else { break };
            let mut attributes = Attributes::new(scope.active);
            self.attribute(attribute.stream(), &mut attributes);
            if attributes.active == Truth::False {
                return Ok(());
            }
            at += 3;
        }
        while at < tokens.len() {
            let mut attributes = Attributes::new(scope.active);
            while let Some(attribute) = outer_attribute(tokens, at) {
                self.attribute(attribute.stream(), &mut attributes);
                at += 2;
            }
            if attributes.active == Truth::False {
                at = past(tokens, at);
                continue;
            }
            at = after_visibility(tokens, at);
            if let Some(mark) = attributes.mark.as_ref().filter(|_| attributes.active == Truth::True)
                && let Some((name, line)) = marks::of_function(mark, tokens, at)
            {
                self.reading.marked.push((name, self.place(scope.file, line)));
            }
            at = self.one(tokens, at, &attributes, scope)?;
        }
        Ok(())
    }

    /// Reads what begins at `tokens[at]`, and gives the index after it.
    fn one(
        &mut self,
        tokens: &[TokenTree],
        at: usize,
        attributes: &Attributes,
        scope: Scope<'_>,
    ) -> Result<usize, Unreadable> {
        let Some(token) = tokens.get(at) else { return Ok(at) };
        if attributes.active != scope.active {
            // It is said of one thing, after which the scope goes on as before.
            let end = past(tokens, at).max(at + 1);
            let inner = Scope { active: attributes.active, ..scope };
            let same = Attributes { path: attributes.path.clone(), ..Attributes::new(inner.active) };
            let (thing, mut index) = (&tokens[at..end], 0);
            while index < thing.len() {
                index = self.one(thing, index, &same, inner)?;
            }
            return Ok(end);
        }
        match token {
            TokenTree::Group(group) => {
                self.tokens(&group.stream().into_iter().collect::<Vec<_>>(), scope)?;
                Ok(at + 1)
            }
            TokenTree::Ident(word) if word == "mod" => self.module(tokens, at, attributes, scope),
            TokenTree::Ident(word) if word == "cfg_if" => match &tokens[at + 1..] {
                [TokenTree::Punct(mark), TokenTree::Group(branches), ..] if mark.as_char() == '!' => {
                    self.branches(branches, scope)?;
                    Ok(at + 3)
                }
                _ => Ok(at + 1),
            },
            TokenTree::Ident(word) => {
                self.evidence(tokens, at, scope);
                if let Some(name) = marks::of_call(tokens, at).filter(|_| scope.active == Truth::True) {
                    let place = self.place(scope.file, word.span().start().line);
                    self.reading.marked.push((name, place));
                }
                Ok(at + 1)
            }
            _ => Ok(at + 1),
        }
    }

    fn evidence(&mut self, tokens: &[TokenTree], at: usize, scope: Scope<'_>) {
        for evidence in evidence::at(tokens, at) {
            // What may not be part of the build is no reason to leave a crate behind.
            if evidence.kind != Kind::Synchronises && scope.active != Truth::True {
                continue;
            }
            self.reading.names_core |= evidence.text.starts_with("core::");
            if self.reading.first(evidence.kind).is_none() {
                let place = self.place(scope.file, evidence.span.start().line);
                self.reading.evidence.push(Found { kind: evidence.kind, text: evidence.text, place });
            }
        }
    }

    /// `mod name;` or `mod name { … }`.
    fn module(
        &mut self,
        tokens: &[TokenTree],
        at: usize,
        attributes: &Attributes,
        scope: Scope<'_>,
    ) -> Result<usize, Unreadable> {
        let [TokenTree::Ident(name), next, ..] = &tokens[at + 1..] else { return Ok(at + 1) };
        let name = name.to_string();
        let name = name.trim_start_matches("r#");
        match next {
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
                let children = scope.children.join(attributes.path.as_deref().unwrap_or(name));
                let tokens: Vec<TokenTree> = body.stream().into_iter().collect();
                self.tokens(&tokens, Scope { children: &children, ..scope })?;
            }
            TokenTree::Punct(end) if end.as_char() == ';' => {
                if let Some((file, children)) = locate(name, attributes.path.as_deref(), scope) {
                    self.file(&file, &children, scope.active)?;
                }
            }
            _ => return Ok(at + 1),
        }
        Ok(at + 3)
    }

    /// `cfg_if! { if #[cfg(…)] { … } else if #[cfg(…)] { … } else { … } }`.
    fn branches(&mut self, branches: &Group, scope: Scope<'_>) -> Result<(), Unreadable> {
        let tokens: Vec<TokenTree> = branches.stream().into_iter().collect();
        let mut open = Truth::True;
        let mut at = 0;
        while at < tokens.len() {
            let mut condition = Truth::True;
            while !matches!(&tokens[at], TokenTree::Group(group) if group.delimiter() == Delimiter::Brace) {
                if let Some(attribute) = outer_attribute(&tokens, at) {
                    let mut attributes = Attributes::new(Truth::True);
                    self.attribute(attribute.stream(), &mut attributes);
                    condition = attributes.active;
                    at += 1;
                }
                at += 1;
                if at >= tokens.len() {
                    return Ok(());
                }
            }
            let active = condition::and(condition::and(open, condition), scope.active);
            if let (TokenTree::Group(body), true) = (&tokens[at], active != Truth::False) {
                self.tokens(&body.stream().into_iter().collect::<Vec<_>>(), Scope { active, ..scope })?;
            }
            open = condition::and(open, condition::not(condition));
            at += 1;
        }
        Ok(())
    }

    /// Takes note of `cfg`, `path`, `atomic`, and `cfg_attr` with these.
    fn attribute(&self, attribute: TokenStream, into: &mut Attributes) {
        let tokens: Vec<TokenTree> = attribute.into_iter().collect();
        match &tokens[..] {
            [TokenTree::Ident(name), TokenTree::Group(condition), ..] if name == "cfg" => {
                into.active = condition::and(into.active, self.configuration.truth(condition.stream()));
            }
            [TokenTree::Ident(name), TokenTree::Group(inner), ..] if name == "cfg_attr" => {
                let mut parts = condition::parts(inner.stream()).into_iter();
                let holds = parts.next().is_some_and(|first| self.configuration.truth(first) == Truth::True);
                if holds {
                    parts.for_each(|part| self.attribute(part, into));
                }
            }
            [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(value), ..] if name == "path" => {
                into.path = Some(value.to_string().trim_matches('"').to_owned());
            }
            other => into.mark = marks::of_attribute(other).or(into.mark.take()),
        }
    }
}

fn inner_attribute(tokens: &[TokenTree], at: usize) -> Option<&TokenTree> {
    match &tokens[at..] {
        [TokenTree::Punct(hash), TokenTree::Punct(mark), attribute @ TokenTree::Group(_), ..]
            if hash.as_char() == '#' && mark.as_char() == '!' =>
        {
            Some(attribute)
        }
        _ => None,
    }
}

fn outer_attribute(tokens: &[TokenTree], at: usize) -> Option<&Group> {
    match tokens.get(at..)? {
        [TokenTree::Punct(hash), TokenTree::Group(attribute), ..]
            if hash.as_char() == '#' && attribute.delimiter() == Delimiter::Bracket =>
        {
            Some(attribute)
        }
        _ => None,
    }
}

/// `pub` and `pub(crate)` stand between the attributes and the item.
fn after_visibility(tokens: &[TokenTree], at: usize) -> usize {
    match tokens.get(at..) {
        Some([TokenTree::Ident(word), TokenTree::Group(group), ..])
            if word == "pub" && group.delimiter() == Delimiter::Parenthesis =>
        {
            at + 2
        }
        Some([TokenTree::Ident(word), ..]) if word == "pub" => at + 1,
        _ => at,
    }
}

/// The index after the item, statement, field or arm that begins at `tokens[at]`.
fn past(tokens: &[TokenTree], at: usize) -> usize {
    let item = matches!(tokens.get(at), Some(TokenTree::Ident(word)) if ITEMS.iter().any(|item| word == item));
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return index + 1,
            TokenTree::Punct(end) if end.as_char() == ';' || (end.as_char() == ',' && !item) => return index + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// What an item begins with: a comma does not end it.
const ITEMS: [&str; 17] = [
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "let",
    "macro_rules",
    "mod",
    "pub",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "unsafe",
    "use",
];

/// The file of a module, and the folder in which its own modules are. `None` when it is not there: the compiler says so
/// if that matters.
fn locate(name: &str, path: Option<&str>, scope: Scope<'_>) -> Option<(PathBuf, PathBuf)> {
    if let Some(path) = path {
        // A path is relative to the folder of the file, or to the module that it is inside.
        let beside = scope.file.parent()?.join(path);
        let below = scope.children.join(path);
        let file = [beside, below].into_iter().find(|file| file.is_file())?;
        let children = file.parent()?.to_owned();
        return Some((file, children));
    }
    let children = scope.children.join(name);
    let files = [scope.children.join(format!("{name}.rs")), children.join("mod.rs")];
    let file = files.into_iter().find(|file| file.is_file())?;
    Some((file, children))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes files and reads the crate: evidence and places.
    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        for (name, source) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, source).unwrap();
        }
        let set = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        let configuration = Configuration { target: set(&["unix", "target_os=\"linux\""]), features: set(&["std"]) };
        let reading = read(folder.path(), &folder.path().join("src/lib.rs"), &configuration).unwrap();
        let found = reading.evidence.iter().map(|found| format!("{} at {}", found.text, found.place));
        assert_eq!(found.collect::<Vec<String>>(), expected);
    }

    #[test]
    fn modules_are_followed() {
        check(
            &[
                ("src/lib.rs", "mod a;\npub mod r#b;\n#[path = \"elsewhere.rs\"]\npub(crate) mod c;\nmod gone;\n"),
                ("src/a.rs", "mod inner;"),
                ("src/a/inner.rs", "// nothing\nfn f() { asm!(\"mfence\") }"),
                ("src/b/mod.rs", "mod d { mod e; }"),
                ("src/b/d/e.rs", "\n\nuse std::sync::Mutex;"),
                ("src/elsewhere.rs", "SYS_futex"),
                ("src/stray.rs", "libc::select()"),
            ],
            &["asm at src/a/inner.rs:2", "std::sync::Mutex at src/b/d/e.rs:3", "SYS_futex at src/elsewhere.rs:1"],
        );
    }

    #[test]
    fn what_is_left_out_of_the_build_is_not_read() {
        for left_out in [
            "#[cfg(windows)] use std::sync::Mutex;",
            "#[cfg(windows)] #[inline] pub fn f<A, B>(a: A) -> B { asm!(\"mfence\") } fn g() {}",
            "#[cfg(test)] mod tests { use std::sync::Mutex; }",
            "struct S { #[cfg(windows)] a: std::sync::Mutex<u8>, b: u8 }",
            "fn f() { #[cfg(windows)] std::thread::spawn(f); }",
            "#[cfg(windows)] mod a;",
            "mod a { #![cfg(windows)] use std::sync::Mutex; }",
            "#![cfg(windows)] use std::sync::Mutex;",
            "cfg_if::cfg_if! { if #[cfg(unix)] {} else { use std::sync::Mutex; } }",
            "cfg_if! { if #[cfg(windows)] { asm!(\"mfence\") } else if #[cfg(not(unix))] { asm!(\"mfence\") } }",
            "#[cfg_attr(unix, cfg(windows))] use std::sync::Mutex;",
            "#[cfg(mine)] fn f() { asm!(\"mfence\") }",
        ] {
            check(&[("src/lib.rs", left_out), ("src/a.rs", "use std::sync::Mutex;")], &[]);
        }
    }

    #[test]
    fn what_is_in_the_build_is_read() {
        for kept in [
            "#[cfg(unix)] use std::sync::Mutex;",
            "#[cfg(mine)] use std::sync::Mutex;",
            "#[cfg(not(mine))] use std::sync::Mutex;",
            "#[cfg(windows)] use a::b; use std::sync::Mutex;",
            "#[cfg(windows)] a, std::sync::Mutex",
            "mod a { #![cfg(unix)] use std::sync::Mutex; }",
            "cfg_if::cfg_if! { if #[cfg(windows)] {} else { use std::sync::Mutex; } }",
            "#[cfg_attr(windows, path = \"b.rs\")] #[cfg_attr(unix, path = \"a.rs\")] mod c;",
            "macro_rules! m { () => { std::sync::Mutex } }",
        ] {
            let files = [("src/lib.rs", kept), ("src/a.rs", "use std::sync::Mutex;")];
            let place = if kept.contains("path =") { "src/a.rs" } else { "src/lib.rs" };
            check(&files, &[&format!("std::sync::Mutex at {place}:1")]);
        }
    }
}
