//! The line at the root of a crate.
//!
//! `extern crate interloper_std as std` makes the mirror what `std::` means in the whole crate. A crate's own `extern
//! crate std` declares the same name, so it goes. Lines keep their numbers: what is put in stands on a line that is
//! there, and what is taken away leaves blanks, or in the arguments of a macro an item that is not compiled.
//!
//! In the edition of 2015 the compiler itself declares `std` at the root of a crate, or `core` where that is `no_std`, and
//! nobody else can. There the paths that begin with `std::` are changed instead, whether or not the root has the line of that
//! edition, which brings the macros.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

use super::declared::{Declaration, Names, declarations, declares_mirror, module_named};
use super::{
    EVERY_TEST_CRATE, MIRROR_CRATE, allocators, allocators::Implementation, assignments, assignments::Assignment,
    calls, fences, fences::Place,
};
use crate::text::{self, Bad};

/// A file that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) source: String,
    /// What was changed: the line, and what was done there.
    pub(crate) changes: Vec<(usize, String)>,
}

/// Which file of a crate it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Its root.
    Root,
    /// Another module.
    Module,
}

/// How a crate comes to use the mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// By its paths, not by a line that declares what `std` is.
    pub(crate) paths: bool,
    /// Whether `core::` is to be the mirror, too.
    pub(crate) core: bool,
    /// Whether its methods are marked, so that each call of one can be one turn.
    pub(crate) calls: bool,
}

/// Makes each `#[test]` of a crate, whose root this is, a test that is checked.
///
/// # Errors
/// When it is not Rust.
pub(crate) fn check_every_test(source: &str) -> Result<Option<Edited>, Bad> {
    let tokens = text::tokens(source)?;
    let mut edits = Edits { source, begin: text::preamble(source), replacements: Vec::new(), changes: Vec::new() };
    let line = format!("#[cfg(test)] {}#[macro_use] extern crate {EVERY_TEST_CRATE};", quiet(source));
    edits.line(&tokens, &line);
    Ok(edits.finish())
}

/// The inner attributes at the root of a crate.
///
/// # Errors
/// When it is not Rust.
fn inner_attributes(source: &str) -> Result<Vec<TokenStream>, Bad> {
    let tokens = text::tokens(source)?;
    let is = |token: &TokenTree, char| matches!(token, TokenTree::Punct(punct) if punct.as_char() == char);
    let attributes = tokens.chunks(3).map_while(|chunk| match chunk {
        [hash, mark, TokenTree::Group(attribute)] if is(hash, '#') && is(mark, '!') => Some(attribute.stream()),
        _ => None,
    });
    Ok(attributes.collect())
}

/// Why a file cannot be changed.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It is not Rust.
    Bad(Bad),
    /// It has a module with the name that the line declares.
    Taken { line: usize, name: String },
}

/// The quick question before [`edit`] of a module: false if there is nothing to change, where neither paths nor calls are.
pub(crate) fn may_change(source: &str) -> bool {
    source.contains("extern crate")
        || fences::SIGNS.iter().any(|sign| source.contains(sign))
        || source.contains(allocators::SIGN)
        || assignments::may_be_in(source)
}

/// Changes a file, or gives `None` where there is nothing to change.
///
/// # Errors
/// When it is not Rust, or the crate has a module of its own that is named `std`.
pub(crate) fn edit(source: &str, role: Role, way: Way) -> Result<Option<Edited>, Refused> {
    let begin = text::preamble(source);
    let tokens = text::tokens(source).map_err(Refused::Bad)?;
    let mut edits = Edits { source, begin, replacements: Vec::new(), changes: Vec::new() };
    let has_line = declares_mirror(&tokens);
    if has_line && !way.paths {
        return Ok(None);
    }
    let declared = declarations(&tokens);
    let root = role == Role::Root;
    edits.fences(&fences::places(&tokens));
    edits.allocators(&allocators::implementations(&tokens));
    if way.calls {
        edits.calls(&calls::methods(&tokens));
    }
    if way.paths {
        edits.paths(&tokens, way.core, &Names::default());
        // At the root a crate declares `std` only where the compiler does not, and so may the mirror. Otherwise macros of std would
        // come after those of the mirror, and count.
        let is_free = |one: &&Declaration| !(root && one.outermost) || (one.name == "std" && one.alias == "std");
        declared.iter().filter(|one| one.is_standard()).filter(is_free).for_each(|one| edits.rename(one));
        if root && !has_line {
            let line = format!("{}#[macro_use] extern crate {MIRROR_CRATE};", quiet(source));
            edits.line(&tokens, &line);
        }
        edits.assignments(&assignments::places(&tokens));
        return Ok(edits.finish());
    }
    let mut public = BTreeSet::new();
    for declaration in &declared {
        let alias = declaration.alias.as_str();
        if root && declaration.outermost && ["std", "core"].contains(&alias) {
            public.extend(declaration.public.then_some(alias));
            edits.blank(declaration);
        } else if declaration.is_standard() {
            edits.rename(declaration);
        }
    }
    if root {
        if let Some(line) = module_named(&tokens, "std") {
            return Err(Refused::Taken { line, name: "std".to_owned() });
        }
        let visibility = |name| if public.contains(name) { "#[doc(hidden)] pub " } else { "" };
        let std = visibility("std");
        let mut line = format!("{}#[macro_use] {std}extern crate {MIRROR_CRATE} as std;", quiet(source));
        let core = way.core || declared.iter().any(|declaration| declaration.outermost && declaration.alias == "core");
        if core && module_named(&tokens, "core").is_none() {
            line.push_str(&format!(" {}extern crate {MIRROR_CRATE} as core;", visibility("core")));
        }
        edits.line(&tokens, &line);
    }
    edits.assignments(&assignments::places(&tokens));
    Ok(edits.finish())
}

/// A crate that uses no macro of std does not hear of it, except where it has forbidden to be quiet.
fn quiet(source: &str) -> &'static str {
    let attributes = inner_attributes(source).unwrap_or_default();
    let forbids = attributes.iter().any(|attribute| {
        let text = attribute.to_string();
        text.contains("forbid") && (text.contains("warnings") || text.contains("unused"))
    });
    if forbids { "" } else { "#[allow(unused_imports)] " }
}

struct Edits<'a> {
    source: &'a str,
    /// Where byte 0 of the tokens is in the source.
    begin: usize,
    replacements: Vec<(Range<usize>, String)>,
    changes: Vec<(usize, String)>,
}

impl Edits<'_> {
    fn in_source(&self, range: &Range<usize>) -> Range<usize> {
        range.start + self.begin..range.end + self.begin
    }

    fn blank(&mut self, declaration: &Declaration) {
        let range = self.in_source(&declaration.whole);
        let old = &self.source[range.clone()];
        self.changes.push((declaration.line, format!("taken out: {}", one_line(old))));
        // To a macro, an item that is not compiled is still an item: some do something else where they are given none.
        let new = match declaration.in_macro {
            true => format!("#[cfg(any())] {old}"),
            false => old.chars().map(|char| if matches!(char, '\n' | '\r') { char } else { ' ' }).collect(),
        };
        self.replacements.push((range, new));
    }

    fn rename(&mut self, declaration: &Declaration) {
        let range = self.in_source(&declaration.named);
        let new = if declaration.name == declaration.alias {
            format!("{MIRROR_CRATE} as {}", declaration.alias)
        } else {
            MIRROR_CRATE.to_owned()
        };
        self.changes.push((declaration.line, format!("`extern crate {}` names the mirror", declaration.name)));
        self.replacements.push((range, new));
    }

    fn line(&mut self, tokens: &[TokenTree], new: &str) {
        // After a comment that ends the file there is nothing to put under control.
        let Some(at) = self.after_inner_attributes(tokens) else { return };
        let line = self.source[..at].matches('\n').count() + 1;
        self.changes.push((line, format!("put in: {new}")));
        let before = if at == self.items_without_attributes() { "" } else { " " };
        self.replacements.push((at..at, format!("{before}{new} ")));
    }

    /// Puts in fences.
    fn fences(&mut self, places: &[Place]) {
        let atomic = format!("::{MIRROR_CRATE}::sync::atomic");
        let fence = format!("{atomic}::fence({atomic}::Ordering::SeqCst);");
        for place in places {
            let (at, what) = match place {
                Place::Before(range, what) => {
                    let range = self.in_source(range);
                    self.replacements.push((range.start..range.start, format!("{{ {fence} ")));
                    self.replacements.push((range.end..range.end, " }".to_owned()));
                    (range.start, format!("a fence in front of {what}"))
                }
                Place::After(range) => {
                    let range = self.in_source(range);
                    self.replacements.push((range.start..range.start, " let interloper_value = {".to_owned()));
                    self.replacements.push((range.end..range.end, format!("}}; {fence} interloper_value ")));
                    (range.start, "a fence, which the other branch has".to_owned())
                }
            };
            let line = self.source[..at].matches('\n').count() + 1;
            self.changes.push((line, format!("put in: {what}")));
        }
    }

    /// Makes assignments forget what was there, unless something else is changed in them.
    fn assignments(&mut self, assignments: &[Assignment]) {
        for Assignment { to, value } in assignments {
            let (to, value) = (self.in_source(to), self.in_source(value));
            let is_inside = |(range, _): &(Range<usize>, String)| range.start < value.end && range.end > to.start;
            if self.replacements.iter().any(is_inside) {
                continue;
            }
            let line = self.source[..to.start].matches('\n').count() + 1;
            self.changes.push((line, "changed: the old value of an element is forgotten".to_owned()));
            // What is assigned is computed first.
            let (place, text) = (&self.source[to.clone()], &self.source[value.clone()]);
            let lines =
                "\n".repeat(self.source[to.start..value.end].matches('\n').count() - text.matches('\n').count());
            let changed = format!(
                "{{ let interloper_value = {text};{lines} ::core::mem::forget(::core::mem::replace(&mut {place}, interloper_value)); }}"
            );
            self.replacements.push((to.start..value.end, changed));
        }
    }

    /// Says that allocators are at work.
    fn allocators(&mut self, implementations: &[Implementation]) {
        let marks = allocators::marks(implementations, &self.source[self.begin..]);
        if let [(first, _), ..] = &marks[..] {
            let line = self.source[..self.begin + first.start].matches('\n').count() + 1;
            self.changes.push((line, "executions leave the allocator out".to_owned()));
        }
        for (place, mark) in marks {
            self.replacements.push((self.in_source(&place), mark));
        }
    }

    /// Marks methods.
    fn calls(&mut self, methods: &[calls::Method]) {
        for method in methods {
            let enter = match method.drops {
                true => "enter_drop()".to_owned(),
                false => format!("enter({:?})", method.name),
            };
            let mark = format!(" let _interloper_call = ::{MIRROR_CRATE}::runtime::calls::{enter};");
            let body = self.in_source(&(method.body..method.body));
            self.replacements.push((body, mark));
        }
        if let [first, ..] = methods {
            let line = self.source[..self.begin + first.body].matches('\n').count() + 1;
            self.changes.push((line, format!("marked {} methods, from here on", methods.len())));
        }
    }

    /// Changes `std::` to the mirror, also in macros. What other crates see of a macro is theirs.
    fn paths(&mut self, tokens: &[TokenTree], core: bool, around: &Names) {
        let is = |at: usize, char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == char);
        let word = |at: usize, wanted: &str| matches!(tokens.get(at), Some(TokenTree::Ident(word)) if word == wanted);
        let names = around.with(tokens);
        let mut exported = false;
        let mut imported = around.imported;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Punct(end) if end.as_char() == ';' => imported = false,
                TokenTree::Ident(name) if name == "use" => imported = true,
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    let attribute = at > 0 && is(at - 1, '#');
                    if attribute && matches!(&inner[..], [TokenTree::Ident(name), ..] if name == "macro_export") {
                        exported = true;
                    } else if exported && at > 2 && word(at - 3, "macro_rules") {
                        exported = false;
                    } else if at > 1 && word(at - 2, "mod") {
                        // A module does not have the names of the one around it.
                        self.paths(&inner, core, &Names::default());
                    } else {
                        self.paths(&inner, core, &Names { imported, ..names.clone() });
                    }
                }
                TokenTree::Ident(name) if name == "std" || (core && name == "core") => {
                    let leads = is(at + 1, ':') && is(at + 2, ':');
                    let absolute = at > 1 && is(at - 1, ':') && is(at - 2, ':');
                    let segment = absolute
                        && at > 2
                        && matches!(tokens[at - 3], TokenTree::Ident(_))
                        && !word(at - 3, "use")
                        && !word(at - 3, "in");
                    // An import begins at the root of the crate, where these names are those of the crates.
                    let own = !absolute && !imported && names.own.contains(&name.to_string());
                    if leads && !segment && !own {
                        let span = name.span();
                        self.changes.push((span.start().line, format!("`{name}::` is `{MIRROR_CRATE}::`")));
                        self.replacements.push((self.in_source(&span.byte_range()), MIRROR_CRATE.to_owned()));
                    }
                }
                _ => {}
            }
        }
    }

    /// Where the items of the file begin, if they could.
    fn after_inner_attributes(&self, tokens: &[TokenTree]) -> Option<usize> {
        let mut last = None;
        let mut at = 0;
        while let [TokenTree::Punct(hash), TokenTree::Punct(mark), attribute @ TokenTree::Group(_), ..] = &tokens[at..]
        {
            if hash.as_char() != '#' || mark.as_char() != '!' {
                break;
            }
            let attribute = attribute.span().byte_range();
            last = Some(self.in_source(&(hash.span().byte_range().start..attribute.end)));
            at += 3;
        }
        let Some(last) = last else { return Some(self.items_without_attributes()) };
        if !self.source[last.start..].starts_with("//") {
            return Some(last.end);
        }
        // A comment goes on to the end of its line.
        self.source[last.end..].find('\n').map(|end| last.end + end + 1)
    }

    /// Where items begin without inner attributes: in the line after the one that names an interpreter.
    fn items_without_attributes(&self) -> usize {
        if self.source[self.begin..].starts_with('\n') { self.begin + 1 } else { self.begin }
    }

    fn finish(mut self) -> Option<Edited> {
        if self.replacements.is_empty() {
            return None;
        }
        self.changes.sort();
        Some(Edited { source: text::replaced(self.source, self.replacements), changes: self.changes })
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "#[allow(unused_imports)] #[macro_use] extern crate interloper_std as std;";
    const ALLOW: &str = "#[allow(unused_imports)] ";
    const CORE: &str = "extern crate interloper_std as core;";

    #[track_caller]
    fn check(role: Role, way: Way, source: &str, expected: &str) {
        let edited = edit(source, role, way).expect("it is Rust").map(|edited| edited.source);
        assert_eq!(edited.as_deref().unwrap_or(source), expected);
        assert_eq!(source.matches('\n').count(), expected.matches('\n').count(), "lines keep their numbers");
    }

    const LINES: Way = Way { paths: false, core: false, calls: false };
    const PATHS: Way = Way { paths: true, core: false, calls: false };

    #[track_caller]
    fn root(source: &str, expected: &str) {
        check(Role::Root, LINES, source, &expected.replace("LINE", LINE).replace("CORE", CORE));
    }

    #[test]
    fn the_line_stands_after_the_inner_attributes() {
        root("", "LINE ");
        root("fn f() {}\n", "LINE fn f() {}\n");
        root("// Copyright\nfn f() {}\n", "LINE // Copyright\nfn f() {}\n");
        root("#![no_std]\nfn f() {}\n", "#![no_std] LINE \nfn f() {}\n");
        root("#![no_std] // why\n\nfn f() {}\n", "#![no_std] LINE  // why\n\nfn f() {}\n");
        root("//! Docs\n\nfn f() {}\n", "//! Docs\n LINE \nfn f() {}\n");
        root("//! Docs", "//! Docs");
        let forbids = "#![forbid(unused_imports)]";
        root(&format!("{forbids}\n"), &format!("{forbids} {} \n", LINE.replace(ALLOW, "")));
        root("/*! Docs */ fn f() {}", "/*! Docs */ LINE  fn f() {}");
        root(
            "//! Dächer\n#![a(b)]\n#![c = \"]\"] /* #![d] */ mod x;",
            "//! Dächer\n#![a(b)]\n#![c = \"]\"] LINE  /* #![d] */ mod x;",
        );
        root("\u{feff}//! Docs\nfn f() {}\n", "\u{feff}//! Docs\n LINE fn f() {}\n");
        root("#!/bin/sh\n#![a]\nfn f() {}\n", "#!/bin/sh\n#![a] LINE \nfn f() {}\n");
        root("#!/bin/sh\nfn f() {}\n", "#!/bin/sh\nLINE fn f() {}\n");
        root("#![a]\r\nfn f() {}\r\n", "#![a] LINE \r\nfn f() {}\r\n");
        root("#[cfg(a)]\nmod a;\n", "LINE #[cfg(a)]\nmod a;\n");
    }

    #[test]
    fn a_crate_with_the_line_is_left_alone() {
        let source = "#[cfg(interloper)] #[macro_use] extern crate interloper_std as std;\nfn f() {}";
        root(source, source);
    }

    #[test]
    fn own_lines_of_the_crate_make_room() {
        root(
            "#![no_std]\n#[cfg(feature = \"std\")]\n#[macro_use]\nextern crate std;\nextern crate alloc;\n",
            "#![no_std] LINE \n                       \n            \n                 \nextern crate alloc;\n",
        );
        root("extern crate core;\n", "LINE CORE                   \n");
        root("extern crate core as std;\n", "LINE                          \n");
        root("use core as std;\n", "LINE                 \n");
        // As in arcstr, whose macros name `$crate::core`.
        let public = "LINE #[doc(hidden)] pub extern crate interloper_std as core;";
        root("pub use core;\n", &format!("{public}              \n"));
        root("pub use ::core;\n", &format!("{public}                \n"));
        root("mod a { pub use core; }\n", "LINE mod a { pub use core; }\n");
        root(
            "pub extern crate std;\n",
            "LINE                      \n"
                .replace("LINE", &LINE.replace("extern", "#[doc(hidden)] pub extern"))
                .as_str(),
        );
        root("extern crate std as real;\n", "LINE extern crate interloper_std as real;\n");
        root("mod a { extern crate std; }\n", "LINE mod a { extern crate interloper_std as std; }\n");
        root("use std::sync;\n", "LINE use std::sync;\n");
        root(
            "cfg_if! { if #[cfg(a)] { extern crate std; } }\n",
            "LINE cfg_if! { if #[cfg(a)] { #[cfg(any())] extern crate std; } }\n",
        );
        // As in bevy_tasks, whose macro gives an answer where it is given nothing.
        root(
            "cfg::std! {\n    #[macro_use]\n    extern crate std;\n}\n",
            "LINE cfg::std! {\n    #[cfg(any())] #[macro_use]\n    extern crate std;\n}\n",
        );
        root("a! { mod b { extern crate std; } }\n", "LINE a! { mod b { extern crate interloper_std as std; } }\n");
    }

    #[test]
    fn core_is_the_mirror_where_it_is_named() {
        let core = Way { core: true, ..LINES };
        check(Role::Root, core, "#![no_std]\n", &format!("#![no_std] {LINE} {CORE} \n"));
        check(Role::Root, core, "mod core;\n", &format!("{LINE} mod core;\n"));
    }

    #[test]
    fn modules_have_no_line() {
        check(Role::Module, LINES, "fn f() {}\n", "fn f() {}\n");
        check(Role::Module, LINES, "extern crate std;\n", "extern crate interloper_std as std;\n");
        check(
            Role::Module,
            LINES,
            "#[cfg(a)] extern crate core as c;\n",
            "#[cfg(a)] extern crate interloper_std as c;\n",
        );
        check(Role::Module, LINES, "use core as c;\n", "use core as c;\n");
    }

    #[test]
    fn in_the_edition_of_2015_paths_are_changed() {
        let root = |source: &str, expected: &str| {
            check(Role::Root, PATHS, source, &format!("{ALLOW}#[macro_use] extern crate interloper_std; {expected}"));
        };
        check(
            Role::Module,
            PATHS,
            "extern crate std;\nuse self::std::sync::Once;\n",
            "extern crate interloper_std as std;\nuse self::std::sync::Once;\n",
        );
        root("use std::sync::Mutex;\n", "use interloper_std::sync::Mutex;\n");
        root("use ::std::sync;\n", "use ::interloper_std::sync;\n");
        root(
            "fn f() { ::std::thread::yield_now(); a::std::b(); }\n",
            "fn f() { ::interloper_std::thread::yield_now(); a::std::b(); }\n",
        );
        root("macro_rules! m { () => { ::std::a } }\n", "macro_rules! m { () => { ::interloper_std::a } }\n");
        let exported = "#[macro_export] macro_rules! m { () => { ::std::a } }\n";
        root(exported, exported);
        root("extern crate std as alloc;\n", "extern crate std as alloc;\n");
        // As in futures 0.1: `thread_local!` is that of the mirror.
        root("#[macro_use]\nextern crate std;\n", "#[macro_use]\nextern crate interloper_std as std;\n");
        root("extern crate core;\n", "extern crate core;\n");
        root("use core::mem;\n", "use core::mem;\n");
        let core = Way { core: true, ..PATHS };
        check(
            Role::Module,
            core,
            "use core::hint; use std::a;\n",
            "use interloper_std::hint; use interloper_std::a;\n",
        );
    }

    /// As `cargo interloper init` puts it in.
    #[test]
    fn in_the_edition_of_2015_the_line_does_not_change_paths_by_itself() {
        let line = "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std;\n";
        let source = format!("{line}\nuse std::sync::Mutex;\n");
        check(Role::Root, PATHS, &source, &format!("{line}\nuse interloper_std::sync::Mutex;\n"));
        check(Role::Root, LINES, &source, &source);
    }

    /// As in futures 0.1, which has modules of these names.
    #[test]
    fn a_module_of_the_crate_is_not_a_crate() {
        let core = Way { core: true, ..PATHS };
        let stays = |source: &str| check(Role::Module, core, source, source);
        let changes = |source: &str, expected: &str| check(Role::Module, core, source, expected);
        stays("use super::core; fn f() { core::is_get_ptr(0x1); }\n");
        stays("mod core; fn f(a: core::TaskUnpark) {}\n");
        stays("mod std { } pub use self::std::*; fn f() { std::a(); }\n");
        stays("fn f() { use a::b::core; core::c(); }\n");
        // An import begins at the root, and `::` leads there.
        changes("mod core; use core::fmt;\n", "mod core; use interloper_std::fmt;\n");
        changes("mod core; use core::{fmt, mem};\n", "mod core; use interloper_std::{fmt, mem};\n");
        changes("mod core; fn f() { ::core::a(); }\n", "mod core; fn f() { ::interloper_std::a(); }\n");
        // The names of one module are not those of another, and not those around a function.
        changes("mod core; mod b { fn f() { core::a(); } }\n", "mod core; mod b { fn f() { interloper_std::a(); } }\n");
        changes("mod a { mod core; } fn f() { core::a(); }\n", "mod a { mod core; } fn f() { interloper_std::a(); }\n");
        changes(
            "fn f() { use a::core; } fn g() { core::a(); }\n",
            "fn f() { use a::core; } fn g() { interloper_std::a(); }\n",
        );
        changes("use core; fn f() { core::a(); }\n", "use core; fn f() { interloper_std::a(); }\n");
        changes("mod core; fn f() { std::a(); }\n", "mod core; fn f() { interloper_std::a(); }\n");
    }

    #[test]
    fn methods_are_marked() {
        let calls = Way { calls: true, ..LINES };
        let mark = |what: &str| format!("let _interloper_call = ::interloper_std::runtime::calls::{what};");
        check(
            Role::Module,
            calls,
            "impl A {\n    #[inline]\n    pub fn a(&self) -> u8 { 1 }\n}\nimpl Drop for A { fn drop(&mut self) {\n} }\n",
            &format!(
                "impl A {{\n    #[inline]\n    pub fn a(&self) -> u8 {{ {} 1 }}\n}}\n\
                 impl Drop for A {{ fn drop(&mut self) {{ {}\n}} }}\n",
                mark("enter(\"a\")"),
                mark("enter_drop()")
            ),
        );
        check(Role::Module, calls, "pub fn a() {}\n", "pub fn a() {}\n");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = edit("\nmod std { }\n", Role::Root, LINES);
        assert!(matches!(refused, Err(Refused::Taken { line: 2, name }) if name == "std"));
        assert!(matches!(edit("fn f( {}", Role::Module, LINES), Err(Refused::Bad(_))));
    }

    #[test]
    fn changes_have_their_lines() {
        let edited = edit("#![no_std]\n\nextern crate std;\n", Role::Root, LINES).ok().flatten().unwrap();
        let expected = [(1, format!("put in: {LINE}")), (3, "taken out: extern crate std;".to_owned())];
        assert_eq!(edited.changes, expected);
    }
}
