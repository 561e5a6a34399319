//! Which crates a file declares: `extern crate`, `use` of standard crates, and modules of their names.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::{Delimiter, TokenTree};

use super::MIRROR_CRATE;

/// `extern crate name as alias;`, or `use name as alias;` of standard crates.
pub(super) struct Declaration {
    pub name: String,
    pub alias: String,
    pub is_crate: bool,
    pub public: bool,
    /// Whether it is an item of the file itself, not of a module or block in it.
    pub outermost: bool,
    /// Whether it stands in the arguments of a macro.
    pub in_macro: bool,
    /// From its first attribute to its semicolon.
    pub whole: Range<usize>,
    /// The name alone, or the name with its alias where the alias is the name.
    pub named: Range<usize>,
    pub line: usize,
}

impl Declaration {
    /// Whether nobody misses it where it is left out: it has no name of its own, and is not there for others.
    pub fn can_be_left_out(&self) -> bool {
        self.alias == self.name && !self.public
    }

    /// Whether it is an `extern crate` of what is mirrored.
    pub fn is_standard(&self) -> bool {
        self.is_crate && ["std", "core"].contains(&self.name.as_str())
    }
}

/// Whether a crate with these tokens at its root has the line.
pub(super) fn declares_mirror(tokens: &[TokenTree]) -> bool {
    declarations(tokens).iter().any(|declaration| declaration.name == MIRROR_CRATE && declaration.outermost)
}

/// Where a root declares a crate under this name, as roots with `#![no_std]` declare std: from the first attribute to the semicolon.
pub(super) fn declared_as(tokens: &[TokenTree], name: &str) -> Vec<Range<usize>> {
    let is_it = |one: &Declaration| one.is_crate && one.outermost && one.alias == name;
    declarations(tokens).into_iter().filter(is_it).map(|declaration| declaration.whole).collect()
}

/// The declarations of std, and of core with `with_core`, inside of the modules of a file: in the root of a crate, not those that
/// [`declared_as`] finds.
pub(super) fn declared_inside(tokens: &[TokenTree], is_root: bool, with_core: bool) -> Vec<Declaration> {
    let names = if with_core { &["std", "core"][..] } else { &["std"] };
    let is_it = |one: &Declaration| one.is_crate && names.contains(&&*one.name) && !(is_root && one.outermost);
    declarations(tokens).into_iter().filter(is_it).collect()
}

pub(super) fn declarations(tokens: &[TokenTree]) -> Vec<Declaration> {
    let mut all = Vec::new();
    collect(tokens, Depth::File, &mut all);
    all
}

/// Where tokens stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// In the file itself.
    File,
    /// In the arguments of a macro that the file calls, such as `cfg_if!`: what it makes are items of the file.
    Macro,
    /// In a module, a function or the like.
    Inner,
}

fn collect(tokens: &[TokenTree], depth: Depth, all: &mut Vec<Declaration>) {
    for at in 0..tokens.len() {
        if let TokenTree::Group(group) = &tokens[at] {
            let called = at > 1
                && matches!(&tokens[at - 1], TokenTree::Punct(mark) if mark.as_char() == '!')
                && matches!(tokens[at - 2], TokenTree::Ident(_));
            let module = at > 1 && matches!(&tokens[at - 2], TokenTree::Ident(word) if word == "mod");
            let inner = match depth {
                Depth::File if called => Depth::Macro,
                Depth::Macro if !module => Depth::Macro,
                _ => Depth::Inner,
            };
            collect(&group.stream().into_iter().collect::<Vec<_>>(), inner, all);
        }
        all.extend(declaration(tokens, at, depth));
    }
}

fn declaration(tokens: &[TokenTree], at: usize, depth: Depth) -> Option<Declaration> {
    let word = |index: usize| match tokens.get(index) {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    };
    // `use ::core;`
    let is_colon = |index: usize| matches!(tokens.get(index), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    let leads = is_colon(at + 1) && is_colon(at + 2);
    let (is_crate, name_at) = match (word(at)?.as_str(), word(at + 1).as_deref()) {
        ("extern", Some("crate")) => (true, at + 2),
        ("use", Some("std" | "core" | "alloc")) => (false, at + 1),
        ("use", None) if word(at + 3).is_some_and(|name| ["std", "core"].contains(&name.as_str())) && leads => {
            (false, at + 3)
        }
        _ => return None,
    };
    let name = word(name_at)?;
    let renamed = (word(name_at + 1).as_deref() == Some("as")).then(|| word(name_at + 2)).flatten();
    let end_at = if renamed.is_some() { name_at + 3 } else { name_at + 1 };
    let TokenTree::Punct(end) = tokens.get(end_at)? else { return None };
    // `use std as core;` counts, and so does `pub use core;`. `use std::sync;` does not.
    let named = is_crate || renamed.is_some() || ["std", "core"].contains(&name.as_str());
    if end.as_char() != ';' || !named {
        return None;
    }
    let (begin, public) = with_attributes(tokens, at);
    let span = tokens[name_at].span();
    Some(Declaration {
        alias: renamed.unwrap_or_else(|| name.clone()),
        name,
        is_crate,
        public,
        outermost: depth != Depth::Inner,
        in_macro: depth == Depth::Macro,
        whole: begin..end.span().byte_range().end,
        named: span.byte_range(),
        line: span.start().line,
    })
}

/// Where the item begins whose keyword is `tokens[at]`, and whether it has a visibility.
fn with_attributes(tokens: &[TokenTree], at: usize) -> (usize, bool) {
    let mut first = at;
    let is_pub = |index: usize| matches!(&tokens[index], TokenTree::Ident(word) if word == "pub");
    let mut public = false;
    if first > 0 && is_pub(first - 1) {
        (first, public) = (first - 1, true);
    } else if first > 1 && matches!(tokens[first - 1], TokenTree::Group(_)) && is_pub(first - 2) {
        (first, public) = (first - 2, true);
    }
    while first > 1
        && matches!(&tokens[first - 1], TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket)
        && matches!(&tokens[first - 2], TokenTree::Punct(hash) if hash.as_char() == '#')
    {
        first -= 2;
    }
    (tokens[first].span().byte_range().start, public)
}

/// The line of the crate's own module of this name.
pub(super) fn module_named(tokens: &[TokenTree], name: &str) -> Option<usize> {
    tokens.windows(2).find_map(|pair| match pair {
        [TokenTree::Ident(word), TokenTree::Ident(module)] if word == "mod" && module == name => {
            Some(module.span().start().line)
        }
        _ => None,
    })
}

/// What names mean where tokens stand, in the edition of 2015.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Those of `std` and `core` that mean an item of the crate's own there: futures 0.1 has modules of these names.
    pub own: BTreeSet<String>,
    /// Whether the tokens belong to a `use`.
    pub imported: bool,
}

impl Names {
    /// These, and what the items among the tokens declare or import.
    pub fn with(&self, tokens: &[TokenTree]) -> Names {
        let mut names = self.clone();
        let ident = |at: Option<usize>| match tokens.get(at?) {
            Some(TokenTree::Ident(name)) => Some(name.to_string()),
            _ => None,
        };
        let is = |at: Option<usize>, char| {
            at.and_then(|at| tokens.get(at))
                .is_some_and(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == char))
        };
        let mut imported = false;
        for at in 0..tokens.len() {
            let before = |distance: usize| at.checked_sub(distance);
            match ident(Some(at)).as_deref() {
                Some("use") => imported = true,
                Some(name @ ("std" | "core")) => {
                    let declared = ident(before(1)).as_deref() == Some("mod");
                    let ends = !is(Some(at + 1), ':');
                    // `use super::core;`: alone, or after `::` alone, it is the crate.
                    let through = is(before(1), ':')
                        && is(before(2), ':')
                        && before(3).is_some_and(|at| ident(Some(at)).is_some_and(|it| it != "use"));
                    if declared || imported && ends && through {
                        names.own.insert(name.to_owned());
                    }
                }
                _ if is(Some(at), ';') => imported = false,
                _ => {}
            }
        }
        names
    }
}
