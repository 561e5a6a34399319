//! Where a file gives memory orderings stronger than `Relaxed` to atomic operations and fences.

use proc_macro2::{Delimiter, Span, TokenTree};

/// A call with an ordering, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Written {
    /// The line, counted from 1.
    pub(crate) line: u32,
    /// The column, counted from 1.
    pub(crate) column: u32,
    /// What has the ordering: `load`, `store`, `update` or `fence`.
    pub(crate) argument: &'static str,
    /// The name of the ordering.
    pub(crate) ordering: String,
}

/// The orderings in some tokens, in the order of the text. What the rules of a macro expand to is left out: its operations
/// have the places where the macro is used.
pub(crate) fn all(tokens: &[TokenTree]) -> Vec<Written> {
    let mut found = Vec::new();
    collect(tokens, &mut found);
    found
}

fn collect(tokens: &[TokenTree], found: &mut Vec<Written>) {
    let mut at = 0;
    while at < tokens.len() {
        if is_rules(tokens, at) {
            at += 4;
            continue;
        }
        found.extend(call(tokens, at));
        if let TokenTree::Group(group) = &tokens[at] {
            collect(&group.stream().into_iter().collect::<Vec<_>>(), found);
        }
        at += 1;
    }
}

/// `macro_rules! name { … }`.
fn is_rules(tokens: &[TokenTree], at: usize) -> bool {
    is_name(tokens.get(at), "macro_rules") && is_punct(tokens.get(at + 1), '!')
}

/// The orderings of the call whose name is at `at`.
fn call(tokens: &[TokenTree], at: usize) -> Vec<Written> {
    let (TokenTree::Ident(name), Some(TokenTree::Group(group))) = (&tokens[at], tokens.get(at + 1)) else {
        return Vec::new();
    };
    if group.delimiter() != Delimiter::Parenthesis {
        return Vec::new();
    }
    let name = name.to_string();
    let is_method = at > 0 && is_punct(Some(&tokens[at - 1]), '.');
    let (span, arguments) = match arguments(&name) {
        Some(arguments) if is_method => (tokens[at].span(), arguments),
        None if name == "fence" && !is_method => (path_start(tokens, at), &[(0, "fence")][..]),
        _ => return Vec::new(),
    };
    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
    let given: Vec<&[TokenTree]> = inside.split(|token| is_punct(Some(token), ',')).collect();
    let written = arguments.iter().filter_map(|&(number, argument)| {
        let ordering = strong(given.get(number)?)?;
        let start = span.start();
        let (line, column) = (u32::try_from(start.line).ok()?, u32::try_from(start.column).ok()? + 1);
        Some(Written { line, column, argument, ordering })
    });
    written.collect()
}

/// Which arguments of a method of an atomic are orderings, and of what.
fn arguments(method: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match method {
        "load" => &[(0, "load")],
        "store" => &[(1, "store")],
        "fetch_not" => &[(0, "update")],
        "fetch_update" | "try_update" | "update" => &[(0, "update"), (1, "load")],
        "compare_exchange" | "compare_exchange_weak" => &[(2, "update"), (3, "load")],
        "compare_and_swap" => &[(2, "update")],
        "swap" => &[(1, "update")],
        _ if method.starts_with("fetch_") => &[(1, "update")],
        _ => return None,
    })
}

/// The name of the ordering, if an argument is nothing but the path of one that is stronger than `Relaxed`.
fn strong(argument: &[TokenTree]) -> Option<String> {
    let is_path = |token: &TokenTree| matches!(token, TokenTree::Ident(_)) || is_punct(Some(token), ':');
    let (TokenTree::Ident(last), true) = (argument.last()?, argument.iter().all(is_path)) else { return None };
    let name = last.to_string();
    ["SeqCst", "AcqRel", "Acquire", "Release"].contains(&name.as_str()).then_some(name)
}

/// Where the path begins whose last name is at `at`.
fn path_start(tokens: &[TokenTree], at: usize) -> Span {
    let mut start = at;
    while start >= 2 && is_punct(Some(&tokens[start - 1]), ':') && is_punct(Some(&tokens[start - 2]), ':') {
        start -= 2;
        if start > 0 && matches!(tokens[start - 1], TokenTree::Ident(_)) {
            start -= 1;
        } else {
            break;
        }
    }
    tokens[start].span()
}

fn is_punct(token: Option<&TokenTree>, char: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == char)
}

fn is_name(token: Option<&TokenTree>, name: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[(u32, u32, &str, &str)]) {
        let found = all(&crate::text::tokens(source).expect("tokens"));
        let found: Vec<_> =
            found.iter().map(|one| (one.line, one.column, one.argument, one.ordering.as_str())).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn calls_have_the_places_that_the_compiler_gives_them() {
        check("x.load(Ordering::Acquire)", &[(1, 3, "load", "Acquire")]);
        check("a.b\n  .store(f(1, 2), SeqCst)", &[(2, 4, "store", "SeqCst")]);
        check("x.swap(1, atomic::Ordering::AcqRel,)", &[(1, 3, "update", "AcqRel")]);
        check("x.fetch_add(1, Release)", &[(1, 3, "update", "Release")]);
        check("x.compare_exchange(0, 1, AcqRel, Relaxed)", &[(1, 3, "update", "AcqRel")]);
        let both = [(1, 3, "update", "AcqRel"), (1, 3, "load", "Acquire")];
        check("x.compare_exchange_weak(0, 1, AcqRel, Acquire)", &both);
        check("x.fetch_update(AcqRel, Acquire, |n| Some(n))", &both);
        check("{ fence(SeqCst) }", &[(1, 3, "fence", "SeqCst")]);
        check("std::sync::atomic::fence(Acquire)", &[(1, 1, "fence", "Acquire")]);
        check("= ::std::sync::atomic::fence(Acquire)", &[(1, 3, "fence", "Acquire")]);
        check("assert!(x.load(SeqCst) == 1)", &[(1, 11, "load", "SeqCst")]);
        check("é.load(SeqCst).min(y.load(SeqCst))", &[(1, 3, "load", "SeqCst"), (1, 22, "load", "SeqCst")]);
    }

    #[test]
    fn what_is_no_strong_ordering() {
        check("x.load(Relaxed); x.store(1, order); x.load(); load(SeqCst); Some(Acquire)", &[]);
        check("x.load(if a { SeqCst } else { Acquire })", &[]);
        check("macro_rules! m { () => { x.load(SeqCst) } }", &[]);
        check("compiler_fence(SeqCst); x.fence(SeqCst)", &[]);
        check("use std::sync::atomic::Ordering::{Acquire, SeqCst};", &[]);
    }
}
